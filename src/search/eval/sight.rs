//! Where the pieces of both sides go, and where they may be taken: what terms of the evaluation are counted from.

use super::state::State;
use super::tables::Evaluator;
use crate::board::{Color, Lanes, Rules, reach};

/// Both sides' moves and dangers, as the evaluation wants them.
#[repr(align(64))]
pub(super) struct Sight {
    pub squares: [Lanes; 2],
    pub targets: [Lanes; 2],
    pub danger: [Lanes; 2],
}

/// Looks at a position with the eyes of both sides.
#[inline(always)]
pub(super) fn sight(rules: &Rules, evaluator: &Evaluator, state: &State) -> Sight {
    let white = reach(rules, Color::White, &state.lanes[0], &state.lanes[1]);
    let black = reach(rules, Color::Black, &state.lanes[1], &state.lanes[0]);
    let [whites, blacks] = state.sides;
    let targets = [white.targets_among(whites, blacks), black.targets_among(blacks, whites)];
    let squares = [white.squares, black.squares];
    let mut danger = [[0; 8]; 2];
    for color in 0..2 {
        let enemy = color ^ 1;
        let takes = evaluator.takes(enemy, state.lanes[enemy][0]);
        for attacker in 0..8 {
            for victim in 0..8 {
                danger[color][victim] |= squares[enemy][attacker] & takes[attacker][victim];
            }
        }
    }
    Sight { squares, targets, danger }
}
