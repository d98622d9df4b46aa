//! The failures of commands, and their exit codes.

use crate::name::name;
use doushouqi::board::ParseFenError;
use doushouqi::tablebase::{OnDemandError, SetError, SolveError, TableError};
use report::plot::PlotError;
use std::path::Path;
use std::process::ExitCode;
use std::{fmt, io};

/// The result of a command.
pub type Outcome = Result<(), Failure>;

/// Why the program ends with an exit code other than 0. docs/commands.md lists the exit codes.
#[derive(Debug)]
pub enum Failure {
    /// A comparison or verification failed, or the checksum of a file is wrong.
    Mismatch(String),
    /// The arguments are wrong, or name a file that does not exist or cannot be parsed.
    Input(String),
    /// The machine lacks a resource, or the operating system reports an error.
    Environment(String),
    /// Standard output cannot be written.
    Output(io::Error),
    /// Ctrl-C or SIGTERM ended the command.
    Interrupted(String),
}

impl Failure {
    /// The exit code of the program.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Mismatch(_) => 1,
            Failure::Input(_) => 2,
            Failure::Environment(_) | Failure::Output(_) => 3,
            Failure::Interrupted(_) => 130,
        }
    }

    /// Prints the failure to stderr and returns the exit code.
    pub(crate) fn report(&self) -> u8 {
        eprintln!("{}: {self}", name());
        self.exit_code()
    }

    /// A failure to create, write or watch a file or directory. `what` is the verb.
    pub fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
        Failure::Environment(format!("cannot {what} {}: {error}", path.display()))
    }

    /// A failure to read a file or directory: [`Failure::Input`] if it does not exist or is no text file.
    pub fn reading(path: impl fmt::Display, error: &io::Error) -> Failure {
        let what = match error.kind() {
            io::ErrorKind::InvalidData if error.get_ref().is_none() => {
                "it is not text in UTF-8 (of compressed files, those of gzip are read)".to_owned()
            }
            _ => error.to_string(),
        };
        failure_of_io(error)(format!("cannot read {path}: {what}"))
    }
}

/// The exit code of programs that SIGPIPE ends, as shells report it.
const BROKEN_PIPE: u8 = 141;

/// Reports how a command ended.
pub(crate) fn exit_code(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has closed the pipe. The rest, often the result, is missing: no success.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(BROKEN_PIPE),
        Err(failure) => ExitCode::from(failure.report()),
    }
}

/// A constructor of [`Failure`] from its text.
pub type FailureKind = fn(String) -> Failure;

/// The kind of a failure to read.
pub fn failure_of_io(error: &io::Error) -> FailureKind {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidData => Failure::Input,
        _ => Failure::Environment,
    }
}

/// The kind of a failure of a set of tables.
pub fn failure_of_set(error: &SetError) -> FailureKind {
    match error {
        SetError::Solve(error) => failure_of_solve(error),
        SetError::Table(TableError::Io { source, .. }) => failure_of_io(source),
        SetError::Table(TableError::Damaged { .. }) => Failure::Mismatch,
        SetError::Table(TableError::OpenFiles { .. })
        | SetError::Locked { .. }
        | SetError::Memory { .. }
        | SetError::ProofMemory { .. } => Failure::Environment,
        _ => Failure::Input,
    }
}

/// The failure for arguments that cannot be parsed, with advice and usage on further lines.
pub(crate) fn of_arguments(error: &clap::Error) -> Failure {
    let text = error.to_string();
    Failure::Input(text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned())
}

/// The kind of a failure to solve.
fn failure_of_solve(error: &SolveError) -> FailureKind {
    match error {
        SolveError::TooManyPieces { .. } => Failure::Input,
        _ => Failure::Environment,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Mismatch(text)
            | Failure::Input(text)
            | Failure::Environment(text)
            | Failure::Interrupted(text) => f.write_str(text),
            Failure::Output(error) => write!(f, "cannot write to standard output: {error}"),
        }
    }
}

impl From<ParseFenError> for Failure {
    fn from(error: ParseFenError) -> Failure {
        Failure::Input(error.to_string())
    }
}

impl From<PlotError> for Failure {
    fn from(error: PlotError) -> Failure {
        Failure::Input(error.to_string())
    }
}

impl From<SolveError> for Failure {
    fn from(error: SolveError) -> Failure {
        failure_of_solve(&error)(error.to_string())
    }
}

impl From<SetError> for Failure {
    fn from(error: SetError) -> Failure {
        let kind = failure_of_set(&error);
        match error {
            SetError::Table(error) if can_regenerate(&error) => kind(format!("{error}; {REGENERATE}")),
            error => kind(error.to_string()),
        }
    }
}

impl From<OnDemandError> for Failure {
    fn from(error: OnDemandError) -> Failure {
        match error {
            OnDemandError::Set(error) => error.into(),
            OnDemandError::TooManyPieces { .. } => Failure::Input(error.to_string()),
            OnDemandError::Cancelled => Failure::Interrupted(error.to_string()),
            _ => Failure::Environment(error.to_string()),
        }
    }
}

/// Whether deleting the file and generating it again is the remedy.
fn can_regenerate(error: &TableError) -> bool {
    matches!(error, TableError::Damaged { .. } | TableError::Foreign { .. } | TableError::Material { .. })
}

/// The remedy for a damaged file.
pub const REGENERATE: &str = "delete the damaged files, and `dsq generate` (in a cluster job, `dsq cluster solve`; for results only, `dsq repack --wdl`) makes them again";
