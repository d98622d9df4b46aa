//! The rows of planes. No word piece swims, except in the class of two rats (`two_rats`), so a row has no words for water: it
//! takes seven cache lines, not eight.
//!
//! The words of three ranks before and three ranks behind the river are in the order of their squares, 7 apart from one rank to
//! the next. Between them are the nine squares beside and between the waters. Their words are placed so that each step is to a
//! word 1, 6 or 7 away, and that a reflection turns the places of a rank round, with few exceptions:
//!
//! ```text
//! 14 15 16 17 18 19 20       a3 b3 c3 d3 e3 f3 g3
//! 21 22 23 24 25 26 27       a4 a5    d4 d5    g4
//! 28 29 30 31 32 33 34       a6       d6    g5 g6
//! 35 36 37 38 39 40 41       a7 b7 c7 d7 e7 f7 g7
//! ```

use crate::board::mirror_word;
use crate::tablebase::index::WIDTH;
use bytemuck::{Pod, Zeroable};

/// Words of a row.
pub(crate) const WORDS: usize = 56;

/// A row of a plane: a word for each square of the word piece on land, with a bit for each square of the lane piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Row(pub [u64; WORDS]);

/// The number that is no square, of words without a square.
const NONE: usize = WIDTH - 1;

/// A word without a square.
const EMPTY_WORD: usize = 23;

/// By word, the square of the word piece, or 63. The words without a square are empty.
pub(crate) const SQUARES: [usize; WORDS] = {
    let mut squares = [NONE; WORDS];
    let mut word = 0;
    while word < WORDS {
        squares[word] = match word {
            ..=21 | 24 | 27 => word,
            22 => 28,
            25 => 31,
            33 => 34,
            28 | 31 | 34.. => word + 7,
            _ => NONE,
        };
        word += 1;
    }
    squares
};

/// By square, its word; for water, and a number that is no square, an empty word.
pub(crate) const WORD_OF: [usize; WIDTH] = {
    let mut words = [EMPTY_WORD; WIDTH];
    let mut word = 0;
    while word < WORDS {
        words[SQUARES[word]] = word;
        word += 1;
    }
    words[NONE] = EMPTY_WORD;
    words
};

/// The squares of the word piece, as a set.
pub(crate) const LAND: u64 = {
    let (mut land, mut word) = (0, 0);
    while word < WORDS {
        land |= 1 << SQUARES[word];
        word += 1;
    }
    land & !(1 << NONE)
};

/// All ones in the words whose square is next to that of the word `by` places further.
const fn steps(by: isize) -> [u64; WORDS] {
    let mut mask = [0; WORDS];
    let mut word = 0;
    while word < WORDS {
        let other = word.wrapping_add_signed(by);
        if other < WORDS && SQUARES[word] != NONE && SQUARES[other] != NONE {
            let (from, to) = (SQUARES[word], SQUARES[other]);
            let beside = from.abs_diff(to) == 1 && from / 7 == to / 7;
            if beside || from.abs_diff(to) == 7 {
                mask[word] = u64::MAX;
            }
        }
        word += 1;
    }
    mask
}

const NEXT: [u64; WORDS] = steps(1);
const LAST: [u64; WORDS] = steps(-1);
const UP: [u64; WORDS] = steps(7);
const DOWN: [u64; WORDS] = steps(-7);
const ACROSS_UP: [u64; WORDS] = steps(6);
const ACROSS_DOWN: [u64; WORDS] = steps(-6);

impl Row {
    /// No position.
    pub(crate) const EMPTY: Row = Row([0; WORDS]);

    /// The row with these words by square, of which those of water are left out.
    pub(crate) fn of_squares(words: &[u64; WIDTH]) -> Row {
        Row(SQUARES.map(|square| words[square]))
    }

    /// Sets `out` to the positions from which a step of the word piece leads into this row.
    #[inline(always)]
    pub(crate) fn steps(&self, out: &mut Row) {
        let (here, out) = (&self.0, &mut out.0);
        // The first and the last line have no words before and behind them.
        for s in 0..8 {
            out[s] = here[s + 7] & UP[s] | here[s + 1] & NEXT[s];
        }
        for s in 1..8 {
            out[s] |= here[s - 1] & LAST[s];
        }
        out[7] |= here[0];
        for s in 8..WORDS - 8 {
            out[s] = here[s + 7] & UP[s]
                | here[s - 7] & DOWN[s]
                | here[s + 1] & NEXT[s]
                | here[s - 1] & LAST[s]
                | here[s + 6] & ACROSS_UP[s]
                | here[s - 6] & ACROSS_DOWN[s];
        }
        for s in WORDS - 8..WORDS {
            out[s] = here[s - 7] & DOWN[s] | here[s - 1] & LAST[s];
        }
        for s in WORDS - 8..WORDS - 1 {
            out[s] |= here[s + 1] & NEXT[s];
        }
        out[WORDS - 8] |= here[WORDS - 1];
    }

    /// The row reflected in the d-file: the words change places, and the bits within each word. Words without a square are
    /// arbitrary.
    #[inline(always)]
    pub(crate) fn mirrored(&self) -> Row {
        let mut out = Row::EMPTY;
        for rank in 0..8 {
            for file in 0..7 {
                out.0[rank * 7 + file] = self.0[rank * 7 + 6 - file];
            }
        }
        (out.0[22], out.0[33], out.0[25]) = (self.0[33], self.0[22], self.0[25]);
        for word in &mut out.0 {
            *word = mirror_word(*word);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Animal, Color, Direction, Piece, Square};
    use crate::tablebase::material::squares_in_play;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    /// Every square on land has a word; steps and reflections of a row are those of its squares.
    #[test]
    fn a_row_has_the_squares_on_land() {
        let mut random = Pcg64::seed_from_u64(56);
        let land = squares_in_play(Piece { color: Color::White, animal: Animal::Cat });
        let words: [u64; WIDTH] =
            std::array::from_fn(|s| if land.bits() >> s & 1 != 0 { random.next_u64() >> 1 } else { 0 });
        let row = Row::of_squares(&words);
        let (mut steps, mirrored) = (Row::EMPTY, row.mirrored());
        row.steps(&mut steps);
        for square in land {
            let word = WORD_OF[square.index()];
            assert_eq!((SQUARES[word], row.0[word]), (square.index(), words[square.index()]));
            let beside = Direction::ALL.into_iter().filter_map(|direction| square.neighbour(direction));
            assert_eq!(steps.0[word], beside.fold(0, |all, to: Square| all | words[to.index()]), "{square}");
            assert_eq!(mirrored.0[word], mirror_word(words[square.mirror().index()]), "{square}");
        }
    }
}
