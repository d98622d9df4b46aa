//! Endgame tables: exact values of all positions of a material, by retrograde analysis on bit planes.
//!
//! [`Classes`] says which materials are the same, [`Index`] how positions are numbered, `seeds` and `quiet` what the moves
//! of a class do to its planes, `pass` how they are iterated, and [`Solver`] in which order classes come.

mod address;
#[doc(hidden)]
pub mod bench_support;
mod class;
mod index;
mod material;
mod material_table;
mod probe;
mod solve;
mod stats;
mod store;
mod value;
mod wdl;

pub use class::{Class, ClassId, Classes, Man, Member, Place};
pub use index::{Index, ROW_CELLS, RowPiece, WIDTH, squares_in_play};
pub use material::{AnimalSet, Material, MaterialError};
pub use material_table::{MaterialTable, position_of};
pub use probe::{Verdict, Wdl};
pub use solve::cpu::pass::Solved;
pub use solve::difference::{Difference, first_difference};
#[cfg(feature = "gpu")]
pub use solve::gpu::{BatchNeeds, Gpu, GpuLimits, GpuWork};
pub use solve::solver::{MAX_PIECES, Options, SolveError, Solver, Table};
pub use stats::{Stats, Summary};
pub use store::codec::compressed_len;
pub use store::export::{ExportError, export_text};
pub use store::file::{Description, Sides, TableError, TableFile};
pub use store::set::{CountedClass, Generate, MANIFEST, Manifest, ManifestClass, Progress, SetError, TableSet, repack};
pub use store::verify::{Contradiction, Scope, verify};
pub use value::{Cells, Value};
pub use wdl::WdlTables;
