//! The files on disk after `generate` and `repack` are killed or the disk fails. The same command, run again, always
//! produces the same bytes.

use crate::dsq;
use crate::skip::skip;

use doushouqi::board::{Position, RuleOptions};
use doushouqi::tablebase::{TableFile, TableSet};
use dsq::{command, stdout};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time between two files of a run, which only guards against hanging.
const PATIENCE: Duration = Duration::from_secs(600);

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = fs::read_dir(dir) else { return BTreeMap::new() };
    entries
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())
        })
        .collect()
}

/// Checks that every table in the directory is complete.
fn tables_are_whole(dir: &Path, whole: &BTreeMap<String, Vec<u8>>, what: &str) {
    for (name, bytes) in files(dir).iter().filter(|(name, _)| name.ends_with(".dsq")) {
        assert!(*bytes == whole[name], "{what}: {name} is not whole");
    }
}

/// The number of files in a directory, half-written ones too.
fn written(dir: &Path) -> usize {
    fs::read_dir(dir).map_or(0, Iterator::count)
}

/// Waits until a run has written so many files, or has ended.
fn wait_for_files(run: &mut Child, dir: &Path, wanted: usize) {
    let mut last = (0, Instant::now());
    while written(dir) < wanted && run.try_wait().unwrap().is_none() {
        if written(dir) != last.0 {
            last = (written(dir), Instant::now());
        }
        assert!(last.1.elapsed() < PATIENCE, "no file after {} of {wanted}", last.0);
        sleep(Duration::from_micros(100));
    }
}

/// Kills `generate` `rounds` times, each time after another number of files, on the files of the run before; starts again
/// when a run ends.
fn killed_so_often(rounds: usize, seed: u64) {
    let whole = tempfile::tempdir().unwrap();
    let start = Instant::now();
    stdout(&["generate", "--pieces", "3", "--out", text(whole.path())]);
    let whole = files(whole.path());
    let each = start.elapsed() / whole.len() as u32;
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("tables");
    let arguments = ["generate", "--pieces", "3", "--out", text(&out)];
    let mut random = Pcg64::seed_from_u64(seed);
    let mut below = |most: usize| random.next_u64() as usize % most;
    let (mut killed, mut in_the_middle) = (0, 0);
    while killed < rounds {
        let mut child = command(&arguments).stdout(Stdio::null()).spawn().unwrap();
        let missing = whole.len().saturating_sub(written(&out));
        wait_for_files(&mut child, &out, written(&out) + below(missing + 1));
        // Somewhere in the work on the next file.
        sleep(each / 100 * below(200) as u32);
        child.kill().unwrap();
        let ended = child.wait().unwrap().code().is_some();
        tables_are_whole(&out, &whole, &format!("after {killed} kills"));
        if ended {
            assert!(files(&out) == whole);
            fs::remove_dir_all(&out).unwrap();
            continue;
        }
        killed += 1;
        in_the_middle += usize::from((1..whole.len()).contains(&files(&out).len()));
        // Every third time a run completes, so that runs complete after few kills and after many.
        if below(3) == 0 {
            stdout(&arguments);
            assert!(files(&out) == whole, "after {killed} kills");
            fs::remove_dir_all(&out).unwrap();
        }
    }
    assert!(in_the_middle > 0, "no kill came in the middle");
    stdout(&arguments);
    assert!(files(&out) == whole);
}

#[test]
fn kills_at_seeded_moments_change_no_byte() {
    killed_so_often(5, 21);
}

#[test]
#[ignore = "a hundred kills: a minute. ./test crash:: -- --ignored"]
fn a_hundred_kills_change_no_byte() {
    killed_so_often(100, 22);
}

/// A table that is cut short while it is in use causes a clear error, and the process survives.
#[test]
fn a_table_cut_short_while_it_is_read_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    stdout(&["generate", "--pieces", "2", "--out", text(dir.path())]);
    let tables = TableSet::open(dir.path()).unwrap().prober(&RuleOptions::PAPER).unwrap();
    let position = Position::from_fen("7/7/3e3/7/7/7/3E3/7/7 w").unwrap();
    let path = dir.path().join("EvE.dsq");
    let open = TableFile::open(&path, &RuleOptions::PAPER, "EvE".parse().unwrap()).unwrap();
    // Opens the file without reading a block.
    tables.set().file(tables.set().classes().member("EvE".parse().unwrap()).unwrap().class).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(8).unwrap();
    for error in [tables.cell_value(&position).unwrap_err().to_string(), open.check().unwrap_err().to_string()] {
        assert!(error.contains("EvE.dsq") && error.contains("cut short"), "{error}");
    }
}

#[cfg(target_os = "linux")]
mod faults {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::PathBuf;
    use std::process::{Command, Output};
    use tempfile::TempDir;

    /// The library that lets calls fail; `None` without a C compiler.
    fn library(dir: &Path) -> Option<PathBuf> {
        let library = dir.join("fault.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fault/fault.c");
        let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o", text(&library), source, "-ldl"]).status();
        match built {
            Ok(status) if status.success() => Some(library),
            Ok(status) => panic!("cc: {status}"),
            Err(error) => {
                skip(&format!("there is no C compiler ({error})"));
                None
            }
        }
    }

    struct Faults {
        library: PathBuf,
        dir: TempDir,
    }

    impl Faults {
        fn new() -> Option<Faults> {
            let dir = tempfile::tempdir().unwrap();
            Some(Faults { library: library(dir.path())?, dir })
        }

        fn out(&self) -> PathBuf {
            self.dir.path().join("tables")
        }

        /// Runs a command on the directory; call number `at` fails. Returns the output, and the changes on disk in
        /// order.
        fn run(&self, arguments: &[&str], at: Option<usize>) -> (Output, Vec<String>) {
            let log = self.dir.path().join("log");
            let _ = fs::remove_file(&log);
            let mut command = command(arguments);
            command.env("LD_PRELOAD", &self.library).env("DSQ_FAULT_DIR", self.out()).env("DSQ_FAULT_LOG", &log);
            if let Some(at) = at {
                command.env("DSQ_FAULT_AT", at.to_string());
            }
            let output = command.output().unwrap();
            let log = fs::read_to_string(&log).unwrap_or_default();
            (output, log.lines().map(without_writer).collect())
        }
    }

    /// A call without the process's name, which is part of the names of half-written files.
    fn without_writer(call: &str) -> String {
        let file = [".dsq.", ".json."].into_iter().find_map(|end| Some((call.split_once(end)?.0, end)));
        file.map_or_else(|| call.to_owned(), |(file, end)| format!("{file}{end}partial"))
    }

    #[test]
    fn a_disk_that_fails_at_any_write_loses_nothing() {
        let Some(faults) = Faults::new() else { return };
        let out = faults.out();
        let generate = ["generate", "--pieces", "2", "--threads", "1", "--out", text(&out)];
        let repack = ["repack", "--threads", "1", text(&out)];
        let (output, calls) = faults.run(&generate, None);
        assert!(output.status.success() && calls.len() > 40, "{calls:?}");
        let whole = files(&out);
        let (output, packing) = faults.run(&repack, None);
        assert!(output.status.success() && packing.len() > 40, "{packing:?}");
        let packed = files(&out);
        assert!(packed != whole);
        let (mut failures, mut failed) = (0, 0);
        for (arguments, calls, wanted) in [(&generate[..], &calls, &whole), (&repack[..], &packing, &packed)] {
            for number in chosen(calls) {
                let call = &calls[number - 1];
                failed += 1;
                let _ = fs::remove_dir_all(&out);
                if arguments[0] == "repack" {
                    fs::create_dir(&out).unwrap();
                    whole.iter().for_each(|(name, bytes)| fs::write(out.join(name), bytes).unwrap());
                }
                let (output, seen) = faults.run(arguments, Some(number));
                assert_eq!(seen.get(number - 1), Some(call));
                let stderr = String::from_utf8_lossy(&output.stderr);
                if !output.status.success() {
                    failures += 1;
                    assert_eq!(output.status.code(), Some(3), "{call}: {stderr}");
                    assert!(stderr.contains(text(faults.dir.path())), "{call}: {stderr}");
                }
                for (name, bytes) in files(&out).iter().filter(|(name, _)| name.ends_with(".dsq")) {
                    assert!(*bytes == whole[name] || *bytes == packed[name], "{call}: {name} is not whole");
                }
                stdout(arguments);
                assert!(files(&out) == *wanted, "after {call} failed");
            }
        }
        // All calls except the few whose failure does no harm.
        assert!(failures * 4 > failed * 3, "{failures} of {failed}");
    }

    /// The numbers, from 1, of the first two and the last call of each kind: calls on other tables do the same.
    fn chosen(calls: &[String]) -> Vec<usize> {
        let kind = |call: &String| {
            let (verb, path) = call.split_once(' ').unwrap_or((call.as_str(), ""));
            let name = path.rsplit('/').next().unwrap_or(path);
            format!("{verb} {}", name.split_once('.').map_or("", |(_, ending)| ending))
        };
        let mut kinds: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, call) in (1..).zip(calls) {
            kinds.entry(kind(call)).or_default().push(number);
        }
        let ends = kinds.values().flat_map(|all| [all[0], all[1.min(all.len() - 1)], all[all.len() - 1]]);
        ends.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// After a power failure a file is complete or absent: its bytes are on the disk before it gets its name, and its
    /// name before the next file begins.
    #[test]
    fn files_reach_the_disk_before_their_names_do() {
        let Some(faults) = Faults::new() else { return };
        let out = faults.out();
        let (output, calls) = faults.run(&["generate", "--pieces", "2", "--threads", "1", "--out", text(&out)], None);
        assert!(output.status.success());
        let mut renames = 0;
        for (i, call) in calls.iter().enumerate() {
            let Some(name) = call.strip_prefix("rename ") else { continue };
            renames += 1;
            let partial = format!("{name}.partial");
            assert_eq!(calls[i - 1], format!("fsync {partial}"), "{call}");
            assert!(calls[i - 2] == format!("write {partial}"), "{call}");
            assert_eq!(calls.get(i + 1), Some(&format!("fsync {}", text(&out))), "{call}");
        }
        assert!(renames > 10, "{calls:?}");
    }
}
