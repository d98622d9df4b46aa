//! The counts of one class as one line of JSON: what is kept of a class whose values are not. The line is a file of its
//! own, `CLASS.json`, so that any number of writers can add to a directory and two directories are merged by copying
//! files; or it is a line of a JSONL file, and two such files are merged by `LC_ALL=C sort -u`.

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

    /// Writes the file, one line. It appears under its name only when it is whole and on the disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), SetError> {
        let mut text = serde_json::to_string(self).expect("counts are JSON");
        text.push('\n');
        Ok(write_whole(&ClassCounts::path(dir, self.class), text.as_bytes())?)
    }

    /// Reads the counts of a class from its file in a directory or its line of a JSONL file; `None` if they are not there.
    ///
    /// # Errors
    /// If a file cannot be read, is not of this program or of this class, or the rules are others.
    pub fn read(place: &Path, rules: &RuleOptions, class: Material) -> Result<Option<ClassCounts>, SetError> {
        let found = if place.is_file() {
            ClassCounts::read_all(place)?
                .into_iter()
                .find(|counts| counts.class == class)
                .map(|c| (place.to_owned(), c))
        } else {
            let path = ClassCounts::path(place, class);
            if !path.exists() {
                return Ok(None);
            }
            let counts = ClassCounts::parse(&read_text(&path)?).map_err(|what| broken(&path, what))?;
            Some((path, counts))
        };
        let Some((path, counts)) = found else { return Ok(None) };
        if counts.rules != rules.table_spelling() {
            let wanted = rules.table_spelling();
            return Err(TableError::Rules { path, found: counts.rules, wanted }.into());
        }
        if counts.class != class {
            return Err(TableError::Material { path, found: counts.class.to_string(), wanted: class }.into());
        }
        Ok(Some(counts))
    }

    /// Reads the counts of one class; the error says what is wrong.
    fn parse(text: &str) -> Result<ClassCounts, String> {
        let counts: ClassCounts = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if counts.format != FORMAT {
            return Err(format!("it has version {}; this program reads version {FORMAT}", counts.format));
        }
        Ok(counts)
    }

    /// All counts in a directory of files `CLASS.json` or in a JSONL file, by the names of their classes.
    ///
    /// # Errors
    /// If the directory or a file cannot be read, a class occurs twice, or two are of different rules.
    pub fn read_all(place: &Path) -> Result<Vec<ClassCounts>, SetError> {
        let mut all = Vec::new();
        if place.is_dir() {
            for path in class_files(place)? {
                let counts = ClassCounts::parse(&read_text(&path)?).map_err(|what| broken(&path, what))?;
                all.push((path, counts));
            }
        } else {
            for (i, line) in read_text(place)?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let wrong = |what| broken(place, format!("line {}: {what}", i + 1));
                all.push((place.to_owned(), ClassCounts::parse(line).map_err(wrong)?));
            }
        }
        all.sort_by_cached_key(|(_, counts)| (counts.class.len(), counts.class.to_string()));
        for pair in all.windows(2) {
            let [(_, one), (path, other)] = pair else { continue };
            if one.rules != other.rules {
                let (found, wanted) = (other.rules.clone(), one.rules.clone());
                return Err(TableError::Rules { path: path.clone(), found, wanted }.into());
            }
            if one.class == other.class {
                return Err(broken(path, format!("the class {} occurs twice; keep one of its lines", one.class)));
            }
        }
        Ok(all.into_iter().map(|(_, counts)| counts).collect())
    }
}

fn broken(path: &Path, what: String) -> SetError {
    SetError::Counts { path: path.to_owned(), what }
}

fn read_text(path: &Path) -> Result<String, SetError> {
    Ok(fs::read_to_string(path).map_err(TableError::io(path))?)
}

/// The files of a directory that are named after a class.
fn class_files(dir: &Path) -> Result<Vec<PathBuf>, SetError> {
    let is_class = |stem: &str| stem.parse::<Material>().is_ok_and(|material| material.to_string() == stem);
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(TableError::io(dir))? {
        let path = entry.map_err(TableError::io(dir))?.path();
        let named = path.file_stem().and_then(|stem| stem.to_str()).is_some_and(is_class);
        if named && path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    Ok(paths)
}
