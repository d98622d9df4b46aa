//! Quiet moves on planes. A plane is a set of positions of one class: a bit for each cell, 64 bits in a word, a word for
//! each square of the word piece in a row (`row`). Looking one quiet move ahead for all positions of a row is an OR of other rows and of shifted words.

use crate::board::geometry::{LEAP_DOWN, LEAP_LEFT, LEAP_RIGHT, LEAP_UP, NOT_A, NOT_G};
use crate::board::{Color, Direction, File, Piece, RuleOptions, Square};
use crate::cpu::prefetch;
use crate::tablebase::index::{Index, RowPiece};
use crate::tablebase::material::squares_in_play;
use crate::tablebase::solve::cpu::row::{Row, WORD_OF, WORDS};
use crate::tablebase::solve::cpu::rows::Rows;
use std::collections::BTreeSet;

/// A step or leap of a row piece from one of its squares.
#[derive(Clone, Debug)]
pub(crate) struct RowMove {
    /// The number of the target row minus the number of this row. For `mirrored` moves, the summand of the first row
    /// piece's digit in the number of the target row.
    pub delta: i32,
    /// Whether the first row piece moves across the d-file, so that the position after the move is looked up mirrored.
    pub mirrored: bool,
    /// The water squares that the move leaps over; empty for a step. A blocking rat on one of them makes the move
    /// illegal.
    pub crossed: u64,
}

/// A leap of the word piece.
#[derive(Clone, Debug)]
pub(crate) struct WordLeap {
    pub from: usize,
    pub to: usize,
    pub crossed: u64,
}

/// The quiet moves of one side's pieces on the planes of a class.
#[derive(Clone, Debug)]
pub(crate) struct QuietMoves {
    pub(crate) row_pieces: Vec<RowPieceMoves>,
    pub(crate) word: Option<Vec<WordLeap>>,
    pub(crate) lane: Option<LaneLeaps>,
    /// Whether the lane piece is a rat that blocks this side's leaps; likewise for the first row piece.
    pub(crate) lane_blocks: bool,
    pub(crate) first_blocks: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct RowPieceMoves {
    pub piece: usize,
    /// The moves by the digit of the piece.
    pub moves: Vec<Vec<RowMove>>,
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct LaneLeaps {
    pub files: u64,
    pub ranks: u64,
}

impl QuietMoves {
    pub(crate) fn new(index: &Index, color: Color, options: &RuleOptions) -> QuietMoves {
        let n = index.pieces.len();
        let blocks = |i: usize| options.blocks_leap(index.pieces[i], color);
        let row_pieces = (0..n - 2)
            .filter(|&i| index.pieces[i].color == color)
            .map(|i| RowPieceMoves::new(index, i, options))
            .collect();
        let Piece { color: owner, animal } = index.word_piece();
        let word = (owner == color).then(|| {
            let squares = squares_in_play(index.word_piece());
            let mut leaps = Vec::new();
            for from in squares {
                for (to, crossed) in options.destinations(animal, from).filter(|(_, crossed)| !crossed.is_empty()) {
                    leaps.push(WordLeap { from: from.index(), to: to.index(), crossed: crossed.bits() });
                }
            }
            leaps
        });
        let Piece { color: owner, animal } = index.lane_piece();
        let all_if = |leaps: bool| if leaps { u64::MAX } else { 0 };
        let lane = (owner == color).then(|| LaneLeaps {
            files: all_if(options.leaps(animal, Direction::Up)),
            ranks: all_if(options.leaps(animal, Direction::Right)),
        });
        QuietMoves { row_pieces, word, lane, lane_blocks: blocks(n - 1), first_blocks: n > 2 && blocks(0) }
    }

    /// The different sets of squares of the lane piece that allow a move of a row piece.
    pub(crate) fn allowed_lanes(&self) -> Vec<u64> {
        let moves = self.row_pieces.iter().flat_map(|piece| piece.moves.iter().flatten());
        let all: BTreeSet<u64> = moves.map(|mv| self.allowed_lanes_of(mv)).collect();
        all.into_iter().collect()
    }

    fn allowed_lanes_of(&self, mv: &RowMove) -> u64 {
        if self.lane_blocks { !mv.crossed } else { u64::MAX }
    }

    /// Calls `f` with each solved row that a quiet move of a row piece leads to from a row of the index.
    pub(crate) fn neighbours(&self, index: &Index, rows: &Rows, row: usize, mut f: impl FnMut(NeighbourRow)) {
        let mut digits = [0u32; MAX_ROW_PIECES];
        split(index, row, &mut digits);
        let rat = self.blocking_rat(index, row);
        for piece in &self.row_pieces {
            for mv in piece.moves[digits[piece.piece] as usize].iter().filter(|mv| mv.crossed & rat == 0) {
                let to = if mv.mirrored {
                    (mv.delta as u32 + mirrored_rest(index, &digits)) as usize
                } else {
                    row.wrapping_add_signed(mv.delta as isize)
                };
                let Some((number, mirrored)) = rows.place(to) else { continue };
                f(NeighbourRow {
                    number: number as u32,
                    mirrored: mirrored != mv.mirrored,
                    allowed_lanes: self.allowed_lanes_of(mv),
                });
            }
        }
    }

    /// Sets `out` to the positions of the row of `neighbours` from which some quiet move of this side leads into `plane`,
    /// which contains the solved rows. Cells without a position are arbitrary. Prefetches the rows of `upcoming`.
    #[inline(always)]
    pub(crate) fn reach(&self, plane: &[Row], neighbours: &RowNeighbours, upcoming: &RowNeighbours, out: &mut Row) {
        *out = Row::EMPTY;
        if upcoming.here {
            prefetch(&plane[upcoming.number]);
        }
        let mut coming = upcoming.rows[..upcoming.count].iter();
        let here = &plane[neighbours.number];
        if let Some(leaps) = self.word.as_ref().filter(|_| neighbours.here) {
            here.steps(out);
            for leap in leaps {
                if leap.crossed & neighbours.rat == 0 {
                    let blocked = if self.lane_blocks { leap.crossed } else { 0 };
                    out.0[WORD_OF[leap.from]] |= here.0[WORD_OF[leap.to]] & !blocked;
                }
            }
        }
        if let Some(leaps) = self.lane.filter(|_| neighbours.here) {
            for s in 0..WORDS {
                let word = here.0[s];
                out.0[s] |= word >> 7 | word << 7 | word >> 1 & NOT_G.bits() | word << 1 & NOT_A.bits();
            }
            // A rat would be the lane piece, so a class whose lane piece leaps has no rat that could block.
            if leaps.files | leaps.ranks != 0 {
                let (up, down) = (LEAP_UP.bits() & leaps.files, LEAP_DOWN.bits() & leaps.files);
                let (right, left) = (LEAP_RIGHT.bits() & leaps.ranks, LEAP_LEFT.bits() & leaps.ranks);
                for s in 0..WORDS {
                    let word = here.0[s];
                    out.0[s] |= word >> 28 & up | word << 28 & down | word >> 3 & right | word << 3 & left;
                }
            }
        }
        // Rows that need no mirroring and no mask are processed two at a time, which reads and writes `out` half as
        // often.
        let mut waiting: Option<&Row> = None;
        for &NeighbourRow { number, mirrored, allowed_lanes } in &neighbours.rows[..neighbours.count] {
            let other = &plane[number as usize];
            if let Some(coming) = coming.next() {
                prefetch(&plane[coming.number as usize]);
            }
            if mirrored {
                let other = other.mirrored();
                for s in 0..WORDS {
                    out.0[s] |= other.0[s] & allowed_lanes;
                }
            } else if allowed_lanes != u64::MAX {
                for s in 0..WORDS {
                    out.0[s] |= other.0[s] & allowed_lanes;
                }
            } else if let Some(first) = waiting.take() {
                for s in 0..WORDS {
                    out.0[s] |= first.0[s] | other.0[s];
                }
            } else {
                waiting = Some(other);
            }
        }
        if let Some(last) = waiting {
            for s in 0..WORDS {
                out.0[s] |= last.0[s];
            }
        }
        for coming in coming {
            prefetch(&plane[coming.number as usize]);
        }
    }

    /// Whether this side certainly has a quiet move in every position of the row of `neighbours`. The word and the lane piece
    /// each obstruct at most one move of each row piece. Leaps that the lane piece can block are not counted.
    #[inline(always)]
    pub(crate) fn always_moves(&self, neighbours: &RowNeighbours) -> bool {
        let free = neighbours.rows[..neighbours.count].iter().filter(|other| other.allowed_lanes == u64::MAX).count();
        free > 2 * self.row_pieces.len()
    }

    /// Calls `f` with every row of the index from which a quiet move of this side may lead into `row`: a slow and
    /// obvious reference for the tests.
    #[cfg(test)]
    pub(crate) fn rows_into(&self, index: &Index, row: usize, mut f: impl FnMut(usize)) {
        if self.word.is_some() || self.lane.is_some() {
            f(row);
        }
        let mut digits = [0u32; MAX_ROW_PIECES];
        split(index, row, &mut digits);
        for RowPieceMoves { piece, moves } in &self.row_pieces {
            let (stride, digit) = (index.row_pieces[*piece].stride, digits[*piece]);
            for (from, mv) in moves.iter().enumerate().flat_map(|(from, all)| all.iter().map(move |mv| (from, mv))) {
                let before = row as u32 - digit * stride + from as u32 * stride;
                if !mv.mirrored && before.wrapping_add_signed(mv.delta) == row as u32 {
                    f(before as usize);
                }
                if mv.mirrored && mv.delta as u32 == digit * stride {
                    f((from as u32 * stride + mirrored_rest(index, &digits)) as usize);
                }
            }
        }
    }

    /// The square of the first row piece, as a set, if it is a rat that blocks; otherwise 0.
    pub(crate) fn blocking_rat(&self, index: &Index, row: usize) -> u64 {
        if !self.first_blocks {
            return 0;
        }
        let first = &index.row_pieces[0];
        1 << first.squares[row / first.stride as usize].index()
    }
}

/// The rows that the quiet moves from one solved row lead to: the row itself for moves of the word or the lane piece,
/// and other rows for moves of row pieces.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct RowNeighbours {
    pub number: usize,
    /// Whether to read the row itself.
    pub here: bool,
    /// The square, as a set, of a row piece that is a rat and blocks leaps; 0 if there is none.
    pub rat: u64,
    /// The number of valid elements of `rows`.
    pub count: usize,
    pub rows: [NeighbourRow; MAX_NEIGHBOURS],
}

/// The most rows next to a row.
const MAX_NEIGHBOURS: usize = 4 * MAX_ROW_PIECES;

/// A solved row that a quiet move of a row piece leads to.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct NeighbourRow {
    pub number: u32,
    /// Whether the positions of the row are mirrored.
    pub mirrored: bool,
    /// The squares of the lane piece with which the move is possible.
    pub allowed_lanes: u64,
}

impl RowNeighbours {
    /// Removes all rows.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        (self.here, self.count) = (false, 0);
    }
}

impl RowPieceMoves {
    fn new(index: &Index, i: usize, options: &RuleOptions) -> RowPieceMoves {
        let (mover, piece) = (index.pieces[i], &index.row_pieces[i]);
        let in_play = squares_in_play(mover);
        let position = |square: Square| piece.digit[square.index()] * piece.stride;
        let mut moves = Vec::new();
        for &from in &piece.squares {
            let mut list = Vec::new();
            for (to, crossed) in options.destinations(mover.animal, from) {
                if !in_play.contains(to) {
                    continue;
                }
                let crossed = crossed.bits();
                if i == 0 && to.file() > File::D {
                    let to = to.mirror();
                    list.push(RowMove { delta: position(to) as i32, mirrored: true, crossed });
                } else {
                    let delta = position(to) as i32 - position(from) as i32;
                    list.push(RowMove { delta, mirrored: false, crossed });
                }
            }
            moves.push(list);
        }
        RowPieceMoves { piece: i, moves }
    }
}

/// An upper bound of the number of row pieces of an index.
pub(crate) const MAX_ROW_PIECES: usize = 8;

/// Splits the number of a row into the digits of its row pieces.
#[inline(always)]
fn split(index: &Index, row: usize, digits: &mut [u32; MAX_ROW_PIECES]) {
    let mut rest = row as u32;
    for (digit, piece) in digits.iter_mut().zip(&index.row_pieces) {
        *digit = rest / piece.stride;
        rest -= *digit * piece.stride;
    }
}

/// The sum of the summands of all row pieces except the first in the number of the mirrored row.
#[inline(always)]
fn mirrored_rest(index: &Index, digits: &[u32; MAX_ROW_PIECES]) -> u32 {
    index.row_pieces.iter().zip(digits).skip(1).map(|(piece, &digit)| piece.mirrored_offset(digit)).sum()
}

impl RowPiece {
    #[inline(always)]
    fn mirrored_offset(&self, digit: u32) -> u32 {
        self.digit[self.squares[digit as usize].mirror().index()] * self.stride
    }
}
