//! Table files: generated, resumed after a kill, damaged, probed, verified and repacked, by the program and the
//! library.

use crate::dsq;

use doushouqi::board::{Color, Move, NoMove, Position, RuleOptions, Rules, Setup};
use doushouqi::search::{TableCache, Tables};
use doushouqi::tablebase::{
    CellValue, Cells, Index, Material, Options, Probe, ROW_CELLS, SetError, Solver, TableFile, TableProber, TableSet,
    Value, Wdl, WdlTables, export_text, squares_in_play,
};
use dsq::{command, dsq, stdout};
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value as Json, json as object};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};
use study::reproduce::{ENDGAMES, WITHOUT_MOVE};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

const OTHER_RULES: &str = "paper,no-move=loss";
const LOST_IN_12: &str = "7/7/3e3/7/7/7/3E3/7/7 w";

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

fn json(arguments: &[&str]) -> Vec<Json> {
    stdout(arguments).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Checks that a run ended with one of these codes and reported these words on stderr. Returns its stderr.
fn failed(output: &Output, codes: &[i32], words: &[&str]) -> String {
    let stderr = String::from_utf8(output.stderr.clone()).expect("UTF-8");
    let code = output.status.code().unwrap_or_else(|| panic!("{}: {stderr}", output.status));
    assert!(codes.contains(&code), "exit code {code}, not {codes:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    for word in words {
        assert!(stderr.contains(word), "{word:?} is not in {stderr:?}");
    }
    stderr
}

fn fails(code: i32, arguments: &[&str], words: &[&str]) -> String {
    let output = dsq(arguments);
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    failed(&output, &[code], words)
}

/// Every file of a directory.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(dir)
        .expect("a directory")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).expect("a file"))
        })
        .collect()
}

/// Checks that a directory contains the tables of up to `pieces` pieces and nothing else.
fn holds(dir: &Path, pieces: usize) {
    let (found, wanted) = (files(dir), made(pieces));
    assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
    for (name, bytes) in &found {
        assert!(*bytes == wanted[name], "{name} differs");
    }
}

/// The values of tables in a directory, under the paper's rules.
fn prober(dir: &Path) -> TableProber {
    TableSet::open(dir).unwrap().prober(&RuleOptions::PAPER).unwrap()
}

fn temporary() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// The files of the tables of up to 2 or 3 pieces, generated once.
fn made(pieces: usize) -> &'static BTreeMap<String, Vec<u8>> {
    static MADE: [OnceLock<BTreeMap<String, Vec<u8>>>; 2] = [OnceLock::new(), OnceLock::new()];
    MADE[pieces - 2].get_or_init(|| {
        let dir = temporary();
        stdout(&["generate", "--pieces", &pieces.to_string(), "--out", text(dir.path())]);
        files(dir.path())
    })
}

/// A directory with those tables.
fn tables(pieces: usize) -> TempDir {
    let dir = temporary();
    for (name, bytes) in made(pieces) {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    dir
}

/// Replaces a file by a new file with other bytes.
fn replace(path: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, bytes).unwrap();
}

fn material(text: &str) -> Material {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn random_position(random: &mut Pcg64, material: Material) -> Position {
    let turn = if random.next_u64() & 1 == 0 { Color::White } else { Color::Black };
    let mut setup = Setup::empty(turn);
    for piece in material.pieces() {
        let free: Vec<_> = squares_in_play(piece).into_iter().filter(|s| setup.squares[s.index()].is_none()).collect();
        let square = free[random.next_u64() as usize % free.len()];
        setup.squares[square.index()] = Some(piece);
    }
    Position::from_setup(&setup).expect("a position")
}

fn random_positions(seed: u64, materials: &[Material], count: usize) -> Vec<Position> {
    let mut random = Pcg64::seed_from_u64(seed);
    (0..count).map(|i| random_position(&mut random, materials[i % materials.len()])).collect()
}

fn solved(rules: &RuleOptions, pieces: usize) -> Solver {
    let mut solver = Solver::new(rules, pieces, Options::default());
    for n in 2..=pieces {
        solver.solve_level(n, true, &|_, _| ()).unwrap();
    }
    solver
}

/// The offsets of the parts of a table file, as documented.
struct Parts {
    block_table: usize,
    head_sum: usize,
    blocks: usize,
    trailer: usize,
    description: Json,
}

fn number(bytes: &[u8], at: usize, len: usize) -> usize {
    bytes[at..at + len].iter().rev().fold(0, |n, &byte| n << 8 | usize::from(byte))
}

fn parts(bytes: &[u8]) -> Parts {
    let block_table = 16 + number(bytes, 12, 4);
    let description: Json = serde_json::from_slice(&bytes[16..block_table]).expect("JSON");
    let size = |key: &str| description[key].as_u64().unwrap() as usize;
    let sides = if description["sides"] == "both" { 2 } else { 1 };
    let head_sum = block_table + 16 * sides * size("rows").div_ceil(size("block_rows"));
    Parts { block_table, head_sum, blocks: head_sum + 8, trailer: bytes.len() - 8, description }
}

/// Builds a table file from its description and blocks.
fn build(description: &Json, blocks: &[Vec<u8>]) -> Vec<u8> {
    let description = description.to_string();
    let mut bytes = b"DSQTABLE\x02\0\0\0".to_vec();
    bytes.extend((description.len() as u32).to_le_bytes());
    bytes.extend(description.as_bytes());
    for block in blocks {
        bytes.extend((block.len() as u64).to_le_bytes());
        bytes.extend(xxh3_64(block).to_le_bytes());
    }
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    blocks.iter().for_each(|block| bytes.extend(block));
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes
}

/// The blocks of a table file, not decoded.
fn blocks(bytes: &[u8]) -> Vec<Vec<u8>> {
    let parts = parts(bytes);
    let mut at = parts.blocks;
    (parts.block_table..parts.head_sum)
        .step_by(16)
        .map(|entry| {
            let len = number(bytes, entry, 8);
            at += len;
            bytes[at - len..at].to_vec()
        })
        .collect()
}

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
fn a_killed_run_goes_on() {
    let whole = made(3);
    let dir = temporary();
    let mut random = Pcg64::seed_from_u64(2);
    let start = Instant::now();
    stdout(&["generate", "--pieces", "3", "--out", text(temporary().path())]);
    let length = start.elapsed().as_micros() as u64;
    let mut killed = 0;
    for round in 0..10 {
        let mut child =
            command(&["generate", "--pieces", "3", "--out", text(dir.path())]).stdout(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_micros(if round == 0 { 1000 } else { random.next_u64() % (length / 3) }));
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
        for (name, bytes) in files(dir.path()).iter().filter(|(name, _)| name.ends_with(".dsq")) {
            assert!(*bytes == whole[name], "{name} is half written");
        }
    }
    assert!(killed > 0);
    stdout(&["generate", "--pieces", "3", "--out", text(dir.path())]);
    holds(dir.path(), 3);
}

/// A class of two pieces, small enough to flip every byte, and a class of three with several blocks for each side to
/// move.
const SPOILED: [(usize, &str); 2] = [(2, "EvE.dsq"), (3, "ERvR.dsq")];

#[test]
fn the_file_is_as_documented() {
    for (name, bytes) in made(3).iter().filter(|(name, _)| name.ends_with(".dsq")) {
        let parts = parts(bytes);
        assert_eq!(*bytes, build_raw(bytes, &parts), "{name}");
        assert_eq!(xxh3_64(&bytes[..parts.head_sum]) as usize, number(bytes, parts.head_sum, 8), "{name}");
        assert_eq!(xxh3_64(&bytes[..parts.trailer]) as usize, number(bytes, parts.trailer, 8), "{name}");
    }
    let bytes = &made(3)["ERvR.dsq"];
    assert!(blocks(bytes).len() > 2);
    assert_eq!(values(bytes, Color::White), parts(bytes).description["values"]["white"]);
    assert_eq!(values(bytes, Color::Black), parts(bytes).description["values"]["black"]);
}

/// The file, built again from its parts with the same description.
fn build_raw(bytes: &[u8], parts: &Parts) -> Vec<u8> {
    let mut built = bytes[..parts.block_table].to_vec();
    let blocks = blocks(bytes);
    for block in &blocks {
        built.extend((block.len() as u64).to_le_bytes());
        built.extend(xxh3_64(block).to_le_bytes());
    }
    built.extend(xxh3_64(&built).to_le_bytes());
    blocks.iter().for_each(|block| built.extend(block));
    built.extend(xxh3_64(&built).to_le_bytes());
    built
}

/// The documented checksum of the values of a side to move, from a file with one byte per cell.
fn values(bytes: &[u8], turn: Color) -> String {
    let parts = parts(bytes);
    let size = |key: &str| parts.description[key].as_u64().unwrap() as usize;
    assert_eq!(size("cell_bytes"), 1);
    let index = Index::new(material(parts.description["material"].as_str().unwrap())).unwrap();
    let cells: Vec<usize> = (0..ROW_CELLS)
        .filter(|cell| {
            let on = |piece, square: usize| squares_in_play(piece).into_iter().any(|s| s.index() == square);
            on(index.word_piece(), cell / 64) && on(index.lane_piece(), cell % 64)
        })
        .collect();
    let blocks = blocks(bytes);
    let (white, black) = blocks.split_at(blocks.len() / 2);
    let side = if turn == Color::White { white } else { black };
    let codes: Vec<u8> =
        side.iter().flat_map(|b| zstd::bulk::decompress(b, size("block_rows") * cells.len()).unwrap()).collect();
    assert_eq!(codes.len(), index.rows * cells.len());
    let buffer: Vec<u8> = codes
        .iter()
        .enumerate()
        .flat_map(|(i, &code)| {
            let cell = i / cells.len() * ROW_CELLS + cells[i % cells.len()];
            [if index.squares(cell).is_some() { code } else { 0 }, 0]
        })
        .collect();
    format!("{:016x}", xxh3_64(&buffer))
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
            places.retain(|&at| at < 16 || at >= parts.block_table && random.next_u64() % 64 == 0);
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
            (16, 1, "description"),
            (parts.block_table - 1, 1, "description"),
            (parts.block_table, 1, "checksum of its head"),
            (middle(parts.block_table, parts.head_sum), 1, "checksum of its head"),
            (parts.head_sum, 1, "checksum of its head"),
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
        let ends = [0, 1, 7, 8, 11, 12, 15, 16, 100, parts.block_table, parts.head_sum, parts.blocks, parts.trailer];
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
    let player = format!("builtin:default,hash=1,tables={at}");
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
        let range = [0..bytes.len(), 16..parts.block_table, parts.block_table..parts.head_sum, parts.blocks..parts.trailer];
        for (place, byte) in changes {
            let at = range[part].start + place.index(range[part].len());
            bytes[at] = byte;
        }
        if mend {
            // The blocks stay in place, so that wrong lengths and contents have right checksums.
            if part == 3 {
                bytes = build_raw(&bytes, &parts);
            }
            let sum = xxh3_64(&bytes[..parts.head_sum]);
            bytes[parts.head_sum..parts.blocks].copy_from_slice(&sum.to_le_bytes());
            let sum = xxh3_64(&bytes[..parts.trailer]);
            bytes[parts.trailer..].copy_from_slice(&sum.to_le_bytes());
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        read_everything(dir.path(), &bytes);
    }
}

#[test]
fn probes_are_the_solved_values() {
    let dir = tables(3);
    let set = prober(dir.path());
    let rules = set.rules();
    let solver = solved(&RuleOptions::PAPER, 3);
    for name in ["EvR", "RvR", "ERvR", "LTvT", "EvCR"] {
        let id = solver.classes().member(material(name)).unwrap().class;
        let representative = solver.classes().get(id).representative;
        let index = Index::new(representative).unwrap();
        let mut count = 0;
        for cell in 0..index.rows * ROW_CELLS {
            let Some(squares) = index.squares(cell) else { continue };
            for turn in Color::ALL {
                let mut setup = Setup::empty(turn);
                for (&piece, square) in index.pieces.iter().zip(&squares) {
                    setup.squares[square.index()] = Some(piece);
                }
                let position = Position::from_setup(&setup).unwrap();
                assert_eq!(set.cell_value(&position).unwrap(), solver.cell_value(&position), "{}", position.to_fen());
                count += 1;
            }
        }
        assert!(count > 4000, "{name}: {count}");
    }
    let all: Vec<Material> = [Material::all(2), Material::all(3)].concat();
    for position in random_positions(6, &all, 20_000) {
        let value = solver.cell_value(&position);
        assert!(value.is_some());
        assert_eq!(set.cell_value(&position).unwrap(), value, "{}", position.to_fen());
    }
    // Best play is as long as the distance in the tables, and no draw ends.
    let mut ended = 0;
    for position in random_positions(7, &all, 400) {
        let verdict = set.value(&position).unwrap().unwrap();
        assert_eq!(verdict, Value::of(solver.cell_value(&position).unwrap(), rules));
        let line = set.line(&position).unwrap();
        let Some(plies) = verdict.dtw else {
            assert!(line.is_empty());
            continue;
        };
        assert_eq!(line.len(), usize::from(plies), "{}", position.to_fen());
        let mut current = position.clone();
        for (mv, before) in &line {
            assert_eq!(current.to_fen(), before.to_fen());
            assert!(current.moves(rules).into_iter().any(|legal| legal == *mv));
            current = current.make(*mv);
        }
        let winner = if plies % 2 == 1 { position.turn() } else { !position.turn() };
        assert_eq!(current.winner(), Some(winner), "{}", position.to_fen());
        ended += 1;
    }
    assert!(ended > 300, "{ended}");
}

#[test]
fn the_papers_positions() {
    let dir = tables(3);
    let at = text(dir.path());
    let fens = [
        (LOST_IN_12, "loss", Some(12)),
        ("t6/7/T6/7/7/7/7/7/7 w", "win", Some(19)),
        ("d6/7/7/7/7/7/5C1/7/7 w", "draw", None),
        ("7/7/3e3/7/6L/7/7/7/7 w", "loss", None),
    ];
    for (fen, wdl, dtw) in fens {
        let report = &json(&["probe", "--tables", at, "--json", "--line", fen])[0];
        assert_eq!(
            report.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["dtw", "fen", "line", "moves", "wdl"],
            "{fen}"
        );
        assert_eq!((report["fen"].as_str(), report["wdl"].as_str()), (Some(fen), Some(wdl)));
        assert!(dtw.is_none() || report["dtw"] == Json::from(dtw), "{report}");
        assert_eq!(report["dtw"].is_null(), wdl == "draw");
        assert_eq!(report["line"].as_array().unwrap().len() as u64, report["dtw"].as_u64().unwrap_or(0));
        let moves = report["moves"].as_array().unwrap();
        let position = Position::from_fen(fen).unwrap();
        assert_eq!(moves.len(), position.moves(&Rules::new(RuleOptions::PAPER)).into_iter().count());
        for mv in moves {
            assert_eq!(mv.as_object().unwrap().keys().collect::<Vec<_>>(), ["dtw", "move", "wdl"]);
        }
        assert_eq!((&moves[0]["wdl"], &moves[0]["dtw"]), (&report["wdl"], &report["dtw"]), "the best move comes first");
        let words = stdout(&["probe", "--tables", at, fen]);
        let dtw = report["dtw"].as_u64().map_or("draw".to_owned(), |dtw| format!("{wdl} in {dtw} plies"));
        assert!(words.contains(&format!("{fen}: {dtw}\n")), "{words}");
    }
}

#[test]
fn probes_from_standard_input() {
    let dir = tables(3);
    let at = text(dir.path());
    let pipe = |input: &[u8]| {
        let mut child = command(&["probe", "--tables", at, "--json", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The program may end before it has read all input.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    };
    let all: Vec<Material> = [Material::all(2), Material::all(3)].concat();
    let positions = random_positions(8, &all, 300);
    let input: String = positions.iter().map(|p| format!("{}\n\n", p.to_fen())).collect();
    let output = pipe(input.as_bytes());
    assert_eq!(output.status.code(), Some(0));
    let set = prober(dir.path());
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines.lines().count(), positions.len());
    for (line, position) in lines.lines().zip(&positions) {
        let report: Json = serde_json::from_str(line).unwrap();
        let verdict = set.value(position).unwrap().unwrap();
        assert_eq!(report["fen"], position.to_fen());
        assert_eq!(report["dtw"], Json::from(verdict.dtw));
        assert_eq!(report["wdl"], serde_json::to_value(verdict.wdl).unwrap());
        assert!(report.get("line").is_none());
        let name =
            |(mv, value): &(Move, Value)| object!({"move": mv.notation(position), "wdl": value.wdl, "dtw": value.dtw});
        let moves: Vec<Json> = set.moves(position).unwrap().unwrap().iter().map(name).collect();
        assert_eq!(report["moves"], Json::from(moves));
    }
    // Lines up to a bad one are answered.
    let output = pipe(format!("{LOST_IN_12}\nrubbish\n{LOST_IN_12}\n").as_bytes());
    failed(&output, &[2], &["rubbish"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
    failed(&pipe(b"\xff\xfe\n"), &[2], &["standard input"]);
    assert_eq!(pipe(b"").status.code(), Some(0));
}

/// A caller may wait for each answer before it writes the next position.
#[test]
fn each_line_is_answered_when_it_arrives() {
    let dir = tables(2);
    let mut child = command(&["probe", "--tables", text(dir.path()), "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = BufReader::new(output).lines();
    for _ in 0..3 {
        writeln!(input, "{LOST_IN_12}").unwrap();
        assert!(answers.next().unwrap().unwrap().contains("\"dtw\":12"));
    }
    drop(input);
    assert!(child.wait().unwrap().success() && answers.next().is_none());
}

#[test]
fn positions_without_a_table_and_finished_ones() {
    let dir = tables(3);
    let at = text(dir.path());
    let full = Position::start().to_fen();
    fails(2, &["probe", "--tables", at, &full], &["has 16 pieces", at, "go to 3"]);
    fails(2, &["probe", "--tables", at, "7/7/3el2/7/7/7/3EL2/7/7 w"], &["has 4 pieces", at, "go to 3"]);
    fails(2, &["probe", "--tables", at, "nonsense"], &["nonsense"]);
    // A den is entered, or the last enemy is captured: the side to move has lost, or has won.
    for (fen, wdl) in [
        ("3E3/7/7/7/7/7/e6/7/7 b", "loss"),
        ("3E3/7/7/7/7/7/e6/7/7 w", "win"),
        ("7/7/7/7/7/7/E6/7/7 b", "loss"),
        ("7/7/7/7/7/7/E6/7/7 w", "win"),
    ] {
        let report = &json(&["probe", "--tables", at, "--json", "--line", fen])[0];
        assert_eq!((report["wdl"].as_str(), report["dtw"].as_u64()), (Some(wdl), Some(0)), "{fen}");
        assert_eq!(report["moves"], Json::Array(Vec::new()), "{fen}");
        assert_eq!(report["line"], Json::Array(Vec::new()), "{fen}");
    }
}

#[test]
fn every_value_follows_from_those_one_move_on() {
    let dir = tables(3);
    let report = &json(&["verify", text(dir.path()), "--full", "--json"])[0];
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

/// Flips a bit in the middle of a table.
fn damage(dir: &Path, name: &str) {
    let path = dir.join(name);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    replace(&path, &bytes);
}

#[test]
fn every_damaged_file_is_listed() {
    let dir = tables(3);
    let at = text(dir.path());
    let names = ["EvE.dsq", "ERvR.dsq", "LvTR.dsq"];
    names.iter().for_each(|name| damage(dir.path(), name));
    fs::remove_file(dir.path().join("EvR.dsq")).unwrap();
    for scope in [&[][..], &["--full"], &["--plain"], &["--sample", "0"], &["--sample", "10"]] {
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
    let arguments = ["verify", text(dir.path()), "--full", "--record", text(&record)];
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

/// Ctrl-C and SIGTERM end a run at once. The run reports how to resume, and readers report that the set is not
/// finished.
#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_to_resume() {
    for signal in ["-INT", "-TERM"] {
        let dir = temporary();
        let out = dir.path().join("tables");
        let at = text(&out);
        let mut child = command(&["generate", "--pieces", "4", "--out", at]);
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

/// The table of exit codes in docs/commands.md holds for every command: a fault has the same code everywhere.
#[test]
fn a_fault_has_one_exit_code() {
    let (_, section) = include_str!("../../../../docs/commands.md").split_once("## Exit codes").expect("the table");
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
        for arguments in [named(&["analyze", "--game"], path)(), named(&["play", "--load"], path)()] {
            fails(2, &arguments, &[path]);
        }
    }
    assert!(!absent.exists());

    let nowhere = text(&text_file).to_owned() + "/file";
    for arguments in [
        &["generate", "--pieces", "2", "--out", &nowhere][..],
        &["cluster", "solve", "EvE", "--tables", &nowhere],
        &["verify", at, "--record", &nowhere],
        &["man", &nowhere],
        &["match", "builtin:random", "builtin:random", "--games", "2", "--depth", "1", "--save", &nowhere],
        &["reproduce", "--out", &nowhere],
    ] {
        let output = dsq(arguments);
        failed(&output, &[3], &[&nowhere]);
    }
    fails(2, &["verify"], &[]);
    fails(2, &["verify", at, "--pieces", "2"], &[]);
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
    fails(1, &["verify", text(dir.path()), "--full"], &["the table contains", "the moves give"]);
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
        fails(1, &["verify", text(dir.path()), "--full"], &["EvE", "counts"]);
    }
    put(&right, &blocks(&whole));
    stdout(&["verify", text(dir.path()), "--full"]);
}

/// Right checksums, and one number that is impossible for this material.
#[test]
fn a_description_that_does_not_fit_is_refused() {
    let dir = tables(2);
    let path = dir.path().join("EvE.dsq");
    let whole = fs::read(&path).unwrap();
    let description = parts(&whole).description;
    let cells = Index::new(material("EvE")).unwrap().cells();
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

#[test]
fn positions_are_written_as_text() {
    let dir = tables(3);
    let set = prober(dir.path());
    for name in ["EvL", "RvR", "ERvR"] {
        let mut text = Vec::new();
        let count = export_text(&set, material(name), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count() as u64, count);
        assert_eq!(count, material(name).positions(), "{name}");
        for line in text.lines().step_by(37) {
            let words: Vec<&str> = line.rsplitn(4, ' ').collect();
            let [plies, best, winner, fen] = words[..] else { panic!("{line}") };
            let position = Position::from_fen(fen).unwrap();
            let verdict = set.value(&position).unwrap().unwrap();
            let wins = match verdict.wdl {
                Wdl::Win => "w",
                Wdl::Draw => "d",
                Wdl::Loss => "b",
            };
            assert_eq!(winner, wins, "{line}");
            assert_eq!(plies, verdict.dtw.map_or("-".to_owned(), |plies| plies.to_string()), "{line}");
            match position.moves(set.rules()).iter().find(|mv| mv.notation(&position) == best) {
                Some(&mv) => assert_eq!(set.value(&position.make(mv)).unwrap().unwrap().before(), verdict, "{line}"),
                None => assert!(best == "-" && position.moves(set.rules()).is_empty(), "{line}"),
            }
        }
    }
    let arguments = ["export", "--tables", text(dir.path()), "--material", "EvL", "--format", "text"];
    assert_eq!(stdout(&arguments).lines().count() as u64, material("EvL").positions());
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
    let options = ["--pieces", "4", "--stats-only", "--write-up-to", "2", "--json"];
    let count = |more: &[&str]| json(&[&["generate", "--out", at], &options[..], more].concat()).remove(0);
    let none = count(&["--minutes", "1e-9"]);
    assert_eq!((none["classes"].as_u64(), none["counted"].as_u64()), (Some(10), Some(0)));
    let all = count(&[]);
    assert_eq!((all["classes"].as_u64(), all["counted"].as_u64()), (Some(10), Some(134)));
    let stats = |at: &str| json(&["stats", at, "--json"]);
    let whole = stats(at).pop().unwrap();
    assert_eq!((whole["name"].as_str(), whole["part"].as_object()), (Some("4 pieces"), None));
    // The number in the papers' table.
    assert_eq!(whole["positions"], 9_685_376_064u64);
    let solved = json(&["solve", "--pieces", "4", "--json"]).pop().unwrap();
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
    assert_eq!(count(&[])["reused"], 10 + 125);
    let again = stats(at).pop().unwrap();
    assert_eq!(again["by_plies"], whole["by_plies"]);
    fails(2, &["generate", "--pieces", "4", "--out", at, "--write-up-to", "2"], &["--stats-only"]);
    fails(2, &[&["generate", "--out", at], &options[..], &["--minutes=-1"]].concat(), &["minutes"]);
}

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
        let (position, plies) = set.deepest(pieces).unwrap().unwrap();
        assert_eq!(set.cell_value(&position).unwrap(), Some(CellValue::Decided(plies)));
        assert_eq!((usize::from(plies), position.occupied().len()), (longest_line(set.set(), pieces), pieces));
    }
    assert_eq!(packed.deepest(4).unwrap(), None);
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
    let full = &json(&["verify", at, "--full", "--json"])[0];
    let both = &json(&["verify", text(original.path()), "--full", "--json"])[0];
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
    let report = &json(&["generate", "--pieces", "3", "--out", at, "--json"])[0];
    assert_eq!(report["reused"], report["classes"]);
    assert!(files(dir.path()) == packed);
    // The tables that captures of a class lead to are solved again for their values, and compared.
    for name in ["ERvR.dsq", "ELvT.dsq"] {
        fs::remove_file(dir.path().join(name)).unwrap();
    }
    let report = &json(&["generate", "--pieces", "3", "--out", at, "--json"])[0];
    assert_eq!(report["reused"].as_u64().unwrap() + 2, report["classes"].as_u64().unwrap());
    stdout(&["repack", at]);
    assert!(files(dir.path()) == packed);
}

/// A limit of open files is raised as far as the system allows. Beyond that, the error names it once.
#[cfg(unix)]
#[test]
fn the_limit_of_open_files_is_raised_or_named() {
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
    let said = failed(&output, &[3], &["may open only 32 files", "ulimit -n"]);
    assert_eq!(said.lines().count(), 1, "{said}");
    // All ranges of rows share one temporary file of each kind.
    let spill = temporary();
    let job = ["--threads", "8", "--backend", "cpu", "--spill", text(spill.path())];
    let output = limited("-n 32", &[&["solve", "--material", "EPvLRT"][..], &job].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
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
    let dir = tables(2);
    let mut random = Pcg64::seed_from_u64(13);
    for _ in 0..10 {
        let mut child = command(&["repack", text(dir.path())]).stdout(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_micros(random.next_u64() % 20_000));
        child.kill().unwrap();
        child.wait().unwrap();
        stdout(&["verify", text(dir.path()), "--sample", "100"]);
    }
    stdout(&["repack", text(dir.path())]);
    assert!(files(dir.path()) == files(whole.path()));
}

#[test]
fn results_in_memory_agree() {
    let all: Vec<Material> = [Material::all(2), Material::all(3)].concat();
    for no_move in NoMove::ALL.iter().copied() {
        let options = RuleOptions::PAPER.with_no_move(no_move);
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
