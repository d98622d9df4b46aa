//! The error of training.

use doushouqi::search::network::NetworkError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a recipe or a file of training cannot be used, or a run ended without a network.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainingError {
    /// A recipe is not TOML, lacks a key or contains an unknown key.
    #[error("{0}")]
    Syntax(String),
    /// A value of a recipe is out of range.
    #[error("{key} is {expected}")]
    Range {
        /// The key.
        key: &'static str,
        /// The allowed values.
        expected: &'static str,
    },
    /// A file of data or a checkpoint cannot be read, or a file of data cannot be written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: io::Error,
    },
    /// A file is not training data or not a complete checkpoint, or contains data of other games.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// The files of a run do not belong together, or there is too little data.
    #[error("{0}")]
    Input(String),
    /// The parameters cannot be quantised.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A result cannot be written.
    #[error("{}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: io::Error,
    },
}
