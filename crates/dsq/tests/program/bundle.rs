//! Publications of tables: what `dsq bundle` writes, and what `dsq verify` finds in copies.

use crate::dsq;

use dsq::{command, dsq, stdout};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// The contents of the files of a directory, by name.
type Files = BTreeMap<String, Vec<u8>>;

fn files(dir: &Path) -> Files {
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).expect("a file"))
    };
    fs::read_dir(dir).expect("a directory").map(read).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn temporary() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// The report and the files of a publication of three pieces, created once.
fn published() -> &'static (Json, Files) {
    static PUBLISHED: OnceLock<(Json, Files)> = OnceLock::new();
    PUBLISHED.get_or_init(|| {
        let dir = temporary();
        let (tables, out) = (dir.path().join("tables"), dir.path().join("published"));
        stdout(&["generate", "--pieces", "3", "--out", text(&tables)]);
        let report = stdout(&["bundle", text(&tables), "--out", text(&out), "--json"]);
        (serde_json::from_str(&report).expect("JSON"), files(&out))
    })
}

/// A copy of the publication.
fn copy() -> TempDir {
    let dir = temporary();
    for (name, bytes) in &published().1 {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    dir
}

/// Checks that the command fails with this exit code and these words.
fn fails(code: i32, arguments: &[&str], words: &[&str]) -> String {
    let output = dsq(arguments);
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty() && !stderr.contains("panicked"), "{arguments:?}: {stderr}");
    for word in words {
        assert!(stderr.contains(word), "{word:?} is not in {stderr:?}");
    }
    stderr
}

/// Checks that verification of a copy fails with these words.
fn is_found(dir: &TempDir, words: &[&str]) -> String {
    fails(1, &["verify", text(dir.path()), "--sample", "0"], words)
}

/// A publication of tables that know a no-capture limit says what their distances lead to.
#[test]
fn tables_under_a_limit_are_published() {
    let dir = temporary();
    let (tables, out) = (dir.path().join("tables"), dir.path().join("published"));
    stdout(&["generate", "--pieces", "2", "--out", text(&tables), "--metric", "dtz", "--limit", "40"]);
    stdout(&["bundle", text(&tables), "--out", text(&out)]);
    let page = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    assert!(page("README.md").contains("to the next capture or den entry, in games that are drawn after 40 plies"));
    // No capture shortens the longest line of two pieces (`results/README.md`).
    assert!(page("statistics.md").contains("2 pieces: `6e/7/7/7/7/7/7/7/E6 w`, 34 plies"), "{}", page("statistics.md"));
    stdout(&["verify", text(&out)]);
}

#[test]
fn a_publication_has_everything_and_proves_itself() {
    let (report, files) = published();
    for name in [
        "README.md",
        "CITATION.cff",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "table-format.md",
        "statistics.md",
        "manifest.json",
        "bundle.json",
        "SHA256SUMS",
        "EvE.dsq",
        "ERvR.dsq",
    ] {
        assert!(files.contains_key(name), "{name}");
    }
    assert_eq!(report["files"], files.len());
    assert_eq!(report["bytes"], files.values().map(Vec::len).sum::<usize>());
    let list: Json = serde_json::from_slice(&files["bundle.json"]).unwrap();
    let listed = list["files"].as_array().unwrap();
    assert_eq!(listed.len() + 2, files.len());
    for file in listed {
        assert_eq!(file["bytes"], files[file["name"].as_str().unwrap()].len(), "{file}");
    }
    // The counts of the papers, and the longest line of three pieces.
    let page = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    assert!(page("statistics.md").contains("| 54,355,896 | 1,212 | 30,297,857 | 23,369,820 | 687,007 | 67 |"));
    assert!(page("statistics.md").contains("67 plies"));
    assert!(!page("README.md").contains('{'), "{}", page("README.md"));
    assert!(page("CITATION.cff").starts_with("cff-version:") && page("LICENSE-MIT").contains("Permission is"));

    let dir = copy();
    let fingerprint = report["fingerprint"].as_str().unwrap();
    let verified: Json =
        serde_json::from_str(&stdout(&["verify", text(dir.path()), "--sample", "0", "--json"])).unwrap();
    assert_eq!(verified["fingerprint"], fingerprint);
    let told = stdout(&["verify", text(dir.path()), "--fingerprint", &fingerprint.to_uppercase()]);
    assert!(told.contains("as published") && told.contains(fingerprint) && told.contains("values agree"), "{told}");
    stdout(&["probe", "--tables", text(dir.path()), "7/7/3e3/7/7/7/3E3/7/7 w"]);

    // The standard program `sha256sum` agrees.
    let run = |arguments: &[&str]| Command::new("sha256sum").args(arguments).current_dir(dir.path()).output();
    let Ok(checked) = run(&["--check", "--strict", "SHA256SUMS"]) else { return };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    assert_eq!(String::from_utf8_lossy(&checked.stdout).lines().count() + 1, files.len());
    assert!(String::from_utf8_lossy(&run(&["SHA256SUMS"]).unwrap().stdout).starts_with(fingerprint));
}

#[test]
fn the_same_tables_give_the_same_publication() {
    let dir = temporary();
    let (tables, out) = (dir.path().join("tables"), dir.path().join("published"));
    stdout(&["generate", "--pieces", "3", "--out", text(&tables), "--threads", "1"]);
    stdout(&["bundle", text(&tables), "--out", text(&out), "--threads", "1"]);
    assert!(files(&out) == published().1);
    // A publication can be published again.
    let again = dir.path().join("again");
    stdout(&["bundle", text(&out), "--out", text(&again)]);
    assert!(files(&again) == published().1);
}

#[test]
fn a_flipped_byte_is_named_in_every_file() {
    let dir = copy();
    let mut random = Pcg64::seed_from_u64(1);
    for (name, bytes) in &published().1 {
        let path = dir.path().join(name);
        for at in [0, bytes.len() / 2, bytes.len() - 1, random.next_u64() as usize % bytes.len()] {
            let mut other = bytes.clone();
            other[at] ^= 1 << (random.next_u64() % 8);
            fs::write(&path, other).unwrap();
            is_found(&dir, &[name]);
        }
        fs::write(&path, bytes).unwrap();
    }
    stdout(&["verify", text(dir.path()), "--sample", "0"]);
}

#[test]
fn missing_and_additional_files_are_named() {
    let dir = copy();
    for (name, bytes) in &published().1 {
        fs::remove_file(dir.path().join(name)).unwrap();
        is_found(&dir, &[name, "is missing"]);
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    fs::write(dir.path().join("EvE (1).dsq"), &published().1["EvE.dsq"]).unwrap();
    is_found(&dir, &["EvE (1).dsq is not part of the publication"]);
    fs::remove_file(dir.path().join("EvE (1).dsq")).unwrap();
    fs::remove_file(dir.path().join("EvE.dsq")).unwrap();
    fs::create_dir(dir.path().join("EvE.dsq")).unwrap();
    fs::remove_file(dir.path().join("EvR.dsq")).unwrap();
    let all =
        is_found(&dir, &["EvE.dsq is not a file", "EvR.dsq is missing", "2 faults", "copy the publication again"]);
    assert_eq!(all.lines().count(), 3, "{all}");
}

#[test]
fn files_of_another_version_are_named() {
    let other = temporary();
    stdout(&["generate", "--pieces", "3", "--out", text(other.path())]);
    stdout(&["repack", text(other.path())]);
    let rules = temporary();
    stdout(&["generate", "--pieces", "2", "--rules", "chinese", "--out", text(rules.path())]);
    let mut future = published().1["EvE.dsq"].clone();
    future[8] = 255;
    let read = |dir: &TempDir, name: &str| fs::read(dir.path().join(name)).unwrap();
    let dir = copy();
    for (name, bytes, what) in [
        ("ERvR.dsq", read(&other, "ERvR.dsq"), "is another version of the table"),
        ("EvE.dsq", read(&rules, "EvE.dsq"), "was made for the rules"),
        ("EvE.dsq", published().1["EvR.dsq"].clone(), "holds EvR instead of EvE"),
        ("EvE.dsq", future, "has format version 255"),
        ("EvE.dsq", b"<html>404</html>".to_vec(), "is not a table"),
        ("EvE.dsq", Vec::new(), "cut short"),
        ("manifest.json", read(&other, "manifest.json"), "is damaged or another version"),
    ] {
        fs::write(dir.path().join(name), bytes).unwrap();
        is_found(&dir, &[name, what]);
        fs::write(dir.path().join(name), &published().1[name]).unwrap();
    }
    // All files are from another publication: only the fingerprint distinguishes them.
    let out = other.path().join("published");
    stdout(&["bundle", text(other.path()), "--out", text(&out)]);
    stdout(&["verify", text(&out), "--sample", "0"]);
    let fingerprint = published().0["fingerprint"].as_str().unwrap();
    let arguments = ["verify", text(&out), "--sample", "0", "--fingerprint", fingerprint];
    fails(1, &arguments, &[fingerprint, "has the fingerprint"]);
    // Then its files are not read: the damaged one is not reported.
    fs::write(out.join("EvE.dsq"), b"damaged").unwrap();
    let output = dsq::dsq(&arguments);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("EvE.dsq"), "{output:?}");
}

/// Damaged lists cause an error, never a panic, and never access to a file outside the directory.
#[test]
fn damaged_lists_are_errors() {
    let dir = copy();
    let mut random = Pcg64::seed_from_u64(2);
    let mut pick = |n: usize| random.next_u64() as usize % n;
    for name in ["bundle.json", "SHA256SUMS"] {
        let whole = &published().1[name];
        for _ in 0..60 {
            let mut bytes = whole.clone();
            let (from, len) = (pick(bytes.len()), 1 + pick(40));
            let end = (from + len).min(bytes.len());
            match pick(3) {
                0 => drop(bytes.drain(from..end)),
                1 => bytes.splice(from..from, whole[from..end].to_vec()).for_each(drop),
                _ => bytes[from..end].fill(b"\"0{},/"[pick(6)]),
            }
            if bytes != *whole {
                fs::write(dir.path().join(name), &bytes).unwrap();
                is_found(&dir, &[name]);
            }
        }
        fs::write(dir.path().join(name), whole).unwrap();
    }
    let list = String::from_utf8(published().1["bundle.json"].clone()).unwrap();
    for path in ["../secret", "/etc/passwd", "a/b", "..", ".", ""] {
        fs::write(dir.path().join("bundle.json"), list.replace("\"EvE.dsq\"", &format!("{path:?}"))).unwrap();
        is_found(&dir, &[&format!("bundle.json is damaged: {path:?} is not the name of a file")]);
    }
    fs::write(dir.path().join("bundle.json"), list.replace("\"format\": 1", "\"format\": 2")).unwrap();
    is_found(&dir, &["bundle.json has format version 2"]);
}

#[test]
fn only_whole_tables_are_published() {
    let dir = temporary();
    let (tables, out) = (dir.path().join("tables"), dir.path().join("out"));
    let arguments = ["bundle", text(&tables), "--out", text(&out)];
    fails(2, &arguments, &["tables", "manifest.json"]);
    stdout(&["generate", "--pieces", "2", "--out", text(&tables)]);
    let table = tables.join("EvE.dsq");
    let whole = fs::read(&table).unwrap();
    let mut bytes = whole.clone();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&table, bytes).unwrap();
    fails(1, &arguments, &["EvE.dsq is damaged"]);
    fs::remove_file(&table).unwrap();
    fails(2, &arguments, &["has no table of EvE"]);
    fs::write(&table, whole).unwrap();
    stdout(&arguments);
    fails(2, &arguments, &["out is not empty"]);
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    fails(3, &["bundle", text(&tables), "--out", text(&file)], &["file"]);
    fails(2, &["verify", text(&tables), "--fingerprint", "00"], &["is no publication"]);
    // A run that generates more tables does not change the publication.
    let before = files(&out);
    stdout(&["repack", text(&tables)]);
    assert!(files(&out) == before);
    assert!(command(&["verify", text(&out)]).output().unwrap().status.success());
}

/// A run that cannot write a file removes what it has written, so that the same command can run again.
#[cfg(unix)]
#[test]
fn no_space_leaves_nothing() {
    let dir = temporary();
    let (tables, out) = (dir.path().join("tables"), dir.path().join("published"));
    stdout(&["generate", "--pieces", "2", "--out", text(&tables)]);
    let bundle = ["bundle", text(&tables), "--out", text(&out)];
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$@\"";
    let limited = Command::new("sh").args(["-c", script, "sh", env!("CARGO_BIN_EXE_dsq")]).args(bundle).output();
    let limited = limited.unwrap();
    assert_eq!(limited.status.code(), Some(3), "{}", String::from_utf8_lossy(&limited.stderr));
    assert!(files(&out).is_empty());
    stdout(&bundle);
}
