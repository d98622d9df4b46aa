//! A training run. Its result depends only on the recipe and the data, not on the number of threads.

use super::adamw::AdamW;
use super::error::TrainingError;
use super::file;
use super::model::{Model, Sample, Shape, sigmoid};
use super::recipe::Recipe;
use super::record::{Header, Packed, read};
use doushouqi::game::random::Random;
use doushouqi::search::network::{Network, NetworkError};
use rayon::prelude::*;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The number of parts of a batch, each with its own gradient. It determines the order of the sums, so it is fixed.
const PARTS: usize = 8;

/// The state of a run after an epoch.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Epoch {
    /// The number of the epoch, from 1.
    pub epoch: usize,
    /// The mean squared error of the samples of the epoch, each measured before the step that learned from it.
    pub loss: f64,
    /// The mean squared error of the samples that were held out.
    pub held_out_loss: f64,
    /// The learning rate of the last step.
    pub rate: f32,
    /// The time of the epoch.
    pub time: Duration,
}

/// The result of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Trained {
    /// The network, which the run has also written to its file.
    pub network: Network,
    /// The samples that the run learned from.
    pub samples: usize,
    /// The samples that were held out.
    pub held_out: usize,
    /// The score in cp for which the winner is expected to get 73 %.
    pub scale: f32,
    /// The mean squared error of the samples that were held out, before the run.
    pub before: f64,
    /// The mean squared error of the samples that were held out, after the run.
    pub after: f64,
    /// Whether the run was stopped.
    pub stopped: bool,
}

/// Runs a recipe on the threads of the current rayon pool. After each epoch it writes the checkpoint and the network.
/// When `stop` is set, the run ends with the current parameters.
///
/// # Errors
/// If the data or the first checkpoint cannot be used, or a result cannot be written.
pub fn train(recipe: &Recipe, stop: &AtomicBool, report: &mut dyn FnMut(&Epoch)) -> Result<Trained, TrainingError> {
    let (header, records) = read_all(recipe)?;
    let model = first_model(recipe)?;
    let (held_out, learned): (Vec<Packed>, Vec<Packed>) =
        records.into_iter().partition(|record| is_held_out(record.game(), recipe.held_out));
    if held_out.is_empty() || learned.is_empty() {
        return Err(TrainingError::Input("there are too few games to learn from some and hold out others".to_owned()));
    }
    let no_scale =
        || TrainingError::Input("no position has the score of a search: the recipe needs a `scale`".to_owned());
    let scale = recipe.scale.or_else(|| best_scale(&learned)).ok_or_else(no_scale)?;
    let mut run = Run { recipe, rules: header.rules, scale, adamw: AdamW::new(&model, recipe.decay), model, step: 0 };
    let held_out: Vec<Sample> = held_out.iter().map(|record| run.sample(record, false)).collect();
    let before = run.loss(&held_out);
    let mut after = before;
    let mut order: Vec<u32> = (0..learned.len() as u32).collect();
    for epoch in 1..=recipe.epochs {
        let start = Instant::now();
        Random::numbered(recipe.seed, epoch as u64).shuffle(&mut order);
        let loss = run.epoch(&learned, &order, epoch, stop);
        run.save()?;
        after = run.loss(&held_out);
        if stop.load(Ordering::Relaxed) {
            break;
        }
        report(&Epoch { epoch, loss, held_out_loss: after, rate: run.rate(learned.len()), time: start.elapsed() });
    }
    let network = run.network()?;
    let stopped = stop.load(Ordering::Relaxed);
    Ok(Trained { network, samples: learned.len(), held_out: held_out.len(), scale, before, after, stopped })
}

/// Whether the positions of a game measure the loss. Even and odd games begin in different ways
/// ([`super::Datagen::game`]), so games are held out in pairs.
fn is_held_out(game: u32, one_in: u32) -> bool {
    (game / 2).is_multiple_of(one_in)
}

/// The state of a run.
struct Run<'a> {
    recipe: &'a Recipe,
    rules: u64,
    scale: f32,
    model: Model,
    adamw: AdamW,
    /// The number of steps so far.
    step: usize,
}

impl Run<'_> {
    fn sample(&self, record: &Packed, mirrored: bool) -> Sample {
        let target = target(record, self.recipe.result, self.scale);
        Sample::new(self.model.shape(), &record.squares(), record.turn(), mirrored, target)
    }

    /// The learning rate of the current step.
    fn rate(&self, samples: usize) -> f32 {
        let Recipe { rates, warm_up, batch, epochs, .. } = *self.recipe;
        rate(rates, warm_up, self.step, samples.div_ceil(batch) * epochs)
    }

    /// Learns from all records once, in this order. Returns the mean squared error.
    fn epoch(&mut self, records: &[Packed], order: &[u32], epoch: usize, stop: &AtomicBool) -> f64 {
        let mut gradients = vec![Model::zero(self.model.shape()); PARTS];
        let (mut total, mut seen) = (0.0, 0);
        for batch in order.chunks(self.recipe.batch) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let this = &*self;
            let part = |(indices, gradient): (&[u32], &mut Model)| -> f64 {
                let sample = |&index: &u32| {
                    let mirrored = Random::numbered(this.recipe.seed ^ epoch as u64, index.into()).below(2) == 1;
                    this.sample(&records[index as usize], mirrored)
                };
                let samples: Vec<Sample> = indices.iter().map(sample).collect();
                this.model.errors(&samples, gradient)
            };
            let parts = batch.par_chunks(batch.len().div_ceil(PARTS)).zip(&mut gradients);
            let errors: Vec<f64> = parts.map(part).collect();
            let rate = self.rate(records.len());
            self.adamw.step(&mut self.model, &mut gradients, 1.0 / batch.len() as f32, rate);
            self.model.clip_pairs();
            self.step += 1;
            total += errors.iter().sum::<f64>();
            seen += batch.len();
        }
        total / seen.max(1) as f64
    }

    fn loss(&self, samples: &[Sample]) -> f64 {
        let parts: Vec<f64> = samples.par_chunks(4096).map(|part| self.model.loss(part)).collect();
        parts.iter().sum::<f64>() / samples.len() as f64
    }

    fn network(&self) -> Result<Network, NetworkError> {
        self.model.quantise(self.rules, self.scale)
    }

    fn save(&self) -> Result<(), TrainingError> {
        let Recipe { checkpoint, network, .. } = self.recipe;
        let write = |path: &Path, result: io::Result<()>| {
            result.map_err(|error| TrainingError::Write { path: path.to_owned(), error })
        };
        write(checkpoint, self.model.save(checkpoint))?;
        write(network, file::replace(network, &self.network()?.to_bytes()))
    }
}

fn read_all(recipe: &Recipe) -> Result<(Header, Vec<Packed>), TrainingError> {
    let mut found: Option<Header> = None;
    let mut records = Vec::new();
    for path in &recipe.data {
        let (header, more) = read(path)?;
        if found.get_or_insert(header).rules != header.rules {
            return Err(TrainingError::Input(format!("{}: it is for other rules than the first file", path.display())));
        }
        records.extend(more);
    }
    let header = found.ok_or_else(|| TrainingError::Input("there are no files of data".to_owned()))?;
    Ok((header, records))
}

fn first_model(recipe: &Recipe) -> Result<Model, TrainingError> {
    let shape = Shape { hidden: recipe.hidden, pairs: recipe.pairs };
    let Some(path) = &recipe.start else { return Ok(Model::random(shape, recipe.seed)) };
    let model = Model::load(path)?;
    let (path, found) = (path.display(), model.shape());
    if found.hidden != shape.hidden {
        return Err(TrainingError::Input(format!(
            "{path}: it has {} units, the recipe {}",
            found.hidden, shape.hidden
        )));
    }
    if found.pairs && !shape.pairs {
        return Err(TrainingError::Input(format!("{path}: it has inputs for pairs; the recipe has `pairs = false`")));
    }
    Ok(model.extended(shape))
}

/// The learning rate of a step: half a cosine from the first to the last rate, after a linear warm-up.
fn rate([first, last]: [f32; 2], warm_up: usize, step: usize, steps: usize) -> f32 {
    let progress = step as f32 / steps.max(1) as f32;
    let cosine = last + 0.5 * (first - last) * (1.0 + (std::f32::consts::PI * progress).cos());
    cosine * ((step + 1) as f32 / warm_up.max(1) as f32).min(1.0)
}

/// The expected score, from 0 to 1, that a sample is trained on. `share` is the share of the game's result. A score of
/// endgame tables replaces the result, since it also contains the distance of the win; a sideline has no result.
fn target(record: &Packed, share: f32, scale: f32) -> f32 {
    let result = f32::from(record.result() + 1) / 2.0;
    let share = if record.score_only() { 0.0 } else { share };
    share * result + (1.0 - share) * sigmoid(f32::from(record.score()) / scale)
}

/// The scale with which the scores of searches predict the results best; `None` if no record has the score of a search.
fn best_scale(records: &[Packed]) -> Option<f32> {
    let step = records.len() / 200_000 + 1;
    let sampled: Vec<&Packed> = records.iter().step_by(step).filter(|record| !record.score_only()).collect();
    if sampled.is_empty() {
        return None;
    }
    let error = |scale: f32| -> f64 {
        let error = |record: &Packed| f64::from((target(record, 0.0, scale) - target(record, 1.0, scale)).powi(2));
        let parts: Vec<f64> =
            sampled.par_chunks(4096).map(|part| part.iter().map(|record| error(record)).sum()).collect();
        parts.iter().sum()
    };
    (2..200).map(|i| i as f32 * 5.0).min_by(|a, b| error(*a).total_cmp(&error(*b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    fn packed(score: i16, result: i8, score_only: bool) -> Packed {
        let position = "7/7/3e3/7/7/7/3E3/7/7 w".parse().unwrap();
        Record { position, halfmove_clock: 0, score, result, score_only, game: 0, ply: 0 }.pack()
    }

    #[test]
    fn some_records_are_learned_by_their_score_alone() {
        let win = |score_only| target(&packed(100, 1, score_only), 0.25, 100.0);
        let expected = sigmoid(1.0);
        assert_eq!(win(true), expected);
        assert!((win(false) - (0.25 + 0.75 * expected)).abs() < 1e-6);
        assert_eq!(best_scale(&[packed(100, 1, true)]), None);
        assert!(best_scale(&[packed(100, 1, false), packed(3000, 0, true)]).is_some());
    }

    #[test]
    fn the_rate_falls_by_half_a_cosine() {
        let rates = [0, 20, 30, 60].map(|step| rate([0.8, 0.2], 0, step, 60));
        assert!(
            rates.iter().zip([0.8, 0.65, 0.5, 0.2]).all(|(rate, wanted)| (rate - wanted).abs() < 1e-6),
            "{rates:?}"
        );
    }

    #[test]
    fn the_rate_rises_at_first() {
        let rates = [0, 1, 3, 4].map(|step| rate([0.8, 0.8], 4, step, 60));
        assert!(rates.iter().zip([0.2, 0.4, 0.8, 0.8]).all(|(rate, wanted)| (rate - wanted).abs() < 1e-6), "{rates:?}");
    }

    /// Positions of one score are won three to one, of twice that score nine to one.
    #[test]
    fn the_scale_that_predicts_the_results_is_found() {
        let score = |odds: f32| (250.0 * odds.ln()).round() as i16;
        let records: Vec<Packed> = [(3, score(3.0)), (9, score(9.0))]
            .iter()
            .flat_map(|&(wins, score)| {
                (0..=wins).map(move |game| packed(score, if game < wins { 1 } else { -1 }, false))
            })
            .collect();
        assert_eq!(best_scale(&records), Some(250.0));
    }

    #[test]
    fn games_of_both_kinds_are_held_out() {
        let held_out: Vec<u32> = (0..40).filter(|&game| is_held_out(game, 10)).collect();
        assert_eq!(held_out, [0, 1, 20, 21]);
    }
}
