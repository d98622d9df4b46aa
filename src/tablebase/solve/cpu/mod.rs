//! Solving on the CPU: what the moves of a class do to its planes, and the iteration with rayon.

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
