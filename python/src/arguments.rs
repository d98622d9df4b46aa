//! Arguments that take several types.

use crate::board::PyBoard;
use crate::errors::{self, TablesError};
use crate::memory;
use crate::packed::{BYTES, unpack_position};
use doushouqi::board::{Fen, Judge, Move, Position, RuleOptions};
use doushouqi::game::Game;
use doushouqi::tablebase::{Material, Value, Wdl};
use numpy::{PyArrayDescrMethods, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A `Board`, or the FEN of a position.
pub(crate) struct BoardArgument {
    pub position: Position,
    /// The rules of a `Board`; a FEN has none.
    pub rules: Option<RuleOptions>,
    /// The halfmove clock, and the no-capture limit if there is one.
    clock: u32,
    limit: Option<u32>,
    /// The plies that the limit of moves leaves, if there is one.
    moves_left: Option<u32>,
}

impl BoardArgument {
    /// The value of the position in a game without a no-capture limit, if the limit of this game does not change it: it
    /// can only turn a win or loss into a draw, and not within the plies that remain. A clock of 0 counts as no limit, as
    /// in the engine.
    ///
    /// # Errors
    /// TablesError if the limit, or a rule of competition of the board, may change the value.
    pub fn value(&self, value: Value) -> PyResult<Value> {
        self.certain(value, self.clock)
    }

    /// As [`BoardArgument::value`], for the value of a move.
    pub fn move_value(&self, mv: Move, value: Value) -> PyResult<Value> {
        self.certain(value, if mv.is_capture(&self.position) { 0 } else { self.clock })
    }

    /// The plies that tables with this no-capture limit leave.
    ///
    /// # Errors
    /// TablesError if the board has another limit, or if its clock is beyond the limit.
    pub fn plies_left(&self, limit: u32) -> PyResult<u32> {
        if self.rules.is_some() && self.limit != Some(limit) {
            let own = self.limit.map_or_else(|| "no limit".to_owned(), |own| format!("a limit of {own} plies"));
            let what = format!("the tables know a no-capture limit of {limit} plies; the board has {own}");
            return Err(TablesError::new_err(what));
        }
        let late = || TablesError::new_err(format!("the clock {} is beyond the limit of {limit} plies", self.clock));
        limit.checked_sub(self.clock).ok_or_else(late)
    }

    fn certain(&self, value: Value, clock: u32) -> PyResult<Value> {
        let is_unknown =
            |rules: &RuleOptions| rules.has_loop_rule() || value.wdl == Wdl::Draw && rules.judge != Judge::None;
        let is_late = value.dtw.zip(self.moves_left).is_some_and(|(plies, left)| u32::from(plies) > left);
        if is_late || self.rules.as_ref().is_some_and(is_unknown) {
            return Err(TablesError::new_err(
                "the tables do not know the rules loop, judge and move-limit of the board; for the value of the position \
                 alone pass its FEN",
            ));
        }
        let (Some(limit), Some(plies)) = (self.limit.filter(|_| clock > 0), value.dtw) else { return Ok(value) };
        let left = limit.saturating_sub(clock);
        if u32::from(plies) <= left {
            return Ok(value);
        }
        Err(TablesError::new_err(format!(
            "the no-capture limit of {limit} plies may draw the game: the clock is {clock}, and without the limit the game \
             ends in {plies} plies; for that value pass a board with no_capture_limit=None or a FEN without a clock"
        )))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for BoardArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<BoardArgument> {
        if let Ok(board) = object.cast::<PyBoard>() {
            let game = &board.try_borrow()?.game;
            return Ok(BoardArgument {
                position: game.position().clone(),
                rules: Some(*game.rules().options()),
                clock: game.halfmove_clock(),
                limit: game.no_capture_limit(),
                moves_left: game
                    .rules()
                    .options()
                    .move_limit
                    .plies()
                    .map(|limit| limit.saturating_sub(game.moves().len() as u32)),
            });
        }
        let Ok(text) = object.extract::<String>() else {
            return Err(PyTypeError::new_err(format!("expected a Board or a FEN, not {}", object.get_type().name()?)));
        };
        let fen: Fen = text.parse().map_err(errors::fen)?;
        let (clock, limit) = (fen.halfmove_clock, Some(Game::NO_CAPTURE_LIMIT));
        Ok(BoardArgument { position: fen.position, rules: None, clock, limit, moves_left: None })
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
            return Ok(Positions::List(boards(&object)?));
        };
        let (shape, dtype, py) = (array.shape(), array.dtype(), object.py());
        if !matches!(dtype.kind(), b'i' | b'u') || shape.len() != 2 || shape[1] != BYTES {
            let what = format!("packed positions are an integer array of shape (n, {BYTES}), not {dtype} of {shape:?}");
            return Err(PyValueError::new_err(what));
        }
        if dtype.num() == numpy::dtype::<i8>(py).num() && array.is_c_contiguous() {
            return Ok(Positions::Packed(object.extract::<PyReadonlyArray2<'py, i8>>()?));
        }
        let numpy = py.import("numpy")?;
        let bytes = numpy.call_method1("ascontiguousarray", (array, numpy::dtype::<i8>(py)))?;
        if !numpy.call_method1("array_equal", (array, &bytes))?.extract::<bool>()? {
            return Err(PyValueError::new_err("packed positions are numbers from -1 to 62"));
        }
        Ok(Positions::Packed(bytes.extract::<PyReadonlyArray2<'py, i8>>()?))
    }
}

/// The boards and FENs of a sequence. An error of one names its row.
pub(crate) fn boards(sequence: &Bound<'_, PyAny>) -> PyResult<Vec<BoardArgument>> {
    let py = sequence.py();
    let mut list = memory::reserved(sequence.len().unwrap_or(0))?;
    for (row, item) in sequence.try_iter()?.enumerate() {
        let board = item?.extract::<BoardArgument>().map_err(|error| {
            let is_wrong = error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyTypeError>(py);
            let text = format!("row {row}: {}", error.value(py));
            if is_wrong { PyErr::from_type(error.get_type(py), text) } else { error }
        })?;
        list.push(board);
    }
    Ok(list)
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

    /// The position in a row with its halfmove clock, 0 if it has none.
    pub fn fen(&self, row: usize) -> Result<Fen, String> {
        let halfmove_clock = match self {
            PositionsRef::Packed(_) => 0,
            PositionsRef::List(list) => list[row].clock,
        };
        Ok(Fen { position: self.get(row)?, halfmove_clock })
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
