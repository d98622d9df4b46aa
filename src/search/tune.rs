//! Tuning the hand-crafted evaluation: weights fitted to games of the engine against itself.
//!
//! Texel's method (Österlund 2014): a logistic function of the evaluation predicts the expected score of a position.
//! The target is a mixture of the game's result and the score of a search.

use super::eval::{FEATURES, HandCrafted, State, Weights};
use crate::board::{Position, Rules};
use crate::game::random::Random;
use rayon::prelude::*;

/// A position of a game with the score of a search and the result of the game, both from White's view.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The position.
    pub position: Position,
    /// The score in cp.
    pub score: i32,
    /// 1 if White won, 0 if Black did, 1/2 for a draw.
    pub result: f32,
}

/// The options of a fit.
#[derive(Copy, Clone, Debug)]
pub struct Fit {
    /// The number of passes over the samples.
    pub epochs: usize,
    /// The share of the game result in the target; the rest is the score of the search.
    pub result: f32,
    /// The learning rate of the optimiser (Adam), in cp.
    pub rate: f32,
}

/// The result of a fit.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The weights, rounded.
    pub weights: Weights,
    /// The evaluation in cp for which the winner is expected to get 73 %.
    pub scale: f32,
    /// The mean squared error before the fit, on held-out samples, or on all samples if there are too few to hold any
    /// out.
    pub before: f32,
    /// The mean squared error after the fit.
    pub after: f32,
}

/// A sample in the form that a fit reads.
struct Row {
    features: Vec<(u16, i16)>,
    /// 1 in the middle game, 0 in the endgame.
    phase: f32,
    score: f32,
    result: f32,
}

impl Row {
    fn evaluation(&self, values: &[[f32; 2]]) -> f32 {
        let (mut middle, mut end) = (0.0, 0.0);
        for &(feature, count) in &self.features {
            let [m, e] = values[usize::from(feature)];
            middle += m * f32::from(count);
            end += e * f32::from(count);
        }
        middle * self.phase + end * (1.0 - self.phase)
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// The limit of the scores in cp: larger scores would dominate the fit.
const MAX_SCORE: f32 = 3000.0;

/// Whether a sample is held out to measure the error. A tenth are, in blocks, since samples of one game are similar.
fn held_out(index: usize) -> bool {
    index / 1000 % 10 == 9
}

impl Fit {
    /// Fits weights, starting from `weights`. A tenth of the samples are held out to measure the error.
    #[must_use]
    pub fn run(
        &self,
        samples: &[Sample],
        rules: &Rules,
        weights: &Weights,
        report: &mut dyn FnMut(usize, f32),
    ) -> Fitted {
        let rows = rows(samples, rules, weights);
        let (held, learned): (Vec<(usize, &Row)>, Vec<_>) = rows.iter().enumerate().partition(|(i, _)| held_out(*i));
        let (held, learned): (Vec<&Row>, Vec<&Row>) =
            (held.into_iter().map(|(_, r)| r).collect(), learned.into_iter().map(|(_, r)| r).collect());
        let held = if held.is_empty() { learned.clone() } else { held };
        let scale = best_scale(&learned);
        let mean_error = |values: &[[f32; 2]]| -> f32 {
            let error = |row: &Row| (sigmoid(row.evaluation(values) / scale) - self.target(row, scale)).powi(2);
            held.par_iter().map(|row| error(row)).sum::<f32>() / held.len().max(1) as f32
        };
        let mut adam = Adam::new(weights);
        let before = mean_error(&adam.values);
        let mut order: Vec<usize> = (0..learned.len()).collect();
        let mut random = Random::new(1);
        for epoch in 0..self.epochs {
            random.shuffle(&mut order);
            let rate = self.rate * (1.0 - epoch as f32 / self.epochs as f32).max(0.05);
            for batch in order.chunks(4096) {
                let gradient = self.gradient(&adam.values, &learned, batch, scale);
                adam.step(&gradient, rate);
            }
            report(epoch + 1, mean_error(&adam.values));
        }
        let after = mean_error(&adam.values);
        let mut fitted = weights.clone();
        for (weight, value) in fitted.0.iter_mut().zip(&adam.values) {
            *weight = value.map(|v| v.round().clamp(-4000.0, 4000.0) as i16);
        }
        Fitted { weights: fitted, scale, before, after }
    }

    /// The target of a sample: the expected score.
    fn target(&self, row: &Row, scale: f32) -> f32 {
        self.result * row.result + (1.0 - self.result) * sigmoid(row.score / scale)
    }

    /// The gradient of the mean error of a batch.
    fn gradient(&self, values: &[[f32; 2]], rows: &[&Row], batch: &[usize], scale: f32) -> Vec<[f32; 2]> {
        let part = |chunk: &[usize]| {
            let mut gradient = vec![[0.0f32; 2]; FEATURES];
            for &i in chunk {
                let row = rows[i];
                let p = sigmoid(row.evaluation(values) / scale);
                let slope = (p - self.target(row, scale)) * p * (1.0 - p);
                for &(feature, count) in &row.features {
                    let g = slope * f32::from(count);
                    let slot = &mut gradient[usize::from(feature)];
                    slot[0] += g * row.phase;
                    slot[1] += g * (1.0 - row.phase);
                }
            }
            gradient
        };
        // The parts are summed in a fixed order, so the weights do not depend on the number of threads.
        let parts: Vec<Vec<[f32; 2]>> = batch.par_chunks(1024).map(part).collect();
        let sum = |feature: usize, phase: usize| parts.iter().map(|part| part[feature][phase]).sum::<f32>();
        (0..FEATURES).map(|feature| [0, 1].map(|phase| sum(feature, phase) / batch.len() as f32)).collect()
    }
}

fn rows(samples: &[Sample], rules: &Rules, weights: &Weights) -> Vec<Row> {
    let hand_crafted = HandCrafted::new(rules, weights);
    let row = |sample: &Sample| {
        let (features, phase) = hand_crafted.trace(rules, &State::new(&sample.position, &hand_crafted));
        Row { features, phase, score: (sample.score as f32).clamp(-MAX_SCORE, MAX_SCORE), result: sample.result }
    };
    samples.par_iter().map(row).collect()
}

/// The scale with which the given scores predict the results best. The unit of the scores stays the same.
fn best_scale(rows: &[&Row]) -> f32 {
    let error = |scale: f32| -> f32 { rows.par_iter().map(|r| (sigmoid(r.score / scale) - r.result).powi(2)).sum() };
    (4..200).map(|i| i as f32 * 5.0).min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or(150.0)
}

/// The optimiser of Kingma and Ba, *Adam: a method for stochastic optimization* (2015).
struct Adam {
    values: Vec<[f32; 2]>,
    first: Vec<[f32; 2]>,
    second: Vec<[f32; 2]>,
    steps: i32,
}

impl Adam {
    fn new(weights: &Weights) -> Adam {
        let zero = vec![[0.0; 2]; FEATURES];
        let values = weights.0.iter().map(|w| w.map(f32::from)).collect();
        Adam { values, first: zero.clone(), second: zero, steps: 0 }
    }

    fn step(&mut self, gradient: &[[f32; 2]], rate: f32) {
        let (b1, b2) = (0.9f32, 0.999f32);
        self.steps += 1;
        for feature in 0..FEATURES {
            for phase in 0..2 {
                let g = gradient[feature][phase];
                let (m, v) = (&mut self.first[feature][phase], &mut self.second[feature][phase]);
                if g == 0.0 && *m == 0.0 {
                    continue;
                }
                *m = b1 * *m + (1.0 - b1) * g;
                *v = b2 * *v + (1.0 - b2) * g * g;
                let (m, v) = (*m / (1.0 - b1.powi(self.steps)), *v / (1.0 - b2.powi(self.steps)));
                self.values[feature][phase] -= rate * m / (v.sqrt() + 1e-8);
            }
        }
    }
}
