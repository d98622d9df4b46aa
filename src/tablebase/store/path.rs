//! The directories that a search reads: tables with distances to the end, tables of results alone, and tables that know a
//! no-capture limit.

use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::Content;
use crate::tablebase::store::set::TableSet;
use std::path::{Path, PathBuf};

/// The tables of a path: at least one of the kinds.
pub struct TablePath {
    /// Tables with distances, if the path names a directory of them.
    pub distances: Option<TableSet>,
    /// Tables of results (win, draw or loss) alone, if the path names a directory of them.
    pub results: Option<TableSet>,
    /// Tables that know a no-capture limit, if the path names a directory of them.
    pub limited: Option<TableSet>,
}

impl TablePath {
    /// Opens the directories of a path, at most one of each kind, in any order. As in
    /// `PATH` and in Stockfish's `SyzygyPath`, `:` separates them, on Windows `;`. A path that is a directory itself is
    /// not split.
    ///
    /// # Errors
    /// As [`TableSet::open`]; [`SetError::SameKind`] for the second of two directories with the same kind of values.
    pub fn open(path: &Path) -> Result<TablePath, SetError> {
        let (tables, faults) = TablePath::open_intact(path);
        faults.into_iter().next().map_or(Ok(tables), Err)
    }

    /// As [`TablePath::open`], but leaves out directories that cannot be opened, and the second of two of the same kind.
    /// Returns an error for each.
    #[must_use]
    pub fn open_intact(path: &Path) -> (TablePath, Vec<SetError>) {
        let (mut tables, mut faults) = (TablePath { distances: None, results: None, limited: None }, Vec::new());
        for dir in directories(path) {
            match TableSet::open(&dir) {
                Ok(set) => {
                    let (slot, kind) = match set.content() {
                        _ if set.no_capture_limit().is_some() => {
                            (&mut tables.limited, "values under a no-capture limit")
                        }
                        Content::Dtw => (&mut tables.distances, "distances"),
                        Content::Wdl => (&mut tables.results, "results only"),
                    };
                    match slot {
                        Some(first) => {
                            faults.push(SetError::SameKind { first: first.dir().to_owned(), second: dir, kind })
                        }
                        None => *slot = Some(set),
                    }
                }
                Err(fault) => faults.push(fault),
            }
        }
        (tables, faults)
    }
}

fn directories(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        return vec![path.to_owned()];
    }
    let parts: Vec<PathBuf> = std::env::split_paths(path).filter(|part| !part.as_os_str().is_empty()).collect();
    if parts.is_empty() { vec![path.to_owned()] } else { parts }
}
