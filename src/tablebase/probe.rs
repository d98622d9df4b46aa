//! Probing: the value of a position (win, draw or loss, and the distance), the value of every move, and a line of best
//! play. Tables on disk, a solver in memory and the tables of the search implement [`Probe`].

use super::CellValue;
use crate::board::{Color, Move, NoMove, Position, Rules};
use std::cmp::{Ordering, Reverse};

/// Win, draw or loss from the side to move's view. A greater result is better for the side to move.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wdl {
    /// The side to move loses.
    Loss,
    /// Neither side can force a win.
    Draw,
    /// The side to move wins.
    Win,
}

impl Wdl {
    /// The result for `side` of a game that `winner` has won; `None` is a draw.
    #[must_use]
    pub fn of(winner: Option<Color>, side: Color) -> Wdl {
        match winner {
            None => Wdl::Draw,
            Some(winner) if winner == side => Wdl::Win,
            Some(_) => Wdl::Loss,
        }
    }

    /// The winner if this is the result for `side`; `None` for a draw.
    #[must_use]
    pub fn winner(self, side: Color) -> Option<Color> {
        match self {
            Wdl::Loss => Some(!side),
            Wdl::Draw => None,
            Wdl::Win => Some(side),
        }
    }

    /// 1 for a win, 0 for a draw, -1 for a loss.
    #[must_use]
    pub fn sign(self) -> i8 {
        self as i8 - Wdl::Draw as i8
    }

    /// The result of the move that leads to a position with this result, for the side that makes the move.
    #[must_use]
    pub fn before(self) -> Wdl {
        match self {
            Wdl::Loss => Wdl::Win,
            Wdl::Draw => Wdl::Draw,
            Wdl::Win => Wdl::Loss,
        }
    }
}

/// Win, draw or loss, and the distance to the end: of a position for the side to move, or of a move for the side that
/// makes it. Values are ordered from worst to best: a loss, a draw, a win; a longer loss and a shorter win are better, and a
/// known distance is better than an unknown one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// The result under best play.
    pub wdl: Wdl,
    /// The distance to the end in plies (DTW); `None` for a draw, and if the tables store results alone.
    pub dtw: Option<u16>,
}

impl Value {
    /// Neither side can force a win.
    pub const DRAW: Value = Value { wdl: Wdl::Draw, dtw: None };

    /// The value of a position decided in `plies`: a win if the number is odd, a loss if it is even.
    fn decided(plies: u16) -> Value {
        Value { wdl: if plies % 2 == 1 { Wdl::Win } else { Wdl::Loss }, dtw: Some(plies) }
    }

    /// The value that a table cell represents under these rules.
    #[must_use]
    pub fn of(value: CellValue, rules: &Rules) -> Value {
        match value {
            CellValue::Draw => Value::DRAW,
            CellValue::NoMove if rules.options().no_move == NoMove::Draw => Value::DRAW,
            CellValue::NoMove => Value::decided(0),
            CellValue::Decided(plies) => Value::decided(plies),
        }
    }

    /// The value of a finished game; `None` if the game is not over. A position without a legal move (stalemate) does
    /// not count as finished here, since tables contain its value.
    #[must_use]
    pub fn of_finished(position: &Position) -> Option<Value> {
        let winner = position.winner()?;
        Some(Value { wdl: Wdl::of(Some(winner), position.turn()), dtw: Some(0) })
    }

    /// The value of the move that leads to a position with this value, for the side that makes the move.
    #[must_use]
    pub fn before(self) -> Value {
        Value { wdl: self.wdl.before(), dtw: self.dtw.map(|plies| plies + 1) }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        let rank = |value: &Value| match value.wdl {
            Wdl::Win => (value.wdl, Reverse(Some(value.dtw.unwrap_or(u16::MAX))), None),
            Wdl::Draw | Wdl::Loss => (value.wdl, Reverse(None), value.dtw),
        };
        rank(self).cmp(&rank(other))
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Probes for the result (WDL) alone. Every [`Probe`] implements it.
pub trait ProbeWdl {
    /// Why a look-up failed.
    type Error;

    /// The result of a position, also of a finished game; `None` if the tables do not cover it.
    ///
    /// # Errors
    /// If the look-up fails.
    fn wdl(&self, position: &Position) -> Result<Option<Wdl>, Self::Error>;
}

/// Probes for results and distances.
pub trait Probe {
    /// Why a look-up failed.
    type Error;

    /// The rules of the values. Their repetition rule has no effect on values.
    fn rules(&self) -> &Rules;

    /// The value of a position; also of a finished game. `None` if the tables do not cover it.
    ///
    /// # Errors
    /// If the look-up fails, for instance because a file cannot be read.
    fn value(&self, position: &Position) -> Result<Option<Value>, Self::Error>;

    /// The value of every legal move for the side that makes it; the distance counts the move itself. Best first, moves
    /// of equal value in the order of the move generator. `None` if the tables do not cover the position after some
    /// move.
    ///
    /// # Errors
    /// As [`value`](Probe::value).
    fn moves(&self, position: &Position) -> Result<Option<Vec<(Move, Value)>>, Self::Error> {
        let mut moves = Vec::new();
        for &mv in &position.moves(self.rules()) {
            let Some(value) = self.value(&position.make(mv))? else { return Ok(None) };
            moves.push((mv, value.before()));
        }
        moves.sort_by_key(|&(_, value)| Reverse(value));
        Ok(Some(moves))
    }

    /// Best play to the end, each move with the position in which it is made; of equal moves the first. Empty for a
    /// draw and for a position that the tables do not cover.
    ///
    /// # Errors
    /// As [`value`](Probe::value).
    fn line(&self, position: &Position) -> Result<Vec<(Move, Position)>, Self::Error> {
        self.line_within(position, usize::MAX)
    }

    /// The first `plies` plies of [`line`](Probe::line).
    ///
    /// # Errors
    /// As [`value`](Probe::value).
    fn line_within(&self, position: &Position, plies: usize) -> Result<Vec<(Move, Position)>, Self::Error> {
        let mut line = Vec::new();
        let mut current = position.clone();
        let mut left = None;
        while line.len() < plies
            && let Some(moves) = self.moves(&current)?
        {
            // A draw has no distance.
            let Some(&(mv, Value { dtw: Some(plies), .. })) = moves.first() else { break };
            // Forged values could form a cycle: the line ends where the distance does not fall by one.
            if left.is_some_and(|left| plies != left) {
                break;
            }
            left = plies.checked_sub(1);
            let next = current.make(mv);
            line.push((mv, std::mem::replace(&mut current, next)));
        }
        Ok(line)
    }
}

impl<P: Probe + ?Sized> ProbeWdl for P {
    type Error = P::Error;

    fn wdl(&self, position: &Position) -> Result<Option<Wdl>, P::Error> {
        Ok(self.value(position)?.map(|value| value.wdl))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greater_value_is_the_better_one() {
        let plies = |plies| Value::of(CellValue::Decided(plies), &Rules::default());
        let unknown = |wdl| Value { wdl, dtw: None };
        let worst_first = [
            unknown(Wdl::Loss),
            plies(2),
            plies(4),
            plies(100),
            Value::DRAW,
            unknown(Wdl::Win),
            plies(101),
            plies(3),
            plies(1),
        ];
        assert!(worst_first.is_sorted_by(|a, b| a < b));
        assert_eq!(plies(2).before(), plies(3));
        assert_eq!(Value::DRAW.before(), Value::DRAW);
        assert_eq!(unknown(Wdl::Win).before(), unknown(Wdl::Loss));
    }
}
