//! Packing boards into arrays, and back.

use crate::arguments::{BoardArgument, Positions};
use crate::board::PyBoard;
use crate::packed::{BYTES, pack_position};
use crate::rules::RulesArgument;
use doushouqi::game::Game;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Packs boards or FENs into an int8 array of shape (n, 17).
///
/// Columns 0 to 7 are the squares of White's animals, weakest first, 8 to 15 those of Black's, -1 for an animal that is
/// not on the board. Column 16 is the side to move: 0 White, 1 Black. Histories are not packed.
#[pyfunction]
pub(crate) fn pack<'py>(py: Python<'py>, boards: Vec<BoardArgument>) -> PyResult<Bound<'py, PyArray2<i8>>> {
    let rows: Vec<i8> = boards.iter().flat_map(|board| pack_position(&board.position)).collect();
    PyArray1::from_vec(py, rows).reshape([boards.len(), BYTES])
}

/// The boards of packed positions. Raises ValueError with the row that is not a valid position.
#[pyfunction]
#[pyo3(signature = (positions, rules = RulesArgument::default()))]
pub(crate) fn unpack(positions: Positions, rules: RulesArgument) -> PyResult<Vec<PyBoard>> {
    let rules = crate::rules::rules(rules.0);
    let board = |position| PyBoard::of(Game::new(position, rules.clone(), Some(Game::NO_CAPTURE_LIMIT)));
    (0..positions.len()).map(|row| positions.get(row).map(board).map_err(PyValueError::new_err)).collect()
}
