//! The chances of a win, a draw and a loss that an estimate stands for, between equal engines.

use super::score::Score;

/// The chances of the side to move.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Chances {
    /// The probability of a win.
    pub win: f64,
    /// The probability of a draw.
    pub draw: f64,
    /// The probability of a loss.
    pub loss: f64,
}

impl Chances {
    /// The expected points: 1 for a win, a half for a draw.
    #[must_use]
    pub fn expected(self) -> f64 {
        self.win + self.draw / 2.0
    }

    /// Win, draw and loss in permille, 1,000 together.
    ///
    /// ```
    /// use doushouqi::search::Score;
    /// assert_eq!(Score::win(3).chances(8).per_mille(), [1000, 0, 0]);
    /// assert_eq!(Score::estimate(150).chances(8).per_mille().iter().sum::<u32>(), 1000);
    /// ```
    #[must_use]
    pub fn per_mille(self) -> [u32; 3] {
        let [win, loss] = [self.win, self.loss].map(|chance| (chance * 1000.0).round() as u32);
        let loss = loss.min(1000 - win);
        [win, 1000 - win - loss, loss]
    }
}

/// A curve from scores to chances. A game is decided with the chance `1 / (1 + exp(draws - |score| / decision))`, and a
/// decided game is won with the chance `1 / (1 + exp(-score / balance))`. The parameters change evenly with the number of
/// pieces.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct WdlCurve {
    /// The logarithm of draws by decided games at the score 0, with 2 and with 16 pieces.
    pub draws: [f64; 2],
    /// The score in centipawns that multiplies decided games by draws by e, with 2 and with 16 pieces.
    pub decision: [f64; 2],
    /// The score in centipawns that multiplies wins by losses by e, with 2 and with 16 pieces.
    pub balance: [f64; 2],
}

impl WdlCurve {
    /// The curve of the engine, by `dsq-lab wdl` from its games (results/engine.md).
    pub const ENGINE: WdlCurve = WdlCurve { draws: [3.15, 1.63], decision: [340.0, 203.0], balance: [171.0, 231.0] };

    /// The chances of an estimate in centipawns, in a position of so many pieces.
    #[must_use]
    pub fn chances(&self, cp: f64, pieces: usize) -> Chances {
        let part = (pieces.clamp(2, 16) - 2) as f64 / 14.0;
        let at = |[few, all]: [f64; 2]| few + (all - few) * part;
        let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
        let decided = logistic(cp.abs() / at(self.decision) - at(self.draws));
        let [win, loss] = [cp, -cp].map(|cp| decided * logistic(cp / at(self.balance)));
        Chances { win, draw: 1.0 - decided, loss }
    }
}

impl Score {
    /// The chances of the side to move between equal engines, in a position of so many pieces. A certain win or loss is
    /// certain.
    #[must_use]
    pub fn chances(self, pieces: usize) -> Chances {
        match self {
            _ if self.is_win() => Chances { win: 1.0, draw: 0.0, loss: 0.0 },
            _ if self.is_loss() => Chances { win: 0.0, draw: 0.0, loss: 1.0 },
            _ => WdlCurve::ENGINE.chances(self.value().into(), pieces),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_symmetric_and_grow_with_the_score() {
        for pieces in 0..20 {
            let chances = |cp: i32| Score::estimate(cp).chances(pieces);
            for cp in -3000..3000 {
                let (own, other) = (chances(cp), chances(-cp));
                assert_eq!((own.win, own.draw), (other.loss, other.draw), "{cp} {pieces}");
                assert!(
                    (own.win + own.draw + own.loss - 1.0).abs() < 1e-9 && own.expected() <= chances(cp + 1).expected()
                );
                assert_eq!(own.per_mille().iter().sum::<u32>(), 1000);
            }
        }
        assert!(Score::loss(4).chances(5).expected() < Score::estimate(-20_000).chances(5).expected());
    }
}
