use crate::arguments::ThreadsArg;
use crate::failure::{Outcome, RESUME, resumable};
use crate::output::{print, print_json};
use crate::progress::{exit_on_interrupt, progress_bar};
use clap::Args;
use doushouqi::tablebase::{TableSet, repack};
use report::text::grouped;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Recompress endgame tables to smaller files, which is slow. Values and probes stay the same.
///
/// Each file is replaced when its successor is complete. After an interruption, run the same command again to resume.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq repack tables")]
pub struct Repack {
    /// A directory written by `dsq generate`.
    dir: PathBuf,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
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
        exit_on_interrupt(&bar, RESUME)?;
        let (before, after) = (AtomicU64::new(0), AtomicU64::new(0));
        let result = self.threads.run(|| {
            repack(&self.dir, &|old, new| {
                before.fetch_add(old, Ordering::Relaxed);
                after.fetch_add(new, Ordering::Relaxed);
                bar.inc(1);
            })
        })?;
        bar.finish_and_clear();
        result.map_err(resumable)?;
        let report = Report {
            bytes_before: before.into_inner(),
            bytes: after.into_inner(),
            seconds: start.elapsed().as_secs_f64(),
        };
        if self.json {
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
