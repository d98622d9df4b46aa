//! Packing boards into arrays, and back.

use crate::arguments::{Positions, boards};
use crate::board::PyBoard;
use crate::memory;
use crate::packed::{BYTES, pack_position};
use crate::rules::RulesArgument;
use doushouqi::game::Game;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The boards that are made between two checks of the memory, and the bytes of one, about.
const CHUNK: usize = 4096;
const BOARD_BYTES: usize = 2048;

/// Packs boards or FENs into an int8 array of shape (n, 17).
///
/// Columns 0 to 7 are the squares of White's animals, weakest first, 8 to 15 those of Black's, -1 for an animal that is
/// not on the board. Column 16 is the side to move: 0 White, 1 Black. Histories are not packed.
#[pyfunction]
pub(crate) fn pack<'py>(py: Python<'py>, boards: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<i8>>> {
    let boards = self::boards(boards)?;
    let rows = memory::collect(boards.iter().map(|board| pack_position(&board.position)))?;
    PyArray1::from_vec(py, rows.into_flattened()).reshape([boards.len(), BYTES])
}

/// The boards of packed positions. Raises ValueError with the row that is not a valid position.
#[pyfunction]
#[pyo3(signature = (positions, rules = RulesArgument::default()), text_signature = "(positions, rules='paper')")]
pub(crate) fn unpack<'py>(
    py: Python<'py>,
    positions: Positions<'py>,
    rules: RulesArgument,
) -> PyResult<Vec<Bound<'py, PyBoard>>> {
    let rules = crate::rules::rules(rules.0);
    let mut boards = memory::reserved(positions.len())?;
    for row in 0..positions.len() {
        if row % CHUNK == 0 {
            memory::need(CHUNK * BOARD_BYTES)?;
            py.check_signals()?;
        }
        let position = positions.get(row).map_err(PyValueError::new_err)?;
        let game = Game::new(position, rules.clone(), Some(Game::NO_CAPTURE_LIMIT));
        boards.push(Bound::new(py, PyBoard::of(game))?);
    }
    Ok(boards)
}
