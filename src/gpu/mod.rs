//! GPU access through wgpu, independent of the game: adapters and their limits, buffers, kernels, errors.

mod device;
mod error;
mod pool;
mod transfer;

#[cfg(test)]
pub(crate) use device::tests::opened;
pub use device::{AdapterChoice, AdapterReport, adapters};
pub(crate) use device::{Bound, Device, Groups, Kernel, Layout, PARAMS_STRIDE, Step};
pub use error::GpuError;
pub(crate) use pool::Buffer;
pub(crate) use transfer::Part;
