//! `Outcome`: how a game ended.

use crate::squares::color;
use doushouqi::board::Color;
use doushouqi::game::{Conclusion, GameEnd};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How a game ended.
#[pyclass(frozen, eq, hash, name = "Outcome", module = "doushouqi")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyOutcome {
    end: GameEnd,
}

impl PyOutcome {
    pub fn of(end: GameEnd) -> PyOutcome {
        PyOutcome { end }
    }
}

/// The names of the ends, by their numbers.
const NAMES: [&str; 8] = ["running", "den", "captured", "no_move", "repetition", "no_capture", "move_limit", "loop"];

/// The number that represents an end of the game in arrays; 0 represents a game that goes on.
pub(crate) fn number(end: GameEnd) -> i8 {
    match end {
        GameEnd::Den(_) => 1,
        GameEnd::Captured(_) => 2,
        GameEnd::NoMove(_) => 3,
        GameEnd::Repetition(_) => 4,
        GameEnd::MoveLimit(_) => 6,
        GameEnd::Loop(_) => 7,
        _ => 5,
    }
}

#[pymethods]
impl PyOutcome {
    /// 'den', 'captured' (the last enemy piece), 'no_move' (stalemate), 'repetition', 'no_capture' (the no-capture limit),
    /// 'move_limit' or 'loop' (a rule against loops).
    #[getter]
    fn termination(&self) -> &'static str {
        NAMES[number(self.end) as usize]
    }

    /// True if White won, False if Black won, None for a draw.
    #[getter]
    fn winner(&self) -> Option<bool> {
        self.end.winner().map(|color| color == Color::White)
    }

    /// '1-0', '0-1' or '1/2-1/2'.
    fn result(&self) -> &'static str {
        Conclusion::Rules(self.end).result()
    }

    fn __repr__(&self) -> String {
        let winner = match self.winner() {
            Some(true) => "WHITE",
            Some(false) => "BLACK",
            None => "None",
        };
        format!("Outcome(termination='{}', winner={winner})", self.termination())
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> crate::pickle::Reduced<'py, (&'static str, Option<bool>)> {
        Ok((py.get_type::<PyOutcome>().getattr("_restore")?, (self.termination(), self.winner())))
    }

    /// For pickle.
    #[staticmethod]
    fn _restore(termination: &str, winner: Option<bool>) -> PyResult<PyOutcome> {
        let winner = winner.map(color);
        let end = match (termination, winner) {
            ("den", Some(winner)) => GameEnd::Den(winner),
            ("captured", Some(winner)) => GameEnd::Captured(winner),
            ("no_move", winner) => GameEnd::NoMove(winner),
            ("repetition", winner) => GameEnd::Repetition(winner),
            ("no_capture", winner) => GameEnd::NoCapture(winner),
            ("move_limit", winner) => GameEnd::MoveLimit(winner),
            ("loop", Some(winner)) => GameEnd::Loop(winner),
            _ => return Err(PyValueError::new_err(format!("no game ends by {termination:?} with this winner"))),
        };
        Ok(PyOutcome { end })
    }
}
