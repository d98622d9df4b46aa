//! Runs the program for tests.

use std::process::{Command, Output};

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
