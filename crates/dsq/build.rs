//! Records the compiler and the commit of the sources that the program is built from.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace, from this package: a packaged crate has none.
const ROOT: &str = "../..";
/// What the program is made of. A change elsewhere in the checkout does not make the build dirty.
const SOURCES: [&str; 5] = ["src", "shaders", "crates", "Cargo.toml", "Cargo.lock"];

fn main() {
    let compiler = std::env::var_os("RUSTC").and_then(|rustc| output(Command::new(rustc).arg("--version")));
    println!("cargo::rustc-env=DSQ_RUSTC={}", compiler.unwrap_or_default());
    println!("cargo::rustc-env=DSQ_COMMIT={}", commit().unwrap_or_else(|| "unknown".to_owned()));
    watch();
}

/// The commit that is checked out, with `-dirty` if the sources differ from it; `None` outside a checkout of this
/// repository, as in a package, which may lie inside somebody else's.
fn commit() -> Option<String> {
    // A directory, or a file in a worktree.
    Path::new(ROOT).join(".git").exists().then_some(())?;
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(&[&["status", "--porcelain", "--"][..], &SOURCES].concat())?;
    Some(if changes.is_empty() { commit } else { commit + "-dirty" })
}

/// Reports when this script has to run again: when the commit or a source changes.
fn watch() {
    // HEAD names a branch; every change of the commit adds a line to its log. Where no log is kept, a commit writes the
    // index.
    let log = git_path("logs/HEAD").or_else(|| git_path("index"));
    let sources = SOURCES.map(|source| Path::new(ROOT).join(source));
    // A file that is not there would count as changed at every build.
    for path in sources.into_iter().chain(git_path("HEAD")).chain(log).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// A file of the checkout's git directory.
fn git_path(name: &str) -> Option<PathBuf> {
    Path::new(ROOT).join(".git").exists().then_some(())?;
    git(&["rev-parse", "--git-path", name]).map(|path| Path::new(ROOT).join(path))
}

/// What git prints. It writes nothing, not even the index, which `git status` otherwise refreshes.
fn git(arguments: &[&str]) -> Option<String> {
    output(Command::new("git").args(["-C", ROOT, "--no-optional-locks"]).args(arguments))
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
