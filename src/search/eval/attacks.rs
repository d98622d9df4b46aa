//! The attacks of a position, as the search needs them.

use super::state::State;
use crate::board::geometry::WATER;
use crate::board::{Color, Lanes, Rules, reach, union};

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

/// The attacks of the side to move.
#[derive(Clone)]
#[repr(align(64))]
pub(in crate::search) struct Attacks {
    /// The targets of each animal of the side to move: its legal moves.
    pub targets: Lanes,
    /// The squares on which an enemy could capture each animal of the side to move.
    pub danger: Lanes,
    /// The union of the targets.
    pub any: u64,
    /// The targets of the other side.
    enemy_targets: Lanes,
}

impl Attacks {
    pub(crate) fn new() -> Attacks {
        Attacks { targets: [0; 8], danger: [0; 8], any: 0, enemy_targets: [0; 8] }
    }

    /// The number of moves that the other side would have if it were to move.
    pub(crate) fn enemy_moves(&self) -> u32 {
        self.enemy_targets.iter().map(|targets| targets.count_ones()).sum()
    }

    /// Computes the attacks of a position.
    #[inline(always)]
    pub(crate) fn compute(&mut self, rules: &Rules, masks: &CaptureMasks, state: &State) {
        let (us, them) = state.sides_to_move();
        let own = reach(rules, Color::ALL[us], &state.lanes[us], &state.lanes[them]);
        let enemy = reach(rules, Color::ALL[them], &state.lanes[them], &state.lanes[us]);
        self.targets = own.targets_among(state.side(us), state.side(them));
        self.danger = danger_from(them, &enemy.squares, masks, state);
        self.enemy_targets = enemy.targets_among(state.side(them), state.side(us));
        self.any = union(&self.targets);
    }
}

/// The squares on which the side `attackers`, whose animals reach `squares`, could capture each animal of the other
/// side.
#[inline(always)]
fn danger_from(attackers: usize, squares: &Lanes, masks: &CaptureMasks, state: &State) -> Lanes {
    let takes = masks.of(attackers, state.lanes[attackers][0]);
    let mut danger = [0; 8];
    for attacker in 0..8 {
        for victim in 0..8 {
            danger[victim] |= squares[attacker] & takes[attacker][victim];
        }
    }
    danger
}

#[cfg(test)]
mod tests {
    use super::super::state::{animal_of, pack_move, to_of};
    use super::*;
    use crate::board::Position;
    use crate::cpu::{CpuLevel, compiled};
    use crate::game::random::Random;

    type Input<'a> = (&'a Rules, &'a CaptureMasks, &'a State);

    #[inline(always)]
    fn compute(&(rules, masks, state): &Input<'_>) -> Attacks {
        let mut attacks = Attacks::new();
        attacks.compute(rules, masks, state);
        attacks
    }

    /// The attacks are the moves of the board, at every CPU level.
    #[test]
    fn attacks_are_the_moves_of_both_sides() {
        let mut random = Random::new(13);
        for rules in ["paper", "chinese"] {
            let rules = Rules::new(rules.parse().unwrap());
            let masks = CaptureMasks::new(&rules);
            let walks = (0..20).flat_map(|_| random.walk(&Position::start(), &rules, 120));
            for position in walks.filter(|position| position.winner().is_none()) {
                let state = State::new(&position);
                let (own, enemy) = (position.moves(&rules), position.pass().moves(&rules));
                for level in CpuLevel::available() {
                    let compute = compiled!(level, fn(input: &Input<'_>) -> Attacks = compute);
                    let attacks = compute(&(&rules, &masks, &state));
                    let mut targets = [0; 8];
                    for &mv in &own {
                        let mv = pack_move(mv);
                        targets[animal_of(mv)] |= 1 << to_of(mv);
                    }
                    assert_eq!(attacks.targets, targets, "{position:?} {}", level.name());
                    assert_eq!(attacks.any, union(&targets));
                    assert_eq!(attacks.enemy_moves() as usize, enemy.len(), "{position:?}");
                    // A piece that the enemy may capture stands on a square of danger.
                    for mv in &enemy {
                        if let Some(victim) = position.piece_at(mv.to) {
                            assert!(
                                attacks.danger[victim.animal.index()] >> mv.to.index() & 1 != 0,
                                "{position:?} {mv}"
                            );
                        }
                    }
                }
            }
        }
    }
}
