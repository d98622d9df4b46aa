//! `Move`: a move from a square to a square.

use crate::errors::{IllegalMoveError, InvalidMoveError};
use crate::squares::square;
use crate::whole::whole;
use doushouqi::board::{Move, ParseNameError, Position, UciMove};
use pyo3::prelude::*;

/// A move from a square to a square.
#[pyclass(frozen, eq, hash, name = "Move", module = "doushouqi", from_py_object)]
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyMove {
    pub squares: UciMove,
}

impl PyMove {
    pub fn of(mv: Move) -> PyMove {
        PyMove { squares: mv.into() }
    }

    /// The move of the piece on the square that it leaves; it need not be legal.
    pub fn in_position(self, position: &Position) -> PyResult<Move> {
        let UciMove { from, .. } = self.squares;
        self.squares.to_move(position).map_err(|_| {
            IllegalMoveError::new_err(format!("{}: the side to move has no piece on {from}", self.squares))
        })
    }
}

#[pymethods]
impl PyMove {
    #[new]
    fn new(
        #[pyo3(from_py_with = whole)] from_square: i64,
        #[pyo3(from_py_with = whole)] to_square: i64,
    ) -> PyResult<PyMove> {
        Ok(PyMove { squares: UciMove { from: square(from_square)?, to: square(to_square)? } })
    }

    /// The move of a text such as 'a3b3'. Raises InvalidMoveError.
    #[staticmethod]
    pub fn from_uci(uci: &str) -> PyResult<PyMove> {
        let squares = uci.parse().map_err(|error: ParseNameError| InvalidMoveError::new_err(error.to_string()))?;
        Ok(PyMove { squares })
    }

    /// The square that the piece leaves.
    #[getter(from_square)]
    fn leaves(&self) -> usize {
        self.squares.from.index()
    }

    /// The square that the piece enters.
    #[getter(to_square)]
    fn enters(&self) -> usize {
        self.squares.to.index()
    }

    /// The move as two squares, such as 'a3b3'.
    pub fn uci(&self) -> String {
        self.squares.to_string()
    }

    fn __str__(&self) -> String {
        self.uci()
    }

    fn __repr__(&self) -> String {
        format!("Move.from_uci('{}')", self.uci())
    }

    fn __getnewargs__(&self) -> (usize, usize) {
        (self.leaves(), self.enters())
    }
}
