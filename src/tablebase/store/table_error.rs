//! The errors of table files.

use crate::tablebase::Material;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The format version of repacked tables, which store only canonical positions and not every value.
pub(crate) const PACKED_VERSION: u32 = 7;
/// The format version of tables with the values of both sides to move in canonical rows, as the solver reads and writes
/// them.
pub(crate) const EXACT_VERSION: u32 = 6;

/// Why a table file cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The process has as many open files as it may have.
    #[error("this process may open only {} files at once; raise the limit of open files (`ulimit -n`)",
            limit.map_or_else(|| "so many".to_owned(), |limit| limit.to_string()))]
    OpenFiles {
        /// The limit; `None` if it is unknown.
        limit: Option<u64>,
    },
    /// The file does not start with the magic bytes of a table.
    #[error("{path} is not a table of this program")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file has another format version.
    #[error("{path} has format version {found}; this program reads versions {EXACT_VERSION} and {PACKED_VERSION}: \
             {}delete the table and generate it again",
            if *found > PACKED_VERSION { "update it, or if it is up to date, the table is damaged: " } else { "" })]
    Version {
        /// The file.
        path: PathBuf,
        /// The format version of the file.
        found: u32,
    },
    /// The file stores results (win, draw or loss) without distances.
    #[error("{path} stores results (win, draw or loss) only, not distances, which are needed here")]
    WdlOnly {
        /// The file.
        path: PathBuf,
    },
    /// The contents of the file are damaged.
    #[error("{path} is damaged: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage, as the end of a sentence.
        what: &'static str,
    },
    /// The table is for other rules.
    #[error("{path} was made for the rules {found}, not {wanted}")]
    Rules {
        /// The file.
        path: PathBuf,
        /// The rules of the table.
        found: String,
        /// The requested rules.
        wanted: String,
    },
    /// The file contains the table of another class.
    #[error("{path} holds {found} instead of {wanted}")]
    Material {
        /// The file.
        path: PathBuf,
        /// The material in the file.
        found: String,
        /// The requested material.
        wanted: Material,
    },
}

impl TableError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> TableError + '_ {
        move |source| match open_files_limit(&source) {
            Some(limit) => TableError::OpenFiles { limit },
            None => TableError::Io { path: path.to_owned(), source },
        }
    }
}

/// The limit of open files, if it is known, if this error means that the limit is reached.
#[cfg(unix)]
fn open_files_limit(error: &io::Error) -> Option<Option<u64>> {
    use rustix::process::{Resource, getrlimit};
    let is_limit = error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error());
    is_limit.then(|| getrlimit(Resource::Nofile).current)
}

#[cfg(not(unix))]
fn open_files_limit(_: &io::Error) -> Option<Option<u64>> {
    None
}
