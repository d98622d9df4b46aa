//! From a position to what is known of it: who wins, in how many plies, what each move leads to, and a line of best play.
//! Whoever has values implements [`Probe`]: tables on disk, a solver in memory, the tables of the search.

use super::Value;
use crate::board::{Move, NoMove, Position, Rules};
use std::cmp::{Ordering, Reverse};

/// Who wins, from the side to move's view. Greater is better for it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Wdl {
    /// The side to move loses.
    Loss,
    /// Neither side can force a win.
    Draw,
    /// The side to move wins.
    Win,
}

/// A value as a person asks for it: for the side to move, or of a move for the side that makes it. The greater of two is
/// the better one for that side: a win before a draw before a loss, the shorter win, the longer loss.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// Who wins.
    pub wdl: Wdl,
    /// Plies to the end; `None` for a draw.
    pub dtw: Option<u16>,
}

impl Verdict {
    /// Neither side can force a win.
    pub const DRAW: Verdict = Verdict { wdl: Wdl::Draw, dtw: None };

    /// The end in that many plies: a win if they are odd.
    fn decided(plies: u16) -> Verdict {
        Verdict { wdl: if plies % 2 == 1 { Wdl::Win } else { Wdl::Loss }, dtw: Some(plies) }
    }

    /// What a value means under these rules.
    #[must_use]
    pub fn of(value: Value, rules: &Rules) -> Verdict {
        match value {
            Value::Draw => Verdict::DRAW,
            Value::NoMove if rules.options().no_move == NoMove::Draw => Verdict::DRAW,
            Value::NoMove => Verdict::decided(0),
            Value::Decided(plies) => Verdict::decided(plies),
        }
    }

    /// The verdict on a game that is over; `None` if it goes on. A side without a move is no end here: tables have its value.
    #[must_use]
    pub fn of_finished(position: &Position) -> Option<Verdict> {
        let winner = position.winner()?;
        Some(Verdict { wdl: if winner == position.turn() { Wdl::Win } else { Wdl::Loss }, dtw: Some(0) })
    }

    /// The same from one ply before: the value of the move that led here.
    #[must_use]
    pub fn before(self) -> Verdict {
        self.dtw.map_or(Verdict::DRAW, |plies| Verdict::decided(plies + 1))
    }
}

impl Ord for Verdict {
    fn cmp(&self, other: &Verdict) -> Ordering {
        let rank = |verdict: &Verdict| match verdict.wdl {
            Wdl::Win => (verdict.wdl, Reverse(verdict.dtw), None),
            Wdl::Draw | Wdl::Loss => (verdict.wdl, Reverse(None), verdict.dtw),
        };
        rank(self).cmp(&rank(other))
    }
}

impl PartialOrd for Verdict {
    fn partial_cmp(&self, other: &Verdict) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Who wins, and nothing more. All that implement [`Probe`] have it.
pub trait ProbeWdl {
    /// Why a look-up failed.
    type Error;

    /// Who wins; also in a finished game. `None` if the position is not covered.
    ///
    /// # Errors
    /// What went wrong on the way to the value; nothing is said of the position then.
    fn wdl(&self, position: &Position) -> Result<Option<Wdl>, Self::Error>;
}

/// Who wins and in how many plies, and what follows from it.
pub trait Probe {
    /// Why a look-up failed.
    type Error;

    /// The rules that the values are for; what they say of repetition means nothing here.
    fn rules(&self) -> &Rules;

    /// The value of a position; also of a finished game. `None` if it is not covered.
    ///
    /// # Errors
    /// What went wrong on the way to the value, such as a file that cannot be read.
    fn verdict(&self, position: &Position) -> Result<Option<Verdict>, Self::Error>;

    /// The value of every legal move for the side that makes it, that move counted: best first, equal ones as the move
    /// generator has them. `None` if a move leads to what is not covered.
    ///
    /// # Errors
    /// As [`verdict`](Probe::verdict).
    fn moves(&self, position: &Position) -> Result<Option<Vec<(Move, Verdict)>>, Self::Error> {
        let mut moves = Vec::new();
        for &mv in &position.moves(self.rules()) {
            let Some(verdict) = self.verdict(&position.make(mv))? else { return Ok(None) };
            moves.push((mv, verdict.before()));
        }
        moves.sort_by_key(|&(_, verdict)| Reverse(verdict));
        Ok(Some(moves))
    }

    /// Best play to the end, the first of equal moves each time: each move with the position it is made in. Empty for a
    /// draw, which has no end, and for what is not covered.
    ///
    /// # Errors
    /// As [`verdict`](Probe::verdict).
    fn line(&self, position: &Position) -> Result<Vec<(Move, Position)>, Self::Error> {
        self.line_within(position, usize::MAX)
    }

    /// The first `plies` plies of the same.
    ///
    /// # Errors
    /// As [`verdict`](Probe::verdict).
    fn line_within(&self, position: &Position, plies: usize) -> Result<Vec<(Move, Position)>, Self::Error> {
        let mut line = Vec::new();
        let mut current = position.clone();
        let mut left = None;
        while line.len() < plies
            && let Some(moves) = self.moves(&current)?
        {
            let Some(&(mv, verdict)) = moves.first() else { break };
            if verdict.wdl == Wdl::Draw {
                break;
            }
            // Forged values could go round for ever: a line that gets no shorter ends here.
            if left.is_some_and(|left| verdict.dtw != Some(left)) {
                break;
            }
            left = verdict.dtw.and_then(|plies| plies.checked_sub(1));
            let next = current.make(mv);
            line.push((mv, std::mem::replace(&mut current, next)));
        }
        Ok(line)
    }
}

impl<P: Probe + ?Sized> ProbeWdl for P {
    type Error = P::Error;

    fn wdl(&self, position: &Position) -> Result<Option<Wdl>, P::Error> {
        Ok(self.verdict(position)?.map(|verdict| verdict.wdl))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greater_verdict_is_the_better_one() {
        let plies = |plies| Verdict::of(Value::Decided(plies), &Rules::default());
        let worst_first = [plies(2), plies(4), plies(100), Verdict::DRAW, plies(101), plies(3), plies(1)];
        assert!(worst_first.is_sorted_by(|a, b| a < b));
        assert_eq!(plies(2).before(), plies(3));
        assert_eq!(Verdict::DRAW.before(), Verdict::DRAW);
    }
}
