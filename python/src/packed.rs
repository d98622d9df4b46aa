//! Positions as rows of 17 bytes: the squares of White's animals, weakest first, of Black's, and the side to move.

use crate::arguments::{BoardArgument, Positions};
use crate::board::PyBoard;
use crate::rules::RulesArgument;
use doushouqi::board::{Animal, Color, Piece, Position, Rules, Setup, Square};
use doushouqi::game::Game;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The bytes of a packed position.
pub(crate) const BYTES: usize = 2 * Animal::COUNT + 1;
/// In place of the square of an animal that is not on the board.
pub(crate) const ABSENT: i8 = -1;

pub(crate) type Packed = [i8; BYTES];

pub(crate) fn pack_position(position: &Position) -> Packed {
    let mut packed = [ABSENT; BYTES];
    for (piece, square) in position.pieces() {
        packed[piece.color as usize * Animal::COUNT + piece.animal.index()] = square.index() as i8;
    }
    packed[BYTES - 1] = position.turn() as i8;
    packed
}

/// The position of a row; the error says what is wrong with it.
pub(crate) fn unpack_position(packed: &[i8]) -> Result<Position, String> {
    let (&turn, squares) = packed.split_last().ok_or("the row is empty")?;
    let turn = match turn {
        0 => Color::White,
        1 => Color::Black,
        _ => return Err(format!("the side to move is 0 (White) or 1 (Black), not {turn}")),
    };
    let mut setup = Setup::empty(turn);
    for (i, &index) in squares.iter().enumerate() {
        if index == ABSENT {
            continue;
        }
        let square = usize::try_from(index).ok().and_then(Square::new);
        let square = square.ok_or_else(|| format!("a square is 0 to 62, or -1 for no piece, not {index}"))?;
        let piece = Piece { color: Color::ALL[i / Animal::COUNT], animal: Animal::ALL[i % Animal::COUNT] };
        if setup.squares[square.index()].replace(piece).is_some() {
            return Err(format!("two pieces stand on {square}"));
        }
    }
    Position::from_setup(&setup).map_err(|e| e.to_string())
}

/// Packs boards or FENs into an int8 array of shape (n, 17).
///
/// Columns 0 to 7 are the squares of White's animals, weakest first, 8 to 15 those of Black's, -1 for an animal that is not on the
/// board. Column 16 is the side to move: 0 White, 1 Black. Histories are not packed.
#[pyfunction]
pub(crate) fn pack<'py>(py: Python<'py>, boards: Vec<BoardArgument>) -> PyResult<Bound<'py, PyArray2<i8>>> {
    let rows: Vec<i8> = boards.iter().flat_map(|board| pack_position(&board.0)).collect();
    PyArray1::from_vec(py, rows).reshape([boards.len(), BYTES])
}

/// The boards of packed positions. Raises ValueError with the row that is not a valid position.
#[pyfunction]
#[pyo3(signature = (positions, rules = RulesArgument::default()))]
pub(crate) fn unpack(positions: Positions, rules: RulesArgument) -> PyResult<Vec<PyBoard>> {
    let rules = Rules::new(rules.0);
    let board = |position| PyBoard::of(Game::new(position, rules.clone(), Some(Game::NO_CAPTURE_LIMIT)));
    (0..positions.len()).map(|row| positions.get(row).map(board).map_err(PyValueError::new_err)).collect()
}
