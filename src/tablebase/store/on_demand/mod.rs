//! Values of positions with one piece more than the tables, by a short forward search or by solving the whole class. A
//! cache keeps the tables of counted classes.

mod class_cache;
mod counter;
mod distance;
mod error;
#[cfg(test)]
mod tests;

use super::error::SetError;
use super::table_error::TableError;
use crate::board::{Move, Position};
use crate::tablebase::address::Address;
use crate::tablebase::solve::progress::Follow;
use crate::tablebase::{Probe as _, SolveError, TableProber, Value};
use counter::check_size;
pub use counter::{ClassCounter, CountCache, CountNeed};
use distance::{Distances, Probed, Stop};
pub use error::OnDemandError;
use serde::Serialize;
use std::cmp::Reverse;

/// The limits of the forward search before a count: the longest line in plies, and the most positions to visit. The
/// search takes less than a second.
const SEARCH_PLIES: u16 = 11;
const SEARCH_BUDGET: usize = 20_000;

/// The source of an answer.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerSource {
    /// The tables on disk.
    Tables,
    /// A forward search that ends in the tables.
    Search,
    /// The table of a counted class.
    Cache,
}

/// The value of a position and of its moves.
#[derive(Clone, Debug, PartialEq)]
pub struct OnDemandAnswer {
    /// The value of the position.
    pub value: Value,
    /// The legal moves with their values for the side that makes them, best first. A search that has found the value of the
    /// position does not determine the values of moves that are no better (`None`); they come last.
    pub moves: Vec<(Move, Option<Value>)>,
    /// The source of the answer.
    pub source: AnswerSource,
}

impl TableProber {
    /// Answers from the tables and, if classes are counted, from the cache or by a short search; `None` if that does not
    /// suffice. With `all_moves` an answer contains the values of all moves. It takes at most about a second.
    ///
    /// # Errors
    /// If the position has too many pieces, or a file cannot be read.
    pub fn probe_now(&self, position: &Position, all_moves: bool) -> Result<Option<OnDemandAnswer>, OnDemandError> {
        let tables = self.set().classes().pieces();
        check_size(position, self.counter().map_or(tables, |counter| counter.pieces()))?;
        if let (Some(value), Some(moves)) = (self.value(position)?, self.moves(position)?) {
            let moves = moves.into_iter().map(|(mv, value)| (mv, Some(value))).collect();
            return Ok(Some(OnDemandAnswer { value, moves, source: self.source(position) }));
        }
        let Some(counter) = self.counter() else { return Ok(None) };
        let answer = counter.search(position)?;
        Ok(answer.filter(|answer| !all_moves || answer.moves.iter().all(|(_, value)| value.is_some())))
    }

    /// Answers as [`probe_now`](TableProber::probe_now), and counts the class if that does not suffice.
    ///
    /// # Errors
    /// As [`probe_now`](TableProber::probe_now) and [`count`](ClassCounter::count).
    pub fn probe(
        &self,
        position: &Position,
        all_moves: bool,
        follow: Follow<'_>,
    ) -> Result<OnDemandAnswer, OnDemandError> {
        for _ in 0..2 {
            if let Some(answer) = self.probe_now(position, all_moves)? {
                return Ok(answer);
            }
            self.count(position, follow)?;
        }
        let answer = self.probe_now(position, all_moves)?;
        answer.ok_or_else(|| SolveError::Stopped.into())
    }

    /// Best play to the end. Counts the class of the position if the tables do not contain it, and again if its file
    /// turns out to be damaged.
    ///
    /// # Errors
    /// As [`ClassCounter::count`].
    pub fn probe_line(&self, position: &Position, follow: Follow<'_>) -> Result<Vec<(Move, Position)>, OnDemandError> {
        self.count(position, follow)?;
        match self.line(position) {
            Err(SetError::Table(TableError::Damaged { .. })) => {
                self.count(position, follow)?;
                Ok(self.line(position)?)
            }
            line => Ok(line?),
        }
    }
}

impl ClassCounter {
    /// The answer of a short search.
    fn search(&self, position: &Position) -> Result<Option<OnDemandAnswer>, SetError> {
        let rules = self.tables.rules();
        let look_up = |position: &Position| -> Result<Probed, SetError> {
            if let Some(value) = Value::of_finished(position) {
                return Ok(Probed::Value(value));
            }
            let Some(Address { class, turn, cell }) = self.addresser.locate(position) else {
                return Ok(Probed::Unknown(0));
            };
            let known = if self.has_table(class) { self.tables.look_up(position, None)? } else { None };
            let key = (class.index() as u64) << 48 | (cell as u64) << 1 | turn as u64;
            Ok(known.map_or(Probed::Unknown(key), |value| Probed::Value(Value::of(value, rules))))
        };
        let mut distances = Distances::new(rules, &look_up, SEARCH_BUDGET);
        let Some(value) = found(distances.value(position, SEARCH_PLIES))? else { return Ok(None) };
        let mut moves = Vec::new();
        for &mv in &position.moves(rules) {
            let value = found(distances.value(&position.make(mv), SEARCH_PLIES))?;
            moves.push((mv, value.map(Value::before)));
        }
        moves.sort_by_key(|&(_, value)| Reverse(value));
        Ok(Some(OnDemandAnswer { value, moves, source: AnswerSource::Search }))
    }
}

/// The result of a search; `None` if its budget was too small.
fn found<T>(result: Result<Option<T>, Stop>) -> Result<Option<T>, SetError> {
    match result {
        Ok(value) => Ok(value),
        Err(Stop::Budget) => Ok(None),
        Err(Stop::Tables(error)) => Err(error),
    }
}
