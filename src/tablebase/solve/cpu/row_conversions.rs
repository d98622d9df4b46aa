//! The best conversions of the positions of a row, sorted by depth.

use crate::cpu::Vector;
use crate::tablebase::Metric;
use crate::tablebase::index::{Index, WIDTH};
use crate::tablebase::solve::captures::CapturedCells;
use crate::tablebase::solve::cpu::buckets::{Buckets, Entry};
use crate::tablebase::solve::cpu::conversions::{ConversionValue, Conversions, ESCAPE, NOTHING, WIN_IN_ONE};
use crate::tablebase::solve::cpu::lookup::{Best, Lookup};
use crate::tablebase::solve::cpu::quiet::MAX_ROW_PIECES;
use crate::tablebase::solve::cpu::row::{Row, SQUARES};

impl Conversions {
    /// Returns the positions of one row that win in one ply by a conversion, and those with any conversion. Pushes the
    /// conversions that decide later to `buckets`, and to `losing` the positions whose best conversion loses with DTZ, where
    /// it neither bounds the distance nor is an escape. `first_word` is the number of the row's first word in the
    /// range of rows of `buckets`, `valid` are the row's positions, and `best` is a scratch buffer.
    #[expect(clippy::too_many_arguments, reason = "a struct of them would be built once a row")]
    #[inline(always)]
    pub(crate) fn push_row<V: Vector>(
        &self,
        index: &Index,
        captures: &CapturedCells<'_>,
        row: usize,
        first_word: usize,
        valid: &Row,
        best: &mut Best,
        buckets: &mut Buckets,
        losing: &mut Row,
    ) -> (Row, Row) {
        let n = index.pieces.len();
        let (word_piece, lane_piece) = (n - 2, n - 1);
        let mut squares = [0usize; MAX_ROW_PIECES];
        for (slot, square) in squares.iter_mut().zip(index.row_squares(row)) {
            *slot = square.index();
        }
        let row_pieces = n - 2;
        let (mut won, mut any) = (Row::EMPTY, Row::EMPTY);
        *losing = Row::EMPTY;

        // A row piece beside the den wins in every position of the row, so no capture needs to be looked up.
        if (0..row_pieces).any(|i| self.den_entries[i] >> squares[i] & 1 != 0) {
            return (*valid, *valid);
        }

        for words in best.iter_mut() {
            *words = [NOTHING; WIDTH];
        }
        let rat = if self.first_blocks { 1u64 << squares[0] } else { 0 };
        for capture in &self.captures {
            let cells = capture.address.as_ref().map(|address| address.cells(captures));
            Lookup { moves: self, capture, cells, squares: &squares, row_pieces, valid, rat }.all_words(best);
        }
        for (word, s) in SQUARES.into_iter().enumerate() {
            let valid = valid.0[word];
            if valid == 0 {
                continue;
            }
            let den =
                if self.den_entries[word_piece] >> s & 1 != 0 { valid } else { valid & self.den_entries[lane_piece] };
            let with_capture = valid & !den & !V::equal(&best[s], NOTHING);
            any.0[word] = with_capture | den;
            won.0[word] = den
                | match self.metric {
                    Metric::Dtw => push_word::<V>(first_word + s, with_capture, &best[s], buckets),
                    Metric::Dtz(_) => {
                        let (won, lost) = results::<V>(with_capture, &best[s]);
                        losing.0[word] = lost;
                        won
                    }
                };
        }
        (won, any)
    }
}

/// The positions `with_capture` of a word whose best capture wins, and those whose best capture loses, by the values in
/// `lanes`.
#[inline(always)]
fn results<V: Vector>(with_capture: u64, lanes: &[ConversionValue; WIDTH]) -> (u64, u64) {
    let (mut rest, mut won, mut lost) = (with_capture, 0, 0);
    while rest != 0 {
        let value = lanes[(rest.trailing_zeros() & 63) as usize];
        let same = V::equal(lanes, value) & rest;
        rest &= !same;
        won |= if value > ESCAPE { same } else { 0 };
        lost |= if value < ESCAPE { same } else { 0 };
    }
    (won, lost)
}

/// Pushes the conversions of a word to their buckets: the positions `with_capture` have the values in `lanes`. Returns
/// the positions that win in one ply, which are not pushed.
#[inline(always)]
fn push_word<V: Vector>(
    word: usize,
    with_capture: u64,
    lanes: &[ConversionValue; WIDTH],
    buckets: &mut Buckets,
) -> u64 {
    let mut rest = with_capture;
    let mut won = 0;
    while rest != 0 {
        let value = lanes[(rest.trailing_zeros() & 63) as usize];
        let same = V::equal(lanes, value) & rest;
        rest &= !same;
        if value == WIN_IN_ONE {
            won |= same;
        } else if value > ESCAPE {
            buckets.push(ConversionValue::MAX - value, Entry::new(word, same));
        } else if value < ESCAPE {
            buckets.push(value, Entry::new(word, same));
        }
    }
    won
}
