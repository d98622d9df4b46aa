//! The memory limit of a run: checks before solving whether the classes fit.

use crate::tablebase::solve::needs::{class_bytes, level_bytes, table_bytes, working_bytes};
use crate::tablebase::{ClassId, Material, SetError, Solver};

#[cfg(test)]
const GIB: usize = 1 << 30;

/// The memory limit for solving.
#[derive(Copy, Clone, Debug)]
pub(crate) struct MemoryLimit {
    bytes: usize,
}

impl MemoryLimit {
    pub(crate) fn new(bytes: usize) -> MemoryLimit {
        MemoryLimit { bytes }
    }

    /// Whether this many bytes are within the limit.
    pub(crate) fn holds(self, bytes: usize) -> bool {
        bytes <= self.bytes
    }

    /// Rejects a class that needs more bytes than the limit.
    pub(crate) fn check(self, material: Material, needed: usize) -> Result<(), SetError> {
        if self.holds(needed) {
            return Ok(());
        }
        Err(SetError::Memory { material, needed, limit: self.bytes })
    }

    /// The remaining bytes for solving the classes of a level, with the values of all classes that their captures lead
    /// to in memory, and those of the classes `kept` for larger ones.
    ///
    /// # Errors
    /// [`SetError::Memory`] if they do not suffice for the largest class.
    pub(crate) fn for_level(
        self,
        solver: &Solver,
        level: &[ClassId],
        values: bool,
        kept: &[ClassId],
    ) -> Result<usize, SetError> {
        let Some(need) = level_bytes(solver, level, values, kept) else { return Ok(0) };
        self.check(solver.classes().get(need.largest).representative, need.total())?;
        Ok(self.bytes - need.held)
    }

    /// Drops values that a class does not read, until it fits together with those that it reads. Returns the bytes that the
    /// class takes with these.
    ///
    /// # Errors
    /// [`SetError::Memory`] if that is more than the limit.
    pub(crate) fn make_space(self, solver: &mut Solver, id: ClassId, values: bool) -> Result<usize, SetError> {
        let (needed, working) = (class_bytes(solver, id, values), working_bytes(solver, id, values));
        self.check(solver.classes().get(id).representative, needed)?;
        let captures = solver.classes().captures(id);
        let others: Vec<ClassId> = solver.classes().iter().map(|(other, _)| other).collect();
        let mut total = needed;
        for other in others.into_iter().filter(|other| !captures.contains(other)) {
            let bytes = solver.table(other).map_or(0, |_| table_bytes(solver.classes(), other, 1));
            if self.holds(total + bytes) {
                total += bytes;
            } else {
                solver.forget(other);
            }
        }
        solver.set_memory(self.bytes - (total - working));
        Ok(needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;
    use crate::tablebase::{Options, ROW_CELLS};

    fn class(solver: &Solver, name: &str) -> ClassId {
        solver.classes().member(name.parse().unwrap()).unwrap().class
    }

    fn working(solver: &Solver, id: ClassId, values: bool) -> usize {
        solver.backend().host_bytes(solver.classes(), id, values)
    }

    #[test]
    fn a_level_has_what_its_captures_leave() {
        let solver = Solver::new(&RuleOptions::PAPER, 3, Options::default());
        let level = ["EPvL", "LPvE"].map(|name| class(&solver, name));
        // EvL, PvL and PvE: a byte for each cell of one row, both sides to move.
        let captures = 3 * 2 * ROW_CELLS;
        let largest = level.into_iter().map(|id| working(&solver, id, true)).max().unwrap();
        assert!(largest > ROW_CELLS);
        let level_within = |bytes: usize| MemoryLimit { bytes }.for_level(&solver, &level, true, &[]);
        assert_eq!(level_within(captures + largest).unwrap(), largest);
        assert_eq!(level_within(captures + 3 * GIB).unwrap(), 3 * GIB);
        let kept: usize = level.iter().map(|&id| table_bytes(solver.classes(), id, 1)).sum();
        let keeping = MemoryLimit { bytes: captures + kept + largest }.for_level(&solver, &level, true, &level);
        assert_eq!(keeping.unwrap(), largest);
        let refused = level_within(captures + largest - 1);
        let Err(SetError::Memory { needed, limit, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!((needed, limit), (captures + largest, captures + largest - 1));
        assert_eq!(MemoryLimit::new(0).for_level(&solver, &[], true, &[]).unwrap(), 0);
    }

    #[test]
    fn what_is_not_read_is_forgotten_until_it_fits() {
        let mut solver = Solver::new(&RuleOptions::PAPER, 4, Options::default());
        [2, 3].into_iter().for_each(|pieces| solver.solve_level(pieces, true, &|_, _| ()).unwrap());
        let ids: Vec<ClassId> = [2, 3].into_iter().flat_map(|n| solver.classes().level(n).map(|(id, _)| id)).collect();
        let id = class(&solver, "ETvPD");
        let captures = solver.classes().captures(id);
        let bytes = |solver: &Solver, ids: &[ClassId]| -> usize {
            ids.iter().map(|&id| table_bytes(solver.classes(), id, 1)).sum()
        };
        let (read, others): (Vec<ClassId>, Vec<ClassId>) = ids.iter().partition(|id| captures.contains(id));
        let own = working(&solver, id, false);
        let least = bytes(&solver, &read) + own;
        let kept = |solver: &Solver| ids.iter().copied().filter(|&id| solver.table(id).is_some()).collect::<Vec<_>>();

        let refused = MemoryLimit { bytes: least - 1 }.make_space(&mut solver, id, false);
        assert!(matches!(refused, Err(SetError::Memory { .. })), "{refused:?}");
        assert_eq!(kept(&solver), ids);
        // If all classes fit, all stay, and the solver gets the rest of the memory.
        let all = least + bytes(&solver, &others);
        assert_eq!(MemoryLimit { bytes: all + 5 }.make_space(&mut solver, id, false).unwrap(), least);
        assert_eq!((kept(&solver).len(), solver.job(&[], false).memory), (ids.len(), own + 5));
        // Memory for one class of two pieces besides, and then for none.
        let space = 2 * ROW_CELLS;
        assert_eq!(MemoryLimit { bytes: least + space + 3 }.make_space(&mut solver, id, false).unwrap(), least);
        let left: Vec<ClassId> = kept(&solver).into_iter().filter(|id| !read.contains(id)).collect();
        assert_eq!((left.len(), bytes(&solver, &left), solver.job(&[], false).memory), (1, space, own + 3));
        MemoryLimit { bytes: least }.make_space(&mut solver, id, false).unwrap();
        assert_eq!((kept(&solver), solver.job(&[], false).memory), (read, own));
    }
}
