use super::backend::BackendArg;
use super::reproduce::{cannot, commit, write_file};
use super::{Failure, Outcome, ThreadsArg, charts, grouped, print, print_json};
use clap::Args;
use doushouqi::benchmark::{self, Endgames, Machine, Report};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Measure this machine: perft, solving, probing and searching.
///
/// Takes about half a minute on two cores, `--quick` a few seconds. Nothing else should run. Tables are made in the
/// temporary directory of the system and removed.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq benchmark\n  dsq benchmark --quick --json\n  dsq benchmark --write results\n  \
                        dsq benchmark --report results     measure nothing: tables and plots of what lies there"
)]
pub struct Benchmark {
    /// Smaller sizes: less exact, done in a few seconds.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    backend: BackendArg,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Write benchmark-DATE-PROCESSOR-INSTRUCTIONS.json into this folder.
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Measure nothing: write figures.md and plots from the results in this folder.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["quick", "backend", "threads", "json", "write"])]
    report: Option<PathBuf>,
}

/// What `--json` prints and `--write` writes.
#[derive(Serialize, Deserialize)]
pub struct Record {
    pub date: String,
    pub version: String,
    pub commit: String,
    #[serde(flatten)]
    pub report: Report,
}

/// A directory that goes when it is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Result<Temporary, Failure> {
        let dir = std::env::temp_dir().join(format!("dsq-benchmark-{}", std::process::id()));
        fs::create_dir(&dir).map_err(|e| cannot("make", &dir, &e))?;
        Ok(Temporary(dir))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Benchmark {
    pub fn run(self) -> Outcome {
        if let Some(dir) = &self.report {
            return charts::write(dir);
        }
        if let Some(dir) = &self.write {
            fs::create_dir_all(dir).map_err(|e| cannot("make", dir, &e))?;
        }
        let record = Record {
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: commit(),
            report: self.measure()?,
        };
        if let Some(dir) = &self.write {
            let json = serde_json::to_string_pretty(&record).expect("what we write is JSON") + "\n";
            write_file(&dir.join(file_name(&record)), &json)?;
        }
        if self.json { print_json(&record) } else { print(text(&record).trim_end()) }
    }

    fn measure(&self) -> Result<Report, Failure> {
        let most = self.threads.run(rayon::current_num_threads)?;
        let mut perft = Vec::new();
        for threads in benchmark::thread_counts(most) {
            perft.push(ThreadsArg::of(threads).run(|| benchmark::perft(self.quick))?);
        }
        let mut retrograde = Vec::new();
        for what in Endgames::all(self.quick) {
            let solver = || Ok::<_, Failure>(BackendArg::cpu_solver(what.pieces()));
            retrograde.push(self.threads.run(|| benchmark::retrograde(what, "cpu", solver))??);
        }
        let gpu = self.backend.card_name()?;
        if gpu.is_some() {
            for what in Endgames::all(self.quick) {
                let solver = || self.backend.solver(&doushouqi::board::RuleOptions::PAPER, what.pieces());
                retrograde.push(self.threads.run(|| benchmark::retrograde(what, "gpu", solver))??);
            }
        }
        let dir = Temporary::new()?;
        let probe = self.threads.run(|| benchmark::probe(self.quick, &dir.0))??;
        let search = benchmark::thread_counts(most).into_iter().map(|n| benchmark::search(self.quick, n)).collect();
        Ok(Report { machine: Machine::this(gpu), quick: self.quick, perft, retrograde, probe, search })
    }
}

/// `benchmark-2026-11-21-amd-epyc-family-26-model-2-avx512.json`.
fn file_name(record: &Record) -> String {
    let machine = &record.report.machine;
    let lower = format!("{} {}", machine.processor, machine.instructions).to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    format!("benchmark-{}-{}.json", &record.date[..10], words.join("-"))
}

/// Names what a number of a second is in, at three digits: 3.41 G.
pub fn short(number: f64) -> String {
    let (size, unit) =
        [(1e9, " G"), (1e6, " M"), (1e3, " k")].into_iter().find(|&(n, _)| number >= n).unwrap_or((1.0, ""));
    let value = number / size;
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}{unit}")
}

/// The report as a person reads it.
pub fn text(record: &Record) -> String {
    let Report { machine: m, quick, perft, retrograde, probe, search } = &record.report;
    let mut text = format!(
        "{}, {} cores, {}; {}; {}\nversion {}, commit {}, {}{}\n\n",
        m.processor,
        m.cores,
        m.instructions,
        m.gpu.as_deref().unwrap_or("no graphics card"),
        m.system,
        record.version,
        record.commit,
        m.compiler,
        if *quick { "; quick" } else { "" }
    );
    let mut line = |what: String, speed: String, seconds: f64| {
        text += &format!("{what:52} {speed:>22} {seconds:>9.3} s\n");
    };
    for p in perft {
        line(
            format!("perft {}, {} nodes, {}", p.depth, grouped(p.nodes), threads(p.threads)),
            format!("{} nodes/s", short(p.nodes_per_second)),
            p.seconds,
        );
    }
    for r in retrograde {
        let by = if r.backend == "cpu" { threads(r.threads) } else { r.backend.clone() };
        line(
            format!("solving {}, {} positions, {by}", r.what, grouped(r.positions)),
            format!("{} positions/s", short(r.positions_per_second)),
            r.seconds,
        );
    }
    for s in search {
        line(
            format!("search, {} nodes, {}", grouped(s.nodes), threads(s.threads)),
            format!("{} nodes/s", short(s.nodes_per_second)),
            s.seconds,
        );
    }
    for p in probe {
        let seconds = p.nanoseconds * p.probes as f64 / 1e9;
        line(format!("probe of {} pieces: {}", p.pieces, p.what), format!("{:.0} ns", p.nanoseconds), seconds);
    }
    text
}

fn threads(n: usize) -> String {
    if n == 1 { "1 thread".to_owned() } else { format!("{n} threads") }
}

/// The records in a folder, the oldest first.
pub fn records(dir: &Path) -> Result<Vec<Record>, Failure> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(|e| cannot("read", dir, &e))? {
        let path = entry.map_err(|e| cannot("read", dir, &e))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if name.starts_with("benchmark-") && name.ends_with(".json") {
            paths.push(path);
        }
    }
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).map_err(|e| cannot("read", path, &e))?;
            serde_json::from_str(&text).map_err(|e| Failure::Input(format!("{}: {e}", path.display())))
        })
        .collect()
}
