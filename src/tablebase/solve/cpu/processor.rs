use crate::cpu::CpuLevel;
use crate::tablebase::solve::backend::{Backend, Job, Sink, SolveError};
use crate::tablebase::solve::cpu::pass::{Task, solve};
use crate::tablebase::solve::cpu::quiet::Row;
use crate::tablebase::{ClassId, Index, ROW_CELLS};
use rayon::prelude::*;
use std::cmp::Reverse;

/// Solves on the threads of the current rayon pool.
#[derive(Copy, Clone, Debug)]
pub struct Processor {
    level: CpuLevel,
}

impl Processor {
    /// Works with these instructions.
    #[must_use]
    pub fn new(level: CpuLevel) -> Processor {
        Processor { level }
    }

    /// What one class is solved from.
    pub(crate) fn task<'a>(&self, job: &Job<'a>, id: ClassId) -> Task<'a> {
        Task {
            material: job.material(id),
            classes: job.classes,
            tables: job.tables,
            keep: job.values,
            level: self.level,
        }
    }
}

/// With the best instructions that this processor has.
impl Default for Processor {
    fn default() -> Processor {
        Processor::new(CpuLevel::get())
    }
}

impl Backend for Processor {
    fn name(&self) -> String {
        format!("processor ({})", self.level.name())
    }

    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
        let bytes = |id: ClassId| self.host_bytes(&job.classes.get(id).index(), job.values);
        let mut ids = job.ids.to_vec();
        // The largest first, so that the last ones to finish are small.
        ids.sort_by_key(|&id| (Reverse(bytes(id)), id));
        let mut rest = &ids[..];
        while let Some(&largest) = rest.first() {
            // A thread that waits within one class may begin another, so only this bounds how many are in memory.
            let (group, others) = rest.split_at((job.memory / bytes(largest)).clamp(1, rest.len()));
            group.par_iter().with_max_len(1).try_for_each(|&id| sink(id, solve(&self.task(job, id))?))?;
            rest = others;
        }
        Ok(())
    }

    /// Seven planes, about as much again for the seeds of classes with many captures, and the values with the blocks they
    /// are compressed to.
    fn host_bytes(&self, index: &Index, values: bool) -> usize {
        let planes = 14 * size_of::<Row>();
        index.rows * (planes + if values { 3 * ROW_CELLS } else { 0 })
    }
}
