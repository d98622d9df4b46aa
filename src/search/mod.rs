//! Looking ahead: what a position is worth after so many plies of best play.

pub mod burnett;
pub mod engine;
pub mod minimax;

pub use burnett::evaluate;
pub use engine::{Clock, Engine, EngineOptions, Evaluation, Info, Limits, Score, SearchResult};
pub use minimax::{RootValues, minimax};
