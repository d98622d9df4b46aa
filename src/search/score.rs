//! Values inside a search, and packed moves.

use super::engine::Score;
use crate::board::{Animal, Move, Square};

/// A value for the side to move. Wins count plies from the root.
pub(super) type Value = i32;

/// A game won in the root position itself; a win `n` plies later is worth `n` less.
pub(super) const MATE: Value = 32_000;
/// A win that an endgame table knows of; the distance is only that to the table's position.
pub(super) const TABLE_WIN: Value = 30_000;
/// Every certain win is worth more, every estimate less.
pub(super) const DECIDED: Value = 29_000;
/// More than any value.
pub(super) const INFINITE: Value = MATE + 1;
/// No estimate is worth more.
pub(super) const MAX_ESTIMATE: Value = 25_000;
/// Plies a line may have.
pub(super) const MAX_PLY: usize = 240;

/// Whether a value is a win or a loss by play and not only by a table.
pub(super) fn is_exact(value: Value) -> bool {
    value.abs() >= MATE - 1000
}

/// The value as the outside sees it.
pub(super) fn public(value: Value) -> Score {
    if value >= MATE - 1000 {
        Score::win((MATE - value) as u32)
    } else if value <= 1000 - MATE {
        Score::loss((MATE + value) as u32)
    } else {
        Score::estimate(value)
    }
}

/// A move as an animal of the side to move and where it goes: a number below 512.
pub(super) type Packed = u16;

/// No move: the rat to a square that does not exist.
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

/// The move of the animal that stands on the one square of `from`.
pub(super) fn unpack_move(mv: Packed, from: u64) -> Move {
    let to = Square::lowest(1 << to_of(mv));
    Move { animal: Animal::ALL[animal_of(mv)], from: Square::lowest(from), to }
}
