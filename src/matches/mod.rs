//! Matches between two players: engines of this crate, or programs that speak UCI.
//!
//! [`PlayerSpec`] says who plays, [`Openings`] how games begin, [`Match`] is the whole; what it says of the players' strength
//! is in [`statistics`].
//!
//! The files, the lowest first; each uses only files before it: `time_control`, `player` (what a player is), `builtin` and
//! `program` (the kinds there are), `spec` (which to make), `openings`, `referee` (one game), `statistics`, `runner` (all of
//! them).

mod builtin;
mod openings;
mod player;
mod program;
mod referee;
mod runner;
mod spec;
pub mod statistics;
mod time_control;

pub use openings::{NoOpening, Openings, ParseOpeningsError};
pub use player::{Choice, Player, PlayerError, Turn};
pub use referee::{Conditions, PlayedGame, Usage, play};
pub use runner::{Match, MatchError, MatchGame, Side, Standing};
pub use spec::{ParsePlayerError, PlayerSpec};
pub use statistics::{Decision, Sprt, Tally};
pub use time_control::TimeControl;
