//! The best conversions of the positions of a row, sorted by depth.

use crate::cpu::Vector;
use crate::tablebase::index::{Index, WIDTH};
use crate::tablebase::solve::cpu::buckets::{Buckets, Entry};
use crate::tablebase::solve::cpu::conversions::{
    CaptureTables, ConversionValue, Conversions, ESCAPE, NOTHING, WIN_IN_ONE,
};
use crate::tablebase::solve::cpu::lookup::{Best, Lookup};
use crate::tablebase::solve::cpu::quiet::{MAX_ROW_PIECES, Row};

impl Conversions {
    /// Pushes the conversions of one row to `buckets` and returns the positions with a capture or a den entry.
    /// `first_word` is the number of the row's first word in the range of rows of `buckets`, `valid` are the row's
    /// positions, and `best` is a scratch buffer.
    #[expect(clippy::too_many_arguments, reason = "a struct of them would be built once a row")]
    #[inline(always)]
    pub(crate) fn push_row<V: Vector>(
        &self,
        index: &Index,
        captures: &CaptureTables<'_>,
        row: usize,
        first_word: usize,
        valid: &Row,
        best: &mut Best,
        buckets: &mut Buckets,
    ) -> Row {
        let n = index.pieces.len();
        let (word_piece, lane_piece) = (n - 2, n - 1);
        let mut squares = [0usize; MAX_ROW_PIECES];
        for (slot, square) in squares.iter_mut().zip(index.row_squares(row)) {
            *slot = square.index();
        }
        let row_pieces = n - 2;
        let mut any = Row::EMPTY;

        // A row piece beside the den wins in every position of the row, so no capture needs to be looked up.
        if (0..row_pieces).any(|i| self.den_entries[i] >> squares[i] & 1 != 0) {
            for (s, &mask) in valid.0.iter().enumerate().filter(|(_, mask)| **mask != 0) {
                buckets.push(1, Entry::new(first_word + s, mask));
            }
            return *valid;
        }

        for words in best.iter_mut() {
            *words = [NOTHING; WIDTH];
        }
        let rat = if self.first_blocks { 1u64 << squares[0] } else { 0 };
        for capture in &self.captures {
            let cells = capture.address.as_ref().map(|address| address.cells(captures));
            Lookup { moves: self, capture, cells, squares: &squares, row_pieces, valid, rat }.all_words(best);
        }
        for s in 0..WIDTH {
            let valid = valid.0[s];
            if valid == 0 {
                continue;
            }
            let den =
                if self.den_entries[word_piece] >> s & 1 != 0 { valid } else { valid & self.den_entries[lane_piece] };
            let with_capture = valid & !den & !V::equal(&best[s], NOTHING);
            any.0[s] = with_capture | den;
            push_word::<V>(first_word + s, den, with_capture, &best[s], buckets);
        }
        any
    }
}

/// Pushes the conversions of a word to their buckets: the positions `den` win in one ply, and the positions
/// `with_capture` have the values in `lanes`.
#[inline(always)]
fn push_word<V: Vector>(
    word: usize,
    den: u64,
    with_capture: u64,
    lanes: &[ConversionValue; WIDTH],
    buckets: &mut Buckets,
) {
    let mut rest = with_capture;
    let mut wins = den;
    while rest != 0 {
        let value = lanes[(rest.trailing_zeros() & 63) as usize];
        let same = V::equal(lanes, value) & rest;
        rest &= !same;
        if value == WIN_IN_ONE {
            wins |= same;
        } else if value > ESCAPE {
            buckets.push(ConversionValue::MAX - value, Entry::new(word, same));
        } else if value < ESCAPE {
            buckets.push(value, Entry::new(word, same));
        }
    }
    if wins != 0 {
        buckets.push(1, Entry::new(word, wins));
    }
}
