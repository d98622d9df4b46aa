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
    // If the directory itself is missing, the error names the directory.
    let file = File::create(&path).map_err(TableError::io(if dir.exists() { &path } else { dir }))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SetError::Locked { dir: dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(TableError::io(&path)(error).into()),
    }
}
