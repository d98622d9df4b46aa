//! Classes as jobs: counts in a directory of their own, their sums, independent checks of them, and predictions of
//! their needs.

use crate::dsq;
#[cfg(target_os = "linux")]
use crate::serve::memory;
use crate::skip::skip;

use doushouqi::board::{Color, Position, RuleOptions};
use doushouqi::tablebase::{ClassCounts, Classes, Material};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn lines(output: &str) -> Vec<Value> {
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Tables of two pieces, and counts of these classes of three in another directory.
fn counted(dir: &Path, classes: &[&str], counts: &str) {
    let (tables, counts) = (dir.join("tables"), dir.join(counts));
    if !tables.exists() {
        dsq::stdout(&["generate", "--pieces", "2", "--out", text(&tables)]);
    }
    if classes.is_empty() {
        return;
    }
    let arguments = ["cluster", "solve", "--tables", text(&tables), "--stats-only", "--counts", text(&counts)];
    dsq::stdout(&[&arguments[..], classes].concat());
}

/// Counts in a directory of their own are written even if the tables contain the class.
#[test]
fn a_class_with_a_table_is_counted_for_another_directory() {
    let dir = tempfile::tempdir().unwrap();
    let (tables, counts) = (dir.path().join("tables"), dir.path().join("counts"));
    dsq::stdout(&["generate", "--pieces", "2", "--out", text(&tables)]);
    let table = fs::read(tables.join("EvL.dsq")).unwrap();
    let solve =
        ["cluster", "solve", "EvL", "--tables", text(&tables), "--stats-only", "--counts", text(&counts), "--json"];
    assert_eq!(lines(&dsq::stdout(&solve))[0]["reused"], false);
    let read = |place: &Path| lines(&dsq::stdout(&["stats", text(place), "--by", "class", "--json"]));
    let listed = read(&tables);
    let listed = listed.iter().find(|line| line["name"] == "EvL").unwrap();
    let counted = read(&counts);
    assert_eq!(counted.len(), 1);
    for field in ["name", "positions", "wins", "losses", "draws", "no_move", "longest", "by_plies"] {
        assert_eq!(counted[0][field], listed[field], "{field}");
    }
    assert!(fs::read(tables.join("EvL.dsq")).unwrap() == table, "the table is left alone");
    assert_eq!(lines(&dsq::stdout(&solve))[0]["reused"], true);
    // Without a directory of counts the table is enough.
    assert_eq!(lines(&dsq::stdout(&[&solve[..6], &["--json"]].concat()))[0]["reused"], true);
    assert!(!tables.join("EvL.json").exists());
}

#[test]
fn counts_are_added_up_wherever_they_come_from() {
    let dir = tempfile::tempdir().unwrap();
    counted(dir.path(), &["ELvE", "EvLP"], "one");
    counted(dir.path(), &["LTvR"], "two");
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    assert!(!dir.path().join("tables/ELvE.json").exists(), "the tables are left alone");
    fs::copy(two.join("LTvR.json"), one.join("LTvR.json")).unwrap();

    let all = lines(&dsq::stdout(&["stats", text(&one), "--json"]));
    assert_eq!(all.len(), 1);
    assert_eq!((&all[0]["part"]["classes"], &all[0]["part"]["of"]), (&3.into(), &42.into()));
    assert!(dsq::stdout(&["stats", text(&one)]).contains("(3 of 42 classes)"));

    // Each material has the counts that solving it gives.
    let by_material = lines(&dsq::stdout(&["stats", text(&one), "--by", "material", "--json"]));
    for name in ["ELvE", "EvLP", "LTvR"] {
        let found = by_material.iter().find(|line| line["name"] == name).unwrap();
        let solved = &lines(&dsq::stdout(&["solve", "--material", name, "--json"]))[0]["white_to_move"];
        for field in ["positions", "no_move", "wins", "losses", "draws", "longest"] {
            assert_eq!(found[field], solved[field], "{name} {field}");
        }
    }

    let counts: Value = serde_json::from_str(&fs::read_to_string(one.join("ELvE.json")).unwrap()).unwrap();
    assert!(counts["bytes"].as_u64() > Some(0) && counts["deepest"]["white"].is_string());
    assert_eq!(counts["peak_bytes"].is_u64(), cfg!(target_os = "linux"));

    // The concatenated files are a JSONL file with the same counts; a class that occurs twice is refused.
    let read = |name: &str| fs::read_to_string(one.join(name)).unwrap();
    let joined = dir.path().join("all.jsonl");
    fs::write(&joined, ["LTvR.json", "EvLP.json", "ELvE.json"].map(read).concat()).unwrap();
    assert_eq!(fs::read_to_string(&joined).unwrap().lines().count(), 3);
    for arguments in [&["stats", "--by", "material", "--json"][..], &["cluster", "report"]] {
        let [file, dir] = [&joined, &one].map(|place| dsq::stdout(&[arguments, &[text(place)]].concat()));
        assert_eq!(file, dir);
    }
    let check = [
        "cluster",
        "check",
        "ELvE",
        "--positions",
        "1000",
        "--depth",
        "2",
        "--tables",
        text(&dir.path().join("tables")),
    ]
    .map(str::to_owned);
    let check =
        |counts: &str| dsq::stdout(&check.iter().map(String::as_str).chain(["--counts", counts]).collect::<Vec<_>>());
    assert_eq!(check(text(&joined)), check(text(&one)));
    let twice = dir.path().join("twice.jsonl");
    fs::write(&twice, fs::read_to_string(&joined).unwrap() + &read("EvLP.json")).unwrap();
    let output = dsq::dsq(&["stats", text(&twice)]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("EvLP occurs twice"));
    fs::write(&twice, "{}\n").unwrap();
    assert!(String::from_utf8_lossy(&dsq::dsq(&["stats", text(&twice)]).stderr).contains("line 1"));

    // Counts of other rules are not added.
    let other = fs::read_to_string(two.join("LTvR.json")).unwrap().replace("no-move=draw", "no-move=loss");
    fs::write(one.join("LTvR.json"), other).unwrap();
    let output = dsq::dsq(&["stats", text(&one)]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("was made for the rules"));
}

/// Jobs read repacked tables: those that they need are restored once, beside the temporary files.
#[test]
fn jobs_read_repacked_tables() {
    let dir = tempfile::tempdir().unwrap();
    let classes = ["EPvL", "ELvE", "EvLP", "LTvR", "ERvR", "LvER"];
    counted(dir.path(), &classes, "exact");
    let (tables, spill) = (dir.path().join("tables"), dir.path().join("spill"));
    dsq::stdout(&["repack", text(&tables)]);
    fs::create_dir(&spill).unwrap();
    let counts = dir.path().join("counts");
    let arguments = ["cluster", "solve", "--tables", text(&tables), "--spill", text(&spill), "--stats-only"];
    dsq::stdout(&[&arguments[..], &["--counts", text(&counts)], &classes].concat());
    for entry in fs::read_dir(dir.path().join("exact")).unwrap() {
        let exact = entry.unwrap().path();
        let read = |path: &Path| -> Value {
            let counts: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
            counts["stats"].clone()
        };
        assert_eq!(read(&counts.join(exact.file_name().unwrap())), read(&exact), "{}", exact.display());
    }
    let restored = || fs::read_dir(spill.join("restored")).unwrap().map(|entry| entry.unwrap().path());
    assert!(restored().count() > 3);
    // A repacked table is the result of a job; one of results alone is not.
    let output = dsq::dsq(&["cluster", "solve", "EvL", "--tables", text(&tables)]);
    assert!(output.status.success() && String::from_utf8(output.stdout).unwrap().contains("already complete"));
    dsq::stdout(&["generate", "--pieces", "2", "--out", text(&dir.path().join("distances"))]);
    let results = dir.path().join("results");
    dsq::stdout(&["repack", text(&dir.path().join("distances")), "--wdl", "--out", text(&results)]);
    for class in ["EvL", "EPvL"] {
        let output = dsq::dsq(&["cluster", "solve", class, "--tables", text(&results)]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains("not distances"), "{error}");
    }
}

/// Jobs write tables that know a no-capture limit as one process does, and never mix them with others.
#[test]
fn jobs_know_a_no_capture_limit() {
    let dir = tempfile::tempdir().unwrap();
    let [one, many] = ["one", "many"].map(|name| dir.path().join(name));
    dsq::stdout(&["generate", "--material", "EPvLR", "--out", text(&one), "--metric", "dtz", "--limit", "30"]);
    let rules = ["--rules", "paper,no-capture-limit=30"];
    let mut classes: Vec<String> = fs::read_dir(&one)
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".dsq")?.to_owned()))
        .collect();
    classes.sort_by_key(String::len);
    let names: Vec<&str> = classes.iter().map(String::as_str).collect();
    let solve = ["cluster", "solve", "--tables", text(&many)];
    dsq::stdout(&[&solve[..], &rules, &names].concat());
    for class in &classes {
        let read = |dir: &Path| fs::read(dir.join(format!("{class}.dsq"))).unwrap();
        assert!(read(&one) == read(&many), "{class}");
    }
    let planned = lines(&dsq::stdout(&[&["cluster", "plan", "--pieces", "2", "--for", "json"][..], &rules].concat()));
    assert_eq!(planned.len(), Classes::new(&RuleOptions::PAPER, 2).len());
    let end = dsq::dsq(&[&["cluster", "finish", text(&many), "--pieces", "2"][..], &rules].concat());
    assert_eq!(end.status.code(), Some(1), "most classes are missing");
    let other = dsq::dsq(&[&solve[..], &["EvL"]].concat());
    let error = String::from_utf8(other.stderr).unwrap();
    assert!(other.status.code() == Some(2) && error.contains("no-capture-limit=30"), "{error}");
}

/// Materials of more pieces than the program solves, and their counts.
#[test]
fn too_many_pieces_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refuses = |arguments: &[&str], cause: &str| {
        let output = dsq::dsq(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(cause), "{arguments:?}: {error}");
    };
    let solve = ["cluster", "solve", "ELTPvELTP", "--tables", text(dir.path())];
    refuses(&solve, "ELTPvELTP has more than 7 pieces");
    refuses(&[&solve[..], &["--dry-run"]].concat(), "ELTPvELTP has more than 7 pieces");
    counted(dir.path(), &["EPvL"], "counts");
    let counts = dir.path().join("counts");
    let file = fs::read_dir(&counts).unwrap().next().unwrap().unwrap().path();
    let (all, own) = ("ELTPDWCRvELTPDWCR", file.file_stem().unwrap().to_str().unwrap().to_owned());
    let large =
        fs::read_to_string(&file).unwrap().replace(&format!("\"class\":\"{own}\""), &format!("\"class\":\"{all}\""));
    fs::write(counts.join(format!("{all}.json")), large).unwrap();
    refuses(&["cluster", "report", text(&counts)], "more than 7 pieces");
    refuses(&["stats", text(&counts)], "more than 7 pieces");
}

/// A job that lacks a table names the job that makes this table.
#[test]
fn a_missing_capture_is_made_by_the_job_that_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let tables = dir.path().join("tables");
    for rules in ["paper", "chinese"] {
        let mut named = 0;
        loop {
            let output = dsq::dsq(&["cluster", "solve", "EPvL", "--tables", text(&tables), "--rules", rules]);
            if output.status.success() {
                break;
            }
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{error}");
            assert!(error.contains("captures of EPvL") && !error.contains("generate"), "{error}");
            let (_, command) = error.trim_end().split_once("solve it first: dsq ").expect("a command");
            dsq::stdout(&command.split(' ').collect::<Vec<_>>());
            named += 1;
            assert!(named < 10, "{error}");
        }
        assert!(named > 1);
        fs::remove_dir_all(&tables).unwrap();
    }
}

/// The recorded commit is the commit of the build: solving a class does not run git.
#[cfg(unix)]
#[test]
fn the_commit_is_recorded_when_the_program_is_built() {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;
    let dir = tempfile::tempdir().unwrap();
    counted(dir.path(), &[], "counts");
    let git = dir.path().join("git");
    fs::write(&git, "#!/bin/sh\ncase \"$*\" in *describe*) echo forged;; esac\n").unwrap();
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    let (tables, counts) = (dir.path().join("tables"), dir.path().join("counts"));
    let arguments = ["cluster", "solve", "ELvE", "--tables", text(&tables), "--stats-only", "--counts", text(&counts)];
    assert!(dsq::command(&arguments).env("PATH", dir.path()).output().unwrap().status.success());
    let made: Value = serde_json::from_str(&fs::read_to_string(counts.join("ELvE.json")).unwrap()).unwrap();
    let checkout = env!("CARGO_MANIFEST_DIR");
    let head = Command::new("git").args(["-C", checkout, "rev-parse", "--short=12", "HEAD"]).output();
    let head = head.ok().filter(|output| output.status.success() && Path::new(checkout).join("../../.git").exists());
    match head {
        Some(output) => {
            let head = String::from_utf8(output.stdout).unwrap();
            let commit = made["commit"].as_str().unwrap();
            assert_eq!(commit.strip_suffix("-dirty").unwrap_or(commit), head.trim());
        }
        None => assert_eq!(made["commit"], Value::Null),
    }
}

#[test]
fn a_page_tells_what_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    counted(dir.path(), &["ELvE", "EvLP"], "counts");
    let beside = dir.path().join("levels.jsonl");
    fs::write(&beside, dsq::stdout(&["stats", text(&dir.path().join("tables")), "--json"])).unwrap();
    let counts = dir.path().join("counts");
    let page = dsq::stdout(&["cluster", "report", text(&counts), "--compare-with", text(&beside)]);
    let words = ["# Endgames of 3 pieces", "**2 of 42 classes**", "| 2 pieces |", "no fair sample", "ELvE, White"];
    for words in words.into_iter().chain(["| these classes |", "## Longest lines"]) {
        assert!(page.contains(words), "{words}: {page}");
    }
    let nothing = dsq::dsq(&["cluster", "report", text(&dir.path().join("tables"))]);
    assert_eq!(nothing.status.code(), Some(2));
}

/// The counts of six pieces in the repository cover every class and every placement of its pieces, and spell the rules as
/// new counts do.
#[test]
fn all_of_six_pieces_is_counted() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/six-pieces.jsonl");
    let Ok(all) = ClassCounts::read_all(&file) else {
        assert!(!file.exists(), "counts that cannot be read");
        return skip("a package is without results");
    };
    let classes = Classes::new(&RuleOptions::PAPER, 6);
    let level: BTreeSet<Material> = classes.level(6).map(|(_, class)| class.representative).collect();
    assert_eq!(all.iter().map(|counts| counts.class).collect::<BTreeSet<_>>(), level);
    assert_eq!(all.len(), 778);
    assert!(all.iter().all(|counts| counts.rules == RuleOptions::PAPER.table_spelling()));
    let factorials = |places: u64, pieces: u64| (0..pieces).map(|i| places - i).product::<u64>();
    let mut total = 0;
    for ClassCounts { class, same, swapped, stats, deepest, .. } in &all {
        let rats = class.to_string().matches('R').count() as u64;
        // Of the 63 squares, twelve are water and two are dens; a piece in a den has ended the game.
        let placements = factorials(49, 6 - rats) * factorials(61 - (6 - rats), rats);
        for turn in Color::ALL {
            let summary = stats[turn].summary();
            assert_eq!(summary.positions, placements, "{class}");
            let deepest: Position = deepest[turn].as_ref().unwrap().parse().unwrap();
            assert_eq!((Material::of(&deepest), deepest.turn()), (Some(*class), turn));
        }
        total += placements * (same.len() + swapped.len()) as u64;
    }
    // The materials, counted by hand: 7,952.
    assert_eq!(total, 97_112_018_763_648);
}

#[test]
fn counts_are_checked_by_searching_forward() {
    let dir = tempfile::tempdir().unwrap();
    counted(dir.path(), &["ELvR"], "counts");
    let (tables, counts) = (dir.path().join("tables"), dir.path().join("counts"));
    let check_as = |class: &str| {
        let arguments = ["--tables", text(&tables), "--counts", text(&counts), "--positions", "3000", "--depth", "4"];
        dsq::dsq(&[&["cluster", "check", class][..], &arguments].concat())
    };
    let check = || check_as("ELvR");
    let output = check();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout.clone()).unwrap().lines().count(), 10);
    // Any material names its class.
    assert_eq!(check_as("RvLE").stdout, output.stdout);

    // Forged counts: the wins in three plies are counted as wins in one.
    let path = counts.join("ELvR.json");
    let mut wrong: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let plies = wrong["stats"]["white"]["by_plies"].as_array_mut().unwrap();
    plies.swap(1, 3);
    fs::write(&path, wrong.to_string()).unwrap();
    assert_eq!(check().status.code(), Some(1));

    // Tables that the captures do not lead to decide nothing.
    let small = dir.path().join("small");
    dsq::stdout(&["generate", "--pieces", "2", "--out", text(&small)]);
    dsq::stdout(&["generate", "--pieces", "3", "--out", text(&tables)]);
    let solve = ["cluster", "solve", "ETvLR", "--stats-only", "--tables", text(&tables), "--counts", text(&counts)];
    dsq::stdout(&solve);
    let refused = dsq::dsq(&["cluster", "check", "ETvLR", "--tables", text(&small), "--counts", text(&counts)]);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("lead to tables of 3 pieces; these tables go to 2"), "{stderr}");
}

#[test]
fn what_a_class_takes_is_told_in_advance() {
    let rate = ["--dry-run", "--rate", "1000", "--json"];
    let plan = |arguments: &[&str]| lines(&dsq::stdout(&[arguments, &rate].concat()));
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("none");
    let generate = plan(&["generate", "--pieces", "3", "--out", text(&out)]);
    assert_eq!(generate.len(), 53);
    assert_eq!(generate[52]["forecast"]["levels"].as_array().unwrap().len(), 2);
    assert_eq!(plan(&["solve", "--backend", "cpu", "--pieces", "3"]).len(), 52);
    let needed = plan(&["solve", "--backend", "cpu", "--material", "EPvLR"]);
    assert_eq!(needed.last().unwrap()["class"], "EPvLR");
    let six = plan(&["cluster", "solve", "ELTvPDW", "--tables", text(&out), "--stats-only"]);
    assert_eq!((six.len(), &six[0]["positions"]), (1, &10_068_347_520u64.into()));
    let bytes = |field: &str| six[0][field].as_u64().unwrap();
    assert!(bytes("spilled_bytes") < bytes("bytes") && bytes("spilled_bytes") < 12 << 30);
    assert!(!out.exists(), "nothing is made");
    // The forecast of the disk is that of the files, and a little more.
    dsq::stdout(&["generate", "--pieces", "3", "--out", text(&out)]);
    for (pieces, level) in [2, 3].into_iter().zip(generate[52]["forecast"]["levels"].as_array().unwrap()) {
        let files = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
        let tables = files.filter(|path| {
            path.extension().is_some_and(|it| it == "dsq") && path.file_stem().unwrap().len() == pieces + 1
        });
        let bytes: u64 = tables.map(|path| fs::metadata(path).unwrap().len()).sum();
        let forecast = level["disk_bytes"].as_f64().unwrap() / bytes as f64;
        assert!((1.0..1.15).contains(&forecast), "{pieces} pieces: {forecast} of {bytes}");
    }
}

/// The planned memory of each kind of job is near to the measured peak. The values go through a change
/// log, whose length depends on the lines of a class.
#[cfg(target_os = "linux")]
#[test]
fn needs_are_near_to_what_is_measured() {
    let dir = tempfile::tempdir().unwrap();
    let tables = dir.path().join("tables");
    for capture in ["ELTvP", "ELTvD", "ELvPD", "ETvPD", "LTvPD"] {
        dsq::stdout(&["generate", "--material", capture, "--backend", "cpu", "--out", text(&tables)]);
    }
    // Each thread has buffers of its own.
    let solve = ["cluster", "solve", "ELTvPD", "--tables", text(&tables), "--threads", "2", "--json"];
    let run = |more: &[&str]| lines(&dsq::stdout(&[&solve[..], more].concat())).remove(0);
    let plan = run(&["--dry-run", "--rate", "1000"]);
    let least = format!("{}MiB", (plan["spilled_bytes"].as_u64().unwrap() >> 20) + 1);
    let counts = dir.path().join("counts");
    for (more, lowest) in [
        (&["--stats-only", "--counts", text(&counts), "--memory", "1GiB"][..], 0.85),
        (&["--memory", "1GiB"], 0.65),
        (&["--memory", &least], 0.8),
    ] {
        let done = run(more);
        let [planned, peak] = ["bytes", "peak_bytes"].map(|field| done[field].as_f64().unwrap());
        assert!((lowest..1.06).contains(&(peak / planned)), "{more:?}: {peak} of {planned}");
        let _ = fs::remove_file(tables.join("ELTvPD.dsq"));
    }
}

/// The most memory of a command in bytes, as the system counts it.
#[cfg(target_os = "linux")]
fn peak(arguments: &[&str]) -> u64 {
    use std::process::Stdio;
    let mut child = dsq::command(arguments).stdout(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    loop {
        // The system keeps the maximum, which the command sets back before each class.
        most = most.max(memory(child.id(), "VmHWM").unwrap_or(0));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{arguments:?}: {status}");
            return most;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Under the lowest limit that a command accepts, the system counts no more than this limit; for small endgames, no more
/// than this and the program itself: what the same command takes for endgames of a megabyte, and the buffers of its threads.
/// The second class of a job uses the memory of the first again.
#[cfg(target_os = "linux")]
#[test]
fn no_command_exceeds_its_limit() {
    /// A block of a file, plain and packed, for each of two threads.
    const BUFFERS: u64 = 4 << 20;
    let dir = tempfile::tempdir().unwrap();
    let [tables, made, cache, counts, two] =
        ["tables", "made", "cache", "counts", "two"].map(|name| dir.path().join(name));
    for material in ["ELTvP", "ELTvD", "ELvPD", "ETvPD", "LTvPD", "LvTPD", "EvTPD", "ELvTD"] {
        dsq::stdout(&["generate", "--material", material, "--backend", "cpu", "--out", text(&tables)]);
    }
    let check = |command: &[&str], least: u64, more: u64| {
        let mib = (least >> 20) + 1;
        let limit = format!("{mib}MiB");
        let taken = peak(&[command, &["--memory", limit.as_str()]].concat());
        assert!(
            taken <= (mib << 20) + more,
            "{command:?}: {taken} bytes; {mib} MiB are the limit, and {more} the program"
        );
    };
    let plan = ["--dry-run", "--rate", "1000", "--json"];
    let solve = ["cluster", "solve", "ELTvPD", "ELvTPD", "--tables", text(&tables), "--threads", "2", "--stats-only"];
    let planned = lines(&dsq::stdout(&[&solve[..], &plan].concat()));
    let least = planned.iter().map(|class| class["spilled_bytes"].as_u64().unwrap()).max().unwrap();
    check(&[&solve[..], &["--counts", text(&counts)]].concat(), least, 0);
    let generate = ["generate", "--pieces", "3", "--backend", "cpu", "--threads", "2", "--out", text(&made)];
    let forecast = dsq::stdout(&[&generate[..], &plan, &["--memory", "1MiB"]].concat());
    let forecast = lines(&forecast).pop().unwrap();
    let program = peak(&["generate", "--pieces", "2", "--backend", "cpu", "--threads", "2", "--out", text(&two)]);
    check(&generate, forecast["forecast"]["memory_bytes"].as_u64().unwrap(), program + BUFFERS);
    let one = ["cluster", "solve", "EPvEL", "--tables", text(&made), "--threads", "2"];
    let least = lines(&dsq::stdout(&[&one[..], &plan].concat()))[0]["spilled_bytes"].as_u64().unwrap();
    let probe = ["probe", "--on-demand", "--all-moves", "--threads", "2", "--cache", text(&cache), "--tables"];
    let program = peak(&[&probe[..], &[text(&two), "7/7/3e3/7/7/7/3EP2/7/7 w"]].concat());
    fs::remove_dir_all(&cache).unwrap();
    check(&[&probe[..], &[text(&made), "7/7/3el2/7/7/7/3EP2/7/7 w"]].concat(), least, program + BUFFERS);
}

/// Without --memory the limit is the available memory, so the forecast is within it unless even the least is not.
#[cfg(target_os = "linux")]
#[test]
fn the_forecast_is_what_the_limit_allows() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("tables");
    let forecast = |more: &[&str]| {
        let own = ["generate", "--pieces", "5", "--dry-run", "--backend", "cpu", "--rate", "60000", "--json"];
        let printed = dsq::stdout(&[&own[..], &["--out", text(&out), "--threads", "2"], more].concat());
        lines(&printed).pop().unwrap()["forecast"].clone()
    };
    let bytes = |forecast: &Value| forecast["memory_bytes"].as_u64().unwrap();
    let least = bytes(&forecast(&["--memory", "1MiB"]));
    let all = bytes(&forecast(&["--memory", "64GiB"]));
    assert!(least < all, "{least} {all}");
    let own = forecast(&[]);
    let available = own["memory_available"].as_u64().unwrap();
    assert!(bytes(&own) <= available.max(least) && bytes(&own) <= all, "{own}");
    for gib in [4, 6, 8] {
        let taken = bytes(&forecast(&["--memory", &format!("{gib}GiB")]));
        assert!((least..=(gib << 30).max(least)).contains(&taken), "{taken} of {gib} GiB");
    }
}

/// Six pieces need more memory than the limit; the command knows it before it writes two pieces.
#[test]
fn what_cannot_be_generated_is_refused_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("tables");
    let generate = |arguments: &[&str]| {
        let rate = ["--pieces", "6", "--out", text(&out), "--rate", "1000"];
        let output = dsq::dsq(&[&["generate"], &rate[..], arguments].concat());
        assert!(!out.exists(), "{arguments:?}");
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {stderr}");
        (stdout, stderr)
    };
    let (stdout, stderr) = generate(&[]);
    assert!(stdout.is_empty(), "{stdout}");
    let levels: Vec<&str> = stderr.lines().filter(|line| line.contains("iB")).collect();
    assert!(levels.iter().any(|line| line.trim_start().starts_with("6 ") && line.contains(" GiB")), "{stderr}");
    assert!(stderr.contains("778") && stderr.contains("days"), "{stderr}");

    // A limit applies on every machine, independently of its memory.
    let (stdout, stderr) = generate(&["--force", "--json", "--memory", "4GiB"]);
    assert!(stderr.contains("the limit is 4 GiB (raise --memory)"), "{stderr}");
    let forecast = &lines(&stdout)[0]["forecast"];
    assert_eq!(forecast["levels"].as_array().unwrap().len(), 5);
    assert_eq!(forecast["levels"][4]["classes"], 778);
    for total in ["seconds", "disk_bytes", "memory_bytes"] {
        let all = forecast[total].as_f64().unwrap();
        assert!(all >= forecast["levels"][4][total].as_f64().unwrap() && all > 1e6, "{total}: {all}");
    }
}

/// Plans for limited memory: all classes of six pieces are counted with 10 GiB per job, as documented.
#[test]
fn plans_keep_to_the_memory_that_is_given() {
    let plan = |engine: &str, arguments: &[&str]| {
        let six = ["cluster", "plan", "--pieces", "6", "--stats-only", "--rate", "60000", "--for", engine];
        dsq::stdout(&[&six[..], arguments].concat())
    };
    let requests = |script: &str| -> BTreeSet<u64> {
        let parts = script.split("--mem=").skip(1);
        parts.map(|part| part.split('G').next().unwrap().parse().unwrap()).collect()
    };
    // With everything in memory a job needs up to 22 GiB.
    let most = requests(&plan("slurm", &[])).into_iter().max().unwrap();
    assert!((20..=24).contains(&most), "{most}");
    let script = plan("slurm", &["--memory", "10GiB", "--spill", "/local disk"]);
    assert_eq!(requests(&script).into_iter().max(), Some(10));
    assert!(script.contains("SPILL='/local disk'") && script.contains("--memory 10GiB --spill \"$SPILL\""), "{script}");
    // The requested memory equals the limit that the job gets.
    for gib in requests(&script) {
        let [requested, told] = ["--mem={}G", "--memory {}GiB "].map(|form| form.replace("{}", &gib.to_string()));
        assert_eq!(script.matches(&requested).count(), script.matches(&told).count());
    }

    let json = lines(&plan("json", &["--memory", "10GiB"]));
    let gib = |class: &Value| class["memory_gib"].as_u64().unwrap();
    assert_eq!(json.iter().map(gib).max(), Some(10));
    assert!(json.iter().all(|class| gib(class) << 30 >= class["spilled_bytes"].as_u64().unwrap()));
    let snakefile = plan("snakemake", &["--memory", "10GiB", "--spill", "/local disk"]);
    assert!(snakefile.contains("SPILL = \"/local disk\"") && snakefile.contains("[\"memory_gib\"]"));
    assert!(plan("snakemake", &[]).contains("SPILL = None"));

    let six = ["cluster", "plan", "--pieces", "6", "--stats-only", "--rate", "60000", "--for", "json"];
    let refused = dsq::dsq(&[&six[..], &["--memory", "4GiB"]].concat());
    let error = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(error.contains("--memory 4GiB: solving") && error.contains("takes at least 10 GiB"), "{error}");
    assert!(refused.stdout.is_empty());
}

/// The table adds up the classes of the plan. A slow shared file system takes its time; more cores per job shorten the
/// rest.
#[test]
fn plans_tell_the_needs_of_each_number_of_pieces() {
    let plan = |engine: &str, arguments: &[&str]| {
        let four = ["cluster", "plan", "--pieces", "4", "--rate", "1000", "--for", engine];
        dsq::stdout(&[&four, arguments].concat())
    };
    let table = plan("table", &[]);
    let row = |name: &str| -> Vec<String> {
        let line = table.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        line.split('|').map(|cell| cell.trim().replace(',', "")).collect()
    };
    let classes = lines(&plan("json", &[]));
    for pieces in 2..=4 {
        let level = || classes.iter().filter(|class| class["pieces"] == pieces);
        let rows: u64 = level().map(|class| class["rows"].as_u64().unwrap()).sum();
        assert_eq!(row(&pieces.to_string())[2..4], [level().count().to_string(), rows.to_string()]);
    }
    assert_eq!(row("all")[2], "186");
    let hours = |arguments: &[&str]| lines(&plan("hours", arguments))[3]["hours"].as_f64().unwrap();
    let slow = hours(&["--bandwidth", "1MiB"]);
    assert!(slow > hours(&[]) && hours(&["--bandwidth", "1MiB", "--cores-per-job", "4"]) < slow);
    assert_eq!(lines(&plan("hours", &["--cores-per-job", "4"]))[3]["cores"], 32);
}

/// The page on clusters has the plan that the program makes, and its plots. `DSQ_WRITE_PLAN=1 ./test the_page_on_clusters`
/// writes them.
#[test]
fn the_page_on_clusters_has_the_plan() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let plan = |arguments: &str| {
        let arguments = format!("cluster plan --stats-only --rate 60000 {arguments}");
        dsq::stdout(&arguments.split(' ').collect::<Vec<_>>())
    };
    let page = fs::read_to_string(docs.join("cluster.md")).unwrap();
    let command = "`dsq cluster plan --pieces 7 --for table --stats-only --rate 60000 --memory 500GiB` predicts:";
    assert!(page.contains(command));
    let seven = "--pieces 7 --memory 500GiB";
    let table = plan(&format!("{seven} --for table"));
    let start = page.find("| pieces | classes |").expect("a table");
    let end = start + page[start..].find("\n\n").expect("its end") + 1;
    for (name, text) in [
        ("cluster.md", [&page[..start], &table, &page[end..]].concat()),
        ("cluster-hours.svg", plan("--pieces 6 --for plot")),
        ("cluster-hours-seven.svg", plan(&format!("{seven} --for plot --bandwidth 2GiB --cores-per-job 32"))),
    ] {
        let path = docs.join(name);
        if std::env::var_os("DSQ_WRITE_PLAN").is_some() {
            fs::write(&path, text).unwrap();
        } else {
            assert!(fs::read_to_string(&path).unwrap() == text, "docs/{name} differs from the plan: write it as above");
        }
    }
}

/// A script whose `sbatch` fails prints the arrays that are queued. Jobs that can never start are cancelled.
#[cfg(unix)]
#[test]
fn a_script_that_cannot_submit_names_what_is_queued() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let (tables, at) = (dir.path().join("tables"), text(dir.path()));
    let four = ["cluster", "plan", "--pieces", "4", "--rate", "1000", "--for", "slurm", "--tables", text(&tables)];
    let script = dsq::stdout(&four);
    assert_eq!(script.matches("sbatch --parsable").count(), 3);
    assert_eq!(script.matches("--kill-on-invalid-dep=yes").count(), 3);
    // A program in the place of `sbatch` accepts so many arrays.
    let submitted = |most: u32| {
        let sbatch = dir.path().join("sbatch");
        let count = format!("n=$(($(cat {at}/n) + 1))\necho $n > {at}/n");
        fs::write(&sbatch, format!("#!/bin/sh\n{count}\ntest $n -le {most} && echo \"10$n;cluster\"\n")).unwrap();
        fs::set_permissions(&sbatch, PermissionsExt::from_mode(0o755)).unwrap();
        fs::write(dir.path().join("n"), "0").unwrap();
        let path = format!("{at}:{}", std::env::var("PATH").unwrap_or_default());
        std::process::Command::new("sh").args(["-c", &script]).env("PATH", path).output().unwrap()
    };
    let failed = submitted(2);
    assert!(!failed.status.success());
    assert!(String::from_utf8_lossy(&failed.stderr).contains("scancel 101 102\n"), "{failed:?}");
    let whole = submitted(99);
    assert!(whole.status.success() && whole.stderr.is_empty(), "{whole:?}");
    assert_eq!(String::from_utf8_lossy(&whole.stdout), "103\n");
}

/// `finish` accepts the results of plans: counts of a class of seven pieces.
#[test]
fn seven_pieces_are_listed_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    counted(dir.path(), &["ELvE"], "counts");
    let tables = dir.path().join("tables");
    let classes = Classes::new(&RuleOptions::PAPER, 7);
    let (_, seven) = classes.level(7).next().unwrap();
    let name = seven.representative.to_string();
    let mut counts: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("counts/ELvE.json")).unwrap()).unwrap();
    counts["class"] = name.clone().into();
    fs::write(tables.join(format!("{name}.json")), counts.to_string()).unwrap();

    let status = dsq::stdout(&["cluster", "status", text(&tables), "--pieces", "7", "--rate", "60000", "--json"]);
    let status = &lines(&status)[0];
    assert_eq!((&status["tables"], &status["counted"]), (&10.into(), &1.into()));
    assert_eq!(status["classes"], classes.iter().count());
    let finished = dsq::dsq(&["cluster", "finish", text(&tables), "--pieces", "7", "--json"]);
    assert_eq!(finished.status.code(), Some(1), "{}", String::from_utf8_lossy(&finished.stderr));
    let manifest: Value = serde_json::from_str(&fs::read_to_string(tables.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["counted"][0]["class"], name);
}

#[test]
fn no_hours_are_left_of_what_is_done() {
    let dir = tempfile::tempdir().unwrap();
    counted(dir.path(), &["ELvE"], "counts");
    let tables = dir.path().join("tables");
    let status = ["cluster", "status", text(&tables), "--pieces", "2", "--rate", "60000"];
    assert!(dsq::stdout(&status).contains("about 0.00 core-hours left"));
    assert!(dsq::stdout(&[&status[..], &["--json"]].concat()).contains("\"core_hours_left\":0.0"));
}

#[test]
fn hours_are_drawn() {
    let svg = dsq::stdout(&["cluster", "plan", "--pieces", "4", "--for", "plot", "--rate", "10000"]);
    assert!(svg.starts_with("<svg") && svg.contains("if no class waited"));
}

/// A memory size is a number above 0 and a unit.
#[test]
fn memory_needs_a_unit() {
    let plan = |memory: &str| {
        let memory = format!("--memory={memory}");
        dsq::dsq(&["cluster", "plan", "--pieces", "2", "--for", "json", "--rate", "60000", &memory])
    };
    for right in ["10GiB", "0.5TiB", "2048mib"] {
        assert_eq!(plan(right).status.code(), Some(0), "{right}");
    }
    for wrong in ["", "10", "GiB", "10GB", "0GiB", "-1GiB", "1.2.3GiB", "10 GiB", "99999999999TiB", "1536MiB"] {
        let output = plan(wrong);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{wrong}: {stderr}");
        assert!(stderr.contains("--memory"), "{wrong}: {stderr}");
    }
}
