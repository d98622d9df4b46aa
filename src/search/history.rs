//! What a thread remembers of moves that refuted something: killers, history and continuation history.

use super::score::{MAX_PLY, NO_MOVE, Packed};

/// Scores stay within this.
const LIMIT: i32 = 8192;
/// Packed moves of either side, the side in bit 9.
pub(super) const MOVES: usize = 512;

pub(super) struct Memory {
    /// Two quiet moves of each ply that refuted something lately.
    pub killers: [[Packed; 2]; MAX_PLY + 2],
    /// By side and move.
    pub history: Box<[[i16; MOVES]; 2]>,
    /// By the move one ply back (0) or two plies back (1) with its side, then the side to move, then the move.
    continuation: Vec<[i16; MOVES]>,
}

/// Moves the score towards the bonus's sign, the less the nearer it is to the limit ("history gravity").
fn push(score: &mut i16, bonus: i32) {
    *score += (bonus - i32::from(*score) * bonus.abs() / LIMIT) as i16;
}

impl Memory {
    pub fn new() -> Memory {
        Memory {
            killers: [[NO_MOVE; 2]; MAX_PLY + 2],
            history: Box::new([[0; MOVES]; 2]),
            continuation: vec![[0; MOVES]; 2 * 1024],
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Memory::new();
    }

    /// Before another search: killers are of no use any more.
    pub fn next_search(&mut self) {
        self.killers = [[NO_MOVE; 2]; MAX_PLY + 2];
        for score in self.history.as_flattened_mut() {
            *score /= 2;
        }
    }

    /// The side of the earlier move says the side of this one, so that it need not be looked up.
    #[inline(always)]
    fn index(back: usize, earlier: Packed) -> usize {
        back * 1024 + usize::from(earlier & 1023)
    }

    #[inline(always)]
    pub fn continuation(&self, back: usize, earlier: Packed) -> &[i16; MOVES] {
        &self.continuation[Memory::index(back, earlier)]
    }

    pub fn update(&mut self, us: usize, mv: Packed, first: Packed, second: Packed, bonus: i32) {
        let mv = usize::from(mv);
        push(&mut self.history[us][mv], bonus);
        if first != NO_MOVE {
            push(&mut self.continuation[Memory::index(0, first)][mv], bonus);
        }
        if second != NO_MOVE {
            push(&mut self.continuation[Memory::index(1, second)][mv], bonus);
        }
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}
