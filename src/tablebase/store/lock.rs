//! The lock file that admits one writer at a time to a directory of tables.

use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::TableError;
use std::fs::{File, TryLockError};
use std::path::Path;

const LOCK: &str = "lock";

/// A lock, which is held until it is dropped. The operating system also releases it when the process ends or is killed.
pub(crate) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that was forked meanwhile has the file open, so closing it here would not release the lock.
        let _ = self.0.unlock();
    }
}

/// Locks the directory.
pub(crate) fn lock(dir: &Path) -> Result<Lock, SetError> {
    let path = dir.join(LOCK);
    // A file of this name keeps its contents: it may be somebody else's.
    let file = File::options().write(true).create(true).truncate(false).open(&path);
    // If the directory itself is missing, the error names the directory.
    let file = file.map_err(TableError::io(if dir.exists() { &path } else { dir }))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
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
        // As a forked process has it.
        let also = held.0.try_clone().unwrap();
        drop(held);
        assert!(lock(dir.path()).is_ok());
        drop(also);
        assert_eq!(fs::read_to_string(dir.path().join(LOCK)).unwrap(), "important");
    }
}
