//! Records what the program was made from: the compiler, and the commit of the sources.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What the program is made of, as git names it. A change elsewhere in the checkout does not make the build dirty.
const SOURCES: [&str; 6] = ["src", "shaders", "crates", "Cargo.toml", "Cargo.lock", "build.rs"];

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
    Path::new(".git").exists().then_some(())?;
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(&[&["status", "--porcelain", "--"][..], &SOURCES].concat())?;
    Some(if changes.is_empty() { commit } else { commit + "-dirty" })
}

/// Says when this script has to run again, which compiles the package again: when the commit changes, and when sources
/// of the library change, which compiles it anyway. The program's own sources are not watched, or every change of them
/// would compile the library, too: if nothing else changed since a clean build, the mark `-dirty` is missing.
fn watch() {
    let sources = std::fs::read_dir("src").into_iter().flatten().flatten().map(|entry| entry.path());
    let library = sources.filter(|path| !path.ends_with("cli") && !path.ends_with("main.rs"));
    // HEAD names a branch; every change of the commit adds a line to its log. Where no log is kept, a commit writes the
    // index.
    let log = git_path("logs/HEAD").or_else(|| git_path("index"));
    let git = [git_path("HEAD"), log].into_iter().flatten();
    let rest = ["shaders", "Cargo.toml", "Cargo.lock", "build.rs"].map(PathBuf::from);
    // A file that is not there would count as changed at every build.
    for path in library.chain(git).chain(rest).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// A file of the checkout's git directory.
fn git_path(name: &str) -> Option<PathBuf> {
    Path::new(".git").exists().then_some(())?;
    git(&["rev-parse", "--git-path", name]).map(PathBuf::from).filter(|path| path.exists())
}

/// What git prints. It writes nothing, not even the index, which `git status` otherwise refreshes.
fn git(arguments: &[&str]) -> Option<String> {
    output(Command::new("git").arg("--no-optional-locks").args(arguments))
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
