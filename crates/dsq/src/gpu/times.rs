//! Where the time of solving on a GPU goes.

use super::failure;
use crate::backend::{Backend, DeviceArg};
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json};
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{Gpu, Options, Solver, WorkTime};
use serde::Serialize;
use std::time::Instant;

#[derive(Serialize)]
struct Line {
    name: &'static str,
    depth: u16,
    #[serde(flatten)]
    time: WorkTime,
}

/// Solves all levels of up to `pieces` pieces on a GPU, and prints the times of the last level.
pub fn times(rules: &RuleOptions, pieces: usize, device: &DeviceArg, json: bool) -> Outcome {
    let gpu = super::open(Backend::Gpu, device, Gpu::open, Gpu::adapter)?;
    let gpu = gpu.ok_or_else(|| Failure::Environment("there is no GPU".to_owned()))?;
    let adapter = gpu.adapter().label();
    let times = gpu.measure().map_err(failure)?;
    let mut solver = Solver::new(rules, pieces, Options::default()).on(Box::new(gpu));
    for level in 2..pieces {
        solver.solve_level(level, true, &|_, _| {})?;
    }
    times.take();
    let start = Instant::now();
    solver.solve_level(pieces, false, &|_, _| {})?;
    let seconds = start.elapsed().as_secs_f64();
    let lines = times.take().into_iter().map(|(name, depth, time)| Line { name, depth, time });
    if json {
        return lines.into_iter().try_for_each(|line| print_json(&line));
    }
    print(format_args!(
        "{adapter}, {pieces} pieces, {seconds:.3} s\n{:16}{:>6}{:>8}{:>11}",
        "", "depth", "times", "seconds"
    ))?;
    for Line { name, depth, time } in lines {
        print(format_args!("{name:16}{depth:>6}{:>8}{:>11.6}", time.times, time.seconds))?;
    }
    Ok(())
}
