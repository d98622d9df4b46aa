//! The tables that a job reads, with every value of both sides to move. A repacked table is restored: a file as `dsq generate`
//! writes it is made of it once, in another directory, and later jobs read that file.

use super::error::SetError;
use super::file::{Content, TableError, TableFile};
use super::partial::{ABANDONED, file_in_cache, record_use, sweep};
use super::proof::{Form, Prover};
use super::set::TableSet;
use crate::board::{Color, RuleOptions};
use crate::tablebase::solve::needs::most_file_bytes;
use crate::tablebase::solve::observer::Observer;
use crate::tablebase::{ClassId, Classes, Material};
use std::fs;
use std::path::{Path, PathBuf};

/// Where a job finds tables.
#[derive(Copy, Clone)]
pub(super) struct ExactTables<'a> {
    pub classes: &'a Classes,
    /// The directory of the tables.
    pub dir: &'a Path,
    /// The directory of the restored ones. It is created when it is needed.
    pub restored: &'a Path,
    /// The memory limit in bytes of restoring.
    pub memory: usize,
}

/// The table of a class.
enum Found {
    /// It stores every value.
    Stored(TableFile),
    /// It is repacked, and was restored.
    Restored(TableFile),
    /// It is repacked.
    Repacked,
}

impl ExactTables<'_> {
    /// Opens the tables of `captures`, to which captures of the class `id` lead, and restores those that are repacked.
    ///
    /// # Errors
    /// If a table is missing, damaged, for other rules or of results alone, one cannot be restored within the memory limit
    /// or for lack of the tables that its own captures lead to, or the observer returns an error.
    pub(super) fn open(
        &self,
        id: ClassId,
        captures: &[ClassId],
        observer: &dyn Observer,
    ) -> Result<Vec<TableFile>, SetError> {
        let found = captures.iter().map(|&capture| {
            Ok(match self.find(id, capture)? {
                Found::Stored(file) => Some(file),
                // A damaged one is made again.
                Found::Restored(file) => file.check().is_ok().then_some(file),
                Found::Repacked => None,
            })
        });
        let mut files = found.collect::<Result<Vec<_>, SetError>>()?;
        let (mut done, of) = (0, files.iter().filter(|file| file.is_none()).count());
        if of > 0 {
            fs::create_dir_all(self.restored).map_err(TableError::io(self.restored))?;
            sweep(self.restored, ABANDONED)?;
            let set = TableSet::open(self.dir)?;
            let mut prover = Prover::new(&set, self.memory);
            for (file, &capture) in files.iter_mut().zip(captures).filter(|(file, _)| file.is_none()) {
                observer.restored(done, of)?;
                *file = Some(self.restore(&mut prover, &set, capture)?);
                done += 1;
            }
        }
        Ok(files.into_iter().flatten().collect())
    }

    /// The most bytes of the files that [`open`](ExactTables::open) would restore.
    ///
    /// # Errors
    /// If a table is missing, damaged, for other rules or of results alone.
    pub(super) fn missing_bytes(&self, id: ClassId, captures: &[ClassId]) -> Result<u64, SetError> {
        let mut bytes = 0;
        for &capture in captures {
            if matches!(self.find(id, capture)?, Found::Repacked) {
                bytes += most_file_bytes(self.classes, capture);
            }
        }
        Ok(bytes)
    }

    fn find(&self, id: ClassId, capture: ClassId) -> Result<Found, SetError> {
        let rules = self.classes.options();
        let [class, capture] = [id, capture].map(|id| self.classes.get(id).representative);
        let path = TableFile::path(self.dir, capture);
        if !path.exists() {
            let rules = match rules.table_spelling() {
                rules if rules == RuleOptions::PAPER.table_spelling() => String::new(),
                rules => format!(" --rules {rules}"),
            };
            let command = format!("dsq cluster solve {capture} --tables {}{rules}", self.dir.display());
            return Err(SetError::MissingCapture { dir: self.dir.to_owned(), class, capture, command });
        }
        let file = TableFile::open(&path, rules, capture)?;
        if file.description().content == Content::Wdl {
            return Err(TableError::WdlOnly { path }.into());
        }
        if is_exact(&file) {
            return Ok(Found::Stored(file));
        }
        let path = self.restored_path(capture);
        let values = &file.description().values;
        let is_of = |restored: &TableFile| is_exact(restored) && restored.description().values == *values;
        let Some(restored) = TableFile::open(&path, rules, capture).ok().filter(is_of) else {
            return Ok(Found::Repacked);
        };
        // So a cache that makes space for the job keeps it.
        record_use(&path);
        Ok(Found::Restored(restored))
    }

    fn restore(&self, prover: &mut Prover<'_>, set: &TableSet, id: ClassId) -> Result<TableFile, SetError> {
        let (rules, material) = (self.classes.options(), self.classes.get(id).representative);
        let pieces = set.classes().pieces();
        let member = set.classes().member(material).ok_or(SetError::TooFewPieces { material, pieces })?;
        let path = self.restored_path(material);
        prover.rewrite(member.class, Form::Exact, &path)?;
        Ok(TableFile::open(&path, rules, material)?)
    }

    fn restored_path(&self, material: Material) -> PathBuf {
        file_in_cache(self.restored, material, self.classes.options())
    }
}

/// Whether a file stores every value of both sides to move.
pub(super) fn is_exact(file: &TableFile) -> bool {
    Color::ALL.into_iter().all(|turn| file.is_exact(turn))
}
