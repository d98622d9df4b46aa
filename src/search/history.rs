//! The data that a search thread keeps between nodes and between searches: killer moves, history, continuation history
//! and correction history.

use super::eval::{Evaluator, NO_MOVE, Packed, State};
use super::parameters::Parameters;
use super::score::{MAX_PLY, Value};

/// The number of packed moves. A move with its side holds the side in bit 9.
pub(super) const MOVES: usize = 512;

/// The data of one search thread.
pub(super) struct ThreadData {
    /// The last two quiet moves of each ply that caused a beta cutoff.
    pub killers: [[Packed; 2]; MAX_PLY + 2],
    /// The history scores, by side and move.
    pub history: Box<[[i16; MOVES]; 2]>,
    /// The continuation history scores, by the move one ply back (0) or two plies back (1) with its side, then the side
    /// to move, then the move.
    continuation: Vec<[i16; MOVES]>,
    /// Corrections of the evaluation, by the side to move and the animals on the board, and by the move one ply back
    /// with its side.
    material: Vec<i16>,
    replies: Vec<i16>,
    /// The principal variation from each ply on. It is kept here to spare short searches the allocation.
    pub pv: Box<[[Packed; MAX_PLY]]>,
    pub evaluator: Evaluator,
}

/// Adds a bonus to a score. The closer the score is to the limit, the smaller is the change ("history gravity").
#[inline(always)]
fn push(score: &mut i16, bonus: i32, limit: i32) {
    *score += (bonus - i32::from(*score) * bonus.abs() / limit) as i16;
}

impl ThreadData {
    pub(super) fn new() -> ThreadData {
        ThreadData {
            killers: [[NO_MOVE; 2]; MAX_PLY + 2],
            history: Box::new([[0; MOVES]; 2]),
            continuation: vec![[0; MOVES]; 2 * 1024],
            material: vec![0; 2 << 16],
            replies: vec![0; 1024],
            pv: vec![[NO_MOVE; MAX_PLY]; MAX_PLY].into(),
            evaluator: Evaluator::Burnett,
        }
    }

    /// Clears the data of all searches.
    pub(super) fn clear(&mut self) {
        let evaluator = std::mem::replace(&mut self.evaluator, Evaluator::Burnett);
        *self = ThreadData { evaluator, ..ThreadData::new() };
    }

    /// Prepares the next search: removes killers and halves history scores.
    pub(super) fn next_search(&mut self) {
        self.killers = [[NO_MOVE; 2]; MAX_PLY + 2];
        for score in self.history.as_flattened_mut() {
            *score /= 2;
        }
    }

    /// The side of the earlier move implies the side of this one.
    #[inline(always)]
    fn index(back: usize, earlier: Packed) -> usize {
        back * 1024 + usize::from(earlier & 1023)
    }

    #[inline(always)]
    pub(super) fn continuation(&self, back: usize, earlier: Packed) -> &[i16; MOVES] {
        &self.continuation[ThreadData::index(back, earlier)]
    }

    /// Adds a bonus to the history scores of a move of the side `us`, given the moves one and two plies back. The scores
    /// stay within ±`limit`. Inlined, the division by a constant limit is a shift.
    #[inline(always)]
    pub(super) fn update(&mut self, limit: i32, us: usize, mv: Packed, earlier: [Packed; 2], bonus: i32) {
        let mv = usize::from(mv);
        push(&mut self.history[us][mv], bonus, limit);
        for (back, mv_back) in earlier.into_iter().enumerate() {
            if mv_back != NO_MOVE {
                push(&mut self.continuation[ThreadData::index(back, mv_back)][mv], bonus, limit);
            }
        }
    }

    /// Adds a bonus to the history score of a move alone. The move may hold its side.
    #[inline(always)]
    pub(super) fn update_history(&mut self, limit: i32, us: usize, mv: Packed, bonus: i32) {
        push(&mut self.history[us][usize::from(mv) % MOVES], bonus, limit);
    }

    fn places(state: &State, earlier: Packed) -> (usize, usize) {
        let sets = usize::from(state.sets[0]) | usize::from(state.sets[1]) << 8;
        ((state.turn as usize) << 16 | sets, usize::from(earlier & 1023))
    }

    /// The correction to add to the static evaluation, in sixteenths of a cp.
    #[inline(always)]
    pub(super) fn correction(&self, state: &State, earlier: Packed) -> Value {
        let (material, reply) = ThreadData::places(state, earlier);
        i32::from(self.material[material]) + i32::from(self.replies[reply])
    }

    /// Records that a search `depth` plies deep scored `by` cp above the corrected evaluation.
    #[inline(always)]
    pub(super) fn correct(&mut self, p: &Parameters, state: &State, earlier: Packed, by: Value, depth: i32) {
        let limit = p.correction_limit;
        let bonus = (by * depth / p.correction_divisor).clamp(-limit / 4, limit / 4);
        let (material, reply) = ThreadData::places(state, earlier);
        push(&mut self.material[material], bonus, limit);
        push(&mut self.replies[reply], bonus, limit);
    }
}

impl Default for ThreadData {
    fn default() -> ThreadData {
        ThreadData::new()
    }
}
