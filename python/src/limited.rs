//! `LimitedTables`: exact values at a clock, from a directory of tables that know a no-capture limit.

use crate::arguments::BoardArgument;
use crate::errors::{self, TablesError};
use crate::held::Held;
use crate::interrupt::abandonable;
use crate::memory;
use crate::moves::PyMove;
use crate::pickle::Reduced;
use crate::rules::{PyRules, RulesArgument};
use crate::tables::{OPENING_BYTES, directories};
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{Dtz, DtzProber, ProbeDtz, TableSet};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// Exact values of endgames in games that are drawn after `limit` plies without a capture, from a directory that
/// `dsq generate --metric dtz` made. A context manager.
///
/// A value is a dict: `wdl` (1 win, 0 draw, -1 loss) at the halfmove clock of the board or FEN; `category`, 'win',
/// 'cursed-win' (a win that the limit spoils), 'draw', 'blessed-loss' (a loss that it saves) or 'loss'; and `dtz`, the plies to
/// the next capture or den entry, None for a draw at every clock. Repetitions do not count.
#[pyclass(frozen, name = "LimitedTables", module = "doushouqi")]
pub(crate) struct PyLimitedTables {
    /// Absolute: the working directory may change.
    directory: PathBuf,
    rules: Option<RuleOptions>,
    opened: Held<DtzProber>,
}

impl PyLimitedTables {
    fn open(py: Python<'_>, directory: PathBuf, rules: Option<RuleOptions>) -> PyResult<DtzProber> {
        memory::need(OPENING_BYTES)?;
        let open = move || TableSet::open(&directory)?.dtz_prober(rules.as_ref());
        abandonable(py, open)?.map_err(errors::tables)
    }

    /// The tables.
    fn prober(&self, py: Python<'_>) -> PyResult<Arc<DtzProber>> {
        self.opened.get(|_| PyLimitedTables::open(py, self.directory.clone(), self.rules).map(Arc::new))
    }

    /// The tables for a board, and the plies that are left before its limit.
    fn prober_for(&self, py: Python<'_>, board: &BoardArgument) -> PyResult<(Arc<DtzProber>, u32)> {
        let prober = self.prober(py)?;
        let tables = prober.rules().options();
        if let Some(rules) =
            board.rules.filter(|rules| rules.within(tables.no_capture_limit).table_hash() != tables.table_hash())
        {
            return Err(TablesError::new_err(format!("the tables are for the rules {tables}, not {rules}")));
        }
        let left = board.plies_left(prober.limit().into())?;
        Ok((prober, left))
    }
}

fn value(py: Python<'_>, value: Dtz, plies_left: u32) -> PyResult<Bound<'_, PyDict>> {
    let (at, all) = (value.at(plies_left), PyDict::new(py));
    all.set_item("wdl", at.wdl.sign())?;
    all.set_item("category", at.category)?;
    all.set_item("dtz", at.dtz)?;
    Ok(all)
}

#[pymethods]
impl PyLimitedTables {
    /// The rules of the values.
    #[getter]
    fn rules(&self, py: Python<'_>) -> PyResult<PyRules> {
        Ok(PyRules { options: self.prober(py)?.rules().options().within(None) })
    }

    /// The plies without a capture that draw the game.
    #[getter]
    fn limit(&self, py: Python<'_>) -> PyResult<u16> {
        Ok(self.prober(py)?.limit())
    }

    /// The most pieces of a material whose values are available.
    #[getter]
    fn pieces(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.prober(py)?.set().classes().pieces())
    }

    /// The value of a position at its clock; None if the tables do not cover it.
    fn probe<'py>(&self, py: Python<'py>, board: BoardArgument) -> PyResult<Option<Bound<'py, PyDict>>> {
        let (prober, left) = self.prober_for(py, &board)?;
        let found = py.detach(|| prober.dtz(&board.position)).map_err(errors::tables)?;
        found.map(|found| value(py, found, left)).transpose()
    }

    /// Every legal move with its value for the side that makes it: the first keeps the result. None if the tables do not
    /// cover them.
    #[expect(clippy::type_complexity, reason = "a list of pairs")]
    fn moves<'py>(&self, py: Python<'py>, board: BoardArgument) -> PyResult<Option<Vec<(PyMove, Bound<'py, PyDict>)>>> {
        let (prober, left) = self.prober_for(py, &board)?;
        let found = py.detach(|| prober.dtz_moves(&board.position, left)).map_err(errors::tables)?;
        let entry = |(mv, found)| Ok((PyMove::of(mv), value(py, found, left)?));
        found.map(|moves| moves.into_iter().map(entry).collect()).transpose()
    }

    /// Closes the tables: every later call raises TablesError.
    fn close(&self) {
        self.opened.close();
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (PathBuf, Option<String>)> {
        // Raises if they are closed.
        self.prober(py)?;
        let rules = self.rules.map(|rules| rules.to_string());
        Ok((py.get_type::<PyLimitedTables>().getattr("_restore")?, (self.directory.clone(), rules)))
    }

    /// For pickle.
    #[staticmethod]
    fn _restore(py: Python<'_>, directory: PathBuf, rules: Option<RulesArgument>) -> PyResult<PyLimitedTables> {
        open_limited(py, directory, rules)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_arguments), text_signature = "($self, *arguments)")]
    fn __exit__(&self, _arguments: &Bound<'_, PyAny>) {
        self.close();
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let of = |prober: Arc<DtzProber>| {
            format!("<LimitedTables of up to {} pieces, {} plies>", prober.set().classes().pieces(), prober.limit())
        };
        self.prober(py).map_or_else(|_| "<LimitedTables, closed>".to_owned(), of)
    }
}

/// Opens a directory of tables that know a no-capture limit, as `dsq generate --metric dtz` makes them. Raises TablesError if
/// it is for other `rules` or without a limit.
#[pyfunction]
#[pyo3(signature = (directory, *, rules = None))]
pub(crate) fn open_limited(
    py: Python<'_>,
    directory: PathBuf,
    rules: Option<RulesArgument>,
) -> PyResult<PyLimitedTables> {
    let (directory, rules) = (directories(directory)?, rules.map(|rules| rules.0));
    let opened = PyLimitedTables::open(py, directory.clone(), rules)?;
    Ok(PyLimitedTables { directory, rules, opened: Held::new(opened) })
}
