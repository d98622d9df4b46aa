//! The expected time and memory for solving on a GPU.

use super::open;
use crate::backend::DryRun;
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json};
use doushouqi::tablebase::{BatchNeeds, ClassId, Classes, Gpu};
use report::text::grouped;
use serde::Serialize;

#[derive(Serialize)]
struct Line<'a> {
    pieces: usize,
    #[serde(flatten)]
    needs: &'a BatchNeeds,
    predicted_seconds: f64,
}

/// Prints the expected cost of solving on a GPU, batch by batch.
pub fn plan(job: &DryRun<'_>) -> Outcome {
    let Some(gpu) = open(job.backend, job.device, Gpu::open, Gpu::adapter)? else {
        return Err(Failure::Input("--dry-run plans for a GPU: add --backend gpu".to_owned()));
    };
    let classes = Classes::new(job.rules, job.pieces);
    let mut total = 0.0;
    if !job.json {
        print(format_args!("adapter: {}", gpu.adapter().label()))?;
    }
    for pieces in 2..=job.pieces {
        let ids = ids(job, &classes, pieces);
        for needs in gpu.plan(&ids, &classes, job.material.is_some() || pieces < job.pieces) {
            let predicted_seconds = needs.seconds(job.bandwidth);
            total += predicted_seconds;
            if job.json {
                print_json(&Line { pieces, needs: &needs, predicted_seconds })?;
            } else {
                print(format_args!("{}", text(pieces, &needs, predicted_seconds)))?;
            }
        }
    }
    if job.json { Ok(()) } else { print(format_args!("in all: {total:.3} s at least")) }
}

fn ids(job: &DryRun<'_>, classes: &Classes, pieces: usize) -> Vec<ClassId> {
    match job.material.and_then(|material| classes.member(material)) {
        Some(member) => classes
            .needed_for(member.class)
            .into_iter()
            .flatten()
            .filter(|&id| classes.get(id).representative.len() == pieces)
            .collect(),
        None => classes.level(pieces).map(|(id, _)| id).collect(),
    }
}

fn text(pieces: usize, needs: &BatchNeeds, seconds: f64) -> String {
    let mib = |bytes: u64| grouped(bytes.div_ceil(1 << 20));
    format!(
        "{pieces} pieces, {} classes from {}: {} rows in {} pages; {} MiB: planes {}, codes {}, conversions {} (expected), \
         smaller classes {}, lists {}; {seconds:.3} s at least",
        needs.classes,
        needs.material,
        grouped(needs.rows),
        needs.pages,
        mib(needs.bytes),
        mib(needs.planes),
        mib(needs.codes),
        mib(needs.conversions),
        mib(needs.tables),
        mib(needs.lists),
    )
}
