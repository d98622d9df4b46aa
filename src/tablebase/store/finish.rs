//! The status of a directory that separate jobs fill, and its completion: [`finish`] checks every class, removes the
//! partial files of dead jobs and writes the manifest.

use crate::board::RuleOptions;
use crate::tablebase::class::Classes;
use crate::tablebase::material::Material;
use crate::tablebase::store::counts::ClassCounts;
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::TableFile;
use crate::tablebase::store::lock::lock;
use crate::tablebase::store::manifest::{CountedClass, largest, manifest_for, write_manifest};
use crate::tablebase::store::partial::{PartialFile, partial_files, sweep};
use std::path::Path;
use std::time::Duration;

/// The status of a directory that jobs fill.
#[derive(Clone, Debug)]
pub struct Status {
    /// Classes with a table.
    pub tables: Vec<Material>,
    /// Classes with counts only, in a file of their own or in the manifest.
    pub counted: Vec<Material>,
    /// Classes with neither.
    pub missing: Vec<Material>,
    /// Unfinished files of running or dead jobs.
    pub partial: Vec<PartialFile>,
}

/// The status of the classes of 2 to `pieces` pieces in a directory.
///
/// # Errors
/// If the directory cannot be read, or its manifest is damaged or for other rules.
pub fn status(dir: &Path, rules: &RuleOptions, pieces: usize) -> Result<Status, SetError> {
    let counted = manifest_for(dir, rules)?.map(|manifest| manifest.counted).unwrap_or_default();
    let is_counted = |name: Material| counted.iter().any(|counted| counted.class == name.to_string());
    let mut status =
        Status { tables: Vec::new(), counted: Vec::new(), missing: Vec::new(), partial: partial_files(dir)? };
    for (_, class) in Classes::new(rules, pieces).iter() {
        let name = class.representative;
        let list = if TableFile::path(dir, name).exists() {
            &mut status.tables
        } else if ClassCounts::path(dir, name).exists() || is_counted(name) {
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
/// of another machine counts as dead if nothing was written to its file for `age`. Calls `done` after each table. Larger
/// tables and counts that the manifest already listed stay listed.
///
/// # Errors
/// If another process writes to the directory, a table, a file of counts or the manifest is damaged or for other rules
/// (the error names the first), or the disk fails.
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
    list(dir, rules, pieces, &status)?;
    Ok(Finished { status, swept })
}

/// Writes the manifest: all tables of 2 to `pieces` pieces, all counts, and what it listed before.
fn list(dir: &Path, rules: &RuleOptions, pieces: usize, status: &Status) -> Result<(), SetError> {
    let (mut counted, mut most) = (Vec::new(), pieces);
    if let Some(before) = manifest_for(dir, rules)? {
        most = most.max(largest(dir, &before.classes)?);
        counted = before.counted;
    }
    let classes = Classes::new(rules, most);
    for &name in &status.counted {
        let Some(counts) = ClassCounts::read(dir, rules, name)? else { continue };
        let Some(member) = classes.member(name) else { continue };
        counted.retain(|counted| counted.class != name.to_string());
        counted.push(CountedClass::new(classes.get(member.class), &counts.stats, Some(counts.seconds)));
    }
    write_manifest(dir, rules, Some(&classes), &counted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::store::manifest::read_manifest;
    use crate::tablebase::{Generate, Options, Solver};

    fn generate(dir: &Path, stats_only: bool) {
        let job = Generate { pieces: 3, stats_only, ..Generate::new(dir, RuleOptions::PAPER) };
        job.run(&mut Solver::new(&RuleOptions::PAPER, 3, Options::default()), &|_| {}).unwrap();
    }

    fn finished(dir: &Path, pieces: usize) -> (Status, [usize; 2]) {
        let finished = finish(dir, &RuleOptions::PAPER, pieces, Duration::ZERO, &|| {}).unwrap();
        let manifest = read_manifest(dir).unwrap();
        (finished.status, [manifest.classes.len(), manifest.counted.len()])
    }

    #[test]
    fn counts_in_the_manifest_stay() {
        let dir = tempfile::tempdir().unwrap();
        generate(dir.path(), true);
        for pieces in [3, 2] {
            let (status, listed) = finished(dir.path(), pieces);
            assert!(status.missing.is_empty());
            assert_eq!((status.counted.len(), listed), (if pieces == 3 { 42 } else { 0 }, [10, 42]));
        }
        let chinese: RuleOptions = "chinese".parse().unwrap();
        assert!(matches!(status(dir.path(), &chinese, 3), Err(SetError::Rules { .. })));
    }

    #[test]
    fn larger_tables_stay_listed() {
        let dir = tempfile::tempdir().unwrap();
        generate(dir.path(), false);
        assert_eq!(finished(dir.path(), 2).1, [52, 0]);
    }
}
