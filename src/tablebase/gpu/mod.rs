//! The iteration on a graphics card: the same passes over the same planes as in `pass`, many classes at once, and the same
//! values and counts, cell by cell. See `shaders/` for the kernels.
//!
//! A batch of classes is planned here, its smaller classes' values go to the card, and from then on the card works by
//! itself: seeds, passes, counts, values. The program only looks, every few passes, whether rows are left to look at.

mod plan;

use super::class::Classes;
use super::pass::Solved;
use super::value::Cells;
use super::{ClassId, Stats, Table};
use crate::board::{ByColor, Color, NoMove};
use crate::gpu::{AdapterReport, Choice, Device, Dispatch, GpuError, Kernel, PARAMS_STRIDE};
use plan::{COUNT_UNDECIDED, COUNTS, MAX_CLASSES, MAX_DEPTH, Member, Plan};

/// Passes between two looks at what is left to do.
const PASSES_AT_ONCE: u16 = 16;

/// Storage buffers of the kernels, in order of their binding: whether they are only read.
const READ_ONLY: [bool; 6] = [true, true, false, false, false, false];

macro_rules! kernels {
    ($($name:ident),*) => {
        /// Name and text of each kernel.
        const SOURCES: &[(&str, &str)] =
            &[$((stringify!($name), include_str!(concat!("../../../shaders/", stringify!($name), ".wgsl")))),*];

        struct Kernels {
            $($name: Kernel),*
        }

        impl Kernels {
            fn new(device: &Device) -> Result<Kernels, GpuError> {
                let compile = |name: &str| {
                    let source = SOURCES.iter().find(|(n, _)| *n == name).expect("a kernel").1;
                    device.kernel(name, &with_prelude(source))
                };
                Ok(Kernels { $($name: compile(stringify!($name))?),* })
            }
        }
    };
}
kernels!(seeds, histogram, buckets, no_move, seed_pass, quiet_pass, finish);

fn with_prelude(source: &str) -> String {
    [&plan::constants(), include_str!("../../../shaders/prelude.wgsl"), source].concat()
}

/// Name and whole text of each compute shader.
#[must_use]
pub fn shaders() -> Vec<(&'static str, String)> {
    SOURCES.iter().map(|(name, source)| (*name, with_prelude(source))).collect()
}

/// A graphics card that solves classes.
pub struct Gpu {
    device: Device,
    kernels: Kernels,
    groups: u32,
}

/// What a batch of classes is solved from.
pub(crate) struct Batch<'a> {
    pub ids: &'a [ClassId],
    pub classes: &'a Classes,
    /// The solved smaller classes, by class.
    pub tables: &'a [Option<Table>],
    /// Whether to keep the values, or only the counts.
    pub keep: bool,
}

impl Gpu {
    /// Opens a card and compiles the kernels.
    pub fn open(choice: Choice) -> Result<Gpu, GpuError> {
        let device = Device::open(choice, &READ_ONLY)?;
        let kernels = Kernels::new(&device)?;
        // Work groups walk over the rows, so a few for each core or multiprocessor are enough.
        let groups = if device.report.is_software() { 32 } else { 8192 };
        Ok(Gpu { device, kernels, groups })
    }

    /// The card.
    #[must_use]
    pub fn adapter(&self) -> &AdapterReport {
        &self.device.report
    }

    /// Divides classes into batches that the card can hold.
    pub(crate) fn batches(&self, ids: &[ClassId], classes: &Classes) -> Vec<Vec<ClassId>> {
        // Side rows are numbered with 24 bits, cells and seeds with 32.
        let limit = self.device.max_binding().min(1 << 31);
        let mut batches: Vec<Vec<ClassId>> = Vec::new();
        let mut room = 0;
        for &id in ids {
            let bytes = plan::cell_bytes(classes.get(id).representative);
            if bytes > room || batches.last().is_none_or(|batch| batch.len() == MAX_CLASSES as usize) {
                batches.push(Vec::new());
                room = limit;
            }
            room = room.saturating_sub(bytes);
            batches.last_mut().expect("one is there").push(id);
        }
        batches
    }

    /// Solves a batch of classes, in order.
    pub(crate) fn solve(&self, batch: &Batch<'_>) -> Result<Vec<Solved>, GpuError> {
        // Nothing of an earlier failure is left.
        let _ = self.device.check();
        let what = |name: &str| {
            let material = batch.classes.get(batch.ids[0]).representative;
            match batch.ids.len() {
                1 => format!("{name} of {material}"),
                n => format!("{name} of {n} classes from {material} on"),
            }
        };
        let largest: u64 = batch.ids.iter().map(|&id| plan::cell_bytes(batch.classes.get(id).representative)).sum();
        let limit = self.device.max_binding().min(1 << 31);
        if largest > limit {
            return Err(GpuError::TooLarge { what: what("the table"), needed: largest, limit });
        }
        let tables = Tables::new(batch, self.device.max_binding())?;
        let plan = Plan::new(batch.ids, batch.classes, &|class, color| tables.offset(class, color));
        Run::new(self, batch, &plan, &tables, &what)?.solve()
    }
}

/// The values of the smaller classes that a batch needs, one after the other.
struct Tables {
    offsets: Vec<Option<ByColor<u32>>>,
    data: Vec<u32>,
}

impl Tables {
    fn new(batch: &Batch<'_>, limit: u64) -> Result<Tables, GpuError> {
        let mut needed: Vec<ClassId> = batch.ids.iter().flat_map(|&id| batch.classes.captures(id)).collect();
        needed.sort();
        needed.dedup();
        let mut this = Tables { offsets: vec![None; batch.tables.len()], data: Vec::new() };
        let cells = |id: ClassId| &batch.tables[id.0].as_ref().expect("smaller classes are solved first").cells;
        let bytes: u64 = needed.iter().map(|&id| 2 * cells(id).white.len() as u64).sum();
        if bytes > limit.min(u64::from(u32::MAX)) {
            return Err(GpuError::TooLarge { what: "the values of smaller classes".to_owned(), needed: bytes, limit });
        }
        this.data.reserve_exact(bytes as usize / 4);
        for id in needed {
            let mut at = [0; 2];
            for (at, color) in at.iter_mut().zip([Color::White, Color::Black]) {
                *at = 4 * this.data.len() as u32;
                match &cells(id)[color] {
                    Cells::Byte(cells) => {
                        this.data.extend(cells.as_chunks::<4>().0.iter().map(|&bytes| u32::from_le_bytes(bytes)));
                    }
                    Cells::Wide(_) => {
                        let what = batch.classes.get(id).representative.to_string();
                        return Err(GpuError::TooLong { what, plies: MAX_DEPTH });
                    }
                }
            }
            this.offsets[id.0] = Some(ByColor { white: at[0], black: at[1] });
        }
        Ok(this)
    }

    fn offset(&self, class: usize, color: Color) -> u32 {
        self.offsets[class].as_ref().expect("a capture of the batch")[color]
    }
}

/// A batch at work.
struct Run<'a> {
    gpu: &'a Gpu,
    batch: &'a Batch<'a>,
    plan: &'a Plan,
    /// All bound buffers but the parameters; the entries' may change.
    storage: Vec<wgpu::Buffer>,
    params: wgpu::Buffer,
    what: &'a dyn Fn(&str) -> String,
}

/// Positions in [`Run::storage`].
const CELLS: usize = 3;
const WORK: usize = 4;
const ENTRIES: usize = 5;

impl<'a> Run<'a> {
    fn new(
        gpu: &'a Gpu,
        batch: &'a Batch<'a>,
        plan: &'a Plan,
        tables: &Tables,
        what: &'a dyn Fn(&str) -> String,
    ) -> Result<Run<'a>, GpuError> {
        let device = &gpu.device;
        let plane = plan.side_rows as u64 * size_of::<super::quiet::Row>() as u64;
        let cells = plan.side_rows as u64 * super::ROW_CELLS as u64;
        let work = u64::from(plan::WORK_ROWS) + 5 * plan.side_rows as u64;
        let storage = vec![
            device.buffer_with(&what("the plan"), &plan.data)?,
            device.buffer_with(&what("the values of smaller classes"), &tables.data)?,
            device.buffer(&what("the planes"), 3 * plane)?,
            device.buffer(&what("the table"), cells)?,
            device.buffer(&what("the lists of rows"), 4 * work)?,
            device.buffer(&what("the seeds"), 0)?,
        ];
        let params = device.params(u64::from(MAX_DEPTH) + 1)?;
        Ok(Run { gpu, batch, plan, storage, params, what })
    }

    fn bind(&self) -> Result<wgpu::BindGroup, GpuError> {
        self.gpu.device.bind(&self.params, &self.storage.iter().collect::<Vec<_>>())
    }

    /// The parameters of each depth, given where its seeds are.
    fn write_params(&self, seeds: &[[u32; 2]]) {
        let plan = self.plan;
        let loses = u32::from(self.batch.classes.options().no_move == NoMove::Loss);
        let mut data = vec![0; (usize::from(MAX_DEPTH) + 1) * PARAMS_STRIDE as usize / 4];
        for (depth, set) in data.chunks_mut(PARAMS_STRIDE as usize / 4).enumerate() {
            let [from, to] = seeds.get(depth).copied().unwrap_or_default();
            set[..11].copy_from_slice(&[
                depth as u32,
                self.gpu.groups,
                plan.side_rows as u32,
                plan.records,
                plan.sides,
                plan.crossed,
                plan.crossing,
                plan.worth,
                from,
                to,
                loses,
            ]);
        }
        self.gpu.device.write(&self.params, 0, &data);
    }

    fn dispatch(&self, kernel: &'a Kernel, depth: u16) -> Dispatch<'a> {
        Dispatch { kernel, params: u32::from(depth) * PARAMS_STRIDE as u32, groups: self.gpu.groups }
    }

    /// Some of the fixed counters.
    fn counters(&self, first: u32, count: u32) -> Result<Vec<u32>, GpuError> {
        let bytes = |n: u32| u64::from(n) * 4;
        self.gpu.device.read(&self.storage[WORK], bytes(first), bytes(count), |bytes| {
            bytes.as_chunks::<4>().0.iter().map(|&b| u32::from_le_bytes(b)).collect()
        })
    }

    fn solve(mut self) -> Result<Vec<Solved>, GpuError> {
        let device = &self.gpu.device;
        let kernels = &self.gpu.kernels;
        self.write_params(&[]);
        device.submit(&self.bind()?, &[self.dispatch(&kernels.seeds, 0), self.dispatch(&kernels.histogram, 0)]);

        // Seeds of one depth lie together, in the order of depth.
        let histogram = self.counters(plan::WORK_HISTOGRAM, 256)?;
        let mut seeds = vec![[0; 2]; 256];
        let mut cursors = [0; 256];
        let mut total = 0u32;
        for (depth, range) in seeds.iter_mut().enumerate().skip(1) {
            let worth = (1..256).find(|&w| w != plan::WORTH_HOLD as usize && plan::depth_of_worth(w) == depth);
            let Some(worth) = worth else { continue };
            cursors[worth] = total;
            let from = total;
            total += histogram[worth];
            *range = [from, total];
        }
        let last_seed = seeds.iter().rposition(|[from, to]| from < to).unwrap_or(0) as u16;
        if last_seed > MAX_DEPTH {
            return Err(self.too_long());
        }
        self.storage[ENTRIES] = device.buffer(&(self.what)("the seeds"), 12 * u64::from(total))?;
        device.write(&self.storage[WORK], 4 * u64::from(plan::WORK_CURSORS), &cursors);
        self.write_params(&seeds);
        let group = self.bind()?;
        device.submit(&group, &[self.dispatch(&kernels.buckets, 0), self.dispatch(&kernels.no_move, 0)]);

        let mut done = 0;
        loop {
            if done == MAX_DEPTH {
                return Err(self.too_long());
            }
            let mut passes = Vec::new();
            let upto = (done + PASSES_AT_ONCE).min(MAX_DEPTH);
            for depth in done + 1..=upto {
                let [from, to] = seeds[usize::from(depth)];
                if from < to {
                    passes.push(self.dispatch(&kernels.seed_pass, depth));
                }
                passes.push(self.dispatch(&kernels.quiet_pass, depth));
            }
            device.submit(&group, &passes);
            done = upto;
            let live = self.counters(plan::WORK_LIVE, 256)?;
            if live[usize::from(done) + 1] == 0 && done >= last_seed {
                break;
            }
        }
        device.submit(&group, &[self.dispatch(&kernels.finish, 0)]);
        self.plan.members.iter().enumerate().map(|(i, member)| self.solved(i as u32, member)).collect()
    }

    fn too_long(&self) -> GpuError {
        GpuError::TooLong { what: (self.what)("the table"), plies: MAX_DEPTH }
    }

    /// Fetches one class.
    fn solved(&self, i: u32, member: &Member) -> Result<Solved, GpuError> {
        let counts = self.counters(plan::WORK_COUNTS + 2 * i * COUNTS, 2 * COUNTS)?;
        let stats = |counts: &[u32]| {
            let no_move = u64::from(counts[0]);
            let undecided = u64::from(counts[COUNT_UNDECIDED as usize]);
            let draws_too = self.batch.classes.options().no_move == NoMove::Draw;
            let mut stats =
                Stats { no_move, draws: undecided - if draws_too { no_move } else { 0 }, by_plies: Vec::new() };
            for (plies, &count) in (0..=MAX_DEPTH).zip(counts).skip(1).filter(|(_, count)| **count > 0) {
                stats.add_decided(plies, u64::from(count));
            }
            stats
        };
        let (white, black) = counts.split_at(COUNTS as usize);
        let stats = ByColor { white: stats(white), black: stats(black) };
        let cells = || -> Result<Table, GpuError> {
            let size = member.cells();
            let at = member.first as u64 * super::ROW_CELLS as u64;
            self.gpu.device.read(&self.storage[CELLS], at, 2 * size as u64, |bytes| {
                let (white, black) = bytes.split_at(size);
                Table { cells: ByColor { white: Cells::Byte(white.to_vec()), black: Cells::Byte(black.to_vec()) } }
            })
        };
        let table = if self.batch.keep { Some(cells()?) } else { None };
        debug_assert_eq!(member.material, self.batch.classes.get(member.id).representative);
        Ok(Solved { stats, table })
    }
}
