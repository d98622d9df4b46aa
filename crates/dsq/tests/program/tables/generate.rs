//! Generating tables and counts, resuming, interruptions.

use super::*;

#[test]
fn what_is_there_is_used_and_threads_change_nothing() {
    for threads in ["1", "3"] {
        let dir = temporary();
        let made = &json(&["generate", "--pieces", "3", "--out", text(dir.path()), "--threads", threads, "--json"])[0];
        assert_eq!(made["reused"], 0);
        holds(dir.path(), 3);
        let before = fs::metadata(dir.path().join("EvE.dsq")).unwrap().modified().unwrap();
        let again = &json(&["generate", "--pieces", "3", "--out", text(dir.path()), "--json"])[0];
        assert_eq!(again["reused"], again["classes"]);
        for key in ["classes", "positions", "bytes", "bits_per_position"] {
            assert_eq!(made[key], again[key], "{key}");
        }
        holds(dir.path(), 3);
        assert_eq!(fs::metadata(dir.path().join("EvE.dsq")).unwrap().modified().unwrap(), before);
    }
}

#[test]
fn less_asked_for_later_loses_nothing() {
    let dir = tables(3);
    stdout(&["generate", "--pieces", "2", "--out", text(dir.path())]);
    holds(dir.path(), 3);
    stdout(&["generate", "--material", "EvR", "--out", text(dir.path())]);
    holds(dir.path(), 3);
}

#[test]
fn one_material_and_then_all() {
    let dir = temporary();
    stdout(&["generate", "--material", "ERvR", "--out", text(dir.path())]);
    let set = prober(dir.path());
    let solver = solved(&RuleOptions::PAPER, 3);
    for position in random_positions(1, &[material("ERvR"), material("RvER"), material("EvR")], 1000) {
        assert_eq!(set.cell_value(&position).unwrap(), solver.cell_value(&position), "{}", position.to_fen());
    }
    drop(set);
    let probe = ["probe", "--tables", text(dir.path()), "7/7/3el2/7/7/7/3E3/7/7 w"];
    fails(2, &probe, &[text(dir.path()), "has no table of", "dsq generate"]);
    stdout(&["generate", "--pieces", "3", "--out", text(dir.path())]);
    holds(dir.path(), 3);
}

#[test]
fn where_nothing_can_be_written() {
    let dir = temporary();
    let file = dir.path().join("file");
    fs::write(&file, "no directory").unwrap();
    for out in [file.clone(), file.join("tables")] {
        fails(3, &["generate", "--pieces", "2", "--out", text(&out)], &[text(&out)]);
    }
    fails(2, &["verify", text(&file)], &[text(&file)]);
    let lock = dir.path().join("lock");
    fs::create_dir(&lock).unwrap();
    fails(3, &["generate", "--pieces", "2", "--out", text(dir.path())], &[text(&lock)]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let closed = tables(2);
        fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let out = text(closed.path());
        // Permissions do not bind root, who runs a copy of the program as another user.
        let is_root = File::create(closed.path().join("probe")).is_ok();
        let program = dir.path().join("dsq");
        fs::copy(env!("CARGO_BIN_EXE_dsq"), &program).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let run = |arguments: &[&str]| {
            let mut command = Command::new(&program);
            command.args(arguments);
            if is_root {
                std::os::unix::process::CommandExt::uid(&mut command, 65_534);
            }
            command.output().expect("dsq runs")
        };
        for arguments in [&["generate", "--pieces", "3", "--out", out][..], &["repack", out]] {
            let output = run(arguments);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(3) && stderr.contains(out), "{arguments:?}: {output:?}");
            assert!(!stderr.contains("are kept") && stderr.contains("must be writable"), "{arguments:?}: {stderr}");
        }
        assert!(run(&["verify", out]).status.success());
        fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn no_space_left() {
    let sizes = made(3);
    let dir = temporary();
    let at = text(dir.path());
    for blocks in [1, 8, 32, 64] {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        let run = ["-c", &script, "sh", env!("CARGO_BIN_EXE_dsq"), "generate", "--pieces", "3", "--out", at];
        let output = Command::new("sh").args(run).output().unwrap();
        assert!(sizes.values().any(|bytes| bytes.len() > 1024 * blocks), "the limit is none");
        failed(&output, &[3], &[at, "run the same command again to resume"]);
        for (name, bytes) in files(dir.path()) {
            assert!(!name.ends_with(".partial"), "{name} is left behind");
            if name.ends_with(".dsq") {
                assert!(bytes == sizes[&name], "{name} is not whole");
            }
        }
    }
    stdout(&["generate", "--pieces", "3", "--out", at]);
    holds(dir.path(), 3);
    // If `repack` finds no space, every table stays unchanged.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$@\"";
    let output = Command::new("sh").args(["-c", script, "sh", env!("CARGO_BIN_EXE_dsq"), "repack", at]).output();
    failed(&output.unwrap(), &[3], &[at, "run the same command again to resume"]);
    stdout(&["verify", at, "--sample", "100"]);
    assert!(files(dir.path()).keys().all(|name| !name.ends_with(".partial")));
    if cfg!(target_os = "linux") {
        let full = File::create("/dev/full").unwrap();
        let output = command(&["probe", "--tables", at, LOST_IN_12]).stdout(full).output();
        failed(&output.unwrap(), &[3], &["standard output"]);
    }
}

#[test]
fn one_run_at_a_time() {
    let dir = tables(2);
    let at = text(dir.path());
    let lock = File::create(dir.path().join("lock")).unwrap();
    lock.lock().unwrap();
    fails(3, &["generate", "--pieces", "2", "--out", at], &[at, "another run"]);
    fails(3, &["repack", at], &[at, "another run"]);
    let before = files(dir.path());
    fails(3, &["cluster", "finish", at, "--pieces", "2"], &[at, "another run"]);
    assert!(files(dir.path()) == before, "nothing is written beside another run");
    stdout(&["verify", at]);
    stdout(&["probe", "--tables", at, LOST_IN_12]);
    lock.unlock().unwrap();
    stdout(&["generate", "--pieces", "2", "--out", at]);
    stdout(&["repack", at]);
}

/// Ctrl-C and SIGTERM end a run at once. The run reports how to resume, and readers report that the set is not
/// finished.
#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_to_resume() {
    for signal in ["-INT", "-TERM"] {
        let dir = temporary();
        let out = dir.path().join("tables");
        let at = text(&out);
        // Five pieces take minutes on any machine, so the run is not over when the signal comes.
        let mut child = command(&["generate", "--pieces", "5", "--force", "--backend", "cpu", "--out", at]);
        let child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let begin = Instant::now();
        while !out.join("EvE.dsq").exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "no table is written");
            sleep(Duration::from_millis(1));
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        failed(&output, &[130], &["interrupted", "run the same command again to resume"]);
        for more in [&[][..], &["--deepest"], &["--by", "class", "--json"]] {
            fails(2, &[&["stats", at], more].concat(), &[at, "lists no tables", "interrupted"]);
        }
        let bundle = dir.path().join("bundle");
        for reader in [&["verify", at][..], &["bundle", at, "--out", text(&bundle)]] {
            fails(2, reader, &[at, "lists no tables", "interrupted"]);
        }
        stdout(&["generate", "--pieces", "2", "--out", at]);
        assert!(stdout(&["stats", at]).contains("2 pieces"));
        for (name, bytes) in made(2).iter().filter(|(name, _)| name.ends_with(".dsq")) {
            assert!(fs::read(out.join(name)).unwrap() == *bytes, "{name}");
        }
    }
}

#[test]
fn counts_without_tables() {
    let dir = temporary();
    let at = text(dir.path());
    let made = &json(&["generate", "--pieces", "3", "--out", at, "--stats-only", "--json"])[0];
    assert_eq!(
        (made["classes"].as_u64(), made["counted"].as_u64(), made["reused"].as_u64()),
        (Some(10), Some(42), Some(0))
    );
    let whole = tables(3);
    for by in ["pieces", "class", "material"] {
        let without_bytes = |at: &str| {
            let mut lines = json(&["stats", at, "--by", by, "--json"]);
            let bytes: u64 = lines.iter_mut().map(|line| line["bytes"].take().as_u64().unwrap()).sum();
            (lines, bytes)
        };
        let (counted, fewer_bytes) = without_bytes(at);
        let (lines, bytes) = without_bytes(text(whole.path()));
        assert_eq!(counted, lines);
        let size = |dir: &Path| -> u64 {
            let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
            entries
                .filter(|e| e.path().extension().is_some_and(|x| x == "dsq"))
                .map(|e| e.metadata().unwrap().len())
                .sum()
        };
        if by != "material" {
            assert_eq!((fewer_bytes, bytes), (size(dir.path()), size(whole.path())));
        }
    }
    let again = &json(&["generate", "--pieces", "3", "--out", at, "--stats-only", "--json"])[0];
    assert_eq!(again["reused"], 52);
    // Classes that were counted before a kill are not counted again.
    let manifest = dir.path().join("manifest.json");
    let mut listed: Json = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    listed["counted"].as_array_mut().unwrap().truncate(20);
    replace(&manifest, listed.to_string().as_bytes());
    let again = &json(&["generate", "--pieces", "3", "--out", at, "--stats-only", "--json"])[0];
    assert_eq!((again["counted"].as_u64(), again["reused"].as_u64()), (Some(42), Some(30)));
    stdout(&["verify", at]);
    fails(2, &["probe", "--tables", at, "7/7/3el2/7/7/7/3E3/7/7 w"], &["3 pieces"]);
    // The tables themselves replace the counts.
    stdout(&["generate", "--pieces", "3", "--out", at]);
    holds(dir.path(), 3);
}

/// The captures of three pieces are solved when a class of four needs them, and not written.
#[test]
fn counts_alone_are_no_tables() {
    let dir = temporary();
    let at = text(dir.path());
    let generate = ["generate", "--pieces", "2", "--out", at, "--stats-only"];
    let said = stdout(&generate);
    assert!(said.contains("10 classes were only counted") && said.contains("0 bytes, "), "{said}");
    assert!(!said.contains("bits per position"), "{said}");
    assert!(json(&[&generate[..], &["--json"]].concat())[0]["bits_per_position"].is_null());
    for reader in [&["verify", at][..], &["stats", at, "--deepest"]] {
        let said = fails(2, reader, &[at, "lists counts only"]);
        assert!(!said.contains("interrupted"), "{said}");
    }
}

#[test]
fn counts_class_by_class() {
    let dir = temporary();
    let at = text(dir.path());
    let options = ["--pieces", "4", "--stats-only", "--json"];
    let count = |more: &[&str]| json(&[&["generate", "--out", at], &options[..], more].concat()).remove(0);
    let none = count(&["--minutes", "1e-9"]);
    assert_eq!((none["classes"].as_u64(), none["counted"].as_u64()), (Some(52), Some(0)));
    let all = count(&["--minutes", "1e9"]);
    assert_eq!((all["classes"].as_u64(), all["counted"].as_u64()), (Some(52), Some(134)));
    let stats = |at: &str| json(&["stats", at, "--json"]);
    let whole = stats(at).pop().unwrap();
    assert_eq!((whole["name"].as_str(), whole["part"].as_object()), (Some("4 pieces"), None));
    // The number in the papers' table.
    assert_eq!(whole["positions"], 9_685_376_064u64);
    let solved = stats(crate::serve::counts::four()).pop().unwrap();
    for number in ["wins", "losses", "draws", "no_move", "longest"] {
        assert_eq!(whole[number], solved[number], "{number}");
    }

    // A killed run resumes; until then `stats` reports that the level is incomplete.
    let manifest = dir.path().join("manifest.json");
    let mut listed: Json = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    assert!(listed["counted"][0]["seconds"].as_f64().unwrap() > 0.0);
    listed["counted"].as_array_mut().unwrap().truncate(125);
    replace(&manifest, listed.to_string().as_bytes());
    let part = stats(at).pop().unwrap();
    assert_eq!((part["part"]["classes"].as_u64(), part["part"]["of"].as_u64()), (Some(125), Some(134)));
    assert_eq!(count(&[])["reused"], 52 + 125);
    let again = stats(at).pop().unwrap();
    assert_eq!(again["by_plies"], whole["by_plies"]);
    fails(2, &["generate", "--pieces", "4", "--out", at, "--minutes", "2"], &["--stats-only"]);
    fails(2, &[&["generate", "--out", at], &options[..], &["--minutes=-1"]].concat(), &["minutes"]);
}

#[test]
fn counts_are_the_published_ones() {
    let dir = tables(3);
    let at = text(dir.path());
    let by = |by: &str| json(&["stats", at, "--by", by, "--json"]);
    let keys = ["positions", "no_move", "wins", "losses", "draws", "longest"];
    let numbers = |line: &Json| keys.map(|key| line[key].as_u64().unwrap());
    let pieces = by("pieces");
    assert_eq!(pieces.len(), 2);
    for line in by("material") {
        assert_eq!(line["positions"], material(line["name"].as_str().unwrap()).positions(), "{}", line["name"]);
    }
    for (line, pieces) in pieces.iter().zip([2, 3]) {
        let printed = ENDGAMES.iter().find(|row| row.pieces == pieces).unwrap();
        let [positions, no_move, wins, losses, draws, longest] = numbers(line);
        assert_eq!(line["name"], format!("{pieces} pieces"));
        let printed_row = (printed.positions, printed.wins, printed.losses, printed.draws, printed.longest);
        // The printed positions leave out stalemates.
        assert_eq!((positions - no_move, wins, losses, draws, longest), printed_row);
        assert_eq!(no_move, WITHOUT_MOVE[pieces - 2]);
        let counted: u64 = line["by_plies"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(counted, wins + losses);
    }
    let materials = by("material");
    assert_eq!(materials.len(), Material::all(2).len() + Material::all(3).len());
    for (line, expected) in materials.iter().zip(Material::all(2).iter().chain(&Material::all(3))) {
        assert_eq!(line["name"], expected.to_string());
    }
    for (pieces, total) in [2, 3].into_iter().zip(&pieces) {
        let mut sum = [0; 6];
        for line in materials.iter().filter(|line| line["name"].as_str().unwrap().len() == pieces + 1) {
            let line = numbers(line);
            (0..5).for_each(|i| sum[i] += line[i]);
            sum[5] = sum[5].max(line[5]);
        }
        assert_eq!(sum, numbers(total));
    }
    let classes = by("class");
    assert_eq!(classes.len(), TableSet::open(dir.path()).unwrap().manifest().classes.len());
    for line in &classes {
        let material = materials.iter().find(|other| other["name"] == line["name"]).unwrap();
        assert_eq!(line, material);
    }
}
