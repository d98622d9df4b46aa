//! What limits each move of a game.

use crate::search::{Clock, Limits};
use std::time::Duration;

/// What limits each move of a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TimeControl {
    /// Plies of the last iteration.
    Depth(u32),
    /// Nodes of the search.
    Nodes(u64),
    /// Time for the move.
    MoveTime(Duration),
    /// A clock for the whole game.
    Clock {
        /// What is on it at the beginning.
        base: Duration,
        /// Added after each move.
        increment: Duration,
    },
}

impl TimeControl {
    /// The limits of one move; `remaining` matters to clocks only.
    #[must_use]
    pub fn limits(&self, remaining: Duration) -> Limits {
        match *self {
            TimeControl::Depth(depth) => Limits::default().depth(depth),
            TimeControl::Nodes(nodes) => Limits::default().nodes(nodes),
            TimeControl::MoveTime(time) => Limits::default().movetime(time),
            TimeControl::Clock { increment, .. } => {
                Limits::default().clock(Clock { remaining, increment, moves_to_go: None })
            }
        }
    }

    /// The time that a move may take, if there is such a limit.
    #[must_use]
    pub fn allowed(&self, remaining: Duration) -> Option<Duration> {
        match *self {
            TimeControl::Depth(_) | TimeControl::Nodes(_) => None,
            TimeControl::MoveTime(time) => Some(time),
            TimeControl::Clock { .. } => Some(remaining),
        }
    }
}
