//! The limit of open files: a directory of tables of six pieces has more files than the usual limit of 1,024.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More files than any command opens. macOS allows no more than 10,240.
const WANTED: u64 = if cfg!(target_os = "macos") { 10_240 } else { 65_536 };

/// Raises the soft limit to [`WANTED`], as far as the hard limit allows.
pub(crate) fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(WANTED, |maximum| maximum.min(WANTED));
    if current.is_some_and(|current| current < wanted) {
        // If the system refuses, the limit stays as it is: a command that reaches it names it.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}
