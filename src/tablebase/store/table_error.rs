//! Why a table file cannot be used.

use crate::tablebase::Material;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The format version of table files that this program reads and writes.
pub(crate) const VERSION: u32 = 2;

/// Why a table file cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// It cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It begins otherwise than a table.
    #[error("{path} is no table of this program")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// It is of another version of this program.
    #[error("{path} has format version {found}; this program reads version {VERSION}")]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// It is not what was written.
    #[error("{path} is damaged: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// It is a table of other rules.
    #[error("{path} was made for the rules {found}, not {wanted}")]
    Rules {
        /// The file.
        path: PathBuf,
        /// The rules that it was made for.
        found: String,
        /// The rules that were asked for.
        wanted: String,
    },
    /// It is another class's table.
    #[error("{path} holds {found} instead of {wanted}")]
    Material {
        /// The file.
        path: PathBuf,
        /// The material that it names.
        found: String,
        /// The material that was asked for.
        wanted: Material,
    },
}

impl TableError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> TableError + '_ {
        move |source| TableError::Io { path: path.to_owned(), source }
    }
}
