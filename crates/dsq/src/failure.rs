//! Failures of what `dsq` does and `dsq-lab` does not: playing, protocols, and long runs that resume.

use cli::failure::{Failure, failure_of_set};
use doushouqi::tablebase::{SetError, SolveError, TableError};
use matches::{MatchError, PlayerError};
use protocols::SessionError;
use std::io::ErrorKind;

/// The failure for a player that cannot be created.
pub fn failure_of_player(error: &PlayerError) -> Failure {
    match error {
        PlayerError::Unsupported(text) => Failure::Input(text.clone()),
        PlayerError::Stopped => Failure::Interrupted("stopped before the first game".to_owned()),
        error => Failure::Environment(error.to_string()),
    }
}

/// The failure for a player or a match that is wrong, or names tables or a network that cannot be loaded.
pub fn failure_of_match(error: MatchError) -> Failure {
    match error {
        MatchError::Player(error) => failure_of_player(&error),
        MatchError::Tables(error) => error.into(),
        MatchError::Read { path, error } => Failure::reading(path.display(), &error),
        _ => Failure::Input(error.to_string()),
    }
}

/// The failure for a session of a protocol that ended with an error.
pub fn failure_of_session(error: SessionError) -> Failure {
    match error {
        SessionError::Input(error) => Failure::reading("standard input", &error),
        SessionError::Output(error) => Failure::Output(error),
        SessionError::Thread(_) => Failure::Environment(error.to_string()),
    }
}

/// The failure of a command that resumes when run again.
pub fn resumable(error: SetError) -> Failure {
    match error {
        SetError::Table(TableError::Io { ref source, .. })
            if matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) =>
        {
            failure_of_set(&error)(format!("{error}; the files there must be writable"))
        }
        SetError::Table(TableError::Io { .. } | TableError::OpenFiles { .. })
        | SetError::Solve(SolveError::Disk { .. }) => failure_of_set(&error)(format!("{error}; {RESUME}")),
        error => error.into(),
    }
}

/// The message of resumable commands on interruption.
pub const RESUME: &str = "finished classes are kept: run the same command again to resume";
