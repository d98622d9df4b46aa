//! The rows of a class that are solved. Reflecting the board, or exchanging equivalent pieces, turns a row into another
//! row with the same values; only the first of these rows is solved. Rows with two pieces on one square have no
//! positions and are left out. This is internal to the solver: files contain every row.

use crate::board::{Bitboard, File, RuleOptions, Square};
use crate::tablebase::class::interchangeable;
use crate::tablebase::index::{Index, ROW_CELLS, WIDTH};
use crate::tablebase::material::squares_in_play;
use crate::tablebase::value::Cells;
use rayon::prelude::*;
use std::ops::Range;

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

/// Permutations of the row pieces: for each place the piece that goes there.
type Orders = Vec<Vec<usize>>;

impl Rows {
    /// The rows to solve under these rules.
    pub(crate) fn new(index: &Index, options: &RuleOptions) -> Rows {
        let orders = orders(index, options);
        let mut places: Vec<u32> = (0..index.rows).into_par_iter().map(|row| first_like(index, &orders, row)).collect();
        let (mut solved, mut weights) = (Vec::new(), Vec::<u16>::new());
        // Rows with the same square of the first piece have the same weight.
        let block = index.row_pieces.first().map_or(1, |piece| piece.stride as usize);
        for start in (0..index.rows).step_by(block) {
            let weight = index.weight(start) as u16;
            for row in start..(start + block).min(index.rows) {
                let first = places[row];
                if first == NONE {
                    continue;
                }
                let like = (first >> 1) as usize;
                if like == row {
                    places[row] = 2 * solved.len() as u32;
                    solved.push(row as u32);
                    weights.push(0);
                } else {
                    // The first of the equal rows comes before this row and already has its number.
                    places[row] = places[like] | first & 1;
                }
                weights[(places[row] >> 1) as usize] += weight;
            }
        }
        Rows { solved, places, weights }
    }

    /// All rows of the index; every row is solved itself.
    pub(crate) fn all(index: &Index) -> Rows {
        Rows {
            solved: (0..index.rows as u32).collect(),
            places: (0..index.rows as u32).map(|row| 2 * row).collect(),
            weights: (0..index.rows).map(|row| index.weight(row) as u16).collect(),
        }
    }

    /// The number of solved rows, computed without listing them: the number of placements of the row pieces up to
    /// reflection and exchange of equivalent pieces. By Burnside's lemma it is the mean number of placements that such
    /// a symmetry leaves unchanged.
    pub(crate) fn count(index: &Index, options: &RuleOptions) -> usize {
        if index.row_pieces.is_empty() {
            return 1;
        }
        let orders = orders(index, options);
        let in_play = |i: usize| squares_in_play(index.pieces[i]);
        let mut sizes: Vec<usize> = (0..index.row_pieces.len()).map(|i| in_play(i).len()).collect();
        sizes.sort_unstable();
        // Without a reflection only the identity leaves a placement unchanged.
        let all: usize = sizes.iter().enumerate().map(|(i, n)| n - i).product();
        let kept: usize = orders.iter().map(|order| unchanged_by_reflection(order, &in_play)).sum();
        (all + kept) / (2 * orders.len())
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

    /// The solved row, the word and the lane with the value of a cell of the index; `None` if the row of the cell has
    /// no positions.
    pub(crate) fn locate(&self, cell: usize) -> Option<(usize, usize, usize)> {
        let (word, lane) = (cell / WIDTH % WIDTH, cell % WIDTH);
        let (number, mirrored) = self.place(cell / ROW_CELLS)?;
        Some(if mirrored { (number, MIRROR[word], MIRROR[lane]) } else { (number, word, lane) })
    }

    /// The number of positions that each cell of a solved row represents.
    #[inline(always)]
    pub(crate) fn weight(&self, number: usize) -> u64 {
        self.weights[number].into()
    }

    /// The rows of the index from the first of a range of solved rows to the first of the next range.
    pub(crate) fn span(&self, first: usize, count: usize) -> Range<usize> {
        let at = |number: usize| self.solved.get(number).map_or(self.places.len(), |&row| row as usize);
        at(first)..at(first + count)
    }

    /// The distance in rows of the index between two solved rows.
    #[inline(always)]
    pub(crate) fn offset(&self, first: usize, number: usize) -> usize {
        self.row(number) - self.row(first)
    }

    /// The values of all rows of the index, by the values of the solved rows alone.
    #[cfg(feature = "gpu")]
    pub(crate) fn expand<T: Copy + Default + Send + Sync>(&self, solved: &[T]) -> Vec<T> {
        let mut all = vec![T::default(); self.places.len() * ROW_CELLS];
        all.par_chunks_exact_mut(ROW_CELLS).enumerate().for_each(|(row, to)| {
            if let Some((number, mirrored)) = self.place(row) {
                copy_row(&solved[number * ROW_CELLS..][..ROW_CELLS], mirrored, to);
            }
        });
        all
    }

    /// Copies the values of the solved rows to the rows that were not solved.
    pub(crate) fn spread(&self, cells: &mut Cells) {
        match cells {
            Cells::Byte(cells) => self.copy(cells),
            Cells::Wide(cells) => self.copy(cells),
        }
    }

    fn copy<T: Copy>(&self, cells: &mut [T]) {
        for row in 0..self.places.len() {
            let Some((number, mirrored)) = self.place(row).filter(|&(number, _)| self.row(number) != row) else {
                continue;
            };
            let (before, rest) = cells.split_at_mut(row * ROW_CELLS);
            copy_row(&before[self.row(number) * ROW_CELLS..][..ROW_CELLS], mirrored, &mut rest[..ROW_CELLS]);
        }
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

/// All permutations of the row pieces that exchange only equivalent pieces.
fn orders(index: &Index, options: &RuleOptions) -> Orders {
    let count = index.row_pieces.len();
    let mut all: Orders = vec![Vec::new()];
    for place in 0..count {
        let fits = |&piece: &usize| {
            let (a, b) = (index.pieces[place], index.pieces[piece]);
            piece == place || interchangeable(a, b, &index.pieces, options)
        };
        let fitting: Vec<usize> = (0..count).filter(fits).collect();
        let longer = |order: &Vec<usize>| -> Orders {
            let free = fitting.iter().filter(|piece| !order.contains(piece));
            free.map(|&piece| order.iter().copied().chain([piece]).collect()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Twice the first row with the same values, plus 1 if they are reflected there; [`NONE`] if the row has no positions.
fn first_like(index: &Index, orders: &Orders, row: usize) -> u32 {
    let squares: Vec<Square> = index.row_squares(row).collect();
    if (1..squares.len()).any(|i| squares[..i].contains(&squares[i])) {
        return NONE;
    }
    let mut first = 2 * row as u32;
    for mirrored in [false, true] {
        for order in orders {
            let square = |place: usize| {
                let square = squares[order[place]];
                if mirrored { square.mirror() } else { square }
            };
            if squares.is_empty() || square(0).file() > File::D {
                continue;
            }
            let digits = index.row_pieces.iter().enumerate();
            let like: u32 = digits.map(|(place, piece)| piece.digit[square(place).index()] * piece.stride).sum();
            first = first.min(2 * like + u32::from(mirrored));
        }
    }
    first
}

/// The number of placements that are unchanged by a reflection of the board followed by this permutation of the pieces.
/// A piece that the permutation fixes stands on the d-file, and two pieces that it exchanges stand on mirrored squares.
fn unchanged_by_reflection(order: &[usize], in_play: &dyn Fn(usize) -> Bitboard) -> usize {
    let (mut alone, mut faced, mut ways) = (0, 0, 1);
    for (place, &piece) in order.iter().enumerate() {
        if order[piece] != place {
            return 0;
        }
        let squares = in_play(place);
        let middle = squares.into_iter().filter(|square| square.file() == File::D).count();
        if piece == place {
            ways *= middle - alone;
            alone += 1;
        } else if piece > place {
            ways *= squares.len() - middle - 2 * faced;
            faced += 1;
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Piece;
    use crate::tablebase::Classes;

    /// All classes of two to four pieces, and a part of those of five.
    #[test]
    fn every_position_is_counted_once() {
        for rules in [RuleOptions::PAPER, "chinese".parse().unwrap(), "paper,tiger-leap=files".parse().unwrap()] {
            let classes = Classes::new(&rules, 5);
            let small = (2..=4).flat_map(|pieces| classes.level(pieces));
            for (_, class) in small.chain(classes.level(5).step_by(16)) {
                let index = class.index();
                let rows = Rows::new(&index, &rules);
                assert_eq!(rows.len(), Rows::count(&index, &rules), "{}", class.representative);
                let ones =
                    |row: usize| index.valid_row(row).iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
                let positions: u64 = (0..rows.len()).map(|number| rows.weight(number) * ones(rows.row(number))).sum();
                assert_eq!(positions, class.representative.positions(), "{}", class.representative);
                assert!((0..index.rows).all(|row| rows.place(row).is_some() == (ones(row) > 0)));
            }
        }
    }

    /// Compares the formula with an enumeration of the placements.
    #[test]
    fn placements_unchanged_by_reflection_are_counted() {
        let cases: [(&[usize], &str); 10] = [
            (&[0], "E"),
            (&[0, 1], "Ec"),
            (&[0, 1], "Er"),
            (&[1, 0], "rr"),
            (&[0, 1, 2], "EEE"),
            (&[1, 0, 2], "EEr"),
            (&[2, 1, 0], "ErE"),
            (&[1, 2, 0], "EEE"),
            (&[1, 0, 3, 2], "EEEE"),
            (&[1, 0, 3, 2], "rrrr"),
        ];
        for (order, pieces) in cases {
            let pieces: Vec<Piece> = pieces.chars().map(|letter| Piece::from_letter(letter).unwrap()).collect();
            let in_play = |place: usize| squares_in_play(pieces[place]);
            let mut placed: Vec<Vec<Square>> = vec![Vec::new()];
            for place in 0..order.len() {
                let put = |squares: &Vec<Square>| -> Vec<Vec<Square>> {
                    let free = in_play(place).into_iter().filter(|square| !squares.contains(square));
                    // All placements of four pieces would be too many, so the enumeration prunes those that change.
                    let faced = |square| squares.get(order[place]).copied().unwrap_or(square);
                    let fits = |&square: &Square| order[place] > place || faced(square) == square.mirror();
                    free.filter(fits).map(|square| squares.iter().copied().chain([square]).collect()).collect()
                };
                placed = placed.iter().flat_map(put).collect();
            }
            let unchanged =
                |squares: &&Vec<Square>| (0..order.len()).all(|place| squares[order[place]] == squares[place].mirror());
            let count = placed.iter().filter(unchanged).count();
            assert_eq!(unchanged_by_reflection(order, &in_play), count, "{order:?} {pieces:?}");
        }
    }

    #[test]
    fn reflected_rows_and_exchanged_pieces_are_solved_once() {
        // Against an elephant a wolf and a dog are equivalent, and both are row pieces.
        let index = Index::new("EvPDWC".parse().unwrap()).unwrap();
        let rows = Rows::new(&index, &RuleOptions::PAPER);
        assert!(rows.len() * 2 < index.rows, "{} of {}", rows.len(), index.rows);
        assert_eq!(Rows::all(&index).len(), index.rows);
    }
}
