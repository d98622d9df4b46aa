//! Memory that cannot be had is a MemoryError: an allocation of Rust's standard library that fails ends the process.
//!
//! Large arrays are reserved by calls that can fail. Before many small objects are made, [`need`] asks for as much as they
//! take.

use doushouqi::tablebase::has_memory;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// Raises MemoryError unless the process may have `bytes` bytes more.
pub(crate) fn need(bytes: usize) -> PyResult<()> {
    if has_memory(bytes) { Ok(()) } else { Err(refused(bytes)) }
}

fn refused(bytes: usize) -> PyErr {
    PyMemoryError::new_err(format!("another {bytes} bytes of memory cannot be allocated"))
}

/// An empty list with space for `len` items.
pub(crate) fn reserved<T>(len: usize) -> PyResult<Vec<T>> {
    let mut list = Vec::new();
    more(&mut list, len).map(|()| list)
}

/// A list of known length.
pub(crate) fn collect<T>(items: impl ExactSizeIterator<Item = T>) -> PyResult<Vec<T>> {
    let mut list = reserved(items.len())?;
    list.extend(items);
    Ok(list)
}

/// Reserves space for `len` items more.
pub(crate) fn more<T>(list: &mut Vec<T>, len: usize) -> PyResult<()> {
    let bytes = list.len().saturating_add(len).saturating_mul(size_of::<T>());
    match list.try_reserve(len) {
        // Some is left for everything else.
        Ok(()) if has_memory(0) => Ok(()),
        _ => Err(refused(bytes)),
    }
}
