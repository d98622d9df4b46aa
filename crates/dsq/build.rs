//! Tells the program which compiler made it, for `dsq bench machine`.

use std::process::Command;

fn main() {
    let compiler = std::env::var_os("RUSTC").and_then(|rustc| Command::new(rustc).arg("--version").output().ok());
    let version = compiler.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    println!("cargo::rustc-env=DSQ_RUSTC={}", version.trim());
    println!("cargo::rerun-if-changed=build.rs");
}
