//! The value of a position: [`Score`] in the public API, plain integers inside the search.

use std::fmt;

/// The value of a position for the side to move: an estimate, or a win or loss in a number of plies.
///
/// Estimates are in centipawns as UCI calls them (`cp`): 100 cp are the material value of a cat.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i32);

impl Score {
    /// The value of a game won at once; a win `n` plies away is worth `n` less.
    const WIN: i32 = 1_000_000;
    /// More plies than any win takes.
    const MAX_PLIES: i32 = 10_000;

    /// An estimate in cp, see [`Score`].
    #[must_use]
    pub fn estimate(value: i32) -> Score {
        Score(value)
    }

    /// A win that is certain, `plies` plies away.
    #[must_use]
    pub fn win(plies: u32) -> Score {
        Score(Score::WIN - plies.min(Score::MAX_PLIES as u32) as i32)
    }

    /// A loss that is certain, `plies` plies away.
    #[must_use]
    pub fn loss(plies: u32) -> Score {
        Score(-Score::win(plies).0)
    }

    /// Plies to a win that is certain.
    #[must_use]
    pub fn win_in(self) -> Option<u32> {
        (self.0 >= Score::WIN - Score::MAX_PLIES).then(|| (Score::WIN - self.0) as u32)
    }

    /// Plies to a loss that is certain.
    #[must_use]
    pub fn loss_in(self) -> Option<u32> {
        Score(-self.0).win_in()
    }

    /// The value as a number: wins above, losses below every estimate.
    #[must_use]
    pub fn value(self) -> i32 {
        self.0
    }
}

/// As UCI writes it: `cp 13`, or `mate 3` in moves of the winner, negative for a loss.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.win_in(), self.loss_in()) {
            (Some(plies), _) => write!(f, "mate {}", plies.div_ceil(2)),
            (_, Some(plies)) => write!(f, "mate -{}", plies.div_ceil(2)),
            _ => write!(f, "cp {}", self.0),
        }
    }
}

/// A value for the side to move, as a search counts: wins in plies from the root.
pub(super) type Value = i32;

/// A game won in the root position itself; a win `n` plies later is worth `n` less.
pub(super) const MATE: Value = 32_000;
/// A win that an endgame table knows of; the distance is only that to the table's position.
pub(super) const TB_WIN: Value = 30_000;
/// Every certain win is worth more, every estimate less.
pub(super) const DECIDED: Value = 29_000;
/// More than any value.
pub(super) const INFINITE: Value = MATE + 1;
/// No estimate is worth more.
pub(super) const MAX_ESTIMATE: Value = 25_000;
/// Plies a line may have.
pub(super) const MAX_PLY: usize = 240;

/// The value of having won `ply` plies from the root.
#[inline(always)]
pub(super) const fn mate_in(ply: usize) -> Value {
    MATE - ply as Value
}

/// The value of having lost `ply` plies from the root.
#[inline(always)]
pub(super) const fn mated_in(ply: usize) -> Value {
    ply as Value - MATE
}

/// Whether a value is a win or a loss by play and not only by an endgame table.
pub(super) fn is_exact(value: Value) -> bool {
    value.abs() >= MATE - 1000
}

/// The value as the outside sees it.
pub(super) fn public(value: Value) -> Score {
    if value >= MATE - 1000 {
        Score::win((MATE - value) as u32)
    } else if value <= 1000 - MATE {
        Score::loss((MATE + value) as u32)
    } else {
        Score::estimate(value)
    }
}
