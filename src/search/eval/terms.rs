//! The terms of the hand-crafted evaluation: the features of a position, each counted and multiplied by its weight.

use super::attack_maps::{AttackMaps, attack_maps};
use super::evaluate::{EvalContext, Evaluate};
use super::state::{State, TRAP_BITS};
use super::tables::{HandCrafted, Races};
use super::weights::{
    ATTACKED, FAR, FEATURES, GUARD, HUNT, MOBILITY, TEMPO, pair_feature, race_feature, slot, square_feature,
};
use crate::board::{Color, Rules, union};

/// The number of phases between two pieces and sixteen.
const PHASES: i32 = 14;

#[inline(always)]
pub(super) fn tapered(sum: i32, pieces: i32) -> i32 {
    let (middle, end) = (i32::from(sum as i16), (sum + 0x8000) >> 16);
    let phase = pieces - 2;
    (middle * phase + end * (PHASES - phase)) / PHASES
}

/// Receives the features of a position.
trait Sink {
    fn add(&mut self, feature: usize, count: i32);

    /// The feature of the race to a trap, see [`race_feature`].
    fn race(&mut self, far: u8, defender: u8, moving: bool, count: i32) {
        self.add(race_feature(far, defender, moving), count);
    }
}

/// Sums the weights of the features.
struct Sum<'a> {
    weights: &'a [i32; FEATURES],
    races: &'a Races,
    sum: i32,
}

impl Sink for Sum<'_> {
    #[inline(always)]
    fn add(&mut self, feature: usize, count: i32) {
        self.sum += self.weights[feature] * count;
    }

    #[inline(always)]
    fn race(&mut self, far: u8, defender: u8, moving: bool, count: i32) {
        let (far, defender) = (usize::from(far.min(FAR[0])) & 15, usize::from(defender.min(FAR[1])) & 31);
        self.sum += self.races[usize::from(moving)][far][defender] * count;
    }
}

/// Counts the features.
struct Trace(Vec<i16>);

impl Sink for Trace {
    fn add(&mut self, feature: usize, count: i32) {
        self.0[feature] += count as i16;
    }
}

/// The hand-crafted evaluation is an [`Evaluate`] like any other. It keeps no data, so threads share it.
impl Evaluate for &HandCrafted {
    #[inline(always)]
    fn evaluate(&mut self, context: &EvalContext<'_>) -> i32 {
        let state = context.state;
        let mut sum = Sum { weights: &self.weights, races: &self.races, sum: state.squares + state.material };
        if self.positional {
            self.features(state, context.maps, &mut sum);
        }
        let white = tapered(sum.sum, (state.count(0) + state.count(1)) as i32);
        if state.turn == Color::White { white } else { -white }
    }
}

impl HandCrafted {
    /// All features except those that a [`State`] contains, from White's view.
    #[inline(always)]
    fn features(&self, state: &State, maps: &AttackMaps, sink: &mut impl Sink) {
        let mut near = [[u8::MAX; 8]; 2];
        for color in 0..2 {
            for a in 0..8 {
                let square = (state.lanes[color][a].trailing_zeros() as usize).min(64);
                let distance = &self.trap_distance[color][a][square];
                for i in 0..8 {
                    near[color][i] = near[color][i].min(distance[i]);
                }
            }
        }
        for color in 0..2 {
            let sign = 1 - 2 * color as i32;
            let enemy = color ^ 1;
            let moving = state.turn as usize == color;
            for a in 0..8 {
                let own = state.lanes[color][a];
                let safe = (maps.targets[color][a] & !maps.danger[color][a]).count_ones();
                sink.add(MOBILITY + a, sign * safe as i32);
                let attacked = i32::from(own & maps.danger[color][a] != 0);
                sink.add(ATTACKED + if moving { 0 } else { 8 } + a, sign * attacked);
            }
            // The enemy's traps, which this side wants to enter.
            let first = 3 * enemy;
            for i in first..first + 3 {
                sink.race(near[color][i], near[enemy][i], moving, sign);
            }
            let guarded = (union(&maps.squares[color]) & TRAP_BITS[color]).count_ones();
            sink.add(GUARD + guarded as usize, sign);
            let (rat, elephant) = (state.lanes[color][0], state.lanes[enemy][7]);
            if rat != 0 && elephant != 0 {
                let distance =
                    self.rat_distance[rat.trailing_zeros() as usize & 63][elephant.trailing_zeros() as usize & 63];
                sink.add(HUNT + usize::from(distance.min(11)), sign);
            }
        }
        sink.add(TEMPO, 1 - 2 * state.turn as i32);
    }

    /// Every feature of a position with its count, from White's view, and the phase from 0 (endgame) to 1, for tuning.
    pub(crate) fn trace(&self, rules: &Rules, state: &State) -> (Vec<(u16, i16)>, f32) {
        let maps = &attack_maps(rules, self, state);
        let mut trace = Trace(vec![0; FEATURES]);
        self.features(state, maps, &mut trace);
        for color in 0..2 {
            let sign = 1 - 2 * color as i32;
            for a in (0..8).filter(|&a| state.lanes[color][a] != 0) {
                let square = state.lanes[color][a].trailing_zeros() as usize;
                trace.add(square_feature(slot(rules, a), color, square), sign);
                for e in (0..8).filter(|&e| state.lanes[color ^ 1][e] != 0) {
                    trace.add(pair_feature(rules, a, e), sign);
                }
            }
        }
        let features = trace.0.into_iter().enumerate().filter(|&(_, n)| n != 0);
        let phase = (state.count(0) + state.count(1)) as f32 - 2.0;
        (features.map(|(i, n)| (i as u16, n)).collect(), phase / PHASES as f32)
    }
}
