//! Dou Shou Qi (Jungle chess, 斗兽棋): the rules on bitboards, perft, a search, and exact endgame tables by retrograde
//! analysis.
//!
//! Positions are small values, moves make new ones, and the rules on which sources disagree are options:
//!
//! ```
//! use doushouqi::board::{Move, Position, Rules};
//!
//! let rules = Rules::default();
//! let start = Position::start();
//! assert_eq!(start.moves(&rules).len(), 24);
//!
//! let mv = Move::parse("Eb3", &start, &rules)?;
//! assert_eq!(start.make(mv).to_fen(), "l5t/1d3c1/r1p1w1e/7/7/7/1EW1P1R/1C3D1/T5L b");
//! # Ok::<(), doushouqi::board::ParseMoveError>(())
//! ```
//!
//! # The modules in reading order
//!
//! 1. [`board`]: squares, pieces, positions, rules and moves.
//! 2. [`game`]: a position with its history; games as text.
//! 3. [`formats`]: positions and games as other programs write them.
//! 4. [`perft`]: the number of lines of moves of a given length.
//! 5. [`tablebase`]: the exact distance to the end of every position with few pieces.
//! 6. [`search`]: an engine that searches for a move within limits.
//! 7. [`gpu`]: the GPU, on which perft and endgame tables are computed.
//!
//! [`cpu`] selects vector instructions, and [`clock`] is the clock of searches.
//! `examples` in the repository contains programs to start from. `docs/table-format.md` describes the table files.
//!
//! # Features
//!
//! `board` and `game` need no feature and only a few dependencies. The default feature is `search`:
//!
//! - `serde`: positions, squares, pieces and rules serialise as their text; games of Mistboard (JSON) are read.
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
