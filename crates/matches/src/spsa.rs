//! Tuning by games: simultaneous perturbation stochastic approximation (SPSA; Spall 1992), with the schedule of Fishtest.
//!
//! A trial moves all parameters at once, each up or down at random by its step c, and down or up for the opponent. The
//! games that the first set wins more than it loses then move each parameter in its direction. Over N planned pairs of
//! games, steps and rates fall: after k pairs, the step is c (N/k)^γ and a won game moves a parameter by r c
//! ((A + N)/(A + k))^α (k/N)^γ for the rate r, A = N/10, α = 0.602 and γ = 0.101.

use super::error::MatchError;
use doushouqi::game::random::Random;
use serde::{Deserialize, Serialize};

const ALPHA: f64 = 0.602;
const GAMMA: f64 = 0.101;

/// A parameter that is tuned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuned {
    /// The name.
    pub name: String,
    /// The value so far.
    pub value: f64,
    /// The least value.
    pub least: i32,
    /// The greatest value.
    pub most: i32,
    /// The step of the last trial.
    pub step: f64,
}

/// A run, which depends on nothing but these fields and the results of its trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spsa {
    /// The seed of all random choices.
    pub seed: u64,
    /// The planned pairs of games.
    pub pairs: u64,
    /// The pairs of games that were played.
    pub done: u64,
    /// The share of its step by which a won game moves a parameter, at the end of the run.
    pub rate: f64,
    /// The parameters.
    pub parameters: Vec<Tuned>,
}

/// Two sets of values to compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The values of the first player.
    pub plus: Vec<i32>,
    /// The values of the second player.
    pub minus: Vec<i32>,
    /// The direction in which the first player's values differ.
    signs: Vec<f64>,
    /// The pairs of games after the trial.
    after: u64,
}

impl Spsa {
    /// Checks a run that comes from a file.
    ///
    /// # Errors
    /// If there is no parameter, or a number is out of range.
    pub fn check(&self) -> Result<(), MatchError> {
        let fail = |text: String| Err(MatchError::Spsa(text));
        if self.parameters.is_empty() {
            return fail("there is no parameter to tune".to_owned());
        }
        if self.done > self.pairs || !(self.rate > 0.0 && self.rate <= 1.0) {
            return fail("the pairs of games or the rate are out of range".to_owned());
        }
        for Tuned { name, value, least, most, step } in &self.parameters {
            let is_step = step.is_finite() && *step > 0.0;
            if !is_step || !(f64::from(*least)..=f64::from(*most)).contains(value) {
                return fail(format!("the value or the step of {name} is out of range"));
            }
        }
        Ok(())
    }

    /// The factors of all steps, and of the movement by a won game.
    fn schedule(&self, pair: u64) -> (f64, f64) {
        let (all, pair) = (self.pairs as f64, pair.max(1) as f64);
        let step = (all / pair).powf(GAMMA);
        let offset = all / 10.0;
        (step, self.rate * ((offset + all) / (offset + pair)).powf(ALPHA) / step)
    }

    /// The next trial, of so many pairs of games. Numbers are rounded up or down at random, in proportion to their
    /// distances, so that steps below 1 have an effect.
    #[must_use]
    pub fn trial(&self, pairs: u64) -> Trial {
        let mut random = Random::numbered(self.seed, self.done);
        let after = self.done.saturating_add(pairs);
        let (factor, _) = self.schedule(after);
        let mut trial = Trial { plus: Vec::new(), minus: Vec::new(), signs: Vec::new(), after };
        for parameter in &self.parameters {
            let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
            let fraction = (random.bits() >> 11) as f64 / (1u64 << 53) as f64;
            let rounded = |sign: f64| {
                let value = (parameter.value + sign * factor * parameter.step + fraction).floor() as i32;
                value.clamp(parameter.least, parameter.most)
            };
            trial.plus.push(rounded(sign));
            trial.minus.push(rounded(-sign));
            trial.signs.push(sign);
        }
        trial
    }

    /// Moves the parameters by the result of a trial: the games that the first player won, minus those that it lost.
    pub fn update(&mut self, trial: &Trial, difference: i64) {
        let (_, factor) = self.schedule(trial.after);
        for (parameter, sign) in self.parameters.iter_mut().zip(&trial.signs) {
            let value = parameter.value + factor * parameter.step * sign * difference as f64;
            parameter.value = value.clamp(parameter.least.into(), parameter.most.into());
        }
        self.done = trial.after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIMUM: [f64; 4] = [70.0, 3.2, 900.0, 140.0];

    fn run() -> Spsa {
        let tuned = |name: &str, value, least, most| {
            let step = f64::from(most - least) / 20.0;
            Tuned { name: name.to_owned(), value, least, most, step }
        };
        let parameters = vec![
            tuned("margin", 150.0, 20, 200),
            tuned("depth", 7.0, 1, 9),
            tuned("limit", 300.0, 0, 2000),
            tuned("divisor", 140.0, 100, 300),
        ];
        Spsa { seed: 3, pairs: 20_000, done: 0, rate: 0.01, parameters }
    }

    /// The distance of values from the optimum, in shares of the ranges.
    fn distance(spsa: &Spsa, values: &[f64]) -> f64 {
        let share = |i: usize| {
            let Tuned { least, most, .. } = spsa.parameters[i];
            ((values[i] - OPTIMUM[i]) / f64::from(most - least)).powi(2)
        };
        (0..4).map(share).sum::<f64>().sqrt()
    }

    /// Plays games whose players lose 400 Elo for each unit of the squared distance from the optimum, half of them drawn.
    fn play(spsa: &mut Spsa, pairs: u64) {
        let trial = spsa.trial(pairs);
        let strength =
            |values: &[i32]| -distance(spsa, &values.iter().map(|&value| value.into()).collect::<Vec<_>>()).powi(2);
        let score = 1.0 / (1.0 + 10f64.powf(strength(&trial.minus) - strength(&trial.plus)));
        let mut random = Random::numbered(99, spsa.done);
        let mut unit = || (random.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let game = |_| {
            if unit() < 0.5 {
                0
            } else if unit() < score {
                1
            } else {
                -1
            }
        };
        let difference = (0..2 * pairs).map(game).sum();
        spsa.update(&trial, difference);
    }

    fn values(spsa: &Spsa) -> Vec<f64> {
        spsa.parameters.iter().map(|parameter| parameter.value).collect()
    }

    #[test]
    fn tuning_converges() {
        let mut spsa = run();
        let before = distance(&spsa, &values(&spsa));
        while spsa.done < spsa.pairs {
            play(&mut spsa, 8);
        }
        let after = distance(&spsa, &values(&spsa));
        assert!(before > 0.6 && after < 0.2, "{before} {after} {spsa:?}");
        spsa.check().unwrap();
    }

    /// A run that goes on from its state as text is the same run.
    #[test]
    fn a_run_can_be_continued() {
        let mut whole = run();
        let mut parts = run();
        for _ in 0..10 {
            play(&mut whole, 4);
            play(&mut parts, 4);
            let text = serde_json::to_string(&parts).unwrap();
            parts = serde_json::from_str(&text).unwrap();
        }
        assert_eq!(parts, whole);
        assert_ne!(parts.trial(4), Spsa { seed: 4, ..parts.clone() }.trial(4));
    }

    /// Trials stay within the ranges, and their mean is the value also where a step is less than 1.
    #[test]
    fn trials_surround_the_values() {
        let mut spsa = run();
        spsa.parameters[1].value = 3.3;
        let (mut sum, mut trials) = (0, 0);
        while spsa.done < 4000 {
            let trial = spsa.trial(1);
            for (i, parameter) in spsa.parameters.iter().enumerate() {
                let range = parameter.least..=parameter.most;
                assert!(range.contains(&trial.plus[i]) && range.contains(&trial.minus[i]));
                assert!((f64::from(trial.plus[i] - trial.minus[i]) * trial.signs[i]) >= 0.0);
            }
            sum += trial.plus[1] + trial.minus[1];
            trials += 2;
            spsa.done += 1;
        }
        assert!((f64::from(sum) / f64::from(trials) - 3.3).abs() < 0.05, "{sum} {trials}");
    }

    #[test]
    fn wrong_runs_are_refused() {
        let wrong = |change: fn(&mut Spsa)| {
            let mut spsa = run();
            change(&mut spsa);
            spsa.check().unwrap_err().to_string()
        };
        assert!(wrong(|spsa| spsa.parameters.clear()).contains("no parameter"));
        assert!(wrong(|spsa| spsa.done = 20_001).contains("pairs"));
        assert!(wrong(|spsa| spsa.rate = f64::NAN).contains("rate"));
        assert!(wrong(|spsa| spsa.parameters[2].value = 2001.0).contains("limit"));
        assert!(wrong(|spsa| spsa.parameters[1].value = f64::NAN).contains("depth"));
        assert!(wrong(|spsa| spsa.parameters[0].step = 0.0).contains("margin"));
    }
}
