//! The dense index of a class's positions: rows of words of lanes.
//!
//! The pieces are put in order. The last one is the **lane piece**: a 64-bit word contains one bit for each square that
//! the lane piece may stand on. The piece before it is the **word piece**: 64 words, one for each of its squares (and a
//! spare), are a **row**. All others are **row pieces**: their squares, counted densely, are the digits of the row's
//! number. So
//!
//! ```text
//! row  = ((d0 * n1 + d1) * n2 + d2) ...        di: number of the i-th row piece's square among those it may stand on
//! word = row * 64 + square of the word piece
//! cell = word * 64 + square of the lane piece
//! ```
//!
//! The board is symmetric, so with three pieces or more the index covers only positions with the first row piece on the
//! files a to d: a position with it on e to g is mirrored before the look-up. Of a position with it on the d-file, both
//! the position and its mirror image have a cell.
//!
//! A rat, if the material has one, is the lane piece: it may stand on 61 of the 63 squares, and no rat can then block a
//! leap of the lane piece. A second rat is the first row piece. Otherwise the word piece and the lane piece are chosen
//! so that the fewest rows must be solved (`order`). Cells with a piece on a square where it may not stand, or with two
//! pieces on one square, have no position.

use super::Material;
use super::material::squares_in_play;
use super::order::{is_allowed, piece_order};
use super::squares::Squares;
use crate::board::{Color, File, Piece, Position, RuleOptions, Setup, Square};

/// The number of words of a row, and of lanes of a word.
pub const WIDTH: usize = 64;
/// Cells of a row.
pub const ROW_CELLS: usize = WIDTH * WIDTH;

/// The most pieces that [`Solver`](super::Solver) solves and that GPUs can number cells of. A single class of seven
/// pieces is a job for a large machine ([`ClassJob`](super::ClassJob)).
pub const MAX_PIECES: usize = 6;

/// Weight of a row whose first piece stands on the files a to c: each cell also represents a mirror image.
const PAIR: u64 = 2;

/// One row piece.
#[derive(Clone, Debug)]
pub struct RowPiece {
    /// The squares that the piece may stand on, in index order.
    pub squares: Vec<Square>,
    /// By square, its position in `squares`; 0 for squares that are not in it.
    pub digit: [u32; WIDTH],
    /// The increase of the row's number for one step of the digit.
    pub stride: u32,
}

/// The index of one material.
#[derive(Clone, Debug)]
pub struct Index {
    /// The pieces in order: row pieces, word piece, lane piece.
    pub pieces: Vec<Piece>,
    /// The row pieces.
    pub row_pieces: Vec<RowPiece>,
    /// Number of rows.
    pub rows: usize,
}

impl Index {
    /// The most pieces of an index: the number of a row must fit 32 bits.
    pub const MAX_PIECES: usize = 7;

    /// The index of a material under these rules; `None` if it has more than [`MAX_PIECES`](Index::MAX_PIECES) pieces.
    #[must_use]
    pub fn new(material: Material, options: &RuleOptions) -> Option<Index> {
        if material.len() > Index::MAX_PIECES {
            return None;
        }
        Index::of(piece_order(material, options))
    }

    /// The index with the pieces in this order; `None` if they are fewer than two or more than
    /// [`MAX_PIECES`](Index::MAX_PIECES), or a rat is in the wrong place.
    pub(crate) fn of(pieces: Vec<Piece>) -> Option<Index> {
        if !(2..=Index::MAX_PIECES).contains(&pieces.len()) || !is_allowed(&pieces) {
            return None;
        }
        let count = pieces.len() - 2;
        let squares: Vec<Vec<Square>> = pieces[..count]
            .iter()
            .enumerate()
            .map(|(i, &piece)| squares_in_play(piece).into_iter().filter(|s| i > 0 || s.file() <= File::D).collect())
            .collect();
        let mut rows = 1;
        let mut row_pieces: Vec<RowPiece> = squares
            .into_iter()
            .rev()
            .map(|squares| {
                let stride = rows;
                rows = u32::checked_mul(rows, squares.len() as u32)?;
                let mut digit = [0; WIDTH];
                for (i, square) in squares.iter().enumerate() {
                    digit[square.index()] = i as u32;
                }
                Some(RowPiece { squares, digit, stride })
            })
            .collect::<Option<_>>()?;
        row_pieces.reverse();
        Some(Index { pieces, row_pieces, rows: rows as usize })
    }

    /// The material.
    pub(crate) fn material(&self) -> Material {
        Material::of_pieces(self.pieces.iter().copied()).expect("the pieces are those of a material")
    }

    /// The word piece.
    #[must_use]
    pub fn word_piece(&self) -> Piece {
        self.pieces[self.pieces.len() - 2]
    }

    /// The place of a piece in `pieces`.
    pub(crate) fn place_of(&self, piece: Piece) -> Option<usize> {
        self.pieces.iter().position(|&other| other == piece)
    }

    /// The lane piece.
    #[must_use]
    pub fn lane_piece(&self) -> Piece {
        self.pieces[self.pieces.len() - 1]
    }

    /// Whether positions with the first piece on files e to g are mirrored before the look-up.
    #[must_use]
    pub fn is_mirrored(&self) -> bool {
        !self.row_pieces.is_empty()
    }

    /// The squares of the row pieces in a row, in the order of `row_pieces`.
    #[inline]
    pub fn row_squares(&self, row: usize) -> impl Iterator<Item = Square> + '_ {
        let mut rest = row as u32;
        self.row_pieces.iter().map(move |piece| {
            let digit = rest / piece.stride;
            rest -= digit * piece.stride;
            piece.squares[digit as usize]
        })
    }

    /// The number of positions that each cell of a row represents: 2 if the mirror images have no cells, else 1.
    #[must_use]
    pub fn weight(&self, row: usize) -> u64 {
        match self.row_squares(row).next() {
            Some(first) if first.file() < File::D => PAIR,
            _ => 1,
        }
    }

    /// The cell of a position, given the squares of the pieces in the order of `pieces`.
    #[must_use]
    pub fn cell(&self, squares: &[Square]) -> usize {
        self.cell_of(Squares::of(squares.iter().copied()))
    }

    /// As [`cell`](Index::cell).
    pub(crate) fn cell_of(&self, squares: Squares) -> usize {
        let mirror = self.is_mirrored() && usize::from(squares.get(0)) % 7 > File::D.index();
        let squares = if mirror { squares.reflected() } else { squares };
        let row: u32 =
            self.row_pieces.iter().zip(squares.iter(8)).map(|(p, s)| p.digit[usize::from(s)] * p.stride).sum();
        let [word, lane] = [2, 1].map(|last| usize::from(squares.get(self.pieces.len() - last)));
        (row as usize * WIDTH + word) * WIDTH + lane
    }

    /// Number of cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.rows * ROW_CELLS
    }

    /// The contribution to the cell number of a piece, given by its position in `pieces`, on a square.
    #[inline]
    pub(crate) fn offset(&self, piece: usize, square: Square) -> usize {
        match self.row_pieces.get(piece) {
            Some(piece) => (piece.digit[square.index()] * piece.stride) as usize * ROW_CELLS,
            None if piece == self.row_pieces.len() => square.index() * WIDTH,
            None => square.index(),
        }
    }

    /// The cells of a row that have a position, as one bit for each lane of each word: every piece stands on a square
    /// of its own that it may enter.
    pub(crate) fn valid_row(&self, row: usize) -> [u64; WIDTH] {
        let mut valid = [0; WIDTH];
        let mut taken = 0u64;
        for square in self.row_squares(row) {
            if taken >> square.index() & 1 != 0 {
                return valid;
            }
            taken |= 1 << square.index();
        }
        let lanes = squares_in_play(self.lane_piece()).bits();
        for square in squares_in_play(self.word_piece()) {
            let word = 1 << square.index();
            if taken & word == 0 {
                valid[square.index()] = lanes & !taken & !word;
            }
        }
        valid
    }

    /// The letters of the pieces, in their order.
    pub(crate) fn letters(&self) -> String {
        self.pieces.iter().map(|piece| piece.letter()).collect()
    }

    /// The letters of sets of pieces, given as places in `pieces`.
    pub(crate) fn names(&self, sets: &[Vec<usize>]) -> Vec<String> {
        sets.iter().map(|set| set.iter().map(|&place| self.pieces[place].letter()).collect()).collect()
    }

    /// The position of a cell; `None` if the cell has no position.
    #[must_use]
    pub fn position(&self, cell: usize, turn: Color) -> Option<Position> {
        position_of(&self.pieces, &self.squares(cell)?, turn)
    }

    /// The squares of the pieces in a cell, in the order of `pieces`; `None` if the cell has no position.
    #[must_use]
    pub fn squares(&self, cell: usize) -> Option<Vec<Square>> {
        if cell >= self.cells() {
            return None;
        }
        let (word, lane) = (cell / WIDTH, cell % WIDTH);
        let mut squares: Vec<Square> = self.row_squares(word / WIDTH).collect();
        squares.push(Square::new(word % WIDTH)?);
        squares.push(Square::new(lane)?);
        let valid = squares
            .iter()
            .enumerate()
            .all(|(i, s)| squares_in_play(self.pieces[i]).contains(*s) && !squares[..i].contains(s));
        valid.then_some(squares)
    }
}

/// The position with these pieces on these squares; `None` if the position is not legal.
#[must_use]
pub fn position_of(pieces: &[Piece], squares: &[Square], turn: Color) -> Option<Position> {
    let mut setup = Setup::empty(turn);
    for (&piece, square) in pieces.iter().zip(squares) {
        setup.squares[square.index()] = Some(piece);
    }
    Position::from_setup(&setup).ok()
}
