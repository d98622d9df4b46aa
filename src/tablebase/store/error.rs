use crate::tablebase::Material;
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::store::file::TableError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a set of tables cannot be generated or used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetError {
    /// A table cannot be read or written.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A class cannot be solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// Another run writes to the directory.
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
    /// The manifest cannot be parsed.
    #[error("{path} is not a readable manifest: {what}")]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The error in the file.
        what: String,
    },
    /// No directory of a path has tables with distances, and they are needed.
    #[error(
        "{path} holds results (win, draw or loss) without distances; name a directory with distances, such as \
         `dsq generate` writes"
    )]
    NoDistances {
        /// The path.
        path: PathBuf,
    },
    /// Two directories of a path have the same kind of tables.
    #[error(
        "{} cannot be used beside {}: both hold {kind}; name at most one directory of each kind: with distances, with results \
         only, under a no-capture limit",
        second.display(),
        first.display()
    )]
    SameKind {
        /// The directory that is read.
        first: PathBuf,
        /// The directory that is left out.
        second: PathBuf,
        /// The kind of both.
        kind: &'static str,
    },
    /// Tables of results are to be written to a directory of tables with distances.
    #[error("{} stores distances; name another directory for the results", path.display())]
    StoresDistances {
        /// The table with distances.
        path: PathBuf,
    },
    /// A directory contains tables with distances and tables of results.
    #[error("{} stores distances and the other tables of its directory results only, or the reverse; keep them apart", path.display())]
    MixedKinds {
        /// The table that differs from the others.
        path: PathBuf,
    },
    /// The tables are for other rules.
    #[error("{dir} holds tables for the rules {found}, not {wanted}")]
    Rules {
        /// The directory.
        dir: PathBuf,
        /// The rules of its tables.
        found: String,
        /// The requested rules.
        wanted: String,
    },
    /// The tables know a no-capture limit, and values of games without one are needed.
    #[error("{} holds values under a no-capture limit of {limit} plies, not distances to the end, which are needed here", dir.display())]
    Dtz {
        /// The directory.
        dir: PathBuf,
        /// The limit in plies.
        limit: u16,
    },
    /// The tables know no no-capture limit.
    #[error("{} holds distances to the end, which know no no-capture limit (`dsq generate --metric dtz` makes tables that do)", dir.display())]
    Dtw {
        /// The directory.
        dir: PathBuf,
    },
    /// A table is missing.
    #[error("{dir} has no table of {material}; `dsq generate` makes it (among results only, `dsq repack --wdl`)")]
    Missing {
        /// The directory.
        dir: PathBuf,
        /// The material, or the representative of its class.
        material: Material,
    },
    /// A table that a job needs is missing.
    #[error("{} has no table of {capture}, to which captures of {class} lead; solve it first: {command}", dir.display())]
    MissingCapture {
        /// The directory.
        dir: PathBuf,
        /// The class of the job.
        class: Material,
        /// The class whose table it needs.
        capture: Material,
        /// The command that solves the missing table.
        command: String,
    },
    /// The manifest lists no tables.
    #[error("{} lists no tables: `dsq generate` still runs there, or was interrupted; run it again to resume", dir.display())]
    Unfinished {
        /// The directory.
        dir: PathBuf,
    },
    /// The manifest lists counts and no tables.
    #[error("{} lists counts only, and no tables", dir.display())]
    CountsOnly {
        /// The directory.
        dir: PathBuf,
    },
    /// The manifest does not list a table that exists or is needed.
    #[error("the manifest.json in {dir} does not name {material}; `dsq generate` brings it up to date")]
    Unlisted {
        /// The directory.
        dir: PathBuf,
        /// The material, or the representative of its class.
        material: Material,
    },
    /// The material has more pieces than the tables.
    #[error("{material} has more pieces than these tables, which go to {pieces}")]
    TooFewPieces {
        /// The material, or the representative of its class.
        material: Material,
        /// The most pieces of these tables.
        pieces: usize,
    },
    /// A watched position has other pieces than the class that is counted, or its game is over.
    #[error("{fen} is no position of the class {class}")]
    OtherClass {
        /// The position.
        fen: String,
        /// The representative of the class.
        class: Material,
    },
    /// The tables have fewer pieces than the captures of a class lead to.
    #[error("captures of {class} lead to tables of {needed} pieces; these tables go to {pieces}")]
    SmallTables {
        /// The class.
        class: Material,
        /// The number of pieces after a capture.
        needed: usize,
        /// The most pieces of these tables.
        pieces: usize,
    },
    /// The memory limit is too low to solve a class.
    #[error("solving {material} takes about {}; the limit is {} (raise --memory)", size(*needed, *limit), size(*limit, *limit))]
    Memory {
        /// The material, or the representative of its class.
        material: Material,
        /// The memory needed, in bytes.
        needed: usize,
        /// The memory limit, in bytes.
        limit: usize,
    },
    /// A file of counts cannot be parsed.
    #[error("{} is not a readable file of counts: {what}", path.display())]
    Counts {
        /// The file.
        path: PathBuf,
        /// The error in the file.
        what: String,
    },
    /// The memory limit is too low for the values of a class and of those that its captures lead to.
    #[error("with its captures {material} takes about {}; the limit is {} (raise --memory)", size(*needed, *limit), size(*limit, *limit))]
    ProofMemory {
        /// The representative of the class.
        material: Material,
        /// The memory needed, in bytes.
        needed: usize,
        /// The memory limit, in bytes.
        limit: usize,
    },
}

/// `bytes` as text, rounded up: in GiB if the limit is a whole number of GiB, else in MiB.
fn size(bytes: usize, limit: usize) -> String {
    let (unit, name) = if limit.is_multiple_of(1 << 30) { (1 << 30, "GiB") } else { (1 << 20, "MiB") };
    format!("{} {name}", bytes.div_ceil(unit))
}
