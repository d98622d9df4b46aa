//! All positions of a material, one after the other.

use super::{Classes, Index, Man, Material, Table, Value, squares_in_play};
use crate::board::{Bitboard, Color, Piece, Position, Setup, Square};
use crate::tablebase::index::piece_order;

/// The values of a material, position by position, whatever material of its class the table was made for.
pub struct MaterialTable<'a> {
    men: Vec<Man>,
    index: Index,
    table: &'a Table,
    /// For each piece of the index the place of its counterpart in `men`.
    order: Vec<usize>,
    swapped: bool,
}

impl<'a> MaterialTable<'a> {
    /// Looks at the table of a class as at one of `material`, which must belong to it; `None` if it has more pieces than
    /// `classes` know.
    #[must_use]
    pub fn new(classes: &Classes, table: &'a Table, material: Material) -> Option<MaterialTable<'a>> {
        let member = classes.member(material)?;
        let representative = classes.get(member.class).representative;
        let men: Vec<Man> = material.pieces().collect();
        let order = piece_order(representative)
            .iter()
            .map(|there| {
                let (here, _) = member.men.iter().find(|(_, man)| man == there)?;
                men.iter().position(|man| man == here)
            })
            .collect::<Option<_>>()?;
        Some(MaterialTable { men, index: Index::new(representative), table, order, swapped: member.swapped })
    }

    /// The material.
    #[must_use]
    pub fn material(&self) -> Material {
        Material::from_men(&self.men)
    }

    /// The pieces: White's first, strongest first.
    #[must_use]
    pub fn men(&self) -> &[Man] {
        &self.men
    }

    /// The value with the pieces on these squares, in the order of [`men`](MaterialTable::men); `None` if they are not on
    /// distinct squares that they may stand on.
    #[must_use]
    pub fn value(&self, squares: &[Square], turn: Color) -> Option<Value> {
        let mut taken = Bitboard::EMPTY;
        for (&man, &square) in self.men.iter().zip(squares) {
            if !(squares_in_play(man) - taken).contains(square) {
                return None;
            }
            taken |= square.into();
        }
        (squares.len() == self.men.len()).then(|| self.lookup(squares, turn))?
    }

    /// The value with the pieces on squares that are known to be right.
    fn lookup(&self, squares: &[Square], turn: Color) -> Option<Value> {
        let there: Vec<Square> =
            self.order.iter().map(|&i| if self.swapped { squares[i].flip() } else { squares[i] }).collect();
        let turn = if self.swapped { !turn } else { turn };
        Value::from_code(self.table.cells[turn].get(self.index.cell(&there)))
    }

    /// Calls `f` with the squares and the value of every position of this side to move: each piece on all its squares in
    /// order, the last piece fastest. Ends with the first error.
    pub fn each<E>(&self, turn: Color, mut f: impl FnMut(&[Square], Value) -> Result<(), E>) -> Result<(), E> {
        self.place(turn, &mut Vec::with_capacity(self.men.len()), Bitboard::EMPTY, &mut f)
    }

    fn place<E>(
        &self,
        turn: Color,
        squares: &mut Vec<Square>,
        taken: Bitboard,
        f: &mut impl FnMut(&[Square], Value) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(&man) = self.men.get(squares.len()) else {
            return self.lookup(squares, turn).map_or(Ok(()), |value| f(squares, value));
        };
        for square in squares_in_play(man) - taken {
            squares.push(square);
            self.place(turn, squares, taken | square.into(), f)?;
            squares.pop();
        }
        Ok(())
    }
}

/// The position with these pieces on these squares; `None` if there is no such position.
#[must_use]
pub fn position_of(men: &[Man], squares: &[Square], turn: Color) -> Option<Position> {
    let mut setup = Setup::empty(turn);
    for (&(color, animal), square) in men.iter().zip(squares) {
        setup.squares[square.index()] = Some(Piece { color, animal });
    }
    Position::from_setup(&setup).ok()
}
