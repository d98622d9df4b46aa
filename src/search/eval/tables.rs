//! The hand-crafted evaluation prepared for a set of rules: tables by square, enemy and distance.

use super::super::burnett::piece_value;
use super::weights::{FEATURES, Weight, Weights, pair_feature, race_feature, slot, square_feature};
use crate::board::geometry::{TRAPS, WATER, habitat};
use crate::board::{Animal, Color, Lanes, Piece, Rules, Square};

/// Two weights in one number, which adds both at once.
#[inline(always)]
pub(super) const fn packed([middle, end]: Weight) -> i32 {
    ((end as i32) << 16) + middle as i32
}

/// The weights of races, by whether the intruder's side is to move, the intruder's distance and the defender's
/// distance.
pub(super) type Races = [[[i32; 32]; 16]; 2];

/// Plies to the traps c1, e1, d2, c9, e9, d8, by side, animal and square. The last square is for an animal that is not
/// on the board, and the last two of eight traps are padding: their distances are 255.
pub(super) type TrapDistances = [[[[u8; 8]; 65]; 8]; 2];

/// The hand-crafted evaluation prepared for a set of rules.
pub(in crate::search) struct HandCrafted {
    squares: [[[i32; 64]; 8]; 2],
    /// The value of an animal against a set of enemies.
    pairs: Box<[[i32; 256]; 8]>,
    /// The squares where an attacker may capture a victim, by attacking side and whether its rat is in the water.
    takes: [[[Lanes; 8]; 2]; 2],
    pub(super) trap_distance: Box<TrapDistances>,
    /// The distances between squares for a rat.
    pub(super) rat_distance: Box<[[u8; 64]; 64]>,
    pub(super) weights: Box<[i32; FEATURES]>,
    pub(super) races: Box<Races>,
    /// Whether features other than material and squares count.
    pub(super) positional: bool,
}

impl HandCrafted {
    /// The evaluation with these weights.
    pub(crate) fn new(rules: &Rules, weights: &Weights) -> HandCrafted {
        HandCrafted::build(rules, Some(Box::new(weights.0.map(packed))))
    }

    /// Burnett's tables: material and squares only.
    pub(crate) fn burnett(rules: &Rules) -> HandCrafted {
        HandCrafted::build(rules, None)
    }

    fn build(rules: &Rules, weights: Option<Box<[i32; FEATURES]>>) -> HandCrafted {
        let squares = square_values(rules, weights.as_deref());
        let positional = weights.is_some();
        // Burnett's tables contain no pairs and no races.
        let weights = weights.unwrap_or_else(|| Box::new([0; FEATURES]));
        let takes = [0, 1].map(|color| {
            let masks = &rules.masks().takes[Color::ALL[color]];
            [0, 1].map(|wet: usize| {
                std::array::from_fn(|attacker| std::array::from_fn(|victim| masks[wet][victim][attacker]))
            })
        });
        let mut rat_distance = Box::new([[u8::MAX; 64]; 64]);
        for square in Square::all() {
            rat_distance[square.index()] = distances(rules, Color::White, Animal::Rat, square);
        }
        HandCrafted {
            squares,
            pairs: pair_values(rules, &weights),
            takes,
            trap_distance: trap_distances(rules),
            rat_distance,
            races: race_values(&weights),
            weights,
            positional,
        }
    }

    /// The value of an animal on a square, from White's view.
    #[inline(always)]
    pub(crate) fn square(&self, color: usize, animal: usize, square: usize) -> i32 {
        self.squares[color & 1][animal & 7][square & 63]
    }

    /// The value of the animals of both sides in each other's presence, from White's view.
    #[inline]
    pub(crate) fn material(&self, sets: [u8; 2]) -> i32 {
        if !self.positional {
            return 0;
        }
        let side = |own: u8, enemy: u8| -> i32 {
            (0..8).map(|a| if own >> a & 1 != 0 { self.pairs[a][usize::from(enemy)] } else { 0 }).sum()
        };
        side(sets[0], sets[1]) - side(sets[1], sets[0])
    }

    /// The squares where each attacker of a side may capture each victim; `rat` is the square of the side's rat.
    #[inline(always)]
    pub(crate) fn takes(&self, color: usize, rat: u64) -> &[Lanes; 8] {
        &self.takes[color][usize::from(rat & WATER.bits() != 0)]
    }
}

/// The values of animals on squares, from White's view: by these weights, or by Burnett's tables.
fn square_values(rules: &Rules, weights: Option<&[i32; FEATURES]>) -> [[[i32; 64]; 8]; 2] {
    let mut values = [[[0; 64]; 8]; 2];
    for color in 0..2 {
        for a in 0..8 {
            for square in Square::all() {
                let value = weights.map_or_else(
                    || {
                        let piece = Piece { color: Color::ALL[color], animal: Animal::ALL[a] };
                        packed([piece_value(piece, square) as i16; 2])
                    },
                    |weights| weights[square_feature(slot(rules, a), color, square.index())],
                );
                values[color][a][square.index()] = (1 - 2 * color as i32) * value;
            }
        }
    }
    values
}

fn pair_values(rules: &Rules, weights: &[i32; FEATURES]) -> Box<[[i32; 256]; 8]> {
    let mut values = Box::new([[0; 256]; 8]);
    for a in 0..8 {
        for set in 0..256 {
            values[a][set] = (0..8).filter(|e| set >> e & 1 != 0).map(|e| weights[pair_feature(rules, a, e)]).sum();
        }
    }
    values
}

fn race_values(weights: &[i32; FEATURES]) -> Box<Races> {
    let mut values = Box::new([[[0; 32]; 16]; 2]);
    for moving in 0..2 {
        for far in 0..16 {
            for defender in 0..32 {
                values[moving][far][defender] = weights[race_feature(far as u8, defender as u8, moving == 1)];
            }
        }
    }
    values
}

fn trap_distances(rules: &Rules) -> Box<TrapDistances> {
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
    distance
}

/// The number of moves that an animal of a side needs from a square to each other square on an empty board; 255 if it
/// cannot reach that square.
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
