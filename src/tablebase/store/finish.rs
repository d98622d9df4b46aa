//! The status of a directory that separate jobs fill, and its completion: [`finish`] checks every class, removes the
//! partial files of dead jobs and writes the manifest.

use crate::board::RuleOptions;
use crate::tablebase::class::Classes;
use crate::tablebase::material::Material;
use crate::tablebase::store::counts::ClassCounts;
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::TableFile;
use crate::tablebase::store::lock::lock;
use crate::tablebase::store::manifest::list_tables;
use crate::tablebase::store::partial::{PartialFile, partial_files, sweep};
use std::path::Path;
use std::time::Duration;

/// The status of a directory that jobs fill.
#[derive(Clone, Debug)]
pub struct Status {
    /// Classes with a table.
    pub tables: Vec<Material>,
    /// Classes with counts only.
    pub counted: Vec<Material>,
    /// Classes with neither.
    pub missing: Vec<Material>,
    /// Unfinished files of running or dead jobs.
    pub partial: Vec<PartialFile>,
}

/// The status of the classes of 2 to `pieces` pieces in a directory.
///
/// # Errors
/// If the directory cannot be read.
pub fn status(dir: &Path, rules: &RuleOptions, pieces: usize) -> Result<Status, SetError> {
    let mut status =
        Status { tables: Vec::new(), counted: Vec::new(), missing: Vec::new(), partial: partial_files(dir)? };
    for (_, class) in Classes::new(rules, pieces).iter() {
        let name = class.representative;
        let list = if TableFile::path(dir, name).exists() {
            &mut status.tables
        } else if ClassCounts::path(dir, name).exists() {
            &mut status.counted
        } else {
            &mut status.missing
        };
        list.push(name);
    }
    Ok(status)
}

/// The result of [`finish`].
#[derive(Clone, Debug)]
pub struct Finished {
    /// The classes of the directory.
    pub status: Status,
    /// Number of partial files that were removed.
    pub swept: usize,
}

/// Checks every table of 2 to `pieces` pieces, removes the partial files of dead jobs, and writes the manifest. A job
/// of another machine counts as dead if nothing was written to its file for `age`. Calls `done` after each table.
///
/// # Errors
/// If another process writes to the directory, a table or a file of counts is damaged or for other rules (the error
/// names the first), or the disk fails.
pub fn finish(
    dir: &Path,
    rules: &RuleOptions,
    pieces: usize,
    age: Duration,
    done: &(dyn Fn() + Sync),
) -> Result<Finished, SetError> {
    let _lock = lock(dir)?;
    let swept = sweep(dir, age)?;
    let status = status(dir, rules, pieces)?;
    for &name in &status.tables {
        TableFile::open(&TableFile::path(dir, name), rules, name)?.check()?;
        done();
    }
    let classes = Classes::new(rules, pieces);
    let counts = status.counted.iter().filter_map(|&name| ClassCounts::read(dir, rules, name).transpose());
    list_tables(dir, rules, &classes, &counts.collect::<Result<Vec<_>, _>>()?)?;
    Ok(Finished { status, swept })
}
