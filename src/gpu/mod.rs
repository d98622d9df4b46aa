//! A GPU through wgpu: adapters and their limits, buffers, kernels, errors. Knows no game.

mod device;
mod error;

pub use device::{AdapterChoice, AdapterReport, adapters};
pub(crate) use device::{Bound, Device, Kernel, Layout, PARAMS_STRIDE, Part, Step};
pub use error::GpuError;
