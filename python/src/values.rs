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
    (wdl_number(wdl), dtw.map_or(NO_DISTANCE, |plies| plies as i16))
}

pub(crate) fn wdl_number(wdl: Wdl) -> i8 {
    match wdl {
        Wdl::Loss => -1,
        Wdl::Draw => 0,
        Wdl::Win => 1,
    }
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
        wdl_number(self.value.wdl)
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
#[pyclass(frozen, eq, name = "Stats", module = "doushouqi")]
#[derive(PartialEq)]
pub(crate) struct PyStats {
    stats: Stats,
    summary: Summary,
}

impl PyStats {
    pub fn of(stats: Stats) -> PyStats {
        PyStats { summary: stats.summary(), stats }
    }
}

#[pymethods]
impl PyStats {
    /// The number of positions.
    #[getter]
    fn positions(&self) -> u64 {
        self.summary.positions
    }

    /// Positions that the side to move wins.
    #[getter]
    fn wins(&self) -> u64 {
        self.summary.wins
    }

    /// Positions that the side to move loses.
    #[getter]
    fn losses(&self) -> u64 {
        self.summary.losses
    }

    /// Positions that neither side can win.
    #[getter]
    fn draws(&self) -> u64 {
        self.summary.draws
    }

    /// Positions without a legal move, which are in none of the other counts.
    #[getter]
    fn no_move(&self) -> u64 {
        self.summary.no_move
    }

    /// The longest win or loss in plies.
    #[getter]
    fn longest(&self) -> u64 {
        self.summary.longest
    }

    /// Decided positions by the distance in plies: wins at odd distances, losses at even ones.
    #[getter]
    fn by_plies(&self) -> Vec<u64> {
        self.stats.by_plies.clone()
    }

    fn __repr__(&self) -> String {
        let Summary { positions, no_move, wins, losses, draws, longest } = self.summary;
        format!(
            "Stats(positions={positions}, wins={wins}, losses={losses}, draws={draws}, no_move={no_move}, longest={longest})"
        )
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (u64, u64, Vec<u64>)> {
        let Stats { no_move, draws, by_plies } = self.stats.clone();
        Ok((py.get_type::<PyStats>().getattr("_restore")?, (no_move, draws, by_plies)))
    }

    /// For pickle.
    #[staticmethod]
    fn _restore(no_move: u64, draws: u64, by_plies: Vec<u64>) -> PyStats {
        PyStats::of(Stats { no_move, draws, by_plies })
    }
}
