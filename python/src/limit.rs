//! `Limit`: the limits of a search, as in python-chess.

use crate::pickle::Keywords;
use crate::whole::whole;
use doushouqi::board::Color;
use doushouqi::search::{Clock, Limits};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::time::Duration;

/// Longer times, infinity among them, count as this many seconds: 30 years.
const LONGEST: f64 = 1e9;

/// The limits of a search, which stops at the first of them.
///
/// `time` in seconds, `depth` in plies and `nodes` are for this move, `mate` is a number of moves in which a win is
/// looked for. `white_clock` and `black_clock` are the seconds left on the clocks, `white_inc` and `black_inc` the seconds
/// added after each move, `remaining_moves` the moves to the next time control. At least one limit is needed, and a clock
/// for an increment.
#[pyclass(frozen, eq, get_all, name = "Limit", module = "doushouqi", from_py_object)]
#[derive(Copy, Clone, Default, PartialEq)]
pub(crate) struct PyLimit {
    /// Seconds for the search, or None.
    time: Option<f64>,
    /// Plies of the last iteration, or None.
    depth: Option<u32>,
    /// Nodes of all threads together, or None.
    nodes: Option<u64>,
    /// Moves in which a win is looked for, or None.
    mate: Option<u32>,
    /// Seconds on White's clock, or None.
    white_clock: Option<f64>,
    /// Seconds on Black's clock, or None.
    black_clock: Option<f64>,
    /// Seconds added to White's clock after each move, or None.
    white_inc: Option<f64>,
    /// Seconds added to Black's clock after each move, or None.
    black_inc: Option<f64>,
    /// Moves to the next time control, or None.
    remaining_moves: Option<u32>,
}

fn duration(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.min(LONGEST))
}

impl PyLimit {
    /// The limits for a side to move.
    ///
    /// # Errors
    /// ValueError if there is only the clock of the other side.
    pub fn limits(&self, turn: Color) -> PyResult<Limits> {
        let (remaining, increment) = match turn {
            Color::White => (self.white_clock, self.white_inc),
            Color::Black => (self.black_clock, self.black_inc),
        };
        let clock = remaining.map(|remaining| Clock {
            remaining: duration(remaining),
            increment: duration(increment.unwrap_or(0.0)),
            moves_to_go: self.remaining_moves,
        });
        let limits = Limits::default().depth(self.depth).nodes(self.nodes).mate(self.mate);
        let limits = limits.movetime(self.time.map(duration)).clock(clock);
        if limits == Limits::default() {
            return Err(PyValueError::new_err(format!("the limit has no clock for {turn}, which is to move")));
        }
        Ok(limits)
    }

    fn check(&self) -> PyResult<()> {
        let numbers = [self.depth, self.mate, self.remaining_moves];
        if numbers.contains(&Some(0)) || self.nodes == Some(0) {
            return Err(PyValueError::new_err("depth, nodes, mate and remaining_moves are at least 1"));
        }
        let times = [self.time, self.white_clock, self.black_clock, self.white_inc, self.black_inc];
        if times.iter().flatten().any(|time| time.is_nan() || *time < 0.0) {
            return Err(PyValueError::new_err("a time is a number of seconds that is not negative"));
        }
        for (clock, increment) in [(self.white_clock, self.white_inc), (self.black_clock, self.black_inc)] {
            if clock.is_none() && increment.is_some() {
                return Err(PyValueError::new_err("an increment needs the clock of its side"));
            }
        }
        if (PyLimit { remaining_moves: None, ..*self }) == PyLimit::default() {
            return Err(PyValueError::new_err("a limit needs a time, a depth, a number of nodes, a mate or a clock"));
        }
        Ok(())
    }
}

#[pymethods]
impl PyLimit {
    #[new]
    #[pyo3(signature = (
        time = None, *, depth = None, nodes = None, mate = None, white_clock = None, black_clock = None, white_inc = None,
        black_inc = None, remaining_moves = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        time: Option<f64>,
        #[pyo3(from_py_with = whole)] depth: Option<u32>,
        #[pyo3(from_py_with = whole)] nodes: Option<u64>,
        #[pyo3(from_py_with = whole)] mate: Option<u32>,
        white_clock: Option<f64>,
        black_clock: Option<f64>,
        white_inc: Option<f64>,
        black_inc: Option<f64>,
        #[pyo3(from_py_with = whole)] remaining_moves: Option<u32>,
    ) -> PyResult<PyLimit> {
        let limit =
            PyLimit { time, depth, nodes, mate, white_clock, black_clock, white_inc, black_inc, remaining_moves };
        limit.check()?;
        Ok(limit)
    }

    /// For pickle.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<Keywords<'py>> {
        let keywords = PyDict::new(py);
        keywords.set_item("time", self.time)?;
        keywords.set_item("depth", self.depth)?;
        keywords.set_item("nodes", self.nodes)?;
        keywords.set_item("mate", self.mate)?;
        keywords.set_item("white_clock", self.white_clock)?;
        keywords.set_item("black_clock", self.black_clock)?;
        keywords.set_item("white_inc", self.white_inc)?;
        keywords.set_item("black_inc", self.black_inc)?;
        keywords.set_item("remaining_moves", self.remaining_moves)?;
        Ok((PyTuple::empty(py), keywords))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (_, keywords) = self.__getnewargs_ex__(py)?;
        let given = keywords.iter().filter(|(_, value)| !value.is_none());
        let fields = given.map(|(name, value)| Ok(format!("{name}={}", value.repr()?)));
        Ok(format!("Limit({})", fields.collect::<PyResult<Vec<_>>>()?.join(", ")))
    }
}
