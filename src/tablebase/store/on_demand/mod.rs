//! Values of positions with one piece more than the tables, by a short forward search or by solving the whole class. A
//! cache keeps the tables of counted classes.

mod class_cache;
mod counter;
mod distance;
mod dtz;
mod error;
#[cfg(test)]
mod tests;

use super::error::SetError;
use super::table_error::TableError;
use crate::board::{Move, Position, Rules};
use crate::tablebase::address::Address;
use crate::tablebase::solve::progress::Follow;
use crate::tablebase::{Probe, SolveError, TableProber, Value};
pub use counter::{ClassCounter, CountNeed};
use distance::{Distances, Probed, Stop};
pub use dtz::DtzOnDemand;
pub use error::OnDemandError;
use serde::Serialize;
use std::cmp::Reverse;
use std::path::Path;

/// The limits of the forward search before a count: the longest line in plies, and the most positions to visit. The
/// search takes less than a second.
const SEARCH_PLIES: u16 = 11;
const SEARCH_BUDGET: usize = 20_000;

/// Probes tables on disk, and counts classes with one piece more when a probe needs them.
///
/// As a [`Probe`] it covers the tables and the classes in the cache. A class whose file in the cache is damaged counts as
/// not counted; a count replaces the file. [`probe_now`](OnDemand::probe_now) also searches,
/// and [`probe`](OnDemand::probe) also counts missing classes.
pub struct OnDemand {
    counter: ClassCounter,
}

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

impl OnDemand {
    /// Counts classes from these tables, with a cache in `dir` of up to `size` bytes. Creates the directory if it does
    /// not exist.
    ///
    /// # Errors
    /// If the directory cannot be created.
    pub fn new(tables: TableProber, dir: &Path, size: u64) -> Result<OnDemand, OnDemandError> {
        Ok(OnDemand { counter: ClassCounter::new(tables, dir, size)? })
    }

    /// Limits the memory of counts to so many bytes. Without a limit they use the available memory.
    #[must_use]
    pub fn with_memory(self, bytes: impl Into<Option<usize>>) -> OnDemand {
        OnDemand { counter: self.counter.with_memory(bytes.into()) }
    }

    /// The tables.
    #[must_use]
    pub fn tables(&self) -> &TableProber {
        &self.counter.tables
    }

    /// Counts the classes.
    #[must_use]
    pub fn counter(&self) -> &ClassCounter {
        &self.counter
    }

    /// Answers from the tables and the cache, or by a short search; `None` if that does not suffice. With `all_moves` an
    /// answer contains the values of all moves. It takes at most about a second.
    ///
    /// # Errors
    /// If the position has too many pieces, or a file cannot be read.
    pub fn probe_now(&self, position: &Position, all_moves: bool) -> Result<Option<OnDemandAnswer>, OnDemandError> {
        self.counter.check_size(position)?;
        if let (Some(value), Some(moves)) = (self.value(position)?, self.moves(position)?) {
            let source = match self.counter.counted_class(position) {
                Some(_) => AnswerSource::Cache,
                None => AnswerSource::Tables,
            };
            let moves = moves.into_iter().map(|(mv, value)| (mv, Some(value))).collect();
            return Ok(Some(OnDemandAnswer { value, moves, source }));
        }
        Ok(self.search(position)?.filter(|answer| !all_moves || answer.moves.iter().all(|(_, value)| value.is_some())))
    }

    /// Answers as [`probe_now`](OnDemand::probe_now), and counts the class if that does not suffice.
    ///
    /// # Errors
    /// As [`probe_now`](OnDemand::probe_now) and [`count`](ClassCounter::count).
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
            self.counter.count(position, follow)?;
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
        self.counter.count(position, follow)?;
        match self.line(position) {
            Err(SetError::Table(TableError::Damaged { .. })) => {
                self.counter.count(position, follow)?;
                Ok(self.line(position)?)
            }
            line => Ok(line?),
        }
    }

    /// The value of a position, as [`known_cell`](OnDemand::known_cell); also of a finished game.
    fn known_value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        match Value::of_finished(position) {
            Some(value) => Ok(Some(value)),
            None => Ok(self.counter.known_cell(position)?.map(|value| Value::of(value, self.rules()))),
        }
    }

    /// The answer of a short search.
    fn search(&self, position: &Position) -> Result<Option<OnDemandAnswer>, SetError> {
        let rules = self.counter.tables.rules();
        let look_up = |position: &Position| -> Result<Probed, SetError> {
            if let Some(value) = Value::of_finished(position) {
                return Ok(Probed::Value(value));
            }
            let Some(Address { class, turn, cell }) = self.counter.addresser.locate(position) else {
                return Ok(Probed::Unknown(0));
            };
            let known = if self.counter.has_table(class) { self.counter.tables.value(position)? } else { None };
            let key = (class.index() as u64) << 48 | (cell as u64) << 1 | turn as u64;
            Ok(known.map_or(Probed::Unknown(key), Probed::Value))
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

impl Probe for OnDemand {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        self.counter.tables.rules()
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        self.counter.unless_damaged(self.known_value(position))
    }

    fn moves(&self, position: &Position) -> Result<Option<Vec<(Move, Value)>>, SetError> {
        self.counter.unless_damaged(Known(self).moves(position))
    }

    /// A damaged file in the cache is an error once; then its class counts as not counted.
    fn line_within(&self, position: &Position, plies: usize) -> Result<Vec<(Move, Position)>, SetError> {
        Known(self).line_within(position, plies)
    }
}

/// Probes the tables and the cache, and fails at damage.
struct Known<'a>(&'a OnDemand);

impl Probe for Known<'_> {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        self.0.rules()
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        self.0.known_value(position)
    }
}
