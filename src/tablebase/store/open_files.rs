//! Files that stay open only while there is room: a set has hundreds of tables, and a process may have as few as 64 open
//! files. A file that was closed is opened again when it is read.

use crate::tablebase::spill::check_regular;
use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A file, open or closed.
pub(super) struct LazyFile(Arc<Slot>);

struct Slot {
    path: PathBuf,
    /// What the file is known by when it is opened again.
    identity: Identity,
    file: Mutex<Option<Arc<File>>>,
    /// Whether it was read since [`admit`] last came by.
    is_used: AtomicBool,
}

/// The files that are open, or were, in the order in which they may be closed.
static OPEN: Mutex<VecDeque<Weak<Slot>>> = Mutex::new(VecDeque::new());

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LazyFile {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be opened, or is not a regular file.
    pub(super) fn open(path: &Path) -> io::Result<(LazyFile, u64)> {
        let (file, data) = opened(path)?;
        let slot = Slot {
            path: path.to_owned(),
            identity: Identity::of(&data),
            file: Mutex::new(Some(Arc::new(file))),
            is_used: AtomicBool::new(true),
        };
        let slot = Arc::new(slot);
        admit(&slot, most());
        Ok((LazyFile(slot), data.len()))
    }

    /// The open file.
    ///
    /// # Errors
    /// If it was closed and cannot be opened again, or another file has taken its place.
    pub(super) fn get(&self) -> io::Result<Arc<File>> {
        let Slot { path, identity, file, is_used } = &*self.0;
        is_used.store(true, Relaxed);
        let mut open = locked(file);
        if let Some(file) = &*open {
            return Ok(file.clone());
        }
        let (file, data) = opened(path)?;
        if Identity::of(&data) != *identity {
            return Err(io::Error::other("another file has taken its place since it was opened"));
        }
        let file = Arc::new(file);
        *open = Some(file.clone());
        drop(open);
        admit(&self.0, most());
        Ok(file)
    }
}

fn opened(path: &Path) -> io::Result<(File, Metadata)> {
    check_regular(path)?;
    let file = File::open(path)?;
    let data = file.metadata()?;
    Ok((file, data))
}

/// The number of tables that stay open: half of the files that the process may have.
fn most() -> usize {
    limit().map_or(MOST_OPEN, |limit| (limit / 2).clamp(1, MOST_OPEN))
}

const MOST_OPEN: usize = 4096;

#[cfg(unix)]
fn limit() -> Option<usize> {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Nofile).current.and_then(|limit| limit.try_into().ok())
}

#[cfg(not(unix))]
fn limit() -> Option<usize> {
    None
}

/// Notes that a file was opened, and closes others until at most `most` are open: first those that were not read since
/// they were last passed over, the oldest first. A file that is being read stays open until the end of the read.
fn admit(slot: &Arc<Slot>, most: usize) {
    let mut open = locked(&OPEN);
    open.push_back(Arc::downgrade(slot));
    if open.len() > most {
        open.retain(|slot| slot.strong_count() > 0);
    }
    // Each file is passed over once at most.
    let mut left = 2 * open.len();
    while open.len() > most && left > 0 {
        left -= 1;
        let Some(first) = open.pop_front() else { break };
        let Some(other) = first.upgrade() else { continue };
        if Arc::ptr_eq(&other, slot) || other.is_used.swap(false, Relaxed) {
            open.push_back(first);
        } else {
            *locked(&other.file) = None;
        }
    }
}

/// What distinguishes a file from another one of the same name.
#[derive(PartialEq, Eq)]
struct Identity {
    len: u64,
    #[cfg(unix)]
    inode: (u64, u64),
    #[cfg(not(unix))]
    modified: Option<std::time::SystemTime>,
}

impl Identity {
    fn of(data: &Metadata) -> Identity {
        Identity {
            len: data.len(),
            #[cfg(unix)]
            inode: {
                use std::os::unix::fs::MetadataExt;
                (data.dev(), data.ino())
            },
            #[cfg(not(unix))]
            modified: data.modified().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn is_open(file: &LazyFile) -> bool {
        locked(&file.0.file).is_some()
    }

    /// A file that was closed is read again, unless another one has taken its place.
    #[test]
    fn closed_files_are_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: usize| dir.path().join(name.to_string());
        let files: Vec<LazyFile> = (0..3)
            .map(|name| {
                std::fs::write(path(name), name.to_string()).unwrap();
                LazyFile::open(&path(name)).unwrap().0
            })
            .collect();
        // Tests that run at the same time open files, too.
        let close = |file: &LazyFile| {
            *locked(&file.0.file) = None;
            assert!(!is_open(file));
        };
        let read = |file: &LazyFile| {
            let mut text = String::new();
            file.get().map(|file| (&*file).read_to_string(&mut text).map(|_| text))?
        };
        close(&files[1]);
        assert_eq!(read(&files[1]).unwrap(), "1");
        assert!(is_open(&files[1]));
        close(&files[2]);
        std::fs::write(path(9), "9").unwrap();
        std::fs::rename(path(9), path(2)).unwrap();
        assert!(read(&files[2]).unwrap_err().to_string().contains("another file"));
        close(&files[0]);
        std::fs::remove_file(path(0)).unwrap();
        assert_eq!(read(&files[0]).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
