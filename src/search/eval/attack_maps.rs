//! The attack maps of both sides: the input of evaluations.

use super::state::State;
use crate::board::geometry::WATER;
use crate::board::{Lanes, Rules};

/// The squares where an attacker may capture a victim, by the attacking side, whether its rat is in the water, and the
/// attacker. The rules contain the same masks by victim; by attacker they need no sums over lanes.
pub(in crate::search) struct CaptureMasks([[[Lanes; 8]; 2]; 2]);

impl CaptureMasks {
    pub(in crate::search) fn new(rules: &Rules) -> CaptureMasks {
        CaptureMasks(rules.masks().takes.map(|masks| {
            masks.map(|masks| std::array::from_fn(|attacker| std::array::from_fn(|victim| masks[victim][attacker])))
        }))
    }

    /// The masks of the attackers of a side; `rat` is the square of its rat.
    #[inline(always)]
    fn of(&self, color: usize, rat: u64) -> &[Lanes; 8] {
        &self.0[color][usize::from(rat & WATER.bits() != 0)]
    }
}

/// The attack maps of both sides, by side and animal.
#[derive(Clone)]
#[repr(align(64))]
pub(in crate::search) struct AttackMaps {
    /// The legal targets.
    pub targets: [Lanes; 2],
    /// The squares on which an enemy could capture the animal.
    pub danger: [Lanes; 2],
}

/// The squares on which the side `attackers`, whose animals reach `squares`, could capture each animal of the other
/// side.
#[inline(always)]
pub(super) fn danger_from(attackers: usize, squares: &Lanes, masks: &CaptureMasks, state: &State) -> Lanes {
    let takes = masks.of(attackers, state.lanes[attackers][0]);
    let mut danger = [0; 8];
    for attacker in 0..8 {
        for victim in 0..8 {
            danger[victim] |= squares[attacker] & takes[attacker][victim];
        }
    }
    danger
}
