//! The program `dsq`. Data goes to stdout, everything else to stderr.

/// Prints to stderr. Unlike the macro of the standard library, it ignores errors: a closed stderr must not end the program.
macro_rules! eprint {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = write!(std::io::stderr(), $($text)*);
    }};
}

/// As [`eprint`], with the end of the line.
macro_rules! eprintln {
    ($($text:tt)*) => { eprint!("{}\n", format_args!($($text)*)) };
}

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
mod input;
mod on_demand;
#[cfg(unix)]
mod open_files;
mod output;
mod panic;
mod progress;
mod provenance;
#[cfg(unix)]
mod signals;

use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

fn main() -> ExitCode {
    panic::abort_on_panic();
    #[cfg(unix)]
    open_files::raise_limit();
    let program = help::grouped(commands::Cli::command());
    let arguments = program.clone().try_get_matches();
    match arguments.and_then(|arguments| commands::Cli::from_arg_matches(&arguments)) {
        Ok(cli) => failure::exit_code(cli.run(program)),
        // Help and the version, also of a command that needs a subcommand.
        Err(error) if !error.use_stderr() || error.kind() == DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        Err(error) => failure::exit_code(Err(failure::of_arguments(&error))),
    }
}
