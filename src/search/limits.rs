//! The limits of a search.

use std::time::Duration;

/// The time left on the clock of the side to move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The time left for this move and the moves after it.
    pub remaining: Duration,
    /// The time added after each move.
    pub increment: Duration,
    /// The moves to the next time control; `None` if the time is for the rest of the game.
    pub moves_to_go: Option<u32>,
}

/// The limits of a search. The search ends when it reaches the first of them; without limits it runs until its stop
/// handle is set.
///
/// ```
/// use doushouqi::search::Limits;
/// let limits = Limits::default().depth(20).nodes(1_000_000);
/// assert_eq!((limits.depth, limits.movetime), (Some(20), None));
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The plies of the last iteration.
    pub depth: Option<u32>,
    /// The nodes of all threads together.
    pub nodes: Option<u64>,
    /// The time for this move.
    pub movetime: Option<Duration>,
    /// The clock. The engine spends a share of it on this move.
    pub clock: Option<Clock>,
    /// The search looks for a win in at most so many moves of the winner. It ends when it has found one, or when a search
    /// of all moves that is deep enough finds none.
    pub mate: Option<u32>,
}

/// Longer times are as good as this one, a century, which no arithmetic of times exceeds.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// The time reserved for printing the move and for waking threads.
const OVERHEAD: Duration = Duration::from_millis(2);

macro_rules! setters {
    ($($name:ident: $type:ty),+) => {$(
        #[doc = concat!("Sets [`Limits::", stringify!($name), "`].")]
        #[must_use]
        pub fn $name(self, $name: impl Into<Option<$type>>) -> Limits {
            Limits { $name: $name.into(), ..self }
        }
    )+};
}

impl Limits {
    setters! { depth: u32, nodes: u64, movetime: Duration, clock: Clock, mate: u32 }

    /// The time at which a search with these limits stops, given [`EngineOptions::move_overhead`]; `None` if its time is
    /// not limited.
    ///
    /// [`EngineOptions::move_overhead`]: super::EngineOptions::move_overhead
    #[must_use]
    pub fn hard_limit(&self, move_overhead: Duration) -> Option<Duration> {
        self.times(move_overhead).1
    }

    /// The plies of the longest win that [`Limits::mate`] accepts.
    pub(super) fn mate_plies(&self) -> Option<u32> {
        self.mate.map(|moves| moves.saturating_mul(2).saturating_sub(1))
    }

    /// The time after which no new iteration begins (the soft limit), and the time at which the search stops (the hard
    /// limit). `move_overhead` stays on the clock, but at most a fifth of it.
    pub(super) fn times(&self, move_overhead: Duration) -> (Option<Duration>, Option<Duration>) {
        let margin = |time: Duration| time.min(LONGEST).saturating_sub(OVERHEAD.min(time / 10));
        let mut soft = None;
        let mut hard = self.movetime.map(margin);
        if let Some(clock) = self.clock {
            // Without a near time control, the hard limit is at most a third of the remaining time.
            let (remaining, increment) = (clock.remaining.min(LONGEST), clock.increment.min(LONGEST));
            let left = remaining.saturating_sub(move_overhead.min(remaining / 5));
            let moves = clock.moves_to_go.unwrap_or(30).clamp(2, 30);
            let share = left / moves + increment * 3 / 4;
            let most = (share * 4).min(if clock.moves_to_go == Some(1) { left * 4 / 5 } else { left / 3 });
            soft = Some((share * 3 / 5).min(most));
            hard = Some(hard.map_or(most, |h| h.min(most)));
        }
        (soft, hard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_move_overhead_stays_on_the_clock() {
        let ms = Duration::from_millis;
        let clock = |remaining| Clock { remaining: ms(remaining), increment: Duration::ZERO, moves_to_go: Some(1) };
        let hard = |remaining, overhead| {
            Limits { clock: Some(clock(remaining)), ..Limits::default() }.times(ms(overhead)).1.unwrap()
        };
        assert_eq!(hard(10_000, 0), ms(8000));
        assert_eq!(hard(10_000, 1000), ms(7200));
        // At most a fifth of the clock.
        assert_eq!(hard(10_000, 9000), ms(6400));
    }

    #[test]
    fn the_longest_times_do_not_overflow() {
        for (remaining, increment) in
            [(Duration::MAX, Duration::ZERO), (Duration::ZERO, Duration::MAX), (Duration::MAX, Duration::MAX)]
        {
            for moves_to_go in [None, Some(0), Some(1), Some(u32::MAX)] {
                let limits =
                    Limits::default().clock(Clock { remaining, increment, moves_to_go }).movetime(Duration::MAX);
                let (soft, hard) = limits.times(Duration::MAX);
                assert!(soft <= hard && hard <= Some(4 * LONGEST), "{soft:?} {hard:?}");
            }
        }
    }
}
