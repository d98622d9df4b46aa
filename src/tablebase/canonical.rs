//! Canonical positions: one position of each set of positions that have the same value because the board is its own
//! mirror image or because pieces are interchangeable. A repacked file stores only these.
//!
//! Write the squares of a position's pieces as a list, in the order of the index. Sort the squares of each set of
//! interchangeable pieces. The position is canonical if no other list can be reached by that and by reflecting the
//! board, or if its list is the lexicographically smallest. The squares of the row pieces, sorted and reflected alone,
//! decide whether a row is stored: every canonical position is in such a row. (A stored row may have no position, if no
//! greater square is left for an interchangeable word piece or lane piece.)
//!
//! These rows are solved. A file that stores every value of a row stores the same rows, with all their positions.

use super::Index;
use super::index::WIDTH;
use super::material::squares_in_play;
use super::squares::{Squares, exchanges};
use crate::board::Bitboard;
use rayon::prelude::*;

/// The canonical positions of an index and their order: row by row, word by word, lane by lane.
pub(crate) struct Canonical {
    symmetry: Symmetry,
    /// By row piece and its square, the contribution to the number of a row.
    offsets: Vec<[u32; WIDTH]>,
    /// The rows that contain canonical positions, one bit each.
    stored: Vec<u64>,
    /// The number of these rows before each word of `stored`.
    ranks: Vec<u32>,
    /// Number of these rows.
    rows: usize,
}

/// The symmetries of a class.
struct Symmetry {
    pieces: usize,
    sets: Vec<Vec<usize>>,
    /// The sorting network that sorts all sets.
    exchanges: Vec<(u8, u8)>,
    /// The sorting network of the row pieces alone.
    row_exchanges: Vec<(u8, u8)>,
    /// Whether the first piece is not interchangeable with another.
    first_alone: bool,
    /// By place of a piece, the squares in play.
    in_play: [u64; Index::MAX_PIECES],
    /// The last row piece that is interchangeable with the word piece, and with the lane piece.
    before_word: Option<usize>,
    before_lane: Option<usize>,
    /// Whether word piece and lane piece are interchangeable.
    tied: bool,
}

/// The canonical positions of a row.
#[derive(Copy, Clone, Debug)]
pub(crate) struct RowShape {
    /// The squares of the word piece, and of the lane piece for some square of the word piece.
    words: u64,
    lanes: u64,
    /// Whether word piece and lane piece are interchangeable.
    tied: bool,
}

/// The place of a canonical position: the number of its row among the stored rows, and its number in the row.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub row: usize,
    pub cell: usize,
}

impl Canonical {
    /// The canonical positions, found on the threads of the current rayon pool.
    pub(crate) fn new(index: &Index, sets: Vec<Vec<usize>>) -> Canonical {
        let symmetry = Symmetry::new(index, sets);
        let words = (0..index.rows.div_ceil(64)).into_par_iter();
        let stored = words.map(|word| symmetry.stored_word(index, word)).collect();
        Canonical::of(index, symmetry, stored)
    }

    /// The canonical positions, found on this thread: for a value that other tasks wait for. A thread of rayon that waits for
    /// its own tasks would begin one of these, and wait for itself.
    pub(crate) fn on_one_thread(index: &Index, sets: Vec<Vec<usize>>) -> Canonical {
        let symmetry = Symmetry::new(index, sets);
        let stored = (0..index.rows.div_ceil(64)).map(|word| symmetry.stored_word(index, word)).collect();
        Canonical::of(index, symmetry, stored)
    }

    fn of(index: &Index, symmetry: Symmetry, stored: Vec<u64>) -> Canonical {
        let mut rows = 0;
        let before = |word: &u64| {
            let before = rows as u32;
            rows += word.count_ones() as usize;
            before
        };
        let ranks = stored.iter().map(before).collect();
        let offsets = index.row_pieces.iter().map(|piece| piece.digit.map(|digit| digit * piece.stride)).collect();
        Canonical { symmetry, offsets, stored, ranks, rows }
    }

    /// The number of rows that contain canonical positions.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The number of canonical positions.
    pub(crate) fn cells(&self, index: &Index) -> usize {
        self.stored_rows().map(|row| self.shape(index, row).len()).sum()
    }

    /// Whether a row of the index contains canonical positions.
    pub(crate) fn stores(&self, row: usize) -> bool {
        self.stored[row / 64] >> (row % 64) & 1 != 0
    }

    /// The rows of the index that contain canonical positions.
    pub(crate) fn stored_rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows_from(0)
    }

    /// The rows of the index that contain canonical positions, from the one with this number on.
    pub(crate) fn rows_from(&self, number: usize) -> impl Iterator<Item = usize> + '_ {
        let start = self.ranks.partition_point(|&rank| rank as usize <= number).saturating_sub(1);
        let before = self.ranks.get(start).map_or(0, |&rank| rank as usize);
        let words = self.stored.iter().enumerate().skip(start);
        let rows =
            words.flat_map(|(i, &word)| (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| 64 * i + bit));
        rows.skip(number - before)
    }

    /// The canonical positions of a row of the index, which must contain some.
    pub(crate) fn shape(&self, index: &Index, row: usize) -> RowShape {
        self.symmetry.shape(row_squares(index, row))
    }

    /// The place of the canonical position that is equivalent to the position with these squares.
    #[inline]
    pub(crate) fn place(&self, squares: Squares) -> Place {
        let n = self.symmetry.pieces;
        let squares = self.symmetry.reduced(squares);
        let shape = self.symmetry.shape(squares);
        Place { row: self.number(squares), cell: shape.cell(squares.get(n - 2), squares.get(n - 1)) }
    }

    /// The number of the stored row with these squares of the row pieces.
    #[inline]
    fn number(&self, squares: Squares) -> usize {
        let offsets = self.offsets.iter().zip(squares.iter(self.offsets.len()));
        let row = offsets.map(|(offsets, square)| offsets[usize::from(square) % WIDTH]).sum::<u32>() as usize;
        let before = self.stored[row / 64] & ((1 << (row % 64)) - 1);
        self.ranks[row / 64] as usize + before.count_ones() as usize
    }

    /// The number of the stored row with the values of a row of the index, and whether they are reflected there; `None`
    /// if the row has no positions.
    #[inline]
    pub(crate) fn row_place(&self, index: &Index, row: usize) -> Option<(usize, bool)> {
        let squares = row_squares(index, row);
        self.symmetry.taken(squares)?;
        Some(self.row_of(squares))
    }

    /// The number of the stored row with the values of the row with these squares of the row pieces, and whether they
    /// are reflected there.
    #[inline]
    pub(crate) fn row_of(&self, squares: Squares) -> (usize, bool) {
        let symmetry = &self.symmetry;
        let (squares, is_reflected) = symmetry.smaller(squares, symmetry.pieces - 2, &symmetry.row_exchanges);
        (self.number(squares), is_reflected)
    }

    /// Calls `visit` for each position of a row of the index, with its word, its lane and the place of an equivalent
    /// position that is stored.
    pub(crate) fn visit_row(&self, index: &Index, row: usize, mut visit: impl FnMut(usize, usize, Place)) {
        let (symmetry, n) = (&self.symmetry, self.symmetry.pieces);
        let squares = row_squares(index, row);
        let Some(taken) = symmetry.taken(squares) else { return };
        // A stored row contains many of its own positions.
        let own = symmetry.stores_row(squares).then(|| (self.number(squares), symmetry.shape(squares)));
        // The row of the position before, which is most often the row of the next.
        let mut last: Option<(Squares, usize, RowShape)> = None;
        for word in numbers(symmetry.in_play[n - 2] & !taken) {
            for lane in numbers(symmetry.in_play[n - 1] & !taken & !(1 << word)) {
                if let Some((row, shape)) = own
                    && shape.contains(word, lane)
                {
                    visit(word.into(), lane.into(), Place { row, cell: shape.cell(word, lane) });
                    continue;
                }
                let list = symmetry.reduced(squares.with(n - 2, word).with(n - 1, lane));
                let (_, row, shape) = match &last {
                    Some(last) if last.0.number(n - 2) == list.number(n - 2) => last,
                    _ => last.insert((list, self.number(list), symmetry.shape(list))),
                };
                let place = Place { row: *row, cell: shape.cell(list.get(n - 2), list.get(n - 1)) };
                visit(word.into(), lane.into(), place);
            }
        }
    }
}

impl Symmetry {
    fn new(index: &Index, sets: Vec<Vec<usize>>) -> Symmetry {
        let mut in_play = [0; Index::MAX_PIECES];
        index.pieces.iter().zip(&mut in_play).for_each(|(&piece, squares)| *squares = squares_in_play(piece).bits());
        let pieces = index.pieces.len();
        let (word, lane) = (pieces - 2, pieces - 1);
        let set_of = |place: usize| sets.iter().find(|set| set.contains(&place));
        let row_piece = |place: usize| set_of(place)?.iter().copied().rfind(|&other| other < word);
        let (before_word, before_lane) = (row_piece(word), row_piece(lane));
        let tied = set_of(word).is_some_and(|set| set.contains(&lane));
        let exchanges: Vec<(u8, u8)> = sets.iter().flat_map(|set| exchanges(set)).collect();
        let row_exchanges = exchanges.iter().copied().filter(|&(_, second)| usize::from(second) < word).collect();
        let first_alone = sets.iter().all(|set| set[0] != 0);
        Symmetry { pieces, sets, exchanges, row_exchanges, first_alone, in_play, before_word, before_lane, tied }
    }

    /// The squares of the canonical position of a position.
    #[inline]
    fn reduced(&self, squares: Squares) -> Squares {
        self.smaller(squares, self.pieces, &self.exchanges).0
    }

    /// The smaller of two sorted lists of the first `count` pieces, as they stand and reflected, and whether it is the
    /// reflected one.
    #[inline]
    fn smaller(&self, squares: Squares, count: usize, exchanges: &[(u8, u8)]) -> (Squares, bool) {
        let file = squares.get(0) % 7;
        let reflected = squares.reflected();
        if self.first_alone && file != 3 && count > 0 {
            // No sorting moves the first piece, and of its squares the one nearer to the a-file is smaller.
            return (if file > 3 { reflected } else { squares }.sorted(exchanges), file > 3);
        }
        let (squares, reflected) = (squares.sorted(exchanges), reflected.sorted(exchanges));
        let is_reflected = reflected.number(count) < squares.number(count);
        (if is_reflected { reflected } else { squares }, is_reflected)
    }

    /// The set of the row pieces' squares; `None` if two are equal.
    fn taken(&self, squares: Squares) -> Option<u64> {
        squares.iter(self.pieces - 2).try_fold(0u64, |taken, square| {
            let bit = 1 << square;
            (taken & bit == 0).then_some(taken | bit)
        })
    }

    /// Which of the 64 rows of the index from `64 * word` on are stored, as bits.
    fn stored_word(&self, index: &Index, word: usize) -> u64 {
        let rows = (64 * word..index.rows.min(64 * word + 64)).filter(|&row| self.stores_row(row_squares(index, row)));
        rows.fold(0, |word, row| word | 1 << (row % 64))
    }

    /// Whether a row contains canonical positions.
    fn stores_row(&self, squares: Squares) -> bool {
        let count = self.pieces - 2;
        let is_ascending = |set: &Vec<usize>| {
            set.windows(2).take_while(|pair| pair[1] < count).all(|pair| squares.get(pair[0]) < squares.get(pair[1]))
        };
        if self.taken(squares).is_none() || !self.sets.iter().all(is_ascending) {
            return false;
        }
        !self.smaller(squares, count, &self.row_exchanges).1
    }

    /// The positions that are stored in a row: all canonical ones, and some others (such as the mirror images of canonical
    /// ones, if the reflection does not change the row).
    fn shape(&self, squares: Squares) -> RowShape {
        let (word, lane) = (self.pieces - 2, self.pieces - 1);
        let taken = squares.iter(word).fold(0u64, |taken, square| taken | 1 << square);
        let free = |place: usize, before: Option<usize>| {
            self.in_play[place] & !taken & before.map_or(!0, |before| !0 << squares.get(before))
        };
        RowShape { words: free(word, self.before_word), lanes: free(lane, self.before_lane), tied: self.tied }
    }
}

impl RowShape {
    /// The number of positions.
    pub(crate) fn len(self) -> usize {
        self.before(self.words.count_ones() as usize, self.words)
    }

    /// Whether a position of the row is stored in it.
    #[inline]
    fn contains(self, word: u8, lane: u8) -> bool {
        self.words >> word & 1 != 0 && self.lanes_of(word) >> lane & 1 != 0
    }

    /// The number of a position.
    #[inline]
    fn cell(self, word: u8, lane: u8) -> usize {
        let below = |square: u8| (1 << square) - 1;
        let words = self.words & below(word);
        self.before(words.count_ones() as usize, words) + (self.lanes_of(word) & below(lane)).count_ones() as usize
    }

    /// The number of positions with the word piece on the first `count` squares, `words`. If the pieces are tied, both
    /// have the same squares, and the lane piece stands on a greater one.
    #[inline]
    fn before(self, count: usize, words: u64) -> usize {
        let lanes = self.lanes.count_ones() as usize;
        if self.tied {
            // Of `lanes` squares, the first has `lanes - 1` greater ones, and so on.
            (count * (2 * lanes).saturating_sub(count + 1)) / 2
        } else {
            count * lanes - (words & self.lanes).count_ones() as usize
        }
    }

    /// The squares of the lane piece, given the square of the word piece.
    #[inline]
    fn lanes_of(self, word: u8) -> u64 {
        if self.tied { self.lanes & (!0 << word << 1) } else { self.lanes & !(1 << word) }
    }

    /// The cells of a row of the index that are stored, in their order.
    pub(crate) fn row_cells(self) -> impl Iterator<Item = usize> {
        numbers(self.words).flat_map(move |word| {
            numbers(self.lanes_of(word)).map(move |lane| usize::from(word) * WIDTH + usize::from(lane))
        })
    }
}

/// The squares of the row pieces of a row.
#[inline]
fn row_squares(index: &Index, row: usize) -> Squares {
    Squares::of(index.row_squares(row))
}

/// The numbers of the squares of a set.
fn numbers(set: u64) -> impl Iterator<Item = u8> {
    Bitboard::new(set).into_iter().map(|square| square.index() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{RuleOptions, Square};
    use crate::tablebase::alike::{interchangeable, interchangeable_sets};
    use crate::tablebase::index::ROW_CELLS;
    use crate::tablebase::order::solved_rows;
    use std::collections::BTreeSet;

    /// The slow twin: all lists of squares that a reflection and exchanges of interchangeable pieces lead to.
    fn lists(index: &Index, options: &RuleOptions, squares: &[Square]) -> BTreeSet<Vec<Square>> {
        let mut lists: BTreeSet<Vec<Square>> = [squares.to_vec()].into();
        loop {
            let mut more = lists.clone();
            for list in &lists {
                more.insert(list.iter().map(|square| square.mirror()).collect());
                for (a, b) in (0..list.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                    if interchangeable(index.pieces[a], index.pieces[b], &index.pieces, options) {
                        let mut swapped = list.clone();
                        swapped.swap(a, b);
                        more.insert(swapped);
                    }
                }
            }
            if more.len() == lists.len() {
                return lists;
            }
            lists = more;
        }
    }

    fn checked(rules: &RuleOptions, material: &str, step: usize) {
        let index = Index::new(material.parse().unwrap(), rules).unwrap();
        let canonical = Canonical::new(&index, interchangeable_sets(&index.pieces, rules));
        assert_eq!(canonical.rows(), canonical.stored_rows().count());
        // The reader expects this number in a file.
        assert_eq!(canonical.rows(), solved_rows(&index.pieces, rules), "{material}");
        // By place, the cell of the index that is stored there.
        let mut stored: Vec<Vec<usize>> = Vec::new();
        for row in canonical.stored_rows() {
            let cells = canonical.shape(&index, row).row_cells().map(|cell| row * ROW_CELLS + cell);
            stored.push(cells.collect());
            assert_eq!(stored[stored.len() - 1].len(), canonical.shape(&index, row).len());
        }
        assert_eq!(stored.iter().map(Vec::len).sum::<usize>(), canonical.cells(&index));
        for number in (0..canonical.rows()).step_by(step) {
            assert_eq!(canonical.rows_from(number).next(), canonical.stored_rows().nth(number));
        }
        let rows: Vec<usize> = canonical.stored_rows().collect();
        for row in (0..index.rows).step_by(step) {
            let place = canonical.row_place(&index, row);
            let positions = index.valid_row(row);
            assert_eq!(place.is_some(), positions.iter().any(|&lanes| lanes != 0), "{material} {row}");
            if let Some((number, mirrored)) = place {
                let cell = positions
                    .iter()
                    .position(|&lanes| lanes != 0)
                    .map(|word| word * WIDTH + positions[word].trailing_zeros() as usize);
                let squares = index.squares(row * ROW_CELLS + cell.unwrap()).unwrap();
                let n = squares.len();
                let reflect = |square: Square| if mirrored { square.mirror() } else { square };
                let there = (reflect(squares[n - 2]).index() * WIDTH) + reflect(squares[n - 1]).index();
                let there = index.squares(rows[number] * ROW_CELLS + there).unwrap();
                assert!(lists(&index, rules, &squares).contains(&there), "{material} {row}");
            }
            let mut visited = 0;
            canonical.visit_row(&index, row, |word, lane, place| {
                let cell = row * ROW_CELLS + word * WIDTH + lane;
                visited += 1;
                let squares = index.squares(cell).expect("only positions are visited");
                let lists = lists(&index, rules, &squares);
                let squares_at = |Place { row, cell }: Place| index.squares(stored[row][cell]).unwrap();
                assert!(lists.contains(&squares_at(place)), "{material} {squares:?}");
                let place = canonical.place(Squares::of(squares.iter().copied()));
                assert_eq!(Some(&squares_at(place)), lists.first(), "{material} {squares:?}");
            });
            let positions: u32 = index.valid_row(row).iter().map(|word| word.count_ones()).sum();
            assert_eq!(visited, positions, "{material}: every position is visited");
        }
    }

    #[test]
    fn every_position_has_its_smallest_list() {
        for rules in ["paper", "chinese", "paper,tiger-leap=files"] {
            let rules: RuleOptions = rules.parse().unwrap();
            for material in ["EvE", "EvR", "EvPD", "LTvE", "ERvR", "EvLT"] {
                checked(&rules, material, 5);
            }
            for material in ["EvPDW", "PDWvE", "ELvPD", "LTvPD", "PDRvR", "EPvLR"] {
                checked(&rules, material, 997);
            }
        }
    }

    /// Against an elephant, panther, dog and wolf are interchangeable.
    #[test]
    fn interchangeable_pieces_leave_a_sixth() {
        let index = Index::new("EvPDW".parse().unwrap(), &RuleOptions::PAPER).unwrap();
        let canonical = Canonical::new(&index, interchangeable_sets(&index.pieces, &RuleOptions::PAPER));
        let positions: u64 = (0..index.rows)
            .map(|row| index.valid_row(row).iter().map(|w| u64::from(w.count_ones())).sum::<u64>())
            .sum();
        let share = canonical.cells(&index) as f64 / positions as f64;
        assert!((0.14..0.17).contains(&share), "{share}");
    }
}
