//! Pickling.

use pyo3::prelude::*;

/// What `__reduce__` returns for pickle: a function, and its arguments.
pub(crate) type Reduced<'py, T> = PyResult<(Bound<'py, PyAny>, T)>;
