//! Perft.

use crate::arguments::BoardArgument;
use crate::board::PyMove;
use crate::interrupt::interruptible;
use crate::rules::RulesArgument;
use doushouqi::board::Rules;
use doushouqi::perft::{Perft, PerftMode};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::AtomicBool;

/// A count of more plies may not fit into 64 bits.
const DEEPEST: u32 = 12;

fn checked(depth: i64, mode: &str) -> PyResult<(u32, PerftMode)> {
    let depth = u32::try_from(depth).ok().filter(|&depth| depth <= DEEPEST);
    let depth = depth.ok_or_else(|| PyValueError::new_err(format!("the depth is 0 to {DEEPEST}")))?;
    match mode {
        "expand" => Ok((depth, PerftMode::Expand)),
        "leaf" => Ok((depth, PerftMode::Leaf)),
        _ => Err(PyValueError::new_err(format!("the mode is 'expand' or 'leaf', not {mode:?}"))),
    }
}

/// The number of lines of `depth` plies, counted on all cores.
///
/// The mode 'leaf' counts a finished or repeated position as a leaf, as a minimax search does.
#[pyfunction]
#[pyo3(signature = (board, depth, *, rules = RulesArgument::default(), mode = "expand"))]
pub(crate) fn perft(
    py: Python<'_>,
    board: BoardArgument,
    depth: i64,
    rules: RulesArgument,
    mode: &str,
) -> PyResult<u64> {
    let (depth, mode) = checked(depth, mode)?;
    interruptible(py, |stop| Perft::new(&Rules::new(rules.0), mode).with_stop(stop).count(&board.0, depth))
}

/// The count after each legal move.
#[pyfunction]
#[pyo3(signature = (board, depth, *, rules = RulesArgument::default(), mode = "expand"))]
pub(crate) fn divide(
    py: Python<'_>,
    board: BoardArgument,
    depth: i64,
    rules: RulesArgument,
    mode: &str,
) -> PyResult<Vec<(PyMove, u64)>> {
    let (depth, mode) = checked(depth, mode)?;
    let divide = |stop: &AtomicBool| Perft::new(&Rules::new(rules.0), mode).with_stop(stop).divide(&board.0, depth);
    let counts = interruptible(py, divide)?;
    Ok(counts.into_iter().map(|(mv, count)| (PyMove::of(mv), count)).collect())
}
