//! Seeds: what leaves the material, and so never takes part in the iteration. A capture leads to a smaller material whose
//! values are known; a den entered or a last enemy taken wins at once. For each position the best of these is looked up
//! once, before the first pass.

use crate::board::geometry::DEN;
use crate::board::{Bitboard, Color, Direction, NoMove, OwnRatBlocks, Piece, RuleOptions, Square};
use crate::cpu::Vector;
use crate::tablebase::address::MaterialAddresser;
use crate::tablebase::class::Classes;
use crate::tablebase::index::{Index, WIDTH};
use crate::tablebase::material::squares_in_play;
use crate::tablebase::solve::cpu::buckets::{Buckets, Entry};
use crate::tablebase::solve::cpu::quiet::{MAX_ROW_PIECES, Row};
use crate::tablebase::value::{Cells, Code, DRAW, NO_MOVE};
use crate::tablebase::{ClassId, Material, Table};

/// What a capture is worth to the side that makes it. Greater is better: nothing, a loss in k (as k), a draw, a win in k
/// (as 65535 - k).
pub(crate) type Worth = u16;

pub(crate) const NOTHING: Worth = 0;
/// A draw; also whatever keeps a position from ever being lost.
pub(crate) const HOLD: Worth = 0x7fff;
pub(crate) const WIN_AT_ONCE: Worth = Worth::MAX - 1;

/// The longest line that a [`Worth`] can tell from its neighbours.
pub(crate) const MAX_PLIES: u16 = HOLD - 4;

/// The worth of moving to a position with this value for the opponent.
pub(crate) fn worth(code: Code, options: &RuleOptions) -> Worth {
    let plies = match code {
        0 => return NOTHING,
        DRAW => return HOLD,
        NO_MOVE if options.no_move == NoMove::Draw => return HOLD,
        _ => code - 2,
    };
    if plies % 2 == 1 { plies + 1 } else { Worth::MAX - (plies + 1) }
}

/// What one row's seeds say at once.
pub(crate) struct RowSeeds {
    /// Positions that have a capture or enter the den.
    pub any: Row,
    /// Positions that are not lost before a seed says so.
    pub held: Row,
}

/// A capture of one piece by another: who stands where, and where the rest goes.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    pub attacker: usize,
    pub victim: usize,
    /// By the attacker's square: where it takes the victim, and the water it leaps over.
    pub hits_from: Vec<Vec<(Square, u64)>>,
    /// By the victim's square: where the attacker may come from.
    pub hits_to: Vec<Vec<(Square, u64)>>,
    /// The smaller material; `None` if the victim was the last.
    pub rest: Option<Rest>,
}

/// Where the position after a capture is found.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    pub table: usize,
    /// Whether it is Black's to move in the smaller class.
    pub turn: Color,
    /// `offsets[mirrored][piece][square]`: what each piece of ours adds to the cell number there. Six pieces have more cells
    /// than 32 bits count.
    pub offsets: [Vec<[u64; WIDTH]>; 2],
    /// The piece of ours that decides whether to look there mirrored, and for each of its squares whether to.
    pub first: Option<(usize, u64)>,
}

/// The captures and den entries of one side of a class.
#[derive(Clone, Debug)]
pub(crate) struct SeedMoves {
    pub(crate) captures: Vec<Capture>,
    /// By piece: the squares from which it steps into the enemy's den; empty for the other side's pieces.
    pub(crate) den_entries: Vec<u64>,
    lane_blocks: bool,
    first_blocks: bool,
    options: RuleOptions,
    /// The worth of each code below 256.
    worth: Vec<Worth>,
}

impl SeedMoves {
    pub fn new(index: &Index, color: Color, classes: &Classes) -> SeedMoves {
        let options = *classes.options();
        let pieces = &index.pieces;
        let n = pieces.len();
        let blocks = |i: usize| {
            let Piece { color: owner, animal } = pieces[i];
            animal.swims() && (owner != color || options.own_rat_blocks == OwnRatBlocks::Yes)
        };
        let mut captures = Vec::new();
        for attacker in (0..n).filter(|&i| pieces[i].color == color) {
            for victim in (0..n).filter(|&i| pieces[i].color != color) {
                captures.extend(Capture::new(index, attacker, victim, classes));
            }
        }
        let den = DEN[!color];
        let beside_den: Bitboard = Direction::ALL.into_iter().filter_map(|d| den.neighbour(d)).collect();
        SeedMoves {
            captures,
            den_entries: pieces
                .iter()
                .map(|&piece| if piece.color == color { (beside_den & squares_in_play(piece)).bits() } else { 0 })
                .collect(),
            lane_blocks: blocks(n - 1),
            first_blocks: n > 2 && blocks(0),
            options,
            worth: (0..256).map(|code| worth(code, &options)).collect(),
        }
    }

    /// The classes and sides to move that captures look up.
    pub fn looked_up(&self) -> impl Iterator<Item = (ClassId, Color)> + '_ {
        self.captures.iter().filter_map(|capture| capture.rest.as_ref()).map(|rest| (ClassId(rest.table), rest.turn))
    }

    /// The seeds of one row, put into `buckets`. `first_word` is the number of the row's first word there, `valid` are the
    /// row's positions, `best` is room to work in.
    #[expect(clippy::too_many_arguments, reason = "a struct of them would be built once a row")]
    #[inline(always)]
    pub fn row<V: Vector>(
        &self,
        index: &Index,
        tables: &[Option<Table>],
        row: usize,
        first_word: usize,
        valid: &Row,
        best: &mut Best,
        buckets: &mut Buckets,
    ) -> RowSeeds {
        let n = index.pieces.len();
        let (word_piece, lane_piece) = (n - 2, n - 1);
        let mut squares = [0usize; MAX_ROW_PIECES];
        for (slot, square) in squares.iter_mut().zip(index.row_squares(row)) {
            *slot = square.index();
        }
        let row_pieces = n - 2;
        let mut seeds = RowSeeds { any: Row::EMPTY, held: Row::EMPTY };

        // A row piece beside the den wins in every position of the row; nothing else needs to be looked at.
        if (0..row_pieces).any(|i| self.den_entries[i] >> squares[i] & 1 != 0) {
            for (s, &mask) in valid.0.iter().enumerate().filter(|(_, mask)| **mask != 0) {
                buckets.push(1, Entry::new(first_word + s, mask));
            }
            return RowSeeds { any: *valid, held: Row::EMPTY };
        }

        for words in best.iter_mut() {
            *words = [NOTHING; WIDTH];
        }
        let rat = if self.first_blocks { 1u64 << squares[0] } else { 0 };
        for capture in &self.captures {
            Lookup { moves: self, capture, tables, squares: &squares, row_pieces, valid, rat }.all_words(best);
        }
        for s in 0..WIDTH {
            let valid = valid.0[s];
            if valid == 0 {
                continue;
            }
            let den =
                if self.den_entries[word_piece] >> s & 1 != 0 { valid } else { valid & self.den_entries[lane_piece] };
            let held = valid & !den & !V::equal(&best[s], NOTHING);
            seeds.any.0[s] = held | den;
            seeds.held.0[s] = held;
            push_word::<V>(first_word + s, den, held, &best[s], buckets);
        }
        seeds
    }
}

/// Puts the seeds of a word into their buckets: `den` wins at once, and `held` is worth what `lanes` says.
#[inline(always)]
fn push_word<V: Vector>(word: usize, den: u64, held: u64, lanes: &[Worth; WIDTH], buckets: &mut Buckets) {
    let mut rest = held;
    let mut wins = den;
    while rest != 0 {
        let worth = lanes[(rest.trailing_zeros() & 63) as usize];
        let same = V::equal(lanes, worth) & rest;
        rest &= !same;
        if worth == WIN_AT_ONCE {
            wins |= same;
        } else if worth > HOLD {
            buckets.push(Worth::MAX - worth, Entry::new(word, same));
        } else if worth < HOLD {
            buckets.push(worth, Entry::new(word, same));
        }
    }
    if wins != 0 {
        buckets.push(1, Entry::new(word, wins));
    }
}

/// What a piece is in the index.
#[derive(Copy, Clone)]
enum Kind {
    Row,
    Word,
    Lane,
}

#[inline(always)]
fn square(index: usize) -> Square {
    Square::lowest(1 << index)
}

/// A cell number in the smaller class but for the pieces still to be placed, looked up straight and mirrored, and which
/// of the two counts if the deciding piece is among those placed.
#[derive(Copy, Clone)]
struct Base {
    cells: [u64; 2],
    mirrored: bool,
}

/// Lookups for one capture in one row.
struct Lookup<'a> {
    moves: &'a SeedMoves,
    capture: &'a Capture,
    tables: &'a [Option<Table>],
    squares: &'a [usize; MAX_ROW_PIECES],
    row_pieces: usize,
    /// The row's positions.
    valid: &'a Row,
    /// The square of a first row piece that is a rat and blocks.
    rat: u64,
}

/// What the best capture of each position of a row is worth.
type Best = [[Worth; WIDTH]; WIDTH];

impl Lookup<'_> {
    /// The capture wherever it is possible in the row.
    #[inline(always)]
    fn all_words(&self, best: &mut Best) {
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
                for s in 0..WIDTH {
                    self.all_lanes(s, crossed, to, &mut best[s]);
                }
            }
        }
    }

    #[inline(always)]
    fn row_takes_word(&self, best: &mut Best) {
        for &(to, crossed) in &self.capture.hits_from[self.squares[self.capture.attacker]] {
            if crossed & self.rat == 0 {
                self.all_lanes(to.index(), crossed, to, &mut best[to.index()]);
            }
        }
    }

    #[inline(always)]
    fn row_takes_lane(&self, best: &mut Best) {
        let Capture { attacker, hits_from, .. } = self.capture;
        for &(to, crossed) in &hits_from[self.squares[*attacker]] {
            if crossed & self.rat == 0 {
                let base = self.base(Some((*attacker, to.index())));
                for s in 0..WIDTH {
                    if self.valid.0[s] >> to.index() & 1 != 0 {
                        let worth = self.worth(base, Some((self.row_pieces, s)));
                        let lane = &mut best[s][to.index()];
                        *lane = worth.max(*lane);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn word_takes_row(&self, best: &mut Best) {
        let to = self.squares[self.capture.victim];
        for &(from, crossed) in &self.capture.hits_to[to] {
            if crossed & self.rat == 0 {
                self.all_lanes(from.index(), crossed, square(to), &mut best[from.index()]);
            }
        }
    }

    #[inline(always)]
    fn word_takes_lane(&self, best: &mut Best) {
        let base = self.base(None);
        for s in 0..WIDTH {
            for &(to, crossed) in &self.capture.hits_from[s] {
                if crossed & self.rat == 0 && self.valid.0[s] >> to.index() & 1 != 0 {
                    let worth = self.worth(base, Some((self.row_pieces, to.index())));
                    let lane = &mut best[s][to.index()];
                    *lane = worth.max(*lane);
                }
            }
        }
    }

    /// A lane piece leaps over no rat: where there is one, it is the lane piece itself.
    #[inline(always)]
    fn lane_takes_row(&self, best: &mut Best) {
        let to = self.squares[self.capture.victim];
        let hits = &self.capture.hits_to[to];
        if hits.is_empty() {
            return;
        }
        let base = self.base(Some((self.row_pieces + 1, to)));
        for s in 0..WIDTH {
            if self.valid.0[s] != 0 {
                self.raise(self.worth(base, Some((self.row_pieces, s))), hits, &mut best[s]);
            }
        }
    }

    #[inline(always)]
    fn lane_takes_word(&self, best: &mut Best) {
        let base = self.base(None);
        for s in 0..WIDTH {
            let hits = &self.capture.hits_to[s];
            if self.valid.0[s] != 0 && !hits.is_empty() {
                self.raise(self.worth(base, Some((self.row_pieces + 1, s))), hits, &mut best[s]);
            }
        }
    }

    /// Lanes from which the capture is possible are worth this at least.
    #[inline(always)]
    fn raise(&self, worth: Worth, hits: &[(Square, u64)], best: &mut [Worth; WIDTH]) {
        for &(from, _) in hits {
            let lane = &mut best[from.index()];
            *lane = worth.max(*lane);
        }
    }

    /// The row pieces, but with `moved` where it went, and without the victim.
    #[inline(always)]
    fn base(&self, moved: Option<(usize, usize)>) -> Base {
        let mut base = Base { cells: [0; 2], mirrored: false };
        let Some(rest) = &self.capture.rest else { return base };
        for piece in 0..self.row_pieces {
            if piece != self.capture.victim && Some(piece) != moved.map(|m| m.0) {
                rest.add(&mut base, piece, self.squares[piece]);
            }
        }
        if let Some((piece, square)) = moved {
            rest.add(&mut base, piece, square);
        }
        base
    }

    /// What the capture is worth when the last piece, if any is still to be placed, stands there.
    #[inline(always)]
    fn worth(&self, mut base: Base, last: Option<(usize, usize)>) -> Worth {
        let Some(rest) = &self.capture.rest else { return WIN_AT_ONCE };
        if let Some((piece, square)) = last {
            rest.add(&mut base, piece, square);
        }
        self.worth_of_cell(rest, base.cells[usize::from(base.mirrored)])
    }

    #[inline(always)]
    fn worth_of_cell(&self, rest: &Rest, cell: u64) -> Worth {
        match rest.cells(self.tables) {
            Cells::Byte(cells) => self.moves.worth[cells[cell as usize] as usize],
            Cells::Wide(cells) => worth(cells[cell as usize], &self.moves.options),
        }
    }

    /// The capture with the attacker going to `to`, for every lane of word `s`. The lane piece stays where it is; if it is
    /// a rat in the water that is leapt over, it blocks.
    #[inline(always)]
    fn all_lanes(&self, s: usize, crossed: u64, to: Square, best: &mut [Worth; WIDTH]) {
        let valid = self.valid.0[s];
        if valid == 0 {
            return;
        }
        let lane_piece = self.row_pieces + 1;
        let word_piece = self.row_pieces;
        let mut lanes = valid & !(if self.moves.lane_blocks { crossed } else { 0 });
        let Some(rest) = &self.capture.rest else {
            while lanes != 0 {
                best[(lanes.trailing_zeros() & 63) as usize] = WIN_AT_ONCE;
                lanes &= lanes - 1;
            }
            return;
        };
        let Capture { attacker, victim, .. } = *self.capture;
        let mut base = self.base((attacker < self.row_pieces).then_some((attacker, to.index())));
        if attacker == word_piece {
            rest.add(&mut base, word_piece, to.index());
        } else if victim != word_piece {
            rest.add(&mut base, word_piece, s);
        }
        while lanes != 0 {
            let lane = (lanes.trailing_zeros() & 63) as usize;
            let mut base = base;
            rest.add(&mut base, lane_piece, lane);
            let worth = self.worth_of_cell(rest, base.cells[usize::from(base.mirrored)]);
            best[lane] = worth.max(best[lane]);
            lanes &= lanes - 1;
        }
    }
}

impl Rest {
    #[inline(always)]
    fn add(&self, base: &mut Base, piece: usize, square: usize) {
        base.cells[0] += self.offsets[0][piece][square];
        base.cells[1] += self.offsets[1][piece][square];
        if let Some((first, mirror)) = self.first
            && first == piece
        {
            base.mirrored = mirror >> square & 1 != 0;
        }
    }

    #[inline(always)]
    fn cells<'a>(&self, tables: &'a [Option<Table>]) -> &'a Cells {
        &tables[self.table].as_ref().expect("smaller classes are solved first").cells[self.turn]
    }

    /// `None` if the smaller material is of no class.
    fn new(pieces: &[Piece], rest: Material, mover: Color, classes: &Classes) -> Option<Rest> {
        let addresser = MaterialAddresser::new(classes, rest, pieces)?;
        // After the capture the other side is on move.
        let turn = addresser.turn(!mover);
        Some(Rest { table: addresser.class.0, turn, offsets: addresser.offsets, first: addresser.first })
    }
}

impl Capture {
    /// `None` if this attacker can take this victim nowhere.
    fn new(index: &Index, attacker: usize, victim: usize, classes: &Classes) -> Option<Capture> {
        let options = classes.options();
        let pieces = &index.pieces;
        let (Piece { color, animal }, Piece { animal: prey, .. }) = (pieces[attacker], pieces[victim]);
        let mut hits_from = vec![Vec::new(); WIDTH];
        let mut hits_to = vec![Vec::new(); WIDTH];
        for from in squares_in_play(pieces[attacker]) {
            for (to, crossed) in options.destinations(animal, from) {
                if (squares_in_play(pieces[victim]) & squares_in_play(pieces[attacker])).contains(to)
                    && options.may_capture(color, animal, from, prey, to)
                {
                    hits_from[from.index()].push((to, crossed.bits()));
                    hits_to[to.index()].push((from, crossed.bits()));
                }
            }
        }
        if hits_from.iter().all(Vec::is_empty) {
            return None;
        }
        let rest = Material::of_pieces(pieces)
            .without(pieces[victim])
            .map(|rest| Rest::new(pieces, rest, color, classes).expect("classes of fewer pieces are there"));
        Some(Capture { attacker, victim, hits_from, hits_to, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    /// Captures of seven pieces lead to six, whose cells pass 32 bits: what the pieces add comes to the cell's number.
    #[test]
    fn cells_of_captures_pass_32_bits() {
        let classes = Classes::new(&RuleOptions::PAPER, 6);
        let rest: Material = "ELTvPDR".parse().unwrap();
        let pieces: Vec<Piece> = "ELTvPDCR".parse::<Material>().unwrap().pieces().collect();
        let there = Rest::new(&pieces, rest, Color::White, &classes).unwrap();
        let slow = MaterialAddresser::new(&classes, rest, &pieces).unwrap();
        let mut random = Pcg64::seed_from_u64(11);
        let mut most = 0;
        for _ in 0..10_000 {
            let mut any = |piece: Piece| {
                let squares: Vec<Square> = squares_in_play(piece).into_iter().collect();
                squares[random.next_u64() as usize % squares.len()]
            };
            let squares: Vec<Square> = pieces.iter().map(|&piece| any(piece)).collect();
            let mut base = Base { cells: [0; 2], mirrored: false };
            for (piece, square) in squares.iter().enumerate() {
                there.add(&mut base, piece, square.index());
            }
            let cell = base.cells[usize::from(base.mirrored)];
            assert_eq!(cell, slow.cell(&squares) as u64);
            most = most.max(cell);
        }
        let cells = classes.get(ClassId(there.table)).index().cells() as u64;
        assert!(most > u64::from(u32::MAX) && most < cells, "{most} of {cells}");
    }
}
