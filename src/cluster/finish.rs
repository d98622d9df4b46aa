//! What a directory of jobs holds: how far it is, and the end of the work: every class checked, what the dead left swept,
//! the manifest written.

use crate::board::RuleOptions;
use crate::tablebase::{
    ClassCounts, Classes, Material, PartialFile, SetError, TableFile, list_tables, lock, partial_files, sweep,
};
use std::path::Path;
use std::time::Duration;

/// How far a directory is.
#[derive(Clone, Debug)]
pub struct Status {
    /// Classes with a table.
    pub tables: Vec<Material>,
    /// Classes with counts only.
    pub counted: Vec<Material>,
    /// Classes with neither.
    pub missing: Vec<Material>,
    /// Files that are being written, or were when their writers died.
    pub partial: Vec<PartialFile>,
}

/// Looks at the classes of 2 to `pieces` pieces in a directory.
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

/// What [`finish`] found and did.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What there is.
    pub status: Status,
    /// Partial files that were removed.
    pub swept: usize,
}

/// Checks every table of 2 to `pieces` pieces, removes what dead writers left (those of other machines if they wrote
/// nothing for as long as `age`), and writes the manifest. `done` is called after each table.
///
/// # Errors
/// If another run writes there, the first table or count that is damaged or of other rules, or what the disk says.
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
