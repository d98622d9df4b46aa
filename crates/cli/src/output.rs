//! Standard output, and reading and writing of files.

use crate::failure::{Failure, Outcome};
use crate::input::read_text;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf, absolute};

/// Writes a line to stdout and flushes it, so that a reader sees it at once.
pub fn print(line: impl Display) -> Outcome {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(Failure::Output)
}

/// Writes one JSON object as a line to stdout.
pub fn print_json(value: &impl Serialize) -> Outcome {
    print(to_json(value))
}

/// One JSON object as a line.
pub fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("printed values are JSON")
}

/// Creates a directory unless it exists.
pub fn make_dir(dir: &Path) -> Outcome {
    fs::create_dir_all(dir).map_err(|error| Failure::cannot("make", dir, &error))
}

/// Writes a file atomically: under a temporary name, then renamed.
pub fn write_file(path: &Path, contents: &str) -> Outcome {
    let temporary = temporary(path);
    fs::write(&temporary, contents).and_then(|()| fs::rename(&temporary, path)).map_err(|error| {
        // The temporary file may not exist; the first error is the one to report.
        let _ = fs::remove_file(&temporary);
        Failure::cannot("write", path, &error)
    })
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    name.into()
}

/// Checks before the work of a command that [`write_file`] can write a file, and that the file is none of the others
/// that the command uses.
pub fn check_output(path: &Path, others: &[&Path]) -> Outcome {
    if others.iter().any(|other| place(other) == place(path)) {
        let text = "would replace another file of this command; give each file a name of its own";
        return Err(Failure::Input(format!("{} {text}", path.display())));
    }
    if path.is_dir() {
        return Err(Failure::cannot("write", path, &io::ErrorKind::IsADirectory.into()));
    }
    let temporary = temporary(path);
    let created = fs::write(&temporary, "").and_then(|()| fs::remove_file(&temporary));
    created.map_err(|error| Failure::cannot("write", path, &error))
}

/// The one path of a file with several, such as `a` and `./a`. The file need not exist.
fn place(path: &Path) -> PathBuf {
    fs::canonicalize(path).or_else(|_| absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// The JSON objects of a file with one on each line.
pub fn read_json_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Failure> {
    parse_json_lines(path, &read_text(path)?)
}

/// The JSON objects of the text of a file with one on each line.
pub fn parse_json_lines<T: DeserializeOwned>(path: &Path, text: &str) -> Result<Vec<T>, Failure> {
    let parse = |(i, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|e| Failure::Input(format!("{}, line {}: {e}", path.display(), i + 1)))
    };
    text.lines().enumerate().map(parse).collect()
}
