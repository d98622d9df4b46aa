//! Checks the counts of a class against a forward search from random positions.

use clap::Args;
use cli::arguments::{JsonArg, SeedArg, ThreadsArg, open_tables};
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json};
use cluster::{Comparison, Sample, check_counts};
use doushouqi::board::{Color, RuleOptions};
use doushouqi::tablebase::{ClassCounts, Classes, Material, Probe};
use serde::Serialize;
use std::path::PathBuf;

/// Check the counts of a class independently: search random positions forward, and look up captures in tables.
///
/// The numbers of positions that end in 1, 2, 3 ... plies must agree with the counts. A difference of more than five
/// standard deviations is an error.
#[derive(Args)]
pub struct CheckCommand {
    /// The class, named by any of its materials.
    #[arg(value_name = "CLASS")]
    class: Material,
    /// The directory of the tables that the captures lead to, with their manifest.
    #[arg(long, value_name = "DIR")]
    tables: PathBuf,
    /// The directory of the counts; by default the directory of the tables.
    #[arg(long, value_name = "DIR")]
    counts: Option<PathBuf>,
    /// Number of random positions for each side to move.
    #[arg(long, default_value_t = 20_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    positions: u32,
    /// Depth of the search in plies. Each ply takes about ten times as long as the previous one.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=12))]
    depth: u16,
    #[command(flatten)]
    seed: SeedArg,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    json: JsonArg,
}

#[derive(Serialize)]
struct Line {
    turn: &'static str,
    #[serde(flatten)]
    comparison: Comparison,
}

/// The greatest accepted difference in standard deviations. A correct count almost never exceeds it by chance.
const MOST_SIGMAS: f64 = 5.0;

impl CheckCommand {
    pub fn run(self) -> Outcome {
        let tables = open_tables(&self.tables, None)?;
        let dir = self.counts.as_ref().unwrap_or(&self.tables);
        let class = representative(tables.rules().options(), self.class)?;
        let counts = ClassCounts::read(dir, tables.rules().options(), class)?
            .ok_or_else(|| Failure::Input(format!("{}: no counts of {class}", dir.display())))?;
        let sample = Sample { positions: self.positions, plies: self.depth, seed: self.seed.seed };
        let sides = self.threads.run(|| check_counts(&tables, &counts, sample))??;
        let mut worst: f64 = 0.0;
        for (turn, comparisons) in Color::ALL.into_iter().zip(sides) {
            let turn = turn.name();
            for comparison in comparisons {
                worst = worst.max(comparison.sigmas.abs());
                if self.json.on {
                    print_json(&Line { turn, comparison })?;
                    continue;
                }
                let Comparison { plies, found, expected, sigmas } = comparison;
                let result = plies.map_or("no move".to_owned(), |plies| format!("{plies} plies"));
                print(format_args!(
                    "{turn} to move, {result:>8}: {found:>8} found, {expected:>10.1} expected, {sigmas:>5.2} sigma"
                ))?;
            }
        }
        if worst > MOST_SIGMAS {
            return Err(Failure::Mismatch(format!("the counts of {class} are {worst:.1} sigma off")));
        }
        Ok(())
    }
}

/// The material that names the class of a material.
fn representative(rules: &RuleOptions, material: Material) -> Result<Material, Failure> {
    let classes = Classes::new(rules, material.len());
    let member = classes.member(material);
    let member =
        member.ok_or_else(|| Failure::Input(format!("{material} has more than {} pieces", classes.pieces())))?;
    Ok(classes.get(member.class).representative)
}
