//! The position in a search: [`Position`] with incrementally updated sets, copied for each move. Moves in nine bits, as the
//! transposition table and the history heuristics store them.

use crate::board::geometry::{DEN, TRAPS};
use crate::board::zobrist::Keys;
use crate::board::{Animal, Color, Lanes, Move, Position, Square, union};

/// A move as its animal and target square: a number below 512. The position determines the side to move.
pub(in crate::search) type Packed = u16;

/// No move. The number stands for a rat move to a square that does not exist.
pub(in crate::search) const NO_MOVE: Packed = 63;

#[inline(always)]
pub(in crate::search) fn pack(animal: usize, to: usize) -> Packed {
    (animal << 6 | to) as Packed
}

#[inline(always)]
pub(in crate::search) fn animal_of(mv: Packed) -> usize {
    usize::from(mv >> 6 & 7)
}

#[inline(always)]
pub(in crate::search) fn to_of(mv: Packed) -> usize {
    usize::from(mv & 63)
}

pub(in crate::search) fn pack_move(mv: Move) -> Packed {
    pack(mv.animal.index(), mv.to.index())
}

/// The move of the animal that stands on the only square of `from`.
pub(in crate::search) fn unpack_move(mv: Packed, from: u64) -> Move {
    let to = Square::lowest(1 << to_of(mv));
    Move { animal: Animal::ALL[animal_of(mv)], from: Square::lowest(from), to }
}

/// The traps of each side, as bits.
pub(in crate::search) const TRAP_BITS: [u64; 2] = [TRAPS.white.bits(), TRAPS.black.bits()];

/// The squares one step from the traps of each side, other than traps and dens, as bits.
pub(in crate::search) const BESIDE_TRAPS: [u64; 2] = [beside_traps(Color::White), beside_traps(Color::Black)];

const fn beside_traps(color: Color) -> u64 {
    let traps = TRAP_BITS[color as usize];
    // Traps are neither on the a-file nor on the g-file, so no step leaves the board sideways.
    let steps = traps << 1 | traps >> 1 | traps << 7 | traps >> 7;
    let dens = 1 << DEN.white.index() | 1 << DEN.black.index();
    steps & !traps & !dens & ((1 << 63) - 1)
}

#[derive(Clone)]
#[repr(align(64))]
pub(in crate::search) struct State {
    pub lanes: [Lanes; 2],
    pub key: u64,
    /// The occupied squares of each side.
    pub sides: [u64; 2],
    /// The animals of each side, as bits.
    pub sets: [u8; 2],
    /// The number of pieces of each side.
    pub counts: [u8; 2],
    /// The side to move.
    pub turn: Color,
}

impl State {
    pub(crate) fn new(position: &Position) -> State {
        let lanes = [*position.lanes(Color::White), *position.lanes(Color::Black)];
        let set = |lanes: &Lanes| (0..8).fold(0, |set, a| set | u8::from(lanes[a] != 0) << a);
        let sets = [set(&lanes[0]), set(&lanes[1])];
        State {
            lanes,
            key: position.key(),
            sides: [union(&lanes[0]), union(&lanes[1])],
            sets,
            counts: sets.map(|set| set.count_ones() as u8),
            turn: position.turn(),
        }
    }

    /// The occupied squares of a side.
    #[inline(always)]
    pub(crate) fn side(&self, color: usize) -> u64 {
        self.sides[color]
    }

    /// The number of pieces of a side.
    #[inline(always)]
    pub(crate) fn count(&self, color: usize) -> u32 {
        u32::from(self.counts[color])
    }

    /// The indices of the side to move and of the other side.
    #[inline(always)]
    pub(crate) fn sides_to_move(&self) -> (usize, usize) {
        (self.turn as usize, !self.turn as usize)
    }

    /// Whether an enemy stands in a trap of the side to move and will enter the den unless it is captured.
    #[inline(always)]
    pub(crate) fn in_check(&self) -> bool {
        let (us, them) = self.sides_to_move();
        self.side(them) & TRAP_BITS[us] != 0
    }

    /// Whether an enemy stands beside a trap of the side to move, from where it may reach the den in two moves.
    #[inline(always)]
    pub(crate) fn den_in_danger(&self) -> bool {
        let (us, them) = self.sides_to_move();
        self.side(them) & BESIDE_TRAPS[us] != 0
    }

    /// Whether the game is lost for the side to move: its den was entered or its last piece taken.
    #[inline(always)]
    pub(crate) fn is_lost(&self) -> bool {
        let (us, them) = self.sides_to_move();
        self.side(us) == 0 || self.side(them) >> DEN[self.turn].index() & 1 != 0
    }

    /// Whether a move is a capture.
    #[inline(always)]
    pub(crate) fn is_capture(&self, mv: Packed) -> bool {
        self.side(!self.turn as usize) >> to_of(mv) & 1 != 0
    }

    /// The animal that stands on a square of a side, which must be occupied.
    #[inline(always)]
    pub(crate) fn animal_at(&self, color: usize, square: usize) -> usize {
        let bit = 1 << square;
        let mut found = 0;
        for a in 1..8 {
            found += if self.lanes[color][a] == bit { a } else { 0 };
        }
        found
    }

    /// The position after a move, with its key, [`State::key_after`].
    #[inline(always)]
    pub(crate) fn make(&self, mv: Packed, key: u64) -> State {
        let (us, them) = self.sides_to_move();
        let (animal, to) = (animal_of(mv), to_of(mv));
        let from = self.lanes[us][animal];
        let bit = 1u64 << to;
        // Each side is written as a whole vector: after a store of a single word, a load of the vector would have to
        // wait.
        let (mut own, mut enemy) = (self.lanes[us], self.lanes[them]);
        for a in 0..8 {
            own[a] = if a == animal { bit } else { own[a] };
            enemy[a] &= !bit;
        }
        let mut next =
            State { lanes: [own; 2], key, sides: self.sides, sets: self.sets, counts: self.counts, turn: !self.turn };
        next.lanes[them] = enemy;
        next.sides[us] ^= from | bit;
        if self.sides[them] & bit != 0 {
            let victim = self.animal_at(them, to);
            next.sides[them] &= !bit;
            next.sets[them] &= !(1 << victim);
            next.counts[them] -= 1;
        }
        next
    }

    /// The key after a move, for prefetching.
    #[inline(always)]
    pub(crate) fn key_after(&self, mv: Packed, keys: &Keys) -> u64 {
        let (us, them) = self.sides_to_move();
        let (animal, to) = (animal_of(mv), to_of(mv));
        let from = self.lanes[us][animal].trailing_zeros() as usize;
        let mut key = self.key ^ keys.word(us, animal, from) ^ keys.word(us, animal, to) ^ keys.black_to_move();
        if self.side(them) >> to & 1 != 0 {
            key ^= keys.word(them, self.animal_at(them, to), to);
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Rules, zobrist};
    use crate::game::random::Random;

    #[test]
    fn squares_beside_traps_are_one_step_from_a_trap() {
        for (side, beside) in BESIDE_TRAPS.into_iter().enumerate() {
            for square in Square::all() {
                let bit = 1 << square.index();
                let near =
                    Square::all().any(|trap| TRAP_BITS[side] >> trap.index() & 1 != 0 && trap.distance(square) == 1);
                let is_trap_or_den = TRAP_BITS[side] & bit != 0 || square == DEN.white || square == DEN.black;
                assert_eq!(beside & bit != 0, near && !is_trap_or_den, "{square}");
            }
        }
    }

    /// Incremental updates agree with a state computed from the position.
    #[test]
    fn a_state_after_moves_is_that_of_the_position() {
        let mut random = Random::new(11);
        for rules in ["paper", "chinese"] {
            let rules = Rules::new(rules.parse().unwrap());
            for _ in 0..50 {
                let mut position = Position::start();
                let mut state = State::new(&position);
                for _ in 0..120 {
                    let Some(&mv) = random.choose(&position.moves(&rules)) else { break };
                    position = position.make(mv);
                    let mv = pack_move(mv);
                    state = state.make(mv, state.key_after(mv, zobrist::keys()));
                    let anew = State::new(&position);
                    assert_eq!((state.lanes, state.sides), (anew.lanes, anew.sides), "{position:?}");
                    assert_eq!((state.sets, state.counts, state.turn), (anew.sets, anew.counts, anew.turn));
                    assert_eq!((state.key, anew.key), (position.compute_key(), position.key()));
                }
            }
        }
    }
}
