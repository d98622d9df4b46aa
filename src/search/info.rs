//! The results of a search.

use super::score::Score;
use crate::board::Move;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The state of one line after an iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Info {
    /// The plies searched in full.
    pub depth: u32,
    /// The plies of the longest line searched.
    pub seldepth: u32,
    /// The rank of this line among the best lines, from 1.
    pub multipv: usize,
    /// The score of the line for the side to move.
    pub score: Score,
    /// The positions searched so far, by all threads together.
    pub nodes: u64,
    /// The time since the search began.
    pub time: Duration,
    /// The transposition table entries in use, in permille.
    pub hashfull: u32,
    /// The positions found in endgame tables.
    pub tbhits: u64,
    /// The line; its first move is the move to play. Never empty.
    pub pv: Vec<Move>,
}

/// The result of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchResult {
    /// The best lines, best first: [`EngineOptions::multipv`](super::EngineOptions::multipv) of them, or one for each
    /// move if there are fewer moves. Empty only if the game is over or none of the requested moves is legal.
    pub lines: Vec<Info>,
}

impl SearchResult {
    /// The best move; `None` if there is no line.
    #[must_use]
    pub fn best(&self) -> Option<Move> {
        self.lines.first().map(|line| line.pv[0])
    }
}
