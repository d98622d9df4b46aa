//! What belongs to the process that has opened it.

use crate::errors::TablesError;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Open tables, and the process that has opened them; `None` once they are closed. Locked with the GIL only, so that a forked
/// process finds it open.
pub(crate) struct Held<T>(Mutex<Option<(u32, Arc<T>)>>);

impl<T> Held<T> {
    pub fn new(tables: T) -> Held<T> {
        Held(Mutex::new(Some((std::process::id(), Arc::new(tables)))))
    }

    /// The tables, which stay open while they are in use. A forked process opens them `again`: a thread that is missing in it
    /// may have held their locks. Tables in use by others have more owners than `self` and the argument.
    pub fn get(&self, again: impl FnOnce(Arc<T>) -> PyResult<Arc<T>>) -> PyResult<Arc<T>> {
        let held = self.lock().clone();
        let (process, tables) = held.ok_or_else(|| TablesError::new_err("the tables are closed"))?;
        let here = std::process::id();
        if process == here {
            return Ok(tables);
        }
        let own = again(tables)?;
        *self.lock() = Some((here, Arc::clone(&own)));
        Ok(own)
    }

    pub fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<(u32, Arc<T>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
