//! Atomic writing of files.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

/// Writes a file. It appears under its name when it is complete.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut partial = OsString::from(path);
    partial.push(".partial");
    fs::write(&partial, bytes)?;
    fs::rename(&partial, path)
}
