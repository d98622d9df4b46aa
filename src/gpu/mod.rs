//! GPU access through wgpu, independent of the game: adapters and their limits, buffers, kernels, errors.

mod adapter;
mod device;
mod error;
mod pool;
mod transfer;

pub use adapter::{AdapterChoice, AdapterReport, adapters};
#[cfg(test)]
pub(crate) use device::tests::opened;
pub(crate) use device::{Bound, Device, Groups, Kernel, Layout, PARAMS_STRIDE, Step};
pub use error::GpuError;
pub(crate) use pool::Buffer;
pub(crate) use transfer::Part;
