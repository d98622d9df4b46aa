//! Endgame tables: exact values of all positions of a material, by retrograde analysis on bit planes.
//!
//! [`Classes`] says which materials are the same, [`Index`] how positions are numbered, `seeds` and `quiet` what the moves
//! of a class do to its planes, `pass` how they are iterated, and [`solve`] in which order classes come.

mod class;
#[cfg(feature = "gpu")]
mod gpu;
mod index;
mod material;
mod pass;
mod quiet;
mod seeds;
mod solve;
mod stats;
mod value;

pub use class::{Class, ClassId, Classes, Man, Member};
#[cfg(feature = "gpu")]
pub use gpu::{Gpu, shaders};
pub use index::{Index, ROW_CELLS, RowPiece, WIDTH, squares_in_play};
pub use material::{AnimalSet, Material, MaterialError};
pub use pass::Solved;
pub use solve::{MAX_PIECES, Options, SolveError, Solver, Table};
pub use stats::{Stats, Summary};
pub use value::{Cells, Value};
