//! The lock file that admits one writer at a time to a directory of tables.

use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::TableError;
use std::fs::{File, TryLockError};
use std::path::Path;

const LOCK: &str = "lock";

/// Locks the directory until the returned file is dropped. The operating system also releases the lock when the process
/// ends or is killed.
pub(crate) fn lock(dir: &Path) -> Result<File, SetError> {
    let path = dir.join(LOCK);
    // A file of this name keeps its contents: it may be somebody else's.
    let file = File::options().write(true).create(true).truncate(false).open(&path);
    // If the directory itself is missing, the error names the directory.
    let file = file.map_err(TableError::io(if dir.exists() { &path } else { dir }))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SetError::Locked { dir: dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(TableError::io(&path)(error).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_named_lock_keeps_its_contents() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(LOCK), "important").unwrap();
        let held = lock(dir.path()).unwrap();
        assert!(matches!(lock(dir.path()), Err(SetError::Locked { .. })));
        drop(held);
        assert_eq!(fs::read_to_string(dir.path().join(LOCK)).unwrap(), "important");
    }
}
