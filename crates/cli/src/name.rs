//! The name of the running program.

use std::sync::OnceLock;

static NAME: OnceLock<String> = OnceLock::new();

/// The name of the running program, with which its errors begin.
pub fn name() -> &'static str {
    NAME.get().map_or("dsq", String::as_str)
}

/// Sets the name, once.
pub(crate) fn set(name: &str) {
    NAME.get_or_init(|| name.to_owned());
}
