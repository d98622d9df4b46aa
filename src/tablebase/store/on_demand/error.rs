use crate::tablebase::store::error::SetError;
use crate::tablebase::store::forecast::binary_bytes;
use crate::tablebase::store::table_error::TableError;
use crate::tablebase::{Material, SolveError};
use std::path::PathBuf;
use thiserror::Error;

/// Why a position cannot be answered on demand.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OnDemandError {
    /// A table is missing, damaged or unsuitable, or the class cannot be solved.
    #[error(transparent)]
    Set(#[from] SetError),
    /// The position has at least two pieces more than the tables.
    #[error("the position has {pieces} pieces; with these tables at most {most} can be counted on demand")]
    TooManyPieces {
        /// The number of pieces of the position.
        pieces: usize,
        /// The most pieces that can be counted.
        most: usize,
    },
    /// The memory does not suffice. The count has not started.
    #[error("counting {material} takes {} of memory, and {} are available", binary_bytes(*needed), binary_bytes(*available))]
    Memory {
        /// The class.
        material: Material,
        /// The least number of bytes needed.
        needed: u64,
        /// The number of bytes available, or allowed.
        available: u64,
    },
    /// The free space on the disk of the cache does not suffice. The count has not started.
    #[error("counting {material} takes {} on disk, and {} has {} free", binary_bytes(*needed), dir.display(), binary_bytes(*free))]
    Disk {
        /// The class.
        material: Material,
        /// The directory of the cache.
        dir: PathBuf,
        /// The number of bytes needed.
        needed: u64,
        /// The number of free bytes.
        free: u64,
    },
    /// The file of the class exceeds the size of the cache. The count has not started.
    #[error("the file of {material} takes up to {}, more than the {} of the cache", binary_bytes(*needed), binary_bytes(*size))]
    Cache {
        /// The class.
        material: Material,
        /// The most bytes of the file.
        needed: u64,
        /// The most bytes of the cache.
        size: u64,
    },
    /// The caller cancelled the count. It leaves no file.
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
