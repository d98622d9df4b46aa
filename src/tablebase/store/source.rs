//! A file for reads at given offsets from any number of threads.
//!
//! Tables are not mapped into memory: if a mapped file is truncated, the next access kills the process with SIGBUS,
//! like a fault of the program. A read returns an error instead, and is cheap compared with decoding a block.

use std::io;
use std::path::Path;

#[cfg(target_family = "wasm")]
#[path = "host_file.rs"]
mod file;

/// A file of the system.
#[cfg(not(target_family = "wasm"))]
mod file {
    use crate::tablebase::spill;
    use crate::tablebase::store::open_files::LazyFile;
    use std::io;
    use std::path::Path;

    pub(super) type File = LazyFile;

    /// Opens a file; also returns its length in bytes.
    pub(super) fn open(path: &Path) -> io::Result<(File, u64)> {
        LazyFile::open(path)
    }

    pub(super) fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
        spill::read_exact_at(&*file.get()?, buffer, at)
    }
}

pub(super) struct Source {
    file: file::File,
    len: usize,
}

/// The contents of a small file.
pub(super) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let source = Source::open(path)?;
    source.bytes(0, source.len())
}

impl Source {
    pub(super) fn open(path: &Path) -> io::Result<Source> {
        let (file, len) = file::open(path)?;
        Ok(Source { file, len: usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)? })
    }

    /// The length of the file in bytes when it was opened.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Fills `buffer` with the bytes from offset `at` on.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if the file is now too short.
    pub(super) fn read(&self, buffer: &mut [u8], at: usize) -> io::Result<()> {
        file::read_exact_at(&self.file, buffer, at as u64)
    }

    /// The `len` bytes from offset `at` on.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if the file is too short.
    pub(super) fn bytes(&self, at: usize, len: usize) -> io::Result<Vec<u8>> {
        if at.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; len];
        self.read(&mut bytes, at)?;
        Ok(bytes)
    }
}
