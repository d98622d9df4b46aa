//! A directory of classes that were counted on demand. The least recently used classes are removed when the directory
//! grows too large. Any number of processes may share it: a file appears when it is complete, and a removed file stays
//! readable for readers that have opened it.

use crate::board::{Color, RuleOptions};
use crate::tablebase::squares::Squares;
use crate::tablebase::store::cache::{Cache, get_or_decode};
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::exact::is_exact;
use crate::tablebase::store::file::{Block, TableFile};
use crate::tablebase::store::lock::{Lock, lock};
use crate::tablebase::store::partial::{ABANDONED, file_in_cache, is_of_cache, record_use, sweep};
use crate::tablebase::store::table_error::TableError;
use crate::tablebase::{CellValue, Material};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// The number of files that are kept open. The block table and the decoded blocks of a file take up to 100 MB.
const OPEN: usize = 4;
/// The interval at which the use of an open file is recorded.
const RECORD: Duration = Duration::from_secs(60);

pub(super) struct ClassCache {
    dir: PathBuf,
    /// The most bytes of all files.
    size: u64,
    rules: RuleOptions,
    /// The classes used most recently, the latest at the end.
    open: Mutex<Vec<Open>>,
}

/// The file of a class, as `dsq generate` writes it, with decoded blocks.
pub(super) struct CachedClass {
    file: TableFile,
    /// By number of the block in the file.
    blocks: Mutex<Cache<usize, Block>>,
}

impl CachedClass {
    /// # Errors
    /// If the file cannot be read, is damaged, or is of another version, for other rules or for another class.
    fn open(path: &Path, rules: &RuleOptions, class: Material) -> Result<CachedClass, TableError> {
        let file = TableFile::open(path, rules, class)?;
        if is_exact(&file) {
            return Ok(CachedClass { file, blocks: Mutex::default() });
        }
        Err(TableError::Foreign { path: path.to_owned() })
    }

    /// The value of the position with these squares of the pieces of the class's index.
    ///
    /// # Errors
    /// If a block cannot be read or is damaged.
    pub(super) fn value(&self, turn: Color, squares: Squares) -> Result<Option<CellValue>, TableError> {
        let place = self.file.stored_place(turn, squares);
        let block = get_or_decode(&self.blocks, place.block, || self.file.sized_block(place.block))?;
        Ok(CellValue::from_code(self.file.code(&block, place)))
    }
}

/// An open class.
struct Open {
    class: Material,
    file: Arc<CachedClass>,
    /// Whether a probe found damage. The file stays: another process may have replaced it.
    damaged: bool,
    /// When its use was last recorded.
    recorded: SystemTime,
}

impl Open {
    /// Records the use as the time of the file, which gives the order of use.
    fn record(&mut self, path: &Path) {
        self.recorded = SystemTime::now();
        record_use(path);
    }
}

/// A file in the directory.
struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

impl ClassCache {
    /// Opens a cache in `dir` of up to `size` bytes. Creates the directory if it does not exist.
    ///
    /// # Errors
    /// If the directory cannot be created.
    pub(super) fn open(dir: &Path, size: u64, rules: &RuleOptions) -> Result<ClassCache, TableError> {
        fs::create_dir_all(dir).map_err(TableError::io(dir))?;
        Ok(ClassCache { dir: dir.to_owned(), size, rules: *rules, open: Mutex::default() })
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The most bytes of all files.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The file of a class, by its representative.
    pub(super) fn path(&self, class: Material) -> PathBuf {
        file_in_cache(&self.dir, class, &self.rules)
    }

    /// The class, if its file is complete and not known to be damaged. The next count replaces a damaged file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn get(&self, class: Material) -> Result<Option<Arc<CachedClass>>, TableError> {
        let (mut open, path) = (self.opened(), self.path(class));
        if let Some(at) = open.iter().position(|entry| entry.class == class) {
            let mut entry = open.remove(at);
            if entry.recorded.elapsed().map_or(true, |time| time >= RECORD) {
                entry.record(&path);
            }
            let file = (!entry.damaged).then(|| Arc::clone(&entry.file));
            open.push(entry);
            return Ok(file);
        }
        let file = match CachedClass::open(&path, &self.rules, class) {
            Ok(file) => Arc::new(file),
            Err(TableError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error @ (TableError::Io { .. } | TableError::OpenFiles { .. })) => return Err(error),
            Err(_) => return Ok(None),
        };
        let mut entry = Open { class, file: Arc::clone(&file), damaged: false, recorded: SystemTime::UNIX_EPOCH };
        entry.record(&path);
        if open.len() == OPEN {
            open.remove(0);
        }
        open.push(entry);
        Ok(Some(file))
    }

    /// Records that a probe of this file found damage.
    pub(super) fn mark_damaged(&self, file: &Arc<CachedClass>) {
        let mut open = self.opened();
        open.iter_mut().filter(|entry| Arc::ptr_eq(&entry.file, file)).for_each(|entry| entry.damaged = true);
    }

    /// The lock that admits one counting process at a time; `None` while another process holds it.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub(super) fn lock(&self) -> Result<Option<Lock>, SetError> {
        match lock(&self.dir) {
            Ok(lock) => Ok(Some(lock)),
            Err(SetError::Locked { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes space for a new file of a class: removes the old file of the class, the partial files of killed processes,
    /// and the least recently used classes, until `bytes` bytes fit. The caller holds the lock.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub(super) fn free_space(&self, class: Material, bytes: u64) -> Result<(), TableError> {
        sweep(&self.dir, ABANDONED)?;
        self.opened().retain(|entry| entry.class != class);
        remove(&self.path(class))?;
        let mut entries = self.entries()?;
        entries.sort_by_key(|entry| entry.used);
        let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
        for entry in entries {
            if total.saturating_add(bytes) <= self.size {
                break;
            }
            remove(&entry.path)?;
            total -= entry.bytes;
        }
        Ok(())
    }

    fn entries(&self) -> Result<Vec<Entry>, TableError> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(TableError::io(&self.dir))? {
            let path = entry.map_err(TableError::io(&self.dir))?.path();
            // Another process may have removed the file.
            if path.file_name().and_then(|name| name.to_str()).is_some_and(is_of_cache)
                && let Ok(data) = fs::metadata(&path)
            {
                let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                entries.push(Entry { path, bytes: data.len(), used });
            }
        }
        Ok(entries)
    }

    fn opened(&self) -> MutexGuard<'_, Vec<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a file; succeeds if the file does not exist.
fn remove(path: &Path) -> Result<(), TableError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(TableError::io(path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::{Generate, Options, Solver};
    use std::fs::File;

    fn write(cache: &ClassCache, class: &str, bytes: usize, age: u64) -> PathBuf {
        let path = cache.path(class.parse().unwrap());
        fs::write(&path, vec![7; bytes]).unwrap();
        let used = SystemTime::now() - Duration::from_secs(age);
        File::options().append(true).open(&path).unwrap().set_modified(used).unwrap();
        path
    }

    #[test]
    fn the_least_recently_used_classes_go_first() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ClassCache::open(&dir.path().join("new"), 100, &RuleOptions::PAPER).unwrap();
        let [old, new, newest] =
            [("EvL", 30), ("EvT", 20), ("EvP", 10)].map(|(class, age)| write(&cache, class, 30, age));
        let others = ["notes.txt", "EvL.dsq"].map(|name| cache.dir().join(name));
        others.iter().for_each(|path| fs::write(path, "x".repeat(1000)).unwrap());
        // Earlier versions of the program counted to files with this extension.
        let earlier = old.with_extension("stages");
        fs::rename(&old, &earlier).unwrap();
        let old = earlier;
        let there = || [&old, &new, &newest].map(|path| path.exists());
        let free_space = |bytes| cache.free_space("EvD".parse().unwrap(), bytes).unwrap();
        free_space(10);
        assert_eq!(there(), [true, true, true], "100 bytes suffice");
        free_space(11);
        assert_eq!(there(), [false, true, true]);
        free_space(100);
        assert_eq!(there(), [false, false, false]);
        assert!(others.iter().all(|path| path.exists()), "files of others stay");
    }

    /// Another process may have put a file of this name in the place of the damaged one in the meantime, so a file is
    /// removed only under the lock, before a count.
    #[test]
    fn a_file_of_no_class_stays_until_the_class_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ClassCache::open(dir.path(), 100, &RuleOptions::PAPER).unwrap();
        let (path, class) = (write(&cache, "EvL", 30, 0), "EvL".parse().unwrap());
        assert!(cache.get(class).unwrap().is_none());
        assert!(path.exists());
        let other = write(&cache, "EvT", 70, 10);
        cache.free_space(class, 30).unwrap();
        assert!(!path.exists() && other.exists());
    }

    /// A class that is used all the time stays open, and must not count as unused since it was opened.
    #[test]
    fn the_use_of_an_open_class_is_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ClassCache::open(dir.path(), 100, &RuleOptions::PAPER).unwrap();
        let class = "EvL".parse().unwrap();
        let (path, tables) = (cache.path(class), tempfile::tempdir().unwrap());
        let job = Generate { material: Some(class), ..Generate::new(tables.path(), RuleOptions::PAPER) };
        job.run(&mut Solver::new(&RuleOptions::PAPER, 2, Options::default()), &|_| {}).unwrap();
        fs::copy(TableFile::path(tables.path(), class), &path).unwrap();
        let (used, long_ago) = (|| fs::metadata(&path).unwrap().modified().unwrap(), SystemTime::UNIX_EPOCH);
        assert!(cache.get(class).unwrap().is_some());
        File::options().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        assert!(cache.get(class).unwrap().is_some());
        assert_eq!(used(), long_ago, "it was recorded less than a minute ago");
        cache.opened()[0].recorded = long_ago;
        assert!(cache.get(class).unwrap().is_some());
        assert!(used() > long_ago);
    }
}
