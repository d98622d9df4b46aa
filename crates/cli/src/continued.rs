//! A file of lines that a run writes, and that the same command continues after an interruption.

use crate::failure::{Failure, Outcome};
use crate::output::write_file;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The file of a run that can be continued. While it is open, no other run can open it: their lines would mix.
pub struct ContinuedFile {
    path: PathBuf,
    file: File,
    start: &'static str,
    /// The bytes of complete lines. The first write replaces what a killed run has left of another line.
    bytes: u64,
}

impl ContinuedFile {
    /// Opens a file, which is made if it is not there, and reads its complete lines. The first one begins with `start`. Nothing in
    /// the file changes before the first write, so the caller can refuse the lines of another command.
    ///
    /// # Errors
    /// If another run has opened it, it cannot be read or written, or it begins otherwise.
    pub fn open(path: &Path, start: &'static str) -> Result<(ContinuedFile, String), Failure> {
        let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path);
        let mut file = file.map_err(|error| Failure::cannot("write", path, &error))?;
        lock(&file, path)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| Failure::reading(path.display(), &error))?;
        // A killed run may have left a part of its first line.
        if !text.starts_with(start) && !start.starts_with(&text) {
            return Err(Failure::Input(format!("{}, line 1: not a record of this command", path.display())));
        }
        let bytes = text.rfind('\n').map_or(0, |end| end + 1);
        text.truncate(bytes);
        Ok((ContinuedFile { path: path.to_owned(), file, start, bytes: bytes as u64 }, text))
    }

    /// Appends lines.
    ///
    /// # Errors
    /// If the file cannot be written; it then has the lines from before.
    pub fn append(&mut self, lines: &str) -> Outcome {
        self.write(lines).map_err(|error| {
            // The first error is the one to report.
            let _ = self.file.set_len(self.bytes);
            Failure::cannot("write", &self.path, &error)
        })?;
        self.bytes += lines.len() as u64;
        Ok(())
    }

    fn write(&mut self, lines: &str) -> io::Result<()> {
        // A device has no length.
        if self.file.metadata()?.len() > self.bytes {
            self.file.set_len(self.bytes)?;
        }
        self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(lines.as_bytes())
    }

    /// Waits until the lines are on the disk.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn sync(&self) -> Outcome {
        self.file.sync_data().map_err(|error| Failure::cannot("write", &self.path, &error))
    }

    /// Replaces all lines at once.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn replace(&mut self, lines: &str) -> Outcome {
        write_file(&self.path, lines)?;
        (*self, _) = ContinuedFile::open(&self.path, self.start)?;
        Ok(())
    }
}

/// Keeps other runs from writing a file, until it is closed.
///
/// # Errors
/// If another run writes it.
pub fn lock(file: &File, path: &Path) -> Outcome {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Failure::cannot(
            "write",
            path,
            &io::Error::other("another run writes it; wait for it, or use another file"),
        )),
        // Some file systems have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_run_continues_behind_the_complete_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        let open = || ContinuedFile::open(&path, "");
        let (mut file, text) = open().unwrap();
        assert_eq!(text, "");
        file.append("one\n").unwrap();
        let refused = open().err().unwrap();
        assert!(refused.to_string().contains("another run writes it"), "{refused}");
        drop(file);
        fs::write(&path, "one\ntw").unwrap();
        let (mut file, text) = open().unwrap();
        assert_eq!((text.as_str(), fs::read_to_string(&path).unwrap().as_str()), ("one\n", "one\ntw"));
        file.append("two\n").unwrap();
        file.append("three\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\n");
        file.replace("four\n").unwrap();
        assert!(open().is_err(), "the new file is held, too");
        file.append("five\n").unwrap();
        drop(file);
        assert_eq!(open().unwrap().1, "four\nfive\n");
    }

    #[test]
    fn other_files_stay_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes");
        for text in ["no line", "a line\n", "{\"no\": 1}\n"] {
            fs::write(&path, text).unwrap();
            let refused = ContinuedFile::open(&path, "{\"line\":").err().unwrap();
            assert!(refused.to_string().contains("line 1: not a record of this command"), "{refused}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::write(&path, "{\"li").unwrap();
        assert_eq!(ContinuedFile::open(&path, "{\"line\":").ok().unwrap().1, "");
    }
}
