//! Atomic writes. Several writers may share a directory, so each writes to a partial file of its own,
//! `NAME.HOST-PROCESS-NUMBER.partial`, and renames it when it is complete. [`sweep`] removes partial files of dead
//! writers.

use super::table_error::TableError;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Extension of partial files.
pub(crate) const PARTIAL: &str = "partial";

/// A partial file of another machine counts as abandoned if nothing was written to it for this long.
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
        let partial = partial_path(path);
        let file = File::create(&partial).map_err(TableError::io(path))?;
        Ok(PartialWriter { path: path.to_owned(), partial, file: BufWriter::new(file), finished: false })
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
    /// Whether its writer is dead: it ran on this machine and its process has ended. `None` if that is unknown, for
    /// instance because it ran on another machine.
    pub dead: Option<bool>,
}

/// The partial files in a directory.
///
/// # Errors
/// If the directory cannot be read.
pub(crate) fn partial_files(dir: &Path) -> Result<Vec<PartialFile>, TableError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(TableError::io(dir))? {
        let path = entry.map_err(TableError::io(dir))?.path();
        if path.extension().is_none_or(|e| e != PARTIAL) {
            continue;
        }
        // The writer may have renamed the file in the meantime.
        let Ok(data) = fs::metadata(&path) else { continue };
        let age = data.modified().ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
        files.push(PartialFile { dead: is_dead(&path), path, age });
    }
    Ok(files)
}

/// Removes the partial files of dead writers. A writer that is not known to be dead or alive counts as dead if it wrote
/// nothing for `age`. Returns the number of removed files.
///
/// # Errors
/// If the directory cannot be read or a file cannot be removed.
pub(crate) fn sweep(dir: &Path, age: Duration) -> Result<usize, TableError> {
    let mut swept = 0;
    for file in partial_files(dir)? {
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

/// Whether the writer of a partial file is known to be dead; `None` if it ran on another machine.
fn is_dead(path: &Path) -> Option<bool> {
    let stem = path.file_stem()?.to_str()?;
    let mut parts = stem.rsplitn(3, '-');
    let (_number, process, name) = (parts.next(), parts.next(), parts.next());
    // A name without a writer is from a version that admitted one writer to a directory at a time.
    let (Some(process), Some(name)) = (process, name) else { return Some(true) };
    if !name.ends_with(host()) {
        return None;
    }
    let process: u32 = process.parse().ok()?;
    Path::new("/proc/self").exists().then(|| !Path::new(&format!("/proc/{process}")).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_dead_left_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let mine = partial_path(&dir.path().join("EvL.dsq"));
        let elsewhere = dir.path().join("EvL.dsq.other.host.example-1-0000000000000000.partial");
        let old = dir.path().join("EvL.dsq.partial");
        // No process has this number: it is above the largest process number of Linux.
        let dead = dir.path().join(format!("EvL.dsq.{}-4194305-0000000000000000.partial", host()));
        for path in [&mine, &elsewhere, &old, &dead] {
            fs::write(path, "x").unwrap();
        }
        assert_eq!(
            sweep(dir.path(), Duration::from_secs(3600)).unwrap(),
            if cfg!(target_os = "linux") { 2 } else { 1 }
        );
        assert!(mine.exists() && elsewhere.exists() && !old.exists());
        sweep(dir.path(), Duration::ZERO).unwrap();
        assert!(mine.exists() && !elsewhere.exists());
    }

    #[test]
    fn what_cannot_be_swept_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("EvL.dsq.partial")).unwrap();
        let error = sweep(dir.path(), ABANDONED).unwrap_err();
        assert!(error.to_string().contains("EvL.dsq.partial"), "{error}");
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
