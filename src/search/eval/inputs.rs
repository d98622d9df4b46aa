//! The numbers of the inputs of the neural network.

use crate::board::Lanes;

/// The pieces on their squares, from one perspective: own and enemy, eight animals, 63 squares.
pub(super) const PIECES: usize = 2 * 8 * 63;
/// The pairs, from one perspective: three zones, an own and an enemy animal, a step from one to the other.
pub(super) const PAIRS: usize = 3 * 8 * 8 * STEPS.len();

/// The steps of one or two squares, forwards, backwards and sideways, as differences of square indices.
const STEPS: [i32; 12] = [-14, -8, -7, -6, -2, -1, 1, 2, 6, 7, 8, 14];

/// The numbers of the steps, by difference plus 14.
static STEP_NUMBERS: [u8; 29] = {
    let mut numbers = [0; 29];
    let mut i = 0;
    while i < STEPS.len() {
        numbers[(STEPS[i] + 14) as usize] = i as u8;
        i += 1;
    }
    numbers
};

/// The squares one or two steps from each square, as bits.
static NEAR: [u64; 63] = {
    let mut near = [0; 63];
    let mut i = 0;
    while i < 63 * 63 {
        let (a, b): (usize, usize) = (i / 63, i % 63);
        let steps = (a % 7).abs_diff(b % 7) + (a / 7).abs_diff(b / 7);
        if steps == 1 || steps == 2 {
            near[a] |= 1 << b;
        }
        i += 1;
    }
    near
};

/// The input of a piece on a square, from the perspective of a side. Black's board is rotated.
#[inline(always)]
pub(super) fn piece(perspective: usize, color: usize, animal: usize, square: usize) -> usize {
    let square = if perspective == 0 { square } else { 62 - square };
    ((color ^ perspective) * 8 + animal) * 63 + square
}

/// The input of a pair, given the zone and the number of the step.
#[inline(always)]
fn pair_in(zone: usize, own: usize, enemy: usize, step: usize) -> usize {
    ((zone * 8 + own) * 8 + enemy) * STEPS.len() + step
}

/// The inputs of a white and a black animal on squares one or two steps apart, from White's and from Black's perspective.
/// The zone is that of the own animal: the three ranks before its own den, those of the rivers, or those before the
/// enemy's den. The step has the same number from both perspectives, since exchanging the animals and rotating the board
/// both reverse it.
#[inline(always)]
pub(super) fn pair(white: usize, black: usize, white_square: usize, black_square: usize) -> [usize; 2] {
    let step = usize::from(STEP_NUMBERS[(14 + black_square - white_square) % STEP_NUMBERS.len()]);
    [pair_in(white_square / 21, white, black, step), pair_in((62 - black_square) / 21, black, white, step)]
}

/// The enemy animals one or two steps from a square, as bits.
#[inline(always)]
pub(super) fn near(square: usize, enemies: &Lanes) -> u32 {
    let mut found = 0;
    for (enemy, &bit) in enemies.iter().enumerate() {
        found |= u32::from(bit & NEAR[square] != 0) << enemy;
    }
    found
}
