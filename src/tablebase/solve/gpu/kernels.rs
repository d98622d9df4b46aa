//! The kernels of the tables as they are compiled for one kind of batch.

use crate::gpu::{Device, GpuError, Kernel, Layout, Step};
use crate::shaders::{TABLE_KERNELS, compose};
use std::time::{Duration, Instant};

/// Buffers of smaller classes' values that a kernel sees.
pub(super) const TABLE_BUFFERS: usize = 4;

/// What a set of kernels is compiled for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Variant {
    /// Sums are made within subgroups first.
    pub subgroups: bool,
    /// Two bytes a cell.
    pub wide: bool,
    /// Whether values are kept.
    pub keep: bool,
    /// Buffers of the smaller classes' values.
    pub tables: usize,
    /// Whether the kernels note what they read and write.
    pub trace: bool,
}

/// For each storage buffer of `shaders/tables.wgsl` whether it is only read.
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
        // By their numbers in `shaders/tables.wgsl`.
        let overrides = [tables as f64, f64::from(u8::from(keep)), f64::from(u8::from(wide))];
        let kernel =
            |&(name, source): &(&str, &str)| device.kernel(&layout, name, &compose(source, &defined), &overrides);
        let kernels: Vec<Kernel> = TABLE_KERNELS.iter().map(kernel).collect::<Result<_, GpuError>>()?;
        let Ok([init, pass, finish]) = <[Kernel; 3]>::try_from(kernels) else { unreachable!("three kernels") };
        // Some drivers compile a kernel when it first runs. Without rows it does nothing but count its visits.
        let params = device.params(1)?;
        let buffers = read_only(trace).iter().map(|_| device.buffer("nothing", 4096)).collect::<Result<Vec<_>, _>>()?;
        let bound = device.bind(&layout, &params, &buffers.iter().collect::<Vec<_>>())?;
        device.submit([&init, &pass, &finish].map(|kernel| Step { kernel, bound: &bound, params: 0, groups: 1 }));
        device.wait()?;
        Ok(KernelSet { variant, layout, init, pass, finish, compiling: start.elapsed() })
    }
}
