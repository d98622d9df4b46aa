//! Looking ahead: what a position is worth after so many plies of best play.

pub mod burnett;
pub mod minimax;

pub use burnett::evaluate;
pub use minimax::{RootValues, minimax};
