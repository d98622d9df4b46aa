//! Runs `dsq` for tests.

pub use crate::program::{command, run as dsq, stdout};

use std::process::{Child, Command, Stdio};

/// Starts a program that ends when the standard input of the result closes: with the result, or with this process, even
/// if this process is killed. A shell waits for that, runs the commands of `at_end`, and kills the program. The output of
/// the program is the shell's.
pub fn bound(program: &str, arguments: &[&str], at_end: &str) -> Child {
    let script = format!("\"$@\" & read -r _; {at_end}; kill -KILL $!");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, "sh", program]).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    shell.spawn().expect("sh runs")
}
