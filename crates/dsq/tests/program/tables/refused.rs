//! Tables that are refused, and the exit codes of faults.

use super::*;

#[test]
fn tables_of_other_rules_are_kept_apart() {
    let dir = tables(2);
    let at = text(dir.path());
    let words = [at, "no-move=draw", "no-move=loss"];
    fails(2, &["generate", "--pieces", "2", "--out", at, "--rules", OTHER_RULES], &words);
    holds(dir.path(), 2);
    // The repetition rule does not affect tables.
    stdout(&["generate", "--pieces", "2", "--out", at, "--rules", "paper,repetition=illegal"]);
    holds(dir.path(), 2);
}

/// Everything that reads values from a directory refuses tables of other rules, and names both rule sets. The test of
/// `dsq serve` is in `serve`.
#[test]
fn every_entry_point_refuses_tables_of_other_rules() {
    let dir = temporary();
    let at = text(dir.path());
    stdout(&["generate", "--pieces", "2", "--out", at, "--rules", "bell"]);
    let both = ["traps=none", "traps=opponent"];
    let player = format!("builtin:default,hash=1MiB,tables={at}");
    let export = ["export", "--tables", at, "--rules", "paper", "--material", "EvL", "--format"];
    fails(2, &["probe", "--tables", at, "--rules", "paper", LOST_IN_12], &both);
    for format in ["text", "csv", "arff"] {
        fails(2, &[&export[..], &[format]].concat(), &both);
    }
    fails(2, &["analyze", "--tables", at, "--rules", "paper", "--depth", "1"], &both);
    fails(2, &["match", &player, "builtin:random", "--games", "2", "--rules", "paper"], &both);
    fails(2, &["play", "--white", &player, "--black", "builtin:random", "--rules", "paper"], &both);
    fails(2, &["cluster", "solve", "EvLR", "--tables", at, "--rules", "paper"], &both);
    fails(2, &["cluster", "finish", at, "--pieces", "2", "--rules", "paper"], &both);
    fails(2, &["generate", "--pieces", "2", "--out", at, "--rules", "paper"], &both);
    let mut uci = command(&["uci"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let line = format!("setoption name TablePath value {at}\nquit\n");
    uci.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
    let said = String::from_utf8(uci.wait_with_output().unwrap().stdout).unwrap();
    assert!(both.iter().all(|rules| said.contains(rules)), "{said}");

    let refused = |error: SetError| matches!(&error, SetError::Rules { found, wanted, .. } if found.contains(both[0]) && wanted.contains(both[1]));
    assert!(refused(TableSet::open(dir.path()).unwrap().prober(&RuleOptions::PAPER).err().unwrap()));
    assert!(refused(Tables::open(dir.path(), &RuleOptions::PAPER).err().unwrap()));
    let mut cache = TableCache::default();
    let bell: RuleOptions = "bell,repetition=illegal".parse().unwrap();
    assert!(cache.get(dir.path(), &bell).is_ok(), "repetition is no rule of a table");
    assert!(refused(cache.get(dir.path(), &RuleOptions::PAPER).err().unwrap()), "loaded for other rules before");

    // Without --rules the rules of the tables apply.
    let probe = |rules: &[&str]| stdout(&[&["probe", "--tables", at, "--json", LOST_IN_12], rules].concat());
    assert_eq!(probe(&[]), probe(&["--rules", "bell,repetition=none"]));
}

#[test]
fn no_manifest_or_a_broken_one() {
    let dir = tables(2);
    let (at, path) = (text(dir.path()), dir.path().join("manifest.json"));
    let whole = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let readers =
        [vec!["verify", at], vec!["stats", at], vec!["repack", at], vec!["probe", "--tables", at, LOST_IN_12]];
    for reader in &readers {
        fails(2, reader, &[at, "manifest.json"]);
    }
    let absent = temporary().path().join("nothing");
    fails(2, &["verify", text(&absent)], &[text(&absent)]);
    assert!(!absent.exists(), "reading makes no directory");
    let mut manifest: Json = serde_json::from_str(&whole).unwrap();
    manifest["format"] = 2.into();
    let later = manifest.to_string();
    let mut broken: Vec<(String, &str)> = ["", "{", "[]", "null", "\"tables\"", "{\"format\":1}"]
        .map(|text| (text.to_owned(), "not a readable manifest"))
        .to_vec();
    broken.push((whole[..whole.len() / 2].to_owned(), "not a readable manifest"));
    broken.push((later, "format"));
    for (bytes, cause) in &broken {
        replace(&path, bytes.as_bytes());
        for reader in &readers {
            fails(2, reader, &[text(&path), cause]);
        }
        fails(2, &["generate", "--pieces", "2", "--out", at], &[text(&path), cause]);
    }
    for (from, to) in [
        ("no-move=draw", "no-move=what"),
        ("\"class\": \"EvE\"", "\"class\": \"ELTPDWCvE\""),
        ("\"class\": \"EvE\"", "\"class\": \"Ev\""),
    ] {
        assert!(whole.contains(from));
        replace(&path, whole.replace(from, to).as_bytes());
        for reader in &readers {
            fails(2, reader, &[text(&path)]);
        }
    }
    replace(&path, &[0xff, 0xfe, 0]);
    for reader in &readers {
        fails(2, reader, &[text(&path), "not a readable manifest"]);
    }
    // Only the manifest is missing: the command makes it again.
    fs::remove_file(&path).unwrap();
    stdout(&["generate", "--pieces", "2", "--out", at]);
    holds(dir.path(), 2);
}

/// The table of exit codes in docs/commands.md holds for every command: a fault has the same code everywhere.
#[test]
fn a_fault_has_one_exit_code() {
    let (_, section) = include_str!("../../../../../docs/commands.md").split_once("## Exit codes").expect("the table");
    let rows = section.lines().skip_while(|line| !line.starts_with("| ")).take_while(|line| line.starts_with('|'));
    let codes: Vec<i32> = rows.filter_map(|line| line.split('|').nth(1)?.trim().parse().ok()).collect();
    assert_eq!(codes, [0, 1, 2, 3, 130, 141]);

    let dir = tables(2);
    let at = text(dir.path());
    let readers: [&[&str]; 9] = [
        &["verify", at],
        &["stats", at],
        &["repack", at],
        &["probe", LOST_IN_12, "--tables", at],
        &["export", "--format", "text", "--material", "EvE", "--tables", at],
        &["export", "--format", "csv", "--material", "EvE", "--tables", at],
        &["analyze", "--movetime", "1", "--tables", at],
        &["cluster", "check", "EvE", "--counts", at, "--tables", at],
        &["generate", "--pieces", "2", "--out", at],
    ];
    let manifest = dir.path().join("manifest.json");
    let whole = fs::read(&manifest).unwrap();
    for bytes in [&b"\xff\xfe"[..], b"", b"null", b"{\"format\":1}", &whole[..100]] {
        replace(&manifest, bytes);
        for reader in readers {
            fails(2, reader, &["manifest.json", "not a readable manifest"]);
        }
    }
    replace(&manifest, &whole);
    damage(dir.path(), "EvE.dsq");
    let own = [&["cluster", "finish", at, "--pieces", "2"][..], &["cluster", "solve", "EvE", "--tables", at]];
    for reader in readers.into_iter().chain(own).filter(|reader| !["stats", "cluster"].contains(&reader[0])) {
        fails(1, reader, &["EvE.dsq", "damaged"]);
    }
    own.iter().for_each(|job| _ = fails(1, job, &["EvE.dsq", "damaged"]));
    replace(&dir.path().join("EvE.dsq"), &made(2)["EvE.dsq"]);

    let absent = dir.path().join("nothing");
    let (absent_at, file) = (text(&absent), text(&manifest));
    let named = |arguments: &'static [&'static str], path| move || [arguments, &[path]].concat();
    for path in [absent_at, file] {
        for arguments in [
            named(&["verify"], path)(),
            named(&["stats"], path)(),
            named(&["repack"], path)(),
            named(&["probe", LOST_IN_12, "--tables"], path)(),
            named(&["export", "--format", "text", "--material", "EvE", "--tables"], path)(),
            named(&["analyze", "--movetime", "1", "--tables"], path)(),
            named(&["cluster", "status", "--pieces", "2"], path)(),
            named(&["cluster", "finish", "--pieces", "2"], path)(),
            named(&["cluster", "report"], path)(),
            named(&["cluster", "check", "EvE", "--tables"], path)(),
            named(&["bench", "report"], path)(),
        ] {
            fails(2, &arguments, &[path]);
        }
    }
    let text_file = dir.path().join("latin");
    fs::write(&text_file, b"caf\xe9").unwrap();
    for path in [absent_at, text(&text_file)] {
        for arguments in [named(&["analyze", "--game"], path)(), named(&["play", "--game"], path)()] {
            fails(2, &arguments, &[path]);
        }
    }
    assert!(!absent.exists());

    let nowhere = text(&text_file).to_owned() + "/file";
    for arguments in [
        &["generate", "--pieces", "2", "--out", &nowhere][..],
        &["cluster", "solve", "EvE", "--tables", &nowhere],
        &["verify", at, "--record", &nowhere],
        &["help", "--man", "--out", &nowhere],
        &["match", "builtin:random", "builtin:random", "--games", "2", "--depth", "1", "--out", &nowhere],
        &["reproduce", "--out", &nowhere],
    ] {
        let output = dsq(arguments);
        failed(&output, &[3], &[&nowhere]);
    }
    fails(2, &["verify"], &[]);
    fails(2, &["verify", at, "--pieces", "2"], &[]);
}

#[test]
fn a_table_that_is_not_listed_is_found() {
    let dir = tables(3);
    let at = text(dir.path());
    let manifest = dir.path().join("manifest.json");
    let whole: Json = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    for name in ["ERvR", "EvE"] {
        let mut listed = whole.clone();
        listed["classes"].as_array_mut().unwrap().retain(|class| class["class"] != name);
        replace(&manifest, listed.to_string().as_bytes());
        fails(2, &["verify", at], &[at, name, "manifest.json"]);
    }
    // The file is missing, too, although captures of other classes lead to it.
    fs::remove_file(dir.path().join("EvE.dsq")).unwrap();
    fails(2, &["verify", at], &[at, "EvE", "manifest.json"]);
    stdout(&["generate", "--pieces", "3", "--out", at]);
    holds(dir.path(), 3);
    // A table with more pieces than all listed ones.
    let mut listed = whole;
    listed["classes"].as_array_mut().unwrap().retain(|class| class["class"].as_str().unwrap().len() == 3);
    replace(&manifest, listed.to_string().as_bytes());
    made(3).keys().filter(|name| name.len() == 8 && *name != "ERvR.dsq").for_each(|name| {
        fs::remove_file(dir.path().join(name)).unwrap();
    });
    fails(2, &["verify", at], &[at, "ERvR", "manifest.json"]);
}

/// A limit of open files is raised as far as the system allows, tables are closed to stay within it, and one that is too
/// low for anything is named once.
#[cfg(unix)]
#[test]
fn a_limit_of_open_files_is_enough_or_named() {
    let dir = tables(3);
    let limited = |limit: &str, arguments: &[&str]| {
        let script = format!("ulimit {limit}; exec \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_dsq")]).args(arguments).output().unwrap()
    };
    let verify = ["verify", text(dir.path())];
    let output = limited("-S -n 32", &verify);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = limited("-n 32", &verify);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = limited("-n 5", &verify);
    let said = failed(&output, &[3], &["may open only 5 files", "ulimit -n"]);
    assert_eq!(said.lines().count(), 1, "{said}");
    // All ranges of rows share one temporary file of each kind.
    let spill = temporary();
    let job = ["--threads", "8", "--backend", "cpu", "--spill", text(spill.path())];
    let output = limited("-n 32", &[&["solve", "--material", "EPvLRT"][..], &job].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
