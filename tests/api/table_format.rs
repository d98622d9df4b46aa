//! Table files read by somebody who knows `docs/table-format.md` and nothing else: no type of the library is used up to
//! the comparison with it.

use doushouqi::board::{Color, Piece, Position, RuleOptions, Setup, Square};
use doushouqi::tablebase::{CellValue, Generate, Options, Solver, TableSet, repack};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const WATER: [usize; 12] = [22, 23, 25, 26, 29, 30, 32, 33, 36, 37, 39, 40];
const DENS: [usize; 2] = [3, 59];

fn in_play(piece: char, square: usize) -> bool {
    !DENS.contains(&square) && (piece.eq_ignore_ascii_case(&'r') || !WATER.contains(&square))
}

/// Squares in play of a piece below a square.
fn below(piece: char, square: usize) -> usize {
    (0..square).filter(|&s| in_play(piece, s)).count()
}

/// A file, read and checked.
struct Reader {
    pieces: Vec<char>,
    block_rows: usize,
    cell_bytes: usize,
    /// The blocks of White and of Black to move, decompressed; none if that side is not stored.
    blocks: [Vec<Vec<u8>>; 2],
}

impl Reader {
    fn open(path: &Path) -> Reader {
        let bytes = std::fs::read(path).unwrap();
        let number = |at: usize, len: usize| bytes[at..at + len].iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
        assert_eq!(&bytes[..8], b"DSQTABLE");
        assert_eq!(number(8, 4), 2);
        let table = 16 + number(12, 4) as usize;
        let description: serde_json::Value = serde_json::from_slice(&bytes[16..table]).unwrap();
        let field = |name: &str| description[name].as_u64().unwrap() as usize;
        let (rows, block_rows, cell_bytes) = (field("rows"), field("block_rows"), field("cell_bytes"));
        let stored = match description["sides"].as_str().unwrap() {
            "both" => [true, true],
            "white" => [true, false],
            "black" => [false, true],
            other => panic!("sides: {other}"),
        };
        let rules = description["rules"].as_str().unwrap().bytes();
        let hash = rules.fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        assert_eq!(description["rules_hash"], format!("{hash:016x}"));

        let blocks_a_side = rows.div_ceil(block_rows);
        let count = blocks_a_side * stored.iter().filter(|&&side| side).count();
        let head = table + 16 * count;
        assert_eq!(number(head, 8), xxh3_64(&bytes[..head]));
        let mut at = head + 8;
        let mut decompressed = (0..count).map(|i| {
            let block = &bytes[at..at + number(table + 16 * i, 8) as usize];
            assert_eq!(number(table + 16 * i + 8, 8), xxh3_64(block));
            at += block.len();
            zstd::decode_all(block).unwrap()
        });
        let blocks = stored.map(|side| decompressed.by_ref().take(if side { blocks_a_side } else { 0 }).collect());
        drop(decompressed);
        assert_eq!(at, bytes.len() - 8);
        assert_eq!(number(at, 8), xxh3_64(&bytes[..at]));
        let pieces = description["pieces"].as_str().unwrap().chars().collect();
        Reader { pieces, block_rows, cell_bytes, blocks }
    }

    /// The value with the pieces on these squares, White (0) or Black (1) to move; `None` if that side is not stored.
    fn value(&self, squares: &[usize], turn: usize) -> Option<u16> {
        let (word, lane) = (squares.len() - 2, squares.len() - 1);
        let mirrored = word > 0 && squares[0] % 7 > 3;
        let square = |i: usize| if mirrored { squares[i] / 7 * 7 + 6 - squares[i] % 7 } else { squares[i] };
        let row = (0..word).fold(0, |row, i| {
            let counts = |s: &usize| in_play(self.pieces[i], *s) && (i > 0 || s % 7 <= 3);
            row * (0..63).filter(counts).count() + (0..square(i)).filter(counts).count()
        });
        let [words, lanes] = [word, lane].map(|i| below(self.pieces[i], 63));
        let place = below(self.pieces[word], square(word)) * lanes + below(self.pieces[lane], square(lane));
        let block = self.blocks[turn].get(row / self.block_rows)?;
        let at = (row % self.block_rows * words * lanes + place) * self.cell_bytes;
        Some(block[at..at + self.cell_bytes].iter().rev().fold(0, |n, &byte| n << 8 | u16::from(byte)))
    }
}

/// What the page says that a value means.
fn meaning(value: u16) -> CellValue {
    match value {
        0 => panic!("no value"),
        1 => CellValue::Draw,
        2 => CellValue::NoMove,
        n => CellValue::Decided(n - 2),
    }
}

/// Compares random positions of every file with the library; returns how many values were compared.
fn compare(dir: &Path, random: &mut Pcg64) -> usize {
    let set = TableSet::open(dir).unwrap();
    let rules = *set.rules().options();
    let tables = set.prober(&rules).unwrap();
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(dir.join("manifest.json")).unwrap()).unwrap();
    let mut compared = 0;
    for class in manifest["classes"].as_array().unwrap() {
        let name = class["class"].as_str().unwrap();
        let reader = Reader::open(&dir.join(format!("{name}.dsq")));
        for _ in 0..300 {
            let squares: Vec<usize> = reader.pieces.iter().map(|_| random.next_u64() as usize % 63).collect();
            let turn = random.next_u64() as usize % 2;
            let mut setup = Setup::empty(Color::ALL[turn]);
            for (&piece, &square) in reader.pieces.iter().zip(&squares) {
                setup.squares[square] = Piece::from_letter(piece);
            }
            let Ok(position) = Position::from_setup(&setup) else { continue };
            if position.winner().is_some() || position.occupied().len() < squares.len() {
                continue;
            }
            let Some(value) = reader.value(&squares, turn) else { continue };
            assert_eq!(tables.cell_value(&position).unwrap(), Some(meaning(value)), "{name}: {position:?}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn a_reader_made_from_the_page_reads_what_the_library_reads() {
    const SEED: u64 = 2;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    let dir = tempfile::tempdir().unwrap();
    for material in ["EPvLR", "ERvLR"] {
        let material = Some(material.parse().unwrap());
        let job = Generate { material, ..Generate::new(dir.path(), RuleOptions::PAPER) };
        job.run(&mut Solver::new(&job.rules, 4, Options::default()), &|_| ()).unwrap();
    }
    let both = compare(dir.path(), &mut random);
    assert!(both > 2_000, "only {both} values were compared");
    repack(dir.path(), &|_, _| ()).unwrap();
    let one = compare(dir.path(), &mut random);
    assert!(one > both / 4 && one < both, "{one} of one side, {both} of both");
}

/// The bytes and numbers of the page's example. Those that depend on the version of zstd are not compared.
#[test]
fn the_example_of_the_page_is_true() {
    let dir = tempfile::tempdir().unwrap();
    let job = Generate::new(dir.path(), RuleOptions::PAPER);
    job.run(&mut Solver::new(&job.rules, 2, Options::default()), &|_| ()).unwrap();
    let path = dir.path().join("EvE.dsq");
    let bytes = std::fs::read(&path).unwrap();
    let page = include_str!("../../docs/table-format.md");
    let mut lines = 0;
    for line in page.lines().filter(|line| line.starts_with("000000") && line.len() > 58) {
        let at = usize::from_str_radix(&line[..8], 16).unwrap();
        let shown: Vec<u8> = line[10..57].split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        assert_eq!(bytes[at..at + 16], shown, "{line}");
        lines += 1;
    }
    assert_eq!(lines, 2);
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap());
    assert!(page.contains(&format!("0x{length:x} = {length} bytes")));
    let reader = Reader::open(&path);
    let (d8, a1) = (Square::D8.index(), Square::A1.index());
    assert_eq!(reader.pieces, ['E', 'e']);
    assert_eq!((below('E', d8), below('e', a1), 39 * 49), (39, 0, 1911));
    assert_eq!([0, 1].map(|turn| reader.value(&[d8, a1], turn)), [Some(3), Some(4)]);
    assert_eq!([0, 1].map(|turn| reader.blocks[turn][0].len()), [2401; 2]);
}
