//! Solving: [`Solver`](solver::Solver) takes the classes in the order of their captures, `cpu` and `gpu` solve one.

pub(crate) mod cpu;
pub(crate) mod difference;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;
pub(crate) mod solver;
