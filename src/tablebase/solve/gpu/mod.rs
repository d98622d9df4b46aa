//! The iteration on a GPU: the same passes over the same planes as on the CPU, for many classes at once. Values and
//! counts equal the CPU's, cell by cell. See `shaders/` for the kernels.
//!
//! The CPU plans a batch of classes while the GPU solves the batch before it and the host fetches the values of the
//! batch before that. The host copies the smaller classes' values to the GPU. After that the GPU computes everything:
//! conversions, passes, counts and values. The host only reads the counters, every few passes.
//!
//! No buffer is larger than the adapter's limit for a binding. Each plane of one side to move is one buffer.
//! Conversions and codes take more, so the rows of a side are divided into *pages* with separate buffers for these, and
//! kernels run page by page.

mod kernels;
mod plan;
mod run;
mod tables;

use crate::gpu::{AdapterChoice, AdapterReport, Device, GpuError};
use crate::tablebase::class::Classes;
use crate::tablebase::solve::backend::{Backend, DeviceWork, Job, Sink, SolveError};
use crate::tablebase::solve::memory::gpu::{BatchNeeds, GPU_PLANE_ROW, solved_rows};
use crate::tablebase::value::Cells;
use crate::tablebase::{ClassId, Index, ROW_CELLS, Table};
use kernels::{KernelSet, TABLE_BUFFERS, Variant, read_only};
use plan::Plan;
use run::{Done, MAX_PLIES, Run};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tables::{TableId, Tables, bytes_of, captured};

/// Limits below the adapter's, for tests of the behaviour beyond them.
#[derive(Copy, Clone, Debug)]
pub struct GpuLimits {
    /// Bytes of the largest buffer of codes, conversions, or values of smaller classes.
    pub buffer: u64,
    /// The longest line in plies for which a cell has one byte, 253 at most.
    pub byte_plies: u16,
    /// Whether kernels may add up within subgroups.
    pub subgroups: bool,
    /// Bytes of all buffers of a batch.
    pub memory: u64,
    /// The number of submissions after which the loss of the device is simulated; 0 for never.
    pub lost_after: u32,
}

impl GpuLimits {
    /// No limits except the adapter's.
    pub const NONE: GpuLimits =
        GpuLimits { buffer: u64::MAX, byte_plies: Cells::BYTE_PLIES, subgroups: true, memory: u64::MAX, lost_after: 0 };
}

/// A GPU that solves classes.
pub struct Gpu {
    device: Arc<Device>,
    limits: GpuLimits,
    sets: HashMap<Variant, Arc<KernelSet>>,
    work: DeviceWork,
    /// The values of smaller classes on the GPU.
    tables: Option<Arc<Tables>>,
    trace: bool,
}

/// A batch of classes, with the tables of the smaller classes.
#[derive(Clone)]
pub(crate) struct Batch<'a> {
    pub ids: Arc<[ClassId]>,
    /// All classes of the job, with those of this batch.
    pub upcoming: &'a [ClassId],
    pub classes: &'a Classes,
    /// The solved smaller classes, by class.
    pub tables: &'a [Option<Table>],
    /// Whether to keep the values, or only the counts.
    pub keep: bool,
}

/// The number of entries that are first allocated for a row. Classes of four and five pieces take fewer. A batch that
/// takes more starts again with as many as it needs.
const ENTRIES_PER_ROW: u64 = 256;
/// The number of rows of a batch for one side to move: enough to keep a GPU busy.
const BATCH_ROWS: u64 = 1 << 19;

/// Bytes of a cell.
fn cell_bytes(wide: bool) -> u64 {
    if wide { 2 } else { 1 }
}

impl Gpu {
    /// Opens a GPU.
    pub fn open(choice: AdapterChoice) -> Result<Gpu, GpuError> {
        Gpu::open_limited(choice, GpuLimits::NONE)
    }

    /// As [`open`](Gpu::open), with limits below the adapter's.
    pub fn open_limited(choice: AdapterChoice, limits: GpuLimits) -> Result<Gpu, GpuError> {
        let device = Arc::new(Device::open(choice, read_only(false).len() as u32)?);
        device.lose_after(limits.lost_after);
        Ok(Gpu { device, limits, sets: HashMap::new(), work: DeviceWork::default(), tables: None, trace: false })
    }

    /// The adapter of the GPU.
    #[must_use]
    pub fn adapter(&self) -> &AdapterReport {
        &self.device.report
    }

    /// The time spent so far on compiling kernels. They are compiled when they are first needed.
    fn compile_time(&self) -> Duration {
        self.sets.values().map(|set| set.compiling).sum()
    }

    /// Bytes of the largest buffer.
    fn limit(&self) -> u64 {
        self.device.max_binding().min(self.limits.buffer)
    }

    fn set(&mut self, variant: Variant) -> Result<Arc<KernelSet>, GpuError> {
        if let Some(set) = self.sets.get(&variant) {
            return Ok(set.clone());
        }
        let set = Arc::new(KernelSet::new(&self.device, variant)?);
        self.sets.insert(variant, set.clone());
        Ok(set)
    }

    /// The number of rows of a page for one side to move.
    fn page_rows(&self, keep: bool, wide: bool, entries_per_row: u64) -> u64 {
        let codes = if keep { ROW_CELLS as u64 * cell_bytes(wide) } else { 0 };
        (self.limit() / codes.max(8 * entries_per_row)).clamp(1, 1 << 31)
    }

    /// Divides classes into batches.
    fn batches(&self, ids: &[ClassId], classes: &Classes) -> Vec<Vec<ClassId>> {
        batches(ids, classes, BATCH_ROWS.min(self.limit() / GPU_PLANE_ROW))
    }

    /// The needs of solving these classes, batch by batch.
    #[must_use]
    pub fn plan(&self, ids: &[ClassId], classes: &Classes, keep: bool) -> Vec<BatchNeeds> {
        let tables = vec![None; classes.len()];
        let needs = |batch: &Vec<ClassId>| {
            let batch = Batch { ids: batch.as_slice().into(), upcoming: ids, classes, tables: &tables, keep };
            self.needs(&batch, false, ENTRIES_PER_ROW)
        };
        self.batches(ids, classes).iter().map(needs).collect()
    }

    /// The needs of a batch.
    fn needs(&self, batch: &Batch<'_>, wide: bool, entries_per_row: u64) -> BatchNeeds {
        let tables = bytes_of(&self.table_ids(batch, wide), batch.classes, wide);
        let codes = if batch.keep { cell_bytes(wide) } else { 0 };
        let page_rows = self.page_rows(batch.keep, wide, entries_per_row);
        BatchNeeds::new(batch.classes, &batch.ids, codes, 8 * entries_per_row, page_rows, tables)
    }

    /// Solves a batch of classes. Its values stay on the GPU.
    fn solve_batch<'a>(&mut self, batch: &Batch<'a>, plan: &Arc<Plan>) -> Result<Run<'a>, GpuError> {
        // Clears the error of an earlier failure.
        let _ = self.device.check();
        let (mut wide, mut entries_per_row) = (false, ENTRIES_PER_ROW);
        loop {
            let mut run = self.start(batch, plan, wide, entries_per_row)?;
            let byte_plies = self.limits.byte_plies.min(Cells::BYTE_PLIES);
            match run.solve(if batch.keep && !wide { byte_plies } else { MAX_PLIES }) {
                Ok(Done::Solved) => {
                    self.work += run.work();
                    return Ok(run);
                }
                // Pages become smaller, and some may need more entries a row than the mean.
                Ok(Done::NeedsEntries(needed)) => entries_per_row = needed.max(entries_per_row) * 9 / 8 + 1,
                // Tries again with two bytes a cell.
                Err(GpuError::TooLong { .. }) if !wide => wide = true,
                Err(error) => return Err(error),
            }
        }
    }

    /// Allocates the buffers of a batch on the GPU; no kernel has run.
    fn start<'a>(
        &mut self,
        batch: &Batch<'a>,
        plan: &Arc<Plan>,
        wide: bool,
        entries_per_row: u64,
    ) -> Result<Run<'a>, GpuError> {
        let needed = self.needs(batch, wide, entries_per_row).bytes;
        if needed > self.limits.memory {
            return Err(GpuError::OutOfMemory(format!(
                "{needed} bytes are needed, and {} allowed",
                self.limits.memory
            )));
        }
        let tables = self.tables(batch, wide)?;
        let (needed, limit) = (tables.buffers.len() as u64, TABLE_BUFFERS as u64);
        if needed > limit {
            return Err(GpuError::TooManyBuffers { needed, limit });
        }
        let subgroups = self.device.subgroups && self.limits.subgroups;
        let tables_bound = tables.buffers.len();
        let set = self.set(Variant { subgroups, wide, keep: batch.keep, tables: tables_bound, trace: self.trace })?;
        let page_rows = self.page_rows(batch.keep, wide, entries_per_row) as usize;
        Run::new(self.device.clone(), set, batch.clone(), plan.clone(), tables, page_rows, entries_per_row)
    }

    /// The smaller classes whose values are copied to the GPU for a batch: the ones that all classes of the job need,
    /// if they fit into one buffer, otherwise the ones that this batch needs.
    fn table_ids(&self, batch: &Batch<'_>, wide: bool) -> Vec<TableId> {
        let upcoming = captured(batch.upcoming, batch.classes);
        let fits = bytes_of(&upcoming, batch.classes, wide) <= self.limit();
        if fits { upcoming } else { captured(&batch.ids, batch.classes) }
    }

    /// The values of the smaller classes on the GPU. The values from an earlier batch are used again if they suffice.
    fn tables(&mut self, batch: &Batch<'_>, wide: bool) -> Result<Arc<Tables>, GpuError> {
        if let Some(tables) = &self.tables
            && tables.wide == wide
            && tables.have(&captured(&batch.ids, batch.classes))
        {
            return Ok(tables.clone());
        }
        // Frees the old values before new ones are allocated.
        self.tables = None;
        let ids = self.table_ids(batch, wide);
        let tables = Arc::new(Tables::sent(&self.device, batch, &ids, wide, self.limit())?);
        self.work.sent += tables.buffers.iter().map(wgpu::Buffer::size).sum::<u64>();
        self.tables = Some(tables.clone());
        Ok(tables)
    }
}

/// Divides classes into batches of at most `batch_rows` rows for one side to move; a class with more rows is a batch of
/// its own.
fn batches(ids: &[ClassId], classes: &Classes, batch_rows: u64) -> Vec<Vec<ClassId>> {
    let mut batches: Vec<Vec<ClassId>> = Vec::new();
    let mut space = 0;
    for &id in ids {
        let rows = solved_rows(classes, id);
        if rows > space {
            batches.push(Vec::new());
            space = batch_rows;
        }
        space = space.saturating_sub(rows);
        batches.last_mut().expect("one is there").push(id);
    }
    batches
}

/// Divides a failed batch into two new batches, because a single class may be the reason.
///
/// # Errors
/// If the device is lost, or the batch is a single class.
fn split_batch(
    error: GpuError,
    ids: &[ClassId],
    job: &Job<'_>,
    batches: &mut Vec<Vec<ClassId>>,
) -> Result<(), SolveError> {
    let reason = error.to_string();
    match ids[..] {
        _ if matches!(error, GpuError::Lost(_)) => Err(SolveError::Backend { material: None, reason }),
        [id] => Err(SolveError::Backend { material: Some(job.material(id)), reason }),
        _ => {
            let (first, second) = ids.split_at(ids.len() / 2);
            batches.extend([second.to_vec(), first.to_vec()]);
            Ok(())
        }
    }
}

impl Batch<'_> {
    /// The batch of some classes of a job.
    pub(crate) fn of<'a>(job: &Job<'a>, ids: &[ClassId]) -> Batch<'a> {
        Batch { ids: ids.into(), upcoming: job.ids, classes: job.classes, tables: job.tables, keep: job.values }
    }
}

impl Backend for Gpu {
    fn name(&self) -> String {
        self.adapter().name.clone()
    }

    /// While a batch is solved, the next one is planned and the values of the one before are fetched from the GPU.
    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
        let mut batches = self.batches(job.ids, job.classes);
        batches.reverse();
        let plan = |ids: Vec<ClassId>| (Batch::of(job, &ids), Arc::new(Plan::new(&ids, job.classes)));
        let mut next = batches.pop().map(plan);
        let mut before: Option<Run<'_>> = None;
        while next.is_some() || before.is_some() {
            let (now, fetching) = (next.take(), before.take());
            let alone = fetching.is_none();
            let upcoming = if now.is_some() { batches.pop() } else { None };
            let (solved, fetched) = std::thread::scope(|scope| {
                let fetched = fetching.as_ref().map(|run| scope.spawn(|| run.fetch()));
                let planned = upcoming.map(|ids| scope.spawn(move || plan(ids)));
                let solved = now.as_ref().map(|(batch, plan)| self.solve_batch(batch, plan));
                next = planned.map(joined);
                (solved, fetched.map(joined))
            });
            if let (Some(run), Some(fetched)) = (fetching, fetched) {
                match fetched {
                    Ok(solved) => run.ids().iter().zip(solved).try_for_each(|(&id, solved)| sink(id, solved))?,
                    Err(error) => split_batch(error, run.ids(), job, &mut batches)?,
                }
            }
            match (solved, now) {
                (Some(Ok(run)), _) => before = Some(run),
                // The buffers of the batch before may have been the reason: tries this batch once more without them.
                (Some(Err(error)), Some(now)) if !alone && !matches!(error, GpuError::Lost(_)) => {
                    batches.extend(next.replace(now).map(|(batch, _)| batch.ids.to_vec()));
                }
                (Some(Err(error)), Some((batch, _))) => split_batch(error, &batch.ids, job, &mut batches)?,
                _ => {}
            }
            if next.is_none() {
                next = batches.pop().map(plan);
            }
        }
        Ok(())
    }

    /// Bytes of the values that are fetched from the GPU.
    fn host_bytes(&self, index: &Index, values: bool) -> usize {
        if values { 3 * ROW_CELLS * index.rows } else { 0 }
    }

    fn work(&self) -> Option<DeviceWork> {
        Some(DeviceWork { compile_seconds: self.compile_time().as_secs_f64(), ..self.work })
    }
}

/// The result of a thread; continues its panic if it panicked.
fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
