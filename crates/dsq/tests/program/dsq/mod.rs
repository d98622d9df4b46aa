//! Runs `dsq` for tests.

pub use crate::program::{Bound, command, run as dsq, stdout};
