//! Failures of what only `dsq-lab` does.

use cli::failure::{Failure, failure_of_io};
use train::DataError;

/// The failure for an error in a file of training data.
pub fn failure_of_data(error: DataError) -> Failure {
    match &error {
        DataError::Io { error: source, .. } => failure_of_io(source)(format!("cannot read {error}")),
        _ => Failure::Input(error.to_string()),
    }
}
