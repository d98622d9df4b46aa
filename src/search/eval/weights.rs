//! The features of the hand-crafted evaluation, and their weights.

use crate::board::{Animal, DogOverWolf, ElephantTakesRat, Rules};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;
use thiserror::Error;

/// Animals on squares, from their owner's view: animal, rank, file a to d.
pub(crate) const PSQ: usize = 0;
/// Own animal, enemy animal on the board.
pub(crate) const PAIR: usize = PSQ + 8 * 36;
/// Own elephant against a rat that it may not take. Under such rules the feature replaces that pair.
pub(crate) const PAIR_SAFE_RAT: usize = PAIR + 64;
/// Safe moves by animal.
pub(crate) const MOBILITY: usize = PAIR_SAFE_RAT + 1;
/// An animal of the side to move that may be taken, then an animal of the other side.
pub(crate) const ATTACKED: usize = MOBILITY + 8;
/// The distance to a trap (0 to 10), and the plies by which the nearest defender is late (-4 to 3).
pub(crate) const RACE: usize = ATTACKED + 16;
/// Own traps that a side can step to, 0 to 3.
pub(crate) const GUARD: usize = RACE + 11 * 8;
/// Distance of a rat from the enemy's elephant, 0 to 11.
pub(crate) const HUNT: usize = GUARD + 4;
/// The right to move.
pub(crate) const TEMPO: usize = HUNT + 12;
/// The number of features.
pub(crate) const FEATURES: usize = TEMPO + 1;

/// A weight in the middle game and one in the endgame.
pub(crate) type Weight = [i16; 2];

/// The weight of every feature. As text, the weights are numbers in this order: middle game, then endgame, for each
/// feature.
#[derive(Clone, PartialEq, Eq)]
pub struct Weights(
    /// The weights, by feature.
    pub [Weight; FEATURES],
);

/// The weights that `dsq-lab tune` wrote, in cp.
pub static WEIGHTS: LazyLock<Weights> =
    LazyLock::new(|| include_str!("weights.txt").parse().expect("the file has a number for every feature"));

/// The error for a text that does not contain the weights of this evaluation.
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

/// The feature of an animal on a square.
pub(super) const fn square_feature(animal: usize, color: usize, square: usize) -> usize {
    let square = if color == 0 { square } else { 62 - square };
    let (rank, file) = (square / 7, square % 7);
    let file = if file > 3 { 6 - file } else { file };
    PSQ + animal * 36 + rank * 4 + file
}

/// The animal whose weights an animal uses: wolf and dog exchange weights if the wolf is the stronger.
pub(super) fn slot(rules: &Rules, animal: usize) -> usize {
    let swapped = rules.options().dog_over_wolf == DogOverWolf::No;
    let (wolf, dog) = (Animal::Wolf.index(), Animal::Dog.index());
    match animal {
        a if swapped && a == wolf => dog,
        a if swapped && a == dog => wolf,
        a => a,
    }
}

/// The feature of an animal in the presence of an enemy.
pub(super) fn pair_feature(rules: &Rules, own: usize, enemy: usize) -> usize {
    let (rat, elephant) = (Animal::Rat.index(), Animal::Elephant.index());
    if rules.options().elephant_takes_rat == ElephantTakesRat::No && (own, enemy) == (elephant, rat) {
        return PAIR_SAFE_RAT;
    }
    PAIR + slot(rules, own) * 8 + slot(rules, enemy)
}

/// The longest counted distances to a trap for intruder and defender. Longer distances count as these.
pub(super) const FAR: [u8; 2] = [10, 20];

/// The feature of the race to a trap. The intruder needs `far` plies, the defender `defender` plies; `moving` if the
/// intruder's side is to move.
pub(super) fn race_feature(far: u8, defender: u8, moving: bool) -> usize {
    let far = far.min(FAR[0]);
    // The intruder needs `far` moves; then a defender next to the trap takes it.
    let late = i32::from(defender.min(FAR[1])) - i32::from(far) + i32::from(moving) - 1;
    RACE + usize::from(far) * 8 + (late.clamp(-4, 3) + 4) as usize
}
