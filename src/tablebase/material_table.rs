//! The values of all positions of one material.

use super::address::MaterialAddresser;
use super::{CellValue, Classes, Material, Table, squares_in_play};
use crate::board::{Bitboard, Color, Piece, Square};

/// The values of a material by the squares of its pieces, read from the table of its class.
pub struct MaterialTable<'a> {
    material: Material,
    pieces: Vec<Piece>,
    addresser: MaterialAddresser,
    table: &'a Table,
}

impl<'a> MaterialTable<'a> {
    /// A view of `table`, the table of the class of `material`; `None` if `material` has more pieces than `classes`.
    #[must_use]
    pub fn new(classes: &Classes, table: &'a Table, material: Material) -> Option<MaterialTable<'a>> {
        let pieces: Vec<Piece> = material.pieces().collect();
        let addresser = MaterialAddresser::new(classes, material, &pieces)?;
        Some(MaterialTable { material, pieces, addresser, table })
    }

    /// The material.
    #[must_use]
    pub fn material(&self) -> Material {
        self.material
    }

    /// The pieces: White's first, strongest first.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The value with the pieces on these squares, in the order of [`pieces`](MaterialTable::pieces); `None` if they
    /// are not on distinct squares that they may stand on.
    #[must_use]
    pub fn value(&self, squares: &[Square], turn: Color) -> Option<CellValue> {
        let mut taken = Bitboard::EMPTY;
        for (&piece, &square) in self.pieces.iter().zip(squares) {
            if !(squares_in_play(piece) - taken).contains(square) {
                return None;
            }
            taken |= square.into();
        }
        (squares.len() == self.pieces.len()).then(|| self.lookup(squares, turn))?
    }

    /// The value with the pieces on these squares, which must be distinct and allowed.
    fn lookup(&self, squares: &[Square], turn: Color) -> Option<CellValue> {
        CellValue::from_code(self.table.cells[self.addresser.turn(turn)].get(self.addresser.cell(squares)))
    }

    /// Calls `f` with the squares and the value of every position of this side to move, in the order of the squares;
    /// the square of the last piece changes fastest.
    ///
    /// # Errors
    /// Stops at the first error of `f` and returns it.
    pub fn each<E>(&self, turn: Color, mut f: impl FnMut(&[Square], CellValue) -> Result<(), E>) -> Result<(), E> {
        self.place(turn, &mut Vec::with_capacity(self.pieces.len()), Bitboard::EMPTY, &mut f)
    }

    fn place<E>(
        &self,
        turn: Color,
        squares: &mut Vec<Square>,
        taken: Bitboard,
        f: &mut impl FnMut(&[Square], CellValue) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(&piece) = self.pieces.get(squares.len()) else {
            return self.lookup(squares, turn).map_or(Ok(()), |value| f(squares, value));
        };
        for square in squares_in_play(piece) - taken {
            squares.push(square);
            self.place(turn, squares, taken | square.into(), f)?;
            squares.pop();
        }
        Ok(())
    }
}
