//! Solving on the CPU: the moves of a class as operations on its planes, and the iteration with rayon.

mod backend;
pub(crate) mod buckets;
pub(crate) mod change_log;
pub(crate) mod conversions;
pub(crate) mod neighbours;
pub(crate) mod pass;
mod pool;
pub(crate) mod quiet;
pub(crate) mod rows;

pub use backend::CpuBackend;
pub use pool::BufferPool;
