//! Probing a set of tables under stated rules.

use crate::board::{Position, Rules};
use crate::tablebase::{CellValue, Dtz, Material, Probe, ProbeDtz, ProbeWdl, SetError, Table, TableSet, Value, Wdl};

/// Probes a [`TableSet`] from any number of threads. [`TableSet::prober`] creates it and checks that the tables are for
/// the rules of the game.
pub struct TableProber {
    set: TableSet,
}

impl TableProber {
    pub(super) fn new(set: TableSet) -> TableProber {
        TableProber { set }
    }

    /// The tables.
    #[must_use]
    pub fn set(&self) -> &TableSet {
        &self.set
    }

    /// The value of a position; `None` if the game is over or the position has more pieces than any table.
    ///
    /// # Errors
    /// If a table that is needed is missing or damaged.
    pub fn cell_value(&self, position: &Position) -> Result<Option<CellValue>, SetError> {
        self.set.look_up(position, None)
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
        match Value::of_finished(position) {
            Some(value) => Ok(Some(value)),
            None => Ok(self.cell_value(position)?.map(|value| Value::of(value, self.rules()))),
        }
    }
}

/// Probes a [`TableSet`] whose values know a no-capture limit, from any number of threads. [`TableSet::dtz_prober`] creates
/// it.
pub struct DtzProber {
    set: TableSet,
}

impl DtzProber {
    pub(super) fn new(set: TableSet) -> DtzProber {
        DtzProber { set }
    }

    /// The tables.
    #[must_use]
    pub fn set(&self) -> &TableSet {
        &self.set
    }

    pub(super) fn into_set(self) -> TableSet {
        self.set
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
        Ok(self.set.look_up(position, None)?.map(|value| Dtz::of(value, self.set.rules())))
    }
}
