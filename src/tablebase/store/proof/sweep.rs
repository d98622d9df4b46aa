//! One sweep over a class: computes the score of every position of a side to move from its successors.
//!
//! The 64 positions of a word differ only in the square of the lane piece, so that their successors by one move are 64
//! consecutive cells: in another row for a row piece, in another word for the word piece, shifted for the lane piece
//! itself. The best successors are the maximum of these vectors. The cell of a move onto another piece contains 0,
//! which is less than any score; captures are probed separately.

use super::moves::{Moves, of_side};
use super::planes::{Plane, RowSquares};
use super::score::{Captured, Scale, Score};
use crate::board::{Bitboard, Color, Square};
use crate::cpu::{CpuLevel, dispatch};
use crate::tablebase::{Index, ROW_CELLS, WIDTH, squares_in_play};

/// The squares of all pieces, in the order of the index.
type Squares = [usize; Index::MAX_PIECES];

/// The table that captures of one piece lead to.
pub(super) struct Smaller<'a, C> {
    pub plane: &'a Plane<C>,
    /// `adds[mirrored][piece][square]`: the contribution of each piece to the cell number.
    pub adds: &'a [Vec<[usize; WIDTH]>; 2],
    /// The piece whose square decides whether the position is mirrored.
    pub first: usize,
    pub mirrored: u64,
}

impl<C: Score> Smaller<'_, C> {
    #[inline(always)]
    fn get(&self, squares: &Squares) -> C {
        let adds = &self.adds[(self.mirrored >> squares[self.first] & 1) as usize];
        self.plane.get(adds.iter().zip(squares).map(|(adds, &square)| adds[square & 63]).sum())
    }
}

/// The result of a capture.
pub(super) enum Capture<'a, C> {
    /// The end of the game.
    Last,
    Smaller(Smaller<'a, C>),
}

/// The captures of the positions of a word.
struct Captures<'b, C> {
    scale: Scale,
    best: &'b mut [C; WIDTH],
    won: u64,
    lost: u64,
}

impl<C: Score> Captures<'_, C> {
    #[inline(always)]
    fn add(&mut self, lane: Square, score: C) {
        let best = &mut self.best[lane.index()];
        match self.scale.captured(score) {
            Captured::Score(score) => *best = (*best).max(score),
            Captured::Won => self.won |= 1 << lane.index(),
            Captured::Lost => self.lost |= 1 << lane.index(),
        }
    }
}

/// The inputs for computing the values of one side to move.
pub(super) struct Sweep<'a, C> {
    index: &'a Index,
    moves: &'a Moves,
    scale: Scale,
    /// The values with the other side to move.
    successors: &'a Plane<C>,
    /// By piece, the result of capturing it; `None` for pieces of the side to move.
    captures: Vec<Option<Capture<'a, C>>>,
    own: Vec<usize>,
    enemies: Vec<usize>,
    /// For each shift of the lane piece, a mask of the lanes where it starts; empty if the lane piece does not move.
    shifts: Vec<[C; WIDTH]>,
    words: u64,
    lanes: u64,
    /// The lanes as a mask of cells.
    in_play: [C; WIDTH],
}

/// A cell whose distance does not fit this width.
#[derive(Copy, Clone, Debug)]
pub(super) struct TooLong {
    pub cell: usize,
}

/// The cells of a row, borrowed or mirrored.
enum Cells<'a, C> {
    Stored(&'a [C]),
    Mirrored(Vec<C>),
}

/// The successors of a row by one move of a row piece.
struct Source<'a, C> {
    cells: Cells<'a, C>,
    /// The squares from which the word piece and the lane piece block the move.
    words: u64,
    lanes: u64,
}

impl<'a, C: Score> Sweep<'a, C> {
    pub(super) fn new(
        index: &'a Index,
        moves: &'a Moves,
        scale: Scale,
        turn: Color,
        successors: &'a Plane<C>,
        captures: Vec<Option<Capture<'a, C>>>,
    ) -> Sweep<'a, C> {
        let mask = |from: u64| std::array::from_fn(|lane| if from >> lane & 1 != 0 { C::MAX } else { C::ZERO });
        let lane_moves = index.lane_piece().color == turn;
        let shifts = if lane_moves { moves.shifts.iter().map(|shift| mask(shift.from)).collect() } else { Vec::new() };
        let (own, enemies) = (of_side(index, turn), of_side(index, !turn));
        let words = squares_in_play(index.word_piece()).bits();
        let lanes = squares_in_play(index.lane_piece()).bits();
        Sweep { index, moves, scale, successors, captures, own, enemies, shifts, words, lanes, in_play: mask(lanes) }
    }

    fn word_piece(&self) -> usize {
        self.index.pieces.len() - 2
    }

    fn lane_piece(&self) -> usize {
        self.index.pieces.len() - 1
    }

    /// The successors of a row by the moves of the row pieces.
    fn sources(&self, squares: &RowSquares) -> Vec<Source<'a, C>> {
        let mut sources = Vec::new();
        let count = self.index.row_pieces.len();
        for &piece in self.own.iter().filter(|&&piece| piece < count) {
            let from = squares.squares[piece];
            for target in &self.moves.targets[piece][from] {
                let stopped = (0..count).any(|other| target.stopped_by[other] >> squares.squares[other] & 1 != 0);
                if stopped || squares.taken >> target.to & 1 != 0 {
                    continue;
                }
                let mut there = squares.squares;
                there[piece] = target.to;
                let cells = self.row_at(&there);
                let (words, lanes) = (target.stopped_by[self.word_piece()], target.stopped_by[self.lane_piece()]);
                sources.push(Source { cells, words, lanes });
            }
        }
        sources
    }

    /// The row with the row pieces on these squares, mirrored back if the index stores its mirror image.
    fn row_at(&self, squares: &Squares) -> Cells<'a, C> {
        let pieces = &self.index.row_pieces;
        let mirrored = squares[0] % 7 > 3;
        let number = pieces.iter().zip(squares).map(|(piece, &square)| {
            let square = if mirrored { mirror_square(square) } else { square };
            (piece.digit[square] * piece.stride) as usize
        });
        let there = self.successors.row(number.sum());
        if !mirrored {
            return Cells::Stored(there);
        }
        let mut cells = vec![C::ZERO; ROW_CELLS];
        for word in Bitboard::new(self.words) {
            let (here, there) = (word.index() * WIDTH, &there[word.mirror().index() * WIDTH..][..WIDTH]);
            for lane in Square::all() {
                cells[here + lane.index()] = there[lane.mirror().index()];
            }
        }
        Cells::Mirrored(cells)
    }

    /// Computes the scores of a row into `out`, 0 for cells without a position. Returns the first cell whose distance
    /// does not fit this width.
    #[inline(always)]
    fn expect_row(&self, row: usize, out: &mut [C]) -> Option<TooLong> {
        out.fill(C::ZERO);
        let on_row = RowSquares::new(self.index, row);
        if !on_row.distinct {
            return None;
        }
        let sources = self.sources(&on_row);
        let mut too_long = None;
        for word in Bitboard::new(self.words & !on_row.taken) {
            let word = word.index();
            let mut squares = on_row.squares;
            squares[self.word_piece()] = word;
            let valid = self.lanes & !on_row.taken & !(1 << word);
            let mut best = [C::ZERO; WIDTH];
            self.quiet(&sources, row, &squares, &mut best);
            let (captured, lost) = self.captured(&squares, valid, &mut best);
            let at_once = self.entered(&squares) | captured;
            let cells: &mut [C; WIDTH] = (&mut out[word * WIDTH..][..WIDTH]).try_into().expect("a word");
            let mut longest = false;
            for lane in 0..WIDTH {
                longest |= best[lane] == Scale::too_long();
                cells[lane] = self.scale.before(best[lane]).min(self.in_play[lane]);
            }
            for lane in Bitboard::new(lost & valid).into_iter().filter(|lane| best[lane.index()] == C::ZERO) {
                cells[lane.index()] = self.scale.lost_by_capture();
            }
            Bitboard::new(at_once & valid).into_iter().for_each(|lane| cells[lane.index()] = C::ONE);
            Bitboard::new(self.lanes & !valid).into_iter().for_each(|lane| cells[lane.index()] = C::ZERO);
            if longest && too_long.is_none() {
                let lanes = Bitboard::new(valid & !at_once).into_iter().map(Square::index);
                let cell = |lane| TooLong { cell: row * ROW_CELLS + word * WIDTH + lane };
                too_long = lanes.into_iter().find(|&lane| best[lane] == Scale::too_long()).map(cell);
            }
        }
        too_long
    }

    /// Computes into `out` the scores that positions of a row get from their conversions (captures and den entries)
    /// alone; 0 without a conversion, and where the distance does not fit this width.
    #[inline(always)]
    fn conversions(&self, row: usize, out: &mut [C]) {
        out.fill(C::ZERO);
        let on_row = RowSquares::new(self.index, row);
        if !on_row.distinct {
            return;
        }
        for word in Bitboard::new(self.words & !on_row.taken) {
            let word = word.index();
            let mut squares = on_row.squares;
            squares[self.word_piece()] = word;
            let valid = self.lanes & !on_row.taken & !(1 << word);
            let mut best = [C::ZERO; WIDTH];
            let (captured, lost) = self.captured(&squares, valid, &mut best);
            let at_once = self.entered(&squares) | captured;
            let cells = &mut out[word * WIDTH..][..WIDTH];
            for (cell, &best) in cells.iter_mut().zip(&best) {
                let none = best == C::ZERO || best == Scale::too_long();
                *cell = if none { C::ZERO } else { self.scale.before(best) };
            }
            for lane in Bitboard::new(lost & valid).into_iter().filter(|lane| best[lane.index()] == C::ZERO) {
                cells[lane.index()] = self.scale.lost_by_capture();
            }
            Bitboard::new(at_once & valid).into_iter().for_each(|lane| cells[lane.index()] = C::ONE);
        }
    }

    /// Raises `best` to the best successors by quiet moves.
    #[inline(always)]
    fn quiet(&self, sources: &[Source<C>], row: usize, squares: &Squares, best: &mut [C; WIDTH]) {
        let (word_piece, lane_piece) = (self.word_piece(), self.lane_piece());
        let word = squares[word_piece];
        for source in sources.iter().filter(|source| source.words >> word & 1 == 0) {
            let cells: &[C] = match &source.cells {
                Cells::Stored(cells) => cells,
                Cells::Mirrored(cells) => cells,
            };
            raise(best, (&cells[word * WIDTH..][..WIDTH]).try_into().expect("a word"), source.lanes);
        }
        let start = (row * ROW_CELLS) as isize;
        if self.index.pieces[word_piece].color == self.index.pieces[self.own[0]].color {
            for target in &self.moves.targets[word_piece][word] {
                if !stopped(&target.stopped_by, squares, word_piece) {
                    let there = self.successors.from(start + (target.to * WIDTH) as isize);
                    raise(best, there, target.stopped_by[lane_piece]);
                }
            }
        }
        for (shift, mask) in self.moves.shifts.iter().zip(&self.shifts) {
            let there = self.successors.from(start + (word * WIDTH) as isize + shift.distance);
            for lane in 0..WIDTH {
                best[lane] = best[lane].max(there[lane].min(mask[lane]));
            }
        }
    }

    /// The lanes where the side to move enters the enemy's den.
    #[inline(always)]
    fn entered(&self, squares: &Squares) -> u64 {
        self.own.iter().fold(0, |lanes, &piece| {
            let enters = self.moves.enters[piece];
            let these = if piece == self.lane_piece() { enters } else { (enters >> squares[piece] & 1).wrapping_neg() };
            lanes | these
        })
    }

    /// Raises `best` to the best successors by captures. Returns the lanes where a capture wins in one ply, and those where
    /// one loses under a no-capture limit.
    #[inline(always)]
    fn captured(&self, squares: &Squares, valid: u64, best: &mut [C; WIDTH]) -> (u64, u64) {
        let mut captures = Captures { scale: self.scale, best, won: 0, lost: 0 };
        for &attacker in &self.own {
            for &victim in &self.enemies {
                captures.won |= if attacker == self.lane_piece() {
                    self.lane_piece_takes(victim, squares, valid, &mut captures)
                } else if victim == self.lane_piece() {
                    self.lane_piece_is_taken(attacker, squares, valid, &mut captures)
                } else {
                    self.others_take(attacker, victim, squares, valid, &mut captures)
                };
            }
        }
        (captures.won, captures.lost)
    }

    /// Captures by the lane piece: all of them lead to one position, with the lane piece on the victim's square.
    fn lane_piece_takes(&self, victim: usize, squares: &Squares, valid: u64, captures: &mut Captures<C>) -> u64 {
        let (lane_piece, to) = (self.lane_piece(), squares[victim]);
        let from = self.moves.taken_from[victim][to] & valid;
        if from == 0 {
            return 0;
        }
        let Some(Capture::Smaller(smaller)) = &self.captures[victim] else { return from };
        let mut there = *squares;
        there[lane_piece] = to;
        let score = smaller.get(&there);
        Bitboard::new(from).into_iter().for_each(|lane| captures.add(lane, score));
        0
    }

    /// Captures of the lane piece, one for each square where the attacker reaches it.
    fn lane_piece_is_taken(&self, attacker: usize, squares: &Squares, valid: u64, captures: &mut Captures<C>) -> u64 {
        let (lane_piece, from) = (self.lane_piece(), squares[attacker]);
        let mut at_once = 0;
        for to in Bitboard::new(self.moves.takes[attacker][lane_piece][from] & valid) {
            if stopped(&self.moves.stopped_by(attacker, from, to.index()), squares, lane_piece) {
                continue;
            }
            let Some(Capture::Smaller(smaller)) = &self.captures[lane_piece] else {
                at_once |= 1 << to.index();
                continue;
            };
            let mut there = *squares;
            there[attacker] = to.index();
            captures.add(to, smaller.get(&there));
        }
        at_once
    }

    /// Captures between two pieces other than the lane piece, for all lanes at once.
    fn others_take(
        &self,
        attacker: usize,
        victim: usize,
        squares: &Squares,
        valid: u64,
        captures: &mut Captures<C>,
    ) -> u64 {
        let (lane_piece, from, to) = (self.lane_piece(), squares[attacker], squares[victim]);
        if self.moves.takes[attacker][victim][from] >> to & 1 == 0 {
            return 0;
        }
        let stopped_by = self.moves.stopped_by(attacker, from, to);
        if stopped(&stopped_by, squares, lane_piece) {
            return 0;
        }
        let open = valid & !stopped_by[lane_piece];
        let Some(Capture::Smaller(smaller)) = &self.captures[victim] else { return open };
        let mut there = *squares;
        there[attacker] = to;
        for lane in Bitboard::new(open) {
            there[lane_piece] = lane.index();
            captures.add(lane, smaller.get(&there));
        }
        0
    }
}

/// Whether one of the first `count` pieces, whose squares are the same for the whole word, blocks the move.
#[inline(always)]
fn stopped(stopped_by: &[u64; Index::MAX_PIECES], squares: &Squares, count: usize) -> bool {
    (0..count).any(|other| stopped_by[other] >> squares[other] & 1 != 0)
}

fn mirror_square(square: usize) -> usize {
    Square::new(square).map_or(square, |square| square.mirror().index())
}

/// Raises each lane of `best` to at least the successor's score, except the lanes `without`.
#[inline(always)]
fn raise<C: Score>(best: &mut [C; WIDTH], there: &[C; WIDTH], without: u64) {
    if without == 0 {
        for lane in 0..WIDTH {
            best[lane] = best[lane].max(there[lane]);
        }
        return;
    }
    let mut cells = *there;
    Bitboard::new(without).into_iter().for_each(|lane| cells[lane.index()] = C::ZERO);
    for lane in 0..WIDTH {
        best[lane] = best[lane].max(cells[lane]);
    }
}

/// A width of scores for which the sweep is compiled for each instruction set.
pub(super) trait Sweepable: Score {
    fn row(level: CpuLevel, sweep: &Sweep<Self>, row: usize, out: &mut [Self]) -> Option<TooLong>
    where
        Self: Sized;

    fn conversions(level: CpuLevel, sweep: &Sweep<Self>, row: usize, out: &mut [Self])
    where
        Self: Sized;
}

impl Sweepable for u8 {
    fn row(level: CpuLevel, sweep: &Sweep<u8>, row: usize, out: &mut [u8]) -> Option<TooLong> {
        dispatch!(level, fn(sweep: &Sweep<u8>, row: usize, out: &mut [u8]) -> Option<TooLong> = Sweep::expect_row)
    }

    fn conversions(level: CpuLevel, sweep: &Sweep<u8>, row: usize, out: &mut [u8]) {
        dispatch!(level, fn(sweep: &Sweep<u8>, row: usize, out: &mut [u8]) = Sweep::conversions)
    }
}

impl Sweepable for u16 {
    fn row(level: CpuLevel, sweep: &Sweep<u16>, row: usize, out: &mut [u16]) -> Option<TooLong> {
        dispatch!(level, fn(sweep: &Sweep<u16>, row: usize, out: &mut [u16]) -> Option<TooLong> = Sweep::expect_row)
    }

    fn conversions(level: CpuLevel, sweep: &Sweep<u16>, row: usize, out: &mut [u16]) {
        dispatch!(level, fn(sweep: &Sweep<u16>, row: usize, out: &mut [u16]) = Sweep::conversions)
    }
}
