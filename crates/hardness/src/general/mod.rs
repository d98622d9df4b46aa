//! Boards of any size, with any number of pieces of each animal: a plain move generator, and exact values of small boards.
//! On the standard board it plays the same game as [`doushouqi::board`], only slower.

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
