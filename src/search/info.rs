//! The results of a search. The search ends a line where the result is certain: with an intruder next to the den that
//! cannot be captured, two plies are missing, any move and the step into the den. [`complete`] adds them.

use super::score::Score;
use crate::board::{Color, Move};
use crate::game::Game;
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

/// The most plies that are added to a line.
const MISSING: usize = 2;

/// Completes the line of a win or loss of known distance. If its end is not found, the score becomes a bound: a win in at
/// most so many plies.
pub(super) fn complete(game: &Game, info: &mut Info) {
    let Some(plies) = info.score.win_in().or(info.score.loss_in()) else { return };
    let turn = game.position().turn();
    let winner = if info.score.is_win() { turn } else { !turn };
    let mut game = game.clone();
    let len = info.pv.len();
    let missing = (plies as usize).checked_sub(len).filter(|&missing| missing <= MISSING);
    let played = info.pv.iter().all(|&mv| game.play(mv).is_ok());
    if !played || !missing.is_some_and(|missing| extend(&mut game, winner, missing, info)) {
        info.pv.truncate(len);
        info.score = info.score.without_distance();
    }
}

/// Appends moves after which this side has won, exactly so many. Returns whether there are any.
fn extend(game: &mut Game, winner: Color, plies: usize, info: &mut Info) -> bool {
    if plies == 0 || game.end().is_some() {
        return plies == 0 && game.end().is_some_and(|end| end.winner() == Some(winner));
    }
    for mv in game.legal_moves() {
        if game.play(mv).is_err() {
            continue;
        }
        info.pv.push(mv);
        if extend(game, winner, plies - 1, info) {
            return true;
        }
        info.pv.pop();
        game.undo();
    }
    false
}
