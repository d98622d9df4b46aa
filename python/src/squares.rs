//! Squares as integers 0 (a1) to 62 (g9), and pieces.

use crate::whole::whole;
use doushouqi::board::{Animal, Color, Piece, Square};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The square of an index.
pub(crate) fn square(index: i64) -> PyResult<Square> {
    usize::try_from(index)
        .ok()
        .and_then(Square::new)
        .ok_or_else(|| PyValueError::new_err(format!("a square is 0 (a1) to 62 (g9), not {index}")))
}

/// Colours as in python-chess: `True` is White.
pub(crate) fn color(white: bool) -> Color {
    if white { Color::White } else { Color::Black }
}

/// The animal of a number.
pub(crate) fn animal(index: i64) -> PyResult<Animal> {
    let animal = usize::try_from(index).ok().and_then(|index| Animal::ALL.get(index).copied());
    animal.ok_or_else(|| PyValueError::new_err(format!("an animal is 0 (rat) to 7 (elephant), not {index}")))
}

/// The number of a square, 0 (a1) to 62 (g9): `7 * rank + file`.
#[pyfunction]
pub(crate) fn parse_square(name: &str) -> PyResult<usize> {
    let square: Square = name.parse().map_err(|e| PyValueError::new_err(format!("{e}")))?;
    Ok(square.index())
}

/// The name of a square, such as 'a3'.
#[pyfunction]
pub(crate) fn square_name(#[pyo3(from_py_with = whole)] index: i64) -> PyResult<String> {
    Ok(square(index)?.to_string())
}

/// A piece: an animal, 0 (rat) to 7 (elephant), and a colour, True for White.
#[pyclass(frozen, eq, hash, name = "Piece", module = "doushouqi", from_py_object)]
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyPiece {
    pub piece: Piece,
}

impl PyPiece {
    pub fn of(piece: Piece) -> PyPiece {
        PyPiece { piece }
    }
}

#[pymethods]
impl PyPiece {
    #[new]
    fn new(#[pyo3(from_py_with = whole)] animal: i64, color: bool) -> PyResult<PyPiece> {
        Ok(PyPiece { piece: Piece { color: self::color(color), animal: self::animal(animal)? } })
    }

    /// The piece of a FEN letter: a capital for White.
    #[staticmethod]
    fn from_symbol(symbol: &str) -> PyResult<PyPiece> {
        let mut letters = symbol.chars();
        match (letters.next().and_then(Piece::from_letter), letters.next()) {
            (Some(piece), None) => Ok(PyPiece { piece }),
            _ => Err(PyValueError::new_err(format!("{symbol:?} is none of the pieces RCWDPTLE rcwdptle"))),
        }
    }

    /// The animal: an index of `ANIMALS`, 0 (rat) to 7 (elephant).
    #[getter]
    fn animal(&self) -> usize {
        self.piece.animal.index()
    }

    /// True for White.
    #[getter]
    fn color(&self) -> bool {
        self.piece.color == Color::White
    }

    /// The FEN letter.
    fn symbol(&self) -> char {
        self.piece.letter()
    }

    fn __str__(&self) -> char {
        self.piece.letter()
    }

    fn __repr__(&self) -> String {
        format!("Piece.from_symbol('{}')", self.piece.letter())
    }

    fn __getnewargs__(&self) -> (usize, bool) {
        (self.animal(), self.color())
    }
}
