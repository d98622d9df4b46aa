use crate::arguments::{RulesArg, ThreadsArg};
use crate::failure::{Failure, Outcome};
use crate::output::{print, write_file};
use crate::progress::progress_bar;
use clap::{Args, Subcommand};
use doushouqi::board::Rules;
use doushouqi::search::eval::{WEIGHTS, Weights};
use doushouqi::search::tune::{Fit, Sample, SelfPlay};
use doushouqi::search::{EngineOptions, Tables};
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Tune the evaluation: play games to learn from, fit weights to them.
///
/// The same seed gives the same games and the same weights. The weights in use are src/search/eval/weights.txt; to try
/// others, `dsq match builtin:default,weights=FILE builtin:default`. A round is games with the weights so far, a fit that
/// begins with them, and a match; the next round goes on with the winner and learns from its games and the last rounds'.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq tune play --games 4000 --nodes 1000 --seed 1 --out first.txt\n  \
                        dsq tune fit first.txt --out weights.txt\n  \
                        dsq match builtin:default,weights=weights.txt builtin:default --nodes 5000 --games 400 --sprt 0,20\n  \
                        dsq tune play --games 4000 --nodes 1000 --seed 2 --weights weights.txt --out second.txt\n  \
                        dsq tune fit first.txt second.txt --from weights.txt --out better.txt")]
pub struct Tune {
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand)]
enum Step {
    Play(Play),
    Fit(FitCommand),
}

/// Play games of the engine against itself and write positions with scores and results.
#[derive(Args)]
struct Play {
    #[arg(long, value_name = "N", default_value_t = 1000)]
    games: u64,
    /// Nodes a move.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    nodes: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The file to write: a FEN, a score and a result a line.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Weights of the features; those in use if not given.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
}

/// Fit weights to such positions.
#[derive(Args)]
struct FitCommand {
    #[arg(value_name = "FILE", required = true)]
    samples: Vec<PathBuf>,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Weights to begin with; those in use if not given.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[arg(long, value_name = "N", default_value_t = 15)]
    epochs: usize,
    /// Share of the game's result in what is aimed at; the rest is the score of the search. The more games are drawn, the
    /// less the result says.
    #[arg(long, value_name = "SHARE", default_value_t = 0.35)]
    result: f32,
    /// Step of the optimiser, in hundredths of a cat.
    #[arg(long, default_value_t = 1.5)]
    rate: f32,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
}

impl Tune {
    pub fn run(self) -> Outcome {
        match self.step {
            Step::Play(step) => step.run(),
            Step::Fit(step) => step.run(),
        }
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|e| Failure::reading(path.display(), &e))
}

fn read_samples(paths: &[PathBuf]) -> Result<Vec<Sample>, Failure> {
    let mut samples = Vec::new();
    for path in paths {
        for line in read(path)?.lines() {
            samples.push(line.parse().map_err(|e| Failure::Input(format!("{}: {e}", path.display())))?);
        }
    }
    Ok(samples)
}

/// The weights in a file, or those in use.
fn read_weights(path: Option<&Path>) -> Result<Weights, Failure> {
    let Some(path) = path else { return Ok(WEIGHTS.clone()) };
    read(path)?.parse().map_err(|e| Failure::Input(format!("{}: {e}", path.display())))
}

impl Play {
    fn run(self) -> Outcome {
        let rules = Rules::new(self.rules.rules);
        let weights = self.weights.as_deref().map(|path| read_weights(Some(path))).transpose()?;
        let engine = EngineOptions { weights, ..EngineOptions::default() };
        let bar = progress_bar(self.games, "games");
        let text = self.threads.run(|| -> Result<String, Failure> {
            let tables = Arc::new(Tables::solve(rules.options(), 4)?);
            let play = SelfPlay { rules: rules.clone(), nodes: self.nodes, seed: self.seed, tables, engine };
            let games: Vec<String> = (0..self.games)
                .into_par_iter()
                .map(|number| {
                    let lines: Vec<String> = play.game(number).iter().map(|s| format!("{s}\n")).collect();
                    bar.inc(1);
                    lines.concat()
                })
                .collect();
            Ok(games.concat())
        })??;
        bar.finish_and_clear();
        write_file(&self.out, &text)?;
        print(format_args!("{} positions of {} games", text.lines().count(), self.games))
    }
}

impl FitCommand {
    fn run(self) -> Outcome {
        let samples = read_samples(&self.samples)?;
        let from = read_weights(self.from.as_deref())?;
        let fit = Fit { epochs: self.epochs, result: self.result, rate: self.rate };
        let rules = Rules::new(self.rules.rules);
        let fitted = self.threads.run(|| {
            fit.run(&samples, &rules, &from, &mut |epoch, error| {
                if epoch % 10 == 0 {
                    eprintln!("epoch {epoch}: mean squared error {error:.6}");
                }
            })
        })?;
        write_file(&self.out, &fitted.weights.to_string())?;
        print(format_args!(
            "{} positions; mean squared error {:.6} before, {:.6} after; a score of 73 % is {} hundredths of a cat",
            samples.len(),
            fitted.before,
            fitted.after,
            fitted.scale
        ))
    }
}
