//! The arguments of `Board.svg`.

use crate::moves::PyMove;
use crate::squares::square;
use doushouqi::board::Square;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The colours of the last move and of arrows.
pub(crate) const LAST_MOVE: &str = "#f2d64b";
const ARROW: &str = "#2f7d32";
/// The greatest height in pixels.
const LARGEST: u32 = 10_000;

/// A move, or two squares and perhaps a colour.
#[derive(FromPyObject)]
pub(crate) enum ArrowArgument {
    Move(PyMove),
    Colored(i64, i64, String),
    Plain(i64, i64),
}

impl ArrowArgument {
    pub fn squares(self) -> PyResult<(Square, Square, String)> {
        Ok(match self {
            ArrowArgument::Move(mv) => (mv.squares.from, mv.squares.to, ARROW.to_owned()),
            ArrowArgument::Colored(tail, head, name) => (square(tail)?, square(head)?, color(name)?),
            ArrowArgument::Plain(tail, head) => (square(tail)?, square(head)?, ARROW.to_owned()),
        })
    }
}

/// A CSS colour, which must not contain markup.
pub(crate) fn color(name: String) -> PyResult<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "#(),.% -".contains(letter);
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) {
        return Ok(name);
    }
    Err(PyValueError::new_err(format!("a colour is a name or a CSS colour such as #2f7d32, not {name:?}")))
}

/// A height in pixels.
pub(crate) fn size(size: Option<i64>) -> PyResult<Option<u32>> {
    let Some(size) = size else { return Ok(None) };
    let pixels = u32::try_from(size).ok().filter(|size| (1..=LARGEST).contains(size));
    pixels.map(Some).ok_or_else(|| PyValueError::new_err(format!("the size is 1 to {LARGEST} pixels, not {size}")))
}
