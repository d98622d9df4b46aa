//! Matches between two players: engines of this crate, or programs that speak UCI.
//!
//! [`PlayerSpec`] says who plays, [`Openings`] how games begin, [`Match`] is the whole; what it says of the players' strength
//! is in [`statistics`].

mod openings;
mod player;
mod program;
mod referee;
mod runner;
pub mod statistics;

pub use openings::{NoOpening, Openings, ParseOpeningsError};
pub use player::{
    Choice, ParsePlayerError, Player, PlayerError, PlayerSpec, TableCache, TablesError, TimeControl, Turn,
};
pub use referee::{Conditions, PlayedGame, Usage, play};
pub use runner::{Match, MatchError, MatchGame, Side, Standing};
pub use statistics::{Decision, Sprt, Tally};
