//! Probing a set of tables under stated rules.

use super::on_demand::{AnswerSource, ClassCounter, CountCache, OnDemandError};
use super::table_error::TableError;
use crate::board::{Move, Position, Rules};
use crate::tablebase::solve::progress::Follow;
use crate::tablebase::{CellValue, Dtz, Material, Probe, ProbeDtz, ProbeWdl, SetError, Table, TableSet, Value, Wdl};
use std::marker::PhantomData;
use std::sync::Arc;

/// Probes a [`TableSet`] for values `V` from any number of threads, and the classes that are counted from it, after
/// [`on_demand`](Prober::on_demand).
///
/// A counted class whose file in the cache is damaged counts as not counted; a count replaces the file.
pub struct Prober<V> {
    set: Arc<TableSet>,
    counter: Option<Arc<ClassCounter>>,
    values: PhantomData<V>,
}

/// Probes tables for results and distances. [`TableSet::prober`] creates it and checks that the tables are for the rules
/// of the game.
pub type TableProber = Prober<Value>;

/// Probes tables that know a no-capture limit. [`TableSet::dtz_prober`] creates it.
pub type DtzProber = Prober<Dtz>;

impl<V> Prober<V> {
    pub(super) fn new(set: TableSet) -> Prober<V> {
        Prober { set: Arc::new(set), counter: None, values: PhantomData }
    }

    /// Also probes the classes of one piece more in a cache, and lets [`counter`](Prober::counter) count them. Creates the
    /// directory if it does not exist.
    ///
    /// # Errors
    /// If the directory cannot be created.
    pub fn on_demand(self, cache: &CountCache) -> Result<Prober<V>, OnDemandError> {
        let counter = Some(Arc::new(ClassCounter::new(Arc::clone(&self.set), cache)?));
        Ok(Prober { counter, ..self })
    }

    /// The tables.
    #[must_use]
    pub fn set(&self) -> &TableSet {
        &self.set
    }

    /// What counts classes, if classes are counted.
    #[must_use]
    pub fn counter(&self) -> Option<&Arc<ClassCounter>> {
        self.counter.as_ref()
    }

    /// Counts the class of a position as [`ClassCounter::count`], if classes are counted.
    ///
    /// # Errors
    /// As [`ClassCounter::count`].
    pub fn count(&self, position: &Position, follow: Follow<'_>) -> Result<(), OnDemandError> {
        self.counter().map_or(Ok(()), |counter| counter.count(position, follow))
    }

    /// The source of the value of a position, once its class is counted.
    #[must_use]
    pub fn source(&self, position: &Position) -> AnswerSource {
        match self.counter().and_then(|counter| counter.counted_class(position)) {
            Some(_) => AnswerSource::Cache,
            None => AnswerSource::Tables,
        }
    }

    /// The value of a position; `None` if the game is over, or neither a table nor a counted class contains the position.
    ///
    /// # Errors
    /// If a table that is needed is missing or damaged.
    pub fn cell_value(&self, position: &Position) -> Result<Option<CellValue>, SetError> {
        self.unless_damaged(self.known_cell(position))
    }

    /// As [`cell_value`](Prober::cell_value), with an error for damage of a counted class.
    fn known_cell(&self, position: &Position) -> Result<Option<CellValue>, SetError> {
        match &self.counter {
            Some(counter) => counter.known_cell(position),
            None => self.set.look_up(position, None),
        }
    }

    /// `None` instead of the error of damage of a counted class.
    fn unless_damaged<T>(&self, found: Result<Option<T>, SetError>) -> Result<Option<T>, SetError> {
        match (found, &self.counter) {
            (Err(SetError::Table(TableError::Damaged { path, .. })), Some(counter)) if counter.keeps(&path) => Ok(None),
            (found, _) => found,
        }
    }
}

impl TableProber {
    /// As [`value`](Probe::value), with an error for damage of a counted class.
    fn known_value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        match Value::of_finished(position) {
            Some(value) => Ok(Some(value)),
            None => Ok(self.known_cell(position)?.map(|value| Value::of(value, self.rules()))),
        }
    }

    /// Reads the whole table of a material's class.
    ///
    /// # Errors
    /// If the material has more pieces than any table, or a table that is needed is missing or damaged.
    pub fn load(&self, material: Material) -> Result<Table, SetError> {
        let Some(member) = self.set.classes().member(material) else {
            let pieces = self.set.classes().pieces();
            return Err(SetError::TooFewPieces { material, pieces });
        };
        self.set.table(member.class)
    }
}

/// Probes a [`TableSet`] for results (win, draw or loss) from any number of threads. [`TableSet::wdl_prober`] creates
/// it. The tables may store distances or results only.
pub struct WdlProber {
    set: TableSet,
}

impl WdlProber {
    pub(super) fn new(set: TableSet) -> WdlProber {
        WdlProber { set }
    }

    /// The tables.
    #[must_use]
    pub fn set(&self) -> &TableSet {
        &self.set
    }
}

impl ProbeWdl for WdlProber {
    type Error = SetError;

    fn wdl(&self, position: &Position) -> Result<Option<Wdl>, SetError> {
        let finished = Value::of_finished(position);
        if finished.is_some() {
            return Ok(finished.map(|value| value.wdl));
        }
        // Tables of results alone store a win as a win in 1 ply and a loss as a loss in 2.
        let value = self.set.look_up(position, None)?;
        Ok(value.map(|value| Value::of(value, self.set.rules()).wdl))
    }
}

impl Probe for TableProber {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        self.set.rules()
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        self.unless_damaged(self.known_value(position))
    }

    /// A damaged file of a counted class is an error once; then its class counts as not counted.
    fn line_within(&self, position: &Position, plies: usize) -> Result<Vec<(Move, Position)>, SetError> {
        Strict(self).line_within(position, plies)
    }
}

/// Probes with an error for damage of a counted class.
struct Strict<'a>(&'a TableProber);

impl Probe for Strict<'_> {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        self.0.rules()
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        self.0.known_value(position)
    }
}

impl ProbeDtz for DtzProber {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        self.set.rules()
    }

    fn limit(&self) -> u16 {
        self.set.no_capture_limit().unwrap_or(0)
    }

    fn open_dtz(&self, position: &Position) -> Result<Option<Dtz>, SetError> {
        Ok(self.cell_value(position)?.map(|value| Dtz::of(value, self.set.rules())))
    }
}
