//! The memory limit of a run: checks before solving whether the classes fit.

use crate::tablebase::solve::needs::{class_bytes, level_bytes, table_bytes, working_bytes};
use crate::tablebase::{ClassId, Material, SetError, Solver};
use std::collections::HashSet;

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
    /// to in memory, and their own values if they are `kept`.
    ///
    /// # Errors
    /// [`SetError::Memory`] if they do not suffice for the largest class.
    pub(crate) fn for_level(
        self,
        solver: &Solver,
        level: &[ClassId],
        values: bool,
        kept: bool,
    ) -> Result<usize, SetError> {
        let Some(need) = level_bytes(solver, level, values, kept) else { return Ok(0) };
        self.check(solver.classes().get(need.largest).representative, need.total())?;
        Ok(self.bytes - need.held)
    }

    /// Drops values of classes that this class does not need, until it fits. `next_use` gives the number of the next class
    /// that needs a class: the classes that are needed last are dropped first, and classes without a number stay.
    ///
    /// # Errors
    /// [`SetError::Memory`] if the class does not fit together with the classes that it needs.
    pub(crate) fn free_memory(
        self,
        solver: &mut Solver,
        id: ClassId,
        values: bool,
        next_use: &dyn Fn(ClassId) -> Option<usize>,
    ) -> Result<(), SetError> {
        let needed: HashSet<ClassId> =
            solver.classes().needed_for(id).into_iter().flatten().filter(|&other| other != id).collect();
        let (mut total, working) = (class_bytes(solver, id, values), working_bytes(solver, id, values));
        self.check(solver.classes().get(id).representative, total)?;
        let ids = solver.classes().iter().map(|(other, _)| other);
        let mut others: Vec<(Option<usize>, ClassId)> = ids
            .filter(|other| solver.table(*other).is_some() && !needed.contains(other))
            .map(|other| (next_use(other), other))
            .collect();
        others.sort();
        for (next_use, other) in others {
            let bytes = table_bytes(solver.classes(), other, 1);
            if next_use.is_some() && !self.holds(total + bytes) {
                solver.forget(other);
            } else {
                total += bytes;
            }
        }
        solver.set_memory(self.bytes.saturating_sub(total - working));
        Ok(())
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
        let level_within = |bytes: usize| MemoryLimit { bytes }.for_level(&solver, &level, true, false);
        assert_eq!(level_within(captures + largest).unwrap(), largest);
        assert_eq!(level_within(captures + 3 * GIB).unwrap(), 3 * GIB);
        let kept: usize = level.iter().map(|&id| table_bytes(solver.classes(), id, 1)).sum();
        let keeping = MemoryLimit { bytes: captures + kept + largest }.for_level(&solver, &level, true, true);
        assert_eq!(keeping.unwrap(), largest);
        let refused = level_within(captures + largest - 1);
        let Err(SetError::Memory { needed, limit, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!((needed, limit), (captures + largest, captures + largest - 1));
        assert_eq!(MemoryLimit::new(0).for_level(&solver, &[], true, true).unwrap(), 0);
    }

    #[test]
    fn what_is_not_needed_is_forgotten_until_it_fits() {
        let mut solver = Solver::new(&RuleOptions::PAPER, 4, Options::default());
        [2, 3].into_iter().for_each(|pieces| solver.solve_level(pieces, true, &|_, _| ()).unwrap());
        let ids: Vec<ClassId> = [2, 3].into_iter().flat_map(|n| solver.classes().level(n).map(|(id, _)| id)).collect();
        let id = class(&solver, "ETvPD");
        let mut needed: Vec<ClassId> = solver.classes().captures(id);
        needed.extend(needed.clone().into_iter().flat_map(|other| solver.classes().captures(other)));
        let is_needed = |other: &ClassId| needed.contains(other);
        let bytes = |solver: &Solver, ids: &[ClassId]| -> usize {
            ids.iter().map(|&id| table_bytes(solver.classes(), id, 1)).sum()
        };
        let (needs, others): (Vec<ClassId>, Vec<ClassId>) = ids.iter().partition(|other| is_needed(other));
        let least = bytes(&solver, &needs) + working(&solver, id, false);
        let kept = |solver: &Solver| ids.iter().copied().filter(|&id| solver.table(id).is_some()).collect::<Vec<_>>();

        let refused = MemoryLimit { bytes: least - 1 }.free_memory(&mut solver, id, false, &|_| Some(0));
        assert!(matches!(refused, Err(SetError::Memory { .. })), "{refused:?}");
        assert_eq!(kept(&solver), ids);
        // Classes without a next use stay, whether they fit or not.
        MemoryLimit { bytes: least }.free_memory(&mut solver, id, false, &|_| None).unwrap();
        assert_eq!(kept(&solver), ids);
        let own = working(&solver, id, false);
        assert_eq!(solver.job(&[], false).memory, own.saturating_sub(bytes(&solver, &others)));
        // If all classes fit, all stay, and the solver gets the rest of the memory.
        let all = least + bytes(&solver, &others);
        MemoryLimit { bytes: all + 5 }.free_memory(&mut solver, id, false, &|_| Some(0)).unwrap();
        assert_eq!(kept(&solver), ids);
        assert_eq!(solver.job(&[], false).memory, own + 5);
        // Memory for one class of two pieces, which is the one needed next, and then for none.
        let space = 2 * ROW_CELLS;
        let soonest = *others.iter().rfind(|&&other| bytes(&solver, &[other]) == space).unwrap();
        let next_use = |other: ClassId| Some(usize::from(other != soonest));
        MemoryLimit { bytes: least + space + 3 }.free_memory(&mut solver, id, false, &next_use).unwrap();
        let left: Vec<ClassId> = kept(&solver).into_iter().filter(|other| !is_needed(other)).collect();
        assert_eq!(left, [soonest]);
        assert_eq!(solver.job(&[], false).memory, own + 3);
        MemoryLimit { bytes: least }.free_memory(&mut solver, id, false, &|_| Some(0)).unwrap();
        assert_eq!(kept(&solver), needs);
    }
}
