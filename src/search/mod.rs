//! Looking ahead: what a position is worth after N plies of best play, and which move to play.
//!
//! [`minimax()`] gives the plain value that the papers publish; an [`Engine`] plays.
//!
//! The files, the lowest first; each uses only files above it in this list:
//!
//! | file | what |
//! |---|---|
//! | `score`, `packed`, `limits`, `info`, `search_options` | the words of a search: values, moves in nine bits, when to stop, what is told, what can be switched off |
//! | `burnett`, `minimax` | Burnett's evaluation, and the plain search that the papers' values come from |
//! | `eval/*` | the evaluation, and the position as the search sees it |
//! | `tt`, `history`, `picker` | the transposition table, what is remembered of moves, the order of moves |
//! | `tb`, `tb_cache` | endgame tables as the search uses them |
//! | `options` | how an engine is set up |
//! | `shared`, `line`, `root` | what threads share, the line that a thread is on, the moves of the root |
//! | `alphabeta` | the papers' engine |
//! | `worker`, `compiled`, `quiescence`, `pvs`, `deepening` | principal variation search: a thread, the CPU levels, quiescence search, main search, iterative deepening |
//! | `engine` | all of it together |
//! | `bench`, `tune` | measuring the engine, tuning the evaluation |

mod alphabeta;
pub mod bench;
pub mod burnett;
mod compiled;
mod deepening;
mod engine;
pub mod eval;
mod history;
mod info;
mod limits;
mod line;
pub mod minimax;
mod options;
mod packed;
mod picker;
mod pvs;
mod quiescence;
mod root;
mod score;
mod search_options;
mod shared;
mod tb;
mod tb_cache;
mod tt;
#[cfg(test)]
mod tt_torn;
pub mod tune;
mod worker;

pub use engine::{Engine, Search};
pub use eval::{EvalContext, Evaluate, Evaluation, evaluate};
pub use info::{Info, SearchResult};
pub use limits::{Clock, Limits};
pub use minimax::{RootValues, minimax};
pub use options::{Algorithm, EngineOptions};
pub use score::Score;
pub use search_options::{ParseSearchOptionsError, SearchOptions};
pub use tb::Tables;
pub use tb_cache::TableCache;
