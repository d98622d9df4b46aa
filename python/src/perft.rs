//! Perft.

use crate::arguments::BoardArgument;
use crate::interrupt::parallel;
use crate::memory;
use crate::moves::PyMove;
use crate::rules::RulesArgument;
use crate::whole::whole;
use doushouqi::board::{RuleOptions, Rules};
use doushouqi::perft::{Perft, PerftMode};
use doushouqi::tablebase::has_memory;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::AtomicBool;

/// The least memory for a count.
const LEAST_MEMORY: usize = 8 << 20;

fn checked(depth: i64, mode: &str) -> PyResult<(u32, PerftMode)> {
    let depth = u32::try_from(depth).ok().filter(|&depth| depth <= Perft::MAX_DEPTH);
    let depth = depth.ok_or_else(|| PyValueError::new_err(format!("the depth is 0 to {}", Perft::MAX_DEPTH)))?;
    match mode {
        "expand" => Ok((depth, PerftMode::Expand)),
        "leaf" => Ok((depth, PerftMode::Leaf)),
        _ => Err(PyValueError::new_err(format!("the mode is 'expand' or 'leaf', not {mode:?}"))),
    }
}

/// The given rules, or those of the board.
fn rules_of(board: &BoardArgument, given: Option<RulesArgument>) -> Rules {
    crate::rules::rules(given.map(|rules| rules.0).or(board.rules).unwrap_or(RuleOptions::PAPER))
}

/// The memory for a count: less than the default if the process may not have twice as much.
fn memory() -> PyResult<usize> {
    let halves = std::iter::successors(Some(Perft::MEMORY), |bytes| Some(bytes / 2));
    let bytes = halves.take_while(|&bytes| bytes >= LEAST_MEMORY).find(|&bytes| has_memory(2 * bytes));
    bytes.map_or_else(|| memory::need(2 * LEAST_MEMORY).map(|()| LEAST_MEMORY), Ok)
}

/// The number of lines of `depth` plies, counted on all cores.
///
/// The rules are those of the board; a FEN is counted under 'paper'. The mode 'leaf' counts a finished or repeated position as a leaf, as a minimax search does; the mode 'expand' expands equal positions once, so its speed is not that of move generation.
#[pyfunction]
#[pyo3(signature = (board, depth, *, rules = None, mode = "expand"))]
pub(crate) fn perft(
    py: Python<'_>,
    board: BoardArgument,
    #[pyo3(from_py_with = whole)] depth: i64,
    rules: Option<RulesArgument>,
    mode: &str,
) -> PyResult<u64> {
    let (depth, mode) = checked(depth, mode)?;
    let rules = rules_of(&board, rules);
    let memory = memory()?;
    parallel(py, |stop| Perft::new(&rules, mode).with_memory(memory).with_stop(stop).count(&board.position, depth))
}

/// The count after each legal move, under the rules as in `perft`.
#[pyfunction]
#[pyo3(signature = (board, depth, *, rules = None, mode = "expand"))]
pub(crate) fn divide(
    py: Python<'_>,
    board: BoardArgument,
    #[pyo3(from_py_with = whole)] depth: i64,
    rules: Option<RulesArgument>,
    mode: &str,
) -> PyResult<Vec<(PyMove, u64)>> {
    let (depth, mode) = checked(depth, mode)?;
    let rules = rules_of(&board, rules);
    let memory = memory()?;
    let divide =
        |stop: &AtomicBool| Perft::new(&rules, mode).with_memory(memory).with_stop(stop).divide(&board.position, depth);
    let counts = parallel(py, divide)?;
    Ok(counts.into_iter().map(|(mv, count)| (PyMove::of(mv), count)).collect())
}
