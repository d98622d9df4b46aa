//! Probing under a no-capture limit: the value of a position at every clock, from distances to the next capture or den entry.

use super::{CellValue, Wdl};
use crate::board::{Move, NoMove, Position, Rules};
use serde::Serialize;
use std::cmp::Reverse;

/// The value of a position in games with a no-capture limit, for the side to move, or of a move for the side that makes it:
/// the result just after a capture, and the distance (DTZ) that decides what is left of it at a later clock.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Dtz {
    /// The result at clock 0.
    pub wdl: Wdl,
    /// The plies to the next capture or den entry under best play that keeps the result; 0 for a draw and for a lost side
    /// without a legal move.
    pub plies: u16,
}

/// A value under a no-capture limit at a clock, in the words of the field.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueAtClock {
    /// The result.
    pub wdl: Wdl,
    /// `win`, `cursed-win` (a win that the limit spoils), `draw`, `blessed-loss` (a loss that it saves) or `loss`.
    pub category: &'static str,
    /// The plies to the next capture or den entry; `None` for a draw at every clock.
    pub dtz: Option<u16>,
}

impl Dtz {
    const DRAW: Dtz = Dtz { wdl: Wdl::Draw, plies: 0 };

    /// The value that a cell of a table with [`Metric::Dtz`](super::Metric::Dtz) represents under these rules.
    #[must_use]
    pub fn of(value: CellValue, rules: &Rules) -> Dtz {
        match value {
            CellValue::Draw => Dtz::DRAW,
            CellValue::NoMove if rules.options().no_move == NoMove::Draw => Dtz::DRAW,
            CellValue::NoMove => Dtz { wdl: Wdl::Loss, plies: 0 },
            CellValue::Decided(number) => Dtz::of_decided(number),
        }
    }

    /// The value of [`CellValue::Decided`] with this number: `2n - 1` is a win in `n` plies, `2n` a loss.
    pub(super) fn of_decided(number: u16) -> Dtz {
        Dtz { wdl: if number % 2 == 1 { Wdl::Win } else { Wdl::Loss }, plies: number.div_ceil(2) }
    }

    /// The number of [`CellValue::Decided`] for a win or a loss in at least one ply.
    pub(super) fn decided(self) -> u16 {
        2 * self.plies - u16::from(self.wdl == Wdl::Win)
    }

    /// The value of a finished game; `None` if the game is not over. See [`Value::of_finished`](super::Value::of_finished).
    fn of_finished(position: &Position) -> Option<Dtz> {
        let winner = position.winner()?;
        Some(Dtz { wdl: Wdl::of(Some(winner), position.turn()), plies: 0 })
    }

    /// The result with so many plies left before the limit.
    #[must_use]
    pub fn within(self, plies_left: u32) -> Wdl {
        if u32::from(self.plies) <= plies_left { self.wdl } else { Wdl::Draw }
    }

    /// The value with so many plies left before the limit.
    #[must_use]
    pub fn at(self, plies_left: u32) -> ValueAtClock {
        let wdl = self.within(plies_left);
        let category = match (self.wdl, wdl) {
            (Wdl::Win, Wdl::Draw) => "cursed-win",
            (Wdl::Loss, Wdl::Draw) => "blessed-loss",
            (Wdl::Win, _) => "win",
            (Wdl::Loss, _) => "loss",
            (Wdl::Draw, _) => "draw",
        };
        ValueAtClock { wdl, category, dtz: (self.wdl != Wdl::Draw).then_some(self.plies) }
    }

    /// The value of the move that leads to a position with this value, for the side that makes it; `converts` tells whether
    /// the move is a capture, after which the clock begins again.
    #[must_use]
    pub fn before(self, converts: bool) -> Dtz {
        let plies = match self.wdl {
            Wdl::Draw => 0,
            _ if converts => 1,
            _ => self.plies + 1,
        };
        Dtz { wdl: self.wdl.before(), plies }
    }
}

/// Probes for values under a no-capture limit.
pub trait ProbeDtz {
    /// Why a look-up failed.
    type Error;

    /// The rules of the values.
    fn rules(&self) -> &Rules;

    /// The no-capture limit in plies.
    fn limit(&self) -> u16;

    /// The value of a position in which the game is not over; `None` if the tables do not cover it.
    ///
    /// # Errors
    /// If the look-up fails, for instance because a file cannot be read.
    fn open_dtz(&self, position: &Position) -> Result<Option<Dtz>, Self::Error>;

    /// The value of a position; also of a finished game. `None` if the tables do not cover it.
    ///
    /// # Errors
    /// As [`open_dtz`](ProbeDtz::open_dtz).
    fn dtz(&self, position: &Position) -> Result<Option<Dtz>, Self::Error> {
        Dtz::of_finished(position).map_or_else(|| self.open_dtz(position), |finished| Ok(Some(finished)))
    }

    /// The value of every legal move with so many plies left before the limit: the first keeps the result. Of wins the
    /// shortest come first, of losses the longest, and of draws those in which the opponent can go wrong: wins that the limit
    /// spoils before losses that it saves. `None` if the tables do not cover the position after some move.
    ///
    /// # Errors
    /// As [`open_dtz`](ProbeDtz::open_dtz).
    fn dtz_moves(&self, position: &Position, plies_left: u32) -> Result<Option<Vec<(Move, Dtz)>>, Self::Error> {
        let mut moves = Vec::new();
        for &mv in &position.moves(self.rules()) {
            let Some(value) = self.dtz(&position.make(mv))? else { return Ok(None) };
            moves.push((mv, value.before(mv.is_capture(position))));
        }
        let rank = |value: Dtz| {
            let plies = i32::from(value.plies);
            (value.within(plies_left), value.wdl, if value.wdl == Wdl::Win { -plies } else { plies })
        };
        moves.sort_by_key(|&(_, value)| Reverse(rank(value)));
        Ok(Some(moves))
    }

    /// Best play from a position with so many plies left before the limit, each move with the position in which it is made: to
    /// the end of the game. Empty for a draw and for a position that the tables do not cover.
    ///
    /// # Errors
    /// As [`open_dtz`](ProbeDtz::open_dtz).
    fn dtz_line(&self, position: &Position, plies_left: u32) -> Result<Vec<(Move, Position)>, Self::Error> {
        let (mut line, mut current, mut left) = (Vec::new(), position.clone(), plies_left);
        while current.winner().is_none()
            && let Some(&(mv, value)) = self.dtz_moves(&current, left)?.as_deref().and_then(<[_]>::first)
            && value.within(left) != Wdl::Draw
        {
            left = if mv.is_capture(&current) { self.limit().into() } else { left - 1 };
            let next = current.make(mv);
            line.push((mv, std::mem::replace(&mut current, next)));
        }
        Ok(line)
    }
}
