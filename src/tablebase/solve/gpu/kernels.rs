//! The kernels of the tables as they are compiled for one kind of batch.

use crate::gpu::{Device, GpuError, Kernel, Layout, Step};
use crate::shaders::{TABLE_KERNELS, compose};
use std::time::{Duration, Instant};

/// Buffers that a kernel sees of the plane that is read, and of the smaller classes' values.
pub(super) const SEEN_BUFFERS: u32 = 4;
pub(super) const TABLE_BUFFERS: u32 = 4;

/// What a set of kernels is compiled for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Variant {
    /// Sums are made within subgroups first.
    pub subgroups: bool,
    /// Two bytes a cell.
    pub wide: bool,
    /// Whether values are kept.
    pub keep: bool,
    /// Buffers of the plane that is read, and of the smaller classes' values.
    pub pages: u32,
    pub tables: u32,
}

fn value_bits(wide: bool) -> u32 {
    if wide { 12 } else { 8 }
}

/// Bytes of a cell.
pub(super) fn cell_bytes(wide: bool) -> u64 {
    if wide { 2 } else { 1 }
}

/// The longest line that the kernels count, and that cells hold for them.
pub(super) fn max_plies(wide: bool) -> u16 {
    (1 << value_bits(wide)) - 3
}

impl Variant {
    pub(super) fn value_bits(self) -> u32 {
        value_bits(self.wide)
    }

    /// Counters by value.
    pub(super) fn values(self) -> u32 {
        1 << self.value_bits()
    }

    /// Words that the codes of a word take.
    pub(super) fn code_stride(self) -> u32 {
        if self.wide { 16 } else { 8 }
    }

    /// The value of a draw, and of a win with this move.
    pub(super) fn draw(self) -> u32 {
        self.values() / 2
    }

    pub(super) fn win_at_once(self) -> u32 {
        self.values() - 1
    }

    /// Counters of a side: positions without a move, then by plies, then what no pass decided.
    pub(super) fn counts(self) -> u32 {
        self.values()
    }

    pub(super) fn max_plies(self) -> u16 {
        max_plies(self.wide)
    }

    /// The values of the kernels' overrides, by their numbers in `shaders/buffers.wgsl`.
    fn overrides(self) -> [f64; 4] {
        [self.pages.into(), self.tables.into(), u8::from(self.keep).into(), u8::from(self.wide).into()]
    }
}

/// For each storage buffer whether it is only read: plan, work, written, `conversion_plane`, codes, entries, then the
/// plane that is read and the smaller classes' values.
pub(super) fn read_only() -> Vec<bool> {
    (0..6 + SEEN_BUFFERS + TABLE_BUFFERS).map(|i| i == 0 || i >= 6).collect()
}

/// The kernels of a variant.
pub(super) struct KernelSet {
    pub variant: Variant,
    pub layout: Layout,
    kernels: Vec<(&'static str, Kernel)>,
    /// The time that compiling took.
    pub compiling: Duration,
}

impl KernelSet {
    pub(super) fn new(device: &Device, variant: Variant) -> Result<KernelSet, GpuError> {
        let start = Instant::now();
        let layout = device.layout(&read_only())?;
        let compile = |source| compose(source, variant.subgroups);
        let kernels: Vec<_> = TABLE_KERNELS
            .iter()
            .map(|&(name, source)| Ok((name, device.kernel(&layout, name, &compile(source), &variant.overrides())?)))
            .collect::<Result<_, GpuError>>()?;
        // Some drivers compile a kernel when it first runs.
        let params = device.params(1)?;
        let (read, written) = (device.buffer("nothing", 256)?, device.buffer("nothing", 256)?);
        let storage: Vec<_> =
            read_only().into_iter().map(|read_only| (if read_only { &read } else { &written }).into()).collect();
        let bound = device.bind(&layout, &params, &storage)?;
        let empty = |(_, kernel)| Step::Run { kernel, bound: &bound, params: 0, groups: [0, 1] };
        device.submit(kernels.iter().map(|(name, kernel)| empty((name, kernel))));
        device.wait()?;
        Ok(KernelSet { variant, layout, kernels, compiling: start.elapsed() })
    }

    pub(super) fn get(&self, name: &str) -> &Kernel {
        &self.kernels.iter().find(|(n, _)| *n == name).expect("a kernel's name").1
    }
}
