//! The statistics against results of other programs, tables and plain twins.

use matches::statistics::{elo, expected_score};
use matches::{Decision, Sprt, Tally};

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}

/// A tally of these pairs alone; the pairs of one point are two draws.
fn pairs(pairs: [u64; 5]) -> Tally {
    let [a, b, c, d, e] = pairs;
    Tally { wins: d + 2 * e, draws: b + 2 * c + d, losses: 2 * a + b, pairs }
}

/// Worked examples that fastchess 1.x prints for the logistic model.
#[test]
fn llr_agrees_with_fastchess() {
    let llr = |elo0, elo1, p| Sprt::new(elo0, elo1).unwrap().llr(&pairs(p));
    close(llr(0.5, 2.5, [223, 9863, 20279 + 1000, 10037, 246]), -3.07, 0.005);
    close(llr(0.0, 2.0, [871, 26175, 55003 + 980, 26678, 821]), -4.98, 0.005);
}

/// With two possible results the ratio is Wald's: each result has the probability that the hypothesis states.
#[test]
fn llr_agrees_with_wald() {
    for (lost, won, elo0, elo1) in [(10, 20, 0.0, 50.0), (300, 310, -10.0, 10.0), (7, 3, 0.0, 100.0)] {
        let (s0, s1) = (expected_score(elo0), expected_score(elo1));
        let expected = won as f64 * (s1 / s0).ln() + lost as f64 * ((1.0 - s1) / (1.0 - s0)).ln();
        close(Sprt::new(elo0, elo1).unwrap().llr(&pairs([lost, 0, 0, 0, won])), expected, 0.002);
    }
}

/// Compares with the maximum found by trying distributions on a grid, for three kinds of pairs.
#[test]
fn llr_is_the_ratio_of_maxima() {
    let counts = [12u64, 0, 30, 0, 18];
    let likelihood = |mean: f64| {
        // The mean determines p(1) - p(0), so one number is free.
        let log = |p: [f64; 3]| counts.iter().step_by(2).zip(p).map(|(n, p)| *n as f64 * p.ln()).sum::<f64>();
        let grid = (1..1_000_000).map(|i| f64::from(i) / 1e6).filter_map(|middle| {
            let top = mean - middle / 2.0;
            let p = [1.0 - middle - top, middle, top];
            p.iter().all(|p| *p > 0.0).then(|| log(p))
        });
        grid.fold(f64::NEG_INFINITY, f64::max)
    };
    let expected = likelihood(expected_score(30.0)) - likelihood(expected_score(-5.0));
    close(Sprt::new(-5.0, 30.0).unwrap().llr(&pairs(counts)), expected, 0.005);
}

#[test]
fn decisions() {
    let sprt: Sprt = "0,50".parse().unwrap();
    assert_eq!(sprt.decision(&Tally::default()), None);
    assert_eq!(sprt.decision(&pairs([0, 1, 10, 5, 4])), None);
    assert_eq!(sprt.decision(&pairs([5, 20, 100, 60, 40])), Some(Decision::Higher));
    assert_eq!(sprt.decision(&pairs([40, 60, 100, 20, 5])), Some(Decision::Lower));
    close(Sprt::BOUND, (0.95f64 / 0.05).ln(), 1e-12);
    for text in ["", "1", "5,5", "10,0", "a,b", "0,NaN", "-inf,0"] {
        assert!(text.parse::<Sprt>().is_err(), "{text}");
    }
}

#[test]
fn elo_and_its_error() {
    close(elo(0.5), 0.0, 1e-12);
    close(elo(10.0 / 11.0), 400.0, 1e-9);
    close(expected_score(elo(0.7)), 0.7, 1e-12);
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
    assert_eq!((pairs([0, 0, 0, 0, 9]).elo(), pairs([0, 0, 0, 0, 9]).elo_error()), (None, None));
    assert!(pairs([0, 0, 0, 0, 9]).los().unwrap() > 0.999);
}
