use crate::arguments::{RulesArg, ThreadsArg, at_least_one, positive, share};
use crate::failure::{Failure, Outcome};
use crate::output::{print, write_file};
use crate::progress::{interrupt, progress_bar};
use clap::{Args, Subcommand};
use doushouqi::board::Rules;
use doushouqi::search::eval::{WEIGHTS, Weights};
use doushouqi::search::tune::{Fit, Sample, SelfPlay};
use doushouqi::search::{EngineOptions, Evaluation, Tables};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// Tune the hand-crafted evaluation: play games, and fit the weights to them.
///
/// The same seed gives the same games and the same weights. src/search/eval/weights.txt contains the current weights;
/// to compare others, use `dsq match builtin:default,weights=FILE builtin:default`. A round plays games with the
/// current weights, fits new weights that start from them, and plays a match. The next round starts from the winner and
/// adds its games to the data.
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

/// Play games of the engine against itself, and write positions with scores and results.
#[derive(Args)]
struct Play {
    /// Number of games
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = at_least_one::<u64>())]
    games: u64,
    /// Nodes of each search
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = at_least_one::<u64>())]
    nodes: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The file to write, replaced if it exists: one position per line, a FEN, a score and a result
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Weights of the features [default: the current weights]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
}

/// Fit weights to positions of `dsq tune play`.
#[derive(Args)]
struct FitCommand {
    #[arg(value_name = "FILE", required = true)]
    samples: Vec<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The weights to start from [default: the current weights]
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Number of passes over the positions
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = at_least_one::<usize>())]
    epochs: usize,
    /// Weight of the game's result in the target, from 0 to 1; the search score has the rest
    #[arg(long, value_name = "SHARE", default_value_t = 0.35, value_parser = share)]
    result: f64,
    /// Learning rate of the optimiser, in cp
    #[arg(long, default_value_t = 1.5, value_parser = positive)]
    rate: f64,
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
        let text = read(path)?;
        if text.trim().is_empty() {
            return Err(Failure::Input(format!("{} contains no positions", path.display())));
        }
        for (i, line) in text.lines().enumerate() {
            let wrong = |e| Failure::Input(format!("{}, line {}: {e}", path.display(), i + 1));
            samples.push(line.parse().map_err(wrong)?);
        }
    }
    Ok(samples)
}

/// The weights in a file, or the current ones.
fn read_weights(path: Option<&Path>) -> Result<Weights, Failure> {
    let Some(path) = path else { return Ok(WEIGHTS.clone()) };
    read(path)?.parse().map_err(|e| Failure::Input(format!("{}: {e}", path.display())))
}

/// The file of samples. Games are written in the order of their numbers, each as soon as all earlier games are, so that
/// a complete file does not depend on the number of threads.
struct SampleFile<'a> {
    path: &'a Path,
    file: File,
    next: u64,
    /// Games that have ended before an earlier one.
    waiting: BTreeMap<u64, Vec<Sample>>,
    games: u64,
    positions: usize,
}

impl<'a> SampleFile<'a> {
    fn create(path: &'a Path) -> Result<SampleFile<'a>, Failure> {
        let file = File::create(path).map_err(|e| Failure::cannot("write", path, &e))?;
        Ok(SampleFile { path, file, next: 0, waiting: BTreeMap::new(), games: 0, positions: 0 })
    }

    fn add(&mut self, number: u64, samples: Vec<Sample>) -> Outcome {
        self.waiting.insert(number, samples);
        while let Some(samples) = self.waiting.remove(&self.next) {
            self.write(&samples)?;
            self.next += 1;
        }
        Ok(())
    }

    /// Writes the games that wait for a game that was not played.
    fn finish(&mut self) -> Outcome {
        std::mem::take(&mut self.waiting).values().try_for_each(|samples| self.write(samples))
    }

    fn write(&mut self, samples: &[Sample]) -> Outcome {
        let lines: String = samples.iter().map(|sample| format!("{sample}\n")).collect();
        // In one call, so that a killed run leaves complete games.
        self.file.write_all(lines.as_bytes()).map_err(|e| Failure::cannot("write", self.path, &e))?;
        self.games += 1;
        self.positions += samples.len();
        Ok(())
    }
}

impl Play {
    fn run(self) -> Outcome {
        let rules = Rules::new(self.rules.rules);
        let weights = self.weights.as_deref().map(|path| read_weights(Some(path))).transpose()?;
        let engine = EngineOptions::default().evaluation(Evaluation::HandCrafted).weights(weights);
        let stop = interrupt()?;
        let file = Mutex::new(SampleFile::create(&self.out)?);
        let bar = progress_bar(self.games, "games");
        self.threads.run(|| -> Outcome {
            let tables = Arc::new(Tables::solve(rules.options(), 4)?);
            let play = SelfPlay { rules: rules.clone(), nodes: self.nodes, seed: self.seed, tables, engine };
            // A bridge hands out the numbers in order, so that few games wait for an earlier one.
            (0..self.games).par_bridge().try_for_each(|number| {
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let samples = play.game(number);
                bar.inc(1);
                file.lock().unwrap_or_else(PoisonError::into_inner).add(number, samples)
            })
        })??;
        bar.finish_and_clear();
        let mut file = file.into_inner().unwrap_or_else(PoisonError::into_inner);
        file.finish()?;
        let (games, positions) = (file.games, file.positions);
        if games < self.games {
            let out = self.out.display();
            let text =
                format!("stopped after {games} of {} games; their {positions} positions are in {out}", self.games);
            return Err(Failure::Interrupted(text));
        }
        print(format_args!("{positions} positions of {games} games"))
    }
}

impl FitCommand {
    fn run(self) -> Outcome {
        let samples = read_samples(&self.samples)?;
        let from = read_weights(self.from.as_deref())?;
        // Before the work, so that an unwritable file is reported at once.
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.out)
            .map_err(|e| Failure::cannot("write", &self.out, &e))?;
        let fit = Fit { epochs: self.epochs, result: self.result as f32, rate: self.rate as f32 };
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
            "{} positions; mean squared error {:.6} before, {:.6} after; an expected score of 73 % is {} cp",
            samples.len(),
            fitted.before,
            fitted.after,
            fitted.scale
        ))
    }
}
