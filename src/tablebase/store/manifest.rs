//! The manifest, `manifest.json`: the list of the tables in a directory.

use crate::board::{ByColor, RuleOptions};
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::{TableError, TableFile};
use crate::tablebase::store::partial::write_whole;
use crate::tablebase::store::source::read_file;
use crate::tablebase::{Class, Classes, Index, Material, ParseMaterialError, Stats};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// File name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// Format version of the manifest.
const FORMAT: u32 = 1;

/// The contents of `manifest.json`: the rules and classes of a directory of tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the file format.
    pub format: u32,
    /// All rule options except repetition, as text.
    pub rules: String,
    /// The finished classes, fewer pieces first, then by spelling.
    pub classes: Vec<ManifestClass>,
    /// Classes that were solved for their counts only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<CountedClass>,
}

/// A class of a [`Manifest`] that was counted and not written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CountedClass {
    /// The representative of the class.
    pub class: String,
    /// The materials of the class whose White is the representative's White.
    pub same: Vec<String>,
    /// The materials of the class whose White is the representative's Black.
    pub swapped: Vec<String>,
    /// The counts, White and Black of the representative to move.
    pub stats: ByColor<Stats>,
    /// Seconds of solving the class, with the classes that were solved only for it; `None` if its level was solved as a
    /// whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// One class of a [`Manifest`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ManifestClass {
    /// The representative of the class. The name of the file is this name with `.dsq`.
    pub class: String,
    /// The materials of the class whose White is the representative's White.
    pub same: Vec<String>,
    /// The materials of the class whose White is the representative's Black.
    pub swapped: Vec<String>,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// Checksums of the decoded values, White and Black to move.
    pub values: ByColor<String>,
    /// The counts, White and Black of the representative to move.
    pub stats: ByColor<Stats>,
}

impl CountedClass {
    pub(crate) fn new(class: &Class, stats: &ByColor<Stats>, seconds: Option<f64>) -> CountedClass {
        CountedClass {
            class: class.representative.to_string(),
            same: names(&class.same),
            swapped: names(&class.swapped),
            stats: stats.clone(),
            seconds,
        }
    }
}

pub(crate) fn names(materials: &[Material]) -> Vec<String> {
    materials.iter().map(Material::to_string).collect()
}

/// Writes the manifest with all tables of `classes` that exist in the directory (none if `classes` is `None`), and with
/// the counted classes that have no table.
pub(crate) fn write_manifest(
    dir: &Path,
    rules: &RuleOptions,
    classes: Option<&Classes>,
    counted: &[CountedClass],
) -> Result<(), SetError> {
    let mut manifest =
        Manifest { format: FORMAT, rules: rules.table_spelling(), classes: Vec::new(), counted: counted.to_vec() };
    for (_, class) in classes.iter().flat_map(|classes| classes.iter()) {
        let path = TableFile::path(dir, class.representative);
        if !path.exists() {
            continue;
        }
        let file = TableFile::open(&path, rules, class.representative)?;
        manifest.classes.push(ManifestClass {
            class: class.representative.to_string(),
            same: names(&class.same),
            swapped: names(&class.swapped),
            bytes: file.file_len(),
            values: file.description().values.clone(),
            stats: file.description().stats.clone(),
        });
    }
    manifest.counted.retain(|counted| manifest.classes.iter().all(|class| class.class != counted.class));
    manifest.counted.sort_by(|a, b| a.class.cmp(&b.class));
    save_manifest(dir, &manifest)
}

fn save_manifest(dir: &Path, manifest: &Manifest) -> Result<(), SetError> {
    let text = serde_json::to_string_pretty(manifest).expect("a manifest is JSON");
    Ok(write_whole(&dir.join(MANIFEST), text.as_bytes())?)
}

/// Reads the manifest, applies `change`, and writes it.
pub(crate) fn update_manifest(dir: &Path, change: impl FnOnce(&mut Manifest)) -> Result<(), SetError> {
    let mut manifest = read_manifest(dir)?;
    change(&mut manifest);
    save_manifest(dir, &manifest)
}

/// Reads the manifest of a directory.
pub(crate) fn read_manifest(dir: &Path) -> Result<Manifest, SetError> {
    let path = dir.join(MANIFEST);
    let bytes = match read_file(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(SetError::NoTables { dir: dir.to_owned() });
        }
        Err(error) => return Err(TableError::io(&path)(error).into()),
    };
    let broken = |what: String| SetError::Manifest { path, what };
    match serde_json::from_slice::<Manifest>(&bytes) {
        Ok(manifest) if manifest.format != FORMAT => {
            Err(broken(format!("it has format version {}; this program reads version {FORMAT}", manifest.format)))
        }
        Ok(manifest) => Ok(manifest),
        Err(error) => Err(broken(error.to_string())),
    }
}

/// Reads the manifest of a directory whose tables are for these rules; `None` if there is none.
pub(crate) fn manifest_for(dir: &Path, rules: &RuleOptions) -> Result<Option<Manifest>, SetError> {
    let wanted = rules.table_spelling();
    match read_manifest(dir) {
        Ok(manifest) if manifest.rules != wanted => {
            Err(SetError::Rules { dir: dir.to_owned(), found: manifest.rules, wanted })
        }
        Ok(manifest) => Ok(Some(manifest)),
        Err(SetError::NoTables { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The largest number of pieces of the listed classes; 2 if none is listed.
pub(crate) fn largest(dir: &Path, classes: &[ManifestClass]) -> Result<usize, SetError> {
    let broken = |what: String| SetError::Manifest { path: dir.join(MANIFEST), what };
    let mut pieces = 2;
    for class in classes {
        let material: Material = class.class.parse().map_err(|e: ParseMaterialError| broken(e.to_string()))?;
        pieces = pieces.max(material.len());
    }
    if pieces > Index::MAX_PIECES {
        return Err(broken(format!("it names a class of {pieces} pieces")));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_pieces_as_can_be_solved_are_listed() {
        let listed = |name: &str| ManifestClass {
            class: name.to_owned(),
            same: Vec::new(),
            swapped: Vec::new(),
            bytes: 0,
            values: ByColor::default(),
            stats: ByColor::default(),
        };
        let largest = |names: &[&str]| {
            largest(Path::new("tables"), &names.iter().map(|name| listed(name)).collect::<Vec<_>>())
                .map_err(|e| e.to_string())
        };
        assert_eq!(largest(&[]), Ok(2));
        assert_eq!(largest(&["EvL", "ELvTPDW", "EvLT"]), Ok(6));
        assert_eq!(largest(&["ELTvPDWC"]), Ok(7));
        assert!(largest(&["ELTPvPDWC"]).unwrap_err().contains("a class of 8 pieces"));
        assert!(largest(&["EvQ"]).unwrap_err().contains("manifest.json"));
    }
}
