//! The lookups of one capture for all positions of a row, by the roles of the capturing piece and of the captured
//! piece.

use crate::board::Square;
use crate::cpu::prefetch;
use crate::tablebase::index::WIDTH;
use crate::tablebase::solve::cpu::conversions::{Base, Capture, ConversionValue, Conversions, LaneOrder, WIN_IN_ONE};
use crate::tablebase::solve::cpu::quiet::MAX_ROW_PIECES;
use crate::tablebase::solve::cpu::row::{LAND, Row, SQUARES, WORD_OF};
use crate::tablebase::value::CellsRef;

/// The role of a piece in the index.
#[derive(Copy, Clone)]
enum Kind {
    Row,
    Word,
    Lane,
}

/// Lookups for one capture in one row.
pub(super) struct Lookup<'a> {
    pub moves: &'a Conversions,
    pub capture: &'a Capture,
    /// The cells of the smaller class with the right side to move; `None` if the capture ends the game.
    pub cells: Option<CellsRef<'a>>,
    pub squares: &'a [usize; MAX_ROW_PIECES],
    pub row_pieces: usize,
    /// The row's positions.
    pub valid: &'a Row,
    /// The square, as a set, of the first row piece if it is a rat that blocks; otherwise 0.
    pub rat: u64,
}

/// The value of the best conversion of each position of a row.
pub(super) type Best = [[ConversionValue; WIDTH]; WIDTH];

impl Lookup<'_> {
    /// Looks up the capture for all positions of the row in which it is possible.
    #[inline(always)]
    pub(super) fn all_words(&self, best: &mut Best) {
        match (self.kind(self.capture.attacker), self.kind(self.capture.victim)) {
            (Kind::Row, Kind::Row) => self.row_takes_row(best),
            (Kind::Row, Kind::Word) => self.row_takes_word(best),
            (Kind::Row, Kind::Lane) => self.row_takes_lane(best),
            (Kind::Word, Kind::Row) => self.word_takes_row(best),
            (Kind::Word, Kind::Lane) => self.word_takes_lane(best),
            (Kind::Lane, Kind::Row) => self.lane_takes_row(best),
            (Kind::Lane, Kind::Word) => self.lane_takes_word(best),
            (Kind::Word, Kind::Word) | (Kind::Lane, Kind::Lane) => unreachable!("a piece does not take itself"),
        }
    }

    #[inline(always)]
    fn kind(&self, piece: usize) -> Kind {
        match piece.checked_sub(self.row_pieces) {
            None => Kind::Row,
            Some(0) => Kind::Word,
            Some(_) => Kind::Lane,
        }
    }

    #[inline(always)]
    fn row_takes_row(&self, best: &mut Best) {
        let Capture { attacker, victim, hits_from, .. } = self.capture;
        for &(to, crossed) in &hits_from[self.squares[*attacker]] {
            if to.index() == self.squares[*victim] && crossed & self.rat == 0 {
                let base = self.base(Some((*attacker, to.index())));
                for s in SQUARES {
                    self.all_lanes(s, crossed, self.placed(base, self.row_pieces, s), &mut best[s]);
                }
            }
        }
    }

    #[inline(always)]
    fn row_takes_word(&self, best: &mut Best) {
        let Capture { attacker, hits_from, .. } = self.capture;
        for &(to, crossed) in &hits_from[self.squares[*attacker]] {
            if crossed & self.rat == 0 {
                let base = self.base(Some((*attacker, to.index())));
                self.all_lanes(to.index(), crossed, base, &mut best[to.index()]);
            }
        }
    }

    #[inline(always)]
    fn row_takes_lane(&self, best: &mut Best) {
        let Capture { attacker, hits_from, .. } = self.capture;
        for &(to, crossed) in &hits_from[self.squares[*attacker]] {
            if crossed & self.rat == 0 {
                let values = self.values(self.base(Some((*attacker, to.index()))), self.row_pieces, LAND);
                for s in 0..WIDTH {
                    let lane = &mut best[s][to.index()];
                    *lane = values[s].max(*lane);
                }
            }
        }
    }

    #[inline(always)]
    fn word_takes_row(&self, best: &mut Best) {
        let to = self.squares[self.capture.victim];
        let hits = &self.capture.hits_to[to];
        if hits.is_empty() {
            return;
        }
        let base = self.placed(self.base(None), self.row_pieces, to);
        // The word piece is on `to` after the capture, wherever it comes from.
        let values = self.values(base, self.row_pieces + 1, u64::MAX);
        for &(from, crossed) in hits.iter().filter(|(_, crossed)| crossed & self.rat == 0) {
            raise_lanes(&values, !self.blocked(crossed), &mut best[from.index()]);
        }
    }

    #[inline(always)]
    fn word_takes_lane(&self, best: &mut Best) {
        let values = self.values(self.base(None), self.row_pieces, LAND);
        for s in 0..WIDTH {
            for &(to, _) in self.capture.hits_from[s].iter().filter(|(_, crossed)| crossed & self.rat == 0) {
                let lane = &mut best[s][to.index()];
                *lane = values[to.index()].max(*lane);
            }
        }
    }

    /// No rat can block a leap of the lane piece: if the class has a rat, the lane piece itself is a rat.
    #[inline(always)]
    fn lane_takes_row(&self, best: &mut Best) {
        let to = self.squares[self.capture.victim];
        let hits = &self.capture.hits_to[to];
        if hits.is_empty() {
            return;
        }
        let values = self.values(self.base(Some((self.row_pieces + 1, to))), self.row_pieces, LAND);
        for s in 0..WIDTH {
            self.raise(values[s], hits, &mut best[s]);
        }
    }

    #[inline(always)]
    fn lane_takes_word(&self, best: &mut Best) {
        let values = self.values(self.base(None), self.row_pieces + 1, u64::MAX);
        for s in 0..WIDTH {
            self.raise(values[s], &self.capture.hits_to[s], &mut best[s]);
        }
    }

    /// Raises the lanes from which the capture is possible to at least this value.
    #[inline(always)]
    fn raise(&self, value: ConversionValue, hits: &[(Square, u64)], best: &mut [ConversionValue; WIDTH]) {
        for &(from, _) in hits {
            let lane = &mut best[from.index()];
            *lane = value.max(*lane);
        }
    }

    /// The row pieces without the victim, with the piece of `moved` on its new square.
    #[inline(always)]
    fn base(&self, moved: Option<(usize, usize)>) -> Base {
        let mut base = Base { cells: [0; 2], mirrored: false };
        let Some(address) = &self.capture.address else { return base };
        for piece in 0..self.row_pieces {
            if piece != self.capture.victim && Some(piece) != moved.map(|m| m.0) {
                address.add(&mut base, piece, self.squares[piece]);
            }
        }
        if let Some((piece, square)) = moved {
            address.add(&mut base, piece, square);
        }
        base
    }

    /// `base` with one more piece.
    #[inline(always)]
    fn placed(&self, mut base: Base, piece: usize, square: usize) -> Base {
        if let Some(address) = &self.capture.address {
            address.add(&mut base, piece, square);
        }
        base
    }

    /// The value of the capture by the square of the last piece to be placed. The values of squares outside `squares`,
    /// and of squares where the piece may not stand, are arbitrary.
    #[inline(always)]
    fn values(&self, base: Base, last: usize, squares: u64) -> [ConversionValue; WIDTH] {
        match self.cells {
            None => [WIN_IN_ONE; WIDTH],
            Some(CellsRef::Byte(cells)) => self.moves.values(match self.order(base, last) {
                Some(order) => order.read(&cells[base.cell()..][..WIDTH]),
                None => self.codes(cells, base, last, squares),
            }),
            Some(CellsRef::Wide(cells)) => self.moves.values(self.codes(cells, base, last, squares)),
        }
    }

    /// The order of the cells by the square of the last piece to be placed (the word or the lane piece), if they are
    /// contiguous.
    #[inline(always)]
    fn order(&self, base: Base, last: usize) -> Option<LaneOrder> {
        self.capture.address.as_ref()?.orders[last - self.row_pieces][usize::from(base.mirrored)]
    }

    /// The codes by the square of the last piece to be placed. The cells are scattered, so all are prefetched before
    /// the first is read.
    #[inline(always)]
    fn codes<C: Copy + Default>(&self, cells: &[C], base: Base, last: usize, squares: u64) -> [C; WIDTH] {
        let Some(address) = &self.capture.address else { unreachable!("the capture leads to these cells") };
        let (mut codes, mut there) = ([C::default(); WIDTH], [0; WIDTH]);
        if address.first.is_some_and(|(first, _)| first == last) {
            for_each(squares, |square| there[square] = self.placed(base, last, square).cell());
        } else {
            let offsets = &address.offsets[usize::from(base.mirrored)][last];
            for square in 0..WIDTH {
                there[square] = base.cell() + offsets[square] as usize;
            }
        }
        for_each(squares, |square| prefetch(&cells[there[square]]));
        for_each(squares, |square| codes[square] = cells[there[square]]);
        codes
    }

    /// Looks up the capture for every lane with the word piece on `s`, with all other pieces placed in `base`.
    #[inline(always)]
    fn all_lanes(&self, s: usize, crossed: u64, base: Base, best: &mut [ConversionValue; WIDTH]) {
        let lanes = self.valid.0[WORD_OF[s]] & !self.blocked(crossed);
        if lanes != 0 {
            raise_lanes(&self.values(base, self.row_pieces + 1, lanes), lanes, best);
        }
    }

    /// The lanes on which the lane piece, if it is a rat, blocks a leap over this water.
    #[inline(always)]
    fn blocked(&self, crossed: u64) -> u64 {
        if self.moves.lane_blocks { crossed } else { 0 }
    }
}

/// Calls `f` with the number of every set bit.
#[inline(always)]
fn for_each(mut bits: u64, mut f: impl FnMut(usize)) {
    while bits != 0 {
        f((bits.trailing_zeros() & 63) as usize);
        bits &= bits - 1;
    }
}

/// Raises these lanes to at least their values.
#[inline(always)]
fn raise_lanes(values: &[ConversionValue; WIDTH], lanes: u64, best: &mut [ConversionValue; WIDTH]) {
    for (lane, (best, &value)) in best.iter_mut().zip(values).enumerate() {
        *best = if lanes >> lane & 1 != 0 { value.max(*best) } else { *best };
    }
}
