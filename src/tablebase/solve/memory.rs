//! What solving takes of memory, before it is begun: a class on the CPU, a job, a batch of classes on a GPU.

use crate::board::{ByColor, Color};
use crate::tablebase::solve::cpu::conversions::Conversions;
use crate::tablebase::solve::cpu::neighbours::Neighbours;
use crate::tablebase::solve::cpu::quiet::Row;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::{ClassId, Classes, Index};
use std::collections::BTreeMap;

#[cfg(feature = "gpu")]
pub(crate) mod gpu;

/// Planes of a class: for each side to move open, lost, escapes.
const PLANES: usize = 6;
/// Conversions of classes with many captures, counted in planes: 2.8 entries of 12 bytes a word, for both sides.
const CONVERSION_PLANES: usize = 8;
/// Conversions in work while all others are on disk.
const SPILLED_CONVERSIONS: usize = 320 << 20;

/// Bytes that solving one class takes besides the tables it reads.
#[derive(Copy, Clone, Debug)]
pub(crate) struct WorkingMemory {
    planes: usize,
    conversions: usize,
    /// The values, with the blocks that they are compressed to.
    values: usize,
}

impl WorkingMemory {
    /// For a class of which that many rows are solved.
    pub(crate) fn new(index: &Index, rows: usize, values: bool) -> WorkingMemory {
        let plane = rows * size_of::<Row>();
        WorkingMemory {
            planes: PLANES * plane + Neighbours::bytes(index, rows) + index.rows * size_of::<u32>(),
            conversions: CONVERSION_PLANES * plane,
            values: if values { 3 * index.cells() } else { 0 },
        }
    }

    /// With the conversions in memory.
    pub(crate) fn total(&self) -> usize {
        self.planes + self.conversions + self.values
    }

    /// With the conversions on disk.
    pub(crate) fn spilled(&self) -> usize {
        self.planes + self.spilled_conversions() + self.values
    }

    /// Conversions in memory while all others are on disk.
    fn spilled_conversions(&self) -> usize {
        self.conversions.min(SPILLED_CONVERSIONS)
    }
}

/// Bytes that the job of solving one class takes, all in all.
#[derive(Clone, Debug)]
pub struct MemoryNeed {
    working: WorkingMemory,
    /// What one plane of one side takes; that of Black's open positions is made when the captures are gone.
    last_plane: usize,
    /// The classes that captures lead to, and of each the sides to move that are looked up.
    pub(crate) captures: BTreeMap<ClassId, ByColor<bool>>,
    /// The values of those.
    capture_bytes: usize,
    /// The values of one side to move, if they are kept.
    values: Option<usize>,
}

impl MemoryNeed {
    /// What the job takes that solves this class from tables on disk, and keeps the values or only the counts.
    #[must_use]
    pub fn of_job(classes: &Classes, id: ClassId, values: bool) -> MemoryNeed {
        let index = classes.get(id).index();
        let rows = Rows::count(&index, classes.options());
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
            working: WorkingMemory::new(&index, rows, values),
            last_plane: rows * size_of::<Row>(),
            capture_bytes: captures.iter().map(bytes).sum(),
            captures,
            values: values.then(|| index.cells()),
        }
    }

    /// With everything in memory.
    #[must_use]
    pub fn total(&self) -> usize {
        self.peak(self.working.total())
    }

    /// The conversions alone, in memory or in temporary files.
    #[must_use]
    pub fn conversions(&self) -> usize {
        self.working.conversions
    }

    /// The decoded values of the classes that captures lead to. They are freed before the first pass.
    #[must_use]
    pub fn captures(&self) -> usize {
        self.capture_bytes
    }

    /// With the conversions on disk, and the values, if they are kept, made from a log on disk.
    #[must_use]
    pub fn spilled(&self) -> usize {
        self.logged(self.working.spilled_conversions())
    }

    /// What is taken with so many bytes for the conversions, if values are made from a log.
    fn logged(&self, conversions: usize) -> usize {
        // The conversions are gone before values are made. Compressed all values take less than an eighth. Ranges of rows,
        // together a sixteenth of them at most, are made at once; their logs take less than twice as much as their values.
        let values = self.values.map_or(0, |side| 2 * side / 8 + 2 * side / 16);
        self.peak(self.working.planes + conversions).max(self.working.planes + values)
    }

    /// With the conversions in memory, and the values made from a log on disk.
    pub(crate) fn with_log(&self) -> usize {
        self.logged(self.working.conversions)
    }

    /// What to request for the job where it may take at most `limit` bytes: what it will use of them, or the least that it
    /// takes if that is more.
    #[must_use]
    pub fn request(&self, limit: usize) -> usize {
        self.within(|bytes| bytes <= limit)
    }

    /// What is taken where so much memory is there.
    pub(crate) fn within(&self, holds: impl Fn(usize) -> bool) -> usize {
        let needs = [self.total(), self.with_log(), self.spilled()];
        needs.into_iter().find(|&need| holds(need)).unwrap_or(self.spilled())
    }

    /// The captures are gone before the last plane is made.
    fn peak(&self, working: usize) -> usize {
        working.max(working - self.last_plane + self.capture_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;

    /// Every class of six pieces is counted within 10 GiB, and solved with its values within 20.
    #[test]
    fn six_pieces_fit_a_laptop() {
        const GIB: usize = 1 << 30;
        let classes = Classes::new(&RuleOptions::PAPER, 6);
        for (id, _) in classes.level(6) {
            let need = MemoryNeed::of_job(&classes, id, false);
            assert!(need.spilled() <= need.total(), "{}", need.spilled() / GIB);
            assert!((GIB..10 * GIB).contains(&need.spilled()), "{}", need.spilled() / GIB);
            let need = MemoryNeed::of_job(&classes, id, true);
            assert!((2 * GIB..20 * GIB).contains(&need.spilled()), "{}", need.spilled() / GIB);
        }
    }

    /// What is requested is within every limit that the least is within, and enough for a job that has it as its limit.
    #[test]
    fn requests_are_within_their_limit() {
        let classes = Classes::new(&RuleOptions::PAPER, 5);
        for (id, class) in classes.level(5).step_by(7) {
            for values in [false, true] {
                let need = MemoryNeed::of_job(&classes, id, values);
                assert_eq!(need.request(usize::MAX), need.total());
                assert_eq!(need.request(0), need.spilled());
                for limit in (need.spilled()..need.total()).step_by(50 << 20) {
                    let request = need.request(limit);
                    assert!((need.spilled()..=limit).contains(&request), "{}", class.representative);
                    assert_eq!(need.request(request), request, "{}", class.representative);
                }
            }
        }
    }

    /// Whole tables of one side to move, at least one and at most two of each class that captures lead to.
    #[test]
    fn captures_take_whole_tables() {
        let classes = Classes::new(&RuleOptions::PAPER, 4);
        for (id, class) in classes.level(4) {
            let cells = |id: &ClassId| classes.get(*id).index().cells();
            let captures = classes.captures(id);
            let all: usize = captures.iter().map(cells).sum();
            let taken = MemoryNeed::of_job(&classes, id, false).capture_bytes;
            assert!((all..=2 * all).contains(&taken), "{}", class.representative);
            // Where all classes are of one size, so are their tables.
            if let Some(size) = captures.first().map(cells).filter(|&size| captures.iter().all(|id| cells(id) == size))
            {
                assert_eq!(taken % size, 0, "{}", class.representative);
            }
        }
    }
}
