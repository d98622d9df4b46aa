//! The iteration on a GPU: the same passes over the same planes as on the CPU, for many classes at once. Values and
//! counts equal the CPU's, cell by cell. See `shaders/` for the kernels.
//!
//! The CPU plans a batch of classes while the GPU solves the batch before it and the host fetches the values of the
//! batch before that. The host copies the smaller classes' values to the GPU. After that the GPU computes everything:
//! conversions, passes, counts and values. The host only reads the counters, every few passes.
//!
//! The kernels need no more than every adapter with WebGPU guarantees: eight storage buffers, and 128 MiB in each for classes of
//! five pieces. No buffer is larger than the adapter's limit. A plane of both sides to move is one buffer, or two if it is too
//! large. Conversions and codes take more, so the rows are divided into *pages* with separate buffers for these, and kernels run
//! page by page: a [`script`](script::Script) lists their dispatches, and a [`Run`] carries it out.

// The GPU of a browser cannot be waited for.
#[cfg(not(target_family = "wasm"))]
mod backend;
mod kernels;
mod plan;
mod run;
mod script;
mod tables;
mod times;

use crate::clock::Instant;
use crate::gpu::{AdapterChoice, AdapterReport, Device, GpuError};
use crate::tablebase::class::Classes;
use crate::tablebase::solve::backend::{DeviceWork, Job};
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::needs::gpu::{BatchFormat, BatchNeeds, GPU_PLANE_ROW, host_bytes};
use crate::tablebase::solve::needs::solved_rows_of;
use crate::tablebase::solve::values::SolvedRows;
use crate::tablebase::value::Cells;
use crate::tablebase::{ClassId, Options, Solver};
use kernels::{Kernels, table_buffers};
use plan::{Plan, TableId};
#[cfg(not(target_family = "wasm"))]
use pollster::block_on;
use run::{Done, FetchError, MAX_PLIES, Run};
use script::Pace;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use tables::{Tables, bytes_of, captured};
pub use times::{GpuTimes, WorkTime};

/// Limits below the adapter's, for tests of the behaviour beyond them.
#[derive(Copy, Clone, Debug)]
pub struct GpuLimits {
    /// Bytes of the largest buffer of codes, conversions, or values of smaller classes.
    pub buffer: u64,
    /// The longest line in plies for which a cell has one byte, 253 at most.
    pub byte_plies: u16,
    /// Whether kernels may add up within subgroups.
    pub subgroups: bool,
    /// Bytes of all buffers, once the kernels are checked.
    pub memory: u64,
    /// The most work of a submission, in rows of a pass. Drivers end submissions that take more than about two seconds, and
    /// lose the device, so the first ones are measured, and the others take less than half a second.
    pub submitted_rows: usize,
    /// Whether to use no more than the limits that WebGPU guarantees.
    pub guaranteed: bool,
    /// The number of submissions, once the kernels are checked, after which the loss of the device is simulated; 0 for never.
    pub lost_after: u32,
    /// A part of the kernels' text, and what replaces it, to simulate a driver that compiles them wrongly.
    pub planted: Option<[&'static str; 2]>,
}

impl GpuLimits {
    /// No limits except the adapter's.
    pub const NONE: GpuLimits = GpuLimits {
        buffer: u64::MAX,
        byte_plies: Cells::BYTE_PLIES,
        subgroups: true,
        memory: u64::MAX,
        submitted_rows: 1 << 26,
        guaranteed: false,
        lost_after: 0,
        planted: None,
    };
}

/// A GPU that solves classes.
pub struct Gpu {
    device: Arc<Device>,
    limits: GpuLimits,
    /// For cells of one byte and of two. Compiled when they are first needed.
    kernels: [Option<Arc<Kernels>>; 2],
    work: DeviceWork,
    times: Arc<GpuTimes>,
    /// The values of smaller classes on the GPU.
    tables: Option<Arc<Tables>>,
    /// The number of entries of the conversions that a batch of this job has taken for a row.
    entries_per_row: u64,
    trace: bool,
}

/// The number of entries that are first allocated for a row. Classes of four and five pieces take fewer. A batch that
/// takes more starts again with as many as it needs.
const ENTRIES_PER_ROW: u64 = 120;
/// The classes of three pieces with which kernels are checked, besides all of two: between them they have row pieces and lane pieces
/// of both sides, leaps, and rats that block them.
const CHECKED: [&str; 3] = ["LRvT", "TRvR", "EvLR"];
/// Bytes of the plan of a row for one side to move on the host, at most.
const PLANNED_ROW: u64 = 64;
/// The number of rows of a batch for one side to move: enough to keep a GPU busy. With the limits of most GPUs, the conversions of
/// such a batch are one page.
const BATCH_ROWS: u64 = 1 << 20;

impl Gpu {
    /// Opens a GPU.
    #[cfg(not(target_family = "wasm"))]
    pub fn open(choice: AdapterChoice) -> Result<Gpu, GpuError> {
        Gpu::open_limited(choice, GpuLimits::NONE)
    }

    /// As [`open`](Gpu::open), with limits below the adapter's.
    #[cfg(not(target_family = "wasm"))]
    pub fn open_limited(choice: AdapterChoice, limits: GpuLimits) -> Result<Gpu, GpuError> {
        block_on(Gpu::open_async(choice, limits))
    }

    /// As [`open_limited`](Gpu::open_limited), without blocking: for a browser, whose GPU works only while no other code
    /// runs.
    pub async fn open_async(choice: AdapterChoice, limits: GpuLimits) -> Result<Gpu, GpuError> {
        let device = Arc::new(Device::open(choice, limits.guaranteed).await?);
        Ok(Gpu::on(device, limits, [None, None]))
    }

    fn on(device: Arc<Device>, limits: GpuLimits, kernels: [Option<Arc<Kernels>>; 2]) -> Gpu {
        let (work, entries_per_row) = (DeviceWork::default(), ENTRIES_PER_ROW);
        // Those of the kernels, if they are shared.
        let times = kernels.iter().flatten().next().map_or_else(Arc::default, |kernels| kernels.times.clone());
        Gpu { device, limits, kernels, work, times, tables: None, entries_per_row, trace: false }
    }

    /// Solves classes whose captures lead to classes that `solver` has solved and keeps, and keeps their values there. As
    /// [`Solver::solve_some`], without blocking and without other threads.
    ///
    /// # Errors
    /// The error at the first class that cannot be solved. Classes that were solved before it are kept.
    pub async fn solve_into(&mut self, solver: &mut Solver, ids: &[ClassId]) -> Result<(), SolveError> {
        let (mut batches, job_tables) = self.begin(&solver.job(ids, true));
        while let Some(ids) = batches.pop() {
            let job = solver.job(&ids, true);
            let plan = Arc::new(Plan::new(&ids, job.classes, job_tables.clone()));
            let mut all = Vec::new();
            match self.solve_batch(&job, &plan).await {
                Ok(mut run) => match run
                    .fetch(|id, solved| {
                        all.push((id, solved.stats, solved.values.map(SolvedRows::into_table).transpose()?));
                        Ok(())
                    })
                    .await
                {
                    Ok(()) => {}
                    Err(FetchError::Refused(error)) => return Err(error),
                    Err(FetchError::Gpu(error)) => split_batch(error, run.left(), &job, &mut batches)?,
                },
                Err(error) => split_batch(error, ids.clone(), &job, &mut batches)?,
            }
            all.into_iter().for_each(|(id, stats, table)| solver.insert(id, stats, table));
        }
        Ok(())
    }

    /// Begins a job: its batches, the first one last, and the tables that captures of all its classes lead to.
    fn begin(&mut self, job: &Job<'_>) -> (Vec<Vec<ClassId>>, Arc<[TableId]>) {
        let Job { ids, classes, .. } = *job;
        let mut batches = batches(ids, classes, self.limit(), self.most_rows(job));
        batches.reverse();
        self.entries_per_row = ENTRIES_PER_ROW;
        (batches, captured(ids, classes).into())
    }

    /// The most rows of a batch for one side to move within the memory limit of a job: of three batches the host has plans, and
    /// two are in the memory of the GPU, which may be the host's.
    fn most_rows(&self, job: &Job<'_>) -> u64 {
        let values = job.ids.iter().map(|&id| host_bytes(&job.classes.get(id).index(), job.values)).max().unwrap_or(0);
        let row = 3 * PLANNED_ROW + 2 * self.shared_row_bytes(job.values);
        job.memory.saturating_sub(values) as u64 / row
    }

    /// Bytes of a row of both sides to move on the GPU, if its memory is the host's.
    fn shared_row_bytes(&self, values: bool) -> u64 {
        match self.adapter().kind {
            "software" | "integrated" => self.format(values, false, ENTRIES_PER_ROW).row_bytes(),
            _ => 0,
        }
    }

    /// Another solver on the same device, with other limits. Both use the same kernels, which are compiled now, if both
    /// add up within subgroups, or neither does. The limits of memory and the simulated loss are those of the device.
    #[cfg(not(target_family = "wasm"))]
    pub fn share(&mut self, limits: GpuLimits) -> Result<Gpu, GpuError> {
        let same = |limits: GpuLimits| (limits.subgroups, limits.planted);
        let kernels = if same(limits) == same(self.limits) && !self.trace {
            block_on(self.kernels(false))?;
            self.kernels.clone()
        } else {
            [None, None]
        };
        Ok(Gpu::on(self.device.clone(), limits, kernels))
    }

    /// Measures the time of every kernel from now on. Each submission then waits for its end, so the whole takes longer. Only one
    /// solver at a time may use the device.
    ///
    /// # Errors
    /// If the GPU cannot measure.
    #[cfg(not(target_family = "wasm"))]
    pub fn measure(&self) -> Result<Arc<GpuTimes>, GpuError> {
        block_on(self.device.time_steps())?;
        Ok(self.times.clone())
    }

    /// The adapter of the GPU.
    #[must_use]
    pub fn adapter(&self) -> &AdapterReport {
        &self.device.report
    }

    /// Bytes of the largest buffer.
    fn limit(&self) -> u64 {
        self.device.max_binding().min(self.limits.buffer)
    }

    async fn kernels(&mut self, wide: bool) -> Result<Arc<Kernels>, GpuError> {
        if let Some(kernels) = &self.kernels[usize::from(wide)] {
            return Ok(kernels.clone());
        }
        let kernels = Kernels::new(&self.device, &self.limits, self.trace, wide, self.times.clone()).await?;
        let kernels = Arc::new(kernels);
        self.work.compile_seconds += kernels.compile_seconds;
        self.kernels[usize::from(wide)] = Some(kernels.clone());
        Ok(kernels)
    }

    /// The format of a batch's buffers.
    fn format(&self, values: bool, wide: bool, entries_per_row: u64) -> BatchFormat {
        BatchFormat { values, wide, entries_per_row, limit: self.limit(), submitted_rows: self.limits.submitted_rows }
    }

    /// The needs of solving these classes, batch by batch.
    #[must_use]
    pub fn plan(&self, ids: &[ClassId], classes: &Classes, keep: bool) -> Vec<BatchNeeds> {
        let format = self.format(keep, false, ENTRIES_PER_ROW);
        let job_tables = captured(ids, classes);
        let needs = |batch: &Vec<ClassId>| {
            let own = captured(batch, classes);
            let tables = self.table_ids(classes, &job_tables, &own, format.wide);
            BatchNeeds::new(classes, batch, format, bytes_of(tables, classes, format.wide))
        };
        batches(ids, classes, self.limit(), BATCH_ROWS).iter().map(needs).collect()
    }

    /// Solves a batch of classes. Its values stay on the GPU.
    async fn solve_batch<'a>(&mut self, job: &Job<'a>, plan: &Arc<Plan>) -> Result<Run<'a>, GpuError> {
        let byte_plies = if job.values { self.limits.byte_plies.min(Cells::BYTE_PLIES) } else { MAX_PLIES };
        let metric = job.classes.metric();
        let fits_byte = |limit| metric.decided(false, limit) <= self.limits.byte_plies.min(Cells::BYTE_PLIES);
        if !job.classes.options().no_capture_limit.is_none_or(fits_byte) {
            self.check(true, job.classes).await?;
            return self.solve_cells(job, plan, true, MAX_PLIES).await;
        }
        self.check(false, job.classes).await?;
        match self.solve_cells(job, plan, false, byte_plies).await {
            // Tries again with two bytes a cell.
            Err(GpuError::TooLong { .. }) if byte_plies < MAX_PLIES => {
                self.check(true, job.classes).await?;
                self.solve_cells(job, plan, true, MAX_PLIES).await
            }
            solved => solved,
        }
    }

    /// Compares the kernels with the CPU before their first batch, in milliseconds: a driver may compile them wrongly.
    ///
    /// # Errors
    /// [`GpuError::Wrong`] if a count or a value differs.
    async fn check(&mut self, wide: bool, classes: &Classes) -> Result<(), GpuError> {
        let kernels = self.kernels(wide).await?;
        let is_limited = usize::from(classes.options().no_capture_limit.is_some());
        if kernels.checked[is_limited].load(Relaxed) {
            return Ok(());
        }
        let (work, entries_per_row) = (self.work, self.entries_per_row);
        let mut solver = Solver::new(classes.options(), 3, Options::default());
        let two = solver.classes().level(2).map(|(id, _)| id).collect();
        let three = CHECKED.map(|name| name.parse().ok().and_then(|material| solver.classes().member(material)));
        for ids in [two, three.into_iter().flatten().map(|member| member.class).collect::<Vec<_>>()] {
            solver.solve_some(&ids, true, &|_, _| ()).map_err(|error| GpuError::Failed(error.to_string()))?;
            let job = solver.job(&ids, true);
            let plan = Arc::new(Plan::new(&ids, job.classes, captured(&ids, job.classes).into()));
            let longest = if wide { MAX_PLIES } else { Cells::BYTE_PLIES };
            let mut run = self.solve_cells(&job, &plan, wide, longest).await?;
            let mut wrong = None;
            let fetched = run.fetch(|id, solved| {
                let same =
                    solver.class_stats(id) == Some(&solved.stats) && solver.table(id) == solved.table()?.as_ref();
                wrong = wrong.or((!same).then_some(id));
                Ok(())
            });
            match fetched.await {
                Ok(()) => {}
                Err(FetchError::Gpu(error)) => return Err(error),
                Err(FetchError::Refused(error)) => return Err(GpuError::Failed(error.to_string())),
            }
            if let Some(id) = wrong {
                let material = job.material(id);
                return Err(GpuError::Wrong(format!("the values of {material} are not those of the CPU")));
            }
        }
        // The values belong to this solver, and so little work has no pace.
        (self.tables, self.work, self.entries_per_row) = (None, work, entries_per_row);
        *kernels.pace.lock().unwrap_or_else(PoisonError::into_inner) = Pace::new(self.limits.submitted_rows);
        kernels.checked[is_limited].store(true, Relaxed);
        // The simulated limits are those of the batches.
        self.device.limit_memory(self.limits.memory);
        self.device.lose_after(self.limits.lost_after);
        Ok(())
    }

    /// Solves a batch of classes with cells of one byte or of two. Its values stay on the GPU.
    ///
    /// # Errors
    /// [`GpuError::TooLong`] if a line has more than `longest` plies.
    async fn solve_cells<'a>(
        &mut self,
        job: &Job<'a>,
        plan: &Arc<Plan>,
        wide: bool,
        longest: u16,
    ) -> Result<Run<'a>, GpuError> {
        let mut format = self.format(job.values, wide, self.entries_per_row);
        loop {
            let mut run = self.start(job, plan, format).await?;
            match run.solve(longest).await {
                Ok(Done::Solved) => {
                    self.work += run.work();
                    return Ok(run);
                }
                // Pages become smaller, and some may need more entries a row than the mean.
                Ok(Done::NeedsEntries(needed)) => {
                    format.entries_per_row = needed.max(format.entries_per_row) * 9 / 8 + 1;
                    self.entries_per_row = format.entries_per_row;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Allocates the buffers of a batch on the GPU; no kernel has run.
    async fn start<'a>(&mut self, job: &Job<'a>, plan: &Arc<Plan>, format: BatchFormat) -> Result<Run<'a>, GpuError> {
        let ids: Vec<ClassId> = plan.ids().collect();
        let tables = self.table_ids(job.classes, &plan.job_tables, &plan.tables, format.wide);
        let needed = BatchNeeds::new(job.classes, &ids, format, bytes_of(tables, job.classes, format.wide)).bytes;
        self.work.memory = self.work.memory.max(needed);
        let tables = self.tables(job, plan, format.wide).await?;
        let (needed, limit) = (tables.buffers.len() as u64, table_buffers(&self.device) as u64);
        if needed > limit {
            return Err(GpuError::TooManyBuffers { needed, limit });
        }
        let kernels = self.kernels(format.wide).await?;
        let start = Instant::now();
        let run = Run::new(self.device.clone(), kernels, *job, plan.clone(), &tables, format).await;
        self.times.add("buffers", 0, start.elapsed().as_secs_f64());
        run
    }

    /// The tables that are copied to the GPU for a batch: `job`, the ones that all classes of the job need, if they fit
    /// into one buffer, otherwise `batch`, the ones that this batch needs.
    fn table_ids<'t>(&self, classes: &Classes, job: &'t [TableId], batch: &'t [TableId], wide: bool) -> &'t [TableId] {
        if bytes_of(job, classes, wide) <= self.limit() { job } else { batch }
    }

    /// The values of the smaller classes on the GPU. The values from an earlier batch are used again if they suffice.
    async fn tables(&mut self, job: &Job<'_>, plan: &Plan, wide: bool) -> Result<Arc<Tables>, GpuError> {
        if let Some(tables) = &self.tables
            && tables.wide == wide
            && tables.have(&plan.tables)
        {
            return Ok(tables.clone());
        }
        // Frees the old values before new ones are allocated.
        self.tables = None;
        let ids = self.table_ids(job.classes, &plan.job_tables, &plan.tables, wide);
        let kernels = self.kernels(wide).await?;
        let start = Instant::now();
        let tables = Arc::new(Tables::sent(&self.device, job, ids, &kernels, self.limit()).await?);
        self.times.add("copying values", 0, start.elapsed().as_secs_f64());
        self.work.sent += bytes_of(ids, job.classes, wide);
        self.tables = Some(tables.clone());
        Ok(tables)
    }
}

/// Divides classes into batches of at most [`BATCH_ROWS`] and `most` rows for one side to move, whose planes for both sides fit into
/// a buffer of `limit` bytes; a class with more rows is a batch of its own.
fn batches(ids: &[ClassId], classes: &Classes, limit: u64, most: u64) -> Vec<Vec<ClassId>> {
    let mut batches: Vec<Vec<ClassId>> = Vec::new();
    let mut space = 0;
    for &id in ids {
        let rows = solved_rows_of(classes, id);
        if rows > space {
            batches.push(Vec::new());
            space = BATCH_ROWS.min(most).min(limit / (2 * GPU_PLANE_ROW));
        }
        space = space.saturating_sub(rows);
        batches.last_mut().expect("one is there").push(id);
    }
    batches
}

/// Divides the classes of a failed batch into two new batches, because a single class may be the reason.
///
/// # Errors
/// If the error is [final](GpuError::is_final), or there is a single class.
fn split_batch(
    error: GpuError,
    ids: Vec<ClassId>,
    job: &Job<'_>,
    batches: &mut Vec<Vec<ClassId>>,
) -> Result<(), SolveError> {
    let material = if let [id] = ids[..] { Some(job.material(id)) } else { None };
    if error.is_final() || material.is_some() {
        return Err(SolveError::Backend {
            material: material.filter(|_| !error.is_final()),
            reason: error.to_string(),
        });
    }
    let (first, second) = ids.split_at(ids.len() / 2);
    batches.extend([second.to_vec(), first.to_vec()]);
    Ok(())
}
