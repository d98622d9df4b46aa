//! Matches between two players: built-in players, or programs that speak UCI or GTP.
//!
//! A [`Match`] plays pairs of games between two [`PlayerSpec`]s from the same [`Openings`], under [`Conditions`] and
//! [`Adjudication`]. [`statistics`] computes the Elo difference and the SPRT, [`Spsa`] tunes parameters.
//!
//! Each module depends only on earlier ones: `time_control`, `player` (the trait), `biased` and `openings`, `error`,
//! `adjudication`, `process`, `external` (a program, started again after a crash), `builtin`, `program` (UCI) and `gtp` (the
//! kinds of players), `command_line` and `spec` (players as text), `referee` (one game), `statistics`, `runner` (the match),
//! `spsa` (tuning by matches).
//!
//! ```
//! use matches::{PlayerSpec, TimeControl};
//!
//! let player: PlayerSpec = "builtin:default,hash=16MiB".parse()?;
//! assert_eq!(player.name(), "builtin:default,hash=16MiB");
//! assert!("builtin:default,hash=0MiB".parse::<PlayerSpec>().is_err());
//! # Ok::<(), matches::MatchError>(())
//! ```

#![warn(missing_docs, unreachable_pub)]

mod adjudication;
mod biased;
mod builtin;
mod command_line;
mod error;
mod external;
mod gtp;
mod openings;
mod player;
mod process;
mod program;
mod referee;
mod runner;
mod spec;
mod spsa;
pub mod statistics;
mod time_control;

pub use adjudication::{Adjudication, DrawRule, ResignRule};
pub use biased::BiasedOpenings;
pub use command_line::join as join_command_line;
pub use error::MatchError;
pub use openings::{Opening, Openings, OpeningsError};
pub use player::{Choice, Player, PlayerError, Requirements, Turn};
pub use referee::{Conditions, PlayedGame, Usage, play};
pub use runner::{Match, MatchGame, Side, Standing};
pub use spec::PlayerSpec;
pub use spsa::{Spsa, Trial, Tuned};
pub use statistics::{Decision, Sprt, Tally};
pub use time_control::TimeControl;
