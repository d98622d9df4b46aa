//! The cells of one index as cells of another index of the same pieces in another order.

use super::index::{Index, ROW_CELLS, WIDTH};
use super::value::{Cells, CellsMut, CellsRef};
use crate::board::{File, Square};
use rayon::prelude::*;

/// Finds the cells of an index in another one.
#[derive(Clone, Debug)]
pub(crate) struct Reorder {
    from: Index,
    /// `offsets[mirrored][place][square]`: the offset in the other index of the piece at a place of this one.
    offsets: [Vec<[usize; WIDTH]>; 2],
    /// The place of the piece whose square decides whether the other index mirrors the position, and these squares.
    first: usize,
    mirrored: u64,
}

impl Reorder {
    /// Finds the cells of `from` in `to`, which has the same pieces; `None` if their order is the same.
    pub(crate) fn new(from: &Index, to: &Index) -> Option<Reorder> {
        if from.pieces == to.pieces {
            return None;
        }
        let slot = |place: usize| to.place_of(from.pieces[place]).expect("the same pieces");
        let slots: Vec<usize> = (0..from.pieces.len()).map(slot).collect();
        let offsets = [false, true].map(|mirrored| {
            let of_piece = |&slot: &usize| {
                let mut offsets = [0; WIDTH];
                for square in Square::all() {
                    offsets[square.index()] = to.offset(slot, if mirrored { square.mirror() } else { square });
                }
                offsets
            };
            slots.iter().map(of_piece).collect()
        });
        let first = slots.iter().position(|&slot| slot == 0).expect("one piece is first");
        let is_mirrored = |square: &Square| to.is_mirrored() && square.file() > File::D;
        let mirrored = Square::all().filter(is_mirrored).fold(0, |set, square| set | 1 << square.index());
        Some(Reorder { from: from.clone(), offsets, first, mirrored })
    }

    /// The cell in the other index of a cell with a position.
    pub(crate) fn cell(&self, cell: usize) -> usize {
        let row = self.from.row_squares(cell / ROW_CELLS).map(Square::index);
        let squares = row.chain([cell / WIDTH % WIDTH, cell % WIDTH]);
        let (mut sums, mut mirrored) = ([0; 2], 0);
        for (place, square) in squares.enumerate() {
            sums[0] += self.offsets[0][place][square];
            sums[1] += self.offsets[1][place][square];
            if place == self.first {
                mirrored = (self.mirrored >> square & 1) as usize;
            }
        }
        sums[mirrored]
    }

    /// Copies the codes of all positions from `there`, in the order of the other index, to `here`, in the order of this
    /// one. Both must have the same width.
    pub(crate) fn copy(&self, there: CellsRef<'_>, here: CellsMut<'_>) {
        match (there, here) {
            (CellsRef::Byte(there), CellsMut::Byte(here)) => self.copy_codes(there, here),
            (CellsRef::Wide(there), CellsMut::Wide(here)) => self.copy_codes(there, here),
            _ => unreachable!("codes are as wide as the cells"),
        }
    }

    fn copy_codes<C: Copy + Send + Sync>(&self, there: &[C], here: &mut [C]) {
        here.par_chunks_exact_mut(ROW_CELLS).enumerate().for_each(|(row, here)| {
            for (word, lanes) in self.from.valid_row(row).into_iter().enumerate() {
                for lane in (0..WIDTH).filter(|&lane| lanes >> lane & 1 != 0) {
                    let cell = word * WIDTH + lane;
                    here[cell] = there[self.cell(row * ROW_CELLS + cell)];
                }
            }
        });
    }

    /// As [`copy`](Reorder::copy), to new cells.
    pub(crate) fn copied(&self, there: CellsRef<'_>) -> Cells {
        let mut here = Cells::empty(there.cell_bytes(), self.from.cells());
        self.copy(there, here.view_mut());
        here
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Piece, RuleOptions};
    use crate::tablebase::Material;

    /// Each position has the same squares in both indices, or mirrored ones.
    #[test]
    fn positions_stay_the_same() {
        for (name, order) in [("EvPDW", "Epdw"), ("EvPDR", "Epdr"), ("ERvPDR", "rEpdR"), ("EvLT", "tEl")] {
            let material: Material = name.parse().unwrap();
            let pieces = order.chars().map(|letter| Piece::from_letter(letter).unwrap()).collect();
            let (Some(here), Some(there)) = (Index::new(material, &RuleOptions::PAPER), Index::of(pieces)) else {
                panic!("{name} has both orders")
            };
            let Some(reorder) = Reorder::new(&here, &there) else { panic!("{name}: the orders differ") };
            assert!(Reorder::new(&here, &here).is_none());
            for cell in (0..here.cells()).step_by(101) {
                let Some(squares) = here.squares(cell) else { continue };
                let by_piece = |piece| squares[here.pieces.iter().position(|&other| other == piece).unwrap()];
                let there_squares: Vec<Square> = there.pieces.iter().map(|&piece| by_piece(piece)).collect();
                assert_eq!(reorder.cell(cell), there.cell(&there_squares), "{name} {cell}");
            }
            let numbers = Cells::Wide((0..there.cells()).map(|cell| cell as u16 | 1).collect());
            let copied = reorder.copied(numbers.view());
            for cell in (0..here.cells()).step_by(103) {
                let expected = here.squares(cell).map_or(0, |_| numbers.get(reorder.cell(cell)));
                assert_eq!(copied.get(cell), expected, "{name} {cell}");
            }
        }
    }
}
