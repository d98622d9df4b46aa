//! The file format, damage, and its verification.

use super::*;
use crate::table_file::table_file;

/// A table file with this description and these blocks.
fn build(description: &Json, blocks: &[Vec<u8>]) -> Vec<u8> {
    table_file(b"DSQTABLE\x06\0\0\0", description.to_string().as_bytes(), blocks)
}

/// A class of two pieces, small enough to flip every byte, and a class of three with several blocks for each side to
/// move.
const SPOILED: [(usize, &str); 2] = [(2, "EvE.dsq"), (3, "ERvR.dsq")];

#[test]
fn the_file_is_as_documented() {
    for (name, bytes) in made(3).iter().filter(|(name, _)| name.ends_with(".dsq")) {
        let parts = parts(bytes);
        assert_eq!(*bytes, rebuilt(bytes, &parts), "{name}");
        for (start, end) in [(0, parts.head_sum), (parts.block_table, parts.blocks - 8), (0, parts.trailer)] {
            assert_eq!(xxh3_64(&bytes[start..end]) as usize, number(bytes, end, 8), "{name}");
        }
        assert_eq!(number(bytes, 16, 8), bytes.len(), "{name}");
    }
    let bytes = &made(3)["ERvR.dsq"];
    assert!(blocks(bytes).len() > 2);
    assert_eq!(values(bytes, Color::White), parts(bytes).description["values"]["white"]);
    assert_eq!(values(bytes, Color::Black), parts(bytes).description["values"]["black"]);
}

/// The file, built again from its parts with the same description.
fn rebuilt(bytes: &[u8], parts: &Parts) -> Vec<u8> {
    table_file(&bytes[..12], &bytes[24..parts.head_sum], &blocks(bytes))
}

#[test]
fn a_flipped_byte_is_found() {
    for (pieces, name) in SPOILED {
        let dir = tables(pieces);
        let path = dir.path().join(name);
        let whole = fs::read(&path).unwrap();
        let parts = parts(&whole);
        let spoiled = material(name.strip_suffix(".dsq").unwrap());
        let positions = random_positions(3, &[spoiled, spoiled.swap()], 60);
        let right: Vec<_> = {
            let set = prober(dir.path());
            positions.iter().map(|p| set.cell_value(p).unwrap()).collect()
        };
        let mut random = Pcg64::seed_from_u64(4);
        let mut places: Vec<usize> = (0..whole.len()).collect();
        if pieces > 2 {
            places.retain(|&at| at < 24 || at >= parts.head_sum && random.next_u64() % 64 == 0);
        }
        let mut answers = 0;
        for &at in &places {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (random.next_u64() % 8);
            replace(&path, &bytes);
            let opened = TableFile::open(&path, &RuleOptions::PAPER, spoiled);
            let error = opened.and_then(|file| file.check()).expect_err("a flipped byte");
            assert!(error.to_string().contains(name), "{error}");
            let set = prober(dir.path());
            for (position, right) in positions.iter().zip(&right) {
                match set.cell_value(position) {
                    Ok(value) => {
                        answers += 1;
                        assert_eq!(value, *right, "byte {at}: {}", position.to_fen());
                    }
                    Err(error) => assert!(error.to_string().contains(name), "{error}"),
                }
            }
        }
        assert!(answers > 0, "no probe survives");
        // The program, in every part of the file.
        let middle = |from: usize, to: usize| from + (to - from) / 2;
        let places = [
            (0, 2, "is not a table"),
            (7, 2, "is not a table"),
            (8, 2, "format version"),
            (11, 2, "format version"),
            (12, 1, "is damaged"),
            (15, 1, "cut short"),
            (16, 1, "checksum of its head"),
            (24, 1, "checksum of its head"),
            (parts.head_sum - 1, 1, "checksum of its head"),
            (parts.head_sum, 1, "checksum of its head"),
            (parts.block_table, 1, "checksum"),
            (middle(parts.block_table, parts.blocks), 1, "checksum"),
            (parts.blocks - 1, 1, "checksum"),
            (parts.blocks, 1, "checksum"),
            (middle(parts.blocks, parts.trailer), 1, "checksum"),
            (parts.trailer - 1, 1, "checksum"),
            (parts.trailer, 1, "checksum"),
            (whole.len() - 1, 1, "checksum"),
        ];
        for (at, code, cause) in places {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x80;
            replace(&path, &bytes);
            fails(code, &["verify", text(dir.path())], &[name, cause]);
            fails(code, &["verify", text(dir.path()), "--sample", "0"], &[name, cause]);
            let pieces = pieces.to_string();
            let said = fails(code, &["generate", "--pieces", &pieces, "--out", text(dir.path())], &[name, cause]);
            assert_eq!(said.contains("delete the damaged files"), cause != "format version", "{said}");
            assert!(fs::read(&path).unwrap() == bytes, "a damaged file is left to its owner");
        }
    }
}

#[test]
fn a_cut_or_longer_file_is_found() {
    for (pieces, name) in SPOILED {
        let dir = tables(pieces);
        let path = dir.path().join(name);
        let whole = fs::read(&path).unwrap();
        let parts = parts(&whole);
        let spoiled = material(name.strip_suffix(".dsq").unwrap());
        for len in (0..whole.len()).filter(|len| pieces == 2 || len % 499 == 0) {
            replace(&path, &whole[..len]);
            let error = TableFile::open(&path, &RuleOptions::PAPER, spoiled).err().expect("an error").to_string();
            assert!(error.contains(name), "{error}");
        }
        let ends =
            [0, 1, 7, 8, 11, 12, 15, 16, 23, 24, 100, parts.head_sum, parts.block_table, parts.blocks, parts.trailer];
        for len in ends.into_iter().chain([whole.len() - 1]) {
            replace(&path, &whole[..len]);
            failed(&dsq(&["verify", text(dir.path())]), &[1], &[name]);
        }
        replace(&path, &[&whole[..], b"x"].concat());
        fails(1, &["verify", text(dir.path())], &[name, "length"]);
        replace(&path, b"");
        failed(&dsq(&["probe", "--tables", text(dir.path()), LOST_IN_12]), if pieces == 2 { &[1] } else { &[0] }, &[]);
    }
}

#[test]
fn other_files_in_place_of_a_table() {
    let dir = tables(2);
    let (at, path) = (text(dir.path()), dir.path().join("EvE.dsq"));
    let whole = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fails(2, &["verify", at], &[at, "no table of EvE", "dsq generate"]);
    fails(2, &["probe", "--tables", at, LOST_IN_12], &[at, "no table of EvE"]);
    stdout(&["generate", "--pieces", "2", "--out", at]);
    assert!(fs::read(&path).unwrap() == whole);

    let every = |code: i32, words: &[&str]| {
        fails(code, &["verify", at], words);
        fails(code, &["probe", "--tables", at, LOST_IN_12], words);
        fails(code, &["generate", "--pieces", "2", "--out", at], words);
        fails(code, &["repack", at], words);
    };
    for end in [0, 5] {
        replace(&path, &whole[..end]);
        every(1, &["EvE.dsq", "cut short"]);
    }
    replace(&path, b"Dear diary, today I looked for endgame tables.");
    every(2, &["EvE.dsq", "is not a table of this program"]);
    replace(&path, &fs::read(dir.path().join("EvR.dsq")).unwrap());
    every(2, &["EvE.dsq", "holds EvR instead of EvE"]);
    let other = temporary();
    stdout(&["generate", "--pieces", "2", "--out", text(other.path()), "--rules", OTHER_RULES]);
    replace(&path, &fs::read(other.path().join("EvE.dsq")).unwrap());
    every(2, &["EvE.dsq", "no-move=loss", "no-move=draw"]);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    every(3, &["EvE.dsq"]);
}

/// Named pipes without a writer do not stop the program.
#[cfg(target_os = "linux")]
#[test]
fn named_pipes_are_no_files() {
    for name in ["manifest.json", "EvE.dsq", "EvE.json", "bundle.json"] {
        let dir = tables(2);
        let (at, path) = (text(dir.path()), dir.path().join(name));
        let _ = fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let readers = [&["verify", at][..], &["stats", at]];
        let reads = |reader: &[&str]| name == "manifest.json" || (reader[0] == "stats") == (name == "EvE.json");
        for reader in readers.into_iter().filter(|reader| reads(reader)) {
            let output = Command::new("timeout").args(["20", env!("CARGO_BIN_EXE_dsq")]).args(reader).output();
            failed(&output.unwrap(), &[3], &[text(&path), "not a regular file"]);
        }
    }
}

/// Counts are read from the manifest, which has no checksum: `verify` compares it with the files.
#[test]
fn a_changed_manifest_is_found() {
    let dir = tables(2);
    let path = dir.path().join("manifest.json");
    let whole: Json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let mut draws = whole.clone();
    draws["classes"][3]["stats"]["white"]["draws"] = 123_456.into();
    let mut values = whole.clone();
    values["classes"][3]["values"]["black"] = "0123456789abcdef".into();
    for changed in [draws, values] {
        replace(&path, changed.to_string().as_bytes());
        fails(1, &["verify", text(dir.path())], &["manifest.json", "damaged"]);
    }
    let entry = whole["classes"].as_array().unwrap().iter().find(|entry| entry["class"] == "EvL").unwrap();
    for (name, cause) in [("EvL", "EvL twice"), ("LvE", "EvL as LvE")] {
        let (mut changed, mut entry) = (whole.clone(), entry.clone());
        entry["class"] = name.into();
        changed["classes"].as_array_mut().unwrap().push(entry);
        replace(&path, changed.to_string().as_bytes());
        for reader in [&["verify", "--sample", "0"][..], &["stats"]] {
            fails(2, &[reader, &[text(dir.path())]].concat(), &["manifest.json", cause]);
        }
    }
}

/// Reads everything in a file of these bytes. Any result is right, as long as there is one.
fn read_everything(dir: &Path, bytes: &[u8]) {
    let path: PathBuf = dir.join("EvE.dsq");
    replace(&path, bytes);
    if let Ok(file) = TableFile::open(&path, &RuleOptions::PAPER, material("EvE")) {
        let _ = file.check();
    }
    let set = prober(dir);
    let _ = set.load(material("EvE"));
    for position in random_positions(5, &[material("EvE")], 20) {
        let _: Result<Option<CellValue>, SetError> = set.cell_value(&position);
        let _ = set.moves(&position);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_refused(
        head in 0..4usize,
        bytes in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let heads: [&[u8]; 4] = [b"", b"DSQTABLE", b"DSQTABLE\x01\0\0\0", b"DSQTABLE\x02\0\0\0\x02\0\0\0{}"];
        let dir = temporary();
        let path = dir.path().join("EvE.dsq");
        fs::write(&path, [heads[head], &bytes].concat()).unwrap();
        prop_assert!(TableFile::open(&path, &RuleOptions::PAPER, material("EvE")).is_err());
    }

    /// Changed bytes, with and without checksums that agree with them.
    #[test]
    fn no_change_of_a_file_is_too_much(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        part in 0..4usize,
        mend in any::<bool>(),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let dir = tables(2);
        let mut bytes = fs::read(dir.path().join("EvE.dsq")).unwrap();
        let parts = parts(&bytes);
        let range = [0..bytes.len(), 24..parts.head_sum, parts.block_table..parts.blocks - 8, parts.blocks..parts.trailer];
        for (place, byte) in changes {
            let at = range[part].start + place.index(range[part].len());
            bytes[at] = byte;
        }
        if mend {
            // The blocks stay in place, so that wrong lengths and contents have right checksums.
            if part == 3 {
                bytes = rebuilt(&bytes, &parts);
            }
            for (start, end) in
                [(0, parts.head_sum), (parts.block_table, parts.blocks - 8), (0, parts.trailer)]
            {
                let sum = xxh3_64(&bytes[start..end]);
                bytes[end..end + 8].copy_from_slice(&sum.to_le_bytes());
            }
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        read_everything(dir.path(), &bytes);
    }
}

#[test]
fn every_value_follows_from_those_one_move_on() {
    let dir = tables(3);
    let report = &json(&["verify", text(dir.path()), "--json"])[0];
    assert!(report["values"].as_u64().unwrap() > 1_000_000);
    assert_eq!(report["seed"], Json::Null);
    // A weaker check must be requested.
    let default = &json(&["verify", text(dir.path()), "--json"])[0];
    assert_eq!((&default["values"], &default["seed"]), (&report["values"], &Json::Null));
    let sampled = &json(&["verify", text(dir.path()), "--sample", "1000", "--seed", "9", "--json"])[0];
    assert_eq!(sampled["classes"], report["classes"]);
    assert_eq!(sampled["seed"], 9);
    let sampled = sampled["values"].as_u64().unwrap();
    assert!((52 * 1000..52 * 2000).contains(&sampled), "{sampled}");
}

#[test]
fn every_damaged_file_is_listed() {
    let dir = tables(3);
    let at = text(dir.path());
    let names = ["EvE.dsq", "ERvR.dsq", "LvTR.dsq"];
    names.iter().for_each(|name| damage(dir.path(), name));
    fs::remove_file(dir.path().join("EvR.dsq")).unwrap();
    for scope in [&[][..], &["--plain"], &["--sample", "0"], &["--sample", "10"]] {
        let said = fails(1, &[&["verify", at], scope].concat(), &names);
        assert!(said.contains("no table of EvR") && said.contains("4 faults"), "{said}");
        assert_eq!(said.lines().count(), 5, "{said}");
        assert!(said.contains("delete the damaged files"), "{said}");
    }
}

/// A record proves that a class was right, not that it still is.
#[test]
fn damage_after_a_record_is_found() {
    let dir = tables(3);
    let record = dir.path().join("proved.jsonl");
    let arguments = ["verify", text(dir.path()), "--record", text(&record)];
    stdout(&arguments);
    assert!(stdout(&arguments).contains("(52 recorded before)"));
    let before = fs::read(&record).unwrap();
    let names = ["EvE.dsq", "ERvR.dsq"];
    names.iter().for_each(|name| damage(dir.path(), name));
    fails(1, &arguments, &names);
    assert!(fs::read(&record).unwrap() == before);
    names.iter().for_each(|name| replace(&dir.path().join(name), &made(3)[*name]));
    assert!(stdout(&arguments).contains("(52 recorded before)"));
}

/// The incomplete last line of an interrupted check is written again; files of others are refused.
#[test]
fn only_records_are_continued() {
    let dir = tables(2);
    let record = dir.path().join("record");
    let arguments = ["verify", text(dir.path()), "--record", text(&record)];
    stdout(&arguments);
    let whole = fs::read(&record).unwrap();
    let line = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for cut in [1, 20, line, line + 5, whole.len() - 1] {
        replace(&record, &whole[..cut]);
        stdout(&arguments);
        assert_eq!(fs::read_to_string(&record).unwrap().lines().count(), 10, "{cut}");
    }
    for notes in ["my precious notes", "{}", "notes\n", "notes\n{\"class\":"] {
        replace(&record, notes.as_bytes());
        fails(2, &arguments, &[text(&record), "line 1", "not a record"]);
        assert_eq!(fs::read_to_string(&record).unwrap(), notes);
    }
}

/// A wrong value whose checksums are all right.
#[test]
fn a_forged_value_is_found() {
    let dir = tables(2);
    let path = dir.path().join("EvE.dsq");
    let whole = fs::read(&path).unwrap();
    let mut description = parts(&whole).description;
    let mut forged = blocks(&whole);
    let mut codes = zstd::bulk::decompress(&forged[0], 1 << 16).unwrap();
    let middle = codes.len() / 2 + 7;
    let at = (middle..).find(|&i| codes[i] > 4).unwrap();
    codes[at] += 2;
    forged[0] = zstd::bulk::compress(&codes, 9).unwrap();
    let plies = usize::from(codes[at]) - 2;
    let count = |description: &mut Json, plies: usize, more: i64| {
        let count = &mut description["stats"]["white"]["by_plies"][plies];
        *count = (count.as_i64().unwrap() + more).into();
    };
    count(&mut description, plies - 2, -1);
    count(&mut description, plies, 1);
    description["values"]["white"] = values(&build(&description, &forged), Color::White).into();
    assert_ne!(description["values"], parts(&whole).description["values"]);
    let put = |description: &Json, blocks: &[Vec<u8>]| {
        replace(&path, &build(description, blocks));
        let manifest = dir.path().join("manifest.json");
        let mut listed: Json = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
        let class = listed["classes"].as_array_mut().unwrap().iter_mut().find(|class| class["class"] == "EvE").unwrap();
        class["values"] = description["values"].clone();
        class["stats"] = description["stats"].clone();
        class["bytes"] = fs::metadata(&path).unwrap().len().into();
        replace(&manifest, listed.to_string().as_bytes());
    };
    put(&description, &forged);
    stdout(&["verify", text(dir.path()), "--sample", "0"]);
    fails(1, &["verify", text(dir.path())], &["the table contains", "the moves give"]);
    // The same with the original counts.
    count(&mut description, plies - 2, 1);
    count(&mut description, plies, -1);
    put(&description, &forged);
    fails(1, &["verify", text(dir.path()), "--plain"], &["EvE", "counts"]);
    fails(1, &["verify", text(dir.path())], &["EvE", "the table contains"]);
    // Right values with wrong counts or a wrong longest line.
    let right = parts(&whole).description;
    let mut counted = right.clone();
    count(&mut counted, plies - 2, -1);
    count(&mut counted, plies, 1);
    let mut deepest = right.clone();
    deepest["deepest"]["white"] = right["deepest"]["black"].clone();
    for description in [counted, deepest] {
        assert_ne!(description, right);
        put(&description, &blocks(&whole));
        fails(1, &["verify", text(dir.path())], &["EvE", "counts"]);
    }
    put(&right, &blocks(&whole));
    stdout(&["verify", text(dir.path())]);
}

/// Right checksums, and one number that is impossible for this material.
#[test]
fn a_description_that_does_not_fit_is_refused() {
    let dir = tables(2);
    let path = dir.path().join("EvE.dsq");
    let whole = fs::read(&path).unwrap();
    let description = parts(&whole).description;
    let cells = Index::new(material("EvE"), &RuleOptions::PAPER).unwrap().cells();
    let open = |change: &dyn Fn(&mut Json)| {
        let mut changed = description.clone();
        change(&mut changed);
        replace(&path, &build(&changed, &blocks(&whole)));
        TableFile::open(&path, &RuleOptions::PAPER, material("EvE")).map(|_| ())
    };
    open(&|_| ()).unwrap();
    open(&|d| d["deepest"]["white"] = (cells - 1).into()).unwrap();
    let changes: [&dyn Fn(&mut Json); 6] = [
        &|d| d["rows"] = 2.into(),
        &|d| d["cell_bytes"] = 0.into(),
        &|d| d["cell_bytes"] = 3.into(),
        &|d| d["block_rows"] = (1 << 20).into(),
        &|d| d["deepest"]["white"] = cells.into(),
        &|d| d["deepest"]["black"] = cells.into(),
    ];
    assert!(description["rows"] == 1 && description["block_rows"].as_u64() > Some(1), "still one block a side");
    for (i, change) in changes.into_iter().enumerate() {
        let error = open(change).unwrap_err().to_string();
        assert!(error.contains("its description does not fit its material"), "change {i}: {error}");
    }
}
