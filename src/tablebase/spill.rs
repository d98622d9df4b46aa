//! Files for reads and writes at given offsets from any number of threads, and temporary files that threads share.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A temporary file that many writers share, so that a process needs one descriptor for all of them. The file has no name:
/// nothing is left of it, however the program ends. Its space is free again when it is dropped.
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: File,
    /// The length in bytes, with the parts that are still being written.
    end: AtomicU64,
}

impl SpillFile {
    /// A new file in `dir`.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub(crate) fn create(dir: &Path) -> io::Result<SpillFile> {
        Ok(SpillFile { file: tempfile::tempfile_in(dir)?, end: AtomicU64::new(0) })
    }

    /// Writes `bytes` to a part of the file that no other call uses, and returns its offset.
    ///
    /// # Errors
    /// If they cannot be written, for instance because the disk is full.
    pub(crate) fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.end.fetch_add(bytes.len() as u64, Relaxed);
        write_all_at(&self.file, bytes, at)?;
        Ok(at)
    }

    /// Fills `buffer` with the bytes from offset `at` on.
    ///
    /// # Errors
    /// If they cannot be read back.
    pub(crate) fn read(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        read_exact_at(&self.file, buffer, at)
    }
}

/// Checks that a file is a regular file: opening a named pipe waits for a writer, possibly for ever.
pub(crate) fn check_regular(path: &Path) -> io::Result<()> {
    if std::fs::metadata(path)?.is_file() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

/// Fills `buffer` with the bytes of a file from offset `at` on.
///
/// # Errors
/// [`io::ErrorKind::UnexpectedEof`] if the file is too short.
#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, at)
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                buffer = &mut buffer[count..];
                at += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = &bytes[count..];
                at += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Systems without reads and writes at an offset: one thread at a time moves the position.
#[cfg(not(any(unix, windows)))]
static POSITION: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(not(any(unix, windows)))]
pub(crate) fn read_exact_at(mut file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    let _moved = POSITION.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
    io::Read::read_exact(&mut file, buffer)
}

#[cfg(not(any(unix, windows)))]
fn write_all_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    let _moved = POSITION.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
    io::Write::write_all(&mut file, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    #[test]
    fn threads_share_a_file_without_a_name() {
        let dir = tempfile::tempdir().unwrap();
        let file = SpillFile::create(dir.path()).unwrap();
        (0..200u8).into_par_iter().for_each(|i| {
            let bytes = vec![i; 1000 + usize::from(i)];
            let at = file.append(&bytes).unwrap();
            let mut read = vec![0; bytes.len()];
            file.read(&mut read, at).unwrap();
            assert_eq!(read, bytes);
        });
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(file.read(&mut [0], 1_000_000).is_err());
        assert!(SpillFile::create(Path::new("/no/such/folder")).is_err());
    }
}
