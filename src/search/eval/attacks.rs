//! The attacks of a position and the hand-crafted evaluation, computed in one pass over both sides.

use super::attack_maps::{AttackMaps, attack_maps, danger_from};
use super::evaluate::{EvalContext, Evaluate};
use super::state::State;
use super::tables::HandCrafted;
use super::weights::WEIGHTS;
use crate::board::{Color, Lanes, Position, Rules, reach, union};
use crate::cpu::{CpuLevel, dispatch};

/// The input that an evaluation takes from the attacks.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(in crate::search) enum EvalInput {
    /// Nothing.
    None,
    /// The attack maps of both sides.
    Maps,
    /// The value of the hand-crafted evaluation itself.
    Value,
}

/// The attacks of the side to move, and the value of the hand-crafted evaluation or the input of another evaluation.
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
    /// The hand-crafted evaluation for the side to move, in cp; 0 if the engine uses another evaluation.
    pub eval: i32,
    /// The input of a caller's evaluation.
    pub maps: Option<AttackMaps>,
}

#[inline(always)]
fn compute_body(rules: &Rules, hand_crafted: &HandCrafted, input: EvalInput, state: &State, attacks: &mut Attacks) {
    let (us, them) = state.sides_to_move();
    if input == EvalInput::None {
        let own = reach(rules, Color::ALL[us], &state.lanes[us], &state.lanes[them]);
        let enemy = reach(rules, Color::ALL[them], &state.lanes[them], &state.lanes[us]);
        attacks.targets = own.targets_among(state.side(us), state.side(them));
        attacks.danger = danger_from(them, &enemy.squares, hand_crafted, state);
        attacks.any = union(&attacks.targets);
        attacks.enemy_targets = enemy.targets_among(state.side(them), state.side(us));
        return;
    }
    let maps = attack_maps(rules, hand_crafted, state);
    attacks.targets = maps.targets[us];
    attacks.danger = maps.danger[us];
    attacks.any = union(&maps.targets[us]);
    attacks.enemy_targets = maps.targets[them];
    if input == EvalInput::Maps {
        attacks.maps = Some(maps);
    } else {
        // Evaluates while the maps are in registers. A later call would be slower, although some nodes do not need the
        // evaluation.
        let mut hand_crafted = hand_crafted;
        attacks.eval = hand_crafted.evaluate(&EvalContext { state, maps: &maps, rules, ply: 0 });
    }
}

impl Attacks {
    pub(crate) fn new() -> Attacks {
        Attacks { targets: [0; 8], danger: [0; 8], any: 0, enemy_targets: [0; 8], eval: 0, maps: None }
    }

    /// The number of moves that the other side would have if it were to move.
    pub(crate) fn enemy_moves(&self) -> u32 {
        self.enemy_targets.iter().map(|targets| targets.count_ones()).sum()
    }

    /// Computes the attacks of a position, and the input of the evaluation. All CPU levels return the same result.
    #[inline(always)]
    pub(crate) fn compute(
        &mut self,
        level: CpuLevel,
        rules: &Rules,
        hand_crafted: &HandCrafted,
        input: EvalInput,
        state: &State,
    ) {
        let attacks = self;
        dispatch!(
            level,
            fn(rules: &Rules, hand_crafted: &HandCrafted, input: EvalInput, state: &State, attacks: &mut Attacks) =
                compute_body
        );
    }
}

/// The engine's static evaluation of a position that is not over, in cp for the side to move. Each call prepares the
/// evaluation for the rules, which takes longer than the evaluation itself.
///
/// ```
/// use doushouqi::board::{Position, Rules};
/// use doushouqi::search::evaluate;
///
/// let rules = Rules::default();
/// let white_is_a_rat_ahead = Position::from_fen("7/7/3e3/7/7/7/3E3/7/R6 w")?;
/// assert!(evaluate(&white_is_a_rat_ahead, &rules) > 100);
/// assert!(evaluate(&white_is_a_rat_ahead.pass(), &rules) < -100);
/// # Ok::<(), doushouqi::board::ParseFenError>(())
/// ```
#[must_use]
pub fn evaluate(position: &Position, rules: &Rules) -> i32 {
    let hand_crafted = HandCrafted::new(rules, &WEIGHTS);
    let mut attacks = Attacks::new();
    attacks.compute(CpuLevel::get(), rules, &hand_crafted, EvalInput::Value, &State::new(position, &hand_crafted));
    attacks.eval
}

#[cfg(test)]
mod tests {
    use super::super::terms::tapered;
    use super::*;
    use crate::board::Color;
    use crate::game::random::Random;

    /// The evaluation is the sum of its features, each times its weight, at every CPU level.
    #[test]
    fn the_evaluation_is_the_sum_of_its_features() {
        let mut random = Random::new(13);
        for rules in ["paper", "chinese"] {
            let rules = Rules::new(rules.parse().unwrap());
            let hand_crafted = HandCrafted::new(&rules, &WEIGHTS);
            for _ in 0..40 {
                for position in random.walk(&Position::start(), &rules, 120) {
                    let state = State::new(&position, &hand_crafted);
                    let mut sum = [0; 2];
                    for (feature, count) in hand_crafted.trace(&rules, &state).0 {
                        for phase in 0..2 {
                            sum[phase] += i32::from(WEIGHTS.0[usize::from(feature)][phase]) * i32::from(count);
                        }
                    }
                    let white = tapered((sum[1] << 16) + sum[0], (state.count(0) + state.count(1)) as i32);
                    let expected = if state.turn == Color::White { white } else { -white };
                    for level in CpuLevel::available() {
                        let mut attacks = Attacks::new();
                        attacks.compute(level, &rules, &hand_crafted, EvalInput::Value, &state);
                        assert_eq!(attacks.eval, expected, "{position:?} {}", level.name());
                    }
                }
            }
        }
    }
}
