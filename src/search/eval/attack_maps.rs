//! The attack maps of both sides: the input of evaluations.

use super::state::State;
use super::tables::HandCrafted;
use crate::board::{Color, Lanes, Rules, reach};

/// The attack maps of both sides, by side and animal: squares reached (own pieces and captures ignored), legal targets,
/// and squares on which an enemy could capture the animal.
#[derive(Clone)]
#[repr(align(64))]
pub(in crate::search) struct AttackMaps {
    pub squares: [Lanes; 2],
    pub targets: [Lanes; 2],
    pub danger: [Lanes; 2],
}

/// The attack maps of a position.
#[inline(always)]
pub(super) fn attack_maps(rules: &Rules, hand_crafted: &HandCrafted, state: &State) -> AttackMaps {
    let white = reach(rules, Color::White, &state.lanes[0], &state.lanes[1]);
    let black = reach(rules, Color::Black, &state.lanes[1], &state.lanes[0]);
    let [whites, blacks] = state.sides;
    let targets = [white.targets_among(whites, blacks), black.targets_among(blacks, whites)];
    let squares = [white.squares, black.squares];
    let mut danger = [[0; 8]; 2];
    for color in 0..2 {
        danger[color] = danger_from(color ^ 1, &squares[color ^ 1], hand_crafted, state);
    }
    AttackMaps { squares, targets, danger }
}

/// The squares on which the side `attackers`, whose animals reach `squares`, could capture each animal of the other
/// side.
#[inline(always)]
pub(super) fn danger_from(attackers: usize, squares: &Lanes, hand_crafted: &HandCrafted, state: &State) -> Lanes {
    let takes = hand_crafted.takes(attackers, state.lanes[attackers][0]);
    let mut danger = [0; 8];
    for attacker in 0..8 {
        for victim in 0..8 {
            danger[victim] |= squares[attacker] & takes[attacker][victim];
        }
    }
    danger
}
