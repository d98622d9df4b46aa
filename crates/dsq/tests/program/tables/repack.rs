//! Repacked tables, and results without distances.

use super::*;

/// The longest line of all classes of `pieces` pieces, from their counts.
fn longest_line(set: &TableSet, pieces: usize) -> usize {
    let ids = set.classes().level(pieces).map(|(id, _)| id);
    let sides = |id| Color::ALL.map(|color| set.file(id).unwrap().description().stats[color].by_plies.len() - 1);
    ids.flat_map(sides).max().unwrap()
}

#[test]
fn packing_again_changes_no_value() {
    let dir = tables(3);
    let at = text(dir.path());
    let manifest = || -> Json { serde_json::from_slice(&fs::read(dir.path().join("manifest.json")).unwrap()).unwrap() };
    let before = manifest();
    let report = &json(&["repack", at, "--json"])[0];
    let after = manifest();
    assert!(report["bytes"].as_u64().unwrap() <= report["bytes_before"].as_u64().unwrap());
    let size =
        |manifest: &Json| manifest["classes"].as_array().unwrap().iter().map(|c| c["bytes"].as_u64().unwrap()).sum();
    let (old, new): (u64, u64) = (size(&before), size(&after));
    assert_eq!((report["bytes_before"].as_u64(), report["bytes"].as_u64()), (Some(old), Some(new)));
    for (old, new) in before["classes"].as_array().unwrap().iter().zip(after["classes"].as_array().unwrap()) {
        for key in ["class", "same", "swapped", "values", "stats"] {
            assert_eq!(old[key], new[key], "{key}");
        }
        let path = dir.path().join(format!("{}.dsq", new["class"].as_str().unwrap()));
        assert_eq!(fs::metadata(path).unwrap().len(), new["bytes"].as_u64().unwrap());
    }
    let original = tables(3);
    let (packed, plain) = (prober(dir.path()), prober(original.path()));
    for (set, pieces) in [(&packed, 2), (&plain, 2), (&packed, 3), (&plain, 3)] {
        let (position, plies) = set.set().deepest(pieces).unwrap().unwrap();
        assert_eq!(set.cell_value(&position).unwrap(), Some(CellValue::Decided(plies)));
        assert_eq!((usize::from(plies), position.occupied().len()), (longest_line(set.set(), pieces), pieces));
    }
    assert_eq!(packed.set().deepest(4).unwrap(), None);
    let table = packed.load(material("ERvR")).unwrap();
    assert!(Color::ALL.iter().all(|&color| matches!(table.cells[color], Cells::Byte(_))), "stored or not");
    for position in random_positions(10, &[Material::all(2), Material::all(3)].concat(), 5000) {
        assert_eq!(
            packed.cell_value(&position).unwrap(),
            plain.cell_value(&position).unwrap(),
            "{}",
            position.to_fen()
        );
    }
    drop(packed);
    // One side to move is not stored; commands that need all values compute it.
    let full = &json(&["verify", at, "--json"])[0];
    let both = &json(&["verify", text(original.path()), "--json"])[0];
    assert_eq!(full["values"].as_u64().unwrap() * 2, both["values"].as_u64().unwrap());
    let export = |material| vec!["export", "--material", material, "--format", "csv", "--tables"];
    for arguments in [vec!["stats", "--deepest"], export("RvE"), export("LvTR")] {
        let of = |dir: &Path| stdout(&[&arguments[..], &[text(dir)]].concat());
        assert_eq!(of(dir.path()), of(original.path()), "{arguments:?}");
    }
    let packed = files(dir.path());
    let again = &json(&["repack", at, "--json"])[0];
    assert_eq!(again["bytes"], again["bytes_before"]);
    assert!(files(dir.path()) == packed);
    // `generate` accepts packed tables as finished.
    let generate = || json(&["generate", "--pieces", "3", "--out", at, "--json"]).remove(0);
    let report = generate();
    assert_eq!(report["reused"], report["classes"]);
    assert!(files(dir.path()) == packed);
    // The tables that captures of a class lead to are solved again for their values, and compared.
    for name in ["ERvR.dsq", "ELvT.dsq"] {
        fs::remove_file(dir.path().join(name)).unwrap();
    }
    let report = generate();
    assert_eq!(report["reused"].as_u64().unwrap() + 2, report["classes"].as_u64().unwrap());
    stdout(&["repack", at]);
    assert!(files(dir.path()) == packed);
}

/// Results without distances form a separate set, which is probed, checked by its checksums, and refused if distances
/// are required.
#[test]
fn results_only_are_written_and_read() {
    let (dir, packed) = (tables(3), temporary());
    let (at, out) = (text(dir.path()), text(packed.path()));
    fails(2, &["repack", at, "--wdl"], &["--out"]);
    fails(2, &["repack", at, "--out", out], &["--wdl"]);
    for results in [&[][..], &["--wdl", "--out", out]] {
        let words = ["takes about", "raise --memory"];
        fails(3, &[&["repack", at, "--memory", "0.001MiB"], results].concat(), &words);
    }
    assert!(files(dir.path()) == *made(3));
    let report = &json(&["repack", at, "--wdl", "--out", out, "--json"])[0];
    assert!(report["bytes"].as_u64().unwrap() * 3 < report["bytes_before"].as_u64().unwrap());
    assert!(files(dir.path()) == *made(3), "the tables with distances stay");
    let written = files(packed.path());
    json(&["repack", at, "--wdl", "--out", out, "--json"]);
    assert!(files(packed.path()) == written, "complete files stay");
    stdout(&["verify", out, "--sample", "0"]);
    fails(2, &["verify", out], &[out, "results only", "--sample 0"]);
    for arguments in [
        &["generate", "--pieces", "3", "--out", out][..],
        &["export", "--material", "EvE", "--format", "csv", "--tables", out],
        &["probe", "--tables", out, LOST_IN_12, "--line"],
        &["repack", out],
    ] {
        fails(2, arguments, &[out, "not distances"]);
    }
    let same = fails(2, &["repack", at, "--wdl", "--out", at], &["EvE.dsq", "stores distances"]);
    assert!(!same.contains("delete"), "{same}");
    assert!(files(packed.path()) == written);
    for (seed, pieces) in [(21, 2), (22, 3)] {
        for position in random_positions(seed, &Material::all(pieces), 40) {
            let fen = position.to_fen();
            let [result, whole] = [out, at].map(|at| json(&["probe", "--tables", at, "--json", &fen]).remove(0));
            assert_eq!((&result["wdl"], &result["dtw"]), (&whole["wdl"], &Json::Null), "{fen}");
            let wdl = |report: &Json| -> Vec<String> {
                report["moves"].as_array().unwrap().iter().map(|m| m["wdl"].to_string()).collect()
            };
            assert_eq!(wdl(&result), wdl(&whole), "{fen}");
        }
    }
    let words = stdout(&["probe", "--tables", out, LOST_IN_12]);
    assert!(words.contains("loss") && !words.contains("plies"), "{words}");
    // The remedy for results is not `generate`, which refuses their directory.
    let (name, bytes) = written.iter().find(|(name, _)| name.ends_with(".dsq")).unwrap();
    fs::write(packed.path().join(name), &bytes[..bytes.len() / 2]).unwrap();
    fails(1, &["verify", out, "--sample", "0"], &[name, "is damaged", "for results only, `dsq repack --wdl`"]);
    fs::remove_file(packed.path().join(name)).unwrap();
    fails(2, &["verify", out, "--sample", "0"], &["has no table of", "among results only, `dsq repack --wdl`"]);
    json(&["repack", at, "--wdl", "--out", out, "--json"]);
    assert!(files(packed.path())[name] == *bytes, "it is made again");
}

/// No probe of a changed packed file gives another answer than the original file.
#[test]
fn damage_of_a_packed_file_is_found() {
    let dir = tables(3);
    stdout(&["repack", text(dir.path())]);
    let path = dir.path().join("ERvR.dsq");
    let whole = fs::read(&path).unwrap();
    let positions = random_positions(14, &[material("ERvR"), material("RvER")], 60);
    let right: Vec<_> = {
        let set = prober(dir.path());
        positions.iter().map(|p| set.cell_value(p).unwrap()).collect()
    };
    let mut random = Pcg64::seed_from_u64(15);
    let mut answers = 0;
    for _ in 0..200 {
        let mut bytes = whole.clone();
        let at = random.next_u64() as usize % whole.len();
        bytes[at] ^= 1 << (random.next_u64() % 8);
        replace(&path, &bytes);
        let set = prober(dir.path());
        assert!(
            set.set()
                .file(set.set().classes().member(material("ERvR")).unwrap().class)
                .and_then(|f| Ok(f.check()?))
                .is_err()
        );
        for (position, right) in positions.iter().zip(&right) {
            match set.cell_value(position) {
                Ok(value) => {
                    answers += 1;
                    assert_eq!(value, *right, "byte {at}: {}", position.to_fen());
                }
                Err(error) => assert!(error.to_string().contains("ERvR.dsq"), "{error}"),
            }
        }
    }
    assert!(answers > 0, "no probe survives");
}

#[test]
fn killed_packing_goes_on() {
    let whole = tables(2);
    stdout(&["repack", text(whole.path())]);
    let whole = files(whole.path());
    let all = whole.keys().filter(|name| name.ends_with(".dsq")).count();
    // Kills of runs that have repacked so many tables, and not all.
    for wanted in [1, 3, 6] {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let dir = tables(2);
            let packed = || {
                let is_packed = |name: &str, bytes: &[u8]| {
                    name.ends_with(".dsq") && fs::read(dir.path().join(name)).is_ok_and(|found| found == bytes)
                };
                whole.iter().filter(|(name, bytes)| is_packed(name, bytes)).count()
            };
            let mut child = command(&["repack", text(dir.path())]).stdout(Stdio::null()).spawn().unwrap();
            while packed() < wanted && child.try_wait().unwrap().is_none() {}
            child.kill().unwrap();
            child.wait().unwrap();
            let packed = packed();
            stdout(&["verify", text(dir.path()), "--sample", "100"]);
            stdout(&["repack", text(dir.path())]);
            assert!(files(dir.path()) == whole, "after a kill with {packed} tables");
            if (wanted..all).contains(&packed) {
                break;
            }
            assert!(Instant::now() < end, "no kill came after {wanted} tables and before the last");
        }
    }
}

#[test]
fn results_in_memory_agree() {
    let all: Vec<Material> = [Material::all(2), Material::all(3)].concat();
    for no_move in NoMove::ALL.iter().copied() {
        let mut options = RuleOptions::PAPER;
        options.no_move = no_move;
        let dir = temporary();
        stdout(&["generate", "--pieces", "3", "--out", text(dir.path()), "--rules", &options.to_string()]);
        let set = TableSet::open(dir.path()).unwrap().prober(&options).unwrap();
        let tables = [WdlTables::solve(&options, 3).unwrap(), WdlTables::read(&set, 3).unwrap()];
        let mut positions = random_positions(11, &all, 20_000);
        // Stalemates are rare, so crowded materials are sampled, too.
        let crowded = [material("RvER"), material("EvLT"), material("CvDW")];
        positions.extend(random_positions(12, &crowded, 20_000));
        for position in &positions {
            let verdict = set.value(position).unwrap().unwrap();
            for tables in &tables {
                assert_eq!(tables.probe(position), Some(verdict.wdl), "{} under {options}", position.to_fen());
            }
        }
    }
}
