//! Solving on the processor: what the moves of a class do to its planes, and the iteration with rayon.

pub(crate) mod buckets;
pub(crate) mod memory;
pub(crate) mod pass;
mod processor;
pub(crate) mod quiet;
mod room;
pub(crate) mod rows;
pub(crate) mod seeds;

pub use memory::MemoryNeed;
pub use processor::Processor;
pub use room::Room;
