//! Generating tables with a bar.

use crate::failure::{RESUME, resumable};
use cli::arguments::ThreadsArg;
use cli::failure::Failure;
use cli::progress::{exit_on_interrupt, progress_bar};
use doushouqi::tablebase::{Generate, Progress, SetError, Solver, TableError};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Generates the tables of a job. The bar names the class that was begun last. Returns the number of classes that the directory
/// already contained.
pub fn generate(job: &Generate<'_>, solver: &mut Solver, threads: &ThreadsArg) -> Result<u64, Failure> {
    let (classes, positions) = job.size();
    let bar = progress_bar(positions, "positions").with_message("generating");
    exit_on_interrupt(&bar, RESUME);
    let (done, found) = (AtomicU64::new(0), AtomicU64::new(0));
    let result = threads.run(|| {
        job.run(solver, &|progress| match progress {
            Progress::Begun(class) => bar.set_message(format!("{} of {classes} classes, {class}", done.load(Relaxed))),
            Progress::Done { positions, reused } => {
                done.fetch_add(1, Relaxed);
                // Classes that are there do not count for the rate.
                if reused {
                    found.fetch_add(1, Relaxed);
                    bar.dec_length(positions);
                } else {
                    bar.inc(positions);
                }
            }
        })
    })?;
    bar.finish_and_clear();
    result.map_err(|error| failure(job.dir, error))?;
    Ok(found.into_inner())
}

/// The failure of generating tables in a directory, which may be impossible to make.
fn failure(dir: &Path, error: SetError) -> Failure {
    match error {
        SetError::Table(TableError::Io { source, .. }) if !dir.is_dir() => Failure::cannot("make", dir, &source),
        error => resumable(error),
    }
}
