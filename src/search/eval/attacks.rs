//! The attacks of a position, as the search needs them.

use super::attack_maps::{AttackMaps, CaptureMasks, danger_from};
use super::state::State;
use crate::board::{Color, Lanes, Rules, reach, union};

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
    /// The attack maps of both sides, if the evaluation takes them as its input.
    pub maps: Option<AttackMaps>,
}

impl Attacks {
    pub(crate) fn new() -> Attacks {
        Attacks { targets: [0; 8], danger: [0; 8], any: 0, enemy_targets: [0; 8], maps: None }
    }

    /// The number of moves that the other side would have if it were to move.
    pub(crate) fn enemy_moves(&self) -> u32 {
        self.enemy_targets.iter().map(|targets| targets.count_ones()).sum()
    }

    /// Computes the attacks of a position, and with `with_maps` the maps of both sides.
    #[inline(always)]
    pub(crate) fn compute(&mut self, rules: &Rules, masks: &CaptureMasks, with_maps: bool, state: &State) {
        let (us, them) = state.sides_to_move();
        let own = reach(rules, Color::ALL[us], &state.lanes[us], &state.lanes[them]);
        let enemy = reach(rules, Color::ALL[them], &state.lanes[them], &state.lanes[us]);
        self.targets = own.targets_among(state.side(us), state.side(them));
        self.danger = danger_from(them, &enemy.squares, masks, state);
        self.enemy_targets = enemy.targets_among(state.side(them), state.side(us));
        self.any = union(&self.targets);
        if with_maps {
            let mut maps = AttackMaps { targets: [self.targets; 2], danger: [self.danger; 2] };
            maps.targets[them] = self.enemy_targets;
            maps.danger[them] = danger_from(us, &own.squares, masks, state);
            self.maps = Some(maps);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::cpu::{CpuLevel, compiled};
    use crate::game::random::Random;
    use crate::search::packed::{animal_of, pack_move, to_of};

    type Input<'a> = (&'a Rules, &'a CaptureMasks, &'a State);

    #[inline(always)]
    fn compute(&(rules, masks, state): &Input<'_>, with_maps: bool) -> Attacks {
        let mut attacks = Attacks::new();
        attacks.compute(rules, masks, with_maps, state);
        attacks
    }

    /// The attacks are the moves of the board, at every CPU level, with and without the maps of both sides.
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
                    let compute = compiled!(level, fn(input: &Input<'_>, with_maps: bool) -> Attacks = compute);
                    let attacks = [false, true].map(|with_maps| compute(&(&rules, &masks, &state), with_maps));
                    let [plain, with_maps] = &attacks;
                    assert_eq!((plain.targets, plain.danger), (with_maps.targets, with_maps.danger), "{position:?}");
                    assert!(plain.maps.is_none() && with_maps.maps.is_some());
                    for attacks in &attacks {
                        let mut targets = [0; 8];
                        for &mv in &own {
                            let mv = pack_move(mv);
                            targets[animal_of(mv)] |= 1 << to_of(mv);
                        }
                        assert_eq!(attacks.targets, targets, "{position:?} {}", level.name());
                        assert_eq!(attacks.any, union(&targets));
                        assert_eq!(attacks.enemy_moves() as usize, enemy.len(), "{position:?}");
                    }
                    // A piece that the enemy may capture stands on a square of danger.
                    for mv in &enemy {
                        if let Some(victim) = position.piece_at(mv.to) {
                            assert!(plain.danger[victim.animal.index()] >> mv.to.index() & 1 != 0, "{position:?} {mv}");
                        }
                    }
                }
            }
        }
    }
}
