//! From a position to the number of its cell: the sum of one precomputed offset for each piece and its square.
//! [`Addresser`] locates positions of any material, [`MaterialAddresser`] the squares of one material's pieces.

use super::squares::Squares;
use super::{ClassId, Classes, Index, Material, Member, WIDTH, squares_in_play};
use crate::board::{Color, File, Lanes, Piece, Position, Square};

/// The table cell that contains the value of a position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The class of the position's material.
    pub class: ClassId,
    /// The side to move in the class's table, whose colours may be exchanged.
    pub turn: Color,
    /// The number of the cell in the class's [`Index`].
    pub cell: usize,
}

/// A position as its class stores it: with the colours of the class, but not reflected.
#[derive(Copy, Clone, Debug)]
pub(crate) struct ClassSquares {
    pub class: ClassId,
    /// The side to move in the class's table.
    pub turn: Color,
    /// The squares of the pieces in the order of the class's index.
    pub squares: Squares,
}

/// Maps the positions of a set of classes to their table cells.
pub struct Addresser {
    /// The number of each material in `materials`, by its [`pieces`].
    numbers: Vec<u16>,
    materials: Vec<MaterialSlots>,
    /// `adds[class][slot][square]`: the offset of the cell number for the piece at a place in the order of the index.
    adds: Vec<Vec<[u64; WIDTH]>>,
}

/// Marks a material that belongs to none of the classes.
const NONE: u16 = u16::MAX;

/// How the positions of one material map to the cells of its class.
struct MaterialSlots {
    class: ClassId,
    swapped: bool,
    /// The piece whose square decides whether the position is mirrored, and the set of squares for which it is.
    first: (Color, usize),
    mirrored: u64,
    /// The place in the order of the index of each piece, in the order of lanes, White's first.
    slots: [u8; Index::MAX_PIECES],
}

/// `SQUARES[swapped][mirrored][square]`: the square after exchanging the colours, which flips the ranks, and mirroring
/// the files.
pub(crate) static SQUARES: [[[u8; WIDTH]; 2]; 2] = {
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

impl Addresser {
    /// Computes the offsets of all classes.
    pub fn new(classes: &Classes) -> Addresser {
        Addresser::with_offsets(classes, |_, index, slot, square| index.offset(slot, square) as u64)
    }

    /// An addresser with offsets of the caller: `offset` returns the offset of a piece on a square, given its class,
    /// the index of the class and the place of the piece in the order of the index.
    pub(crate) fn with_offsets(classes: &Classes, offset: impl Fn(ClassId, &Index, usize, Square) -> u64) -> Addresser {
        let indices: Vec<Index> = classes.iter().map(|(_, class)| class.index()).collect();
        let adds = classes.iter().zip(&indices).map(|((id, _), index)| {
            let of_piece = |(slot, &piece): (usize, &Piece)| {
                let mut adds = [0; WIDTH];
                for square in squares_in_play(piece) {
                    adds[square.index()] = offset(id, index, slot, square);
                }
                adds
            };
            index.pieces.iter().enumerate().map(of_piece).collect()
        });
        let adds = adds.collect();
        let mut numbers = vec![NONE; 1 << 16];
        let mut materials = Vec::new();
        for material in (2..=classes.pieces()).flat_map(Material::all) {
            let Some(member) = classes.member(material) else { continue };
            let sides = [Color::White, Color::Black].map(|color| material.side(color).bits());
            numbers[usize::from(u16::from_le_bytes(sides))] = materials.len() as u16;
            materials.push(MaterialSlots::new(member, &indices[member.class.0], material));
        }
        Addresser { numbers, materials, adds }
    }

    /// The cell of a position; `None` if it has too many pieces or the game is over.
    #[inline]
    pub fn locate(&self, position: &Position) -> Option<Address> {
        if position.winner().is_some() {
            return None;
        }
        self.locate_lanes([position.lanes(Color::White), position.lanes(Color::Black)], position.turn())
    }

    /// The squares of a position's pieces; `None` if it has too many pieces or the game is over.
    #[inline]
    pub(crate) fn squares(&self, position: &Position) -> Option<ClassSquares> {
        if position.winner().is_some() {
            return None;
        }
        let lanes = [position.lanes(Color::White), position.lanes(Color::Black)];
        let material = self.material(pieces(lanes))?;
        let there = &SQUARES[usize::from(material.swapped)][0];
        let (mut squares, mut slots) = (Squares::default(), material.slots.iter());
        for lanes in lanes {
            for &lane in lanes {
                if lane != 0 {
                    squares = squares.with(usize::from(*slots.next()?), there[(lane.trailing_zeros() & 63) as usize]);
                }
            }
        }
        let turn = if material.swapped { !position.turn() } else { position.turn() };
        Some(ClassSquares { class: material.class, turn, squares })
    }

    /// The material with these [`pieces`]; `None` if it belongs to none of the classes.
    #[inline]
    fn material(&self, pieces: u16) -> Option<&MaterialSlots> {
        self.materials.get(usize::from(self.numbers[usize::from(pieces)]))
    }

    /// The cell of a position whose game is known not to be over, given the lanes of White and Black.
    #[inline]
    pub(crate) fn locate_lanes(&self, lanes: [&Lanes; 2], turn: Color) -> Option<Address> {
        let material = self.material(pieces(lanes))?;
        let (color, animal) = material.first;
        let mirror = material.mirrored & lanes[color as usize][animal] != 0;
        let squares = &SQUARES[usize::from(material.swapped)][usize::from(mirror)];
        let adds = &self.adds[material.class.0];
        let mut slots = material.slots.iter();
        let mut number = 0;
        for lanes in lanes {
            for &lane in lanes {
                if lane != 0 {
                    let square = squares[(lane.trailing_zeros() & 63) as usize] & 63;
                    number += adds[usize::from(*slots.next()?)][usize::from(square)];
                }
            }
        }
        let turn = if material.swapped { !turn } else { turn };
        Some(Address { class: material.class, turn, cell: number as usize })
    }
}

/// The pieces on the board: a bit for each animal, White's in the lower byte, Black's in the upper one.
#[inline]
fn pieces(lanes: [&Lanes; 2]) -> u16 {
    let side =
        |lanes: &Lanes| lanes.iter().enumerate().fold(0u8, |set, (animal, &lane)| set | u8::from(lane != 0) << animal);
    u16::from_le_bytes(lanes.map(side))
}

/// The squares of the first piece for which positions are mirrored before the look-up: the files e to g.
fn mirrored_squares(index: &Index) -> u64 {
    if !index.is_mirrored() {
        return 0;
    }
    Square::all().filter(|s| s.file() > File::D).fold(0, |set, s| set | 1 << s.index())
}

/// The place of a material's piece in the order of its class's index.
fn slot(member: &Member, index: &Index, piece: Piece) -> Option<usize> {
    let there = member.pieces.iter().find(|(here, _)| *here == piece)?.1;
    index.place_of(there)
}

impl MaterialSlots {
    fn new(member: &Member, index: &Index, material: Material) -> MaterialSlots {
        let mut pieces: Vec<Piece> = material.pieces().collect();
        pieces.sort_by_key(|piece| (piece.color, piece.animal));
        let mut slots = [0; Index::MAX_PIECES];
        for (place, &piece) in slots.iter_mut().zip(&pieces) {
            *place = slot(member, index, piece).expect("a piece of the class") as u8;
        }
        let first = slots.iter().position(|&slot| slot == 0).expect("one piece is first");
        let Piece { color, animal } = pieces[first];
        let mirrored = mirrored_squares(index);
        MaterialSlots { class: member.class, swapped: member.swapped, first: (color, animal.index()), mirrored, slots }
    }
}

/// Finds the cells of one material's positions from the squares of its pieces.
#[derive(Clone, Debug)]
pub(crate) struct MaterialAddresser {
    pub class: ClassId,
    swapped: bool,
    /// `offsets[mirrored][piece][square]`: the offset of each piece in the number of the cell.
    pub offsets: [Vec<[u64; WIDTH]>; 2],
    /// The piece whose square decides whether the position is mirrored, and the set of squares for which it is.
    pub first: Option<(usize, u64)>,
}

impl MaterialAddresser {
    /// An addresser for pieces in any order; pieces that are not in the material have the offset 0. `None` if the
    /// material belongs to no class.
    pub(super) fn new(classes: &Classes, material: Material, pieces: &[Piece]) -> Option<MaterialAddresser> {
        let member = classes.member(material)?;
        let index = classes.get(member.class).index();
        let slots: Vec<Option<usize>> = pieces.iter().map(|&piece| slot(member, &index, piece)).collect();
        let squares = &SQUARES[usize::from(member.swapped)];
        let offset =
            |slot: usize, there: u8| Square::new(there.into()).map_or(0, |there| index.offset(slot, there) as u64);
        let offsets = squares.each_ref().map(|there| {
            let of_piece = |slot: &Option<usize>| {
                let mut offsets = [0; WIDTH];
                for (from, &there) in offsets.iter_mut().zip(&there[..Square::COUNT]) {
                    *from = slot.map_or(0, |slot| offset(slot, there));
                }
                offsets
            };
            slots.iter().map(of_piece).collect()
        });
        let first = slots.iter().position(|&slot| slot == Some(0)).filter(|_| index.is_mirrored());
        let first = first.map(|piece| (piece, mirrored_squares(&index)));
        Some(MaterialAddresser { class: member.class, swapped: member.swapped, offsets, first })
    }

    /// The side to move in the class's tables, given the side to move in the material.
    pub(super) fn turn(&self, turn: Color) -> Color {
        if self.swapped { !turn } else { turn }
    }

    /// The cell of a position, given the squares in the order of the pieces.
    pub(super) fn cell(&self, squares: &[Square]) -> usize {
        let mirrored = self.first.is_some_and(|(piece, mirrored)| mirrored >> squares[piece].index() & 1 != 0);
        let offsets = self.offsets[usize::from(mirrored)].iter().zip(squares);
        offsets.map(|(offsets, square)| offsets[square.index()]).sum::<u64>() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{RuleOptions, Setup};
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    /// The slow twin: maps piece by piece to the class's representative, then calls [`Index::cell`].
    fn slow(classes: &Classes, position: &Position) -> Option<Address> {
        if position.winner().is_some() {
            return None;
        }
        let member = classes.member(Material::of(position)?)?;
        let index = classes.get(member.class).index();
        let square = |piece: &Piece| {
            let (Piece { color, animal }, _) = member.pieces.iter().find(|(_, there)| there == piece).unwrap();
            let square = position.square_of(*color, *animal).unwrap();
            if member.swapped { square.flip() } else { square }
        };
        let squares: Vec<Square> = index.pieces.iter().map(square).collect();
        let turn = if member.swapped { !position.turn() } else { position.turn() };
        Some(Address { class: member.class, turn, cell: index.cell(&squares) })
    }

    #[test]
    fn finds_what_the_classes_say() {
        let mut random = Pcg64::seed_from_u64(7);
        for options in [RuleOptions::PAPER, "chinese".parse().unwrap(), "paper,tiger-leap=files".parse().unwrap()] {
            let classes = Classes::new(&options, 4);
            let addresser = Addresser::new(&classes);
            for material in (2..=5).flat_map(Material::all) {
                let pieces: Vec<Piece> = material.pieces().collect();
                let of_material = MaterialAddresser::new(&classes, material, &pieces);
                for _ in 0..20 {
                    let turn = Color::ALL[random.next_u64() as usize % 2];
                    let mut setup = Setup::empty(turn);
                    for piece in material.pieces() {
                        setup.squares[random.next_u64() as usize % 63] = Some(piece);
                    }
                    let Ok(position) = Position::from_setup(&setup) else { continue };
                    let slow = slow(&classes, &position);
                    assert_eq!(addresser.locate(&position), slow, "{position:?}");
                    let found = addresser.squares(&position).map(|ClassSquares { class, turn, squares }| Address {
                        class,
                        turn,
                        cell: classes.get(class).index().cell_of(squares),
                    });
                    assert_eq!(found, slow, "{position:?}");
                    let squares: Option<Vec<Square>> =
                        pieces.iter().map(|piece| position.square_of(piece.color, piece.animal)).collect();
                    if let (Some(address), Some(squares), Some(of_material)) = (slow, squares, &of_material)
                        && position.pieces().count() == pieces.len()
                    {
                        let Address { class, turn, cell } = address;
                        assert_eq!((of_material.class, of_material.turn(position.turn())), (class, turn));
                        assert_eq!(of_material.cell(&squares), cell, "{position:?}");
                    }
                }
            }
        }
    }
}
