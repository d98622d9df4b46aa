//! Whole numbers as arguments.

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

/// A whole number as an argument. One that is too small or too large raises ValueError, as other wrong values do, and not
/// Python's OverflowError.
pub(crate) fn whole<T: Whole>(object: &Bound<'_, PyAny>) -> PyResult<T> {
    T::extract(object)
}

/// The types of [`whole`].
pub(crate) trait Whole: Sized {
    fn extract(object: &Bound<'_, PyAny>) -> PyResult<Self>;
}

macro_rules! whole {
    ($($number:ty),+) => {$(
        impl Whole for $number {
            fn extract(object: &Bound<'_, PyAny>) -> PyResult<$number> {
                PyAnyMethods::extract::<$number>(object).map_err(|error| {
                    if !error.is_instance_of::<PyOverflowError>(object.py()) {
                        return error;
                    }
                    let (least, most) = (<$number>::MIN, <$number>::MAX);
                    PyValueError::new_err(format!("expected a number from {least} to {most}, not {object}"))
                })
            }
        }
    )+};
}
whole!(i64, u32, u64, usize);

impl<T: Whole> Whole for Option<T> {
    fn extract(object: &Bound<'_, PyAny>) -> PyResult<Option<T>> {
        if object.is_none() { Ok(None) } else { T::extract(object).map(Some) }
    }
}
