//! Dou Shou Qi (Jungle chess, 斗兽棋): the rules on bitboards, perft, a search, and exact endgame tables by retrograde
//! analysis.
//!
//! Positions are small values, moves make new ones, and the rules on which sources disagree are options:
//!
//! ```
//! use doushouqi::board::{Move, Position, Rules};
//! use doushouqi::perft::{Perft, PerftMode};
//!
//! let rules = Rules::default();
//! let start = Position::start();
//! assert_eq!(start.moves(&rules).len(), 24);
//!
//! let mv = Move::parse("Eb3", &start, &rules)?;
//! assert_eq!(start.make(mv).to_fen(), "l5t/1d3c1/r1p1w1e/7/7/7/1EW1P1R/1C3D1/T5L b");
//!
//! // All lines of four plies.
//! assert_eq!(Perft::new(&rules, PerftMode::Expand).count(&start, 4), 260_100);
//! # Ok::<(), doushouqi::board::ParseMoveError>(())
//! ```
//!
//! Endgame tables contain the exact distance to the end of every position with few pieces. A directory of tables is
//! generated once and then probed:
//!
//! ```
//! use doushouqi::board::{Position, RuleOptions};
//! use doushouqi::tablebase::{Generate, Options, Probe, Solver, TableSet, Wdl};
//!
//! let dir = tempfile::tempdir()?;
//! let job = Generate { pieces: 2, ..Generate::new(dir.path(), RuleOptions::PAPER) };
//! job.run(&mut Solver::new(&job.rules, job.pieces, Options::default()), &|_| ())?;
//!
//! // The lion reaches the enemy den first.
//! let tables = TableSet::open(dir.path())?.prober(&job.rules)?;
//! let position: Position = "7/7/7/7/L6/6e/7/7/7 w".parse()?;
//! let value = tables.value(&position)?.expect("a position of two pieces");
//! assert_eq!((value.wdl, value.dtw), (Wdl::Win, Some(9)));
//! // Every move with its value, best first.
//! let moves = tables.moves(&position)?.expect("positions of two pieces");
//! assert_eq!(moves[0].1, value);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An engine searches for a move within limits:
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
//! `examples` in the repository contains programs to start from. `docs/table-format.md` describes the table files.
//!
//! # Features
//!
//! `board` and `game` need no feature and only a few dependencies. The default feature is `search`:
//!
//! - `serde`: positions, squares, pieces and rules serialise as their text.
//! - `perft`: counting lines of moves on all cores.
//! - `tablebase`: endgame tables.
//! - `search`: the engine; includes `perft` and `tablebase`.
//! - `tune`: the engine with variable parameters, to tune them; includes `search`.
//! - `gpu`: tables and perft on a GPU, through wgpu or in a browser; includes `perft` and `tablebase`.
//!
//! # WebAssembly
//!
//! For the target `wasm32-unknown-unknown`, which has neither clock nor files, a module with some features imports functions,
//! which its host must provide; without these features, and with `perft` or `serde`, it imports none:
//!
//! - `host.now() -> f64` (`search` and `gpu`): milliseconds since any fixed time, such as `performance.now` of a browser.
//! - `host.read_file(path, path_len, at, to, len) -> f64` (`tablebase`): copies up to `len` bytes of a file from the offset `at`
//!   (an `f64`) to memory, and returns the length of the file, -1 if there is none, -2 if the host cannot read parts of files,
//!   or another negative number if it does not respond. The path is UTF-8; the other arguments are addresses and lengths. A host
//!   without tables returns -1.
//! - The functions of `gpu` (`gpu`), which `crates/explorer/src/site/gpu.js` in the repository provides with WebGPU.
//!
//! The program `dsq`, UCI and GTP, matches, cluster jobs, the explorer, the mining study and the hardness proof are
//! separate crates that build on this one.

#![warn(missing_docs, unreachable_pub)]

pub mod board;
#[cfg(any(feature = "search", feature = "gpu"))]
pub mod clock;
#[cfg(any(feature = "perft", feature = "tablebase"))]
#[cfg_attr(not(feature = "tablebase"), allow(dead_code, reason = "perft uses the levels, not the vectors"))]
pub mod cpu;
pub mod formats;
pub mod game;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "tablebase")]
mod memory;
#[cfg(feature = "search")]
mod pages;
#[cfg(feature = "perft")]
pub mod perft;
#[cfg(feature = "search")]
pub mod search;
#[cfg(feature = "gpu")]
mod shaders;
#[cfg(all(test, feature = "gpu"))]
#[path = "../tests/support/skip.rs"]
mod skip;
#[cfg(feature = "tablebase")]
pub mod tablebase;
