use crate::failure::failure_of_data;
use clap::Args;
use cli::arguments::{RulesArg, ThreadsArg, at_least_one, positive};
use cli::evaluation::read_weights;
use cli::failure::{Failure, Outcome};
use cli::output::{check_output, print, write_file};
use doushouqi::board::{Color, Rules};
use doushouqi::search::eval::WEIGHTS;
use doushouqi::search::tune::{Fit, Sample};
use std::path::{Path, PathBuf};
use train::{Record, read_records};

/// Fit the weights of the hand-crafted evaluation to games of `dsq-lab datagen`.
///
/// The same games give the same weights. src/search/eval/weights.txt contains the current weights; only a match shows
/// whether new weights are better. A round plays games with the current weights, fits new weights that start from them,
/// and plays a match. The next round starts from the winner and adds its games to the data.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq-lab datagen --evaluation hand-crafted --games 4000 --seed 1 --out first.data\n  \
                        dsq-lab tune first.data --out weights.txt\n  \
                        dsq match builtin:hand-crafted,weights=weights.txt builtin:hand-crafted --nodes 5000 --games 400 --sprt 0,20\n  \
                        dsq-lab datagen --evaluation hand-crafted --weights weights.txt --games 4000 --seed 2 --out second.data\n  \
                        dsq-lab tune first.data second.data --from weights.txt --out better.txt"
)]
pub struct Tune {
    /// Files of `dsq-lab datagen`
    #[arg(value_name = "FILE", required = true)]
    data: Vec<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The weights to start from [default: the current weights]
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Number of passes over the positions
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = at_least_one::<usize>())]
    epochs: usize,
    /// Weight of the game's result in the target, from 0 to 1; the rest is the weight of the search score
    #[arg(long, value_name = "SHARE", default_value_t = 0.35, value_parser = share)]
    result: f64,
    /// Learning rate of the optimiser, in cp
    #[arg(long, value_name = "CP", default_value_t = 1.5, value_parser = positive)]
    learning_rate: f64,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
}

impl Tune {
    pub fn run(self) -> Outcome {
        let rules = Rules::new(self.rules.rules);
        let samples = self.samples(&rules)?;
        let from = self.from.as_deref().map_or_else(|| Ok(WEIGHTS.clone()), read_weights)?;
        let data: Vec<&Path> = self.data.iter().map(PathBuf::as_path).collect();
        check_output(&self.out, &data)?;
        let fit = Fit { epochs: self.epochs, result: self.result as f32, rate: self.learning_rate as f32 };
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

    fn samples(&self, rules: &Rules) -> Result<Vec<Sample>, Failure> {
        let mut samples = Vec::new();
        for path in &self.data {
            let records = read_records(path, rules.options()).map_err(failure_of_data)?;
            if records.is_empty() {
                return Err(Failure::Input(format!("{} contains no positions", path.display())));
            }
            samples.extend(records.into_iter().map(sample));
        }
        Ok(samples)
    }
}

/// Parses a share from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| format!("{text:?} is not a share from 0 to 1"))
}

/// A record from White's view.
fn sample(record: Record) -> Sample {
    let sign = if record.position.turn() == Color::White { 1 } else { -1 };
    let result = 0.5 + 0.5 * f32::from(sign * record.result);
    Sample { position: record.position, score: i32::from(sign) * i32::from(record.score), result }
}
