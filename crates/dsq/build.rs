//! Records the compiler and the commit of the sources that the program is built from.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace, relative to this package. A packaged crate has none.
const ROOT: &str = "../..";
/// The sources of the program. A change elsewhere in the checkout does not make the build dirty.
const SOURCES: [&str; 5] = ["src", "shaders", "crates", "Cargo.toml", "Cargo.lock"];

fn main() {
    let compiler = std::env::var_os("RUSTC").and_then(|rustc| output(Command::new(rustc).arg("--version")));
    println!("cargo::rustc-env=DSQ_RUSTC={}", compiler.unwrap_or_default());
    println!("cargo::rustc-env=DSQ_COMMIT={}", commit().unwrap_or_else(|| "unknown".to_owned()));
    watch();
}

/// The commit that is checked out, with `-dirty` if the sources differ from it. `None` outside a checkout of this
/// repository: a package has no commit, even inside another repository.
fn commit() -> Option<String> {
    // `.git` is a directory, or a file in a worktree.
    Path::new(ROOT).join(".git").exists().then_some(())?;
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(&[&["status", "--porcelain", "--"][..], &SOURCES].concat())?;
    Some(if changes.is_empty() { commit } else { commit + "-dirty" })
}

/// Makes Cargo run this script again when the commit or a source changes.
fn watch() {
    // HEAD names a branch, and every change of the commit adds a line to HEAD's log. Without a log, a commit still
    // writes the index.
    let log = git_path("logs/HEAD").or_else(|| git_path("index"));
    let shared = SOURCES.iter().filter(|source| **source != "crates").map(|source| Path::new(ROOT).join(source));
    // A missing file would count as changed at every build.
    for path in shared.chain(crates()).chain(git_path("HEAD")).chain(log).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// The sources of the crates. Other files, such as the npm packages that tests install beside them, are not watched.
fn crates() -> impl Iterator<Item = PathBuf> {
    let crates = std::fs::read_dir(Path::new(ROOT).join("crates")).into_iter().flatten().flatten();
    crates.flat_map(|entry| ["src", "build.rs", "Cargo.toml"].map(|name| entry.path().join(name)))
}

/// A file of the checkout's git directory.
fn git_path(name: &str) -> Option<PathBuf> {
    Path::new(ROOT).join(".git").exists().then_some(())?;
    git(&["rev-parse", "--git-path", name]).map(|path| Path::new(ROOT).join(path))
}

/// The output of git. Git writes nothing, not even the index, which `git status` refreshes by default.
fn git(arguments: &[&str]) -> Option<String> {
    output(Command::new("git").args(["-C", ROOT, "--no-optional-locks"]).args(arguments))
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
