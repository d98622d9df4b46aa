//! A graphics card through wgpu: adapters and their limits, buffers, kernels, errors. Knows no game.

mod device;
mod error;

pub use device::{AdapterReport, Choice, adapters};
pub(crate) use device::{Device, Dispatch, Kernel, PARAMS_STRIDE};
pub use error::GpuError;
