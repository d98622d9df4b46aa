//! The counts of one class as a file of its own, `CLASS.json`: what is kept of a class whose values are not. Any number of
//! writers can add to a directory of them, and two directories are merged by copying files.

use super::error::SetError;
use super::file::TableError;
use super::partial::write_whole;
use crate::board::{ByColor, RuleOptions};
use crate::tablebase::{Class, Material, Stats};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Version of the file.
const FORMAT: u32 = 1;

/// Where and with what a class was solved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the program.
    pub version: String,
    /// The commit that it was built from, if that is known.
    pub commit: Option<String>,
    /// The machine.
    pub machine: String,
}

/// What is known of a class that was solved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassCounts {
    /// Version of the file.
    pub format: u32,
    /// The representative.
    pub class: Material,
    /// The rules, spelled out but for repetition.
    pub rules: String,
    /// All materials that it stands for, White's side as in the representative.
    pub same: Vec<Material>,
    /// Those with the sides exchanged.
    pub swapped: Vec<Material>,
    /// The counts, White and Black of the representative to move.
    pub stats: ByColor<Stats>,
    /// A position with the longest line of each side to move, as FEN, the first in the order of the index.
    pub deepest: ByColor<Option<String>>,
    /// What it took, in seconds.
    pub seconds: f64,
    /// The most memory that was planned for it, in bytes.
    pub bytes: u64,
    /// The most memory that the process had while it was solved, in bytes, where the system says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// Threads that solved it.
    pub threads: usize,
    /// Who solved it.
    #[serde(flatten)]
    pub provenance: Provenance,
}

impl ClassCounts {
    /// What is known of a class that has just been solved, but for who solved it and what it took.
    #[must_use]
    pub fn new(rules: &RuleOptions, class: &Class, stats: ByColor<Stats>) -> ClassCounts {
        ClassCounts {
            format: FORMAT,
            class: class.representative,
            rules: rules.table_spelling(),
            same: class.same.clone(),
            swapped: class.swapped.clone(),
            stats,
            deepest: ByColor { white: None, black: None },
            seconds: 0.0,
            bytes: 0,
            peak_bytes: None,
            threads: 0,
            provenance: Provenance::default(),
        }
    }

    /// The file of a class in a directory.
    #[must_use]
    pub fn path(dir: &Path, class: Material) -> PathBuf {
        dir.join(format!("{class}.json"))
    }

    /// Writes the file. It appears under its name only when it is whole and on the disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), SetError> {
        let mut text = serde_json::to_string_pretty(self).expect("counts are JSON");
        text.push('\n');
        Ok(write_whole(&ClassCounts::path(dir, self.class), text.as_bytes())?)
    }

    /// Reads the counts of a class; `None` if they are not there.
    ///
    /// # Errors
    /// If the file cannot be read, is not of this program or of this class, or the rules are others.
    pub fn read(dir: &Path, rules: &RuleOptions, class: Material) -> Result<Option<ClassCounts>, SetError> {
        let path = ClassCounts::path(dir, class);
        if !path.exists() {
            return Ok(None);
        }
        let counts = ClassCounts::read_file(&path)?;
        if counts.rules != rules.table_spelling() {
            let wanted = rules.table_spelling();
            return Err(TableError::Rules { path, found: counts.rules, wanted }.into());
        }
        if counts.class != class {
            return Err(TableError::Material { path, found: counts.class.to_string(), wanted: class }.into());
        }
        Ok(Some(counts))
    }

    /// Reads one file.
    fn read_file(path: &Path) -> Result<ClassCounts, SetError> {
        let bytes = fs::read(path).map_err(TableError::io(path))?;
        let broken = |what: String| SetError::Counts { path: path.to_owned(), what };
        let counts: ClassCounts = serde_json::from_slice(&bytes).map_err(|e| broken(e.to_string()))?;
        if counts.format != FORMAT {
            return Err(broken(format!("it has version {}; this program reads version {FORMAT}", counts.format)));
        }
        Ok(counts)
    }

    /// All counts in a directory, by the names of their classes.
    ///
    /// # Errors
    /// If the directory or a file in it cannot be read, or two are of different rules.
    pub fn read_all(dir: &Path) -> Result<Vec<ClassCounts>, SetError> {
        let mut all: Vec<ClassCounts> = Vec::new();
        for entry in fs::read_dir(dir).map_err(TableError::io(dir))? {
            let path = entry.map_err(TableError::io(dir))?.path();
            let is_class = |stem: &str| stem.parse::<Material>().is_ok_and(|material| material.to_string() == stem);
            if path.extension().is_none_or(|e| e != "json")
                || !path.file_stem().and_then(|s| s.to_str()).is_some_and(is_class)
            {
                continue;
            }
            let counts = ClassCounts::read_file(&path)?;
            if let Some(first) = all.first().filter(|first| first.rules != counts.rules) {
                return Err(TableError::Rules { path, found: counts.rules, wanted: first.rules.clone() }.into());
            }
            all.push(counts);
        }
        all.sort_by_key(|counts| (counts.class.len(), counts.class.to_string()));
        Ok(all)
    }
}
