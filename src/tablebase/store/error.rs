use crate::tablebase::Material;
use crate::tablebase::solve::backend::SolveError;
use crate::tablebase::store::file::TableError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a set of tables cannot be made or used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetError {
    /// A table cannot be read or written.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A class cannot be solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// Another run writes there.
    #[error("{dir} is being written by another run; wait for it, or choose another directory")]
    Locked {
        /// The directory.
        dir: PathBuf,
    },
    /// There is no manifest.
    #[error("{dir} holds no tables: there is no manifest.json")]
    NoTables {
        /// The directory.
        dir: PathBuf,
    },
    /// The manifest cannot be read.
    #[error("{path} is not a readable manifest: {what}")]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The tables are of other rules.
    #[error("{dir} holds tables for the rules {found}, not {wanted}")]
    Rules {
        /// The directory.
        dir: PathBuf,
        /// The rules of its tables.
        found: String,
        /// The rules that were asked for.
        wanted: String,
    },
    /// A table is not there.
    #[error("{dir} has no table of {material}; `dsq generate` makes it")]
    Missing {
        /// The directory.
        dir: PathBuf,
        /// The material, or the representative of its class.
        material: Material,
    },
    /// A table that a job needs is not there.
    #[error("{} has no table of {capture}, to which captures of {class} lead; solve it first: {command}", dir.display())]
    MissingCapture {
        /// The directory.
        dir: PathBuf,
        /// The class of the job.
        class: Material,
        /// The class whose table it needs.
        capture: Material,
        /// The job that makes the table.
        command: String,
    },
    /// The manifest lists nothing.
    #[error("{} lists no tables: `dsq generate` still runs there, or was interrupted; run it again to resume", dir.display())]
    Unfinished {
        /// The directory.
        dir: PathBuf,
    },
    /// A table is there, or needed, and not in the manifest.
    #[error("the manifest.json in {dir} does not name {material}; `dsq generate` brings it up to date")]
    Unlisted {
        /// The directory.
        dir: PathBuf,
        /// The material, or the representative of its class.
        material: Material,
    },
    /// The tables do not go so far.
    #[error("{material} has more pieces than these tables, which go to {pieces}")]
    TooFewPieces {
        /// The material, or the representative of its class.
        material: Material,
        /// The most pieces of these tables.
        pieces: usize,
    },
    /// The limit of memory is too low.
    #[error("solving {material} takes about {}; the limit is {} (raise --memory)", size(*needed, *limit), size(*limit, *limit))]
    Memory {
        /// The material, or the representative of its class.
        material: Material,
        /// What it takes, in bytes.
        needed: usize,
        /// What there may be, in bytes.
        limit: usize,
    },
    /// Counts that cannot be read.
    #[error("{} is not a readable file of counts: {what}", path.display())]
    Counts {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A table that stores one side to move where both are needed.
    #[error("{} stores one side to move only (it was repacked); jobs need tables as `dsq generate` writes them", path.display())]
    OneSided {
        /// The file.
        path: PathBuf,
    },
    /// The limit of memory is too low to check a class.
    #[error("checking {material} takes about {}; the limit is {} (raise --memory)", size(*needed, *limit), size(*limit, *limit))]
    ProofMemory {
        /// The class.
        material: Material,
        /// What it takes, in bytes.
        needed: usize,
        /// What there may be, in bytes.
        limit: usize,
    },
}

/// Bytes in the largest unit in which the limit is a whole number, rounded up.
fn size(bytes: usize, limit: usize) -> String {
    let (unit, name) = if limit.is_multiple_of(1 << 30) { (1 << 30, "GiB") } else { (1 << 20, "MiB") };
    format!("{} {name}", bytes.div_ceil(unit))
}
