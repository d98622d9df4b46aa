//! Solving on the CPU: the moves of a class as operations on its planes, and the iteration with rayon.

mod backend;
pub(crate) mod buckets;
pub(crate) mod change_log;
pub(crate) mod conversions;
pub(crate) mod iteration;
mod lookup;
pub(crate) mod neighbours;
mod pass;
pub(crate) mod planes;
mod pool;
pub(crate) mod quiet;
pub(crate) mod row;
mod row_conversions;
pub(crate) mod rows;
mod start;
pub(crate) mod task;
mod two_rats;

pub use backend::CpuBackend;
pub use pool::BufferPool;
