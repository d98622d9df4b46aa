//! The statistics against results of other programs, tables and plain twins.

use doushouqi::game::random::Random;
use matches::statistics::elo;
use matches::{Decision, Sprt, Tally};

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}

/// A tally of these pairs alone; the pairs of one point are two draws.
fn pairs(pairs: [u64; 5]) -> Tally {
    let [a, b, c, d, e] = pairs;
    Tally { wins: d + 2 * e, draws: b + 2 * c + d, losses: 2 * a + b, pairs }
}

/// The log-likelihood ratio of the hypotheses under these pairs.
fn llr(nelo0: f64, nelo1: f64, p: [u64; 5]) -> f64 {
    Sprt::new(nelo0, nelo1).unwrap().llr(&pairs(p))
}

/// Values of the tests of fastchess, which have three digits.
#[test]
fn the_statistics_agree_with_fastchess() {
    close(llr(0.0, 2.0, [365, 16618, 36029 + 200, 16974, 390]), 2.25, 0.005);
    close(llr(-1.75, 0.25, [127, 4883, 10311 + 401, 5150, 104]), 3.01, 0.005);
    let tally = pairs([34, 54, 31 + 32, 64, 75]);
    close(tally.elo().unwrap(), 55.58, 0.005);
    close(tally.elo_error().unwrap(), 27.65, 0.005);
    let (nelo, error) = tally.nelo().unwrap();
    close(nelo, 57.94, 0.005);
    close(error, 28.28, 0.005);
}

/// The mean of pairs lies this many of their standard deviations above 1/2.
fn deviations(nelo: f64) -> f64 {
    2f64.sqrt() * nelo * 10f64.ln() / 800.0
}

/// With two possible results the ratio is Wald's: each result has the probability that the hypothesis states.
#[test]
fn llr_agrees_with_wald() {
    // A mean m has the deviation √(m (1 - m)).
    let mean = |nelo: f64| 0.5 + deviations(nelo) / (2.0 * (1.0 + deviations(nelo).powi(2)).sqrt());
    for (lost, won, nelo0, nelo1) in [(10, 20, 0.0, 50.0), (300, 310, -10.0, 10.0), (7, 3, 0.0, 100.0)] {
        let (m0, m1) = (mean(nelo0), mean(nelo1));
        let expected = won as f64 * (m1 / m0).ln() + lost as f64 * ((1.0 - m1) / (1.0 - m0)).ln();
        close(llr(nelo0, nelo1, [lost, 0, 0, 0, won]), expected, 0.002);
    }
}

/// Compares with the maximum found by trying distributions on a grid, for three kinds of pairs.
#[test]
fn llr_is_the_ratio_of_maxima() {
    for counts in [[12u64, 0, 30, 0, 18], [3, 0, 90, 0, 7], [40, 0, 5, 0, 30]] {
        let likelihood = |nelo: f64| {
            let t = deviations(nelo);
            let log = |p: [f64; 3]| counts.iter().step_by(2).zip(p).map(|(n, p)| *n as f64 * p.ln()).sum::<f64>();
            let grid = (1..1_000_000).map(|i| f64::from(i) / 1e6).filter_map(|middle| {
                // The mean is (1 + d)/2 and the variance (1 - middle - d²)/4 for the difference d of the other two.
                let d = t * ((1.0 - middle) / (1.0 + t * t)).sqrt();
                let p = [(1.0 - middle - d) / 2.0, middle, (1.0 - middle + d) / 2.0];
                p.iter().all(|p| *p > 0.0).then(|| log(p))
            });
            grid.fold(f64::NEG_INFINITY, f64::max)
        };
        for (nelo0, nelo1) in [(0.0, 4.0), (-5.0, 30.0), (-100.0, 100.0)] {
            close(llr(nelo0, nelo1, counts), likelihood(nelo1) - likelihood(nelo0), 0.01);
        }
    }
}

/// The share of simulated tests that accept the higher bound, if pairs of 0, 1/2, 1, 3/2 and 2 points have these shares.
fn accepted(sprt: Sprt, percent: [usize; 5]) -> f64 {
    const TESTS: u64 = 100;
    let mut higher = 0;
    for test in 0..TESTS {
        let mut random = Random::numbered(7, test);
        let mut tally = Tally::default();
        let decision = loop {
            for _ in 0..8 {
                let mut rest = random.below(100);
                let score = percent.iter().position(|share| {
                    let found = rest < *share;
                    rest = rest.wrapping_sub(*share);
                    found
                });
                tally.pairs[score.unwrap()] += 1;
            }
            if let Some(decision) = sprt.decision(&tally) {
                break decision;
            }
        };
        higher += u64::from(decision == Decision::Higher);
    }
    higher as f64 / TESTS as f64
}

/// Simulated tests of a known difference end on the right side, except for at most about 5 % of them.
#[test]
fn simulated_tests_end_on_the_right_side() {
    let (equal, better) = ([5, 20, 50, 20, 5], [4, 18, 48, 23, 7]);
    let nelo = pairs(better.map(|percent| percent as u64)).nelo().unwrap().0;
    close(nelo, 29.52, 0.01);
    let gain = Sprt::new(0.0, nelo).unwrap();
    assert!(accepted(gain, equal) <= 0.1 && accepted(gain, better) >= 0.9);
    let simplification = Sprt::new(-nelo, 0.0).unwrap();
    let mut worse = better;
    worse.reverse();
    assert!(accepted(simplification, equal) >= 0.9 && accepted(simplification, worse) <= 0.1);
    // Between the hypotheses either decision is right.
    assert!((0.2..0.8).contains(&accepted(Sprt::new(-nelo, nelo).unwrap(), equal)));
}

#[test]
fn decisions() {
    let sprt: Sprt = "0,50".parse().unwrap();
    assert_eq!(sprt.decision(&Tally::default()), None);
    assert_eq!(sprt.decision(&pairs([0, 1, 10, 5, 4])), None);
    assert_eq!(sprt.decision(&pairs([5, 20, 100, 60, 40])), Some(Decision::Higher));
    assert_eq!(sprt.decision(&pairs([40, 60, 100, 20, 5])), Some(Decision::Lower));
    close(Sprt::BOUND, (0.95f64 / 0.05).ln(), 1e-12);
    // The ratio is a number however far the results are from the hypotheses.
    for counts in [[0, 0, 9, 0, 0], [0, 0, 100_000, 0, 0], [9, 0, 0, 0, 0], [0, 0, 0, 0, 100_000], [1, 0, 0, 0, 1]] {
        for bounds in ["-200,200", "0,4", "-4,0", "199,200"] {
            let sprt: Sprt = bounds.parse().unwrap();
            assert!(sprt.llr(&pairs(counts)).is_finite(), "{counts:?} {bounds}");
            assert_eq!(sprt.to_string(), bounds);
        }
    }
    for text in ["", "1", "5,5", "10,0", "a,b", "0,NaN", "-inf,0", "0,201", "-201,0", "0,4,8", "--json"] {
        let error = text.parse::<Sprt>().unwrap_err().to_string();
        assert!(error.contains("from -200 to 200") && error.contains("0,4"), "{text}: {error}");
    }
}

#[test]
fn elo_and_its_error() {
    close(elo(0.5), 0.0, 1e-12);
    close(elo(10.0 / 11.0), 400.0, 1e-9);
    // 100 pairs: mean 0.6, variance by hand (5 x 0.36 + 15 x 0.1225 + 30 x 0.01 + 35 x 0.0225 + 15 x 0.16) / 100.
    let tally = pairs([5, 15, 30, 35, 15]);
    close(tally.score().unwrap(), 0.6, 1e-12);
    close(tally.elo().unwrap(), 70.436_504, 1e-5);
    let error = (0.07125f64 / 100.0).sqrt();
    let half_width = (elo(0.6 + 1.959_964 * error) - elo(0.6 - 1.959_964 * error)) / 2.0;
    close(tally.elo_error().unwrap(), half_width, 1e-9);
    // Φ(40 / √V), V = 90 + 0.99 (130 - 40²/200 - 90) = 121.68: Φ(3.626_19), from a table of the normal distribution.
    close(tally.los().unwrap(), 0.999_856, 1e-6);
    // Φ(-1): a mean of one standard error less than a half. Pairs of 0 and 2 points: (w - l)² = w + l - (w - l)²/n.
    let (lost, won) = (55, 45);
    let n = 100.0f64;
    let mean = 0.45f64;
    let z = (mean - 0.5) / (mean * (1.0 - mean) / n).sqrt();
    close(z, -1.005_038, 1e-6);
    close(pairs([lost, 0, 0, 0, won]).los().unwrap(), 0.157_440, 1e-4);
    // Φ((w - l) / √(w + l)) without draws: Φ(√2), Φ(2) and Φ(1), from the same table.
    close(pairs([0, 0, 0, 0, 1]).los().unwrap(), 0.921_350, 1e-6);
    close(pairs([0, 0, 0, 0, 2]).los().unwrap(), 0.977_250, 1e-6);
    close(Tally { wins: 1, ..Tally::default() }.los().unwrap(), 0.841_345, 1e-6);
    // Biased openings: each pair has a won and a lost game, so few other pairs are evidence.
    close(pairs([0, 0, 100, 0, 0]).los().unwrap(), 0.5, 1e-9);
    assert!(Tally { wins: 110, losses: 100, draws: 0, pairs: [0, 0, 100, 0, 5] }.los().unwrap() > 0.98);
    close(Tally { draws: 2, pairs: [0, 0, 1, 0, 0], ..Tally::default() }.los().unwrap(), 0.5, 1e-9);
    assert_eq!((Tally::default().elo(), Tally::default().los(), Tally::default().elo_error()), (None, None, None));
    assert_eq!((Tally::default().nelo(), pairs([0, 0, 9, 0, 0]).nelo()), (None, None));
    assert_eq!((pairs([0, 0, 0, 0, 9]).elo(), pairs([0, 0, 0, 0, 9]).elo_error()), (None, None));
    assert!(pairs([0, 0, 0, 0, 9]).los().unwrap() > 0.999);
}
