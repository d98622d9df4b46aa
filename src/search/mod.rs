//! Search: the value of a position and the best move.
//!
//! [`minimax()`] returns the plain value that the papers publish; an [`Engine`] plays.
//!
//! The files; each uses only files above it in this table:
//!
//! | file | content |
//! |---|---|
//! | `score`, `packed`, `limits`, `info` | values, moves in nine bits, limits, results |
//! | `parameters` | the margins, depths and reductions of the search, which the feature `tune` makes variable |
//! | `burnett`, `minimax` | Burnett's evaluation, and the plain search of the papers' values |
//! | `eval/*` | static evaluation, and the position as the search stores it |
//! | `tt`, `thread_data`, `picker` | transposition table, history heuristics, move ordering |
//! | `tb`, `tb_cache` | endgame tables for the search |
//! | `options` | the options of an engine, and its techniques |
//! | `shared`, `path`, `root` | data that threads share, the path of a thread, the moves of the root |
//! | `worker`, `quiescence`, `pvs`, `deepening` | principal variation search: a thread and the steps of all its nodes, quiescence search, root and main search, iterative deepening |
//! | `tb_root`, `mate_line` | endgame tables at the root, lines of wins to their end |
//! | `engine` | the engine |
//! | `bench` | measuring the engine |

pub mod bench;
pub mod burnett;
mod deepening;
mod engine;
mod eval;
mod info;
mod limits;
mod mate_line;
mod minimax;
mod options;
mod packed;
mod parameters;
mod path;
mod picker;
mod pvs;
mod quiescence;
mod root;
mod score;
mod shared;
mod tb;
mod tb_cache;
mod tb_root;
mod thread_data;
mod tt;
#[cfg(test)]
mod tt_torn;
mod worker;

pub use engine::{Engine, Search};
pub use eval::{Evaluation, network};
pub use info::{Info, SearchResult};
pub use limits::{Clock, Limits};
pub use minimax::{RootValues, minimax};
pub use options::{EngineOptions, SearchPreset};
pub use parameters::{Parameter, ParameterError};
pub use score::Score;
pub use tb::Tables;
pub use tb_cache::TableCache;
