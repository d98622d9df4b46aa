//! One writer at a time in a directory of tables.

use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::TableError;
use std::fs::{File, TryLockError};
use std::path::Path;

const LOCK: &str = "lock";

/// Takes the directory for this process. The operating system gives the lock back when the process ends, however it ends.
pub(crate) fn lock(dir: &Path) -> Result<File, SetError> {
    let path = dir.join(LOCK);
    // Where the directory itself is missing, that is what is wrong.
    let file = File::create(&path).map_err(TableError::io(if dir.exists() { &path } else { dir }))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SetError::Locked { dir: dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(TableError::io(&path)(error).into()),
    }
}
