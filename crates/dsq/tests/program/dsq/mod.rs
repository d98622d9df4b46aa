//! Runs the program for tests.

use std::process::{Child, Command, Output, Stdio};

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dsq"));
    command.args(arguments);
    command
}

pub fn dsq(arguments: &[&str]) -> Output {
    command(arguments).output().expect("dsq runs")
}

/// The output of a run that succeeds with nothing on stderr, which is not a terminal.
pub fn stdout(arguments: &[&str]) -> String {
    let output = dsq(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    assert!(stderr.is_empty(), "{arguments:?} wrote to stderr: {stderr}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Starts a program that ends when the standard input of the result closes: with the result, or with this process, even
/// if this process is killed. A shell waits for that, runs the commands of `at_end`, and kills the program. The output of
/// the program is the shell's.
pub fn bound(program: &str, arguments: &[&str], at_end: &str) -> Child {
    let script = format!("\"$@\" & read -r _; {at_end}; kill -KILL $!");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, "sh", program]).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    shell.spawn().expect("sh runs")
}
