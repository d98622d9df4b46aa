//! Actions, legal-action masks and observations, all from the view of the side to move.
//!
//! An action is `4 * animal + direction`: the animals are 0 (rat) to 7 (elephant), the directions 0 forward,
//! 1 backward, 2 left and 3 right. Black sees the board rotated by 180 degrees. A piece has at most one move in a
//! direction, a step or a leap, so the 32 actions name every move.

use doushouqi::board::geometry::Direction;
use doushouqi::board::{Animal, Color, Move, Position, Rules, Square};
use doushouqi::cpu::CpuLevel;

/// The number of actions.
pub(crate) const ACTIONS: usize = 4 * Animal::COUNT;
/// The planes of an observation: the mover's animals, weakest first, then the opponent's.
pub(crate) const PLANES: usize = 2 * Animal::COUNT;
/// The values of an observation: planes, ranks and files.
pub(crate) const OBSERVATION: usize = PLANES * Square::COUNT;

/// The target square by swimming, direction and square: first for pieces that do not swim, then for those that swim;
/// 64 is no square.
static TARGETS: std::sync::LazyLock<[[[u8; 64]; 4]; 2]> = std::sync::LazyLock::new(|| {
    let mut targets = [[[64; 64]; 4]; 2];
    for (d, direction) in Direction::ALL.into_iter().enumerate() {
        for from in Square::all() {
            let step = from.neighbour(direction);
            let leap = from.leap(direction).map(|(to, _)| to);
            for (swims, to) in [leap.or(step), step].into_iter().enumerate() {
                targets[swims][d][from.index()] = to.map_or(64, |to| to.index() as u8);
            }
        }
    }
    targets
});

/// Makes what is otherwise made at its first use, which may be in another thread.
pub(crate) fn prepare() {
    let position = Position::start();
    let _ = CpuLevel::get();
    to_move(&position, 0);
}

/// The direction of a move as the mover sees it.
#[inline(always)]
fn direction(mv: Move, turn: Color) -> usize {
    let delta = mv.to.index() as i32 - mv.from.index() as i32;
    let direction = 2 * usize::from(delta.abs() < 7) + usize::from((delta < 0) != (delta.abs() < 7));
    direction ^ turn as usize
}

/// The action of a move.
#[inline(always)]
pub(crate) fn action(mv: Move, turn: Color) -> usize {
    4 * mv.animal.index() + direction(mv, turn)
}

/// The actions of moves, as bits: the slow twin of [`legal`].
pub(crate) fn mask(moves: &[Move], turn: Color) -> u32 {
    moves.iter().fold(0, |mask, &mv| mask | 1 << action(mv, turn))
}

/// The legal actions of a position, as bits.
#[inline(always)]
pub(crate) fn legal(position: &Position, rules: &Rules) -> u32 {
    const EVEN: u32 = 0x5555_5555;
    let mask = position.move_mask(rules);
    // On the rotated board forward is backward and left is right.
    if position.turn() == Color::Black { (mask & EVEN) << 1 | mask >> 1 & EVEN } else { mask }
}

/// The move of an action, if the animal is on the board and has a square in that direction; it need not be legal.
#[inline(always)]
pub(crate) fn to_move(position: &Position, action: usize) -> Option<Move> {
    let animal = *Animal::ALL.get(action / 4)?;
    let from = position.square_of(position.turn(), animal)?;
    let direction = (action % 4) ^ position.turn() as usize;
    let to = TARGETS[usize::from(animal.swims())][direction][from.index()];
    Some(Move { animal, from, to: Square::new(to.into())? })
}

/// Writes the pieces of a position into an observation that has none, or takes them out again (`SHOWN` is 0).
///
/// An animal that is not on the board writes a 0 to its own plane, so that there is no branch.
#[inline(always)]
pub(crate) fn write<const SHOWN: i8>(position: &Position, observation: &mut [i8]) {
    let turn = position.turn();
    for (side, color) in [turn, !turn].into_iter().enumerate() {
        for animal in Animal::ALL {
            let lane = position.animal(color, animal).bits();
            let square = (lane.trailing_zeros() & 63) as usize;
            let square = if turn == Color::White { square } else { (Square::COUNT - 1).wrapping_sub(square) };
            let plane = side * Animal::COUNT + animal.index();
            observation[plane * Square::COUNT + square] = if lane == 0 { 0 } else { SHOWN };
        }
    }
}

/// The observation of a position; `observation` is overwritten.
pub(crate) fn observe(position: &Position, observation: &mut [i8]) {
    observation.fill(0);
    write::<1>(position, observation);
}
