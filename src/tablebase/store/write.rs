//! Writes the file of a class, with the values of both sides to move in its canonical rows.

use super::codec::compress;
use super::description::{Content, Description, Sides, codec_name, hex};
use super::error::SetError;
use super::file::MAGIC;
use super::partial::PartialWriter;
use super::table_error::{EXACT_VERSION, TableError};
use crate::board::{ByColor, RuleOptions};
use crate::tablebase::alike::interchangeable_sets;
use crate::tablebase::index::{Index, ROW_CELLS};
use crate::tablebase::layout::{BLOCK_ROWS, Layout, block_bytes, push_row_sums, sum_of_rows};
use crate::tablebase::solve::backend::{SolveError, Solved};
use crate::tablebase::solve::cpu::change_log::{ClassLog, LoggedRange};
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::solve::cpu::task::{Observer, Unobserved};
use crate::tablebase::value::CellsRef;
use crate::tablebase::{CellValue, Cells, Class, Stats, Table};
use rayon::prelude::*;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Compression level of zstd: at a higher level, compression would take most of the time.
const LEVEL: i32 = 3;

/// The values of a class as the blocks of a file.
pub(crate) struct ClassBlocks {
    index: Index,
    rows: usize,
    cell_bytes: usize,
    sides: ByColor<Vec<Block>>,
    /// For each side to move the first cell with the longest distance.
    deepest: ByColor<Option<usize>>,
}

/// A compressed block, with the checksum of each row.
struct Block {
    bytes: Box<[u8]>,
    sums: Vec<u64>,
}

impl Block {
    /// The block of these codes, whole rows in the order of a file. `hashed` is a buffer.
    fn new(codes: &mut Cells, row_len: usize, hashed: &mut Vec<u16>) -> io::Result<Block> {
        let mut sums = Vec::with_capacity(BLOCK_ROWS);
        push_row_sums(codes.view(), row_len, hashed, &mut sums);
        Ok(Block { bytes: compress(block_bytes(codes, hashed), LEVEL)?, sums })
    }
}

impl ClassBlocks {
    /// The blocks of the values of a solved class, from its table or its change log, which it takes; `None` if it has
    /// neither.
    ///
    /// # Errors
    /// If compression fails, or the log is on disk and cannot be read back. The error names `dir`.
    pub(super) fn of_solved(
        class: &Class,
        rules: &RuleOptions,
        solved: &mut Solved,
        dir: &Path,
    ) -> Result<Option<ClassBlocks>, SetError> {
        match (solved.log.take(), &solved.table) {
            (Some(log), _) => Ok(Some(ClassBlocks::of_log(class, rules, log, dir, &Unobserved)?)),
            (None, Some(table)) => {
                let blocks = ClassBlocks::of_table(class, rules, table, &solved.stats);
                Ok(Some(blocks.map_err(TableError::io(dir))?))
            }
            (None, None) => Ok(None),
        }
    }

    /// The blocks of values in memory.
    ///
    /// # Errors
    /// If compression fails.
    pub(crate) fn of_table(
        class: &Class,
        rules: &RuleOptions,
        table: &Table,
        stats: &ByColor<Stats>,
    ) -> io::Result<ClassBlocks> {
        let index = class.index();
        let (rows, layout) = (Rows::new(&index, rules), Layout::new(&index));
        let cell_bytes = table.cells.white.cell_bytes();
        let side = |cells: &Cells| {
            let block = |(codes, hashed): &mut (Cells, Vec<u16>), rows: &[u32]| {
                layout.gather_rows(cells.view(), rows.iter().map(|&row| row as usize), codes);
                Block::new(codes, layout.row_len(), hashed)
            };
            let buffers = || (Cells::empty(cell_bytes, 0), Vec::new());
            rows.solved().par_chunks(BLOCK_ROWS).map_init(buffers, block).collect::<io::Result<Vec<_>>>()
        };
        let sides = ByColor { white: side(&table.cells.white)?, black: side(&table.cells.black)? };
        let deepest = ByColor::from_fn(|color| deepest(&table.cells[color], &stats[color], &rows));
        Ok(ClassBlocks { index, rows: rows.len(), cell_bytes, sides, deepest })
    }

    /// The blocks of values that are replayed from the change log of a solved class.
    ///
    /// # Errors
    /// If the log in `dir` cannot be read back, or compression fails, or the observer returns an error.
    pub(super) fn of_log(
        class: &Class,
        rules: &RuleOptions,
        log: ClassLog,
        dir: &Path,
        observer: &dyn Observer,
    ) -> Result<ClassBlocks, SolveError> {
        let index = class.index();
        let (rows, layout) = (Rows::new(&index, rules), Layout::new(&index));
        let ClassLog { ranges, deepest, cell_bytes } = log;
        let (done, of) = (AtomicUsize::new(0), ranges.white.len() + ranges.black.len());
        let replay = |(records, hashed): &mut (Vec<u64>, Vec<u16>), range: LoggedRange| {
            let mut blocks = Vec::with_capacity(range.rows.len().div_ceil(BLOCK_ROWS));
            let replayed = range.replay(records, (&index, &rows, &layout), BLOCK_ROWS, cell_bytes, |codes| {
                blocks.push(Block::new(codes, layout.row_len(), hashed)?);
                Ok(())
            });
            replayed.map_err(|error| SolveError::Disk { dir: dir.to_owned(), what: error.to_string() })?;
            observer.values(done.fetch_add(1, Relaxed) + 1, of)?;
            Ok(blocks)
        };
        let side = |ranges: Vec<LoggedRange>| {
            let blocks = ranges.into_par_iter().map_init(Default::default, replay);
            Ok::<_, SolveError>(blocks.collect::<Result<Vec<_>, SolveError>>()?.into_iter().flatten().collect())
        };
        let sides = ByColor { white: side(ranges.white)?, black: side(ranges.black)? };
        Ok(ClassBlocks { rows: rows.len(), cell_bytes, sides, deepest, index })
    }

    /// Writes the file of the class, atomically: the name appears only when the file is complete and on the disk.
    ///
    /// # Errors
    /// If the file cannot be written, for instance because the disk is full.
    pub(crate) fn write(
        self,
        path: &Path,
        class: &Class,
        rules: &RuleOptions,
        stats: &ByColor<Stats>,
    ) -> Result<(), TableError> {
        let sets = interchangeable_sets(&self.index.pieces, rules);
        let checksum = |side: &Vec<Block>| sum_of_rows(side.iter().flat_map(|block| &block.sums).copied());
        let description = Description {
            rules: rules.table_spelling(),
            rules_hash: hex(rules.table_hash()),
            material: class.representative.to_string(),
            pieces: self.index.letters(),
            rows: self.index.rows,
            canonical_rows: self.rows,
            interchangeable: self.index.names(&sets),
            sides: Sides::Both,
            block_rows: BLOCK_ROWS,
            cell_bytes: self.cell_bytes,
            dictionary: 0,
            dont_cares: false,
            content: Content::Dtw,
            codec: codec_name(LEVEL),
            row_sums: true,
            values: ByColor::from_fn(|color| hex(checksum(&self.sides[color]))),
            deepest: self.deepest,
            stats: stats.clone(),
        };
        let ByColor { white, black } = self.sides;
        let blocks: Vec<_> = white.into_iter().chain(black).map(|block| block.bytes).collect();
        write_blocks(path, EXACT_VERSION, &description, &blocks)
    }
}

/// The first cell with the longest distance of a side to move; `None` if no position is decided. It is in a solved row,
/// because the rows that equal a solved row come after it.
fn deepest(cells: &Cells, stats: &Stats, rows: &Rows) -> Option<usize> {
    let plies = stats.by_plies.iter().rposition(|&n| n > 0)?;
    let code = CellValue::Decided(plies as u16).code();
    match cells.view() {
        CellsRef::Byte(cells) => first(cells, code.try_into().ok()?, rows),
        CellsRef::Wide(cells) => first(cells, code, rows),
    }
}

/// The first cell of the solved rows with this code. Rayon searches blocks of rows: row by row, its overhead exceeds the
/// comparisons.
fn first<C: PartialEq + Sync>(cells: &[C], code: C, rows: &Rows) -> Option<usize> {
    let in_row = |&row: &u32| {
        let first = row as usize * ROW_CELLS;
        let row = Some(&cells[first..][..ROW_CELLS]).filter(|row| row.contains(&code))?;
        row.iter().position(|cell| *cell == code).map(|cell| first + cell)
    };
    rows.solved().par_chunks(BLOCK_ROWS).find_map_first(|rows| rows.iter().find_map(in_row))
}

/// Writes a file of these blocks, atomically.
pub(super) fn write_blocks(
    path: &Path,
    version: u32,
    description: &Description,
    blocks: &[Box<[u8]>],
) -> Result<(), TableError> {
    let description = serde_json::to_vec(description).expect("a description is JSON");
    let mut head = Vec::new();
    head.extend(MAGIC);
    head.extend(version.to_le_bytes());
    head.extend((description.len() as u32).to_le_bytes());
    head.extend(description);
    for block in blocks {
        head.extend((block.len() as u64).to_le_bytes());
        head.extend(xxh3_64(block).to_le_bytes());
    }
    head.extend(xxh3_64(&head).to_le_bytes());
    let (mut file, mut hash) = (PartialWriter::create(path)?, Xxh3::new());
    for part in std::iter::once(&head[..]).chain(blocks.iter().map(|block| &block[..])) {
        hash.update(part);
        file.write(part)?;
    }
    file.write(&hash.digest().to_le_bytes())?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Color;
    use crate::tablebase::TableFile;
    use crate::tablebase::solve::cpu::iteration::solve;
    use crate::tablebase::solve::cpu::task::{Keep, Task};
    use crate::tablebase::squares::Squares;
    use crate::tablebase::{ClassId, CpuBackend, Material, Solver};

    fn file_of(blocks: ClassBlocks, class: &Class, rules: &RuleOptions, stats: &ByColor<Stats>) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = TableFile::path(dir.path(), class.representative);
        blocks.write(&path, class, rules, stats).unwrap();
        std::fs::read(path).unwrap()
    }

    /// Checks that loading and probing find every value that a file stores.
    fn holds(path: &Path, class: &Class, cells: &ByColor<Cells>) -> TableFile {
        let file = TableFile::open(path, &RuleOptions::PAPER, class.representative).unwrap();
        for color in Color::ALL {
            assert_eq!(file.load(color).unwrap(), cells[color]);
            for cell in (0..cells[color].len()).step_by(97).filter(|&c| cells[color].get(c) != 0) {
                let squares = Squares::of(file.index().squares(cell).unwrap().into_iter());
                let place = file.stored_place(color, squares);
                let block = file.block(place.block).unwrap();
                assert_eq!(file.code(&block, place), cells[color].get(cell));
            }
        }
        file
    }

    /// Two bytes for each cell, as for lines longer than 253 plies. No small class has such a line.
    #[test]
    fn wide_cells_come_back() {
        let rules = RuleOptions::PAPER;
        for material in ["ERvR", "EvPDW", "LvTR"] {
            let material: Material = material.parse().unwrap();
            let solver = Solver::solved_material(&rules, material).unwrap();
            let id = solver.classes().member(material).unwrap().class;
            let (class, stats, narrow) =
                (solver.classes().get(id), solver.class_stats(id).unwrap(), solver.table(id).unwrap());
            let mut wide = narrow.clone();
            Color::ALL.iter().for_each(|&color| wide.cells[color].widen());
            let written = |table: &Table| {
                let dir = tempfile::tempdir().unwrap();
                let path = TableFile::path(dir.path(), class.representative);
                let blocks = ClassBlocks::of_table(class, &rules, table, stats).unwrap();
                blocks.write(&path, class, &rules, stats).unwrap();
                holds(&path, class, &table.cells)
            };
            let (narrow_file, file) = (written(narrow), written(&wide));
            assert_eq!(file.description().cell_bytes, 2);
            // No width changes the checksum of the values.
            assert_eq!(file.description().values, narrow_file.description().values);
            // The second byte belongs to the same cell.
            for color in Color::ALL {
                let Cells::Wide(cells) = &mut wide.cells[color] else { unreachable!("it was widened") };
                cells.iter_mut().filter(|code| **code % 3 == 2).for_each(|code| *code += 256);
            }
            written(&wide);
        }
    }

    /// Values from a change log give the same file as the values that are solved in memory, for ranges of any size, under
    /// several rules, and with positions without a legal move.
    #[test]
    fn logs_give_every_value() {
        let dir = tempfile::tempdir().unwrap();
        let mut no_move = 0;
        for rules in [RuleOptions::PAPER, "chinese".parse().unwrap()] {
            let solver = Solver::solved(&rules, 3).unwrap();
            let tables: Vec<_> = (0..solver.classes().len()).map(|i| solver.table(ClassId(i)).cloned()).collect();
            for (id, class) in solver.classes().iter() {
                let (kept, stats) = (solver.table(id).unwrap(), solver.class_stats(id).unwrap());
                let mut wide = kept.clone();
                Color::ALL.iter().for_each(|&color| wide.cells[color].widen());
                let file =
                    |table| file_of(ClassBlocks::of_table(class, &rules, table, stats).unwrap(), class, &rules, stats);
                let files = [file(kept), file(&wide)];
                for backend in [CpuBackend::default(), CpuBackend::default().spilling(dir.path().to_owned())] {
                    let task = backend.task(solver.classes(), id, Keep::Log(Some(dir.path())));
                    let in_memory = Task { keep: Keep::Log(None), ..task.clone() };
                    for task in [task.clone(), in_memory, Task { range_rows: BLOCK_ROWS, byte_plies: 4, ..task }] {
                        let outcome = solve(task, &tables).unwrap();
                        assert_eq!(&outcome.solved.stats, stats);
                        let log = outcome.solved.log.unwrap();
                        let cell_bytes = log.cell_bytes;
                        let blocks = ClassBlocks::of_log(class, &rules, log, dir.path(), &Unobserved).unwrap();
                        assert!(
                            file_of(blocks, class, &rules, stats) == files[cell_bytes - 1],
                            "{}",
                            class.representative
                        );
                    }
                }
                no_move += Color::ALL.iter().map(|&color| stats[color].no_move).sum::<u64>();
            }
        }
        assert!(no_move > 0);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "the logs have no name");
    }
}
