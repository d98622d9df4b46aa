//! Why a class is not solved.

use crate::tablebase::{MAX_PIECES, Material};
use std::path::PathBuf;
use thiserror::Error;

/// Why a material was not solved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SolveError {
    /// The material has more than [`MAX_PIECES`] pieces.
    #[error("{material} has {pieces} pieces; at most {MAX_PIECES} can be solved")]
    TooManyPieces {
        /// The material.
        material: Material,
        /// Its number of pieces.
        pieces: usize,
    },
    /// The memory for a class cannot be allocated.
    #[error("another {bytes} bytes of memory cannot be allocated")]
    Memory {
        /// The bytes requested.
        bytes: usize,
    },
    /// A line is too long for the width of the counters.
    #[error("{material} has a line longer than {plies} plies, which the program cannot count")]
    TooLong {
        /// The representative of the class.
        material: Material,
        /// The longest distance that can be counted.
        plies: u16,
    },
    /// A temporary file cannot be written or read.
    #[error("the temporary files of a class in {} cannot be written or read: {what}", dir.display())]
    Disk {
        /// The directory of the temporary files.
        dir: PathBuf,
        /// The error of the operating system.
        what: String,
    },
    /// A backend failed.
    #[error("{reason}")]
    Backend {
        /// The representative of the class that failed; `None` if the backend as a whole failed.
        material: Option<Material>,
        /// The reason, as text.
        reason: String,
    },
    /// The sink refused a solved class; its own error gives the reason.
    #[error("solving was stopped")]
    Stopped,
}
