use crate::failure::{RESUME, resumable};
use clap::Args;
use cli::arguments::{JsonArg, MemoryArg, ThreadsArg};
use cli::failure::Outcome;
use cli::output::{print, print_json};
use cli::progress::{exit_on_interrupt, progress_bar};
use doushouqi::tablebase::{TableSet, repack, write_wdl};
use report::text::grouped;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Recompress endgame tables to smaller files, which is slow. Values and probes stay the same.
///
/// Repacked tables are for probing and publishing: they leave out one side to move and each value that follows from a
/// capture or den entry. `dsq cluster solve` and counts on demand restore what they need of them. Each file is replaced when
/// its successor is complete. After an interruption, run the same command again to resume.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq repack tables\n  \
                        dsq repack tables --wdl --out results    win, draw or loss only, a third of the size")]
pub struct Repack {
    /// A directory written by `dsq generate`.
    dir: PathBuf,
    /// Write results (win, draw or loss) without distances, to the directory of --out.
    #[arg(long, requires = "out")]
    wdl: bool,
    /// The directory for tables of results.
    #[arg(long, value_name = "DIR", requires = "wdl")]
    out: Option<PathBuf>,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    memory: MemoryArg,
    #[command(flatten)]
    json: JsonArg,
}

#[derive(Serialize)]
struct Report {
    bytes_before: u64,
    bytes: u64,
    seconds: f64,
}

impl Repack {
    pub fn run(self) -> Outcome {
        let start = Instant::now();
        let classes = TableSet::open(&self.dir)?.manifest().classes.len() as u64;
        let bar = progress_bar(classes, "classes").with_message("repacking");
        exit_on_interrupt(&bar, RESUME);
        let (before, after) = (AtomicU64::new(0), AtomicU64::new(0));
        let done = |old, new| {
            before.fetch_add(old, Ordering::Relaxed);
            after.fetch_add(new, Ordering::Relaxed);
            bar.inc(1);
        };
        let result = self.threads.run(|| match &self.out {
            Some(out) => write_wdl(&self.dir, out, self.memory.get().bytes(), &done),
            None => repack(&self.dir, self.memory.get().bytes(), &done),
        })?;
        bar.finish_and_clear();
        result.map_err(resumable)?;
        let report = Report {
            bytes_before: before.into_inner(),
            bytes: after.into_inner(),
            seconds: start.elapsed().as_secs_f64(),
        };
        if self.json.on {
            return print_json(&report);
        }
        print(format_args!(
            "{} bytes became {} in {:.1} s",
            grouped(report.bytes_before),
            grouped(report.bytes),
            report.seconds
        ))
    }
}
