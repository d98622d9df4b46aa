use crate::tablebase::store::error::SetError;
use crate::tablebase::store::forecast::gib;
use crate::tablebase::store::table_error::TableError;
use crate::tablebase::{Material, SolveError};
use std::path::PathBuf;
use thiserror::Error;

/// Why a position is not answered on demand.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OnDemandError {
    /// A table is missing, damaged or unfit, or the class cannot be solved.
    #[error(transparent)]
    Set(#[from] SetError),
    /// More pieces than one above those of the tables.
    #[error("the position has {pieces} pieces; with these tables at most {most} can be counted on demand")]
    TooManyPieces {
        /// Pieces of the position.
        pieces: usize,
        /// The most that can be counted.
        most: usize,
    },
    /// Too little memory. Nothing was begun.
    #[error("counting {material} takes {} of memory, and {} are available", gib(*needed), gib(*available))]
    Memory {
        /// The class.
        material: Material,
        /// Bytes that are needed at least.
        needed: u64,
        /// Bytes that are available, or allowed.
        available: u64,
    },
    /// Too little free space on the disk of the cache. Nothing was begun.
    #[error("counting {material} takes {} on disk, and {} has {} free", gib(*needed), dir.display(), gib(*free))]
    Disk {
        /// The class.
        material: Material,
        /// The directory of the cache.
        dir: PathBuf,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The cache may not grow as large as the file of the class. Nothing was begun.
    #[error("the file of {material} takes up to {}, more than the {} of the cache", gib(*needed), gib(*size))]
    Cache {
        /// The class.
        material: Material,
        /// Bytes that the file takes at most.
        needed: u64,
        /// Bytes that the cache may take.
        size: u64,
    },
    /// The caller stopped the count. Nothing of it is left.
    #[error("the count was cancelled")]
    Cancelled,
}

impl From<TableError> for OnDemandError {
    fn from(error: TableError) -> OnDemandError {
        OnDemandError::Set(error.into())
    }
}

impl From<SolveError> for OnDemandError {
    fn from(error: SolveError) -> OnDemandError {
        OnDemandError::Set(error.into())
    }
}
