//! Jobs on the real Snakemake with its executor for one machine: what it makes is what `dsq generate` makes, byte for byte.
//! Skipped where there is no Snakemake, unless DSQ_REQUIRE_SNAKEMAKE is set.

mod dsq;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs Snakemake in a directory with a plan; `None` where there is none.
fn snakemake(dir: &Path, plan: &[&str]) -> Option<Output> {
    if Command::new("snakemake").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        let required = std::env::var_os("DSQ_REQUIRE_SNAKEMAKE").is_some();
        assert!(!required, "DSQ_REQUIRE_SNAKEMAKE is set, and there is no snakemake in PATH");
        println!("skipped: there is no snakemake in PATH (Debian: snakemake; pip install snakemake)");
        return None;
    }
    for (engine, file) in [("json", "plan.jsonl"), ("snakemake", "Snakefile")] {
        let program = env!("CARGO_BIN_EXE_dsq");
        let arguments = ["cluster", "plan", "--rate", "100000", "--for", engine, "--program", program];
        fs::write(dir.join(file), dsq::stdout(&[&arguments[..], plan].concat())).unwrap();
    }
    // Its notes of what it has seen go into a directory that is the test's own.
    let run = Command::new("snakemake")
        .args(["--cores", "2", "--nocolor"])
        .current_dir(dir)
        .env("XDG_CACHE_HOME", dir.join("cache"))
        .output();
    Some(run.unwrap())
}

fn check(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The files of a directory of tables, by name.
fn tables(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let kept = files.filter(|path| path.extension().is_some_and(|e| e == "dsq" || e == "json"));
    kept.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

#[test]
fn snakemake_solves_what_generate_does() {
    let dir = tempfile::tempdir().unwrap();
    // A directory that a shell would take apart.
    let plan = ["--pieces", "3", "--tables", "my tables"];
    let Some(output) = snakemake(dir.path(), &plan) else { return };
    check(&output);
    let one = dir.path().join("one");
    dsq::stdout(&["generate", "--pieces", "3", "--out", one.to_str().unwrap()]);
    let many = dir.path().join("my tables");
    assert!(tables(&one) == tables(&many), "the bytes differ");

    // A class that is gone is made again, and with it nothing but what depends on it.
    fs::remove_file(many.join("EvLP.dsq")).unwrap();
    fs::remove_file(many.join("manifest.json")).unwrap();
    check(&snakemake(dir.path(), &plan).unwrap());
    assert!(tables(&one) == tables(&many), "the bytes differ after a repair");
}

#[test]
fn snakemake_counts_the_last_level() {
    let dir = tempfile::tempdir().unwrap();
    let Some(output) = snakemake(dir.path(), &["--pieces", "3", "--tables", "tables", "--stats-only"]) else { return };
    check(&output);
    let one = dir.path().join("one");
    dsq::stdout(&["generate", "--pieces", "3", "--out", one.to_str().unwrap(), "--stats-only"]);
    let stats = |dir: &Path| dsq::stdout(&["stats", dir.to_str().unwrap(), "--by", "material"]);
    assert_eq!(stats(&one), stats(&dir.path().join("tables")));
}
