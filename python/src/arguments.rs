//! Arguments that take several types.

use crate::board::PyBoard;
use crate::errors;
use crate::packed::{BYTES, unpack_position};
use doushouqi::board::{Position, RuleOptions};
use doushouqi::tablebase::Material;
use numpy::{PyArrayDescrMethods, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A `Board`, or the FEN of a position.
pub(crate) struct BoardArgument {
    pub position: Position,
    /// The rules of a `Board`; a FEN has none.
    pub rules: Option<RuleOptions>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for BoardArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<BoardArgument> {
        if let Ok(board) = object.cast::<PyBoard>() {
            let game = &board.try_borrow()?.game;
            return Ok(BoardArgument { position: game.position().clone(), rules: Some(*game.rules().options()) });
        }
        let Ok(text) = object.extract::<String>() else {
            return Err(PyTypeError::new_err(format!("expected a Board or a FEN, not {}", object.get_type().name()?)));
        };
        let fen: doushouqi::board::Fen = text.parse().map_err(errors::fen)?;
        Ok(BoardArgument { position: fen.position, rules: None })
    }
}

/// A material such as `EPvLR`.
pub(crate) fn material(text: &str) -> PyResult<Material> {
    text.parse().map_err(errors::material)
}

/// Many positions: an int8 array of packed positions, or a sequence of boards and FENs.
pub(crate) enum Positions<'py> {
    Packed(PyReadonlyArray2<'py, i8>),
    List(Vec<BoardArgument>),
}

/// [`Positions`] that other threads may read.
#[derive(Copy, Clone)]
pub(crate) enum PositionsRef<'a> {
    Packed(&'a [i8]),
    List(&'a [BoardArgument]),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Positions<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Positions<'py>> {
        let Ok(array) = object.cast::<PyUntypedArray>() else {
            if object.is_instance_of::<pyo3::types::PyString>() || object.is_instance_of::<PyBoard>() {
                let what = "expected several positions: a list of boards or FENs, or an int8 array";
                return Err(PyTypeError::new_err(what));
            }
            return Ok(Positions::List(object.extract()?));
        };
        let shape = array.shape();
        if array.dtype().num() != numpy::dtype::<i8>(object.py()).num() || shape.len() != 2 || shape[1] != BYTES {
            let dtype = array.dtype();
            let what = format!("packed positions are an int8 array of shape (n, {BYTES}), not {dtype} of {shape:?}");
            return Err(PyValueError::new_err(what));
        }
        let array = object.extract::<PyReadonlyArray2<'py, i8>>()?;
        if !array.is_c_contiguous() {
            return Err(PyValueError::new_err(
                "packed positions are a C-contiguous array: use numpy.ascontiguousarray",
            ));
        }
        Ok(Positions::Packed(array))
    }
}

impl Positions<'_> {
    /// The positions for other threads.
    pub fn view(&self) -> PositionsRef<'_> {
        match self {
            Positions::Packed(array) => PositionsRef::Packed(array.as_slice().expect("checked when it was extracted")),
            Positions::List(list) => PositionsRef::List(list),
        }
    }

    /// The boards and FENs of a list.
    pub fn boards(&self) -> &[BoardArgument] {
        match self {
            Positions::Packed(_) => &[],
            Positions::List(list) => list,
        }
    }

    pub fn len(&self) -> usize {
        self.view().len()
    }

    /// The position in a row; the error names the row.
    pub fn get(&self, row: usize) -> Result<Position, String> {
        self.view().get(row)
    }
}

impl PositionsRef<'_> {
    pub fn len(&self) -> usize {
        match self {
            PositionsRef::Packed(bytes) => bytes.len() / BYTES,
            PositionsRef::List(list) => list.len(),
        }
    }

    /// The position in a row; the error names the row.
    pub fn get(&self, row: usize) -> Result<Position, String> {
        match self {
            PositionsRef::Packed(bytes) => {
                unpack_position(&bytes[row * BYTES..][..BYTES]).map_err(|what| format!("row {row}: {what}"))
            }
            PositionsRef::List(list) => Ok(list[row].position.clone()),
        }
    }
}
