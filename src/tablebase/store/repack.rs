use crate::tablebase::TableFile;
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::{Packing, TableError, write};
use crate::tablebase::store::lock::lock;
use crate::tablebase::store::manifest::write_manifest;
use crate::tablebase::store::partial::{ABANDONED, sweep};
use crate::tablebase::store::set::TableSet;
use std::fs;
use std::path::Path;

/// Recompresses the tables of a directory to smaller files. Each file is replaced when its successor is complete; files
/// that are already repacked stay as they are. Calls `done` after each file with its size in bytes before and after.
///
/// # Errors
/// If another run writes to the directory, or a table is damaged or cannot be written.
pub fn repack(dir: &Path, done: &(dyn Fn(u64, u64) + Sync)) -> Result<(), SetError> {
    let _lock = lock(dir)?;
    sweep(dir, ABANDONED)?;
    let set = TableSet::open(dir)?;
    let rules = set.rules().options();
    for id in set.ids() {
        let file = set.file(id)?;
        let before = file.file_len();
        let path = TableFile::path(dir, set.classes().get(id).representative);
        if !file.is_packed(Packing::SMALL) {
            file.check()?;
            let material = set.classes().get(id).representative;
            write(&path, rules, material, &set.table(id)?, &file.description().stats, Packing::SMALL)?;
        }
        let after = fs::metadata(&path).map_err(TableError::io(&path))?.len();
        done(before, after);
    }
    write_manifest(dir, rules, Some(set.classes()), &set.manifest().counted)
}
