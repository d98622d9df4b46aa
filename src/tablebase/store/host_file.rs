//! A file beside the page, which the host of the WebAssembly module reads part by part.

use std::io;
use std::path::{Path, PathBuf};

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    // Copies bytes of a file from an offset on, as many as there are, and returns the length of the file, or one of the
    // numbers below.
    fn read_file(path: *const u8, path_len: usize, at: f64, to: *mut u8, len: usize) -> f64;
}

const MISSING: f64 = -1.0;
const NO_PARTS: f64 = -2.0;

/// Bytes that are read when a file is opened: the head of a table, and the first page of its table of blocks.
const START: usize = 8 << 10;

pub(super) struct File {
    path: PathBuf,
    start: Vec<u8>,
}

/// Opens a file; also returns its length in bytes.
pub(super) fn open(path: &Path) -> io::Result<(File, u64)> {
    let mut start = vec![0; START];
    let len = read(path, &mut start, 0)?;
    start.truncate(usize::try_from(len).unwrap_or(START));
    Ok((File { path: path.to_owned(), start }, len))
}

/// Fills `buffer` with the bytes of a file from offset `at` on.
///
/// # Errors
/// [`io::ErrorKind::UnexpectedEof`] if the file is too short.
pub(super) fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    let end = at + buffer.len() as u64;
    if let Some(bytes) = usize::try_from(at).ok().and_then(|at| file.start.get(at..at + buffer.len())) {
        buffer.copy_from_slice(bytes);
        return Ok(());
    }
    if read(&file.path, buffer, at)? < end { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// Copies bytes of a file, as many as there are, and returns its length.
fn read(path: &Path, to: &mut [u8], at: u64) -> io::Result<u64> {
    let path = path.to_string_lossy();
    // SAFETY: the function reads the path and writes at most as many bytes as there are, before it returns.
    let len = unsafe { read_file(path.as_ptr(), path.len(), at as f64, to.as_mut_ptr(), to.len()) };
    match len {
        MISSING => Err(io::ErrorKind::NotFound.into()),
        NO_PARTS => Err(io::Error::other("the host of the page does not send parts of files (HTTP ranges)")),
        len if len >= 0.0 => Ok(len as u64),
        _ => Err(io::Error::other("the host of the page does not respond")),
    }
}
