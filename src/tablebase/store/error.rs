use crate::tablebase::Material;
use crate::tablebase::solve::backend::SolveError;
use crate::tablebase::store::file::TableError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a set of tables cannot be made or used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetError {
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Solve(#[from] SolveError),
    #[error("{dir} is being written by another run; wait for it, or choose another directory")]
    Locked { dir: PathBuf },
    #[error("{dir} holds no tables: there is no manifest.json")]
    NoTables { dir: PathBuf },
    #[error("{path} is not a readable manifest: {what}")]
    Manifest { path: PathBuf, what: String },
    #[error("{dir} holds tables for the rules {found}, not {wanted}")]
    Rules { dir: PathBuf, found: String, wanted: String },
    #[error("{dir} has no table of {material}; `dsq generate` makes it")]
    Missing { dir: PathBuf, material: Material },
    #[error("the manifest.json in {dir} does not name {material}; `dsq generate` brings it up to date")]
    Unlisted { dir: PathBuf, material: Material },
    #[error("{material} has more pieces than these tables, which go to {pieces}")]
    TooFewPieces { material: Material, pieces: usize },
    #[error("solving {material} takes about {needed} GiB; the limit is {limit} GiB (raise --memory)")]
    Memory { material: Material, needed: usize, limit: usize },
}
