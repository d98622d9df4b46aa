//! A reader of table files, written from `docs/table-format.md` and the rules (the slow twin) alone: it uses no type of
//! the library's tables before the comparison with them.

use crate::slow;
use doushouqi::board::{Animal, Color, Piece, Position, RuleOptions, Setup, Square};
use doushouqi::tablebase::{CellValue, Generate, Options, ProbeWdl, Solver, TableSet, Wdl, repack, write_wdl};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const WATER: [usize; 12] = [22, 23, 25, 26, 29, 30, 32, 33, 36, 37, 39, 40];
const DENS: [usize; 2] = [3, 59];

fn in_play(piece: char, square: usize) -> bool {
    !DENS.contains(&square) && (piece.eq_ignore_ascii_case(&'r') || !WATER.contains(&square))
}

/// The number of squares in play of a piece below a square.
fn below(piece: char, square: usize) -> usize {
    (0..square).filter(|&s| in_play(piece, s)).count()
}

type Lists = Vec<Vec<usize>>;

/// A table file, read and checked.
struct Reader {
    pieces: Vec<char>,
    block_rows: usize,
    cell_bytes: usize,
    dont_cares: bool,
    version: u64,
    /// The canonical rows as squares of the row pieces, and the sets of interchangeable pieces as places.
    canonical: (Lists, Lists),
    /// The cells of canonical rows, once they are needed.
    cells: RefCell<HashMap<usize, Vec<[usize; 2]>>>,
    /// The decompressed blocks with White and with Black to move; empty for a side that is not stored.
    blocks: [Vec<Vec<u8>>; 2],
}

impl Reader {
    fn open(path: &Path) -> Reader {
        let bytes = std::fs::read(path).unwrap();
        let number = |at: usize, len: usize| bytes[at..at + len].iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
        assert_eq!(&bytes[..8], b"DSQTABLE");
        let version = number(8, 4);
        assert!([6, 7].contains(&version));
        assert_eq!(number(16, 8) as usize, bytes.len());
        let head = 24 + number(12, 4) as usize;
        assert_eq!(number(head, 8), xxh3_64(&bytes[..head]));
        let description: serde_json::Value = serde_json::from_slice(&bytes[24..head]).unwrap();
        let field = |name: &str| description[name].as_u64().unwrap() as usize;
        let (block_rows, cell_bytes) = (field("block_rows"), field("cell_bytes"));
        let stored = match description["sides"].as_str().unwrap() {
            "both" => [true, true],
            "white" => [true, false],
            "black" => [false, true],
            other => panic!("sides: {other}"),
        };
        let rules = description["rules"].as_str().unwrap().bytes();
        let hash = rules.fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        assert_eq!(description["rules_hash"], format!("{hash:016x}"));

        let pieces: Vec<char> = description["pieces"].as_str().unwrap().chars().collect();
        let none = Vec::new();
        let sets = description["interchangeable"].as_array().unwrap_or(&none).iter();
        let places = |set: &str| set.chars().map(|c| pieces.iter().position(|&p| p == c).unwrap()).collect::<Vec<_>>();
        let sets: Vec<Vec<usize>> = sets.map(|set| places(set.as_str().unwrap())).collect();
        let canonical = (canonical_rows(&pieces, &sets), sets);
        assert_eq!(field("canonical_rows"), canonical.0.len());
        let blocks_a_side = canonical.0.len().div_ceil(block_rows);
        let dictionary_bytes = description["dictionary"].as_u64().unwrap_or(0) as usize;
        let dont_cares = description["dont_cares"].as_bool().unwrap_or(false);
        assert_eq!(dont_cares, version == 7);
        let with_dictionary = usize::from(dictionary_bytes > 0);
        let count = blocks_a_side * stored.iter().filter(|&&side| side).count() + with_dictionary;
        let page = |number: usize| head + 8 + number * (16 + 8 * 512);
        for first in (0..count).step_by(512) {
            let (start, end) = (page(first / 512), page(first / 512) + 8 + 8 * (count - first).min(512));
            assert_eq!(number(end, 8), xxh3_64(&bytes[start..end]));
        }
        let mut at = page(0) + 16 * count.div_ceil(512) + 8 * count;
        let mut frames = (0..count).map(|i| {
            let (page, entry) = (page(i / 512), page(i / 512) + 8 + 8 * (i % 512));
            if i % 512 == 0 {
                assert_eq!(number(page, 8) as usize, at);
            }
            let block = &bytes[at..at + number(entry, 4) as usize];
            assert_eq!(number(entry + 4, 4), xxh3_64(block) & 0xffff_ffff);
            at += block.len();
            block
        });
        let dictionary = match with_dictionary {
            0 => Vec::new(),
            _ => zstd::decode_all(frames.next().unwrap()).unwrap(),
        };
        assert_eq!(dictionary.len(), dictionary_bytes);
        let mut decompressed = frames.by_ref().map(|frame| {
            let mut bytes = Vec::new();
            let mut decoder = zstd::stream::read::Decoder::with_dictionary(frame, &dictionary).unwrap();
            decoder.read_to_end(&mut bytes).unwrap();
            bytes
        });
        let blocks = stored.map(|side| decompressed.by_ref().take(if side { blocks_a_side } else { 0 }).collect());
        drop(decompressed);
        drop(frames);
        assert_eq!(at, bytes.len() - 8);
        assert_eq!(number(at, 8), xxh3_64(&bytes[..at]));
        Reader { version, pieces, block_rows, cell_bytes, dont_cares, canonical, cells: RefCell::default(), blocks }
    }

    /// The stored value of the pieces on these squares, White (0) or Black (1) to move; `None` if that side is not
    /// stored.
    fn stored(&self, squares: &[usize], turn: usize) -> Option<u16> {
        let (word, lane) = (squares.len() - 2, squares.len() - 1);
        let (rows, sets) = &self.canonical;
        if self.version == 6 {
            let row = sorted(squares[..word].to_vec(), sets);
            let reflected = sorted(squares[..word].iter().map(|&s| mirror(s)).collect(), sets);
            let is_mirrored = reflected < row;
            let number = rows.binary_search(if is_mirrored { &reflected } else { &row }).unwrap();
            let there = |i: usize| if is_mirrored { mirror(squares[i]) } else { squares[i] };
            return self.of_row(number, there(word), there(lane), turn);
        }
        let list = smallest(squares, sets);
        let number = rows.binary_search_by(|row| row[..].cmp(&list[..word])).unwrap();
        let block = self.blocks[turn].get(number / self.block_rows)?;
        let first = number / self.block_rows * self.block_rows;
        let mut cells = self.cells.borrow_mut();
        for i in first..=number {
            cells.entry(i).or_insert_with(|| row_cells(&self.pieces, sets, &rows[i]));
        }
        let before: usize = (first..number).map(|i| cells[&i].len()).sum();
        let cell = cells[&number].iter().position(|cell| cell[..] == list[word..]).unwrap();
        let at = (before + cell) * self.cell_bytes;
        Some(block[at..at + self.cell_bytes].iter().rev().fold(0, |n, &byte| n << 8 | u16::from(byte)))
    }

    /// The value in a row with all cells, by the squares of the word piece and the lane piece.
    fn of_row(&self, row: usize, word: usize, lane: usize, turn: usize) -> Option<u16> {
        let [word_piece, lane_piece] = [2, 1].map(|i| self.pieces[self.pieces.len() - i]);
        let (words, lanes) = (below(word_piece, 63), below(lane_piece, 63));
        let place = below(word_piece, word) * lanes + below(lane_piece, lane);
        let block = self.blocks[turn].get(row / self.block_rows)?;
        let at = (row % self.block_rows * words * lanes + place) * self.cell_bytes;
        Some(block[at..at + self.cell_bytes].iter().rev().fold(0, |n, &byte| n << 8 | u16::from(byte)))
    }
}

/// Whether the squares of each set are in ascending order, as far as the list reaches, and no square occurs twice.
fn is_sorted(list: &[usize], sets: &[Vec<usize>]) -> bool {
    sets.iter().all(|set| set.iter().filter_map(|&i| list.get(i)).is_sorted())
        && (1..list.len()).all(|i| !list[..i].contains(&list[i]))
}

/// The smaller of a list of squares and its mirror image, each with sorted sets. The list may end before the last piece.
fn smallest(list: &[usize], sets: &[Vec<usize>]) -> Vec<usize> {
    sorted(list.to_vec(), sets).min(sorted(list.iter().map(|&s| mirror(s)).collect(), sets))
}

/// A list with the squares of each set in ascending order.
fn sorted(mut list: Vec<usize>, sets: &[Vec<usize>]) -> Vec<usize> {
    for set in sets {
        let places: Vec<usize> = set.iter().copied().filter(|&i| i < list.len()).collect();
        let mut squares: Vec<usize> = places.iter().map(|&i| list[i]).collect();
        squares.sort_unstable();
        places.iter().zip(squares).for_each(|(&i, square)| list[i] = square);
    }
    list
}

fn mirror(square: usize) -> usize {
    square / 7 * 7 + 6 - square % 7
}

/// The canonical rows in order.
fn canonical_rows(pieces: &[char], sets: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new()];
    for &piece in &pieces[..pieces.len() - 2] {
        let longer = |row: &Vec<usize>| -> Vec<Vec<usize>> {
            (0..63).filter(|&s| in_play(piece, s)).map(|s| row.iter().copied().chain([s]).collect()).collect()
        };
        rows = rows.iter().flat_map(longer).filter(|row| is_sorted(row, sets)).collect();
    }
    rows.retain(|row| smallest(row, sets) == *row);
    rows
}

/// The squares of word piece and lane piece of the positions of a canonical row, in order.
fn row_cells(pieces: &[char], sets: &[Vec<usize>], row: &[usize]) -> Vec<[usize; 2]> {
    let [words, lanes] = [2, 1].map(|i| (0..63).filter(|&s| in_play(pieces[pieces.len() - i], s)).collect::<Vec<_>>());
    let (mut list, mut cells) = (row.to_vec(), Vec::new());
    for word in words {
        list.push(word);
        if is_sorted(&list, sets) {
            for &lane in &lanes {
                list.push(lane);
                if is_sorted(&list, sets) {
                    cells.push([word, lane]);
                }
                list.pop();
            }
        }
        list.pop();
    }
    cells
}

/// Pieces as letters, with their squares.
type Placed = Vec<(char, usize)>;

/// A directory, read file by file.
struct Directory {
    /// By material: the file, and whether the colours are exchanged.
    files: HashMap<String, (String, bool)>,
    readers: HashMap<String, Reader>,
    options: RuleOptions,
}

impl Directory {
    fn open(dir: &Path) -> Directory {
        let text = std::fs::read(dir.join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let (mut files, mut readers) = (HashMap::new(), HashMap::new());
        for class in manifest["classes"].as_array().unwrap() {
            let name = class["class"].as_str().unwrap();
            readers.insert(name.to_owned(), Reader::open(&dir.join(format!("{name}.dsq"))));
            for (list, swapped) in [("same", false), ("swapped", true)] {
                for material in class[list].as_array().unwrap() {
                    files.insert(material.as_str().unwrap().to_owned(), (name.to_owned(), swapped));
                }
            }
        }
        Directory { files, readers, options: RuleOptions::PAPER }
    }

    /// The value of a position, computed as the page describes: from the stored value, from the moves, or from both.
    fn value(&self, placed: &Placed, turn: usize) -> u16 {
        let (name, swapped) = &self.files[&material(placed)];
        let reader = &self.readers[name];
        let (exchanged, side) = if *swapped {
            let flip = |c: char| if c.is_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
            (placed.iter().map(|&(c, s)| (flip(c), 62 - s)).collect(), 1 - turn)
        } else {
            (placed.clone(), turn)
        };
        let renamed = self.rename(&exchanged, &reader.pieces);
        let squares: Vec<usize> =
            reader.pieces.iter().map(|piece| renamed.iter().find(|(name, _)| name == piece).unwrap().1).collect();
        match reader.stored(&squares, side) {
            None => self.best_of(placed, turn, false).unwrap_or(2),
            Some(value) if !reader.dont_cares => value,
            Some(value) => match self.best_of(placed, turn, true) {
                Some(best) if rank(value) <= rank(best) => best,
                _ => value,
            },
        }
    }

    /// The best value of all moves, or of the captures and den entries alone; `None` without such a move.
    fn best_of(&self, placed: &Placed, turn: usize, conversions: bool) -> Option<u16> {
        let board = board(placed);
        let moves = slow::legal_moves(&board, Color::ALL[turn], &self.options).into_iter();
        let wanted = |to: usize| !conversions || board[to].is_some() || DENS.contains(&to);
        let value = |(from, to): (Square, Square)| {
            let next = slow::make(&board, from, to);
            if slow::winner(&next).is_some() {
                return 3;
            }
            let after: Placed = next.iter().enumerate().filter_map(|(s, piece)| Some((letter((*piece)?), s))).collect();
            match self.value(&after, 1 - turn) {
                1 | 2 => 1,
                value => value + 1,
            }
        };
        moves.filter(|(_, to)| wanted(to.index())).map(value).max_by_key(|&value| rank(value))
    }

    /// The pieces under the names of the representative's pieces.
    fn rename(&self, placed: &Placed, names: &[char]) -> Placed {
        fn extend(named: &mut Placed, placed: &Placed, names: &[char], fits: &dyn Fn(&Placed) -> bool) -> bool {
            let Some(&(old, square)) = placed.get(named.len()) else { return fits(named) };
            for &name in names {
                if name.is_uppercase() == old.is_uppercase() && named.iter().all(|&(taken, _)| taken != name) {
                    named.push((name, square));
                    if extend(named, placed, names, fits) {
                        return true;
                    }
                    named.pop();
                }
            }
            false
        }
        let fits = |named: &Placed| {
            placed.iter().zip(named).all(|(&(a, _), &(b, _))| {
                kind(a) == kind(b)
                    && placed
                        .iter()
                        .zip(named)
                        .all(|(&(c, _), &(d, _))| a.is_uppercase() == c.is_uppercase() || takes(a, c) == takes(b, d))
            })
        };
        let mut named = Placed::new();
        assert!(extend(&mut named, placed, names, &fits), "{placed:?} as {names:?}");
        named
    }
}

/// How a piece moves: rats swim, lions and tigers leap.
fn kind(piece: char) -> u8 {
    match piece.to_ascii_uppercase() {
        'R' => 1,
        'L' | 'T' => 2,
        _ => 0,
    }
}

/// Whether a piece takes another outside traps, by the rules of the paper.
fn takes(attacker: char, victim: char) -> bool {
    const WEAKEST_FIRST: &str = "RCWDPTLE";
    let strength = |piece: char| WEAKEST_FIRST.find(piece.to_ascii_uppercase()).unwrap();
    match (strength(attacker), strength(victim)) {
        (0, 7) => true,
        (7, 0) => false,
        (attacker, victim) => attacker >= victim,
    }
}

/// How good a value is for the side to move.
fn rank(value: u16) -> i32 {
    match i32::from(value) {
        1 | 2 => 0,
        win if win % 2 == 1 => 100_000 - win,
        loss => loss - 100_000,
    }
}

/// The name of a material: White's pieces, `v`, Black's, the strongest first.
fn material(placed: &Placed) -> String {
    let side = |white: bool| -> String {
        let has = |c: &char| placed.iter().any(|&(p, _)| p.is_uppercase() == white && p.eq_ignore_ascii_case(c));
        "ELTPDWCR".chars().filter(has).collect()
    };
    format!("{}v{}", side(true), side(false))
}

fn board(placed: &Placed) -> slow::Board {
    let mut board = slow::EMPTY;
    for &(piece, square) in placed {
        board[square] = Piece::from_letter(piece).map(|piece| (piece.color, piece.animal));
    }
    board
}

fn letter((color, animal): (Color, Animal)) -> char {
    Piece { color, animal }.letter()
}

/// The meaning of a value according to the page.
fn meaning(value: u16) -> CellValue {
    match value {
        0 => panic!("no value"),
        1 => CellValue::Draw,
        2 => CellValue::NoMove,
        n => CellValue::Decided(n - 2),
    }
}

/// Random positions of every class of a directory, as letters on squares, and for the library.
fn positions(directory: &Directory, each: usize, random: &mut Pcg64) -> Vec<(Placed, usize, Position)> {
    let mut readers: Vec<_> = directory.readers.iter().collect();
    readers.sort_by_key(|(name, _)| *name);
    let mut positions = Vec::new();
    for (_, reader) in readers {
        for _ in 0..each {
            let placed: Placed = reader.pieces.iter().map(|&piece| (piece, random.next_u64() as usize % 63)).collect();
            let turn = random.next_u64() as usize % 2;
            let mut setup = Setup::empty(Color::ALL[turn]);
            for &(piece, square) in &placed {
                setup.squares[square] = Piece::from_letter(piece);
            }
            let Ok(position) = Position::from_setup(&setup) else { continue };
            if position.winner().is_none() && position.occupied().len() == placed.len() {
                positions.push((placed, turn, position));
            }
        }
    }
    positions
}

#[test]
fn a_reader_made_from_the_page_reads_what_the_library_reads() {
    const SEED: u64 = 2;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    let dir = tempfile::tempdir().unwrap();
    // In EvPDC all three pieces of a side are interchangeable, in ELvPD and EvLTP two.
    for material in ["EPvLR", "ERvLR", "ELvPD", "EvLTP", "EvPDC"] {
        let material = Some(material.parse().unwrap());
        let job = Generate { material, ..Generate::new(dir.path(), RuleOptions::PAPER) };
        job.run(&mut Solver::new(&job.rules, 4, Options::default()), &|_| ()).unwrap();
    }
    let open = || TableSet::open(dir.path()).unwrap();
    let exact = Directory::open(dir.path());
    let drawn = positions(&exact, 300, &mut random);
    assert!(drawn.len() > 2_000, "only {} positions", drawn.len());
    let tables = open().prober(&RuleOptions::PAPER).unwrap();
    for (placed, turn, position) in &drawn {
        let value = exact.value(placed, *turn);
        assert_eq!(tables.cell_value(position).unwrap(), Some(meaning(value)), "{placed:?}");
    }
    // Results only.
    let out = tempfile::tempdir().unwrap();
    write_wdl(dir.path(), out.path(), 8 << 30, &|_, _| ()).unwrap();
    let (results, wdl) = (Directory::open(out.path()), TableSet::open(out.path()).unwrap());
    let wdl = wdl.wdl_prober(&RuleOptions::PAPER).unwrap();
    for (placed, turn, position) in drawn.iter().step_by(4) {
        let (whole, result) = (rank(exact.value(placed, *turn)).signum(), rank(results.value(placed, *turn)).signum());
        assert_eq!(result, whole, "{placed:?}");
        let named = [Wdl::Loss, Wdl::Draw, Wdl::Win][(whole + 1) as usize];
        assert_eq!(wdl.wdl(position).unwrap(), Some(named), "{placed:?}");
    }
    // One side to move, without the values that follow from captures and den entries.
    repack(dir.path(), 8 << 30, &|_, _| ()).unwrap();
    let (packed, tables) = (Directory::open(dir.path()), open().prober(&RuleOptions::PAPER).unwrap());
    assert!(packed.readers.values().all(|reader| reader.dont_cares && reader.blocks.iter().any(Vec::is_empty)));
    let mut replaced = 0;
    for (placed, turn, position) in &drawn {
        let value = exact.value(placed, *turn);
        assert_eq!(packed.value(placed, *turn), value, "{placed:?}");
        assert_eq!(tables.cell_value(position).unwrap(), Some(meaning(value)), "{placed:?}");
        let reader = &packed.readers[&packed.files[&material(placed)].0];
        let squares: Vec<usize> = placed.iter().map(|&(_, square)| square).collect();
        replaced += usize::from(reader.stored(&squares, *turn).is_some_and(|stored| stored != value));
    }
    assert!(replaced > 50, "only {replaced} stored values are not those of their positions");
}

/// The bytes and numbers of the page's example, except those that depend on the version of zstd.
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
    assert_eq!([0, 1].map(|turn| reader.stored(&[d8, a1], turn)), [Some(3), Some(4)]);
    assert_eq!([0, 1].map(|turn| reader.blocks[turn][0].len()), [2401; 2]);
}
