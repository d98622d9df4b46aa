//! The directories that a search reads: tables with distances, and tables of results alone.

use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::Content;
use crate::tablebase::store::set::TableSet;
use std::path::{Path, PathBuf};

/// The tables of a path: at least one of the two kinds.
pub struct TablePath {
    /// Tables with distances, if the path names a directory of them.
    pub distances: Option<TableSet>,
    /// Tables of results (win, draw or loss) alone, if the path names a directory of them.
    pub results: Option<TableSet>,
}

impl TablePath {
    /// Opens the directories of a path: one with distances, one with results alone, or both in any order. As in
    /// `PATH` and in Stockfish's `SyzygyPath`, `:` separates them, on Windows `;`. A path that is a directory itself is
    /// not split.
    ///
    /// # Errors
    /// As [`TableSet::open`]; [`SetError::SameKind`] if two directories have the same kind of values.
    pub fn open(path: &Path) -> Result<TablePath, SetError> {
        let (mut distances, mut results) = (None, None);
        for dir in directories(path) {
            let set = TableSet::open(&dir)?;
            let slot = match set.content() {
                Content::Dtw => &mut distances,
                Content::Wdl => &mut results,
            };
            if slot.replace(set).is_some() {
                return Err(SetError::SameKind { path: path.to_owned() });
            }
        }
        Ok(TablePath { distances, results })
    }
}

fn directories(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        return vec![path.to_owned()];
    }
    let parts: Vec<PathBuf> = std::env::split_paths(path).filter(|part| !part.as_os_str().is_empty()).collect();
    if parts.is_empty() { vec![path.to_owned()] } else { parts }
}
