//! The needs of memory and disk space, predicted: solving a class on the CPU, a level, a job, a count on demand, a
//! batch of classes on a GPU (`gpu`), a proof.

use crate::board::{ByColor, Color};
use crate::tablebase::order::solved_rows;
use crate::tablebase::solve::cpu::conversions::Conversions;
use crate::tablebase::solve::cpu::neighbours::Neighbours;
use crate::tablebase::solve::cpu::row::Row;
use crate::tablebase::{ClassId, Classes, ROW_CELLS, Solver};
use std::collections::{BTreeMap, HashSet};

#[cfg(feature = "gpu")]
pub(crate) mod gpu;

/// The number of planes of a class: open, lost and escapes for each side to move.
const PLANES: usize = 6;
/// Bytes of the conversions in memory while the others are on disk, at most.
const SPILLED_CONVERSIONS: usize = 320 << 20;
/// Bytes of a file besides its values. Measured: 1,620.
const FILE_BYTES: u64 = 1700;
/// The most bytes of a solved row of one side to move in a file, of a file besides, and of a row in a change log. Measured
/// with four and five pieces: 82 to 369, and 1,498 to 2,861.
const MOST_ROW_BYTES: usize = 512;
const MOST_HEADER_BYTES: usize = 16 << 10;
const MOST_LOG_ROW_BYTES: usize = 3072;

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
    // Measured: 14.9, 17.9, 21.6.
    let cells_per_byte = match classes.get(id).representative.len() {
        ..=3 => 14,
        4 => 17,
        _ => 21,
    };
    FILE_BYTES + stored_cells(classes, id) / cells_per_byte
}

/// Bytes of the values of a class in memory for both sides to move.
pub(crate) fn table_bytes(classes: &Classes, id: ClassId, cell_bytes: usize) -> usize {
    2 * classes.get(id).index().cells() * cell_bytes
}

/// The most bytes of the compressed blocks of `rows` solved rows.
pub(crate) fn most_block_bytes(rows: usize) -> usize {
    2 * rows * MOST_ROW_BYTES
}

/// The most bytes of the table of a class as `dsq generate` writes it.
pub(crate) fn most_file_bytes(classes: &Classes, id: ClassId) -> u64 {
    (MOST_HEADER_BYTES + most_block_bytes(solved_rows_of(classes, id) as usize)) as u64
}

/// Bytes of a plane of `rows` rows.
fn plane_bytes(rows: usize) -> usize {
    rows * size_of::<Row>()
}

/// Bytes of the conversions of a class in which `captures` pairs of pieces are the two of a capture that does not end the
/// game. In 28 classes of five pieces they took 720 to 2,920 bytes a row, 0.6 to 1 of this.
fn conversion_bytes(rows: usize, captures: usize) -> usize {
    rows * (896 + 282 * captures)
}

/// The least memory that suffices for a level, in bytes.
pub(crate) struct LevelBytes {
    /// The class that needs the most memory.
    pub(crate) largest: ClassId,
    /// Bytes of the values in memory: of all classes that captures lead to, and of the level, if they stay.
    pub(crate) held: usize,
    /// Bytes for solving the largest class, besides these values.
    working: usize,
}

impl LevelBytes {
    pub(crate) fn total(&self) -> usize {
        self.held + self.working
    }

    /// The most memory that `threads` threads take for `count` classes of the level under this limit.
    pub(crate) fn under(&self, limit: usize, count: usize, threads: usize) -> usize {
        self.held + self.working * together(limit.saturating_sub(self.held), self.working, threads).min(count)
    }
}

/// The number of classes of at most `bytes` bytes that `threads` threads solve at the same time within a memory limit: with more
/// than one for each thread they gain nothing, unless the classes are small.
pub(crate) fn together(limit: usize, bytes: usize, threads: usize) -> usize {
    const SMALL: usize = 256 << 20;
    let bytes = bytes.max(1);
    (limit / bytes).min(threads.max(SMALL / bytes)).max(1)
}

/// The least memory for a level, with the values of all classes that its captures lead to in memory, and those of the classes
/// `kept` for larger ones; `None` if the level is empty.
pub(crate) fn level_bytes(solver: &Solver, level: &[ClassId], values: bool, kept: &[ClassId]) -> Option<LevelBytes> {
    let captures: HashSet<ClassId> = level.iter().flat_map(|&id| solver.classes().captures(id)).collect();
    let held = captures.iter().chain(kept).map(|&id| table_bytes(solver.classes(), id, 1)).sum();
    let (working, largest) = level.iter().map(|&id| (working_bytes(solver, id, values), id)).max()?;
    Some(LevelBytes { largest, held, working })
}

/// Bytes for solving one class and keeping its values or only its counts, with the values that its captures lead to in
/// memory.
pub(crate) fn class_bytes(solver: &Solver, id: ClassId, values: bool) -> usize {
    let captures = solver.classes().captures(id).into_iter().map(|id| table_bytes(solver.classes(), id, 1));
    captures.sum::<usize>() + working_bytes(solver, id, values)
}

/// Bytes for solving one class, besides the values that captures lead to.
pub(crate) fn working_bytes(solver: &Solver, id: ClassId, values: bool) -> usize {
    solver.backend().host_bytes(solver.classes(), id, values)
}

/// The memory that solving one class on the CPU takes, in bytes, with the tables that it reads.
#[derive(Clone, Debug)]
pub struct MemoryNeed {
    /// Bytes of the planes, and of the lists of rows and of their neighbours.
    planes: usize,
    /// Bytes of the conversions.
    conversions: usize,
    /// The solved rows of one side to move.
    rows: usize,
    /// The classes that captures lead to, with the sides to move that are looked up.
    pub(crate) captures: BTreeMap<ClassId, ByColor<bool>>,
    /// Bytes of the values of `captures`.
    capture_bytes: usize,
    keeps_values: bool,
}

impl MemoryNeed {
    /// The memory for the job that solves this class from tables on disk, and keeps the values or only the counts.
    #[must_use]
    pub fn of_job(classes: &Classes, id: ClassId, values: bool) -> MemoryNeed {
        let index = classes.get(id).index();
        let rows = solved_rows(&index.pieces, classes.options());
        let mut captures: BTreeMap<ClassId, ByColor<bool>> = BTreeMap::new();
        let mut pairs = 0;
        for color in Color::ALL {
            let conversions = Conversions::new(&index, color, classes);
            pairs += conversions.pairs();
            conversions.looked_up().for_each(|(rest, turn)| captures.entry(rest).or_default()[turn] = true);
        }
        let bytes = |(id, sides): (&ClassId, &ByColor<bool>)| {
            let sides = usize::from(sides.white) + usize::from(sides.black);
            sides * classes.get(*id).index().cells()
        };
        MemoryNeed {
            planes: PLANES * plane_bytes(rows) + Neighbours::bytes(&index, rows) + index.rows * size_of::<u32>(),
            conversions: conversion_bytes(rows, pairs),
            rows,
            capture_bytes: captures.iter().map(bytes).sum(),
            captures,
            keeps_values: values,
        }
    }

    /// The peak in bytes with everything in memory: the values as a change log.
    #[must_use]
    pub fn total(&self) -> usize {
        self.peak(self.planes + self.conversions) + self.log()
    }

    /// The peak in bytes without the tables that captures lead to, with the change log in memory, and the conversions on disk
    /// if `is_spilling`.
    pub(crate) fn without_captures(&self, is_spilling: bool) -> usize {
        let conversions = if is_spilling { self.spilled_conversions() } else { self.conversions };
        // The conversions are freed before the values are compressed.
        self.planes + self.log() + conversions.max(self.blocks())
    }

    /// Bytes of the conversions in memory while the others are on disk.
    fn spilled_conversions(&self) -> usize {
        self.conversions.min(SPILLED_CONVERSIONS)
    }

    /// Bytes of the compressed values, if they are kept, at most.
    fn blocks(&self) -> usize {
        if self.keeps_values { most_block_bytes(self.rows) } else { 0 }
    }

    /// Bytes of the change log of a class whose values are kept, at most.
    fn log(&self) -> usize {
        if self.keeps_values { 2 * self.rows * MOST_LOG_ROW_BYTES } else { 0 }
    }

    /// Bytes of the conversions alone, in memory or in temporary files.
    #[must_use]
    pub fn conversions(&self) -> usize {
        self.conversions
    }

    /// The same job, whose captures take so many bytes: the width of their cells is known once their tables are open.
    pub(crate) fn with_captures(&self, bytes: usize) -> MemoryNeed {
        MemoryNeed { capture_bytes: bytes, ..self.clone() }
    }

    /// Bytes of the decoded values of the classes that captures lead to. They are freed before the first pass.
    #[must_use]
    pub fn captures(&self) -> usize {
        self.capture_bytes
    }

    /// The peak in bytes with the conversions on disk, and the values, if the job keeps them, replayed from a change
    /// log on disk after the planes are freed.
    #[must_use]
    pub fn peak_spilled(&self) -> usize {
        self.peak(self.planes + self.spilled_conversions()).max(self.replayed())
    }

    /// The peak in bytes with the conversions in memory, and the values replayed from a change log on disk.
    pub(crate) fn peak_with_log(&self) -> usize {
        // The conversions are freed before the values are replayed.
        self.peak(self.planes + self.conversions).max(self.planes + self.replayed())
    }

    /// Bytes of the compressed values, and of the logs of the ranges of rows that are replayed at the same time, which
    /// are at most a sixteenth of all rows.
    fn replayed(&self) -> usize {
        self.blocks() + self.log() / 16
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

    /// The most bytes of temporary files under a limit of `limit` bytes of memory.
    #[must_use]
    pub fn temporary_bytes(&self, limit: usize) -> u64 {
        let conversions = if self.peak_with_log() <= limit { 0 } else { self.conversions() };
        let log = if self.total() <= limit { 0 } else { self.log() };
        (conversions + log) as u64
    }

    /// The larger of the peaks before and after the first pass: the captures are freed before the last plane is
    /// allocated.
    fn peak(&self, working: usize) -> usize {
        working.max(working - plane_bytes(self.rows) + self.capture_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;

    /// Every class of six pieces can be solved in 10 GiB.
    #[test]
    fn six_pieces_fit_a_laptop() {
        const GIB: usize = 1 << 30;
        let classes = Classes::new(&RuleOptions::PAPER, 6);
        for (id, _) in classes.level(6) {
            let need = MemoryNeed::of_job(&classes, id, false);
            assert!(need.peak_spilled() <= need.total(), "{}", need.peak_spilled() / GIB);
            assert!((GIB / 2..10 * GIB).contains(&need.peak_spilled()), "{}", need.peak_spilled());
            let values = MemoryNeed::of_job(&classes, id, true).peak_spilled();
            assert!((need.peak_spilled()..10 * GIB).contains(&values), "{}", values / GIB);
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
