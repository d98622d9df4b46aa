//! The counts of one class as one line of JSON, for classes whose values are not kept. Each line is a file of its own,
//! `CLASS.json`, so that any number of writers can add to a directory and copying files merges two directories; or it
//! is a line of a JSONL file, and `LC_ALL=C sort -u` merges two of these files.

use super::error::SetError;
use super::file::TableError;
use super::partial::write_whole;
use crate::board::{ByColor, RuleOptions};
use crate::tablebase::spill::check_regular;
use crate::tablebase::{Class, Index, Material, Stats};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Version of the file format.
const FORMAT: u32 = 1;

/// The program and the machine that solved a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the program.
    pub version: String,
    /// The commit that the program was built from, if known.
    pub commit: Option<String>,
    /// A description of the machine.
    pub machine: String,
}

/// The counts of a solved class, with its resource use and provenance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassCounts {
    /// Version of the file format.
    pub format: u32,
    /// The representative.
    pub class: Material,
    /// All rule options except repetition, as text.
    pub rules: String,
    /// The materials of the class whose White is the representative's White.
    pub same: Vec<Material>,
    /// The materials of the class whose White is the representative's Black.
    pub swapped: Vec<Material>,
    /// The counts, with White and Black of the representative to move.
    pub stats: ByColor<Stats>,
    /// For each side to move the first position in the order of the index with the longest distance, as FEN.
    pub deepest: ByColor<Option<String>>,
    /// Wall-clock time of solving, in seconds.
    pub seconds: f64,
    /// The planned peak of memory, in bytes.
    pub bytes: u64,
    /// The measured peak of the process's memory while solving, in bytes; `None` if the system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// Number of threads used.
    pub threads: usize,
    /// The program and the machine.
    #[serde(flatten)]
    pub provenance: Provenance,
}

impl ClassCounts {
    /// The counts of a solved class. Deepest positions, resource use and provenance are empty.
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

    /// The path of the file of a class in a directory.
    #[must_use]
    pub fn path(dir: &Path, class: Material) -> PathBuf {
        dir.join(format!("{class}.json"))
    }

    /// Writes the file to `dir`, atomically: the name appears only when the file is complete and on the disk.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), SetError> {
        let mut text = serde_json::to_string(self).expect("counts are JSON");
        text.push('\n');
        Ok(write_whole(&ClassCounts::path(dir, self.class), text.as_bytes())?)
    }

    /// Reads the counts of a class from its file in a directory or its line of a JSONL file; `None` if there are none.
    ///
    /// # Errors
    /// If a file cannot be read or parsed, has another version, or is for another class or other rules.
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
            let counts = read_class(&path)?;
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

    /// Parses the counts of one class; the error is a text without the path.
    fn parse(text: &str) -> Result<ClassCounts, String> {
        let counts: ClassCounts = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if counts.format != FORMAT {
            return Err(format!("it has version {}; this program reads version {FORMAT}", counts.format));
        }
        if counts.class.len() > Index::MAX_PIECES {
            return Err(format!("{} has more than {} pieces", counts.class, Index::MAX_PIECES));
        }
        Ok(counts)
    }

    /// All counts in a directory of files `CLASS.json` or in a JSONL file, sorted by number of pieces and class name.
    ///
    /// # Errors
    /// If the directory or a file cannot be read, a class occurs twice, or two counts are for different rules.
    pub fn read_all(place: &Path) -> Result<Vec<ClassCounts>, SetError> {
        let mut all = Vec::new();
        if place.is_dir() {
            for path in class_files(place)? {
                let counts = read_class(&path)?;
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

/// Reads the counts in a file of one class.
fn read_class(path: &Path) -> Result<ClassCounts, SetError> {
    check_regular(path).map_err(TableError::io(path))?;
    ClassCounts::parse(&read_text(path)?).map_err(|what| broken(path, what))
}

fn read_text(path: &Path) -> Result<String, SetError> {
    Ok(fs::read_to_string(path).map_err(TableError::io(path))?)
}

/// The files of a directory with a name `CLASS.json`.
fn class_files(dir: &Path) -> Result<Vec<PathBuf>, SetError> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(TableError::io(dir))? {
        let path = entry.map_err(TableError::io(dir))?.path();
        let named =
            path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| Material::of_name(stem).is_some());
        if named && path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    Ok(paths)
}
