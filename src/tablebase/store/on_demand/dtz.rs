//! Values under a no-capture limit of positions with one piece more than the tables, by solving the whole class.

use super::{AnswerSource, OnDemand, OnDemandError};
use crate::board::{Position, Rules};
use crate::tablebase::solve::progress::Follow;
use crate::tablebase::store::prober::TableProber;
use crate::tablebase::{Dtz, DtzProber, ProbeDtz, SetError, TableSet};
use std::path::Path;

/// Probes tables on disk that know a no-capture limit, and counts classes with one piece more under this limit when a probe
/// needs them.
///
/// As a [`ProbeDtz`] it covers the tables and the classes in the cache. A class whose file in the cache is damaged counts as
/// not counted; a count replaces the file.
pub struct DtzOnDemand {
    /// Counts and finds cells; the numbers of the cells are not those that its own values assume.
    counted: OnDemand,
}

impl DtzOnDemand {
    /// Counts classes from these tables, as [`OnDemand::new`].
    ///
    /// # Errors
    /// If the directory cannot be created.
    pub fn new(tables: DtzProber, dir: &Path, size: u64) -> Result<DtzOnDemand, OnDemandError> {
        Ok(DtzOnDemand { counted: OnDemand::new(TableProber::new(tables.into_set()), dir, size)? })
    }

    /// Limits the memory of counts to `bytes`, as [`OnDemand::with_memory`].
    #[must_use]
    pub fn with_memory(self, bytes: usize) -> DtzOnDemand {
        DtzOnDemand { counted: self.counted.with_memory(bytes) }
    }

    /// The tables.
    #[must_use]
    pub fn set(&self) -> &TableSet {
        self.counted.tables.set()
    }

    /// The source of the value of a position.
    ///
    /// # Errors
    /// If the position has too many pieces.
    pub fn source(&self, position: &Position) -> Result<AnswerSource, OnDemandError> {
        Ok(if self.counted.class(position)?.is_some() { AnswerSource::Cache } else { AnswerSource::Tables })
    }

    /// Counts the class of a position, unless the tables or the cache contain it, as [`OnDemand::count`].
    ///
    /// # Errors
    /// As [`OnDemand::count`].
    pub fn count(&self, position: &Position, follow: Follow<'_>) -> Result<(), OnDemandError> {
        self.counted.count(position, follow)
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
        let value = self.counted.unless_damaged(self.counted.known_cell(position))?;
        Ok(value.map(|value| Dtz::of(value, self.rules())))
    }
}
