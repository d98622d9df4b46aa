//! The players of a game: [`Player`] is the trait that every kind of player implements.

use super::referee::Conditions;
use super::time_control::TimeControl;
use doushouqi::board::{ByColor, Color, Move, RuleOptions};
use doushouqi::game::{ForfeitReason, Game};
use doushouqi::search::Limits;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use thiserror::Error;

/// The games that a player must be able to play, checked before the first one.
#[derive(Copy, Clone, Debug)]
pub struct Requirements {
    /// The rules.
    pub rules: RuleOptions,
    /// The plies without a capture after which a game is drawn; `None` is no limit.
    pub no_capture_limit: Option<u32>,
    /// The limit of each move.
    pub control: TimeControl,
    /// The time after which a program that does not answer a command without a search counts as crashed.
    pub patience: Duration,
    /// Whether programs play by these rules without receiving them.
    pub assume_rules: bool,
    /// Whether stderr names the rules that a program cannot receive.
    pub remarks: bool,
}

impl Requirements {
    /// The rules in as few words as possible.
    pub(super) fn rules_name(&self) -> String {
        self.rules.preset_name().map_or_else(|| self.rules.to_string(), str::to_owned)
    }
}

/// The limits of the move that a player chooses.
#[derive(Copy, Clone, Debug)]
pub struct Turn {
    /// Those of every move of the game.
    pub conditions: Conditions,
    /// The time left on the clocks, used by [`TimeControl::Clock`] only.
    pub clocks: ByColor<Duration>,
}

/// The additional time for a late program before it counts as crashed.
const GRACE: Duration = Duration::from_secs(1);

impl Turn {
    /// The time to wait for the move of a program: longer than the limit, to tell a late move from a missing one.
    pub(super) fn patience(&self, color: Color) -> Duration {
        let Conditions { control, margin, patience } = self.conditions;
        control.allowed(self.clocks[color]).map_or(patience, |time| time + margin + GRACE)
    }

    pub(super) fn limits(&self, color: Color) -> Limits {
        self.conditions.control.limits(self.clocks[color])
    }
}

/// The move that a player chose, with the player's report.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The move.
    pub mv: Move,
    /// The score as UCI writes it (`cp 13`, `mate -2`, `mate 30 lowerbound`), from the view of the player.
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
    /// The player chose an illegal move or none; the text describes it.
    #[error("{0}")]
    IllegalMove(String),
    /// The player cannot be started, has ended, or violates the protocol; the text describes it.
    #[error("{0}")]
    Crash(String),
    /// The player cannot play games of these [`Requirements`]; the text names the reason.
    #[error("{0}")]
    Unsupported(String),
    /// The player resigned.
    #[error("it resigned")]
    Resigned,
    /// The player did not move in time.
    #[error("no move in time")]
    Timeout,
    /// The match is being stopped.
    #[error("stopped")]
    Stopped,
}

impl PlayerError {
    /// Why the player forfeits its game; `None` if the match is being stopped.
    #[must_use]
    pub fn forfeit(&self) -> Option<ForfeitReason> {
        match self {
            PlayerError::IllegalMove(_) => Some(ForfeitReason::IllegalMove),
            PlayerError::Crash(_) | PlayerError::Unsupported(_) => Some(ForfeitReason::Crash),
            PlayerError::Resigned => Some(ForfeitReason::Resignation),
            PlayerError::Timeout => Some(ForfeitReason::Time),
            PlayerError::Stopped => None,
        }
    }
}

/// A player of games.
pub trait Player: Send {
    /// Prepares for a new game. `seed` determines random choices. A program that has crashed is started again.
    ///
    /// # Errors
    /// If a program cannot be started or does not get ready in time, or `stop` is set before.
    fn new_game(&mut self, seed: u64, stop: &AtomicBool) -> Result<(), PlayerError>;

    /// Chooses a move of a game that is not over.
    ///
    /// # Errors
    /// If the player makes no legal move in time, or `stop` is set during the search.
    fn choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError>;
}
