//! The rows of a class that are solved. Reflecting the board, or exchanging equivalent pieces, turns a row into another
//! row with the same values; only the first of these rows is solved. Rows with two pieces on one square have no
//! positions and are left out.

use crate::board::RuleOptions;
use crate::tablebase::alike::interchangeable_sets;
use crate::tablebase::canonical::Canonical;
use crate::tablebase::index::{Index, ROW_CELLS, WIDTH};
use crate::tablebase::value::{Cells, CellsMut};
use rayon::prelude::*;

/// A row without positions.
const NONE: u32 = u32::MAX;

/// The rows of a class that are solved, in the order of the index.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    solved: Vec<u32>,
    /// By row of the index: twice the number of the solved row with its values, plus 1 if they are reflected there.
    places: Vec<u32>,
    /// By solved row, the number of positions that each of its cells represents.
    weights: Vec<u16>,
}

/// Where the value of a cell is: a solved row by its number, the square of the word piece and that of the lane piece.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct CellPlace {
    pub number: usize,
    pub word: usize,
    pub bit: usize,
}

impl Rows {
    /// The rows to solve under these rules: those with canonical positions.
    pub(crate) fn new(index: &Index, options: &RuleOptions) -> Rows {
        let canonical = Canonical::new(index, interchangeable_sets(&index.pieces, options));
        let place = |row| {
            let place = canonical.row_place(index, row);
            place.map_or(NONE, |(number, mirrored)| 2 * number as u32 + u32::from(mirrored))
        };
        let places: Vec<u32> = (0..index.rows).into_par_iter().map(place).collect();
        let mut weights = vec![0; canonical.rows()];
        // Rows with the same square of the first piece have the same weight.
        let block = index.row_pieces.first().map_or(1, |piece| piece.stride as usize);
        for (number, places) in places.chunks(block).enumerate() {
            let weight = index.weight(number * block) as u16;
            places.iter().filter(|&&place| place != NONE).for_each(|place| weights[(place >> 1) as usize] += weight);
        }
        Rows { solved: canonical.stored_rows().map(|row| row as u32).collect(), places, weights }
    }

    /// All rows of the index; every row is solved itself.
    pub(crate) fn all(index: &Index) -> Rows {
        Rows {
            solved: (0..index.rows as u32).collect(),
            places: (0..index.rows as u32).map(|row| 2 * row).collect(),
            weights: (0..index.rows).map(|row| index.weight(row) as u16).collect(),
        }
    }

    /// The number of solved rows.
    pub(crate) fn len(&self) -> usize {
        self.solved.len()
    }

    /// The row of the index of a solved row.
    #[inline(always)]
    pub(crate) fn row(&self, number: usize) -> usize {
        self.solved[number] as usize
    }

    /// The number of the solved row with the values of a row of the index, and whether the values are reflected there;
    /// `None` if the row has no positions.
    #[inline(always)]
    pub(crate) fn place(&self, row: usize) -> Option<(usize, bool)> {
        let place = self.places[row];
        (place != NONE).then_some(((place >> 1) as usize, place & 1 != 0))
    }

    /// The place of a cell of the index; `None` if its row has no positions.
    pub(crate) fn cell_place(&self, cell: usize) -> Option<CellPlace> {
        let (number, mirrored) = self.place(cell / ROW_CELLS)?;
        let there = |place: usize| if mirrored { MIRROR[place] } else { place };
        Some(CellPlace { number, word: there(cell % ROW_CELLS / WIDTH), bit: there(cell % WIDTH) })
    }

    /// The number of positions that each cell of a solved row represents.
    #[inline(always)]
    pub(crate) fn weight(&self, number: usize) -> u64 {
        self.weights[number].into()
    }

    /// The distance in rows of the index between two solved rows.
    #[inline(always)]
    pub(crate) fn offset(&self, first: usize, number: usize) -> usize {
        self.row(number) - self.row(first)
    }

    /// The cells of the solved rows, out of those of all rows.
    pub(crate) fn pick<T: Copy>(&self, cells: &[T]) -> Vec<T> {
        self.solved.iter().flat_map(|&row| &cells[row as usize * ROW_CELLS..][..ROW_CELLS]).copied().collect()
    }

    /// Copies the values of the solved rows to the rows that were not solved.
    pub(crate) fn spread(&self, cells: &mut Cells) {
        spread(cells.view_mut(), |row| self.place(row).map(|(number, mirrored)| (self.row(number), mirrored)));
    }

    /// The rows of the index that are solved, in order.
    pub(crate) fn solved(&self) -> &[u32] {
        &self.solved
    }
}

/// Copies to each row of the index the values of an equal row, which does not come after it. `like` returns that row,
/// and whether the values are reflected there; `None` for a row without positions.
pub(crate) fn spread(cells: CellsMut<'_>, like: impl Fn(usize) -> Option<(usize, bool)>) {
    match cells {
        CellsMut::Byte(cells) => spread_codes(cells, like),
        CellsMut::Wide(cells) => spread_codes(cells, like),
    }
}

fn spread_codes<T: Copy>(cells: &mut [T], like: impl Fn(usize) -> Option<(usize, bool)>) {
    for row in 0..cells.len() / ROW_CELLS {
        let Some((first, mirrored)) = like(row).filter(|&(first, _)| first != row) else { continue };
        let (before, rest) = cells.split_at_mut(row * ROW_CELLS);
        copy_row(&before[first * ROW_CELLS..][..ROW_CELLS], mirrored, &mut rest[..ROW_CELLS]);
    }
}

/// Copies the values of a row to an equal row, reflected if `mirrored` is set.
fn copy_row<T: Copy>(from: &[T], mirrored: bool, to: &mut [T]) {
    if !mirrored {
        to.copy_from_slice(from);
        return;
    }
    for (s, words) in to.chunks_exact_mut(WIDTH).enumerate() {
        let from = &from[MIRROR[s] * WIDTH..][..WIDTH];
        for (lane, cell) in words.iter_mut().enumerate() {
            *cell = from[MIRROR[lane]];
        }
    }
}

/// The number of each square after a reflection in the d-file; a number that is no square stays.
const MIRROR: [usize; WIDTH] = {
    let mut mirror = [WIDTH - 1; WIDTH];
    let mut s = 0;
    while s < WIDTH - 1 {
        mirror[s] = s / 7 * 7 + 6 - s % 7;
        s += 1;
    }
    mirror
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::Classes;
    use crate::tablebase::order::solved_rows;

    /// All classes of two to four pieces, and a part of those of five.
    #[test]
    fn every_position_is_counted_once() {
        for rules in [RuleOptions::PAPER, "chinese".parse().unwrap(), "paper,tiger-leap=files".parse().unwrap()] {
            let classes = Classes::new(&rules, 5);
            let small = (2..=4).flat_map(|pieces| classes.level(pieces));
            for (_, class) in small.chain(classes.level(5).step_by(16)) {
                let index = class.index();
                let rows = Rows::new(&index, &rules);
                assert_eq!(rows.len(), solved_rows(&index.pieces, &rules), "{}", class.representative);
                let ones =
                    |row: usize| index.valid_row(row).iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
                let positions: u64 = (0..rows.len()).map(|number| rows.weight(number) * ones(rows.row(number))).sum();
                assert_eq!(positions, class.representative.positions(), "{}", class.representative);
                assert!((0..index.rows).all(|row| rows.place(row).is_some() == (ones(row) > 0)));
            }
        }
    }

    #[test]
    fn reflected_rows_and_exchanged_pieces_are_solved_once() {
        // Against an elephant a wolf and a dog are equivalent, and both are row pieces.
        let index = Index::new("EvPDWC".parse().unwrap(), &RuleOptions::PAPER).unwrap();
        let rows = Rows::new(&index, &RuleOptions::PAPER);
        assert!(rows.len() * 2 < index.rows, "{} of {}", rows.len(), index.rows);
        assert_eq!(Rows::all(&index).len(), index.rows);
    }
}
