//! Values as scores: numbers ordered by the value of a *move to* the position. The best successor has the greatest
//! score, and the value of a position follows from it by a subtraction.
//!
//! With `H` half of the range of a cell and `M` its greatest number, the scores are
//!
//! ```text
//! no such position                    0
//! won in p plies (code p + 2, odd)    code / 2             1, 3, ... plies: 1, 2, ..., H - 1
//! draw                                H
//! no move, where that draws           H + 1                as good as a draw
//! lost in p plies (code even)         M + 1 - code / 2     where no move loses; one more where it draws
//! no move, where that loses           M                    lost in 0
//! ```
//!
//! Under a no-capture limit (DTZ) the numbers of plies stand for distances: a win with the number 2 t - 1 has the score t, so a
//! quiet move adds 1 to either distance. A position that is decided too late is a draw. What a capture leads to has no
//! distance of its own: see [`Scale::captured`].

use crate::board::{NoMove, RuleOptions};
use crate::tablebase::CellValue;

/// The integer type of a score: `u8`, or `u16` for longer lines.
pub(super) trait Score: Copy + Ord + Send + Sync + std::fmt::Debug + 'static {
    const ZERO: Self;
    const MAX: Self;
    /// The draw: half of the range.
    const HALF: Self;
    /// The score of a position won in one ply.
    const ONE: Self;
    /// Bytes of a cell.
    const BYTES: usize;

    fn wrapping_add(self, other: Self) -> Self;
    fn wrapping_neg(self) -> Self;
    fn number(self) -> u16;
    /// The score with this number, which must fit.
    fn cell(number: u16) -> Self;
}

macro_rules! score {
    ($($cell:ident),+) => {$(
        impl Score for $cell {
            const ZERO: Self = 0;
            const MAX: Self = $cell::MAX;
            const HALF: Self = $cell::MAX / 2 + 1;
            const ONE: Self = 1;
            const BYTES: usize = size_of::<$cell>();

            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn wrapping_neg(self) -> Self {
                self.wrapping_neg()
            }

            #[inline(always)]
            fn number(self) -> u16 {
                self.into()
            }

            #[inline(always)]
            fn cell(number: u16) -> Self {
                number as $cell
            }
        }
    )+};
}

score!(u8, u16);

/// The conversion between codes and scores under given rules.
#[derive(Copy, Clone, Debug)]
pub(super) struct Scale {
    no_move_draws: bool,
    no_capture_limit: Option<u16>,
}

/// What a capture under a no-capture limit gives.
pub(super) enum Captured<C> {
    /// A win in one ply.
    Won,
    /// A loss, however long, that other moves may delay.
    Lost,
    /// A score as any other: of a draw, or without a limit.
    Score(C),
}

impl Scale {
    /// The most plies before a limit for scores of a byte.
    pub(super) const NARROW_LIMIT: u16 = 125;

    pub(super) fn new(rules: &RuleOptions) -> Scale {
        Scale { no_move_draws: rules.no_move == NoMove::Draw, no_capture_limit: rules.no_capture_limit }
    }

    /// The greatest score of a draw.
    #[inline(always)]
    fn drawn<C: Score>(self) -> C {
        if self.no_move_draws { C::HALF.wrapping_add(C::ONE) } else { C::HALF }
    }

    /// What a capture gives that leads to a position with this score.
    #[inline(always)]
    pub(super) fn captured<C: Score>(self, score: C) -> Captured<C> {
        match self.no_capture_limit {
            Some(_) if score > self.drawn() => Captured::Won,
            Some(_) if score < C::HALF => Captured::Lost,
            _ => Captured::Score(score),
        }
    }

    /// The score of a position whose moves are all captures that lose under a limit.
    #[inline(always)]
    pub(super) fn lost_by_capture<C: Score>(self) -> C {
        self.score(CellValue::Decided(2).code())
    }

    /// The score of a code, which must fit a cell of this width.
    #[inline(always)]
    pub(super) fn score<C: Score>(self, code: u16) -> C {
        let half = C::HALF.number();
        C::cell(match code {
            0 => 0,
            1 => half,
            2 if self.no_move_draws => half + 1,
            odd if odd % 2 == 1 => odd / 2,
            even => C::MAX.number() - (even / 2 - 1) + u16::from(self.no_move_draws),
        })
    }

    /// The code of a score.
    pub(super) fn code<C: Score>(self, score: C) -> u16 {
        let (half, score) = (C::HALF.number(), score.number());
        match score {
            0 => 0,
            draw if draw == half => 1,
            none if self.no_move_draws && none == half + 1 => 2,
            won if won < half => 2 * won + 1,
            lost => 2 * (C::MAX.number() - lost + 1 + u16::from(self.no_move_draws)),
        }
    }

    /// The score of a position whose best successor has the score `best`, with 0 for a position without a legal move.
    /// If the successor is [`Scale::too_long`], the loss does not fit a cell.
    #[inline(always)]
    pub(super) fn before<C: Score>(self, best: C) -> C {
        let turned = best.wrapping_neg();
        let (half, one) = (C::HALF, C::ONE);
        if let Some(limit) = self.no_capture_limit {
            return self.before_within(limit, best);
        }
        if self.no_move_draws {
            let drawn = self.drawn();
            let lost = if best == C::ZERO { drawn } else { turned };
            let won = if best <= drawn { half } else { turned.wrapping_add(one) };
            if best < half { lost } else { won }
        } else {
            // `-best - 1` for losses: 0 (no move) becomes the greatest score.
            if best < half { turned.wrapping_add(C::MAX) } else { turned }
        }
    }

    /// [`before`](Scale::before) under a no-capture limit, with the best successor by a quiet move or a capture that draws.
    #[inline(always)]
    fn before_within<C: Score>(self, limit: u16, best: C) -> C {
        let no_move = C::MAX.number();
        let (draw, drawn, best) = (C::HALF.number(), self.drawn::<C>().number(), best.number());
        // The score of a position lost in 0 plies, which exists only if no move loses.
        let lost = no_move + u16::from(self.no_move_draws);
        C::cell(match best {
            0 if self.no_move_draws => drawn,
            0 => no_move,
            won if won < draw && won < limit => lost - (won + 1),
            later if later <= drawn => draw,
            losing if lost - losing < limit => lost - losing + 1,
            _ => draw,
        })
    }

    /// The score of the same result with the shortest distance: a win in 1 ply, a draw, a loss in 2 plies.
    pub(super) fn result<C: Score>(self, score: C) -> C {
        let draws = self.drawn::<C>().number();
        match score.number() {
            0 => C::ZERO,
            won if won < C::HALF.number() => C::ONE,
            drawn if drawn <= draws => C::HALF,
            _ => self.score(CellValue::Decided(2).code()),
        }
    }

    /// The score of a best successor after which the distance does not fit a cell of this width.
    #[inline(always)]
    pub(super) fn too_long<C: Score>() -> C {
        C::HALF.wrapping_add(C::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::Metric;

    /// The value of a position with a single successor, given the successor's code; the simple twin.
    fn plain(code: u16, no_move: NoMove) -> Option<CellValue> {
        let plies = match CellValue::from_code(code)? {
            CellValue::Draw => return Some(CellValue::Draw),
            CellValue::NoMove if no_move == NoMove::Draw => return Some(CellValue::Draw),
            CellValue::NoMove => 0,
            CellValue::Decided(plies) => plies,
        };
        Some(CellValue::Decided(plies + 1))
    }

    /// The rank of a move to a position with this code: the quickest loss of the opponent is best, the quickest win of
    /// the opponent is worst.
    fn rank(code: u16, no_move: NoMove) -> i32 {
        match plain(code, no_move) {
            Some(CellValue::Decided(plies)) if plies % 2 == 1 => 1_000_000 - i32::from(plies),
            Some(CellValue::Decided(plies)) => i32::from(plies) - 1_000_000,
            _ => 0,
        }
    }

    fn scores_are_the_codes<C: Score>(step: usize) {
        for &no_move in NoMove::ALL {
            let scale = Scale::new(&RuleOptions::PAPER.no_move(no_move));
            let codes: Vec<u16> = (0..=C::MAX.number()).step_by(step).chain([1, 2, 3, C::MAX.number()]).collect();
            for &code in &codes {
                let score: C = scale.score(code);
                assert_eq!(scale.code(score), code);
                if code > 0 && score != Scale::too_long() {
                    let before = CellValue::from_code(scale.code(scale.before(score)));
                    assert_eq!(before, plain(code, no_move), "{no_move:?} {code}");
                }
                for &other in codes.iter().step_by(step) {
                    if code > 0 && other > 0 && rank(code, no_move) != rank(other, no_move) {
                        let other_score: C = scale.score(other);
                        assert_eq!(score > other_score, rank(code, no_move) > rank(other, no_move), "{code} {other}");
                    }
                }
            }
            assert_eq!(scale.code(scale.before(C::ZERO)), CellValue::NoMove.code());
            assert_eq!(scale.code(C::ONE), CellValue::Decided(1).code());
            let longest = scale.code(Scale::too_long::<C>());
            assert!(u32::from(longest) + 1 > u32::from(C::MAX.number()), "{longest}");
        }
    }

    /// Under a limit, a quiet move and a capture change a value as its metric says, in cells of either width.
    fn scores_follow_the_metric<C: Score>(limit: u16) {
        for &no_move in NoMove::ALL {
            let (scale, metric) =
                (Scale::new(&RuleOptions::PAPER.no_move(no_move).within(Some(limit))), Metric::Dtz(limit));
            for code in 1..=2 * limit + 2 {
                let score: C = scale.score(code);
                assert_eq!(scale.code(score), code);
                let plies = match CellValue::from_code(code).unwrap() {
                    CellValue::Decided(number) => Some(number).filter(|number| *number > 0),
                    CellValue::NoMove => Some(0).filter(|_| no_move == NoMove::Loss),
                    CellValue::Draw => None,
                };
                let value = |converts| plies.and_then(|number| metric.before(number, converts));
                let value = |converts| value(converts).map_or(CellValue::Draw, CellValue::Decided).code();
                assert_eq!(scale.code(scale.before(score)), value(false), "{no_move:?}, {limit}: {code}");
                let captured = match scale.captured(score) {
                    Captured::Won => C::ONE,
                    Captured::Lost => scale.lost_by_capture(),
                    Captured::Score(score) => scale.before(score),
                };
                assert_eq!(scale.code(captured), value(true), "{no_move:?}, {limit}: capture, {code}");
            }
            assert_eq!(scale.code(scale.before(C::ZERO)), CellValue::NoMove.code());
        }
    }

    #[test]
    fn scores_under_a_limit_are_the_metric() {
        [1, 2, 30, Scale::NARROW_LIMIT].into_iter().for_each(scores_follow_the_metric::<u8>);
        [1, 126, RuleOptions::MAX_NO_CAPTURE_LIMIT].into_iter().for_each(scores_follow_the_metric::<u16>);
    }

    #[test]
    fn scores_are_in_order_and_turn_into_values() {
        scores_are_the_codes::<u8>(1);
        scores_are_the_codes::<u16>(37);
    }
}
