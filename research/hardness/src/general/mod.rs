//! Boards of any size with any number of pieces of each animal: a plain move generator, and values of small boards.
//!
//! The hardness proof needs these boards: a gadget is a small board, and the reduction turns a formula into a large
//! one. They also serve to study small variants of the game (`dsq-lab general solve` and `small`) and as an independent
//! reference: on the standard board the move generator plays the same game as [`doushouqi::board`], only slower, and
//! tests compare the two.

mod board;
mod perft;
mod position;
mod small;
pub(crate) mod solver;
mod svg;
mod text;

pub use board::{Board, Place, Terrain};
pub use perft::{divide, perft};
pub use position::{GeneralMove, GeneralPosition, Undo, may_capture};
pub use small::{SMALL, SmallJungle};
pub use solver::{GeneralCounts, GeneralSolveError, GeneralValue, Solution, placements, solve};
pub use svg::svg;
pub use text::BoardError;
