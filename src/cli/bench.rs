use super::{Outcome, RulesArg, grouped, print, print_json};
use clap::Args;
use doushouqi::board::Rules;
use doushouqi::search::{EngineOptions, bench};

/// Search a fixed set of positions: the engine's signature and speed.
///
/// One thread, a fixed depth, a new transposition table for each position: the number of nodes is the same on every machine.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq bench\n  dsq bench --depth 8 --rules chinese --json")]
pub struct Bench {
    /// Plies of the last iteration.
    #[arg(long, default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..=60))]
    depth: u32,
    #[command(flatten)]
    rules: RulesArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Bench {
    pub fn run(self) -> Outcome {
        let options = EngineOptions { hash_mib: 16, ..EngineOptions::default() };
        let report = bench::bench(self.depth, &options, &Rules::new(self.rules.rules));
        if self.json {
            return print_json(&report);
        }
        print(format_args!(
            "{} nodes in {:.3} s, {} nodes a second ({} positions to depth {})",
            grouped(report.nodes),
            report.seconds,
            grouped(report.nodes_per_second as u64),
            report.positions,
            report.depth
        ))
    }
}
