//! Zobrist keys: a position's key is the XOR of one random word a piece on its square, and one for Black to move.

use super::{Animal, Color, Square};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::sync::LazyLock;

/// Fixed, so that keys are the same in every run and on every machine.
const SEED: u64 = 0x0d05_0b0c_2013_2014;

struct Keys {
    pieces: [[[u64; 64]; Animal::COUNT]; 2],
    black_to_move: u64,
}

static KEYS: LazyLock<Box<Keys>> = LazyLock::new(|| {
    let mut random = Pcg64::seed_from_u64(SEED);
    let mut keys = Box::new(Keys { pieces: [[[0; 64]; Animal::COUNT]; 2], black_to_move: random.next_u64() });
    keys.pieces.as_flattened_mut().as_flattened_mut().fill_with(|| random.next_u64());
    keys
});

/// The word of a piece on a square.
#[inline]
#[must_use]
pub(crate) fn piece(color: Color, animal: Animal, square: Square) -> u64 {
    KEYS.pieces[color as usize][animal.index()][square.index()]
}

/// The word of Black being on move.
#[inline]
#[must_use]
pub(crate) fn black_to_move() -> u64 {
    KEYS.black_to_move
}
