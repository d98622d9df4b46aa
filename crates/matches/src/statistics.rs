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
//! - The normalised Elo difference is 800/ln 10 times (m - 1/2)/σ, where m is the mean of the pair scores and σ² = 2v the
//!   variance of a game. The number of games that a test takes depends on it alone, whatever the share of draws.
//! - The SPRT's log-likelihood ratio compares two hypotheses on the normalised Elo difference: it is n Σ p ln(p₁/p₀), where
//!   p are the observed frequencies and pᵢ the most likely ones under hypothesis i.
//!
//! The SPRT counts a pair score that never occurred as 0.001 occurrences, as Fishtest and fastchess do. Sources: M. Van
//! den Bergh, *A Practical Introduction to the GSPRT* (2018) and *Comments on normalized Elo*; Fishtest's mathematics page.

use super::error::MatchError;
use std::f64::consts::{LN_10, SQRT_2};
use std::fmt;
use std::str::FromStr;

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

/// The normalised Elo of a mean that lies one standard deviation of a game above 1/2: close to 1/2, both kinds of Elo are
/// equal if every game is decided.
const NELO: f64 = 800.0 / LN_10;

/// The 97.5 % quantile of the normal distribution.
const QUANTILE: f64 = 1.959_964;

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
        let (pairs, [mean, deviation]) = (self.number_of_pairs(), self.mean_and_deviation());
        let error = deviation / pairs.sqrt();
        let (low, high) = (mean - QUANTILE * error, mean + QUANTILE * error);
        (pairs > 1.0 && error > 0.0 && low > 0.0 && high < 1.0).then(|| (elo(high) - elo(low)) / 2.0)
    }

    /// Half the width of the 95 % interval of the score; `None` if there are fewer than two pairs.
    #[must_use]
    pub fn score_error(&self) -> Option<f64> {
        let (pairs, [_, deviation]) = (self.number_of_pairs(), self.mean_and_deviation());
        (pairs > 1.0).then(|| QUANTILE * deviation / pairs.sqrt())
    }

    /// The normalised Elo difference, and half the width of its 95 % interval; `None` if all pairs have the same score or
    /// there are fewer than two pairs.
    #[must_use]
    pub fn nelo(&self) -> Option<(f64, f64)> {
        let (pairs, [mean, deviation]) = (self.number_of_pairs(), self.mean_and_deviation());
        let games = 2.0 * pairs;
        (pairs > 1.0 && deviation > 0.0)
            .then(|| (NELO * (mean - 0.5) / (SQRT_2 * deviation), NELO * QUANTILE / games.sqrt()))
    }

    fn number_of_pairs(&self) -> f64 {
        self.pairs.iter().sum::<u64>() as f64
    }

    /// The mean of the pair scores and their standard deviation; not a number without pairs.
    fn mean_and_deviation(&self) -> [f64; 2] {
        let pairs = self.number_of_pairs();
        mean_and_deviation(&self.pairs.map(|count| count as f64 / pairs))
    }

    /// The likelihood that the first player is the stronger one; `None` before the first game.
    #[must_use]
    pub fn los(&self) -> Option<f64> {
        let games = self.games() as f64;
        let (decided, difference) = ((self.wins + self.losses) as f64, self.wins as f64 - self.losses as f64);
        let pairs = self.number_of_pairs();
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

/// The mean and the standard deviation of pair scores with these frequencies.
fn mean_and_deviation(p: &[f64; 5]) -> [f64; 2] {
    let mean = (0..5).map(|i| p[i] * PAIR_SCORES[i]).sum::<f64>();
    let variance = (0..5).map(|i| p[i] * (PAIR_SCORES[i] - mean) * (PAIR_SCORES[i] - mean)).sum::<f64>();
    [mean, variance.sqrt()]
}

/// The normal distribution's Φ(x), to 1e-7 (Abramowitz and Stegun 26.2.17).
fn normal_cdf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let polynomial = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let tail =
        polynomial.iter().fold(0.0, |sum, c| (sum + c) * t) * (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// A sequential probability ratio test of two hypotheses on the normalised Elo difference, with error rates of 5 % both
/// ways. Its text is `NELO0,NELO1`.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Sprt {
    nelo0: f64,
    nelo1: f64,
}

/// The decision of a test.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The difference is `nelo0`, or lower.
    Lower,
    /// The difference is `nelo1`, or higher.
    Higher,
}

impl FromStr for Sprt {
    type Err = MatchError;

    fn from_str(text: &str) -> Result<Sprt, MatchError> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        text.split_once(',')
            .and_then(|(nelo0, nelo1)| Sprt::new(number(nelo0)?, number(nelo1)?))
            .ok_or_else(|| MatchError::Sprt { text: text.to_owned(), most: Sprt::MAX_NELO })
    }
}

impl fmt::Display for Sprt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.nelo0, self.nelo1)
    }
}

impl Sprt {
    /// The bound of the log-likelihood ratio at which a test ends: the logarithm of 0.95 / 0.05.
    pub const BOUND: f64 = 2.944_438_979_166_440_4;

    /// The greatest difference of a hypothesis.
    pub const MAX_NELO: f64 = 200.0;

    /// A test of `nelo0` against `nelo1`; `None` unless `nelo0` is the lower one and both are within ±[`Sprt::MAX_NELO`].
    #[must_use]
    pub fn new(nelo0: f64, nelo1: f64) -> Option<Sprt> {
        (-Sprt::MAX_NELO <= nelo0 && nelo0 < nelo1 && nelo1 <= Sprt::MAX_NELO).then_some(Sprt { nelo0, nelo1 })
    }

    /// The lower of the two differences.
    #[must_use]
    pub fn nelo0(&self) -> f64 {
        self.nelo0
    }

    /// The higher of the two differences.
    #[must_use]
    pub fn nelo1(&self) -> f64 {
        self.nelo1
    }

    /// The log-likelihood ratio of the pairs under `nelo1` to `nelo0`.
    #[must_use]
    pub fn llr(&self, tally: &Tally) -> f64 {
        let Some(counts) = tally.regular() else { return 0.0 };
        let pairs: f64 = counts.iter().sum();
        let p = counts.map(|count| count / pairs);
        let [p0, p1] = [self.nelo0, self.nelo1].map(|nelo| likeliest(&p, SQRT_2 * nelo / NELO));
        pairs * (0..5).map(|i| p[i] * (p1[i] / p0[i]).ln()).sum::<f64>()
    }

    /// The decision of the test; `None` before the ratio reaches a bound.
    #[must_use]
    pub fn decision(&self, tally: &Tally) -> Option<Decision> {
        let llr = self.llr(tally);
        if llr >= Sprt::BOUND { Some(Decision::Higher) } else { (llr <= -Sprt::BOUND).then_some(Decision::Lower) }
    }
}

/// The most likely distribution of pair scores whose mean lies `t` standard deviations above 1/2, for observed
/// frequencies `p` (Van den Bergh, *Comments on normalized Elo*, section 4.1).
///
/// With the gradient g of mean - 1/2 - t deviation at the last approximation, the next one is the most likely
/// distribution in which g has the expectation 0: p/(1 + θ g), where θ solves Σ p g/(1 + θ g) = 0.
fn likeliest(p: &[f64; 5], t: f64) -> [f64; 5] {
    let mut found = [0.2; 5];
    for _ in 0..20 {
        let [mean, deviation] = mean_and_deviation(&found);
        let gradient = PAIR_SCORES.map(|a| a - 0.5 - t * deviation / 2.0 * (1.0 + ((a - mean) / deviation).powi(2)));
        let Some(theta) = root(p, &gradient) else { break };
        let next: [f64; 5] = std::array::from_fn(|i| p[i] / (1.0 + theta * gradient[i]));
        let change = (0..5).map(|i| (next[i] - found[i]).abs()).fold(0.0, f64::max);
        found = next;
        if change < 1e-9 {
            break;
        }
    }
    found
}

/// The θ with Σ p g/(1 + θ g) = 0 and positive denominators; `None` if all g have the same sign.
fn root(p: &[f64; 5], g: &[f64; 5]) -> Option<f64> {
    let (least, most) = g.iter().fold((0.0f64, 0.0f64), |(least, most), &g| (least.min(g), most.max(g)));
    if least == 0.0 || most == 0.0 {
        return None;
    }
    // Between these bounds the sum falls from infinity to minus infinity.
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    for _ in 0..60 {
        let theta = (low + high) / 2.0;
        if (0..5).map(|i| p[i] * g[i] / (1.0 + theta * g[i])).sum::<f64>() > 0.0 {
            low = theta;
        } else {
            high = theta;
        }
    }
    Some((low + high) / 2.0)
}
