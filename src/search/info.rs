//! What a search tells of itself.

use super::score::Score;
use crate::board::Move;
use std::time::Duration;

/// What a search knows after an iteration, one for each line.
#[derive(Clone, Debug)]
pub struct Info {
    /// Plies searched in full.
    pub depth: u32,
    /// Plies of the longest line looked at.
    pub seldepth: u32,
    /// Which of the best lines this is, from 1.
    pub multipv: usize,
    /// What the line is worth to the side to move.
    pub score: Score,
    /// Positions searched so far, by all threads together.
    pub nodes: u64,
    /// Time since the search began.
    pub time: Duration,
    /// Entries of the transposition table in use, of a thousand.
    pub hashfull: u32,
    /// Positions looked up in endgame tables.
    pub tbhits: u64,
    /// The line, the move to play first. Never empty.
    pub pv: Vec<Move>,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The best lines, the best first: as many as were asked for and there are moves. Empty only if the game is over.
    pub lines: Vec<Info>,
}

impl SearchResult {
    /// The move to play; `None` if the game is over.
    #[must_use]
    pub fn best(&self) -> Option<Move> {
        self.lines.first().map(|line| line.pv[0])
    }
}
