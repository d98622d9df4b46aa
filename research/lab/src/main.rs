//! The program `dsq-lab`, for research. Data goes to stdout, everything else to stderr.

#[macro_use(eprintln)]
extern crate cli;

mod board_out;
mod commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(&commands::PROGRAM)
}
