//! The life of a program, from the command line to the exit code.

use crate::failure::{Failure, Outcome, exit_code};
use crate::help::Help;
use crate::program::{Program, parsed, rejected};
use crate::{name, panic, progress};
use clap::{ArgMatches, Command};
use doushouqi::cpu::CpuLevel;
use doushouqi::search::Engine;
use std::process::ExitCode;

/// Runs the program: parses the command line, runs the command and reports a failure. The stack suffices for a search,
/// whatever the system gives the first thread.
#[must_use]
pub fn main(program: &Program) -> ExitCode {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("main".to_owned()).stack_size(Engine::STACK);
        let started = thread.spawn_scoped(scope, || run(program));
        started.map_or_else(|_| run(program), |thread| thread.join().unwrap_or(ExitCode::FAILURE))
    })
}

fn run(program: &Program) -> ExitCode {
    panic::abort_on_panic();
    #[cfg(unix)]
    crate::open_files::raise_limit();
    name::set(program.name);
    let command = program.command();
    exit_code(match command.clone().try_get_matches_from(std::env::args_os()) {
        Ok(arguments) => program.run(command, &arguments),
        Err(error) => rejected(&error),
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
