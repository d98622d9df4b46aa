use crate::cpu::CpuLevel;
use crate::tablebase::layout::BLOCK_ROWS;
use crate::tablebase::solve::backend::{Backend, Job, OnCpu, Sink};
use crate::tablebase::solve::cpu::buckets::Entry;
use crate::tablebase::solve::cpu::iteration::solve;
use crate::tablebase::solve::cpu::pool::BufferPool;
use crate::tablebase::solve::cpu::task::{Keep, Task};
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::needs::together;
use crate::tablebase::solve::observer::{Observer, Unobserved};
use crate::tablebase::solve::progress::{CountProgress, Reporter};
use crate::tablebase::{ClassId, Classes, MemoryNeed, WIDTH};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

/// Solves classes on the threads of the current rayon pool.
#[derive(Clone)]
pub struct CpuBackend {
    level: CpuLevel,
    /// The directory for the conversions; `None` to keep them in memory.
    spill: Option<PathBuf>,
    /// The buffers that are kept from one class to the next.
    pool: BufferPool,
    /// Receives the progress of each class.
    follow: Option<Arc<OwnFollow>>,
}

/// As [`Follow`](crate::tablebase::Follow), owned.
type OwnFollow = dyn Fn(CountProgress) -> ControlFlow<()> + Send + Sync;

impl fmt::Debug for CpuBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CpuBackend").field("level", &self.level).field("spill", &self.spill).finish_non_exhaustive()
    }
}

impl CpuBackend {
    /// A backend that uses the instructions of `level`.
    #[must_use]
    pub fn new(level: CpuLevel) -> CpuBackend {
        CpuBackend { level, spill: None, pool: BufferPool::default(), follow: None }
    }

    /// Keeps the conversions of classes in temporary files in `dir`, not in memory. The files have no name, so none is
    /// left behind, however the program ends.
    #[must_use]
    pub fn spilling(self, dir: PathBuf) -> CpuBackend {
        CpuBackend { spill: Some(dir), ..self }
    }

    /// Reports the progress of each class that it solves. A callback that returns [`ControlFlow::Break`] ends the job with
    /// [`SolveError::Stopped`].
    #[must_use]
    pub fn following(self, follow: impl Fn(CountProgress) -> ControlFlow<()> + Send + Sync + 'static) -> CpuBackend {
        CpuBackend { follow: Some(Arc::new(follow)), ..self }
    }

    /// Takes memory from this pool and returns it to this pool.
    #[must_use]
    pub(crate) fn with_pool(self, pool: BufferPool) -> CpuBackend {
        CpuBackend { pool, ..self }
    }

    /// The task of solving one class; nothing observes it.
    pub(crate) fn task<'a>(&'a self, classes: &'a Classes, id: ClassId, keep: Keep<'a>) -> Task<'a> {
        let range_rows = Entry::WORDS / WIDTH / BLOCK_ROWS * BLOCK_ROWS;
        Task {
            material: classes.get(id).representative,
            classes,
            keep,
            level: self.level,
            spill: self.spill.as_deref(),
            range_rows,
            pool: self.pool.clone(),
            observer: &Unobserved,
            watch: None,
        }
    }
}

/// Uses the instructions of [`CpuLevel::get`].
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
        let keep = if job.values { Keep::Log(None) } else { Keep::Counts };
        let mut ids: Vec<(Reverse<usize>, ClassId)> =
            job.ids.iter().map(|&id| (Reverse(self.host_bytes(job.classes, id, job.values)), id)).collect();
        // Starts with the largest class, so that the last classes to finish are small.
        ids.sort();
        let mut rest = &ids[..];
        while let Some(&(Reverse(largest), _)) = rest.first() {
            // A thread that waits within one class may begin another class, so only the size of the group limits the
            // number of classes in memory.
            let count = together(job.memory, largest, rayon::current_num_threads()).min(rest.len());
            let (group, others) = rest.split_at(count);
            self.pool.limit(job.memory, job.memory.saturating_sub(count * largest) / count);
            let solve = |&(_, id): &(Reverse<usize>, ClassId)| {
                job.begin(id);
                let reporter = self.follow.as_deref().map(|follow| Reporter::new(follow));
                let observer: &dyn Observer = reporter.as_ref().map_or(&Unobserved, |reporter| reporter);
                let task = Task { observer, ..self.task(job.classes, id, keep) };
                sink(id, solve(task, job.tables)?)
            };
            group.par_iter().with_max_len(1).try_for_each(solve)?;
            rest = others;
        }
        Ok(())
    }

    fn on_cpu(&self) -> OnCpu {
        OnCpu::Everything
    }

    fn host_bytes(&self, classes: &Classes, id: ClassId, values: bool) -> usize {
        MemoryNeed::of_job(classes, id, values).without_captures(self.spill.is_some())
    }
}
