//! Search: the value of a position and the best move. An engine searches within limits:
//!
//! ```
//! use doushouqi::board::Rules;
//! use doushouqi::game::Game;
//! use doushouqi::search::{Engine, EngineOptions, Limits};
//!
//! // White enters the den next.
//! let game = Game::new("7/3L3/7/7/7/7/7/7/r6 w".parse()?, Rules::default(), Some(Game::NO_CAPTURE_LIMIT));
//! let mut engine = Engine::new(EngineOptions::default().hash_mib(16));
//! let limits = Limits::default().depth(6);
//! let found = engine.search(&game, &limits).run();
//! assert_eq!(found.best().unwrap().to_string(), "d8d9");
//! assert_eq!(found.lines[0].score.win_in(), Some(1));
//! # Ok::<(), doushouqi::board::ParseFenError>(())
//! ```
//!
//! The files, the lowest first:
//!
//! | file | content |
//! |---|---|
//! | `score`, `limits`, `info` | values, limits and time management, results |
//! | `parameters` | the margins, depths and reductions of the search, which the feature `tune` makes variable |
//! | `burnett` | Burnett's evaluation |
//! | `eval/*` | static evaluation, positions and moves as the search stores them |
//! | `tt`, `history`, `ordering` | transposition table, history heuristics, move ordering |
//! | `tables` | endgame tables for the search |
//! | `options` | the options of an engine, and its techniques |
//! | `shared`, `path` | data that threads share, the path of a thread |
//! | `pvs` | principal variation search: root, main search, quiescence search |
//! | `deepening` | iterative deepening with aspiration windows |
//! | `threads` | the threads of a search, and their vote |
//! | `tb_root` | endgame tables at the root |
//! | `engine` | the engine |
//! | `level`, `wdl` | strength levels; chances of a win, a draw and a loss |
//! | `bench` | measuring the engine |

pub mod bench;
pub mod burnett;
mod deepening;
mod engine;
mod eval;
mod history;
mod info;
mod level;
mod limits;
mod options;
mod ordering;
mod parameters;
mod path;
mod pvs;
mod score;
mod shared;
mod tables;
mod tb_root;
mod threads;
mod tt;
mod wdl;

pub use engine::{Engine, Search};
pub use eval::{Evaluation, network};
pub use info::{Info, SearchResult};
pub use level::Level;
pub use limits::{Clock, Limits};
pub use options::{EngineOptions, SearchPreset};
pub use parameters::{Parameter, ParameterError};
pub use score::Score;
pub use tables::{TableCache, Tables};
pub use wdl::{Chances, WdlCurve};
