//! What can be seen in a position without moving, its evaluation included: one pass over both sides for all of it.

use super::sight::sight;
use super::state::State;
use super::tables::Evaluator;
use crate::board::{Lanes, Rules, union};
use crate::cpu::{CpuLevel, dispatch};

/// What can be seen in a position without moving.
#[derive(Clone)]
#[repr(align(64))]
pub(in crate::search) struct View {
    /// Where each animal of the side to move may go.
    pub targets: Lanes,
    /// Where each animal of the side to move may be taken, if it stands or goes there.
    pub danger: Lanes,
    /// Where any animal of the side to move may go.
    pub any: u64,
    /// Where the animals of the other side might go.
    enemy_targets: Lanes,
    /// The evaluation for the side to move.
    pub eval: i32,
}

#[inline(always)]
fn look_body(rules: &Rules, evaluator: &Evaluator, state: &State, view: &mut View) {
    let sight = sight(rules, evaluator, state);
    let (us, them) = state.sides_to_move();
    view.targets = sight.targets[us];
    view.danger = sight.danger[us];
    view.any = union(&sight.targets[us]);
    view.enemy_targets = sight.targets[them];
    view.eval = evaluator.evaluate(state, &sight);
}

impl View {
    pub fn new() -> View {
        View { targets: [0; 8], danger: [0; 8], any: 0, enemy_targets: [0; 8], eval: 0 }
    }

    /// Number of moves that the other side would have.
    pub fn enemy_moves(&self) -> u32 {
        self.enemy_targets.iter().map(|targets| targets.count_ones()).sum()
    }

    /// Looks at a position, with the instructions of a level.
    #[inline(always)]
    pub fn look(&mut self, level: CpuLevel, rules: &Rules, evaluator: &Evaluator, state: &State) {
        let view = self;
        dispatch!(level, fn(rules: &Rules, evaluator: &Evaluator, state: &State, view: &mut View) = look_body);
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

    /// The evaluation is the sum of its features, each times its weight, at every level of the processor.
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
                        let mut view = View::new();
                        view.look(level, &rules, &evaluator, &state);
                        assert_eq!(view.eval, expected, "{position:?} {}", level.name());
                    }
                }
            }
        }
    }
}
