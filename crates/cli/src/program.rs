//! A program: the list of its commands, and its life from the command line to the exit code.

use crate::failure::{Failure, Outcome, exit_code, of_arguments};
use crate::help::Help;
use crate::{name, panic, progress, renamed};
use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
use clap::{ArgMatches, Args, Command};
use doushouqi::cpu::CpuLevel;
use std::ffi::OsString;
use std::process::ExitCode;

/// A program and its commands. Help, completions, manual pages and the reference are generated from it.
pub struct Program {
    /// The name of the executable.
    pub name: &'static str,
    /// The version of the package.
    pub version: &'static str,
    /// The purpose of the program.
    pub about: &'static str,
    /// The end of `--help`.
    pub after_help: &'static str,
    /// The titles of the groups in `--help`, and the commands of each.
    pub groups: &'static [(&'static str, &'static [Entry])],
}

/// A command of a program, made by [`command!`](crate::command).
pub struct Entry {
    /// The word on the command line.
    pub name: &'static str,
    /// The effect of Ctrl-C on the command (its name is empty) and on its subcommands, if they may run longer than a minute.
    pub on_ctrl_c: &'static [(&'static str, &'static str)],
    /// Adds the options and the help.
    pub define: fn(Command) -> Command,
    /// Runs the command with the parsed options.
    pub run: fn(&ArgMatches) -> Outcome,
}

/// A command: its name, the struct of its options with a method `run`, and the effect of Ctrl-C on it and on its subcommands.
#[macro_export]
macro_rules! command {
    ($name:literal, $options:ty $(, $effect:expr)? $(; $($subcommand:literal => $of_subcommand:expr),+)?) => {
        $crate::Entry {
            name: $name,
            on_ctrl_c: &[$(("", $effect),)? $($(($subcommand, $of_subcommand),)+)?],
            define: <$options as ::clap::Args>::augment_args,
            run: |arguments| $crate::parsed::<$options>(arguments)?.run(),
        }
    };
}

/// The options of a command.
///
/// # Errors
/// If the arguments do not fit each other.
pub fn parsed<T: Args>(arguments: &ArgMatches) -> Result<T, Failure> {
    T::from_arg_matches(arguments).map_err(|error| of_arguments(&error))
}

/// Runs the program: parses the command line, runs the command and reports a failure.
#[must_use]
pub fn main(program: &Program) -> ExitCode {
    panic::abort_on_panic();
    #[cfg(unix)]
    crate::open_files::raise_limit();
    name::set(program.name);
    let command = program.command();
    let words: Vec<OsString> = std::env::args_os().collect();
    exit_code(match command.clone().try_get_matches_from(&words) {
        Ok(arguments) => program.run(command, &arguments),
        Err(error) => rejected(&command, &words, &error),
    })
}

impl Program {
    fn run(&self, command: Command, arguments: &ArgMatches) -> Outcome {
        CpuLevel::from_env().map_err(|error| Failure::Input(error.to_string()))?;
        progress::watch_signals()?;
        let Some((name, arguments)) = arguments.subcommand() else { return Ok(()) };
        let mut entries = self.groups.iter().flat_map(|(_, entries)| *entries);
        match entries.find(|entry| entry.name == name) {
            Some(entry) => (entry.run)(arguments),
            None => parsed::<Help>(arguments)?.run(self, command),
        }
    }
}

/// Prints help or the version and ends the program, or returns the failure for a command line that is wrong.
pub(crate) fn rejected(command: &Command, words: &[OsString], error: &clap::Error) -> Outcome {
    // Help and the version, also of a command that needs a subcommand.
    if !error.use_stderr() || error.kind() == DisplayHelpOnMissingArgumentOrSubcommand {
        error.exit();
    }
    Err(renamed::explain(command, words, error).map_or_else(|| of_arguments(error), Failure::Input))
}
