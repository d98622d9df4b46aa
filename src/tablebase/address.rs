//! From a position to the number of its value, fast: what each piece on each square adds, worked out beforehand for every
//! material.

use super::{ClassId, Classes, Index, MAX_PIECES, Man, Material, WIDTH, squares_in_play};
use crate::board::{Color, File, Lanes, Position, Square};

/// Where the value of every position of some classes is found.
pub(crate) struct Locator {
    /// The number of each material's place in `materials`, by White's animals and Black's animals, a byte each.
    numbers: Vec<u16>,
    materials: Vec<Place>,
    /// By class and place in the order of its index: what a piece adds to the number on each square.
    adds: Vec<Vec<[u64; WIDTH]>>,
}

/// A material that is none of these.
const NONE: u16 = u16::MAX;

/// Where a value is found.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub class: ClassId,
    /// The side to move there.
    pub turn: Color,
    /// The number of the value.
    pub number: usize,
}

/// How to find the positions of one material.
struct Place {
    class: ClassId,
    swapped: bool,
    /// The piece whose square decides whether to look up mirrored, and the squares for which it is so.
    first: (Color, usize),
    mirrored: u64,
    /// The place in the order of the index of each piece, in the order of lanes, White's first.
    slots: [u8; MAX_PIECES],
}

/// Where a square is looked up: by whether the colours are exchanged, so that the board is turned upside down, and whether
/// it is mirrored.
static SQUARES: [[[u8; WIDTH]; 2]; 2] = {
    let mut squares = [[[0; WIDTH]; 2]; 2];
    let mut i = 0;
    while i < 4 * Square::COUNT {
        let (s, flip, mirror) = (i / 4, i / 2 % 2, i % 2);
        let (file, rank) = (s % 7, s / 7);
        let rank = if flip == 1 { 8 - rank } else { rank };
        let file = if mirror == 1 { 6 - file } else { file };
        squares[flip][mirror][s] = (7 * rank + file) as u8;
        i += 1;
    }
    squares
};

impl Locator {
    /// `add` says what a piece on a square adds to the number, given its class and its place in the order of the index.
    pub fn new(classes: &Classes, add: impl Fn(ClassId, &Index, usize, Square) -> u64) -> Locator {
        let indices: Vec<Index> = classes.iter().map(|(_, class)| Index::new(class.representative)).collect();
        let adds = classes.iter().zip(&indices).map(|((id, _), index)| {
            let of_piece = |(slot, &man): (usize, &Man)| {
                let mut adds = [0; WIDTH];
                for square in squares_in_play(man) {
                    adds[square.index()] = add(id, index, slot, square);
                }
                adds
            };
            index.men.iter().enumerate().map(of_piece).collect()
        });
        let adds = adds.collect();
        let mut numbers = vec![NONE; 1 << 16];
        let mut materials = Vec::new();
        for material in (2..=classes.pieces()).flat_map(Material::all) {
            numbers[key(material.white.bits(), material.black.bits())] = materials.len() as u16;
            materials.push(Place::new(classes, &indices, material));
        }
        Locator { numbers, materials, adds }
    }

    /// What adds up to the number of a cell.
    pub fn of_cells(classes: &Classes) -> Locator {
        Locator::new(classes, |_, index, slot, square| {
            let (cell, width) = (square.index() as u64, WIDTH as u64);
            match index.row_pieces.get(slot) {
                Some(piece) => u64::from(piece.digit[square.index()] * piece.stride) * width * width,
                None if slot == index.row_pieces.len() => cell * width,
                None => cell,
            }
        })
    }

    /// Where the value of a position is; `None` if it has too many pieces or the game is over.
    #[inline]
    pub fn locate(&self, position: &Position) -> Option<Found> {
        if position.winner().is_some() {
            return None;
        }
        self.locate_lanes([position.lanes(Color::White), position.lanes(Color::Black)], position.turn())
    }

    /// The same of a position that is known not to be over.
    #[inline]
    pub fn locate_lanes(&self, lanes: [&Lanes; 2], turn: Color) -> Option<Found> {
        let sets =
            lanes.map(|lanes| lanes.iter().enumerate().fold(0u8, |set, (a, &lane)| set | u8::from(lane != 0) << a));
        let place = self.materials.get(usize::from(self.numbers[key(sets[0], sets[1])]))?;
        let (color, animal) = place.first;
        let mirror = place.mirrored & lanes[color as usize][animal] != 0;
        let squares = &SQUARES[usize::from(place.swapped)][usize::from(mirror)];
        let adds = &self.adds[place.class.0];
        let mut slots = place.slots.iter();
        let mut number = 0;
        for lanes in lanes {
            for &lane in lanes {
                if lane != 0 {
                    let square = squares[(lane.trailing_zeros() & 63) as usize] & 63;
                    number += adds[usize::from(*slots.next()?)][usize::from(square)];
                }
            }
        }
        let turn = if place.swapped { !turn } else { turn };
        Some(Found { class: place.class, turn, number: number as usize })
    }
}

fn key(white: u8, black: u8) -> usize {
    usize::from(white) << 8 | usize::from(black)
}

impl Place {
    fn new(classes: &Classes, indices: &[Index], material: Material) -> Place {
        let member = classes.member(material).expect("the classes hold all materials of so few pieces");
        let index = &indices[member.class.0];
        let mut men: Vec<_> = material.pieces().collect();
        men.sort_by_key(|&(color, animal)| (color, animal));
        let mut slots = [0; MAX_PIECES];
        for (slot, man) in slots.iter_mut().zip(&men) {
            let there = member.men.iter().find(|(here, _)| here == man).expect("a piece of the material").1;
            *slot = index.men.iter().position(|&man| man == there).expect("a piece of the class") as u8;
        }
        let first = slots.iter().position(|&slot| slot == 0).expect("one piece is first");
        let mirrored = if index.is_mirrored() {
            Square::all().filter(|s| s.file() > File::D).fold(0, |set, s| set | 1 << s.index())
        } else {
            0
        };
        let (color, animal) = men[first];
        Place { class: member.class, swapped: member.swapped, first: (color, animal.index()), mirrored, slots }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Piece, RuleOptions, Setup};
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    #[test]
    fn finds_what_the_classes_say() {
        let mut random = Pcg64::seed_from_u64(7);
        for options in [RuleOptions::PAPER, "chinese".parse().unwrap(), "paper,tiger-leap=files".parse().unwrap()] {
            let classes = Classes::new(&options, 4);
            let locator = Locator::of_cells(&classes);
            for material in (2..=5).flat_map(Material::all) {
                for _ in 0..20 {
                    let turn = Color::ALL[random.next_u64() as usize % 2];
                    let mut setup = Setup::empty(turn);
                    for (color, animal) in material.pieces() {
                        setup.squares[random.next_u64() as usize % 63] = Some(Piece { color, animal });
                    }
                    let Ok(position) = Position::from_setup(&setup) else { continue };
                    let slow = classes.locate(&position).map(|place| {
                        let index = Index::new(classes.get(place.class).representative);
                        Found { class: place.class, turn: place.turn, number: index.cell(&place.squares) }
                    });
                    assert_eq!(locator.locate(&position), slow, "{position:?}");
                }
            }
        }
    }
}
