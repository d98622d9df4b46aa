//! GPU access, independent of the game: adapters and their limits, buffers, kernels, errors. On most systems wgpu operates the
//! GPU; in a browser the scripts of the page do.

mod adapter;
#[cfg(not(target_family = "wasm"))]
mod device;
mod error;
#[cfg(not(target_family = "wasm"))]
mod find;
#[cfg(not(target_family = "wasm"))]
mod pool;
#[cfg(not(target_family = "wasm"))]
mod timer;
#[cfg(not(target_family = "wasm"))]
mod transfer;
#[cfg(target_family = "wasm")]
mod web;

pub use adapter::{AdapterChoice, AdapterReport};
#[cfg(all(test, not(target_family = "wasm")))]
pub(crate) use device::tests::opened;
#[cfg(not(target_family = "wasm"))]
pub(crate) use device::{Bound, Device, Kernel, Layout};
pub use error::GpuError;
#[cfg(not(target_family = "wasm"))]
pub use find::adapters;
#[cfg(not(target_family = "wasm"))]
pub(crate) use pool::Buffer;
#[cfg(target_family = "wasm")]
pub(crate) use web::{Bound, Buffer, Device, Kernel, Layout, RawBuffer};
#[cfg(not(target_family = "wasm"))]
pub(crate) use wgpu::Buffer as RawBuffer;

/// A kernel to run. `params` is the number of its set of parameters.
#[derive(Copy, Clone)]
pub(crate) struct Step<'a> {
    pub kernel: &'a Kernel,
    pub bound: &'a Bound,
    pub params: u32,
    pub groups: Groups<'a>,
}

/// The number of workgroups of a step.
#[derive(Copy, Clone)]
pub(crate) enum Groups<'a> {
    Fixed(u32),
    /// Three numbers, one for each dimension, in a buffer from this byte on.
    Stored(&'a Buffer, u64),
}

/// Distance in bytes between two sets of parameters.
pub(crate) const PARAMS_STRIDE: u64 = 256;

/// A range of a buffer: its first byte and its number of bytes, multiples of 4.
pub(crate) type Part<'a> = (&'a RawBuffer, u64, u64);
