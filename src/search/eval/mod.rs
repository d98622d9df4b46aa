//! What a position is worth at the horizon: a sum of features, each with a weight for the middle game and one for the
//! endgame, between which the number of pieces decides ("tapered evaluation").
//!
//! Features of one side, less those of the other:
//!
//! - where each animal stands ([`PSQ`], mirrored in the d-file; the material is in it);
//! - what each animal is worth with this enemy on the board ([`PAIR`]): an animal is worth what it can take, and less for
//!   each enemy that can take it;
//! - how many safe moves each animal has, leaps included ([`MOBILITY`]);
//! - which pieces may be taken next ([`ATTACKED`]), of the side to move and of the other;
//! - who is first at each trap before the den ([`RACE`]): by how many plies the nearest enemy that could take an intruder
//!   there is late, for each distance of the nearest intruder;
//! - how many traps before its den a side can step to ([`GUARD`]);
//! - how far a rat is from the enemy's elephant ([`HUNT`]);
//! - the move itself ([`TEMPO`]).
//!
//! Distances are those of each kind of animal by the rules in force, over an empty board. Where the rules make the wolf
//! the stronger of wolf and dog, the two exchange their weights.

use super::burnett::piece_value;
use super::engine::Evaluation;
use super::score::MAX_ESTIMATE;
use super::state::{Sight, State, sight};
use crate::board::geometry::{TRAPS, WATER, habitat};
use crate::board::{Animal, Color, DogOverWolf, ElephantTakesRat, Lanes, Piece, Rules, Square, union};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;
use thiserror::Error;

/// A weight in the middle game and one in the endgame.
pub type Weight = [i16; 2];

/// The weight of every feature. Their text is the numbers in order, the middle game's and the endgame's of each feature.
#[derive(Clone, PartialEq, Eq)]
pub struct Weights(pub [Weight; FEATURES]);

/// The weights that `dsq tune` made, in hundredths of a cat.
pub static WEIGHTS: LazyLock<Weights> =
    LazyLock::new(|| include_str!("weights.txt").parse().expect("the file has a number for every feature"));

/// Text that is not the weights of this evaluation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("weights are {} whole numbers", 2 * FEATURES)]
pub struct ParseWeightsError;

impl FromStr for Weights {
    type Err = ParseWeightsError;

    fn from_str(text: &str) -> Result<Weights, ParseWeightsError> {
        let numbers: Result<Vec<i16>, _> = text.split_ascii_whitespace().map(str::parse).collect();
        let numbers = numbers.map_err(|_| ParseWeightsError)?;
        let (pairs, rest) = numbers.as_chunks::<2>();
        let weights = pairs.to_vec().try_into().map_err(|_| ParseWeightsError)?;
        if rest.is_empty() { Ok(Weights(weights)) } else { Err(ParseWeightsError) }
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.0.chunks(12) {
            let line: Vec<String> = line.iter().map(|[middle, end]| format!("{middle} {end}")).collect();
            writeln!(f, "{}", line.join("  "))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FEATURES} weights")
    }
}

/// Animals on squares, from their owner's view: animal, rank, file a to d.
pub const PSQ: usize = 0;
/// Own animal, enemy animal on the board.
pub const PAIR: usize = PSQ + 8 * 36;
/// Own elephant against a rat it may not take, which stands for that pair under such rules.
pub const PAIR_SAFE_RAT: usize = PAIR + 64;
/// Safe moves by animal.
pub const MOBILITY: usize = PAIR_SAFE_RAT + 1;
/// Whether an animal of the side to move may be taken, then one of the other side.
pub const ATTACKED: usize = MOBILITY + 8;
/// Distance to a trap (0 to 10), plies by which the nearest defender is late (-4 to 3).
pub const RACE: usize = ATTACKED + 16;
/// Own traps that a side can step to, 0 to 3.
pub const GUARD: usize = RACE + 11 * 8;
/// Distance of a rat from the enemy's elephant, 0 to 11.
pub const HUNT: usize = GUARD + 4;
pub const TEMPO: usize = HUNT + 12;
/// Number of features.
pub const FEATURES: usize = TEMPO + 1;

/// Takes up the features of a position.
pub(super) trait Sink {
    fn add(&mut self, feature: usize, count: i32);

    /// The feature of the race to a trap, `far` plies away, against a defender who needs so many plies.
    fn race(&mut self, far: u8, defender: u8, moving: bool, count: i32) {
        self.add(race_feature(far, defender, moving), count);
    }
}

/// Adds up what they are worth.
struct Sum<'a> {
    weights: &'a [i32; FEATURES],
    races: &'a Races,
    sum: i32,
}

/// The weights of races: whether the intruder's side is to move, his distance, the defender's.
type Races = [[[i32; 32]; 16]; 2];

/// Longer ways are as good as these, which are what a race makes no difference of.
const FAR: [u8; 2] = [10, 20];

fn race_feature(far: u8, defender: u8, moving: bool) -> usize {
    let far = far.min(FAR[0]);
    // The intruder needs `far` moves; then a defender that has come next to the trap takes him.
    let late = i32::from(defender.min(FAR[1])) - i32::from(far) + i32::from(moving) - 1;
    RACE + usize::from(far) * 8 + (late.clamp(-4, 3) + 4) as usize
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

/// Two weights in one number, so that both are added at once.
#[inline(always)]
const fn packed([middle, end]: Weight) -> i32 {
    ((end as i32) << 16) + middle as i32
}

/// Between two pieces and sixteen.
const PHASES: i32 = 14;

#[inline(always)]
fn tapered(sum: i32, pieces: i32) -> i32 {
    let (middle, end) = (i32::from(sum as i16), (sum + 0x8000) >> 16);
    let phase = pieces - 2;
    (middle * phase + end * (PHASES - phase)) / PHASES
}

const fn square_feature(animal: usize, color: usize, square: usize) -> usize {
    let square = if color == 0 { square } else { 62 - square };
    let (rank, file) = (square / 7, square % 7);
    let file = if file > 3 { 6 - file } else { file };
    PSQ + animal * 36 + rank * 4 + file
}

/// An evaluation made ready for a set of rules.
pub(super) struct Evaluator {
    squares: [[[i32; 64]; 8]; 2],
    /// What an animal is worth against a set of enemies.
    pairs: Box<[[i32; 256]; 8]>,
    /// By attacking side and whether its rat is in the water: where an attacker may take a victim.
    takes: [[[Lanes; 8]; 2]; 2],
    /// Plies from a square to the traps c1, e1, d2, c9, e9, d8; by side and animal, the last entry for none.
    distance: Box<[[[[u8; 8]; 65]; 8]; 2]>,
    /// Between squares, for a rat.
    rat_distance: Box<[[u8; 64]; 64]>,
    weights: Box<[i32; FEATURES]>,
    races: Box<Races>,
    positional: bool,
}

/// Where an animal of a side gets to from a square over an empty board, and in how many moves; 255 for nowhere.
fn distances(rules: &Rules, color: Color, animal: Animal, from: Square) -> [u8; 64] {
    let habitat = habitat(color, animal);
    let mut distance = [u8::MAX; 64];
    if !habitat.contains(from) {
        return distance;
    }
    distance[from.index()] = 0;
    let mut queue = vec![from];
    let mut next = 0;
    while let Some(&square) = queue.get(next) {
        next += 1;
        for (to, _) in rules.options().destinations(animal, square) {
            if habitat.contains(to) && distance[to.index()] == u8::MAX {
                distance[to.index()] = distance[square.index()] + 1;
                queue.push(to);
            }
        }
    }
    distance
}

impl Evaluator {
    pub fn new(kind: Evaluation, rules: &Rules, table: &Weights) -> Evaluator {
        let positional = kind == Evaluation::Default;
        let weights: Box<[i32; FEATURES]> = Box::new(table.0.map(packed));
        let mut squares = [[[0; 64]; 8]; 2];
        for color in 0..2 {
            for a in 0..8 {
                for square in Square::all() {
                    let side = Color::ALL[color];
                    let sign = 1 - 2 * color as i32;
                    let value = if positional {
                        weights[square_feature(slot(rules, a), color, square.index())]
                    } else {
                        let value = piece_value(Piece { color: side, animal: Animal::ALL[a] }, square) as i16;
                        packed([value, value])
                    };
                    squares[color][a][square.index()] = sign * value;
                }
            }
        }
        let mut pairs = Box::new([[0; 256]; 8]);
        if positional {
            for a in 0..8 {
                for set in 0..256 {
                    pairs[a][set] =
                        (0..8).filter(|e| set >> e & 1 != 0).map(|e| weights[pair_feature(rules, a, e)]).sum();
                }
            }
        }
        let takes = [0, 1].map(|color| {
            let masks = &rules.masks().takes[Color::ALL[color]];
            [0, 1].map(|wet: usize| {
                std::array::from_fn(|attacker| std::array::from_fn(|victim| masks[wet][victim][attacker]))
            })
        });
        let mut distance = Box::new([[[[u8::MAX; 8]; 65]; 8]; 2]);
        let goals: Vec<Square> = TRAPS.white.into_iter().chain(TRAPS.black).collect();
        for color in 0..2 {
            for a in 0..8 {
                for square in Square::all() {
                    let from = distances(rules, Color::ALL[color], Animal::ALL[a], square);
                    for (i, goal) in goals.iter().enumerate() {
                        distance[color][a][square.index()][i] = from[goal.index()];
                    }
                }
            }
        }
        let mut rat_distance = Box::new([[u8::MAX; 64]; 64]);
        for square in Square::all() {
            rat_distance[square.index()] = distances(rules, Color::White, Animal::Rat, square);
        }
        let mut races = Box::new([[[0; 32]; 16]; 2]);
        for moving in 0..2 {
            for far in 0..16 {
                for defender in 0..32 {
                    races[moving][far][defender] = weights[race_feature(far as u8, defender as u8, moving == 1)];
                }
            }
        }
        Evaluator { squares, pairs, takes, distance, rat_distance, weights, races, positional }
    }

    /// What an animal on a square is worth, from White's view.
    #[inline(always)]
    pub fn square(&self, color: usize, animal: usize, square: usize) -> i32 {
        self.squares[color & 1][animal & 7][square & 63]
    }

    /// What the animals of both sides are worth in each other's presence, from White's view.
    #[inline]
    pub fn material(&self, sets: [u8; 2]) -> i32 {
        if !self.positional {
            return 0;
        }
        let side = |own: u8, enemy: u8| -> i32 {
            (0..8).map(|a| if own >> a & 1 != 0 { self.pairs[a][usize::from(enemy)] } else { 0 }).sum()
        };
        side(sets[0], sets[1]) - side(sets[1], sets[0])
    }

    #[inline(always)]
    pub fn takes(&self, color: usize, rat: u64) -> &[Lanes; 8] {
        &self.takes[color][usize::from(rat & WATER.bits() != 0)]
    }

    /// The evaluation for the side to move.
    #[inline(always)]
    pub fn evaluate(&self, state: &State, sight: &Sight) -> i32 {
        let mut sum = Sum { weights: &self.weights, races: &self.races, sum: state.squares + state.material };
        if self.positional {
            self.features(state, sight, &mut sum);
        }
        let white = tapered(sum.sum, (state.count(0) + state.count(1)) as i32);
        (if state.turn == 0 { white } else { -white }).clamp(-MAX_ESTIMATE, MAX_ESTIMATE)
    }

    /// All features but those that a [`State`] carries along, from White's view.
    #[inline(always)]
    fn features(&self, state: &State, sight: &Sight, sink: &mut impl Sink) {
        let mut near = [[u8::MAX; 8]; 2];
        for color in 0..2 {
            for a in 0..8 {
                let square = (state.lanes[color][a].trailing_zeros() as usize).min(64);
                let distance = &self.distance[color][a][square];
                for i in 0..8 {
                    near[color][i] = near[color][i].min(distance[i]);
                }
            }
        }
        for color in 0..2 {
            let sign = 1 - 2 * color as i32;
            let enemy = color ^ 1;
            let moving = state.turn == color;
            for a in 0..8 {
                let own = state.lanes[color][a];
                let safe = (sight.targets[color][a] & !sight.danger[color][a]).count_ones();
                sink.add(MOBILITY + a, sign * safe as i32);
                let attacked = i32::from(own & sight.danger[color][a] != 0);
                sink.add(ATTACKED + if moving { 0 } else { 8 } + a, sign * attacked);
            }
            // The traps of the enemy, which this side would enter.
            let first = 3 * enemy;
            for i in first..first + 3 {
                sink.race(near[color][i], near[enemy][i], moving, sign);
            }
            let traps = if color == 0 { TRAPS.white.bits() } else { TRAPS.black.bits() };
            let guarded = (union(&sight.squares[color]) & traps).count_ones();
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

    /// Every feature of a position with its count, from White's view, and how far it is from the endgame (0 to 1):
    /// the evaluation taken apart, for tuning.
    pub fn trace(&self, rules: &Rules, state: &State) -> (Vec<(u16, i16)>, f32) {
        let sight = &sight(rules, self, state);
        struct Trace(Vec<i16>);
        impl Sink for Trace {
            fn add(&mut self, feature: usize, count: i32) {
                self.0[feature] += count as i16;
            }
        }
        let mut trace = Trace(vec![0; FEATURES]);
        self.features(state, sight, &mut trace);
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

/// Whose weights an animal has: wolf and dog change places where the wolf is the stronger.
fn slot(rules: &Rules, animal: usize) -> usize {
    let swapped = rules.options().dog_over_wolf == DogOverWolf::No;
    let (wolf, dog) = (Animal::Wolf.index(), Animal::Dog.index());
    match animal {
        a if swapped && a == wolf => dog,
        a if swapped && a == dog => wolf,
        a => a,
    }
}

fn pair_feature(rules: &Rules, own: usize, enemy: usize) -> usize {
    let (rat, elephant) = (Animal::Rat.index(), Animal::Elephant.index());
    if rules.options().elephant_takes_rat == ElephantTakesRat::No && (own, enemy) == (elephant, rat) {
        return PAIR_SAFE_RAT;
    }
    PAIR + slot(rules, own) * 8 + slot(rules, enemy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::cpu::CpuLevel;
    use crate::search::state::View;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    /// The evaluation is the sum of its features, each times its weight, at every level of the processor.
    #[test]
    fn the_evaluation_is_the_sum_of_its_features() {
        let mut random = Pcg64::seed_from_u64(13);
        for rules in ["paper", "chinese"] {
            let rules = Rules::new(rules.parse().unwrap());
            let evaluator = Evaluator::new(Evaluation::Default, &rules, &WEIGHTS);
            for _ in 0..40 {
                let mut position = Position::start();
                for _ in 0..120 {
                    let moves = position.moves(&rules);
                    if moves.is_empty() {
                        break;
                    }
                    position = position.make(moves[random.next_u64() as usize % moves.len()]);
                    let state = State::new(&position, &evaluator);
                    let mut sum = [0; 2];
                    for (feature, count) in evaluator.trace(&rules, &state).0 {
                        for phase in 0..2 {
                            sum[phase] += i32::from(WEIGHTS.0[usize::from(feature)][phase]) * i32::from(count);
                        }
                    }
                    let white = tapered((sum[1] << 16) + sum[0], (state.count(0) + state.count(1)) as i32);
                    let expected = (if state.turn == 0 { white } else { -white }).clamp(-MAX_ESTIMATE, MAX_ESTIMATE);
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
