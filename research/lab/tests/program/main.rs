//! The program `dsq-lab` as its users run it, and the crates of which it consists.

mod cli;
mod complexity;
mod fuzz;
mod general;
mod handicaps;
#[path = "../../../../tests/support/help.rs"]
mod help;
mod mining;
#[path = "../../../../tests/support/program.rs"]
mod program;
#[path = "../../../../tests/api/slow/mod.rs"]
mod slow;
mod training;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_dsq-lab");
