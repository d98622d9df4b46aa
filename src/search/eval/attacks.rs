//! The attacks and the static evaluation of a position, computed in one pass over both sides.

use super::attack_maps::attack_maps;
use super::state::State;
use super::tables::Evaluator;
use crate::board::{Lanes, Rules, union};
use crate::cpu::{CpuLevel, dispatch};

/// The attacks of the side to move, and the static evaluation.
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
    /// The static evaluation for the side to move, in cp.
    pub eval: i32,
}

#[inline(always)]
fn compute_body(rules: &Rules, evaluator: &Evaluator, state: &State, attacks: &mut Attacks) {
    let maps = attack_maps(rules, evaluator, state);
    let (us, them) = state.sides_to_move();
    attacks.targets = maps.targets[us];
    attacks.danger = maps.danger[us];
    attacks.any = union(&maps.targets[us]);
    attacks.enemy_targets = maps.targets[them];
    attacks.eval = evaluator.evaluate(state, &maps);
}

impl Attacks {
    pub fn new() -> Attacks {
        Attacks { targets: [0; 8], danger: [0; 8], any: 0, enemy_targets: [0; 8], eval: 0 }
    }

    /// Number of moves that the other side would have.
    pub fn enemy_moves(&self) -> u32 {
        self.enemy_targets.iter().map(|targets| targets.count_ones()).sum()
    }

    /// Computes all fields for a position, with the instructions of a CPU level.
    #[inline(always)]
    pub fn compute(&mut self, level: CpuLevel, rules: &Rules, evaluator: &Evaluator, state: &State) {
        let attacks = self;
        dispatch!(level, fn(rules: &Rules, evaluator: &Evaluator, state: &State, attacks: &mut Attacks) = compute_body);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::score::MAX_ESTIMATE;
    use super::super::tables::Evaluation;
    use super::super::terms::tapered;
    use super::super::weights::WEIGHTS;
    use super::*;
    use crate::board::{Color, Position};
    use crate::game::random::Random;

    /// The evaluation is the sum of its features, each times its weight, at every CPU level.
    #[test]
    fn the_evaluation_is_the_sum_of_its_features() {
        let mut random = Random::new(13);
        for rules in ["paper", "chinese"] {
            let rules = Rules::new(rules.parse().unwrap());
            let evaluator = Evaluator::new(Evaluation::Default, &rules, &WEIGHTS);
            for _ in 0..40 {
                for position in random.walk(&Position::start(), &rules, 120) {
                    let state = State::new(&position, &evaluator);
                    let mut sum = [0; 2];
                    for (feature, count) in evaluator.trace(&rules, &state).0 {
                        for phase in 0..2 {
                            sum[phase] += i32::from(WEIGHTS.0[usize::from(feature)][phase]) * i32::from(count);
                        }
                    }
                    let white = tapered((sum[1] << 16) + sum[0], (state.count(0) + state.count(1)) as i32);
                    let expected =
                        (if state.turn == Color::White { white } else { -white }).clamp(-MAX_ESTIMATE, MAX_ESTIMATE);
                    for level in CpuLevel::available() {
                        let mut attacks = Attacks::new();
                        attacks.compute(level, &rules, &evaluator, &state);
                        assert_eq!(attacks.eval, expected, "{position:?} {}", level.name());
                    }
                }
            }
        }
    }
}
