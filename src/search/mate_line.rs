//! Lines of wins and losses of known distance, completed to the end of the game.
//!
//! The search ends a line where the result is certain: with an intruder next to the den that cannot be captured, two
//! plies are missing, any move and the step into the den.

use super::info::Info;
use crate::board::Color;
use crate::game::Game;

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
