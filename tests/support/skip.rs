//! Tests that cannot run on this machine.

use std::fs::OpenOptions;
use std::io::Write;

/// Counts the running test as skipped. `./test` names a file for the reasons in `DSQ_SKIPPED`. With `DSQ_SKIP=never` the
/// test fails instead.
pub(crate) fn skip(reason: &str) {
    assert!(std::env::var_os("DSQ_SKIP").is_none_or(|value| value != "never"), "DSQ_SKIP=never, but {reason}");
    skip_anywhere(reason);
}

/// As [`skip`], also with `DSQ_SKIP=never`: for what Debian's packages do not contain.
#[allow(dead_code)]
pub(crate) fn skip_anywhere(reason: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    eprintln!("{name} is skipped: {reason}");
    if let Some(path) = std::env::var_os("DSQ_SKIPPED") {
        let mut file = OpenOptions::new().append(true).create(true).open(path).expect("DSQ_SKIPPED can be written");
        // One call, so that tests that run at the same time do not mix their lines.
        file.write_all(format!("{name}\t{}\n", reason.replace('\n', " ")).as_bytes()).expect("a line is written");
    }
}
