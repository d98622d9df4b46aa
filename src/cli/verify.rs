use super::{Failure, Outcome, ThreadsArg, grouped, print, print_json, progress_bar};
use clap::Args;
use doushouqi::tablebase::{Scope, TableSet, verify};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// Check endgame tables: their checksums, then values against the values one move on.
///
/// The values are recomputed with the move generator that plays games, which shares nothing with the solver's planes.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq verify tables\n  dsq verify tables --sample 1000000\n  dsq verify tables --full"
)]
pub struct Verify {
    /// The directory that `dsq generate` made.
    dir: PathBuf,
    /// Check every value.
    #[arg(long, conflicts_with = "sample")]
    full: bool,
    /// Check this many cells of each class, both sides to move; 0 checks checksums only.
    #[arg(long, value_name = "N", default_value = "10000")]
    sample: u64,
    /// Seed of the sample.
    #[arg(long, value_name = "SEED", default_value = "1")]
    seed: u64,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    classes: u64,
    values: u64,
    seed: Option<u64>,
    seconds: f64,
}

impl Verify {
    pub fn run(self) -> Outcome {
        let start = Instant::now();
        let set = TableSet::open(&self.dir)?;
        set.check_complete()?;
        let scope = match (self.full, self.sample) {
            (true, _) => Scope::Full,
            (false, 0) => Scope::Checksums,
            (false, cells) => Scope::Sample { cells, seed: self.seed },
        };
        let ids: Vec<_> = set.ids().collect();
        let bar = progress_bar(ids.len() as u64, "classes").with_message("verifying");
        let mut values = 0;
        for &id in &ids {
            let verified = self.threads.run(|| verify(&set, id, scope))?;
            bar.inc(1);
            values += verified?.map_err(|wrong| Failure::Mismatch(wrong.to_string()))?;
        }
        bar.finish_and_clear();
        let seed = (!self.full && self.sample > 0).then_some(self.seed);
        let report = Report { classes: ids.len() as u64, values, seed, seconds: start.elapsed().as_secs_f64() };
        if self.json {
            return print_json(&report);
        }
        print(format_args!(
            "{} classes are whole; {} values agree with those one move on{}; {:.1} s",
            report.classes,
            grouped(report.values),
            seed.map_or(String::new(), |seed| format!(" (sample, seed {seed})")),
            report.seconds
        ))
    }
}
