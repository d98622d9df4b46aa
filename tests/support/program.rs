//! Runs the program of the test crate, whose path is the constant `PROGRAM` in its root.

// Every test crate with this module uses a part of it.
#![allow(dead_code)]

use crate::PROGRAM;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The name of the program.
pub fn name() -> &'static str {
    Path::new(PROGRAM).file_stem().and_then(|name| name.to_str()).expect("a name of letters")
}

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments);
    command
}

/// Runs the program to its end. Its stderr lacks the progress that long commands write each minute: whether there is any
/// depends on how fast the machine is.
pub fn run(arguments: &[&str]) -> Output {
    let mut output = command(arguments).output().expect("the program runs");
    if let Ok(stderr) = str::from_utf8(&output.stderr) {
        let lines = stderr.split_inclusive('\n').filter(|line| !is_progress(line));
        output.stderr = lines.collect::<String>().into_bytes();
    }
    output
}

/// Whether a line is one of progress: it has a share or a rate, `12/42` or `3.4/s`, or a percentage.
pub fn is_progress(line: &str) -> bool {
    let is_number = |text: &str| text.replace(',', "").parse::<f64>().is_ok();
    let is_figure = |word: &str| {
        let (left, right) = word.trim_end_matches(',').split_once('/')?;
        let is_rate = ["s", "min", "h"].contains(&right) && (is_number(left) || ["k", "M", "G"].contains(&left));
        Some(is_rate || is_number(left) && is_number(right))
    };
    let mut words = line.strip_prefix(&format!("{}: ", name())).into_iter().flat_map(str::split_whitespace);
    words.any(|word| word.starts_with('%') || is_figure(word) == Some(true))
}

/// A process that ends with this value, or with this process, even if this process is killed.
pub struct Bound {
    pub process: Child,
    /// A shell that kills the process at the end of its input.
    guard: Child,
}

impl Bound {
    pub fn start(command: &mut Command) -> Bound {
        Bound::ending(command, ":")
    }

    /// If this process ends first, a shell runs the commands of `at_end`.
    pub fn ending(command: &mut Command, at_end: &str) -> Bound {
        let process = command.spawn().expect("the program runs");
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("read -r _; {at_end}; kill -KILL {}", process.id())]);
        let guard = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Bound { process, guard: guard.expect("sh runs") }
    }

    /// Sends a signal, such as `-TERM`.
    pub fn signal(&self, signal: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("kill runs").success());
    }

    /// Waits for the end; returns the exit code, and what the process wrote to a piped stderr.
    pub fn end(mut self) -> (Option<i32>, String) {
        let mut stderr = String::new();
        let pipe = self.process.stderr.take();
        pipe.map(|mut pipe| pipe.read_to_string(&mut stderr).expect("UTF-8"));
        (self.process.wait().expect("an end").code(), stderr)
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        // The guard first: it must not kill another process that gets the number of this one.
        for process in [&mut self.guard, &mut self.process] {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The output of a run that succeeds with nothing on stderr, which is not a terminal.
pub fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    assert!(stderr.is_empty(), "{arguments:?} wrote to stderr: {stderr}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The objects that the program prints, one per line.
pub fn json(arguments: &[&str]) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    stdout(arguments).lines().map(parse).collect()
}

/// The output on stderr of a run that fails with this exit code; stdout must be empty.
pub fn failure(code: i32, arguments: &[&str]) -> String {
    let output = run(arguments);
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
    stderr
}

/// Checks that a run fails with this exit code and this text on stderr.
pub fn fails(code: i32, arguments: &[&str], words: &str) {
    let stderr = failure(code, arguments);
    assert!(stderr.contains(words), "{arguments:?}: {words:?} is not in {stderr}");
}

/// An empty folder.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    if path.exists() {
        std::fs::remove_dir_all(&path).unwrap();
    }
    std::fs::create_dir_all(&path).unwrap();
    path
}
