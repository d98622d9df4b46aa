//! The dependencies of the program: licences, sources, duplicates and the oldest compiler, as `deny.toml` and
//! `Cargo.toml` promise; and the claims of `SECURITY.md` and `CONTRIBUTING.md` about the sources.

#[path = "support/skip.rs"]
mod skip;

use serde_json::Value as Json;
use skip::skip;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const DENY: &str = include_str!("../deny.toml");

/// The quoted words from the line that begins with `start` to the end of its list.
fn list(start: &str) -> BTreeSet<String> {
    let from = DENY.find(start).unwrap_or_else(|| panic!("{start} is not in deny.toml"));
    let end = DENY[from..].find(']').expect("a list ends");
    DENY[from..from + end].split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// All packages of the lock file and what they need, with all features; `None` if the test is skipped.
fn metadata() -> Option<Json> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    if !output.status.success() {
        // Without a network, the dependencies of other systems may be missing.
        skip(&String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

/// Whether these licences satisfy an SPDX expression: `OR` before `AND`, one pair of brackets.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace(" / ", " OR ").replace('/', " OR ");
    let one_of = |part: &str| part.trim_matches(['(', ')']).split(" OR ").any(|name| allowed.contains(name.trim()));
    expression.split(" AND ").all(|part| one_of(part.trim()))
}

#[test]
fn expressions_of_licences_are_understood() {
    let allowed = list("allow = [");
    assert!(allowed.contains("MIT") && !allowed.contains("GPL-3.0"));
    for (expression, wanted) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("MIT/Apache-2.0", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND GPL-3.0", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), wanted, "{expression}");
    }
}

#[test]
fn dependencies_are_what_is_promised() {
    let (allowed, skipped, registries) = (list("allow = ["), list("skip = ["), list("allow-registry = ["));
    let version = |text: &str| text.split('.').map(|n| n.parse().unwrap()).collect::<Vec<u32>>();
    let ours = version(env!("CARGO_PKG_RUST_VERSION"));
    let mut versions: BTreeMap<String, usize> = BTreeMap::new();
    let Some(metadata) = metadata() else { return };
    for package in metadata["packages"].as_array().expect("packages") {
        let name = package["name"].as_str().unwrap();
        *versions.entry(name.to_owned()).or_default() += 1;
        if let Some(source) = package["source"].as_str() {
            let source = source.strip_prefix("registry+").unwrap_or_else(|| panic!("{name} comes from {source}"));
            assert!(registries.contains(source), "{name} comes from {source}");
        }
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(is_allowed(licence, &allowed), "{name} has the licence {licence}");
        if let Some(needed) = package["rust_version"].as_str() {
            assert!(version(needed) <= ours, "{name} needs Rust {needed}");
        }
    }
    let twice: Vec<String> =
        versions.into_iter().filter(|(name, n)| *n > 1 && !skipped.contains(name)).map(|(name, _)| name).collect();
    assert!(twice.is_empty(), "in two versions: {twice:?}");
}

/// `cargo run --release -- reproduce`, the first command of the README, finds one program and compiles no research.
#[test]
fn the_first_build_leaves_out_the_lab() {
    let Some(metadata) = metadata() else { return };
    let of = |list: &Json| list.as_array().expect("a list").clone();
    let packages = of(&metadata["packages"]);
    let package = |id: &Json| packages.iter().find(|package| package["id"] == *id).expect("a package");
    let nodes = of(&metadata["resolve"]["nodes"]);
    let mut compiled = of(&metadata["workspace_default_members"]);
    let programs = compiled.iter().flat_map(|id| of(&package(id)["targets"]));
    let programs: Vec<Json> =
        programs.filter(|target| target["kind"][0] == "bin").map(|target| target["name"].clone()).collect();
    assert_eq!(programs, ["dsq"]);
    let mut next = 0;
    while let Some(id) = compiled.get(next).cloned() {
        next += 1;
        let node = nodes.iter().find(|node| node["id"] == id).expect("a node");
        let is_test = |kind: &Json| kind["kind"] == "dev";
        for needed in of(&node["deps"]).iter().filter(|needed| !of(&needed["dep_kinds"]).iter().all(is_test)) {
            if !compiled.contains(&needed["pkg"]) {
                compiled.push(needed["pkg"].clone());
            }
        }
    }
    let names: Vec<&str> = compiled.iter().filter_map(|id| package(id)["name"].as_str()).collect();
    assert!(names.contains(&"dsq") && names.contains(&"doushouqi-study"), "{names:?}");
    for name in ["dsq-lab", "doushouqi-mining", "doushouqi-hardness", "doushouqi-train", "doushouqi-web"] {
        assert!(packages.iter().any(|package| package["name"] == name) && !names.contains(&name), "{name}");
    }
}

/// All files with this extension in a folder and its subfolders.
fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let all = paths.flat_map(|path| if path.is_dir() { files(&path, extension) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|e| e == extension)).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The path and the text of each source file in these folders, without tests and build scripts.
fn sources(dirs: &'static [&str]) -> impl Iterator<Item = (String, String)> {
    let is_other = |path: &PathBuf| {
        path.components().any(|part| ["tests", "build.rs"].map(OsStr::new).contains(&part.as_os_str()))
    };
    let paths = dirs.iter().flat_map(|dir| files(&root().join(dir), "rs")).filter(move |path| !is_other(path));
    paths.map(|path| {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        (name, fs::read_to_string(&path).unwrap())
    })
}

/// `SECURITY.md` lists the programs that this program starts.
#[test]
fn programs_that_are_started_are_listed() {
    let security = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let listed =
        [("crates/dsq/src/commands/serve.rs", "`dsq serve --open`"), ("crates/matches/src/process.rs", "`dsq match`")];
    // clap has a `Command`, too.
    let starts = |text: &str| text.contains("Command::new(") && text.contains("process::");
    let starting: BTreeSet<String> =
        sources(&["src", "crates", "research"]).filter_map(|(name, text)| starts(&text).then_some(name)).collect();
    assert_eq!(starting, BTreeSet::from(listed.map(|(file, _)| file.to_owned())), "these files start programs");
    for (file, what) in listed {
        assert!(security.contains(what), "SECURITY.md does not mention {what}, which {file} starts");
    }
}

/// `SECURITY.md` lists the files with `unsafe` code.
#[test]
fn unsafe_code_is_listed() {
    let security = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let (_, listed) = security.split_once("- `unsafe` is used for").expect("the list");
    let (listed, _) = listed.split_once("\n\n").expect("its end");
    let listed: BTreeSet<String> = listed.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let is_unsafe = |text: &str| {
        let mut code = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
        code.any(|line| line.contains("unsafe "))
    };
    let found: BTreeSet<String> = sources(&["src", "crates", "research", "python/src"])
        .filter_map(|(name, text)| is_unsafe(&text).then_some(name))
        .collect();
    assert_eq!(found, listed, "the files with unsafe code, and those that SECURITY.md lists");
}

/// Each kernel is tested where `CONTRIBUTING.md` states it.
#[test]
fn kernels_are_tested_as_contributing_says() {
    let tests = fs::read_to_string(root().join("src/tablebase/solve/gpu/run/tests.rs")).unwrap();
    let program = fs::read_to_string(root().join("crates/dsq/tests/program/gpu.rs")).unwrap();
    let mut kernels = 0;
    for path in files(&root().join("shaders"), "wgsl") {
        if !fs::read_to_string(&path).unwrap().contains("@compute") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        kernels += 1;
        let is_perft = name == "perft" && program.contains("#[test]\nfn perft_");
        let is_tested = is_perft || tests.contains(&format!("#[test]\nfn {name}()"));
        assert!(is_tested, "the kernel {name} needs a test `{name}` in src/tablebase/solve/gpu/run/tests.rs");
    }
    assert!(kernels >= 4);
}
