//! The life of a program: from its command line to its exit code.

use crate::failure::{Failure, Outcome, exit_code, of_arguments};
use crate::{help, name, panic, progress};
use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
use clap::{Command, CommandFactory, FromArgMatches};
use doushouqi::cpu::CpuLevel;
use std::process::ExitCode;

/// The command line of a program.
pub trait Program: CommandFactory + FromArgMatches {
    /// The titles of the groups in `--help`, and the commands of each. Commands in no group are listed at the end.
    const GROUPS: &'static [(&'static str, &'static [&'static str])];

    /// The effect of Ctrl-C on each command that may run longer than a minute. The page in `docs` contains the same table.
    const ON_CTRL_C: &'static [(&'static str, &'static str)];

    /// Runs the parsed command of `program`.
    ///
    /// # Errors
    /// The failure of the command.
    fn run(self, program: Command) -> Outcome;

    /// A better text for an error of the command line, if there is one.
    fn explain(_error: &clap::Error) -> Option<String> {
        None
    }
}

/// Runs the program: parses the command line, runs the command and reports a failure.
#[must_use]
pub fn main<P: Program>() -> ExitCode {
    panic::abort_on_panic();
    #[cfg(unix)]
    crate::open_files::raise_limit();
    let program = help::grouped(P::command(), P::GROUPS, P::ON_CTRL_C);
    name::set(program.get_name());
    let arguments = program.clone().try_get_matches();
    match arguments.and_then(|arguments| P::from_arg_matches(&arguments)) {
        Ok(parsed) => exit_code(run(parsed, program)),
        // Help and the version, also of a command that needs a subcommand.
        Err(error) if !error.use_stderr() || error.kind() == DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        Err(error) => exit_code(Err(P::explain(&error).map_or_else(|| of_arguments(&error), Failure::Input))),
    }
}

fn run(parsed: impl Program, program: Command) -> Outcome {
    CpuLevel::from_env().map_err(|error| Failure::Input(error.to_string()))?;
    progress::watch_signals()?;
    parsed.run(program)
}
