//! Writes the file of a class, with the values of both sides to move in its canonical rows.

use super::block_table::{table, table_len};
use super::codec::compress;
use super::description::{Content, Description, Sides, codec_name, hex};
use super::file::{DESCRIPTION_AT, MAGIC};
use super::partial::PartialWriter;
use super::table_error::{EXACT_VERSION, TableError};
use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::alike::interchangeable_sets;
use crate::tablebase::index::{Index, ROW_CELLS};
use crate::tablebase::layout::{BLOCK_ROWS, Layout, block_bytes, push_row_sums, sum_of_rows};
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::observer::Observer;
use crate::tablebase::solve::values::SolvedRows;
use crate::tablebase::value::decided;
use crate::tablebase::{Cells, Class, Stats};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Compression level of zstd: at a higher level, compression would take most of the time.
const LEVEL: i32 = 3;
/// How often an observer is told of the blocks of a class that are compressed.
const REPORTS: usize = 64;

/// The values of a class as the blocks of a file.
pub(crate) struct ClassBlocks {
    index: Index,
    rows: usize,
    cell_bytes: usize,
    sides: ByColor<Vec<Block>>,
}

/// A compressed block, with the checksum of each row.
struct Block {
    bytes: Box<[u8]>,
    sums: Vec<u64>,
    /// The first cell with the longest distance, if it is in this block.
    deepest: Option<usize>,
}

impl ClassBlocks {
    /// The blocks of a class with these values and counts.
    ///
    /// # Errors
    /// If the values cannot be read back from a temporary file, compression fails, or the observer returns an error.
    pub(crate) fn of(
        values: &SolvedRows,
        stats: &ByColor<Stats>,
        observer: &dyn Observer,
    ) -> Result<ClassBlocks, SolveError> {
        let (index, rows, cell_bytes) = (values.index(), values.rows(), values.cell_bytes());
        let layout = Layout::new(index);
        let (done, of) = (AtomicUsize::new(0), 2 * rows.len().div_ceil(BLOCK_ROWS));
        let side = |turn: Color| {
            let longest = stats[turn].by_plies.iter().rposition(|&n| n > 0).map(|plies| decided(plies as u16));
            values.map_blocks(turn, |(gathered, hashed): &mut (Option<Cells>, Vec<u16>), first, codes| {
                let deepest = longest.and_then(|code| codes.find(code));
                let deepest = deepest.map(|at| rows.row(first + at / ROW_CELLS) * ROW_CELLS + at % ROW_CELLS);
                let gathered = gathered.get_or_insert_with(|| Cells::empty(cell_bytes, 0));
                layout.gather(codes, gathered);
                let mut sums = Vec::with_capacity(BLOCK_ROWS);
                push_row_sums(gathered.view(), layout.row_len(), hashed, &mut sums);
                let bytes = compress(block_bytes(gathered, hashed), LEVEL).map_err(|error| failed(index, &error))?;
                let done = done.fetch_add(1, Relaxed) + 1;
                if done.is_multiple_of(of.div_ceil(REPORTS)) {
                    observer.values(done, of)?;
                }
                Ok(Block { bytes, sums, deepest })
            })
        };
        let sides = ByColor { white: side(Color::White)?, black: side(Color::Black)? };
        Ok(ClassBlocks { index: index.clone(), rows: rows.len(), cell_bytes, sides })
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
            values: ByColor::from_fn(|color| hex(checksum(&self.sides[color]))),
            deepest: ByColor::from_fn(|color| self.sides[color].iter().find_map(|block| block.deepest)),
            stats: stats.clone(),
        };
        let ByColor { white, black } = self.sides;
        let blocks: Vec<_> = white.into_iter().chain(black).map(|block| block.bytes).collect();
        write_blocks(path, EXACT_VERSION, &description, &blocks)
    }
}

/// The error of a compression that fails.
fn failed(index: &Index, error: &io::Error) -> SolveError {
    SolveError::Backend {
        material: Some(index.material()),
        reason: format!("its values cannot be compressed: {error}"),
    }
}

/// Writes a file of these blocks, atomically.
pub(super) fn write_blocks(
    path: &Path,
    version: u32,
    description: &Description,
    blocks: &[Box<[u8]>],
) -> Result<(), TableError> {
    let description = serde_json::to_vec(description).expect("a description is JSON");
    let first = DESCRIPTION_AT + description.len() + 8 + table_len(blocks.len());
    let len = first + blocks.iter().map(|block| block.len()).sum::<usize>() + 8;
    let mut head = MAGIC.to_vec();
    head.extend(version.to_le_bytes());
    head.extend((description.len() as u32).to_le_bytes());
    head.extend((len as u64).to_le_bytes());
    head.extend(description);
    head.extend(xxh3_64(&head).to_le_bytes());
    head.extend(table(blocks, first));
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
    use crate::tablebase::solve::cpu::iteration::solve;
    use crate::tablebase::solve::cpu::task::{Keep, Task};
    use crate::tablebase::solve::observer::Unobserved;
    use crate::tablebase::solve::values::lengthened;
    use crate::tablebase::squares::Squares;
    use crate::tablebase::{ClassId, CpuBackend, Material, Options, Solved, Solver, TableFile};

    /// Writes the file of a class to `dir`.
    fn write(solved: &Solved, class: &Class, rules: &RuleOptions, dir: &Path) -> std::path::PathBuf {
        let path = TableFile::path(dir, class.representative);
        let blocks = ClassBlocks::of(solved.values.as_ref().unwrap(), &solved.stats, &Unobserved).unwrap();
        blocks.write(&path, class, rules, &solved.stats).unwrap();
        path
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

    /// Two bytes for each cell, as for lines longer than 253 plies.
    #[test]
    fn wide_cells_come_back() {
        let (rules, dir) = (RuleOptions::PAPER, tempfile::tempdir().unwrap());
        for material in ["ERvR", "EvPDW", "LTvTR"] {
            let material: Material = material.parse().unwrap();
            let solver = Solver::solved_material(&rules, material).unwrap();
            let id = solver.classes().member(material).unwrap().class;
            let (solved, class) = (lengthened(&solver, id), solver.classes().get(id));
            let table = solved.table().unwrap().unwrap();
            let file = holds(&write(&solved, class, &rules, dir.path()), class, &table.cells);
            assert_eq!(file.description().cell_bytes, 2);
        }
    }

    /// Values from a change log in memory or on disk give the same file as values in memory, for ranges of any size, under
    /// several rules, and with positions without a legal move.
    #[test]
    fn logs_give_every_value() {
        let [dir, files] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let mut no_move = 0;
        for rules in [RuleOptions::PAPER, "chinese".parse().unwrap()] {
            let mut solver = Solver::new(&rules, 3, Options::default());
            (2..=3).for_each(|pieces| solver.solve_level(pieces, true, &|_, _| ()).unwrap());
            let tables: Vec<_> = (0..solver.classes().len()).map(|i| solver.table(ClassId(i)).cloned()).collect();
            for (id, class) in solver.classes().iter() {
                let (table, stats) = (solver.table(id).unwrap(), solver.class_stats(id).unwrap());
                let file = |solved: &Solved| std::fs::read(write(solved, class, &rules, files.path())).unwrap();
                let expected = file(&Solved::of_table(class.index(), &rules, stats.clone(), table).unwrap());
                for backend in [CpuBackend::default(), CpuBackend::default().spilling(dir.path().to_owned())] {
                    let task = backend.task(solver.classes(), id, Keep::Log(Some(dir.path())));
                    let in_memory = Task { keep: Keep::Log(None), ..task.clone() };
                    for task in [task.clone(), in_memory, Task { range_rows: BLOCK_ROWS, ..task }] {
                        let solved = solve(task, &tables[..]).unwrap();
                        assert_eq!(&solved.stats, stats);
                        assert!(file(&solved) == expected, "{}", class.representative);
                        // A source can be read any number of times.
                        assert!(solved.table().unwrap().as_ref() == Some(table), "{}", class.representative);
                    }
                }
                no_move += Color::ALL.iter().map(|&color| stats[color].no_move).sum::<u64>();
            }
        }
        assert!(no_move > 0);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "the logs have no name");
    }
}
