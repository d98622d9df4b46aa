//! Table files: generated, resumed after a kill, damaged, probed, verified and repacked, by the program and the
//! library.

mod damage;
mod generate;
mod limited;
mod probe;
mod refused;
mod repack;

use crate::dsq;
use doushouqi::board::{Color, Move, NoMove, Position, RuleOptions, Rules, Setup};
use doushouqi::search::{TableCache, Tables};
use doushouqi::tablebase::{
    CellValue, Cells, Index, Material, Options, Probe, ROW_CELLS, SetError, Solver, TableFile, TableProber, TableSet,
    Value, Wdl, WdlTables, squares_in_play,
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
use study::export::write_text;
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

/// The offsets of the parts of a table file with one page of blocks, as documented.
struct Parts {
    head_sum: usize,
    block_table: usize,
    blocks: usize,
    trailer: usize,
    description: Json,
}

fn number(bytes: &[u8], at: usize, len: usize) -> usize {
    bytes[at..at + len].iter().rev().fold(0, |n, &byte| n << 8 | usize::from(byte))
}

fn parts(bytes: &[u8]) -> Parts {
    let head_sum = 24 + number(bytes, 12, 4);
    let description: Json = serde_json::from_slice(&bytes[24..head_sum]).expect("JSON");
    let size = |key: &str| description[key].as_u64().unwrap() as usize;
    let sides = if description["sides"] == "both" { 2 } else { 1 };
    let blocks = sides * size("rows").div_ceil(size("block_rows"));
    assert!(blocks <= 512);
    let block_table = head_sum + 8;
    let blocks = block_table + 16 + 8 * blocks;
    Parts { head_sum, block_table, blocks, trailer: bytes.len() - 8, description }
}

/// The blocks of a table file, not decoded.
fn blocks(bytes: &[u8]) -> Vec<Vec<u8>> {
    let parts = parts(bytes);
    let mut at = parts.blocks;
    (parts.block_table + 8..parts.blocks - 8)
        .step_by(8)
        .map(|entry| {
            let len = number(bytes, entry, 4);
            at += len;
            bytes[at - len..at].to_vec()
        })
        .collect()
}

/// The documented checksum of the values of a side to move, from a file with one byte per cell and at most one row
/// piece, so that every row is canonical.
fn values(bytes: &[u8], turn: Color) -> String {
    let parts = parts(bytes);
    let size = |key: &str| parts.description[key].as_u64().unwrap() as usize;
    assert_eq!(size("cell_bytes"), 1);
    let index = Index::new(material(parts.description["material"].as_str().unwrap()), &RuleOptions::PAPER).unwrap();
    assert_eq!(size("canonical_rows"), index.rows);
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
    let rows = codes.chunks_exact(cells.len()).enumerate();
    let sums = rows.flat_map(|(row, codes)| {
        let is_position = |cell: usize| index.squares(row * ROW_CELLS + cell).is_some();
        let wide = codes.iter().zip(&cells).flat_map(|(&code, &cell)| [if is_position(cell) { code } else { 0 }, 0]);
        xxh3_64(&wide.collect::<Vec<u8>>()).to_le_bytes()
    });
    format!("{:016x}", xxh3_64(&sums.collect::<Vec<u8>>()))
}

/// Flips a bit in the middle of a table.
fn damage(dir: &Path, name: &str) {
    let path = dir.join(name);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    replace(&path, &bytes);
}
