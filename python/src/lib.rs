//! The extension module `doushouqi._core`. Each file contains one topic. Its doc comments are the documentation that
//! Python users read; `doushouqi/_core.pyi` contains the signatures.

mod actions;
mod arguments;
mod batch;
mod board;
mod engine;
mod errors;
mod interrupt;
mod outcome;
mod packed;
mod packing;
mod perft;
mod pickle;
mod random;
mod rules;
mod source;
mod squares;
mod study;
mod tables;
mod vec_env;

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
    board::PyBoard,
    board::PyMove,
    engine::PyEngine,
    engine::PyInfo,
    engine::PyLimit,
    outcome::PyOutcome,
    rules::PyRules,
    squares::PyPiece,
    study::PyFeatures,
    study::PyTree,
    tables::PyStats,
    tables::PyTables,
    tables::PyValue,
    vec_env::PyVecEnv,
);

/// Dou Shou Qi (Jungle chess): boards, endgame tables, an engine and batched environments.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::board::{PyBoard, PyMove};
    #[pymodule_export]
    use crate::engine::{PyEngine, PyInfo, PyLimit};
    #[pymodule_export]
    use crate::errors::{FenError, IllegalMoveError, InvalidMoveError, MaterialError, RulesError, TablesError};
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
    use crate::study::{PyFeatures, PyTree, learn_tree};
    #[pymodule_export]
    use crate::tables::{PyStats, PyTables, PyValue, generate, materials, open_tables, solve};
    #[pymodule_export]
    use crate::vec_env::PyVecEnv;
    use numpy::{PyArray1, PyArrayMethods};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        // The first array of a process loads NumPy's functions, which runs Python code that Ctrl-C interrupts.
        drop(PyArray1::from_vec(m.py(), vec![0_i8]).try_readwrite());
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
