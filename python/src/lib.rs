//! The extension module `doushouqi._core`. Each file contains one topic. Its doc comments are the documentation that
//! Python users read; `doushouqi/_core.pyi` contains the signatures.

mod actions;
mod analysis;
mod arguments;
mod batch;
mod board;
mod engine;
mod errors;
mod games;
mod held;
mod info;
mod interrupt;
mod limit;
mod limited;
mod memory;
mod moves;
mod outcome;
mod packed;
mod packing;
mod perft;
mod pickle;
mod picture;
mod random;
mod rules;
mod source;
mod squares;
mod states;
mod study;
mod tables;
mod values;
mod vec_env;
mod whole;

use pyo3::prelude::*;

#[cfg(panic = "abort")]
compile_error!("a panic must become an exception and not end the interpreter: build with panic = \"unwind\"");

/// Python allocates objects with this alignment; a class with a greater one would be misaligned.
const PYTHON_ALIGNMENT: usize = 16;

/// Fails to compile if Python cannot align a class.
macro_rules! aligned {
    ($($class:ty),+ $(,)?) => {$(const _: () = assert!(align_of::<$class>() <= PYTHON_ALIGNMENT);)+};
}
aligned!(
    analysis::PyAnalysis,
    board::PyBoard,
    engine::PyEngine,
    games::PyRecordReader,
    info::PyInfo,
    limit::PyLimit,
    limited::PyLimitedTables,
    moves::PyMove,
    outcome::PyOutcome,
    rules::PyRules,
    squares::PyPiece,
    states::PyStates,
    study::PyFeatures,
    study::PyTree,
    tables::PyTables,
    values::PyStats,
    values::PyValue,
    vec_env::PyVecEnv,
);

/// Dou Shou Qi (Jungle chess): boards, endgame tables, an engine and batched environments.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::analysis::PyAnalysis;
    #[pymodule_export]
    use crate::board::PyBoard;
    #[pymodule_export]
    use crate::engine::PyEngine;
    #[pymodule_export]
    use crate::errors::{
        EngineError, FenError, GameError, IllegalMoveError, InvalidMoveError, MaterialError, RulesError, TablesError,
    };
    #[pymodule_export]
    use crate::games::{_format_game, PyRecordReader, format_line, parse_line};
    #[pymodule_export]
    use crate::info::PyInfo;
    #[pymodule_export]
    use crate::limit::PyLimit;
    #[pymodule_export]
    use crate::limited::{PyLimitedTables, open_limited};
    #[pymodule_export]
    use crate::moves::PyMove;
    #[pymodule_export]
    use crate::outcome::PyOutcome;
    #[pymodule_export]
    use crate::packing::{pack, unpack};
    #[pymodule_export]
    use crate::perft::{divide, perft};
    #[pymodule_export]
    use crate::random::{random_games, random_positions};
    #[pymodule_export]
    use crate::rules::PyRules;
    #[pymodule_export]
    use crate::squares::{PyPiece, parse_square, square_name};
    #[pymodule_export]
    use crate::states::PyStates;
    #[pymodule_export]
    use crate::study::{PyFeatures, PyTree, learn_tree};
    #[pymodule_export]
    use crate::tables::{PyTables, generate, materials, open_tables, solve};
    #[pymodule_export]
    use crate::values::{PyStats, PyValue};
    #[pymodule_export]
    use crate::vec_env::PyVecEnv;
    use numpy::{PyArray1, PyArrayMethods};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        // What is made at its first use is made here: a process that was forked while another thread makes it would wait
        // for ever.
        crate::actions::prepare();
        // The first array of a process loads NumPy's functions, which runs Python code that Ctrl-C interrupts.
        drop(PyArray1::from_vec(m.py(), vec![0_i8]).try_readwrite());
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
