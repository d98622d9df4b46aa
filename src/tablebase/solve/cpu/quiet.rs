//! Quiet moves on planes. A plane is a set of positions of one class: a bit for each cell, 64 to a word, 64 words to a row.
//! Looking one quiet move ahead, for all positions of a row at once, is an OR of other rows and of shifted words.

use crate::board::geometry::{LEAP_DOWN, LEAP_LEFT, LEAP_RIGHT, LEAP_UP, NOT_A, NOT_G};
use crate::board::{Color, Direction, File, OwnRatBlocks, Piece, RuleOptions, Square, mirror_word};
use crate::cpu::prefetch;
use crate::tablebase::index::{Index, RowPiece, WIDTH};
use crate::tablebase::material::squares_in_play;
use crate::tablebase::solve::cpu::rows::Rows;
use bytemuck::{Pod, Zeroable};

/// 64 words: all squares of the word piece by all squares of the lane piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Row(pub [u64; WIDTH]);

impl Row {
    /// No position.
    pub(crate) const EMPTY: Row = Row([0; WIDTH]);
}

/// All ones in the words of squares off the g-file (whose right neighbour exists), and off the a-file.
const RIGHT_WORDS: [u64; WIDTH] = word_mask(NOT_G.bits());
const LEFT_WORDS: [u64; WIDTH] = word_mask(NOT_A.bits());

const fn word_mask(squares: u64) -> [u64; WIDTH] {
    let mut words = [0; WIDTH];
    let mut s = 0;
    while s < WIDTH {
        if squares >> s & 1 != 0 {
            words[s] = u64::MAX;
        }
        s += 1;
    }
    words
}

/// A step or leap of a row piece from one of its squares.
#[derive(Clone, Debug)]
pub(crate) struct RowMove {
    /// The other row's number less this one's; for `mirrored` moves the number that the first row piece's digit adds there.
    pub delta: i32,
    /// True for a move of the first row piece over the d-file: the position behind it is looked up mirrored.
    pub mirrored: bool,
    /// The water leapt over, as far as a rat there blocks: empty for a step.
    pub crossed: u64,
}

/// A leap of the word piece.
#[derive(Clone, Debug)]
pub(crate) struct WordLeap {
    pub from: usize,
    pub to: usize,
    pub crossed: u64,
}

/// How one side's pieces move on the planes of a class.
#[derive(Clone, Debug)]
pub(crate) struct QuietMoves {
    pub(crate) row_pieces: Vec<RowPieceMoves>,
    pub(crate) word: Option<Vec<WordLeap>>,
    pub(crate) lane: Option<LaneLeaps>,
    /// Whether the lane piece, and the first row piece, is a rat that blocks this side's leaps.
    pub(crate) lane_blocks: bool,
    pub(crate) first_blocks: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct RowPieceMoves {
    pub piece: usize,
    /// By digit.
    pub moves: Vec<Vec<RowMove>>,
    /// By digit of the first row piece: the numbers its digit adds in rows whose mirrored moves lead here.
    pub mirrored_into: Vec<Vec<u32>>,
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct LaneLeaps {
    pub files: u64,
    pub ranks: u64,
}

impl QuietMoves {
    pub(crate) fn new(index: &Index, color: Color, options: &RuleOptions) -> QuietMoves {
        let n = index.pieces.len();
        let blocks = |i: usize| {
            let Piece { color: owner, animal } = index.pieces[i];
            animal.swims() && (owner != color || options.own_rat_blocks == OwnRatBlocks::Yes)
        };
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

    /// What of a plane the quiet moves from a solved row lead into, as far as those rows are wanted.
    #[inline(always)]
    pub(crate) fn view(
        &self,
        index: &Index,
        rows: &Rows,
        number: usize,
        wanted: impl Fn(usize) -> bool,
        view: &mut View,
    ) {
        let row = rows.row(number);
        let mut digits = [0u32; MAX_ROW_PIECES];
        split(index, row, &mut digits);
        (view.number, view.rat, view.count) = (number, self.blocking_rat(index, &digits), 0);
        view.here = wanted(number);
        for piece in &self.row_pieces {
            for mv in &piece.moves[digits[piece.piece] as usize] {
                if mv.crossed & view.rat != 0 {
                    continue;
                }
                let to = if mv.mirrored {
                    (mv.delta as u32 + mirrored_rest(index, &digits)) as usize
                } else {
                    row.wrapping_add_signed(mv.delta as isize)
                };
                let Some((number, mirrored)) = rows.place(to) else { continue };
                let open = if self.lane_blocks { !mv.crossed } else { u64::MAX };
                view.others[view.count] = Other { number: number as u32, mirrored: mirrored != mv.mirrored, open };
                view.count += usize::from(wanted(number));
            }
        }
    }

    /// For every position of the row of a view: whether some quiet move of this side leads into `plane`, which holds
    /// the solved rows. Cells without a position get anything.
    #[inline(always)]
    pub(crate) fn reach(&self, plane: &[Row], view: &View, out: &mut Row) {
        *out = Row::EMPTY;
        let here = &plane[view.number].0;
        if let Some(leaps) = self.word.as_ref().filter(|_| view.here) {
            // Words beyond either end read as empty.
            let mut padded = [0u64; WIDTH + 16];
            padded[8..8 + WIDTH].copy_from_slice(here);
            for s in 0..WIDTH {
                out.0[s] =
                    padded[s + 15] | padded[s + 1] | padded[s + 9] & RIGHT_WORDS[s] | padded[s + 7] & LEFT_WORDS[s];
            }
            for leap in leaps {
                if leap.crossed & view.rat == 0 {
                    let blocked = if self.lane_blocks { leap.crossed } else { 0 };
                    out.0[leap.from] |= here[leap.to] & !blocked;
                }
            }
        }
        if let Some(leaps) = self.lane.filter(|_| view.here) {
            for s in 0..WIDTH {
                let word = here[s];
                out.0[s] |= word >> 7 | word << 7 | word >> 1 & NOT_G.bits() | word << 1 & NOT_A.bits();
            }
            // A lane piece that leaps is no rat, so there is no rat at all.
            if leaps.files | leaps.ranks != 0 {
                let (up, down) = (LEAP_UP.bits() & leaps.files, LEAP_DOWN.bits() & leaps.files);
                let (right, left) = (LEAP_RIGHT.bits() & leaps.ranks, LEAP_LEFT.bits() & leaps.ranks);
                for s in 0..WIDTH {
                    let word = here[s];
                    out.0[s] |= word >> 28 & up | word << 28 & down | word >> 3 & right | word << 3 & left;
                }
            }
        }
        for &Other { number, mirrored, open } in &view.others[..view.count] {
            let other = &plane[number as usize];
            if mirrored {
                let other = mirror_row(other);
                for s in 0..WIDTH {
                    out.0[s] |= other.0[s] & open;
                }
            } else {
                for s in 0..WIDTH {
                    out.0[s] |= other.0[s] & open;
                }
            }
        }
    }

    /// Whether this side has a quiet move in every position of the row of a view. The word and the lane piece each
    /// stand in the way of one move at most of each row piece, but for leaps, which are not counted.
    #[inline(always)]
    pub(crate) fn always_moves(&self, view: &View) -> bool {
        let free = view.others[..view.count].iter().filter(|other| other.open == u64::MAX).count();
        free > 2 * self.row_pieces.len()
    }

    /// Calls `f` with every row of the index from which a quiet move of this side may lead into `row`.
    #[inline(always)]
    pub(crate) fn rows_into(&self, index: &Index, row: usize, mut f: impl FnMut(usize)) {
        if self.word.is_some() || self.lane.is_some() {
            f(row);
        }
        let mut digits = [0u32; MAX_ROW_PIECES];
        split(index, row, &mut digits);
        for piece in &self.row_pieces {
            let digit = digits[piece.piece] as usize;
            // Steps and leaps go both ways.
            for mv in piece.moves[digit].iter().filter(|mv| !mv.mirrored) {
                f(row.wrapping_add_signed(mv.delta as isize));
            }
            if piece.piece == 0 {
                for &first in &piece.mirrored_into[digit] {
                    f((first + mirrored_rest(index, &digits)) as usize);
                }
            }
        }
    }

    /// The same for a row and its reflection: those with the first piece on the d-file are both rows of the index, and what
    /// leads into one may not lead into the other.
    #[inline(always)]
    pub(crate) fn rows_into_like(&self, index: &Index, row: usize, mut f: impl FnMut(usize)) {
        self.rows_into(index, row, &mut f);
        let Some(first) = index.row_pieces.first() else { return };
        let mut digits = [0u32; MAX_ROW_PIECES];
        split(index, row, &mut digits);
        if first.squares[digits[0] as usize].file() == File::D {
            let reflected = (digits[0] * first.stride + mirrored_rest(index, &digits)) as usize;
            if reflected != row {
                self.rows_into(index, reflected, f);
            }
        }
    }

    /// The square of a first row piece that is a rat and blocks.
    #[inline(always)]
    fn blocking_rat(&self, index: &Index, digits: &[u32; MAX_ROW_PIECES]) -> u64 {
        if self.first_blocks { 1 << index.row_pieces[0].squares[digits[0] as usize].index() } else { 0 }
    }
}

/// What of a plane the quiet moves from one solved row lead into: the row itself, if the word or the lane piece moves, and
/// others, if a row piece does.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct View {
    number: usize,
    /// Whether the row itself is wanted.
    here: bool,
    /// The square of a rat that blocks leaps and is a row piece.
    rat: u64,
    count: usize,
    others: [Other; 4 * MAX_ROW_PIECES],
}

#[derive(Copy, Clone, Debug, Default)]
struct Other {
    number: u32,
    mirrored: bool,
    /// The squares of the lane piece with which the move is possible.
    open: u64,
}

impl View {
    /// Leaves nothing of the plane.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        (self.here, self.count) = (false, 0);
    }

    /// Asks for the rows of this plane, which will be read soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, plane: &[Row]) {
        if self.here {
            prefetch(&plane[self.number]);
        }
        for other in &self.others[..self.count] {
            prefetch(&plane[other.number as usize]);
        }
    }
}

impl RowPieceMoves {
    fn new(index: &Index, i: usize, options: &RuleOptions) -> RowPieceMoves {
        let (mover, piece) = (index.pieces[i], &index.row_pieces[i]);
        let in_play = squares_in_play(mover);
        let position = |square: Square| piece.digit[square.index()] * piece.stride;
        let mut moves = Vec::new();
        let mut mirrored_into = vec![Vec::new(); piece.squares.len()];
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
                    mirrored_into[piece.digit[to.index()] as usize].push(position(from));
                } else {
                    let delta = position(to) as i32 - position(from) as i32;
                    list.push(RowMove { delta, mirrored: false, crossed });
                }
            }
            moves.push(list);
        }
        RowPieceMoves { piece: i, moves, mirrored_into }
    }
}

/// More row pieces than any index that fits a memory has.
pub(crate) const MAX_ROW_PIECES: usize = 8;

/// The digits of a row's number.
#[inline(always)]
fn split(index: &Index, row: usize, digits: &mut [u32; MAX_ROW_PIECES]) {
    let mut rest = row as u32;
    for (digit, piece) in digits.iter_mut().zip(&index.row_pieces) {
        *digit = rest / piece.stride;
        rest -= *digit * piece.stride;
    }
}

/// What the row pieces but the first add to the number of the mirrored row.
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

/// A row reflected in the d-file: words change places, and so do the bits of each.
#[inline(always)]
pub(crate) fn mirror_row(row: &Row) -> Row {
    let mut out = Row::EMPTY;
    for rank in 0..9 {
        for file in 0..7 {
            out.0[rank * 7 + file] = row.0[rank * 7 + 6 - file];
        }
    }
    for word in &mut out.0 {
        *word = mirror_word(*word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::Classes;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    fn reached(moves: &QuietMoves, plane: &[Row], view: &View) -> Row {
        let mut out = Row::EMPTY;
        moves.reach(plane, view, &mut out);
        out
    }

    /// Rows that are not wanted count as empty, and a side that always moves has a move in every position.
    #[test]
    fn views_leave_out_what_is_not_wanted() {
        let mut random = Pcg64::seed_from_u64(8);
        for rules in [RuleOptions::PAPER, "chinese".parse().unwrap(), "paper,tiger-leap=files".parse().unwrap()] {
            let classes = Classes::new(&rules, 5);
            let (mut always, mut all) = (0, 0);
            for material in ["ELTvP", "LRvTR", "ETvLR", "ELTPvR", "LTRvPR"] {
                let index = Index::new(material.parse().unwrap()).unwrap();
                let rows = Rows::new(&index, classes.options());
                let valid: Vec<Row> = (0..rows.len()).map(|number| Row(index.valid_row(rows.row(number)))).collect();
                let wanted: Vec<bool> = valid.iter().map(|_| random.next_u32() % 2 == 0).collect();
                let some: Vec<Row> =
                    valid.iter().zip(&wanted).map(|(&row, &wanted)| if wanted { row } else { Row::EMPTY }).collect();
                for moves in Color::ALL.map(|color| QuietMoves::new(&index, color, &rules)) {
                    let mut view = View::default();
                    for number in (0..rows.len()).step_by(if rows.len() < 10_000 { 1 } else { 17 }) {
                        moves.view(&index, &rows, number, |_| true, &mut view);
                        let slow = reached(&moves, &some, &view);
                        if moves.always_moves(&view) {
                            let quiet = reached(&moves, &valid, &view);
                            assert!((0..WIDTH).all(|s| valid[number].0[s] & !quiet.0[s] == 0), "{material} {number}");
                            always += 1;
                        }
                        moves.view(&index, &rows, number, |number| wanted[number], &mut view);
                        assert_eq!(reached(&moves, &valid, &view), slow, "{material} {number}");
                        all += 1;
                    }
                }
            }
            assert!((all / 10..all).contains(&always), "{always} of {all} rows");
        }
    }
}
