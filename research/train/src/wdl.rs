//! The fit of the curve from scores to results: maximum likelihood over the moves of games.

use doushouqi::board::Color;
use doushouqi::game::Record;
use doushouqi::search::WdlCurve;
use std::collections::{BTreeMap, HashSet};

/// The scores, in centipawns, that count as one.
const BUCKET: i32 = 10;

/// The moves with a score, by score and pieces, with the results for the mover.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scored {
    /// The number of different games.
    pub games: u64,
    /// The wins, draws and losses by the score in centipawns, rounded to tens, and the number of pieces.
    pub cells: BTreeMap<(i32, usize), [u64; 3]>,
    seen: HashSet<String>,
}

impl Scored {
    /// Adds the moves of a finished game that have a comment such as `cp 12 depth 9`. An equal game counts once, and a
    /// forfeit says nothing about scores.
    pub fn add(&mut self, record: &Record) {
        let conclusion = record.conclusion();
        let moves: String = record.game.moves().iter().map(ToString::to_string).collect();
        if conclusion.result() == "*"
            || record.forfeit.is_some()
            || !self.seen.insert(format!("{}{moves}", record.game.start_fen()))
        {
            return;
        }
        self.games += 1;
        for (position, comment) in record.game.positions().iter().zip(&record.comments) {
            let mut words = comment.split(' ');
            let (Some("cp"), Some(Ok(cp))) = (words.next(), words.next().map(str::parse::<i32>)) else { continue };
            if words.next().is_some_and(|word| word.ends_with("bound")) {
                continue;
            }
            let score = (f64::from(cp) / f64::from(BUCKET)).round() as i32 * BUCKET;
            let cell = self.cells.entry((score, position.occupied().len())).or_default();
            cell[result(conclusion.winner(), position.turn())] += 1;
        }
    }

    /// The number of moves.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.cells.values().flatten().sum()
    }

    /// The mean negative logarithm of the probability that a curve gives to the results.
    #[must_use]
    pub fn loss(&self, curve: &WdlCurve) -> f64 {
        let of_cell = |(&(cp, pieces), counts): (&(i32, usize), &[u64; 3])| {
            let chances = curve.chances(cp.into(), pieces);
            let parts = [chances.win, chances.draw, chances.loss];
            parts.iter().zip(counts).map(|(chance, &count)| -chance.max(1e-9).ln() * count as f64).sum::<f64>()
        };
        self.cells.iter().map(of_cell).sum::<f64>() / self.moves().max(1) as f64
    }

    /// The curve of the greatest likelihood, by a pattern search: steps along one parameter, halved while none helps.
    #[must_use]
    pub fn fit(&self) -> WdlCurve {
        // In hundredths and centipawns all parameters have about the same size.
        let curve = |[a, b, c, d, e, f]: [f64; 6]| WdlCurve {
            draws: [a / 100.0, b / 100.0],
            decision: [c, d],
            balance: [e, f],
        };
        let mut best = [200.0; 6];
        let (mut least, mut step) = (self.loss(&curve(best)), 64.0);
        while step > 0.1 {
            let before = least;
            for (i, change) in (0..best.len()).flat_map(|i| [(i, step), (i, -step)]) {
                let mut tried = best;
                tried[i] += change;
                if tried[2..].iter().all(|&scale| scale >= 1.0) {
                    let loss = self.loss(&curve(tried));
                    if loss < least {
                        (best, least) = (tried, loss);
                    }
                }
            }
            if least == before {
                step /= 2.0;
            }
        }
        curve(best.map(f64::round))
    }
}

/// The result for a side: 0 a win, 1 a draw, 2 a loss.
fn result(winner: Option<Color>, side: Color) -> usize {
    winner.map_or(1, |winner| if winner == side { 0 } else { 2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fit finds the curve that made the results.
    #[test]
    fn the_fit_finds_the_curve_behind_the_results() {
        let truth = WdlCurve { draws: [1.5, 2.5], decision: [150.0, 250.0], balance: [120.0, 210.0] };
        let mut scored = Scored::default();
        for pieces in 4..=16 {
            for cp in (-900..=900).step_by(BUCKET as usize) {
                let chances = truth.chances(cp.into(), pieces);
                let counts = [chances.win, chances.draw, chances.loss].map(|chance| (chance * 1e6).round() as u64);
                scored.cells.insert((cp, pieces), counts);
            }
        }
        let found = scored.fit();
        for (found, truth) in
            [(found.draws, truth.draws), (found.decision, truth.decision), (found.balance, truth.balance)]
        {
            assert!(found.iter().zip(truth).all(|(a, b)| (a - b).abs() <= 0.02 * b), "{found:?}, not {truth:?}");
        }
    }

    #[test]
    fn moves_with_a_score_count_for_their_mover() {
        let game = "[Termination \"adjudication\"]\n\n1. Eb3 {cp 12 depth 9} rb7 {cp -37 depth 8} 2. Ea3 {mate 3} \
                    ra7 {cp 50 lowerbound depth 3} 1-0\n";
        let records = Record::parse_all(&format!("{game}\n{game}")).unwrap();
        let mut scored = Scored::default();
        records.iter().for_each(|record| scored.add(record));
        assert_eq!(scored.games, 1, "an equal game counts once");
        assert_eq!(scored.cells, BTreeMap::from([((10, 16), [1, 0, 0]), ((-40, 16), [0, 0, 1])]));
    }
}
