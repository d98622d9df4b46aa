use super::backend::BackendArg;
use super::record::{Record, file_name, text};
use super::reproduce::{cannot, write_file};
use super::{Failure, Outcome, ThreadsArg, charts, print, print_json};
use crate::COMMIT;
use crate::benchmark::{self, Endgames, Machine, Report};
use clap::Args;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

/// Measure this machine: perft, solving, probing and searching.
///
/// Takes about half a minute on two cores, `--quick` a few seconds. Nothing else should run. Tables are made in the
/// temporary directory of the system and removed.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq bench machine\n  dsq bench machine --quick --json\n  dsq bench machine --write results\n  \
                        dsq bench machine --report results     measure nothing: tables and plots of what lies there"
)]
pub struct MachineCommand {
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

impl MachineCommand {
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
            commit: COMMIT.to_owned(),
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
