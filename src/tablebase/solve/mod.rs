//! Solving: [`Solver`](solver::Solver) takes the classes in the order of their captures, and a
//! [`Backend`](backend::Backend) solves them: the CPU (`cpu`) or a GPU (`gpu`).

pub(crate) mod backend;
pub(crate) mod cpu;
pub(crate) mod difference;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;
pub(crate) mod solver;
