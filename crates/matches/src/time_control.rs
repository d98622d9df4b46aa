//! The limits of the moves of a game.

use doushouqi::search::{Clock, Limits};
use std::fmt;
use std::time::Duration;

/// The limit of each move of a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TimeControl {
    /// The depth of the last iteration, in plies.
    Depth(u32),
    /// The nodes of the search.
    Nodes(u64),
    /// The time for the move.
    MoveTime(Duration),
    /// A clock for the whole game.
    Clock {
        /// The time at the start of the game.
        base: Duration,
        /// The time added after each move.
        increment: Duration,
    },
}

impl TimeControl {
    /// The limits of one search. `remaining` is the time left on the clock, used by [`TimeControl::Clock`] only.
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

    /// The time limit of a move; `None` without a limit.
    #[must_use]
    pub fn allowed(&self, remaining: Duration) -> Option<Duration> {
        match *self {
            TimeControl::Depth(_) | TimeControl::Nodes(_) => None,
            TimeControl::MoveTime(time) => Some(time),
            TimeControl::Clock { .. } => Some(remaining),
        }
    }
}

/// As the tag `TimeControl` of a saved game: `depth 9`, `nodes 2000`, `movetime 100` in milliseconds, or `10+0.1` in seconds.
impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeControl::Depth(depth) => write!(f, "depth {depth}"),
            TimeControl::Nodes(nodes) => write!(f, "nodes {nodes}"),
            TimeControl::MoveTime(time) => write!(f, "movetime {}", time.as_millis()),
            TimeControl::Clock { base, increment } => write!(f, "{}+{}", base.as_secs_f64(), increment.as_secs_f64()),
        }
    }
}
