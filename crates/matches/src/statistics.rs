//! Elo differences and tests from the results of a match, from the view of the first player.
//!
//! - The score s is (wins + draws / 2) / games, and the Elo difference 400 log10(s / (1 - s)).
//! - Each opening is played twice with the colours exchanged. The two games are not independent, so errors are computed
//!   from pairs: their scores 0, 1/4, 1/2, 3/4, 1 (the *pentanomial* distribution) have a variance v, and the mean of n
//!   pairs has the standard error √(v/n). The 95 % interval of the mean is ± 1.96 standard errors, and the reported
//!   error is half of its width in Elo.
//! - LOS, the likelihood of superiority, is Φ((w - l)/√V) for w wins and l losses. For independent games V is w + l (Chess
//!   Programming Wiki, *Match Statistics*; the posterior under a uniform prior), 0.92 after two won games. To V the n
//!   pairs add (1 - 1/n) times twice the covariance within a pair: a single pair says nothing about it.
//! - The SPRT's log-likelihood ratio compares two hypotheses on the mean score: it is n Σ p ln(p₁/p₀), where p are the
//!   observed frequencies and pᵢ the most likely ones with the mean of hypothesis i. The latter are p/(1 + θ (a - s)),
//!   where θ solves Σ p (a - s)/(1 + θ (a - s)) = 0.
//!
//! The SPRT counts a pair score that never occurred as 0.001 occurrences, as Fishtest and fastchess do. Sources: M. Van
//! den Bergh, *A Practical Introduction to the GSPRT* (2018); Fishtest's mathematics page.

use std::str::FromStr;
use thiserror::Error;

/// The results of games and of pairs of games.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games won by the first player.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost by the first player.
    pub losses: u64,
    /// Pairs of games in which 0, 1/2, 1, 3/2 and 2 points were scored.
    pub pairs: [u64; 5],
}

/// The scores of a pair, per game.
const PAIR_SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// The count used for a pair score that did not occur.
const NEVER: f64 = 1e-3;

/// The expected score of an Elo difference.
#[must_use]
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The Elo difference of a score from 0 to 1; infinite at both ends.
#[must_use]
pub fn elo(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

impl Tally {
    /// Adds a game by its points in halves: 0, 1 or 2.
    pub fn add_game(&mut self, halves: usize) {
        match halves {
            0 => self.losses += 1,
            1 => self.draws += 1,
            _ => self.wins += 1,
        }
    }

    /// Adds a pair, given the points of its two games in halves. [`Tally::add_game`] counts the games.
    pub fn add_pair(&mut self, first: usize, second: usize) {
        self.pairs[(first + second).min(4)] += 1;
    }

    /// Number of games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Points per game; `None` before the first game.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        let games = self.games();
        (games > 0).then(|| (self.wins as f64 + self.draws as f64 / 2.0) / games as f64)
    }

    /// The Elo difference; `None` if it is infinite or no game was played.
    #[must_use]
    pub fn elo(&self) -> Option<f64> {
        self.score().map(elo).filter(|elo| elo.is_finite())
    }

    /// Half the width of the 95 % interval of the Elo difference; `None` if it is infinite, all pairs have the same
    /// score or there are fewer than two pairs.
    #[must_use]
    pub fn elo_error(&self) -> Option<f64> {
        let pairs: u64 = self.pairs.iter().sum();
        let (mean, error) = mean_and_error(&self.pairs.map(|count| count as f64));
        let (low, high) = (mean - 1.959_964 * error, mean + 1.959_964 * error);
        (pairs > 1 && error > 0.0 && low > 0.0 && high < 1.0).then(|| (elo(high) - elo(low)) / 2.0)
    }

    /// The likelihood that the first player is the stronger one; `None` before the first game.
    #[must_use]
    pub fn los(&self) -> Option<f64> {
        let games = self.games() as f64;
        let (decided, difference) = ((self.wins + self.losses) as f64, self.wins as f64 - self.losses as f64);
        let pairs = self.pairs.iter().sum::<u64>() as f64;
        let moment = |power: i32| -> f64 {
            self.pairs.iter().zip(-2..).map(|(&count, points)| count as f64 * f64::from(points).powi(power)).sum()
        };
        // Twice the covariance is the variance of the pairs minus that of their games.
        let covariance = if pairs > 0.0 {
            (1.0 - 1.0 / pairs) * (moment(2) - moment(1).powi(2) / (2.0 * pairs) - decided * 2.0 * pairs / games)
        } else {
            0.0
        };
        let variance = decided + covariance;
        (games > 0.0).then(|| if variance > 0.0 { normal_cdf(difference / variance.sqrt()) } else { 0.5 })
    }

    /// The counts of pair scores, with [`NEVER`] for scores that did not occur.
    fn regular(&self) -> Option<[f64; 5]> {
        let any = self.pairs.iter().any(|&count| count > 0);
        any.then(|| self.pairs.map(|count| if count == 0 { NEVER } else { count as f64 }))
    }
}

/// The mean of the pair scores and its standard error.
fn mean_and_error(counts: &[f64; 5]) -> (f64, f64) {
    let pairs: f64 = counts.iter().sum();
    let mean = counts.iter().zip(PAIR_SCORES).map(|(count, score)| count * score).sum::<f64>() / pairs;
    let deviation = |score: f64| (score - mean) * (score - mean);
    let variance = counts.iter().zip(PAIR_SCORES).map(|(count, score)| count * deviation(score)).sum::<f64>() / pairs;
    (mean, (variance / pairs).sqrt())
}

/// The normal distribution's Φ(x), to 1e-7 (Abramowitz and Stegun 26.2.17).
fn normal_cdf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let polynomial = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let tail =
        polynomial.iter().fold(0.0, |sum, c| (sum + c) * t) * (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// A sequential probability ratio test of two hypotheses on the Elo difference, with error rates of 5 % both ways.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
}

/// The decision of a test.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The difference is `elo0`, or lower.
    Lower,
    /// The difference is `elo1`, or higher.
    Higher,
}

/// Why a text is not a test.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not a test: write two Elo differences within 1000, the lower one first, as in 0,10")]
pub struct ParseSprtError {
    text: String,
}

impl FromStr for Sprt {
    type Err = ParseSprtError;

    fn from_str(text: &str) -> Result<Sprt, ParseSprtError> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|elo| elo.abs() <= 1000.0);
        text.split_once(',')
            .and_then(|(elo0, elo1)| Sprt::new(number(elo0)?, number(elo1)?))
            .ok_or_else(|| ParseSprtError { text: text.to_owned() })
    }
}

impl Sprt {
    /// The bound of the log-likelihood ratio at which a test ends: the logarithm of 0.95 / 0.05.
    pub const BOUND: f64 = 2.944_438_979_166_440_4;

    /// A test of `elo0` against `elo1`; `None` unless `elo0` is the lower one.
    #[must_use]
    pub fn new(elo0: f64, elo1: f64) -> Option<Sprt> {
        (elo0 < elo1).then_some(Sprt { elo0, elo1 })
    }

    /// The lower of the two differences.
    #[must_use]
    pub fn elo0(&self) -> f64 {
        self.elo0
    }

    /// The higher of the two differences.
    #[must_use]
    pub fn elo1(&self) -> f64 {
        self.elo1
    }

    /// The log-likelihood ratio of the pairs under `elo1` to `elo0`.
    #[must_use]
    pub fn llr(&self, tally: &Tally) -> f64 {
        let Some(counts) = tally.regular() else { return 0.0 };
        let pairs: f64 = counts.iter().sum();
        let p = counts.map(|count| count / pairs);
        let (p0, p1) = (likeliest(&p, expected_score(self.elo0)), likeliest(&p, expected_score(self.elo1)));
        pairs * (0..5).map(|i| p[i] * (p1[i] / p0[i]).ln()).sum::<f64>()
    }

    /// The decision of the test; `None` before the ratio reaches a bound.
    #[must_use]
    pub fn decision(&self, tally: &Tally) -> Option<Decision> {
        let llr = self.llr(tally);
        if llr >= Sprt::BOUND { Some(Decision::Higher) } else { (llr <= -Sprt::BOUND).then_some(Decision::Lower) }
    }
}

/// The most likely distribution of pair scores with the mean `mean`, for observed frequencies `p`.
fn likeliest(p: &[f64; 5], mean: f64) -> [f64; 5] {
    let slope = |theta: f64| {
        (0..5).map(|i| p[i] * (PAIR_SCORES[i] - mean) / (1.0 + theta * (PAIR_SCORES[i] - mean))).sum::<f64>()
    };
    // Between these bounds the sum falls from infinity to minus infinity.
    let (mut low, mut high) = (-1.0 / (1.0 - mean), 1.0 / mean);
    for _ in 0..100 {
        let theta = (low + high) / 2.0;
        if slope(theta) > 0.0 {
            low = theta;
        } else {
            high = theta;
        }
    }
    let theta = (low + high) / 2.0;
    std::array::from_fn(|i| p[i] / (1.0 + theta * (PAIR_SCORES[i] - mean)))
}
