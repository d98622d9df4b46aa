//! The program `dsq`. Data goes to stdout, everything else to stderr.

mod arguments;
mod backend;
mod bundle;
mod class_plan;
mod commands;
mod counts;
mod evaluation;
mod failure;
mod games;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
mod gpu;
mod help;
mod on_demand;
mod output;
mod progress;
mod provenance;

use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

fn main() -> ExitCode {
    let program = help::grouped(commands::Cli::command());
    let cli = commands::Cli::from_arg_matches(&program.clone().get_matches()).unwrap_or_else(|error| error.exit());
    failure::exit_code(cli.run(program))
}
