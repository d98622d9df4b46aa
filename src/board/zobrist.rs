//! Zobrist keys: a position's key is the XOR of one random word for each piece on its square, and one for Black to
//! move.

use super::{Animal, Color, Square};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::sync::LazyLock;

/// The seed is fixed: keys are the same in every run and on every machine.
const SEED: u64 = 0x0d05_0b0c_2013_2014;

pub(crate) struct Keys {
    pieces: [[[u64; 64]; Animal::COUNT]; 2],
    black_to_move: u64,
}

static KEYS: LazyLock<Box<Keys>> = LazyLock::new(|| {
    let mut random = Pcg64::seed_from_u64(SEED);
    let mut keys = Box::new(Keys { pieces: [[[0; 64]; Animal::COUNT]; 2], black_to_move: random.next_u64() });
    keys.pieces.as_flattened_mut().as_flattened_mut().fill_with(|| random.next_u64());
    keys
});

impl Keys {
    /// The word for a piece, by the indices of its side, animal and square.
    #[inline(always)]
    pub(crate) fn word(&self, color: usize, animal: usize, square: usize) -> u64 {
        self.pieces[color & 1][animal & 7][square & 63]
    }

    /// The word for Black to move.
    #[inline(always)]
    pub(crate) fn black_to_move(&self) -> u64 {
        self.black_to_move
    }
}

/// All words. A caller that needs many keeps the reference, since each call checks whether the words exist.
#[inline]
#[must_use]
pub(crate) fn keys() -> &'static Keys {
    &KEYS
}

/// The word for a piece on a square.
#[inline]
#[must_use]
pub(crate) fn piece(color: Color, animal: Animal, square: Square) -> u64 {
    keys().word(color as usize, animal.index(), square.index())
}

/// The word for Black to move.
#[inline]
#[must_use]
pub(crate) fn black_to_move() -> u64 {
    keys().black_to_move()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Similar words, or words with few bits set, would give different positions the same key.
    #[test]
    fn words_are_far_apart() {
        let mut words = vec![black_to_move()];
        for color in Color::ALL {
            for animal in Animal::ALL {
                words.extend(Square::all().map(|square| piece(color, animal, square)));
            }
        }
        for (i, &word) in words.iter().enumerate() {
            assert!((8..=56).contains(&word.count_ones()));
            assert!(words[..i].iter().all(|other| (word ^ other).count_ones() >= 8));
        }
    }
}
