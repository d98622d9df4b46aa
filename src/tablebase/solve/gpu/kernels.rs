//! The compiled table kernels.

use crate::gpu::{Device, GpuError, Kernel, Layout, Step};
use crate::shaders::compose;
use std::time::Instant;

/// The most buffers of smaller classes' values that are bound to a kernel.
pub(super) const TABLE_BUFFERS: usize = 4;

/// Whether each storage buffer of `shaders/tables.wgsl` is read-only, in the order of the bindings.
pub(super) fn read_only(trace: bool) -> Vec<bool> {
    let all = [[true; 3].as_slice(), &[false; 8], &[true; TABLE_BUFFERS], if trace { &[false] } else { &[] }];
    all.concat()
}

pub(super) struct Kernels {
    pub layout: Layout,
    pub init: Kernel,
    pub pass: Kernel,
    pub finish: Kernel,
    /// Whether the kernels record their reads and writes.
    pub trace: bool,
    /// The time that compiling took.
    pub compile_seconds: f64,
}

impl Kernels {
    pub(super) fn new(device: &Device, subgroups: bool, trace: bool) -> Result<Kernels, GpuError> {
        let start = Instant::now();
        let read_only = read_only(trace);
        let layout = device.layout(&read_only)?;
        let defined: Vec<&str> =
            [("SUBGROUPS", subgroups), ("TRACE", trace)].into_iter().filter(|x| x.1).map(|x| x.0).collect();
        let kernel = |name| device.kernel(&layout, name, &compose(name, &defined));
        let (init, pass, finish) = (kernel("init")?, kernel("pass")?, kernel("finish")?);
        // Some drivers compile a kernel when it first runs. Without rows the kernels only count their visits.
        let params = device.params(1)?;
        let buffers = read_only.iter().map(|_| device.buffer("nothing", 4096)).collect::<Result<Vec<_>, _>>()?;
        let bound = device.bind(&layout, &params, &buffers.iter().collect::<Vec<_>>())?;
        device.submit([&init, &pass, &finish].map(|kernel| Step { kernel, bound: &bound, params: 0, groups: 1 }))?;
        device.wait()?;
        Ok(Kernels { layout, init, pass, finish, trace, compile_seconds: start.elapsed().as_secs_f64() })
    }
}
