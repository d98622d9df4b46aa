//! A position as the search sees it: [`Position`] with what the evaluation keeps up to date, made by copying.

use super::eval::Evaluator;
use super::score::{Packed, animal_of, to_of};
use crate::board::geometry::TRAPS;
use crate::board::{Animal, Color, Lanes, Position, Rules, Square, reach, union, zobrist};
use crate::cpu::{CpuLevel, dispatch};

/// The traps of each side, as bits.
pub(super) const TRAP_BITS: [u64; 2] = [TRAPS.white.bits(), TRAPS.black.bits()];

#[derive(Clone)]
#[repr(align(64))]
pub(super) struct State {
    pub lanes: [Lanes; 2],
    pub key: u64,
    /// Squares and material from White's view, middle game and endgame packed.
    pub squares: i32,
    pub material: i32,
    /// Which animals each side has.
    pub sets: [u8; 2],
    /// The side to move: 0 White, 1 Black.
    pub turn: usize,
}

impl State {
    pub fn new(position: &Position, evaluator: &Evaluator) -> State {
        let lanes = [*position.lanes(Color::White), *position.lanes(Color::Black)];
        let set = |lanes: &Lanes| (0..8).fold(0, |set, a| set | u8::from(lanes[a] != 0) << a);
        let sets = [set(&lanes[0]), set(&lanes[1])];
        let mut squares = 0;
        for color in 0..2 {
            for a in 0..8 {
                if lanes[color][a] != 0 {
                    squares += evaluator.square(color, a, lanes[color][a].trailing_zeros() as usize);
                }
            }
        }
        let material = evaluator.material(sets);
        State { lanes, key: position.key(), squares, material, sets, turn: position.turn() as usize }
    }

    /// All squares of a side.
    #[inline(always)]
    pub fn side(&self, color: usize) -> u64 {
        union(&self.lanes[color])
    }

    /// Number of pieces of a side.
    #[inline(always)]
    pub fn count(&self, color: usize) -> u32 {
        self.sets[color].count_ones()
    }

    /// Whether an enemy stands before the den of the side to move, and enters unless he is taken.
    #[inline(always)]
    pub fn in_check(&self) -> bool {
        self.side(self.turn ^ 1) & TRAP_BITS[self.turn] != 0
    }

    /// The animal that stands on a square of a side, which must be occupied.
    #[inline(always)]
    pub fn animal_at(&self, color: usize, square: usize) -> usize {
        let bit = 1 << square;
        let mut found = 0;
        for a in 1..8 {
            found += if self.lanes[color][a] == bit { a } else { 0 };
        }
        found
    }

    /// The position after a move.
    #[inline(always)]
    pub fn make(&self, mv: Packed, evaluator: &Evaluator) -> State {
        let mut next = self.clone();
        let (us, them) = (self.turn, self.turn ^ 1);
        let (animal, to) = (animal_of(mv), to_of(mv));
        let from = (self.lanes[us][animal].trailing_zeros() & 63) as usize;
        let bit = 1u64 << to;
        next.lanes[us][animal] = bit;
        next.key ^= word(us, animal, from) ^ word(us, animal, to) ^ zobrist::black_to_move();
        next.squares += evaluator.square(us, animal, to) - evaluator.square(us, animal, from);
        if self.side(them) & bit != 0 {
            let victim = self.animal_at(them, to);
            next.lanes[them][victim] = 0;
            next.key ^= word(them, victim, to);
            next.squares -= evaluator.square(them, victim, to);
            next.sets[them] &= !(1 << victim);
            next.material = evaluator.material(next.sets);
        }
        next.turn = them;
        next
    }

    /// The same position with the other side to move.
    pub fn pass(&self) -> State {
        State { turn: self.turn ^ 1, key: self.key ^ zobrist::black_to_move(), ..self.clone() }
    }

    /// The key after a move, to look it up ahead of time.
    #[inline(always)]
    pub fn key_after(&self, mv: Packed) -> u64 {
        let (us, them) = (self.turn, self.turn ^ 1);
        let (animal, to) = (animal_of(mv), to_of(mv));
        let from = (self.lanes[us][animal].trailing_zeros() & 63) as usize;
        let mut key = self.key ^ word(us, animal, from) ^ word(us, animal, to) ^ zobrist::black_to_move();
        if self.side(them) >> to & 1 != 0 {
            key ^= word(them, self.animal_at(them, to), to);
        }
        key
    }
}

#[inline(always)]
fn word(color: usize, animal: usize, square: usize) -> u64 {
    let color = if color == 0 { Color::White } else { Color::Black };
    zobrist::piece(color, Animal::ALL[animal & 7], Square::lowest(1 << square))
}

/// What can be seen in a position without moving.
#[derive(Clone)]
#[repr(align(64))]
pub(super) struct View {
    /// Where each animal of the side to move may go.
    pub targets: Lanes,
    /// Where each animal of the side to move may be taken, if it stands or goes there.
    pub danger: Lanes,
    /// Where some animal of the side to move steps to, whatever stands there.
    pub reach: u64,
    /// Number of moves the other side would have.
    pub enemy_moves: u32,
    /// The evaluation for the side to move.
    pub eval: i32,
}

/// Both sides' moves and dangers, as the evaluation wants them.
#[repr(align(64))]
pub(super) struct Sight {
    pub squares: [Lanes; 2],
    pub targets: [Lanes; 2],
    pub danger: [Lanes; 2],
}

#[inline(always)]
pub(super) fn sight(rules: &Rules, evaluator: &Evaluator, state: &State) -> Sight {
    let white = reach(rules, Color::White, &state.lanes[0], &state.lanes[1]);
    let black = reach(rules, Color::Black, &state.lanes[1], &state.lanes[0]);
    let targets = [white.targets(&state.lanes[0], &state.lanes[1]), black.targets(&state.lanes[1], &state.lanes[0])];
    let squares = [white.squares, black.squares];
    let danger = std::array::from_fn(|color| {
        let enemy = color ^ 1;
        let takes = evaluator.takes(enemy, state.lanes[enemy][0]);
        let mut danger = [0; 8];
        for attacker in 0..8 {
            for victim in 0..8 {
                danger[victim] |= squares[enemy][attacker] & takes[attacker][victim];
            }
        }
        danger
    });
    Sight { squares, targets, danger }
}

#[inline(always)]
fn look_body(rules: &Rules, evaluator: &Evaluator, state: &State, view: &mut View) {
    let sight = sight(rules, evaluator, state);
    let us = state.turn;
    view.targets = sight.targets[us];
    view.danger = sight.danger[us];
    view.reach = union(&sight.squares[us]);
    view.enemy_moves = sight.targets[us ^ 1].iter().map(|t| t.count_ones()).sum();
    view.eval = evaluator.evaluate(state, &sight);
}

impl View {
    pub fn new() -> View {
        View { targets: [0; 8], danger: [0; 8], reach: 0, enemy_moves: 0, eval: 0 }
    }

    #[inline(always)]
    pub fn look(&mut self, level: CpuLevel, rules: &Rules, evaluator: &Evaluator, state: &State) {
        let view = self;
        dispatch!(level, fn(rules: &Rules, evaluator: &Evaluator, state: &State, view: &mut View) = look_body, avx512 look_body);
    }
}
