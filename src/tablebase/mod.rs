//! Endgame tables: exact values of all positions of a material, by retrograde analysis on bit planes.
//!
//! [`Classes`] says which materials are the same, [`Index`] how positions are numbered, `seeds` and `quiet` what the moves
//! of a class do to its planes, `pass` how they are iterated, and [`Solver`] in which order classes come.

#[doc(hidden)]
pub mod bench_support;
mod class;
mod codec;
mod difference;
mod export;
mod file;
#[cfg(feature = "gpu")]
mod gpu;
mod index;
mod locate;
mod material;
mod pass;
mod probe;
mod quiet;
mod seeds;
mod set;
mod solve;
mod stats;
mod value;
mod verify;
mod walk;
mod wdl;

pub use class::{Class, ClassId, Classes, Man, Member, Place};
pub use codec::compressed_len;
pub use difference::{Difference, first_difference};
pub use export::{ExportError, export_text};
pub use file::{Description, Sides, TableError, TableFile};
#[cfg(feature = "gpu")]
pub use gpu::{Gpu, GpuLimits, GpuWork, shaders};
pub use index::{Index, ROW_CELLS, RowPiece, WIDTH, squares_in_play};
pub use material::{AnimalSet, Material, MaterialError};
pub use pass::Solved;
pub use probe::{Verdict, Wdl};
pub use set::{CountedClass, Generate, MANIFEST, Manifest, ManifestClass, Progress, SetError, TableSet, repack};
pub use solve::{MAX_PIECES, Options, SolveError, Solver, Table};
pub use stats::{Stats, Summary};
pub use value::{Cells, Value};
pub use verify::{Contradiction, Scope, verify};
pub use walk::{MaterialTable, position_of};
pub use wdl::WdlTables;
