//! The compiled table kernels.

use super::GpuLimits;
use super::script::{KernelName, Pace};
use super::times::GpuTimes;
use crate::board::NoMove;
use crate::clock::Instant;
use crate::gpu::{Buffer, Device, GpuError, Groups, Kernel, Layout, Step};
use crate::shaders::{GROUPS, Params, compose};
use bytemuck::Zeroable;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// The most buffers of smaller classes' values that are bound to a kernel, on GPUs that allow more than the eight buffers which
/// every GPU allows; and the number of buffers of `init` with that many.
const TABLE_BUFFERS: usize = 4;
const MOST_BUFFERS: u32 = 7 + TABLE_BUFFERS as u32;
/// The binding of the trace.
const TRACE: u32 = 16;

/// The bindings of a kernel, each with whether it is read-only: see `shaders/`.
fn bindings(kernel: KernelName, tables: usize) -> Vec<(u32, bool)> {
    let shared = [(1, true), (2, true), (3, false), (4, false), (5, false), (6, false), (7, false)];
    let own = |more: &[(u32, bool)]| [&shared, more].concat();
    match kernel {
        KernelName::Neighbours => vec![(1, true), (8, true), (9, true), (10, false)],
        KernelName::Init | KernelName::Finish => own(&(8..).map(|at| (at, true)).take(tables).collect::<Vec<_>>()),
        KernelName::List => vec![(3, false), (8, false)],
        KernelName::Pass => own(&[(8, true)]),
    }
}

pub(super) struct Kernels {
    /// By [`KernelName`].
    all: Vec<(Layout, Kernel)>,
    /// Replaces codes by ranks, before `init` reads them.
    ranks: (Layout, Kernel),
    /// Whether cells have two bytes.
    pub wide: bool,
    /// The most buffers of smaller classes' values.
    pub tables: usize,
    /// Whether the kernels record what they do.
    pub trace: bool,
    /// Whether they computed the values of the CPU.
    pub checked: [AtomicBool; 2],
    /// The work that the device does at once.
    pub pace: Mutex<Pace>,
    /// The times of kernels and of the host.
    pub times: Arc<GpuTimes>,
    /// The time that compiling took.
    pub compile_seconds: f64,
}

/// The most buffers of smaller classes' values on a device.
pub(super) fn table_buffers(device: &Device) -> usize {
    if device.storage_buffers() >= MOST_BUFFERS { TABLE_BUFFERS } else { 1 }
}

impl Kernels {
    pub(super) async fn new(
        device: &Device,
        limits: &GpuLimits,
        trace: bool,
        wide: bool,
        times: Arc<GpuTimes>,
    ) -> Result<Kernels, GpuError> {
        let start = Instant::now();
        let tables = table_buffers(device);
        let subgroups = device.subgroups && limits.subgroups;
        let options = [("SUBGROUPS", subgroups), ("TRACE", trace), ("TABLES", tables > 1), ("WIDE", wide)];
        let defined: Vec<&str> = options.into_iter().filter(|option| option.1).map(|option| option.0).collect();
        let text = |name: &str| {
            let text = compose(name, &defined);
            limits.planted.map_or(text.clone(), |[right, wrong]| text.replace(right, wrong))
        };
        let mut all = Vec::new();
        for name in KernelName::ALL {
            let mut bindings = bindings(name, tables);
            bindings.extend(trace.then_some((TRACE, false)));
            all.push(compiled(device, name.name(), &bindings, &text(name.name())).await?);
        }
        let ranks = compiled(device, "ranks", &[(8, false)], &text("ranks")).await?;
        device.wait().await?;
        let compile_seconds = start.elapsed().as_secs_f64();
        let (pace, checked) = (Mutex::new(Pace::new(limits.submitted_rows)), Default::default());
        Ok(Kernels { all, ranks, wide, tables, trace, checked, pace, times, compile_seconds })
    }

    /// Replaces the codes of this many cells by ranks; the cells have the width for which the kernels were compiled.
    pub(super) async fn rank(
        &self,
        device: &Device,
        table: &Buffer,
        cells: u64,
        no_move: NoMove,
    ) -> Result<(), GpuError> {
        let count = cells.div_ceil(32) as u32;
        let set = Params { count, no_move_loses: (no_move == NoMove::Loss).into(), ..Params::zeroed() };
        let params = device.params(1).await?;
        device.write(&params, 0, &[set]).await?;
        let (layout, kernel) = &self.ranks;
        let bound = device.bind(layout, &params, &[table]).await?;
        let groups = Groups::Fixed(count.div_ceil(64).clamp(1, GROUPS));
        device.submit([Step { kernel, bound: &bound, params: 0, groups }]).await.map(drop)
    }

    pub(super) fn layout(&self, name: KernelName) -> &Layout {
        &self.all[name as usize].0
    }

    pub(super) fn kernel(&self, name: KernelName) -> &Kernel {
        &self.all[name as usize].1
    }
}

/// Compiles the text of a kernel with these bindings.
async fn compiled(
    device: &Device,
    name: &str,
    bindings: &[(u32, bool)],
    text: &str,
) -> Result<(Layout, Kernel), GpuError> {
    let layout = device.layout(bindings).await?;
    let kernel = device.kernel(&layout, name, text).await?;
    // Some drivers compile a kernel when it first runs. Without rows it does nothing.
    let params = device.params(1).await?;
    let mut buffers: Vec<Buffer> = Vec::new();
    for _ in bindings {
        buffers.push(device.buffer("nothing", 64 << 10).await?);
    }
    let bound = device.bind(&layout, &params, &buffers.iter().collect::<Vec<_>>()).await?;
    device.submit([Step { kernel: &kernel, bound: &bound, params: 0, groups: Groups::Fixed(1) }]).await?;
    Ok((layout, kernel))
}
