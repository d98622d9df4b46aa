//! Solving jobs on a GPU and the threads of the CPU together.

use super::plan::Plan;
use super::run::{FetchError, Run};
use super::{Gpu, PLANNED_ROW, split_batch};
use crate::clock::Instant;
use crate::tablebase::solve::backend::{Backend, DeviceWork, Job, Sink};
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::needs::gpu::host_bytes;
use crate::tablebase::{ClassId, Classes};
use pollster::block_on;
use std::sync::Arc;

impl Backend for Gpu {
    fn name(&self) -> String {
        self.adapter().label()
    }

    /// While a batch is solved, the next one is planned, and the values of the one before are fetched from the GPU and passed on.
    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
        let (mut batches, job_tables) = self.begin(job);
        let times = self.times.clone();
        let plan = |ids: Vec<ClassId>| {
            let start = Instant::now();
            let plan = Arc::new(Plan::new(&ids, job.classes, job_tables.clone()));
            times.add("planning", 0, start.elapsed().as_secs_f64());
            plan
        };
        let mut next = batches.pop().map(plan);
        let mut before: Option<Run<'_>> = None;
        while next.is_some() || before.is_some() {
            let (now, mut fetching) = (next.take(), before.take());
            let alone = fetching.is_none();
            let upcoming = if now.is_some() { batches.pop() } else { None };
            let (mut solved, mut fetched) = (None, None);
            // The threads of the pool do this work, too, so their number limits it.
            rayon::in_place_scope(|scope| {
                if let Some(run) = fetching.as_mut() {
                    scope.spawn(|_| fetched = Some(block_on(run.fetch(sink))));
                }
                if let Some(ids) = upcoming {
                    scope.spawn(|_| next = Some(plan(ids)));
                }
                solved = now.as_ref().map(|plan| {
                    plan.ids().for_each(|id| job.begin(id));
                    block_on(self.solve_batch(job, plan))
                });
            });
            if let (Some(run), Some(fetched)) = (fetching, fetched) {
                match fetched {
                    Ok(()) => {}
                    Err(FetchError::Refused(error)) => return Err(error),
                    Err(FetchError::Gpu(error)) => split_batch(error, run.left(), job, &mut batches)?,
                }
            }
            match (solved, now) {
                (Some(Ok(run)), _) => before = Some(run),
                // The buffers of the batch before may have been the reason: tries this batch once more without them.
                (Some(Err(error)), Some(now)) if !alone && !error.is_final() => {
                    batches.extend(next.replace(now).map(|plan| plan.ids().collect()));
                }
                (Some(Err(error)), Some(plan)) => split_batch(error, plan.ids().collect(), job, &mut batches)?,
                _ => {}
            }
            if next.is_none() {
                next = batches.pop().map(plan);
            }
        }
        Ok(())
    }

    fn host_bytes(&self, classes: &Classes, id: ClassId, values: bool) -> usize {
        let index = &classes.get(id).index();
        host_bytes(index, values) + index.rows * (PLANNED_ROW + self.shared_row_bytes(values)) as usize
    }

    fn work(&self) -> Option<DeviceWork> {
        Some(self.work)
    }
}
