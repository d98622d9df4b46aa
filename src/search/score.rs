//! The value of a position: [`Score`] in the public API, plain integers inside the search.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The value of a position for the side to move: an estimate, or a certain win or loss.
///
/// Estimates are in centipawns, UCI's `cp`: 100 cp are the material value of a cat. The exact distance is known if the
/// search itself found the win or loss ([`Score::win_in`]). If the search reached endgame tables without distances, or
/// was interrupted, an upper bound is known ([`Score::win_within`]).
///
/// Scores are ordered: losses, estimates, wins. A win of known distance is above every other win.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i32);

impl Score {
    /// The value of a game won at once; a win `n` plies away is worth `n` less.
    const WIN: i32 = 1_000_000;
    /// The value of a table win within no plies; a win within `n` plies is worth `n` less.
    const TABLE_WIN: i32 = 900_000;
    /// The most plies of a win that are told apart, far above the longest.
    const MAX_PLIES: i32 = 10_000;
    /// The largest estimate, below every win.
    const MAX_ESTIMATE: i32 = Score::TABLE_WIN - Score::MAX_PLIES - 1;

    /// An estimate in cp, see [`Score`]. An estimate as large as a win counts as the largest estimate, 889,999 cp.
    #[must_use]
    pub fn estimate(value: i32) -> Score {
        Score(value.clamp(-Score::MAX_ESTIMATE, Score::MAX_ESTIMATE))
    }

    /// A certain win, `plies` plies away; more than 10,000 plies count as 10,000.
    #[must_use]
    pub fn win(plies: u32) -> Score {
        Score(Score::WIN - plies.min(Score::MAX_PLIES as u32) as i32)
    }

    /// A certain loss, `plies` plies away; more than 10,000 plies count as 10,000.
    #[must_use]
    pub fn loss(plies: u32) -> Score {
        Score(-Score::win(plies).0)
    }

    /// A certain win, at most `plies` plies away.
    #[must_use]
    pub(crate) fn table_win(plies: u32) -> Score {
        Score(Score::TABLE_WIN - plies.min(Score::MAX_PLIES as u32) as i32)
    }

    /// A certain loss, at most `plies` plies away.
    #[must_use]
    pub(crate) fn table_loss(plies: u32) -> Score {
        Score(-Score::table_win(plies).0)
    }

    /// Whether the side to move certainly wins.
    #[must_use]
    pub fn is_win(self) -> bool {
        self.0 >= Score::TABLE_WIN - Score::MAX_PLIES
    }

    /// Whether the side to move certainly loses.
    #[must_use]
    pub fn is_loss(self) -> bool {
        Score(-self.0).is_win()
    }

    /// The plies to a certain win, if they are known.
    #[must_use]
    pub fn win_in(self) -> Option<u32> {
        (self.0 >= Score::WIN - Score::MAX_PLIES).then(|| (Score::WIN - self.0) as u32)
    }

    /// The plies to a certain loss, if they are known.
    #[must_use]
    pub fn loss_in(self) -> Option<u32> {
        Score(-self.0).win_in()
    }

    /// The most plies that a certain win takes.
    #[must_use]
    pub fn win_within(self) -> Option<u32> {
        self.win_in().or_else(|| self.is_win().then(|| (Score::TABLE_WIN - self.0) as u32))
    }

    /// The most plies that a certain loss takes.
    #[must_use]
    pub fn loss_within(self) -> Option<u32> {
        Score(-self.0).win_within()
    }

    /// The score of a win or loss of known distance, as a win or loss in at most so many plies.
    pub(super) fn without_distance(self) -> Score {
        match (self.win_in(), self.loss_in()) {
            (Some(plies), _) => Score::table_win(plies),
            (_, Some(plies)) => Score::table_loss(plies),
            _ => self,
        }
    }

    /// The score of the position before a move that leads to this one, for the side that made the move.
    #[must_use]
    pub fn before_move(self) -> Score {
        match (self.win_in(), self.loss_in(), self.win_within(), self.loss_within()) {
            (Some(plies), ..) => Score::loss(plies + 1),
            (_, Some(plies), ..) => Score::win(plies + 1),
            (_, _, Some(plies), _) => Score::table_loss(plies + 1),
            (.., Some(plies)) => Score::table_win(plies + 1),
            _ => Score(-self.0),
        }
    }

    /// The score as a number: wins are above, losses below every estimate.
    #[must_use]
    pub fn value(self) -> i32 {
        self.0
    }
}

/// As the number of [`Score::value`].
impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(self.0)
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Score, D::Error> {
        let value = i32::deserialize(deserializer)?;
        let score = Score(value.clamp(-Score::WIN, Score::WIN));
        let is_estimate = score == Score::estimate(value);
        let is_distance =
            [score.win_within(), score.loss_within()].iter().flatten().any(|&plies| plies <= Score::MAX_PLIES as u32);
        if score.0 == value && (is_estimate || is_distance) {
            return Ok(score);
        }
        Err(D::Error::custom(format_args!("{value} is not the value of a score")))
    }
}

/// The UCI notation: `cp 13`, or `mate 3` in moves of the winner, negative for a loss. If only an upper bound of the
/// distance is known, it is `mate 30 lowerbound` or `mate -30 upperbound`.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.win_within(), self.loss_within()) {
            (Some(plies), _) => write!(f, "mate {}", plies.div_ceil(2))?,
            (_, Some(plies)) => write!(f, "mate -{}", plies.div_ceil(2))?,
            _ => write!(f, "cp {}", self.0)?,
        }
        match *self {
            score if score.is_win() && score.win_in().is_none() => f.write_str(" lowerbound"),
            score if score.is_loss() && score.loss_in().is_none() => f.write_str(" upperbound"),
            _ => Ok(()),
        }
    }
}

/// A value for the side to move inside a search: wins count plies from the root.
pub(super) type Value = i32;

/// A game won in the root position itself; a win `n` plies later is worth `n` less.
pub(super) const MATE: Value = 32_000;
/// A win in an endgame table. The distance is only the distance to the table's position.
pub(super) const TB_WIN: Value = 30_000;
/// A value below every certain win and above every estimate.
pub(super) const DECIDED: Value = 29_000;
/// A bound above every value.
pub(super) const INFINITE: Value = MATE + 1;
/// The largest estimate.
pub(super) const MAX_ESTIMATE: Value = 25_000;
/// The most plies of a line.
pub(super) const MAX_PLY: usize = 240;

/// The value of a win `ply` plies from the root.
#[inline(always)]
pub(super) const fn mate_in(ply: usize) -> Value {
    MATE - ply as Value
}

/// The value of a loss `ply` plies from the root.
#[inline(always)]
pub(super) const fn mated_in(ply: usize) -> Value {
    ply as Value - MATE
}

/// Whether the value is a win or loss of known distance, found without endgame tables.
pub(super) fn is_exact(value: Value) -> bool {
    value.abs() >= MATE - 1000
}

/// The public score of a value. `longest` is the number of plies of the longest win in the endgame tables that the
/// search probes.
pub(super) fn public(value: Value, longest: u32) -> Score {
    let size = value.abs();
    match value {
        _ if size < DECIDED => Score::estimate(value),
        1.. if is_exact(value) => Score::win((MATE - size) as u32),
        1.. => Score::table_win((TB_WIN - size) as u32 + longest),
        _ if is_exact(value) => Score::loss((MATE - size) as u32),
        _ => Score::table_loss((TB_WIN - size) as u32 + longest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_ordered_and_print_as_uci() {
        let values = [
            (mated_in(2), "mate -1"),
            (mated_in(7), "mate -4"),
            (5 - TB_WIN, "mate -33 upperbound"),
            (9 - TB_WIN, "mate -35 upperbound"),
            (-MAX_ESTIMATE, "cp -25000"),
            (0, "cp 0"),
            (13, "cp 13"),
            (TB_WIN - 6, "mate 33 lowerbound"),
            (TB_WIN - 5, "mate 33 lowerbound"),
            (mate_in(7), "mate 4"),
            (mate_in(1), "mate 1"),
        ];
        let scores = values.map(|(value, _)| public(value, 60));
        assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
        for ((value, text), score) in values.into_iter().zip(scores) {
            assert_eq!(score.to_string(), text);
            assert_eq!((score.is_win(), score.is_loss()), (value >= DECIDED, value <= -DECIDED));
            assert_eq!(public(-value, 60).value(), -score.value());
            assert!(score.win_in().is_none_or(|plies| Some(plies) == score.win_within()));
        }
        assert_eq!(scores[7].win_within(), Some(66));
    }

    #[test]
    fn a_move_earlier_a_win_is_a_ply_farther() {
        assert_eq!(Score::loss(4).before_move(), Score::win(5));
        assert_eq!(Score::win(5).before_move(), Score::loss(6));
        assert_eq!(Score::table_loss(40).before_move(), Score::table_win(41));
        assert_eq!(Score::estimate(30).before_move(), Score::estimate(-30));
    }

    /// The farthest wins and the largest estimates remain what they are.
    #[test]
    fn extreme_scores_keep_their_kind() {
        for value in [1_000_001, 989_999, 900_001, -950_000, i32::MIN] {
            assert!(serde_json::from_value::<Score>(value.into()).is_err(), "{value}");
        }
        for score in [Score::win(3), Score::table_loss(50), Score::estimate(-889_999), Score::win(u32::MAX)] {
            assert_eq!(serde_json::from_value::<Score>(serde_json::to_value(score).unwrap()).unwrap(), score);
        }
        for plies in [9_999, 10_000, 10_001, u32::MAX] {
            let (mut win, mut table_win) = (Score::win(plies), Score::table_win(plies));
            for _ in 0..4 {
                let distance = win.win_in().or(win.loss_in()).unwrap();
                assert!((9_999..=10_000).contains(&distance) && win.to_string().contains("mate"), "{win}");
                assert!(table_win.win_in().is_none() && table_win.loss_in().is_none());
                assert!(table_win.win_within().or(table_win.loss_within()).is_some_and(|plies| plies <= 10_000));
                (win, table_win) = (win.before_move(), table_win.before_move());
            }
        }
        for cp in [i32::MIN, -950_000, 889_999, 950_000, 995_000, i32::MAX] {
            let score = Score::estimate(cp);
            assert!(!score.is_win() && !score.is_loss(), "{score}");
            assert_eq!(score.to_string(), format!("cp {}", cp.clamp(-889_999, 889_999)));
            assert!(score < Score::table_win(u32::MAX) && score > Score::table_loss(u32::MAX));
        }
    }
}
