use crate::cpu::CpuLevel;
use crate::tablebase::solve::backend::{Backend, Job, Sink, SolveError};
use crate::tablebase::solve::cpu::buckets::Entry;
use crate::tablebase::solve::cpu::pass::{Iteration, Keep, Observer, Task, Unobserved, solve};
use crate::tablebase::solve::cpu::pool::BufferPool;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::solve::memory::WorkingMemory;
use crate::tablebase::{Cells, ClassId, Classes, Index, WIDTH};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::path::PathBuf;

/// Solves on the threads of the current rayon pool.
#[derive(Clone, Debug)]
pub struct CpuBackend {
    level: CpuLevel,
    /// Where the conversions of classes go that memory does not hold.
    spill: Option<PathBuf>,
    /// Memory that is kept from one class to the next.
    pool: BufferPool,
}

impl CpuBackend {
    /// Works with these instructions.
    #[must_use]
    pub fn new(level: CpuLevel) -> CpuBackend {
        CpuBackend { level, spill: None, pool: BufferPool::default() }
    }

    /// Keeps the conversions of classes in temporary files in `dir`, not in memory. They have no name, so nothing is
    /// left of them, however the program ends.
    #[must_use]
    pub fn spilling(self, dir: PathBuf) -> CpuBackend {
        CpuBackend { spill: Some(dir), ..self }
    }

    /// Takes memory from there, and leaves it there.
    #[must_use]
    pub(crate) fn with_pool(self, pool: BufferPool) -> CpuBackend {
        CpuBackend { pool, ..self }
    }

    fn bytes(&self, need: WorkingMemory) -> usize {
        if self.spill.is_some() { need.spilled() } else { need.total() }
    }

    /// What one class is solved from, but for the classes that captures lead to.
    pub(crate) fn task<'a>(&'a self, classes: &'a Classes, id: ClassId, keep: Keep<'a>) -> Task<'a> {
        let range_rows = Entry::WORDS / WIDTH;
        Task {
            material: classes.get(id).representative,
            classes,
            keep,
            level: self.level,
            spill: self.spill.as_deref(),
            range_rows,
            byte_plies: Cells::BYTE_PLIES,
            pool: self.pool.clone(),
            observer: &Unobserved,
        }
    }

    /// One class, to be solved from captures that its caller has.
    ///
    /// # Errors
    /// If memory is short.
    pub(crate) fn iteration<'a>(
        &'a self,
        classes: &'a Classes,
        id: ClassId,
        keep: Keep<'a>,
        observer: &'a dyn Observer,
    ) -> Result<Iteration<'a>, SolveError> {
        Iteration::new(Task { observer, ..self.task(classes, id, keep) })
    }
}

/// With the best instructions that this CPU has.
impl Default for CpuBackend {
    fn default() -> CpuBackend {
        CpuBackend::new(CpuLevel::get())
    }
}

impl Backend for CpuBackend {
    fn name(&self) -> String {
        format!("CPU ({})", self.level.name())
    }

    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
        let bytes = |id: ClassId| {
            let index = job.classes.get(id).index();
            self.bytes(WorkingMemory::new(&index, Rows::count(&index, job.classes.options()), job.values))
        };
        let mut ids = job.ids.to_vec();
        // The largest first, so that the last ones to finish are small.
        ids.sort_by_key(|&id| (Reverse(bytes(id)), id));
        let mut rest = &ids[..];
        while let Some(&largest) = rest.first() {
            // A thread that waits within one class may begin another, so only this bounds how many are in memory.
            let (group, others) = rest.split_at((job.memory / bytes(largest)).clamp(1, rest.len()));
            let solve = |&id: &ClassId| {
                let task = self.task(job.classes, id, if job.values { Keep::All } else { Keep::Counts });
                sink(id, solve(task, job.tables)?.solved)
            };
            group.par_iter().with_max_len(1).try_for_each(solve)?;
            rest = others;
        }
        Ok(())
    }

    fn host_bytes(&self, index: &Index, values: bool) -> usize {
        // Without the rules it is not known which rows are the same.
        self.bytes(WorkingMemory::new(index, index.rows, values))
    }
}
