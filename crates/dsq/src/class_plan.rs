//! The expected time and memory of solving classes on the CPU.

use clap::Args;
use cli::arguments::{ThreadsArg, positive};
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json};
use cluster::{PlannedClass, Rate};
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{ClassId, Classes, Material, Options, Solver};
use report::text::grouped;

/// The constant seconds of a job, for starting, reading and writing.
const JOB_SECONDS: f64 = 0.3;

/// Rows that a core solves per second, for rough estimates.
pub const TYPICAL_RATE: f64 = 60_000.0;

#[derive(Args)]
pub struct RateArg {
    /// Rows of 4096 cells that a core solves per second, for predicted times; measured in a few seconds if not given.
    #[arg(long, value_name = "ROWS", value_parser = positive)]
    rate: Option<f64>,
}

impl RateArg {
    /// The given rate, or the measured rate of this machine.
    pub fn get(&self, rules: &RuleOptions) -> Result<Rate, Failure> {
        let rows_per_second = match self.rate {
            Some(rate) => rate,
            None => measure(rules)?,
        };
        Ok(Rate { rows_per_second, job_seconds: JOB_SECONDS })
    }
}

/// Measures the rows of a class of four pieces that one core of this machine solves per second.
fn measure(rules: &RuleOptions) -> Result<f64, Failure> {
    ThreadsArg::of(1).run(|| {
        let mut solver = Solver::new(rules, 4, Options::default());
        for pieces in 2..=3 {
            solver.solve_level(pieces, true, &|_, _| ())?;
        }
        let ids: Vec<_> = solver.classes().level(4).map(|(id, _)| id).step_by(9).collect();
        let rows: usize = ids.iter().map(|&id| solver.classes().get(id).index().rows).sum();
        let start = std::time::Instant::now();
        solver.solve_some(&ids, false, &|_, _| ())?;
        Ok(rows as f64 / start.elapsed().as_secs_f64())
    })?
}

/// The class of a material and all classes that its captures lead to, or all classes, fewest pieces first.
pub fn planned(classes: &Classes, material: Option<Material>) -> Result<Vec<ClassId>, Failure> {
    let Some(material) = material else { return Ok(classes.iter().map(|(id, _)| id).collect()) };
    match classes.member(material) {
        Some(member) => Ok(classes.needed_for(member.class).concat()),
        None => Err(Failure::Input(format!("{material} has more than {} pieces", classes.pieces()))),
    }
}

/// Prints the plan of each of these classes as a job within `limit_gib` GiB. Classes with `values` keep their values;
/// the other classes keep only their counts.
pub fn print_plan(
    classes: &Classes,
    ids: impl IntoIterator<Item = (ClassId, bool)>,
    rate: &RateArg,
    limit_gib: Option<u64>,
    json: bool,
) -> Outcome {
    let rate = rate.get(classes.options())?;
    let (mut seconds, mut positions, mut count, mut most) = (0.0, 0, 0, 0);
    if !json {
        print(format_args!(
            "{:>9} {:>18} {:>12} {:>12} {:>14} {:>12}",
            "", "positions", "rows", "MiB", "MiB, spilled", "core-seconds"
        ))?;
    }
    let mib = |bytes: u64| grouped(bytes.div_ceil(1 << 20));
    for (id, values) in ids {
        let class = PlannedClass::new(classes, id, values, rate, limit_gib);
        seconds += class.seconds;
        positions += class.positions;
        count += 1;
        most = most.max(class.spilled_bytes);
        if json {
            print_json(&class)?;
            continue;
        }
        print(format_args!(
            "{:>9} {:>18} {:>12} {:>12} {:>14} {:>12.2}",
            class.class.to_string(),
            grouped(class.positions),
            grouped(class.rows),
            mib(class.bytes),
            mib(class.spilled_bytes),
            class.seconds
        ))?;
    }
    if json {
        return Ok(());
    }
    print(format_args!(
        "{count} classes, {} positions, {seconds:.1} core-seconds; spilled, the largest takes {} MiB",
        grouped(positions),
        mib(most)
    ))
}
