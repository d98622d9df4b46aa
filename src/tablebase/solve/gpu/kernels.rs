//! The table kernels, compiled for one kind of batch.

use crate::gpu::{Device, GpuError, Kernel, Layout, Step};
use crate::shaders::{TABLE_KERNELS, compose};
use std::time::{Duration, Instant};

/// The most buffers of smaller classes' values that are bound to a kernel.
pub(super) const TABLE_BUFFERS: usize = 4;

/// The compile-time settings of a set of kernels.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Variant {
    /// Whether the kernels add up within subgroups first.
    pub subgroups: bool,
    /// Whether a cell has two bytes.
    pub wide: bool,
    /// Whether the kernels store values.
    pub keep: bool,
    /// The number of buffers of smaller classes' values.
    pub tables: usize,
    /// Whether the kernels record their reads and writes.
    pub trace: bool,
}

/// Whether each storage buffer of `shaders/tables.wgsl` is read-only, in the order of the bindings.
pub(super) fn read_only(trace: bool) -> Vec<bool> {
    let all = [[true; 3].as_slice(), &[false; 8], &[true; TABLE_BUFFERS], if trace { &[false] } else { &[] }];
    all.concat()
}

/// The kernels of a variant.
pub(super) struct KernelSet {
    pub variant: Variant,
    pub layout: Layout,
    pub init: Kernel,
    pub pass: Kernel,
    pub finish: Kernel,
    /// The time that compiling took.
    pub compiling: Duration,
}

impl KernelSet {
    pub(super) fn new(device: &Device, variant: Variant) -> Result<KernelSet, GpuError> {
        let start = Instant::now();
        let Variant { subgroups, wide, keep, tables, trace } = variant;
        let layout = device.layout(&read_only(trace))?;
        let defined: Vec<&str> =
            [("SUBGROUPS", subgroups), ("TRACE", trace)].into_iter().filter(|x| x.1).map(|x| x.0).collect();
        // In the order of the ids in `shaders/tables.wgsl`.
        let overrides = [tables as f64, f64::from(u8::from(keep)), f64::from(u8::from(wide))];
        let kernel =
            |&(name, source): &(&str, &str)| device.kernel(&layout, name, &compose(source, &defined), &overrides);
        let kernels: Vec<Kernel> = TABLE_KERNELS.iter().map(kernel).collect::<Result<_, GpuError>>()?;
        let Ok([init, pass, finish]) = <[Kernel; 3]>::try_from(kernels) else { unreachable!("three kernels") };
        // Some drivers compile a kernel when it first runs. Without rows the kernels only count their visits.
        let params = device.params(1)?;
        let buffers = read_only(trace).iter().map(|_| device.buffer("nothing", 4096)).collect::<Result<Vec<_>, _>>()?;
        let bound = device.bind(&layout, &params, &buffers.iter().collect::<Vec<_>>())?;
        device.submit([&init, &pass, &finish].map(|kernel| Step { kernel, bound: &bound, params: 0, groups: 1 }));
        device.wait()?;
        Ok(KernelSet { variant, layout, init, pass, finish, compiling: start.elapsed() })
    }
}
