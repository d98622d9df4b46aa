//! A program: the list of its commands.

use crate::failure::{Failure, Outcome, of_arguments};
use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
use clap::{ArgMatches, Args, Command};

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

/// Prints help or the version and ends the program, or returns the failure for a command line that is wrong.
pub(crate) fn rejected(error: &clap::Error) -> Outcome {
    // Help and the version, also of a command that needs a subcommand.
    if !error.use_stderr() || error.kind() == DisplayHelpOnMissingArgumentOrSubcommand {
        error.exit();
    }
    Err(of_arguments(error))
}
