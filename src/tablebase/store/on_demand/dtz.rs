//! Values under a no-capture limit of positions with one piece more than the tables, by solving the whole class.

use super::counter::ClassCounter;
use super::{AnswerSource, OnDemandError};
use crate::board::{Position, Rules};
use crate::tablebase::store::prober::TableProber;
use crate::tablebase::{Dtz, DtzProber, ProbeDtz, SetError, TableSet};
use std::path::Path;

/// Probes tables on disk that know a no-capture limit, and counts classes with one piece more under this limit when a probe
/// needs them.
///
/// As a [`ProbeDtz`] it covers the tables and the classes in the cache. A class whose file in the cache is damaged counts as
/// not counted; a count replaces the file.
pub struct DtzOnDemand {
    counter: ClassCounter,
}

impl DtzOnDemand {
    /// Counts classes from these tables, as [`OnDemand::new`](super::OnDemand::new).
    ///
    /// # Errors
    /// If the directory cannot be created.
    pub fn new(tables: DtzProber, dir: &Path, size: u64) -> Result<DtzOnDemand, OnDemandError> {
        Ok(DtzOnDemand { counter: ClassCounter::new(TableProber::new(tables.into_set()), dir, size)? })
    }

    /// Limits the memory of counts, as [`OnDemand::with_memory`](super::OnDemand::with_memory).
    #[must_use]
    pub fn with_memory(self, bytes: impl Into<Option<usize>>) -> DtzOnDemand {
        DtzOnDemand { counter: self.counter.with_memory(bytes.into()) }
    }

    /// The tables.
    #[must_use]
    pub fn set(&self) -> &TableSet {
        self.counter.tables.set()
    }

    /// Counts the classes.
    #[must_use]
    pub fn counter(&self) -> &ClassCounter {
        &self.counter
    }

    /// The source of the value of a position.
    ///
    /// # Errors
    /// If the position has too many pieces.
    pub fn source(&self, position: &Position) -> Result<AnswerSource, OnDemandError> {
        Ok(if self.counter.class(position)?.is_some() { AnswerSource::Cache } else { AnswerSource::Tables })
    }
}

impl ProbeDtz for DtzOnDemand {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        self.set().rules()
    }

    fn limit(&self) -> u16 {
        self.set().no_capture_limit().unwrap_or(0)
    }

    fn open_dtz(&self, position: &Position) -> Result<Option<Dtz>, SetError> {
        let value = self.counter.unless_damaged(self.counter.known_cell(position))?;
        Ok(value.map(|value| Dtz::of(value, self.rules())))
    }
}
