//! Pickling.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// What `__reduce__` returns for pickle: a function, and its arguments.
pub(crate) type Reduced<'py, T> = PyResult<(Bound<'py, PyAny>, T)>;

/// What `__getnewargs_ex__` returns for pickle: no positional arguments, and keywords.
pub(crate) type Keywords<'py> = (Bound<'py, PyTuple>, Bound<'py, PyDict>);
