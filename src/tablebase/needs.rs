//! The needs of memory and disk space, predicted: solving a class on the CPU, a level, a job, a count on demand, a
//! batch of classes on a GPU (`gpu`), a proof. `limit` compares them with a memory limit.

use crate::board::{ByColor, Color};
use crate::tablebase::order::solved_rows;
use crate::tablebase::solve::cpu::conversions::Conversions;
use crate::tablebase::solve::cpu::neighbours::Neighbours;
use crate::tablebase::solve::cpu::quiet::Row;
use crate::tablebase::{ClassId, Classes, Index, ROW_CELLS, Solver};
use std::collections::{BTreeMap, HashSet};

#[cfg(feature = "gpu")]
pub(crate) mod gpu;
pub(crate) mod limit;

/// The number of planes of a class: open, lost and escapes for each side to move.
const PLANES: usize = 6;
/// The conversions of a class with many captures, in planes: 2.8 entries of 12 bytes a word, for both sides to move.
const CONVERSION_PLANES: usize = 8;
/// Bytes of the conversions in memory while the others are on disk, at most.
const SPILLED_CONVERSIONS: usize = 320 << 20;
/// The most bytes of a solved row of one side to move of a class counted on demand: in its file, and in memory while
/// the file is written.
const STAGES_ROW_BYTES: usize = 384;
const RECORD_ROW_BYTES: usize = 128;
/// Stored cells per byte on disk. Measured: 18 for four pieces, 21.6 for five.
const CELLS_PER_BYTE: u64 = 21;

/// The cells that the table of a class stores, of both sides to move.
pub(crate) fn stored_cells(classes: &Classes, id: ClassId) -> u64 {
    2 * solved_rows_of(classes, id) * ROW_CELLS as u64
}

/// The number of rows of a class that are solved, of one side to move.
pub(crate) fn solved_rows_of(classes: &Classes, id: ClassId) -> u64 {
    solved_rows(&classes.get(id).index().pieces, classes.options()) as u64
}

/// The expected bytes of the table of a class as `dsq generate` writes it.
#[must_use]
pub fn expected_file_bytes(classes: &Classes, id: ClassId) -> u64 {
    stored_cells(classes, id) / CELLS_PER_BYTE
}

/// Bytes of the values of a class in memory for both sides to move.
pub(crate) fn table_bytes(classes: &Classes, id: ClassId, cell_bytes: usize) -> usize {
    2 * classes.get(id).index().cells() * cell_bytes
}

/// Bytes of host memory for the values of a class, with their compressed blocks, on any backend: one byte a cell.
fn value_bytes(index: &Index) -> usize {
    3 * index.cells()
}

/// The further bytes while cells of one byte are widened to two bytes, and for the values after that.
fn widening_bytes(index: &Index) -> usize {
    2 * index.cells()
}

/// Whether the plan of a class includes lines that are too long for cells of one byte. With five pieces the longest
/// line under the rules `paper` has 251 plies, and a class has 0.6 GB of values at most.
pub(crate) fn may_be_wide(index: &Index) -> bool {
    index.pieces.len() > 5
}

/// The most bytes of host memory for the values of a class, on any backend; 0 if they are not kept.
fn most_value_bytes(index: &Index, values: bool) -> usize {
    match values {
        true => value_bytes(index) + if may_be_wide(index) { widening_bytes(index) } else { 0 },
        false => 0,
    }
}

/// The memory that solving one class takes, in bytes, without the tables that it reads.
#[derive(Copy, Clone, Debug)]
pub(crate) struct WorkingMemory {
    planes: usize,
    conversions: usize,
    values: usize,
}

impl WorkingMemory {
    /// The memory for a class with `rows` solved rows, and `values` bytes for its values.
    fn new(index: &Index, rows: usize, values: usize) -> WorkingMemory {
        let plane = rows * size_of::<Row>();
        WorkingMemory {
            planes: PLANES * plane + Neighbours::bytes(index, rows) + index.rows * size_of::<u32>(),
            conversions: CONVERSION_PLANES * plane,
            values,
        }
    }

    /// The memory for a class with `rows` solved rows, and for the values that it may have, if they are kept.
    pub(crate) fn at_most(index: &Index, rows: usize, values: bool) -> WorkingMemory {
        WorkingMemory::new(index, rows, most_value_bytes(index, values))
    }

    /// The total in bytes, with the conversions on disk or in memory.
    pub(crate) fn total(&self, spilled: bool) -> usize {
        self.planes + self.values + if spilled { self.spilled_conversions() } else { self.conversions }
    }

    /// Bytes of the conversions in memory while the others are on disk.
    fn spilled_conversions(&self) -> usize {
        self.conversions.min(SPILLED_CONVERSIONS)
    }
}

/// The least memory that suffices for a level, in bytes.
pub(crate) struct LevelBytes {
    /// The class that needs the most memory.
    pub(crate) largest: ClassId,
    /// Bytes of the values of all classes that captures lead to.
    pub(crate) captures: usize,
    /// Bytes for solving the largest class, besides the values that captures lead to.
    working: usize,
}

impl LevelBytes {
    pub(crate) fn total(&self) -> usize {
        self.captures + self.working
    }
}

/// The least memory for a level, with the values of all classes that its captures lead to in memory; `None` if the
/// level is empty.
pub(crate) fn level_bytes(solver: &Solver, level: &[ClassId], values: bool) -> Option<LevelBytes> {
    let captures: HashSet<ClassId> = level.iter().flat_map(|&id| solver.classes().captures(id)).collect();
    let captures = captures.into_iter().map(|id| table_bytes(solver.classes(), id, 1)).sum();
    let (working, largest) = level.iter().map(|&id| (working_bytes(solver, id, values), id)).max()?;
    Some(LevelBytes { largest, captures, working })
}

/// Bytes for solving one class and keeping its values or only its counts, with the values of all classes that it leads
/// to in memory.
pub(crate) fn class_bytes(solver: &Solver, id: ClassId, values: bool) -> usize {
    let classes = solver.classes();
    let smaller = classes.needed_for(id).into_iter().flatten().filter(|&other| other != id);
    smaller.map(|id| table_bytes(classes, id, 1)).sum::<usize>() + working_bytes(solver, id, values)
}

/// Bytes for solving one class, besides the values that captures lead to.
fn working_bytes(solver: &Solver, id: ClassId, values: bool) -> usize {
    solver.backend().host_bytes(&solver.classes().get(id).index(), values)
}

/// The memory that the job of solving one class takes, in bytes, with the tables that it reads.
#[derive(Clone, Debug)]
pub struct MemoryNeed {
    working: WorkingMemory,
    /// The further bytes if a line is too long for cells of one byte.
    widening: usize,
    /// The solved rows of one side to move.
    rows: usize,
    /// The classes that captures lead to, with the sides to move that are looked up.
    pub(crate) captures: BTreeMap<ClassId, ByColor<bool>>,
    /// Bytes of the values of `captures`.
    capture_bytes: usize,
    /// Bytes of the values of one side to move, if the job keeps them.
    values: Option<usize>,
}

impl MemoryNeed {
    /// The memory for the job that solves this class from tables on disk, and keeps the values or only the counts.
    #[must_use]
    pub fn of_job(classes: &Classes, id: ClassId, values: bool) -> MemoryNeed {
        let index = classes.get(id).index();
        let rows = solved_rows(&index.pieces, classes.options());
        let mut captures: BTreeMap<ClassId, ByColor<bool>> = BTreeMap::new();
        for color in Color::ALL {
            for (rest, turn) in Conversions::new(&index, color, classes).looked_up() {
                captures.entry(rest).or_default()[turn] = true;
            }
        }
        let bytes = |(id, sides): (&ClassId, &ByColor<bool>)| {
            let sides = usize::from(sides.white) + usize::from(sides.black);
            sides * classes.get(*id).index().cells()
        };
        MemoryNeed {
            working: WorkingMemory::new(&index, rows, if values { value_bytes(&index) } else { 0 }),
            widening: if values { widening_bytes(&index) } else { 0 },
            rows,
            capture_bytes: captures.iter().map(bytes).sum(),
            captures,
            values: values.then(|| index.cells()),
        }
    }

    /// The peak in bytes with everything in memory, if one byte a cell suffices.
    #[must_use]
    pub fn total(&self) -> usize {
        self.peak(self.working.total(false))
    }

    /// The peak in bytes with everything in memory and two bytes a cell.
    pub(crate) fn total_wide(&self) -> usize {
        self.peak(self.working.total(false) + self.widening)
    }

    /// Bytes of the conversions alone, in memory or in temporary files.
    #[must_use]
    pub fn conversions(&self) -> usize {
        self.working.conversions
    }

    /// Bytes of the decoded values of the classes that captures lead to. They are freed before the first pass.
    #[must_use]
    pub fn captures(&self) -> usize {
        self.capture_bytes
    }

    /// The peak in bytes with the conversions on disk, and the values, if the job keeps them, replayed from a change
    /// log on disk.
    #[must_use]
    pub fn peak_spilled(&self) -> usize {
        self.peak_replayed(self.working.spilled_conversions())
    }

    /// The peak in bytes with `conversions` bytes of conversions, if the values are replayed from a change log.
    fn peak_replayed(&self, conversions: usize) -> usize {
        // The conversions are freed before the values are replayed. Compressed, all values take less than an eighth of
        // their size. The ranges of rows that are replayed at the same time are at most a sixteenth of all rows, and
        // their logs take less than twice as much memory as their values.
        let values = self.values.map_or(0, |side| 2 * side / 8 + 2 * side / 16);
        self.peak(self.working.planes + conversions).max(self.working.planes + values)
    }

    /// The peak in bytes with the conversions in memory, and the values replayed from a change log on disk.
    pub(crate) fn peak_with_log(&self) -> usize {
        self.peak_replayed(self.working.conversions)
    }

    /// The memory to request for the job under a limit of `limit` bytes: the part of the limit that the job will use,
    /// or the least memory that the job takes if that exceeds the limit.
    #[must_use]
    pub fn request(&self, limit: usize) -> usize {
        self.peak_under(|bytes| bytes <= limit)
    }

    /// The first of the peaks with everything in memory, with a change log, and with the conversions on disk, too, that
    /// satisfies `holds`; the last peak if none does.
    pub(crate) fn peak_under(&self, holds: impl Fn(usize) -> bool) -> usize {
        let needs = [self.total(), self.peak_with_log(), self.peak_spilled()];
        needs.into_iter().find(|&need| holds(need)).unwrap_or(self.peak_spilled())
    }

    /// The most bytes of the file of the class, if it is counted on demand.
    pub(crate) fn stages_file(&self) -> usize {
        2 * self.rows * STAGES_ROW_BYTES
    }

    /// The further bytes of memory while this file is written.
    pub(crate) fn record(&self) -> usize {
        2 * self.rows * RECORD_ROW_BYTES
    }

    /// The larger of the peaks before and after the first pass: the captures are freed before the last plane is
    /// allocated.
    fn peak(&self, working: usize) -> usize {
        working.max(working - self.rows * size_of::<Row>() + self.capture_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;

    /// Every class of six pieces can be counted in 10 GiB, and solved with its values in 20 GiB.
    #[test]
    fn six_pieces_fit_a_laptop() {
        const GIB: usize = 1 << 30;
        let classes = Classes::new(&RuleOptions::PAPER, 6);
        for (id, _) in classes.level(6) {
            let need = MemoryNeed::of_job(&classes, id, false);
            assert!(need.peak_spilled() <= need.total(), "{}", need.peak_spilled() / GIB);
            assert!((GIB..10 * GIB).contains(&need.peak_spilled()), "{}", need.peak_spilled() / GIB);
            let need = MemoryNeed::of_job(&classes, id, true);
            assert!((2 * GIB..20 * GIB).contains(&need.peak_spilled()), "{}", need.peak_spilled() / GIB);
        }
    }

    /// A request stays within every limit that the least memory stays within, and is a sufficient limit for the job.
    #[test]
    fn requests_are_within_their_limit() {
        let classes = Classes::new(&RuleOptions::PAPER, 5);
        for (id, class) in classes.level(5).step_by(7) {
            for values in [false, true] {
                let need = MemoryNeed::of_job(&classes, id, values);
                assert_eq!(need.request(usize::MAX), need.total());
                assert_eq!(need.request(0), need.peak_spilled());
                for limit in (need.peak_spilled()..need.total()).step_by(50 << 20) {
                    let request = need.request(limit);
                    assert!((need.peak_spilled()..=limit).contains(&request), "{}", class.representative);
                    assert_eq!(need.request(request), request, "{}", class.representative);
                }
            }
        }
    }

    /// Captures take whole tables of one side to move: one or two of each class that captures lead to.
    #[test]
    fn captures_take_whole_tables() {
        let classes = Classes::new(&RuleOptions::PAPER, 4);
        for (id, class) in classes.level(4) {
            let cells = |id: &ClassId| classes.get(*id).index().cells();
            let captures = classes.captures(id);
            let all: usize = captures.iter().map(cells).sum();
            let taken = MemoryNeed::of_job(&classes, id, false).capture_bytes;
            assert!((all..=2 * all).contains(&taken), "{}", class.representative);
            // If all classes have the same size, so do their tables.
            if let Some(size) = captures.first().map(cells).filter(|&size| captures.iter().all(|id| cells(id) == size))
            {
                assert_eq!(taken % size, 0, "{}", class.representative);
            }
        }
    }
}
