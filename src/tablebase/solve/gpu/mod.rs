//! The iteration on a GPU: the same passes over the same planes as in `pass`, many classes at once, and the same
//! values and counts, cell by cell. See `shaders/` for the kernels.
//!
//! A batch of classes is planned here, its smaller classes' values go to the GPU unless they were solved there, and
//! from then on the GPU works by itself: conversions, passes, counts, values. The program only looks, every few passes,
//! whether rows are left to look at.
//!
//! No buffer is larger than a kernel may see. The side rows of a batch come in *pages*: a page's rows have their codes
//! and their conversions in a buffer of their own, and kernels run page by page. The planes, which are smaller and read
//! by the rows of every page, are cut into fewer buffers, all of which a kernel sees.

mod kernels;
mod needs;
mod plan;
mod run;
mod tables;
#[cfg(test)]
mod twins;
mod work;

use crate::gpu::{AdapterChoice, AdapterReport, Device, GpuError};
use crate::tablebase::class::Classes;
use crate::tablebase::solve::backend::{Backend, DeviceWork, Job, Sink, SolveError};
use crate::tablebase::solve::cpu::quiet::Row;
use crate::tablebase::value::Cells;
use crate::tablebase::{ClassId, Index, ROW_CELLS, Table};
use kernels::{KernelSet, SEEN_BUFFERS, TABLE_BUFFERS, Variant, cell_bytes, read_only};
pub use needs::BatchNeeds;
use run::Run;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tables::{Tables, bytes_of, captured};

/// Bounds that are lower than the adapter's, for tests of what happens beyond them.
#[derive(Copy, Clone, Debug)]
pub struct GpuLimits {
    /// Bytes of the largest buffer of planes, codes, conversions, or values of smaller classes.
    pub buffer: u64,
    /// The longest line for which a cell has one byte, 253 at most.
    pub byte_plies: u16,
    /// Whether sums may be made within subgroups.
    pub subgroups: bool,
    /// Bytes of all buffers of a batch.
    pub memory: u64,
    /// After how many submissions the device is given up as if it were lost; 0 is never.
    pub lost_after: u32,
}

impl GpuLimits {
    /// No bounds but the adapter's.
    pub const NONE: GpuLimits =
        GpuLimits { buffer: u64::MAX, byte_plies: Cells::BYTE_PLIES, subgroups: true, memory: u64::MAX, lost_after: 0 };
}

/// A GPU that solves classes.
pub struct Gpu {
    device: Arc<Device>,
    limits: GpuLimits,
    sets: HashMap<Variant, Arc<KernelSet>>,
    work: DeviceWork,
    /// What is on the GPU of smaller classes, brought there or solved there.
    tables: Option<Arc<Tables>>,
}

/// What a batch of classes is solved from.
#[derive(Clone)]
pub(crate) struct Batch<'a> {
    pub ids: Arc<[ClassId]>,
    /// Classes that will follow, this batch's among them.
    pub upcoming: &'a [ClassId],
    pub classes: &'a Classes,
    /// The solved smaller classes, by class.
    pub tables: &'a [Option<Table>],
    /// Whether to keep the values, or only the counts.
    pub keep: bool,
}

/// Bytes of a plane's row.
const ROW_BYTES: u64 = size_of::<Row>() as u64;

impl Gpu {
    /// Opens a GPU.
    pub fn open(choice: AdapterChoice) -> Result<Gpu, GpuError> {
        Gpu::open_limited(choice, GpuLimits::NONE)
    }

    /// The same, but with less room than the GPU has.
    pub fn open_limited(choice: AdapterChoice, limits: GpuLimits) -> Result<Gpu, GpuError> {
        let device = Arc::new(Device::open(choice, read_only().len() as u32)?);
        device.lose_after(limits.lost_after);
        Ok(Gpu { device, limits, sets: HashMap::new(), work: DeviceWork::default(), tables: None })
    }

    /// The GPU.
    #[must_use]
    pub fn adapter(&self) -> &AdapterReport {
        &self.device.report
    }

    /// The time spent so far on compiling kernels, which happens when they are first needed.
    fn compile_time(&self) -> Duration {
        self.sets.values().map(|set| set.compiling).sum()
    }

    /// Bytes of the largest buffer.
    fn limit(&self) -> u64 {
        // Cells, words and conversions are numbered with 32 bits.
        self.device.max_binding().min(1 << 31).min(self.limits.buffer)
    }

    fn variant(&self, keep: bool, wide: bool, pages: u32, tables: u32) -> Variant {
        let subgroups = self.device.subgroups && self.limits.subgroups;
        Variant { subgroups, wide, keep, pages, tables }
    }

    fn set(&mut self, variant: Variant) -> Result<Arc<KernelSet>, GpuError> {
        if let Some(set) = self.sets.get(&variant) {
            return Ok(set.clone());
        }
        let set = Arc::new(KernelSet::new(&self.device, variant)?);
        self.sets.insert(variant, set.clone());
        Ok(set)
    }

    /// Side rows of a page.
    fn page_rows(&self, wide: bool) -> u64 {
        page_rows(self.limit(), wide)
    }

    /// Divides classes into batches that the GPU can hold.
    fn batches(&self, ids: &[ClassId], classes: &Classes) -> Vec<Vec<ClassId>> {
        batches(ids, classes, self.page_rows(false))
    }

    /// Solves a batch of classes. Its values stay on the GPU.
    fn solve_batch<'a>(&mut self, batch: &Batch<'a>) -> Result<Run<'a>, GpuError> {
        // Nothing of an earlier failure is left.
        let _ = self.device.check();
        let mut page_rows = self.page_rows(false);
        let mut wide = false;
        loop {
            match self.solve_with(batch, wide, page_rows) {
                // Two bytes a cell.
                Err(GpuError::TooLong { .. }) if !wide => {
                    wide = true;
                    page_rows = page_rows.min(self.page_rows(true));
                }
                // A page with more conversions than one buffer takes.
                Err(GpuError::TooLarge { .. }) if page_rows > 64 => page_rows = page_rows / 128 * 64,
                result => return result,
            }
        }
    }

    fn solve_with<'a>(&mut self, batch: &Batch<'a>, wide: bool, page_rows: u64) -> Result<Run<'a>, GpuError> {
        let byte_plies = if wide { Cells::BYTE_PLIES } else { self.limits.byte_plies };
        let limit = self.limit();
        let mut run = self.start(batch, wide, page_rows)?;
        run.solve(byte_plies, limit)?;
        self.work += run.work()?;
        Ok(run)
    }

    /// A batch on the GPU, with nothing done yet.
    fn start<'a>(&mut self, batch: &Batch<'a>, wide: bool, page_rows: u64) -> Result<Run<'a>, GpuError> {
        let needed = self.needs(batch, wide, page_rows).bytes;
        if needed > self.limits.memory {
            return Err(GpuError::OutOfMemory(format!(
                "{needed} bytes are needed, and {} allowed",
                self.limits.memory
            )));
        }
        let tables = self.tables(batch, wide)?;
        let seen_rows = self.seen_rows(page_rows);
        let side_rows: u64 =
            batch.ids.iter().map(|&id| plan::side_rows(batch.classes.get(id).representative) as u64).sum();
        let pages = side_rows.div_ceil(seen_rows);
        let variant = self.variant(batch.keep, wide, pages as u32, tables.buffers.len() as u32);
        for (needed, most) in [(variant.pages, SEEN_BUFFERS), (variant.tables, TABLE_BUFFERS)] {
            if needed > most {
                return Err(GpuError::TooManyBuffers { needed: needed.into(), limit: most.into() });
            }
        }
        let set = self.set(variant)?;
        Run::new(self.device.clone(), set, batch.clone(), tables, page_rows as usize, seen_rows as usize)
    }

    /// Side rows of a buffer of the plane that is read.
    fn seen_rows(&self, page_rows: u64) -> u64 {
        (self.limit() / ROW_BYTES / page_rows).max(1) * page_rows
    }

    /// The smaller classes whose values a batch needs on the GPU: those of all classes that will follow, if they fit into
    /// one buffer, else its own.
    fn table_ids(&self, batch: &Batch<'_>, wide: bool) -> Vec<ClassId> {
        let upcoming = captured(batch.upcoming, batch.classes);
        let fits = bytes_of(&upcoming, batch.classes, wide) <= self.limit();
        if fits { upcoming } else { captured(&batch.ids, batch.classes) }
    }

    /// Bytes of the smaller classes' values that a batch needs on the GPU.
    fn table_bytes(&self, batch: &Batch<'_>, wide: bool) -> u64 {
        bytes_of(&self.table_ids(batch, wide), batch.classes, wide)
    }

    /// The values of the smaller classes on the GPU. What is there for a batch before stays if it is enough.
    fn tables(&mut self, batch: &Batch<'_>, wide: bool) -> Result<Arc<Tables>, GpuError> {
        if let Some(tables) = &self.tables
            && tables.wide == wide
            && tables.have(&captured(&batch.ids, batch.classes))
        {
            return Ok(tables.clone());
        }
        // What was there makes room first.
        self.tables = None;
        let ids = self.table_ids(batch, wide);
        let tables = Arc::new(Tables::sent(&self.device, batch, &ids, wide, self.limit())?);
        self.work.sent += tables.buffers.iter().map(wgpu::Buffer::size).sum::<u64>();
        self.tables = Some(tables.clone());
        Ok(tables)
    }
}

/// Side rows of a page: as many as have their codes in one buffer of `limit` bytes.
fn page_rows(limit: u64, wide: bool) -> u64 {
    let codes = ROW_CELLS as u64 * cell_bytes(wide);
    (limit / codes).clamp(64, 1 << 19) / 64 * 64
}

/// Divides classes into batches of one page, which keeps a GPU busy and may stay there for the next level; a class with more
/// side rows is a batch of its own.
fn batches(ids: &[ClassId], classes: &Classes, page_rows: u64) -> Vec<Vec<ClassId>> {
    let mut batches: Vec<Vec<ClassId>> = Vec::new();
    let mut room = 0;
    for &id in ids {
        let rows = plan::side_rows(classes.get(id).representative) as u64;
        if rows > room {
            batches.push(Vec::new());
            room = page_rows;
        }
        room = room.saturating_sub(rows);
        batches.last_mut().expect("one is there").push(id);
    }
    batches
}

/// Puts classes that could not be solved together back as two batches, as one of many may be the reason.
fn smaller(
    error: GpuError,
    ids: Vec<ClassId>,
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
    /// Some classes of a job.
    pub(crate) fn of<'a>(job: &Job<'a>, ids: &[ClassId]) -> Batch<'a> {
        Batch { ids: ids.into(), upcoming: job.ids, classes: job.classes, tables: job.tables, keep: job.values }
    }
}

impl Backend for Gpu {
    fn name(&self) -> String {
        self.adapter().name.clone()
    }

    /// While a batch is solved, the values of the one before come back from the GPU.
    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
        let mut batches = self.batches(job.ids, job.classes);
        batches.reverse();
        let mut before: Option<(Vec<ClassId>, Run<'_>)> = None;
        // What stays on the GPU for the next level, if all of it fits where a kernel can see it.
        let fits = job.values && bytes_of(job.ids, job.classes, false) <= self.limit();
        let mut made = fits.then(Tables::default);
        loop {
            let ids = batches.pop();
            let alone = before.is_none();
            let (solved, fetched) = std::thread::scope(|scope| {
                let fetching = before.take().map(|(ids, run)| (ids, scope.spawn(move || run.fetch())));
                let solved = ids.as_ref().map(|ids| self.solve_batch(&Batch::of(job, ids)));
                (solved, fetching.map(|(ids, thread)| (ids, thread.join())))
            });
            if let Some((ids, fetched)) = fetched {
                match fetched.unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                    Ok(solved) => {
                        ids.iter().zip(solved).try_for_each(|(&id, solved)| sink(id, solved))?;
                    }
                    Err(error) => smaller(error, ids, job, &mut batches)?,
                }
            }
            if matches!(solved, Some(Err(_))) {
                // It may have been one thing too many.
                made = None;
            }
            match (solved, ids) {
                (Some(Ok(run)), Some(ids)) => {
                    made = made.and_then(|made| run.add_to(made));
                    before = Some((ids, run));
                }
                // What was still there of the batch before may have been the reason.
                (Some(Err(error)), Some(ids)) if !alone && !matches!(error, GpuError::Lost(_)) => batches.push(ids),
                (Some(Err(error)), Some(ids)) => smaller(error, ids, job, &mut batches)?,
                _ if batches.is_empty() => break,
                _ => {}
            }
        }
        if let Some(made) = made.filter(|made| made.have(job.ids)) {
            self.tables = Some(Arc::new(made));
        }
        Ok(())
    }

    /// What comes back from the GPU.
    fn host_bytes(&self, index: &Index, values: bool) -> usize {
        if values { 3 * ROW_CELLS * index.rows } else { 0 }
    }

    fn work(&self) -> Option<DeviceWork> {
        Some(DeviceWork { compile_seconds: self.compile_time().as_secs_f64(), ..self.work })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;

    /// The codes of a page fill the buffer that they may fill, but for less than 64 rows.
    #[test]
    fn the_codes_of_a_page_fill_a_buffer() {
        assert_eq!(page_rows(1 << 20, false), 256);
        for (limit, wide) in [(1 << 20, true), (10_000_000, false), (128 << 20, false), (128 << 20, true)] {
            let row = ROW_CELLS as u64 * cell_bytes(wide);
            let codes = page_rows(limit, wide) * row;
            assert!(codes <= limit && limit < codes + 64 * row, "{limit}: {codes}");
        }
        // Rows enough for a work group, and cells that 32 bits number.
        assert_eq!((page_rows(0, false), page_rows(u64::MAX, false)), (64, 1 << 19));
    }

    /// A level whose values fit into one buffer is one batch of one page, so that all of it can stay on the GPU.
    #[test]
    fn a_level_that_fits_a_buffer_is_one_page() {
        let classes = Classes::new(&RuleOptions::PAPER, 4);
        for pieces in 3..=4 {
            let ids: Vec<ClassId> = classes.level(pieces).map(|(id, _)| id).collect();
            let bytes = bytes_of(&ids, &classes, false);
            let page = |limit: u64| page_rows(limit, false);
            let fits = bytes.next_multiple_of((64 * ROW_CELLS) as u64);
            assert_eq!(batches(&ids, &classes, page(fits)).concat(), ids);
            assert_eq!(batches(&ids, &classes, page(fits)).len(), 1, "{pieces} pieces");
            assert!(batches(&ids, &classes, page(bytes / 2)).len() > 1, "{pieces} pieces");
        }
    }
}
