//! Who plays a game: anything that chooses a move when it is told to.

use super::time_control::TimeControl;
use crate::board::{ByColor, Color, Move};
use crate::game::Game;
use crate::search::Limits;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use thiserror::Error;

/// What a player is told when it is on move.
#[derive(Copy, Clone, Debug)]
pub struct Turn {
    /// What limits the move.
    pub control: TimeControl,
    /// The clocks; they matter to [`TimeControl::Clock`] only.
    pub clocks: ByColor<Duration>,
    /// How much later than that a move may come.
    pub margin: Duration,
    /// When a program that does not answer is given up, where it has all the time it wants.
    pub patience: Duration,
}

impl Turn {
    pub(super) fn limits(&self, color: Color) -> Limits {
        self.control.limits(self.clocks[color])
    }
}

/// The move that a player chose, and what it says of it.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The move.
    pub mv: Move,
    /// As UCI writes it (`cp 13`, `mate -2`, `mate 30 lowerbound`), from its own point of view.
    pub score: Option<String>,
    /// Plies searched.
    pub depth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
}

/// Why a player has not chosen a move.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlayerError {
    /// It chose a move that is not legal, or none; which.
    #[error("{0}")]
    IllegalMove(String),
    /// It cannot be started, ended, or does not answer as it should; how.
    #[error("{0}")]
    Crash(String),
    /// It did not move in time.
    #[error("no move in time")]
    Timeout,
    /// The match is being stopped.
    #[error("stopped")]
    Stopped,
}

/// Somebody who plays.
pub trait Player: Send {
    /// Forgets the last game. `seed` is for what it does at random.
    ///
    /// # Errors
    /// If the player is not there any more.
    fn new_game(&mut self, seed: u64) -> Result<(), PlayerError>;

    /// Chooses a move of a game that is not over.
    ///
    /// # Errors
    /// If no move comes, or none that is legal; and if `stop` is set meanwhile.
    fn choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError>;
}
