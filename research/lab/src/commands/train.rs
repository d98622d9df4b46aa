use clap::Args;
use cli::arguments::{JsonArg, ThreadsArg};
use cli::failure::{Failure, Outcome, failure_of_io};
use cli::input::read_text;
use cli::output::{check_output, print, print_json, write_file};
use cli::progress::interrupt;
use report::plot::{Axis, Line, line_chart};
use serde::Serialize;
use std::path::{Path, PathBuf};
use train::{Epoch, Recipe, TrainingError, train};

/// Train the neural network on data of `dsq-lab datagen`.
///
/// A recipe is a TOML file: `data` (a list of files), `network` and `checkpoint` (the files to write), and optionally
/// `start` (the checkpoint to begin with), `hidden` (units, a multiple of 32 up to 256), `pairs` (whether the network
/// sees pairs of animals near each other; true if absent), `epochs`, `batch`, `rates` (first and last learning rate),
/// `warm_up` (steps in which the rate rises), `decay`, `result` (share of the game's result in the target), `scale` (cp for
/// an expected score of 73 %), `held_out` (N: one in N games measures the loss) and `seed`. The result is the same on any
/// number of threads.
///
/// After each epoch the command writes the network and the checkpoint, prints the losses and plots them in an SVG file
/// beside the checkpoint. These files must not replace each other or the data. Ctrl-C ends the run and keeps the network
/// so far; a recipe with `start` continues from its checkpoint.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq-lab train first.toml\n  \
                        dsq match builtin:default,network=first.nnue builtin:default --nodes 5000 --games 400 --sprt 0,20\n\n\
                        first.toml:\n  data = [\"first.data\"]\n  network = \"first.nnue\"\n  checkpoint = \"first.ckpt\"\n  \
                        hidden = 128\n  epochs = 20")]
pub struct Train {
    /// The recipe, a TOML file.
    #[arg(value_name = "RECIPE")]
    recipe: PathBuf,
    #[command(flatten)]
    json: JsonArg,
    #[command(flatten)]
    threads: ThreadsArg,
}

#[derive(Serialize)]
struct EpochReport {
    epoch: usize,
    loss: f64,
    held_out_loss: f64,
    rate: f32,
    seconds: f64,
}

#[derive(Serialize)]
struct RunReport {
    network: String,
    samples: usize,
    held_out: usize,
    scale: f32,
    before: f64,
    after: f64,
}

impl Train {
    pub fn run(self) -> Outcome {
        let text = read_text(&self.recipe)?;
        let directory = self.recipe.parent().unwrap_or(Path::new(""));
        let wrong = |error| Failure::Input(format!("{}: {error}", self.recipe.display()));
        let recipe = Recipe::parse(&text, directory).map_err(wrong)?;
        let plot_file = recipe.checkpoint.with_extension("svg");
        self.check_outputs(&recipe, &plot_file)?;
        let stop = interrupt();
        let mut reported = Ok(());
        let mut epochs = Vec::new();
        let mut report = |epoch: &Epoch| {
            epochs.push(epoch.clone());
            let printed = self.epoch(epoch);
            let plotted = plot(&recipe, &epochs).and_then(|svg| write_file(&plot_file, &svg));
            // A failure does not end the run, whose results are the network and the checkpoint.
            if reported.is_ok() {
                reported = printed.and(plotted);
            }
        };
        let trained = self.threads.run(|| train(&recipe, stop, &mut report))?.map_err(failure_of_training)?;
        reported?;
        if trained.stopped {
            let text = format!("stopped; {} contains the network so far", recipe.network.display());
            return Err(Failure::Interrupted(text));
        }
        if self.json.on {
            return print_json(&RunReport {
                network: trained.network.to_string(),
                samples: trained.samples,
                held_out: trained.held_out,
                scale: trained.scale,
                before: trained.before,
                after: trained.after,
            });
        }
        print(format_args!(
            "network {}: {} positions; held-out loss {:.6} before, {:.6} after; {} cp for an expected score of 73 %",
            trained.network, trained.samples, trained.before, trained.after, trained.scale
        ))
    }

    /// Checks that the outputs can be written and replace no other file of the run. The checkpoint may replace the one to
    /// begin with, which has been read by then.
    fn check_outputs(&self, recipe: &Recipe, plot: &Path) -> Outcome {
        let mut others: Vec<&Path> = recipe.data.iter().chain([&self.recipe]).map(PathBuf::as_path).collect();
        for output in [recipe.checkpoint.as_path(), &recipe.network, plot] {
            check_output(output, &others)?;
            others.push(output);
            others.extend(recipe.start.as_deref());
        }
        Ok(())
    }

    fn epoch(&self, &Epoch { epoch, loss, held_out_loss, rate, time, .. }: &Epoch) -> Outcome {
        let seconds = time.as_secs_f64();
        if self.json.on {
            return print_json(&EpochReport { epoch, loss, held_out_loss, rate, seconds });
        }
        print(format_args!("epoch {epoch}: loss {loss:.6}, held-out loss {held_out_loss:.6}, {seconds:.1} s"))
    }
}

/// The losses by epoch.
fn plot(recipe: &Recipe, epochs: &[Epoch]) -> Result<String, Failure> {
    let line = |name: &str, loss: fn(&Epoch) -> f64| Line {
        name: name.to_owned(),
        points: epochs.iter().map(|epoch| (epoch.epoch as f64, loss(epoch))).collect(),
    };
    let lines = [line("learned", |epoch| epoch.loss), line("held out", |epoch| epoch.held_out_loss)];
    let title = format!("Loss with {} units", recipe.hidden);
    let axis = |label| Axis { label, log: false };
    Ok(line_chart(&title, axis("epoch"), axis("mean squared error"), &lines)?)
}

fn failure_of_training(error: TrainingError) -> Failure {
    match &error {
        TrainingError::Io { error: source, .. } => failure_of_io(source)(format!("cannot read {error}")),
        TrainingError::Write { .. } => Failure::Environment(format!("cannot write {error}")),
        _ => Failure::Input(error.to_string()),
    }
}
