//! When a search stops.

use std::time::Duration;

/// The time left on the clock of the side to move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Time left for this move and those after it.
    pub remaining: Duration,
    /// Added after each move.
    pub increment: Duration,
    /// Moves to the next time control; `None`: the rest of the game.
    pub moves_to_go: Option<u32>,
}

/// When to stop a search: at whatever comes first. Without any limit it runs until it is told to stop.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Plies of the last iteration.
    pub depth: Option<u32>,
    /// Nodes of all threads together.
    pub nodes: Option<u64>,
    /// Time for this move.
    pub movetime: Option<Duration>,
    /// The clock, of which the engine gives this move a share.
    pub clock: Option<Clock>,
}

/// Time that a move costs besides the search: telling, and waking up.
const OVERHEAD: Duration = Duration::from_millis(2);

impl Limits {
    /// After how long to begin no new iteration (the soft limit), and when to stop at the latest (the hard one).
    pub(super) fn times(&self) -> (Option<Duration>, Option<Duration>) {
        let margin = |time: Duration| time.saturating_sub(OVERHEAD.min(time / 10));
        let mut soft = None;
        let mut hard = self.movetime.map(margin);
        if let Some(clock) = self.clock {
            // Never more than a third of what is left, nor the last few milliseconds.
            let left = clock.remaining.saturating_sub(Duration::from_millis(10).min(clock.remaining / 5));
            let moves = clock.moves_to_go.unwrap_or(30).clamp(2, 30);
            let share = left / moves + clock.increment * 3 / 4;
            let most = (share * 4).min(if clock.moves_to_go == Some(1) { left * 4 / 5 } else { left / 3 });
            soft = Some((share * 3 / 5).min(most));
            hard = Some(hard.map_or(most, |h| h.min(most)));
        }
        (soft, hard)
    }
}
