//! Games as text: the library's records for `doushouqi.Game`, and the lines of other programs.

use crate::board::PyBoard;
use crate::errors::{self, GameError};
use crate::memory;
use crate::moves::PyMove;
use crate::rules::{RulesArgument, rules};
use crate::whole::whole;
use doushouqi::board::Move;
use doushouqi::formats::Dialect;
use doushouqi::game::{Game, ParseRecordError, Record, RecordReader, Variation, format_moves, parse_moves};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::collections::BTreeSet;

fn error(error: &ParseRecordError) -> PyErr {
    GameError::new_err(error.to_string())
}

/// The moves, the assessments, the comments and the variations of a line; each variation is a tuple of the index of the
/// move that it replaces and its line.
type Line<'py> = (Vec<PyMove>, Vec<BTreeSet<u8>>, Vec<String>, Bound<'py, PyList>);

fn line<'py>(
    py: Python<'py>,
    moves: &[Move],
    nags: &[BTreeSet<u8>],
    comments: &[String],
    variations: &[Variation],
) -> PyResult<Line<'py>> {
    let list = PyList::empty(py);
    for Variation { ply, moves, nags, comments, variations } in variations {
        list.append((*ply, line(py, moves, nags, comments, variations)?))?;
    }
    Ok((moves.iter().map(|&mv| PyMove::of(mv)).collect(), nags.to_vec(), comments.to_vec(), list))
}

/// The tags of a game in their order, its comment, and its moves.
fn parts<'py>(py: Python<'py>, record: &Record) -> PyResult<Bound<'py, PyTuple>> {
    let moves = line(py, record.game.moves(), &record.nags, &record.comments, &record.variations)?;
    (record.all_tags(), &record.comment, moves).into_pyobject(py)
}

/// Reads games line by line; `doushouqi.read_games` makes objects of them.
#[pyclass(name = "_RecordReader", module = "doushouqi._core")]
#[derive(Default)]
pub(crate) struct PyRecordReader {
    reader: RecordReader,
    /// The bytes of text since the last end of a game.
    bytes: usize,
}

/// The bytes that a game and its objects take for each byte of its text, about.
const RECORD_BYTES: usize = 64;

#[pymethods]
impl PyRecordReader {
    #[new]
    fn new() -> PyRecordReader {
        PyRecordReader::default()
    }

    /// The tags and moves of the games that end on a line.
    fn line<'py>(&mut self, py: Python<'py>, text: &str) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.bytes += text.len();
        memory::need(self.bytes.saturating_mul(RECORD_BYTES))?;
        let records = self.reader.line(text).inspect_err(|_| self.bytes = 0).map_err(|e| error(&e))?;
        if !records.is_empty() {
            self.bytes = 0;
        }
        records.iter().map(|record| parts(py, record)).collect()
    }

    /// Ends the text. Raises GameError within a game.
    fn finish(&mut self) -> PyResult<()> {
        std::mem::take(self).reader.finish().map_err(|e| error(&e))
    }
}

/// The text of a game as the library writes it. Raises GameError if it is not one game.
#[pyfunction]
pub(crate) fn _format_game(text: &str) -> PyResult<String> {
    memory::need(text.len().saturating_mul(RECORD_BYTES))?;
    let records = Record::parse_all(text).map_err(|e| error(&e))?;
    match &records[..] {
        [record] => record.to_text().map_err(|e| GameError::new_err(e.to_string())),
        _ => Err(GameError::new_err(format!("the text contains {} games instead of one", records.len()))),
    }
}

fn dialect(name: &str) -> PyResult<Dialect> {
    name.parse().map_err(errors::format)
}

/// The game on a line of another program: a position, the word `moves` and the moves, or only a position.
///
/// `format` is 'dsq', 'mistboard', 'katago' or 'animalcraft'. Raises GameError.
#[pyfunction]
#[pyo3(
    signature = (text, format, *, rules = RulesArgument::default(), no_capture_limit = Some(Game::NO_CAPTURE_LIMIT)),
    text_signature = "(text, format, *, rules='paper', no_capture_limit=100)"
)]
pub(crate) fn parse_line(
    text: &str,
    format: &str,
    rules: RulesArgument,
    #[pyo3(from_py_with = whole)] no_capture_limit: Option<u32>,
) -> PyResult<PyBoard> {
    let rules = self::rules(rules.0);
    let read = parse_moves(dialect(format)?, text, &rules, no_capture_limit);
    let (game, _) = read.map_err(|e| GameError::new_err(e.to_string()))?;
    Ok(PyBoard::of(game))
}

/// A game on one line, as another program writes it; `parse_line` reads it. `move_number` is the number of the first
/// full move, which only some formats contain.
#[pyfunction]
#[pyo3(signature = (board, format, *, move_number = 1))]
pub(crate) fn format_line(
    board: PyRef<'_, PyBoard>,
    format: &str,
    #[pyo3(from_py_with = whole)] move_number: u32,
) -> PyResult<String> {
    Ok(format_moves(dialect(format)?, &board.game, move_number))
}
