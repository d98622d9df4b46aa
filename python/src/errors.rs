//! The exceptions, with the messages of the library.

use doushouqi::board::{ParseFenError, ParseMoveError, ParseNameError, ParseRulesError, PlayError};
use doushouqi::tablebase::{OnDemandError, ParseMaterialError, SetError, SolveError, TableError};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use std::fmt::Display;
use std::io::ErrorKind;

create_exception!(doushouqi, FenError, PyValueError, "The text is not a FEN, or its pieces are not a valid position.");
create_exception!(doushouqi, RulesError, PyValueError, "The text names no rules.");
create_exception!(doushouqi, MaterialError, PyValueError, "The text names no material.");
create_exception!(doushouqi, InvalidMoveError, PyValueError, "The text is a move in neither notation.");
create_exception!(doushouqi, IllegalMoveError, PyValueError, "The move is not legal here, or the game is over.");
create_exception!(doushouqi, GameError, PyValueError, "The text is not a game, or not one that can be written.");
create_exception!(
    doushouqi,
    EngineError,
    PyException,
    "An engine in another process ended, did not answer, or does not speak UCI."
);
create_exception!(
    doushouqi,
    TablesError,
    PyException,
    "Tables are missing, damaged, closed or for other rules, or cannot be made."
);

pub(crate) fn fen(error: ParseFenError) -> PyErr {
    FenError::new_err(error.to_string())
}

pub(crate) fn rules(error: ParseRulesError) -> PyErr {
    RulesError::new_err(error.to_string())
}

pub(crate) fn material(error: ParseMaterialError) -> PyErr {
    MaterialError::new_err(error.to_string())
}

pub(crate) fn play(error: PlayError) -> PyErr {
    match error {
        PlayError::Text(ParseMoveError::Malformed { .. }) => InvalidMoveError::new_err(error.to_string()),
        _ => IllegalMoveError::new_err(error.to_string()),
    }
}

pub(crate) fn format(error: ParseNameError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

pub(crate) fn tables(error: SetError) -> PyErr {
    let is_memory = match &error {
        SetError::Solve(SolveError::Memory { .. }) => true,
        SetError::Table(TableError::Io { source, .. }) => source.kind() == ErrorKind::OutOfMemory,
        SetError::Memory { material, needed, limit } => {
            let what = format!("solving {material} takes {needed} bytes of memory; {limit} are available");
            return PyMemoryError::new_err(what);
        }
        _ => false,
    };
    of_tables(is_memory, &error)
}

pub(crate) fn on_demand(error: OnDemandError) -> PyErr {
    match error {
        OnDemandError::Set(error) => tables(error),
        error => of_tables(matches!(error, OnDemandError::Memory { .. }), &error),
    }
}

pub(crate) fn solve(error: SolveError) -> PyErr {
    of_tables(matches!(error, SolveError::Memory { .. }), &error)
}

fn of_tables(is_memory: bool, error: &dyn Display) -> PyErr {
    if is_memory { PyMemoryError::new_err(error.to_string()) } else { TablesError::new_err(error.to_string()) }
}
