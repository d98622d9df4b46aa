//! The program `dsq`. Data goes to stdout, everything else to stderr.

#[macro_use(eprint, eprintln)]
extern crate cli;

mod arguments;
mod backend;
mod bundle;
mod class_plan;
mod commands;
mod counts;
mod failure;
mod games;
mod generating;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
mod gpu;
mod on_demand;
mod provenance;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(&commands::PROGRAM)
}
