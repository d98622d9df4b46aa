//! Looking ahead: what a position is worth after so many plies of best play, and which move to play.
//!
//! [`minimax()`] gives the plain value that the papers publish; an [`Engine`] plays.

mod alphabeta;
pub mod bench;
pub mod burnett;
pub mod engine;
pub mod eval;
mod history;
mod ideas;
pub mod minimax;
mod picker;
mod pvs;
mod score;
mod shared;
mod state;
mod tables;
mod tt;
#[cfg(test)]
mod tt_torn;
pub mod tune;

pub use burnett::evaluate;
pub use engine::{Algorithm, Clock, Engine, EngineOptions, Evaluation, Info, Limits, Score, SearchResult};
pub use ideas::{Ideas, ParseIdeasError};
pub use minimax::{RootValues, minimax};
pub use tables::Tables;
