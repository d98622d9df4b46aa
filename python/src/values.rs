//! `Value` and `Stats`: what tables contain.

use crate::pickle::Reduced;
use doushouqi::tablebase::{Stats, Summary, Value, Wdl};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The entry of an array for an unknown result.
pub(crate) const UNKNOWN: i8 = -2;
/// The entry of an array for a missing distance.
pub(crate) const NO_DISTANCE: i16 = -1;

/// A value as numbers: 1 win, 0 draw, -1 loss, and the distance.
pub(crate) fn numbers(value: Option<Value>) -> (i8, i16) {
    let Some(Value { wdl, dtw }) = value else { return (UNKNOWN, NO_DISTANCE) };
    (wdl.sign(), dtw.map_or(NO_DISTANCE, |plies| plies as i16))
}

/// The value of a position for the side to move, or of a move for the side that makes it.
///
/// Values are ordered: a win in fewer plies is greater, then draws, and a loss in more plies is greater than one in fewer.
#[pyclass(frozen, eq, ord, hash, name = "Value", module = "doushouqi")]
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PyValue {
    pub value: Value,
}

#[pymethods]
impl PyValue {
    /// 1 for a win, 0 for a draw, -1 for a loss.
    #[getter]
    fn wdl(&self) -> i8 {
        self.value.wdl.sign()
    }

    /// The distance to the end in plies; None for a draw.
    #[getter]
    fn dtw(&self) -> Option<u16> {
        self.value.dtw
    }

    fn __repr__(&self) -> String {
        match self.value {
            Value { dtw: Some(plies), .. } => format!("Value(wdl={}, dtw={plies})", self.wdl()),
            Value { dtw: None, .. } => format!("Value(wdl={}, dtw=None)", self.wdl()),
        }
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (i8, Option<u16>)> {
        Ok((py.get_type::<PyValue>().getattr("_restore")?, (self.wdl(), self.dtw())))
    }

    /// For pickle.
    #[staticmethod]
    fn _restore(wdl: i8, dtw: Option<u16>) -> PyResult<PyValue> {
        let wdl = match wdl {
            -1 => Wdl::Loss,
            0 => Wdl::Draw,
            1 => Wdl::Win,
            _ => return Err(PyValueError::new_err(format!("the result is 1, 0 or -1, not {wdl}"))),
        };
        Ok(PyValue { value: Value { wdl, dtw } })
    }
}

/// The counts of a material for one side to move.
#[pyclass(frozen, eq, get_all, name = "Stats", module = "doushouqi")]
#[derive(PartialEq)]
pub(crate) struct PyStats {
    /// The number of positions.
    positions: u64,
    /// Positions that the side to move wins.
    wins: u64,
    /// Positions that the side to move loses.
    losses: u64,
    /// Positions that neither side can win.
    draws: u64,
    /// Positions without a legal move, which are in none of the other counts.
    no_move: u64,
    /// The longest win or loss in plies.
    longest: u64,
    /// Decided positions by the distance in plies: wins at odd distances, losses at even ones.
    by_plies: Vec<u64>,
}

impl PyStats {
    pub fn of(stats: Stats) -> PyStats {
        let Summary { positions, no_move, wins, losses, draws, longest } = stats.summary();
        PyStats { positions, wins, losses, draws, no_move, longest, by_plies: stats.by_plies }
    }
}

#[pymethods]
impl PyStats {
    fn __repr__(&self) -> String {
        let PyStats { positions, wins, losses, draws, no_move, longest, .. } = self;
        format!(
            "Stats(positions={positions}, wins={wins}, losses={losses}, draws={draws}, no_move={no_move}, longest={longest})"
        )
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (u64, u64, Vec<u64>)> {
        let counts = (self.no_move, self.draws, self.by_plies.clone());
        Ok((py.get_type::<PyStats>().getattr("_restore")?, counts))
    }

    /// For pickle.
    #[staticmethod]
    fn _restore(no_move: u64, draws: u64, by_plies: Vec<u64>) -> PyStats {
        PyStats::of(Stats { no_move, draws, by_plies })
    }
}
