//! Whether what is to be solved fits into memory, before it is begun.

use crate::tablebase::store::error::SetError;
use crate::tablebase::{ClassId, Solver};
use std::collections::HashSet;

const GIB: usize = 1 << 30;

/// The most memory that solving may take.
#[derive(Copy, Clone, Debug)]
pub(crate) struct MemoryLimit {
    gib: usize,
}

/// Bytes of a class's values, both sides to move.
fn value_bytes(solver: &Solver, id: ClassId) -> usize {
    2 * solver.classes().get(id).index().cells()
}

impl MemoryLimit {
    pub fn new(gib: usize) -> MemoryLimit {
        MemoryLimit { gib }
    }

    fn bytes(self) -> usize {
        self.gib.saturating_mul(GIB)
    }

    fn check(self, solver: &Solver, id: ClassId, needed: usize) -> Result<(), SetError> {
        if needed <= self.bytes() {
            return Ok(());
        }
        let material = solver.classes().get(id).representative;
        Err(SetError::Memory { material, needed: needed.div_ceil(GIB), limit: self.gib })
    }

    /// How many bytes are left for the classes in work when all that classes of one level capture into is in memory.
    pub fn for_level(self, solver: &Solver, level: &[ClassId], values: bool) -> Result<usize, SetError> {
        let captures: HashSet<ClassId> = level.iter().flat_map(|&id| solver.classes().captures(id)).collect();
        let captures: usize = captures.into_iter().map(|id| value_bytes(solver, id)).sum();
        let working = |id: ClassId| solver.backend().host_bytes(&solver.classes().get(id).index(), values);
        let Some(largest) = level.iter().copied().max_by_key(|&id| working(id)) else { return Ok(0) };
        self.check(solver, largest, captures + working(largest))?;
        Ok(self.bytes() - captures)
    }

    /// Makes the solver forget classes that are solved only when needed (`passing`), but for those that this one needs,
    /// until it fits.
    pub fn make_room(
        self,
        solver: &mut Solver,
        id: ClassId,
        passing: &dyn Fn(ClassId) -> bool,
    ) -> Result<(), SetError> {
        let needed: HashSet<ClassId> =
            solver.classes().needed_for(id).into_iter().flatten().filter(|&other| other != id).collect();
        let working = solver.backend().host_bytes(&solver.classes().get(id).index(), false);
        let mut total = needed.iter().map(|&id| value_bytes(solver, id)).sum::<usize>() + working;
        self.check(solver, id, total)?;
        let ids = solver.classes().iter().map(|(other, _)| other);
        let others: Vec<ClassId> =
            ids.filter(|other| solver.table(*other).is_some() && !needed.contains(other)).collect();
        for other in others {
            let bytes = value_bytes(solver, other);
            if passing(other) && total + bytes > self.bytes() {
                solver.forget(other);
            } else {
                total += bytes;
            }
        }
        solver.set_memory(self.bytes().saturating_sub(total));
        Ok(())
    }
}
