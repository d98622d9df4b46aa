//! The moves of the root, each with the result of its search.

use super::eval::State;
use super::packed::{Packed, animal_of, pack_move, to_of, unpack_move};
use super::score::{INFINITE, Value};
use crate::board::Move;

/// A move of the root with the result of its search.
#[derive(Clone, Debug)]
pub(super) struct RootMove {
    pub mv: Packed,
    pub value: Value,
    /// The previous value, which orders the moves that failed low.
    pub previous_value: Value,
    pub seldepth: usize,
    /// The line that begins with this move.
    pub line: Vec<Packed>,
}

impl RootMove {
    /// A move that has not been searched.
    pub(super) fn new(mv: Move) -> RootMove {
        let mv = pack_move(mv);
        RootMove { mv, value: -INFINITE, previous_value: -INFINITE, seldepth: 1, line: vec![mv] }
    }
}

/// A line from the root as moves.
pub(super) fn unpack_line(state: &State, line: &[Packed]) -> Vec<Move> {
    let mut lanes = state.lanes;
    let mut turn = state.turn;
    line.iter()
        .map(|&mv| {
            let from = &mut lanes[turn as usize][animal_of(mv)];
            let unpacked = unpack_move(mv, *from);
            *from = 1 << to_of(mv);
            turn = !turn;
            unpacked
        })
        .collect()
}
