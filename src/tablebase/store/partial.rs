//! Atomic writes. Several writers may share a directory, so each writes to a partial file of its own,
//! `NAME.HOST-PROCESS-NUMBER.partial`, and renames it when it is complete. A writer locks its file, and the system
//! releases the lock when the process ends. [`sweep`] removes partial files of dead writers, which it can lock. The number
//! of the process is for people: containers of one machine do not see each other's processes.

use super::table_error::TableError;
use crate::board::RuleOptions;
use crate::tablebase::Material;
use std::fs::{self, File, TryLockError};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Extension of partial files.
pub(crate) const PARTIAL: &str = "partial";

/// A partial file of another machine, whose locks may be invisible here, counts as abandoned if nothing was written to
/// it for this long.
pub(crate) const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// This machine's name, reduced to letters, digits and dots.
fn host() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        let name = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| std::env::var("HOSTNAME").ok());
        let name = name.or_else(|| std::env::var("COMPUTERNAME").ok()).unwrap_or_default();
        plain_name(&name)
    })
}

/// A machine's name without characters that have a meaning in file names; `host` if nothing is left.
fn plain_name(name: &str) -> String {
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
    if name.is_empty() { "host".to_owned() } else { name }
}

/// A number that is unique in this process and, except for collisions of the clock, among machines of the same name.
fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    time.as_nanos() as u64 ^ NEXT.fetch_add(1, Ordering::Relaxed).rotate_right(8)
}

/// A unique name of a partial file for `path`.
fn partial_path(path: &Path) -> PathBuf {
    path.with_added_extension(format!("{}-{}-{:016x}.{PARTIAL}", host(), std::process::id(), number()))
}

/// Bytes that are written to a file at once.
const BUFFER: usize = 1 << 18;

/// A writer of a partial file. [`finish`](PartialWriter::finish) renames the file; dropping the writer removes it.
pub(crate) struct PartialWriter {
    path: PathBuf,
    partial: PathBuf,
    file: BufWriter<File>,
    finished: bool,
}

impl PartialWriter {
    /// # Errors
    /// If the directory of `path` cannot be written.
    pub(crate) fn create(path: &Path) -> Result<PartialWriter, TableError> {
        loop {
            let partial = partial_path(path);
            let file = File::create(&partial).map_err(TableError::io(path))?;
            // Without locks, the age of the file protects it.
            let _ = file.lock();
            // A sweep may have removed the file before it was locked.
            if partial.exists() {
                return Ok(PartialWriter {
                    path: path.to_owned(),
                    partial,
                    file: BufWriter::with_capacity(BUFFER, file),
                    finished: false,
                });
            }
        }
    }

    /// # Errors
    /// If the bytes cannot be written, for instance because the disk is full.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), TableError> {
        self.file.write_all(bytes).map_err(TableError::io(&self.path))
    }

    /// Syncs the file to the disk and renames it.
    ///
    /// # Errors
    /// As [`write`](PartialWriter::write).
    pub(crate) fn finish(mut self) -> Result<(), TableError> {
        let written = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        let renamed = written.and_then(|()| fs::rename(&self.partial, &self.path));
        self.finished = renamed.is_ok();
        let synced = renamed.and_then(|()| match self.path.parent() {
            // The rename is durable only after a sync of the directory, which not every system supports.
            Some(dir) if cfg!(unix) => File::open(dir).and_then(|dir| dir.sync_all()),
            _ => Ok(()),
        });
        synced.map_err(TableError::io(&self.path))
    }
}

impl Drop for PartialWriter {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// Writes a file atomically: the name appears only when the file is complete and on the disk. An error leaves no
/// partial file.
///
/// # Errors
/// If the file cannot be written, for instance because the disk is full.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), TableError> {
    let mut file = PartialWriter::create(path)?;
    file.write(bytes)?;
    file.finish()
}

/// An unfinished file of a running or dead writer.
#[derive(Clone, Debug)]
pub struct PartialFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Time since it was last written to.
    pub age: Duration,
    /// Whether its writer is dead: it ran on this machine and no process has locked the file. `None` if that is
    /// unknown, for instance because it ran on another machine.
    pub dead: Option<bool>,
}

/// The partial files in a directory. Files with other names belong to others.
///
/// # Errors
/// If the directory cannot be read.
pub(crate) fn partial_files(dir: &Path) -> Result<Vec<PartialFile>, TableError> {
    examine(dir)?.map(|found| found.map(|(file, _)| file)).collect()
}

/// The partial files in a directory, each with its lock if it can be locked.
fn examine(dir: &Path) -> Result<impl Iterator<Item = Result<(PartialFile, Option<File>), TableError>>, TableError> {
    let entries = fs::read_dir(dir).map_err(TableError::io(dir))?;
    Ok(entries.filter_map(move |entry| {
        let path = match entry {
            Ok(entry) => entry.path(),
            Err(error) => return Some(Err(TableError::io(dir)(error))),
        };
        let writer = path.file_name().and_then(|name| Writer::of(name.to_str()?))?;
        // The writer may have renamed the file in the meantime.
        let data = fs::metadata(&path).ok()?;
        let age = data.modified().ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
        if !data.is_file() {
            return Some(Ok((PartialFile { path, age, dead: None }, None)));
        }
        let (dead, lock) = match File::options().write(true).open(&path).map(|file| (file.try_lock(), file)) {
            Ok((Ok(()), file)) => (writer.here.then_some(true), Some(file)),
            Ok((Err(TryLockError::WouldBlock), _)) => (Some(false), None),
            Ok((Err(TryLockError::Error(_)), _)) | Err(_) => (None, None),
        };
        Some(Ok((PartialFile { path, age, dead }, lock)))
    }))
}

/// Removes the partial files of dead writers. A writer that is not known to be dead or alive counts as dead if it wrote
/// nothing for `age`. Returns the number of removed files.
///
/// # Errors
/// If the directory cannot be read or a file cannot be removed.
pub(crate) fn sweep(dir: &Path, age: Duration) -> Result<usize, TableError> {
    let mut swept = 0;
    for found in examine(dir)? {
        // The lock is held while the file is removed: its writer may have created the file and not locked it yet.
        let (file, _lock) = found?;
        if file.dead.unwrap_or(file.age >= age) {
            match fs::remove_file(&file.path) {
                Ok(()) => swept += 1,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(TableError::io(&file.path)(error)),
            }
        }
    }
    Ok(swept)
}

/// The writer of a partial file, as the file's name states it.
struct Writer {
    here: bool,
}

impl Writer {
    /// The writer of the partial file with this name; `None` if [`partial_path`] makes no such name for a file of
    /// tables.
    fn of(name: &str) -> Option<Writer> {
        let (rest, number) = name.strip_suffix(PARTIAL)?.strip_suffix('.')?.rsplit_once('-')?;
        let (rest, process) = rest.rsplit_once('-')?;
        let (stem, rest) = rest.split_once('.')?;
        let (extension, machine) = rest.split_once('.')?;
        let ours = is_of_tables(stem, extension) && is_hash(number) && plain_name(machine) == machine;
        let ours = ours && process.parse::<u32>().is_ok();
        ours.then(|| Writer { here: machine == host() })
    }
}

/// Whether a file of a directory of tables, or of a cache of counted classes, has this name.
fn is_of_tables(stem: &str, extension: &str) -> bool {
    match extension {
        "dsq" | "json" if Material::of_name(stem).is_some() => true,
        "json" => stem == "manifest",
        _ => is_of_cache(&format!("{stem}.{extension}")),
    }
}

/// The file of a class in a cache. It names the rules, so that classes of several rules can share a directory.
pub(super) fn file_in_cache(dir: &Path, class: Material, rules: &RuleOptions) -> PathBuf {
    dir.join(format!("{class}-{:016x}.dsq", rules.table_hash()))
}

/// Records the use of a file in a cache as its time, which gives the order of use. A failure is ignored, so that a read-only
/// cache can be read.
pub(super) fn record_use(path: &Path) {
    let _ = File::options().append(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Whether a class in a cache has this name of a file: that of [`file_in_cache`], or with the extension `stages`, as earlier
/// versions of the program called it.
pub(crate) fn is_of_cache(name: &str) -> bool {
    let stem = name.strip_suffix(".dsq").or_else(|| name.strip_suffix(".stages"));
    let parts = stem.and_then(|stem| stem.split_once('-'));
    parts.is_some_and(|(class, rules)| Material::of_name(class).is_some() && is_hash(rules))
}

fn is_hash(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The name of a partial file that a process of this machine, by default, has left behind. Process 1 is alive.
#[cfg(test)]
pub(crate) fn left_by(file: &str, machine: Option<&str>) -> String {
    format!("{file}.{}-1-0000000000000000.{PARTIAL}", machine.unwrap_or(host()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_dead_left_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let mut mine = PartialWriter::create(&dir.path().join("EvL.dsq")).unwrap();
        // A container of this machine with the same host name: its processes are invisible here, its locks are not.
        let contained = dir.path().join(left_by("EvT.dsq", None));
        let container = File::create(&contained).unwrap();
        container.lock().unwrap();
        // Another machine's name may end in this one's.
        let elsewhere = ["other.host.example".to_owned(), format!("x{}", host()), format!("x.{}", host())]
            .map(|machine| dir.path().join(left_by("EvL.dsq", Some(&machine))));
        let counted = ["EvL-00112233445566ff.dsq", "EvL-00112233445566ff.stages"];
        let dead = ["EvL.dsq", "EvL.json", "manifest.json", counted[0], counted[1]]
            .map(|file| dir.path().join(left_by(file, None)));
        for path in elsewhere.iter().chain(&dead) {
            fs::write(path, "x").unwrap();
        }
        assert_eq!(sweep(dir.path(), Duration::from_secs(3600)).unwrap(), dead.len());
        assert!(elsewhere.iter().chain([&contained]).all(|path| path.exists()));
        assert!(!dead.iter().any(|path| path.exists()));
        assert_eq!(sweep(dir.path(), Duration::ZERO).unwrap(), elsewhere.len());
        drop(container);
        assert_eq!(sweep(dir.path(), Duration::from_secs(3600)).unwrap(), 1);
        mine.write(b"x").unwrap();
        mine.finish().unwrap();
        assert_eq!(fs::read(dir.path().join("EvL.dsq")).unwrap(), b"x");
    }

    #[test]
    fn files_of_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let others = [
            "EvL.dsq.partial",
            "thesis.partial",
            "my-old-file.partial",
            "EvL.dsq.host-1-0.partial",
            "EvL.dsq.host-x-0000000000000000.partial",
            "EvL.dsq-1-0000000000000000.partial",
            "EvL.stages.host-1-0000000000000000.partial",
        ];
        let others = others.map(str::to_owned).into_iter().chain([
            left_by("notes.dsq", None),
            left_by("EvL.txt", None),
            left_by("package.json", None),
            left_by("EvL.dsq", Some("my host")),
        ]);
        let paths: Vec<PathBuf> = others.map(|name| dir.path().join(name)).collect();
        paths.iter().for_each(|path| fs::write(path, "mine").unwrap());
        assert!(partial_files(dir.path()).unwrap().is_empty());
        assert_eq!(sweep(dir.path(), Duration::ZERO).unwrap(), 0);
        assert!(paths.iter().all(|path| path.exists()));
    }

    #[test]
    fn what_cannot_be_swept_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(left_by("EvL.dsq", Some("elsewhere")))).unwrap();
        let error = sweep(dir.path(), Duration::ZERO).unwrap_err();
        assert!(error.to_string().contains("EvL.dsq.elsewhere"), "{error}");
    }

    #[test]
    fn names_of_machines_are_made_plain() {
        for (name, plain) in
            [("node-07.example\n", "node07.example"), ("Büro 2/", "Bro2"), ("--", "host"), ("", "host")]
        {
            assert_eq!(plain_name(name), plain);
        }
    }

    #[test]
    fn no_two_names_are_the_same() {
        let path = Path::new("EvL.dsq");
        let names: std::collections::HashSet<_> = (0..1000).map(|_| partial_path(path)).collect();
        assert_eq!(names.len(), 1000);
    }
}
