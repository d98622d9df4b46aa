//! Solving: [`Solver`](solver::Solver) orders the classes so that captures lead to solved classes, and a
//! [`Backend`](backend::Backend) solves them on the CPU (`cpu`) or on a GPU (`gpu`). Both return the values of a class as
//! [`SolvedRows`](values::SolvedRows).

pub(crate) mod backend;
pub(crate) mod captures;
pub(crate) mod cpu;
pub(crate) mod difference;
pub(crate) mod error;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;
pub(crate) mod needs;
pub(crate) mod observer;
pub(crate) mod progress;
pub(crate) mod solver;
pub(crate) mod values;
pub(crate) mod watch;
