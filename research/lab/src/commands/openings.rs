use clap::Args;
use cli::arguments::{RulesArg, SeedArg, ThreadsArg, at_least_one};
use cli::failure::{Failure, Outcome};
use cli::output::print;
use cli::progress::{interrupt, progress_bar};
use doushouqi::board::{Position, Rules};
use matches::BiasedOpenings;
use rayon::prelude::*;
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;

/// The number of candidates that are searched before their lines are printed.
const BATCH: u64 = 256;
/// The number of candidates without an opening after which the search for openings fails.
const MAX_FAILED_CANDIDATES: u64 = 1 << 16;

/// Write biased openings for `dsq match`: positions that a search scores as clearly better for one side, but not won.
///
/// Between equal engines most games from balanced openings are drawn. From biased openings, which a match plays twice
/// with colours exchanged, more games are decided. Half of the candidates come after 16 random moves from the initial
/// position, half have 12 to 16 pieces on random squares. Each line is a FEN with the score for the side to move in
/// centipawns (EPD, `ce`). The same seed gives the same lines on any number of threads.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq-lab openings > biased.epd\n  \
                        dsq match builtin:default 'other-engine --uci' --openings biased.epd\n\n\
                        `dsq match --openings biased` uses a built-in file.")]
pub struct OpeningsCommand {
    /// Number of openings
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = at_least_one::<u32>())]
    count: u32,
    #[command(flatten)]
    seed: SeedArg,
    /// Nodes of the search that scores an opening
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = at_least_one::<u64>())]
    nodes: u64,
    /// The scores of the better side, in centipawns
    #[arg(long, value_name = "FROM..TO", default_value = "200..450", value_parser = scores)]
    score: RangeInclusive<i32>,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
}

fn scores(text: &str) -> Result<RangeInclusive<i32>, String> {
    let parsed = text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..=to.parse().ok()?));
    parsed
        .filter(|scores: &RangeInclusive<i32>| *scores.start() >= 0 && !scores.is_empty())
        .ok_or_else(|| format!("{text:?} is not a range of scores of at least 0, such as 200..450"))
}

impl OpeningsCommand {
    pub fn run(self) -> Outcome {
        let rules = Rules::new(self.rules.rules);
        let biased = BiasedOpenings { rules, seed: self.seed.seed, nodes: self.nodes, scores: self.score };
        let stop = interrupt();
        let bar = progress_bar(self.count.into(), "openings");
        let count = self.count as usize;
        let mut found: Vec<Position> = Vec::new();
        let mut first = 0;
        while found.len() < count {
            let candidates: Vec<Option<(Position, i32)>> = self.threads.run(|| {
                let numbers = (first..first + BATCH).into_par_iter();
                let candidate = |engine: &mut _, number| {
                    if stop.load(Ordering::Relaxed) { None } else { biased.candidate(engine, number) }
                };
                numbers.map_init(BiasedOpenings::engine, candidate).collect()
            })?;
            if stop.load(Ordering::Relaxed) {
                bar.finish_and_clear();
                return Err(Failure::Interrupted(format!("stopped after {} of {count} openings", found.len())));
            }
            for (position, score) in candidates.into_iter().flatten() {
                if found.len() < count && !found.contains(&position) {
                    print(format_args!("{position} ce {score};"))?;
                    found.push(position);
                    bar.inc(1);
                }
            }
            first += BATCH;
            if found.is_empty() && first >= MAX_FAILED_CANDIDATES {
                return Err(Failure::Input(format!("none of {first} candidates has a score in this range")));
            }
        }
        bar.finish_and_clear();
        Ok(())
    }
}
