//! Moves in nine bits, as the transposition table and the history heuristics store them.

use crate::board::{Animal, Move, Square};

/// A move as its animal and target square: a number below 512. The position determines the side to move.
pub(super) type Packed = u16;

/// No move. The number stands for a rat move to a square that does not exist.
pub(super) const NO_MOVE: Packed = 63;

#[inline(always)]
pub(super) fn pack(animal: usize, to: usize) -> Packed {
    (animal << 6 | to) as Packed
}

#[inline(always)]
pub(super) fn animal_of(mv: Packed) -> usize {
    usize::from(mv >> 6 & 7)
}

#[inline(always)]
pub(super) fn to_of(mv: Packed) -> usize {
    usize::from(mv & 63)
}

pub(super) fn pack_move(mv: Move) -> Packed {
    pack(mv.animal.index(), mv.to.index())
}

/// The move of the animal that stands on the only square of `from`.
pub(super) fn unpack_move(mv: Packed, from: u64) -> Move {
    let to = Square::lowest(1 << to_of(mv));
    Move { animal: Animal::ALL[animal_of(mv)], from: Square::lowest(from), to }
}
