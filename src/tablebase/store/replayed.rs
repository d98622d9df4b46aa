//! The values of a class that do not fit into memory uncompressed. They are replayed from the change logs of the solved
//! class block by block, and each block is compressed at once.

use super::codec::{compress, decompress};
use super::write::Values;
use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::index::Index;
use crate::tablebase::layout::Layout;
use crate::tablebase::solve::cpu::change_log::LoggedRange;
use crate::tablebase::solve::cpu::iteration::Outcome;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::value::Cells;
use crate::tablebase::{Material, Stats};
use rayon::prelude::*;
use std::io;
use std::ops::Range;

/// Number of solved rows in a compressed block.
const BLOCK_ROWS: usize = 8;
/// Compression level of zstd.
const LEVEL: i32 = 1;

/// The values of a class, compressed. Rows that are not solved (see [`Rows`]) are not stored.
pub(crate) struct Replayed {
    rows: Rows,
    /// By place in a row, the place of the cell that is reflected in the d-file.
    reflections: Vec<u16>,
    cell_bytes: usize,
    ranges: ByColor<Vec<CompressedRange>>,
    /// For each side to move the first cell with the longest distance.
    deepest: ByColor<Option<usize>>,
}

/// A range of solved rows.
struct CompressedRange {
    rows: Range<usize>,
    blocks: Vec<Box<[u8]>>,
}

/// The block that was decompressed last: the number of its first row and its bytes.
type Last = Option<(usize, Vec<u8>)>;

impl Replayed {
    /// Replays the values from the change logs of a class on the threads of the current rayon pool.
    ///
    /// # Errors
    /// If a log cannot be read back, or compression fails.
    pub(super) fn new(material: Material, rules: &RuleOptions, outcome: &mut Outcome) -> io::Result<Replayed> {
        let index = Index::new(material).expect("no class has more pieces than an index");
        let (rows, layout) = (Rows::new(&index, rules), Layout::new(&index));
        let (cell_bytes, deepest, logs) = (outcome.cell_bytes, outcome.deepest, std::mem::take(&mut outcome.logs));
        let replay = |records: &mut Vec<u64>, range: LoggedRange| {
            let numbers = range.rows.clone();
            let mut blocks = Vec::with_capacity(numbers.len().div_ceil(BLOCK_ROWS));
            range.replay(records, (&index, &rows, &layout), BLOCK_ROWS, cell_bytes, |codes| {
                blocks.push(compress(codes.bytes(), LEVEL)?);
                Ok(())
            })?;
            Ok(CompressedRange { rows: numbers, blocks })
        };
        let side =
            |logs: Vec<LoggedRange>| logs.into_par_iter().map_init(Vec::new, replay).collect::<io::Result<Vec<_>>>();
        let ranges = ByColor { white: side(logs.white)?, black: side(logs.black)? };
        Ok(Replayed { rows, reflections: layout.reflections(), cell_bytes, ranges, deepest })
    }

    /// The bytes of a solved row. Decompresses its block into `last` unless `last` already contains it.
    fn row<'a>(&self, color: Color, number: usize, last: &'a mut Last) -> &'a [u8] {
        let row_bytes = self.reflections.len() * self.cell_bytes;
        let ranges = &self.ranges[color];
        let range = &ranges[ranges.partition_point(|range| range.rows.end <= number)];
        let block = (number - range.rows.start) / BLOCK_ROWS;
        let first = range.rows.start + block * BLOCK_ROWS;
        if last.as_ref().is_none_or(|&(before, _)| before != first) {
            let len = BLOCK_ROWS.min(range.rows.end - first);
            let bytes = decompress(&range.blocks[block], len * row_bytes).expect("what was compressed here");
            *last = Some((first, bytes));
        }
        let (_, bytes) = last.as_ref().expect("it was unpacked");
        &bytes[(number - first) * row_bytes..][..row_bytes]
    }
}

impl Values for Replayed {
    fn cell_bytes(&self) -> usize {
        self.cell_bytes
    }

    fn gather(&self, layout: &Layout, color: Color, rows: Range<usize>, codes: &mut Cells) {
        codes.reset(rows.len() * layout.row_len());
        let mut view = codes.view_mut();
        // A row that is not solved equals a solved row (possibly mirrored) in another block than its neighbours.
        let (mut own, mut like) = (None, None);
        for (row, mut to) in rows.zip(view.chunks(layout.row_len())) {
            let Some((number, mirrored)) = self.rows.place(row) else { continue };
            let solved = self.rows.row(number) == row;
            let from = self.row(color, number, if solved { &mut own } else { &mut like });
            let to = to.bytes_mut();
            if !mirrored {
                to.copy_from_slice(from);
                continue;
            }
            for (to, &place) in to.chunks_exact_mut(self.cell_bytes).zip(&self.reflections) {
                to.copy_from_slice(&from[usize::from(place) * self.cell_bytes..][..self.cell_bytes]);
            }
        }
    }

    fn deepest(&self, color: Color, _: &Stats) -> Option<usize> {
        self.deepest[color]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::solve::cpu::iteration::solve;
    use crate::tablebase::solve::cpu::task::{Keep, Task};
    use crate::tablebase::{ClassId, CpuBackend, Solver};

    /// Values from a change log equal the values that are solved in memory, for ranges and cells of any size, under
    /// several rules, and with positions without a legal move.
    #[test]
    fn logs_give_every_value() {
        let dir = tempfile::tempdir().unwrap();
        let mut no_move = 0;
        for rules in [RuleOptions::PAPER, "chinese".parse().unwrap()] {
            let solver = Solver::solved(&rules, 3).unwrap();
            let tables: Vec<_> = (0..solver.classes().len()).map(|i| solver.table(ClassId(i)).cloned()).collect();
            for (id, class) in solver.classes().iter() {
                let (kept, material) = (solver.table(id).unwrap(), class.representative);
                for backend in [CpuBackend::default(), CpuBackend::default().spilling(dir.path().to_owned())] {
                    let task = backend.task(solver.classes(), id, Keep::Log(dir.path()));
                    for task in [task.clone(), Task { range_rows: 3, byte_plies: 4, ..task }] {
                        let wide = task.byte_plies == 4 && deepest(&solver, id) > 4;
                        let mut outcome = solve(task, &tables).unwrap();
                        assert_eq!(Some(&outcome.solved.stats), solver.class_stats(id));
                        let replayed = Replayed::new(material, &rules, &mut outcome).unwrap();
                        assert!(!wide || replayed.cell_bytes() == 2, "{material}");
                        let layout = Layout::new(&class.index());
                        for color in Color::ALL {
                            let all = class.index().rows;
                            for rows in [0..all, all / 3..all / 3 + 1, all / 2..all] {
                                let (mut expected, mut codes) =
                                    (Cells::empty(1, 0), Cells::empty(replayed.cell_bytes(), 0));
                                kept.gather(&layout, color, rows.clone(), &mut expected);
                                replayed.gather(&layout, color, rows, &mut codes);
                                if replayed.cell_bytes() == 2 {
                                    expected.widen();
                                }
                                assert!(codes == expected, "{material}");
                            }
                            no_move += outcome.solved.stats[color].no_move;
                        }
                    }
                }
            }
        }
        assert!(no_move > 0);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "the logs have no name");
    }

    fn deepest(solver: &Solver, id: ClassId) -> u64 {
        let stats = solver.class_stats(id).unwrap();
        Color::ALL.iter().map(|&color| stats[color].summary().longest).max().unwrap_or(0)
    }
}
