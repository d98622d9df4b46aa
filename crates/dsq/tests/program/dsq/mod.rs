//! Runs `dsq` for tests.

pub use crate::program::{command, run as dsq, stdout};

use std::process::{Child, Command, Stdio};

/// Starts a program that ends with this process, even if this process is killed: a shell waits for the end of its standard
/// input, runs the commands of `at_end`, and kills the program. The output of the program is the shell's.
pub fn bound(program: &str, arguments: &[&str], at_end: &str) -> Child {
    let script = format!("\"$@\" & read -r _; {at_end}; kill -KILL $!");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, "sh", program]).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = shell.spawn().expect("sh runs");
    // Open until this process ends.
    std::mem::forget(child.stdin.take());
    child
}
