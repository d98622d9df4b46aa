//! Conversions: the moves that leave the class and therefore take no part in the iteration. A capture leads to a
//! smaller class whose values are known; a den entry or the capture of the last enemy piece wins in one ply. The best
//! conversion of each position is looked up once, before the first pass.

use crate::board::geometry::DEN;
use crate::board::{Bitboard, Color, NoMove, Piece, RuleOptions, Square};
use crate::tablebase::address::{MaterialAddresser, SQUARES};
use crate::tablebase::class::Classes;
use crate::tablebase::index::{Index, WIDTH};
use crate::tablebase::material::squares_in_play;
use crate::tablebase::solve::captures::CapturedCells;
use crate::tablebase::value::{CellsRef, Code, DRAW, NO_MOVE};
use crate::tablebase::{ClassId, Material, Metric};

/// The value of a conversion for the side that makes it. Greater is better: 0 for no conversion, k for a loss in k
/// plies, [`ESCAPE`] for a draw, 65535 - k for a win in k plies.
pub(crate) type ConversionValue = u16;

pub(crate) const NOTHING: ConversionValue = 0;
/// A draw: a position with this conversion is never lost.
pub(crate) const ESCAPE: ConversionValue = 0x7fff;
pub(crate) const WIN_IN_ONE: ConversionValue = ConversionValue::MAX - 1;

/// The longest line in plies that a [`ConversionValue`] can represent.
pub(crate) const MAX_PLIES: u16 = ESCAPE - 4;

/// The value of moving to a position with this code for the opponent: a slow and obvious reference for the tests.
#[cfg(test)]
pub(crate) fn value(code: Code, options: &RuleOptions) -> ConversionValue {
    let plies = match code {
        0 => return NOTHING,
        DRAW => return ESCAPE,
        NO_MOVE if options.no_move == NoMove::Draw => return ESCAPE,
        _ => code - 2,
    };
    if plies % 2 == 1 { plies + 1 } else { ConversionValue::MAX - (plies + 1) }
}

/// A capture of one piece by another: the squares of both, and the table of the remaining material.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    pub attacker: usize,
    pub victim: usize,
    /// By the attacker's square: the squares on which it takes the victim, and the water that it leaps over.
    pub hits_from: Vec<Vec<(Square, u64)>>,
    /// By the victim's square: the squares from which the attacker takes it, and the water that it leaps over.
    pub hits_to: Vec<Vec<(Square, u64)>>,
    /// The remaining material; `None` if the victim was the last piece of its side.
    pub address: Option<CaptureAddress>,
}

/// The address of the position after a capture.
#[derive(Clone, Debug)]
pub(crate) struct CaptureAddress {
    pub table: usize,
    /// The side to move in the smaller class.
    pub turn: Color,
    /// `offsets[mirrored][piece][square]`: the summand of each piece of this class in the cell number of the smaller
    /// class. Cell numbers of six pieces exceed 32 bits.
    pub offsets: [Vec<[u64; WIDTH]>; 2],
    /// The piece of this class that decides whether the smaller class is looked up mirrored, and the set of its squares
    /// for which it is.
    pub first: Option<(usize, u64)>,
    /// For the word piece and the lane piece, by `mirrored`: the order of the cells of all its squares in the smaller
    /// class, if they are contiguous and the piece does not decide about the mirroring.
    pub(super) orders: [[Option<LaneOrder>; 2]; 2],
}

/// More than the captures of one piece by another on a side's traps.
const TRAP_CAPTURES: usize = 3 * 4;

/// The captures and den entries of one side of a class.
#[derive(Clone, Debug)]
pub(crate) struct Conversions {
    pub(crate) captures: Vec<Capture>,
    /// By piece: the squares from which it steps into the enemy's den; empty for the opponent's pieces.
    pub(crate) den_entries: Vec<u64>,
    pub(super) lane_blocks: bool,
    pub(super) first_blocks: bool,
    pub(super) metric: Metric,
    options: RuleOptions,
}

impl Conversions {
    pub(crate) fn new(index: &Index, color: Color, classes: &Classes) -> Conversions {
        let options = *classes.options();
        let pieces = &index.pieces;
        let n = pieces.len();
        let blocks = |i: usize| options.blocks_leap(pieces[i], color);
        let mut captures = Vec::new();
        for attacker in (0..n).filter(|&i| pieces[i].color == color) {
            for victim in (0..n).filter(|&i| pieces[i].color != color) {
                captures.extend(Capture::new(index, attacker, victim, classes));
            }
        }
        let enters = |piece: Piece, &from: &Square| {
            piece.color == color && options.destinations(piece.animal, from).any(|(to, _)| to == DEN[!color])
        };
        let den_entries = |&piece: &Piece| {
            squares_in_play(piece).into_iter().filter(|from| enters(piece, from)).collect::<Bitboard>().bits()
        };
        Conversions {
            captures,
            den_entries: pieces.iter().map(den_entries).collect(),
            lane_blocks: blocks(n - 1),
            first_blocks: n > 2 && blocks(0),
            metric: classes.metric(),
            options,
        }
    }

    /// The values of moving to positions with these codes for the opponent.
    #[inline(always)]
    pub(super) fn values<C: Copy + Into<Code>>(&self, codes: [C; WIDTH]) -> [ConversionValue; WIDTH] {
        let last_escape = if self.options.no_move == NoMove::Draw { NO_MOVE } else { DRAW };
        codes.map(|code| {
            let code = code.into();
            let decided = if code % 2 == 1 { code.wrapping_sub(1) } else { code.wrapping_neg() };
            if code.wrapping_sub(1) < last_escape { ESCAPE } else { decided }
        })
    }

    /// The number of pairs of pieces of which one takes the other in more places than traps, without an end of the game.
    pub(crate) fn pairs(&self) -> usize {
        let places = |capture: &Capture| capture.hits_from.iter().map(Vec::len).sum::<usize>();
        self.captures.iter().filter(|capture| capture.address.is_some() && places(capture) > TRAP_CAPTURES).count()
    }

    /// The classes and sides to move that captures look up.
    pub(crate) fn looked_up(&self) -> impl Iterator<Item = (ClassId, Color)> + '_ {
        self.captures
            .iter()
            .filter_map(|capture| capture.address.as_ref())
            .map(|address| (ClassId(address.table), address.turn))
    }
}

/// The partial cell number in the smaller class of the pieces placed so far, as the board is and mirrored. `mirrored`
/// tells which of the two is valid once the deciding piece is placed.
#[derive(Copy, Clone)]
pub(super) struct Base {
    pub cells: [u64; 2],
    pub mirrored: bool,
}

impl Base {
    /// The cell of the placed pieces; the first possible cell if a piece is missing.
    #[inline(always)]
    pub(super) fn cell(self) -> usize {
        self.cells[usize::from(self.mirrored)] as usize
    }
}

/// The order of the contiguous cells of all squares of a piece in a smaller class: the ranks, and the squares within a
/// rank, each in our order or reversed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct LaneOrder {
    ranks_turned: bool,
    files_turned: bool,
}

impl LaneOrder {
    /// The order of these squares at these offsets; `None` if they are not contiguous in any of the four orders.
    fn of(offsets: &[u64; WIDTH], squares: Bitboard) -> Option<LaneOrder> {
        let all = [(false, false), (false, true), (true, false), (true, true)];
        let orders = all.map(|(ranks_turned, files_turned)| LaneOrder { ranks_turned, files_turned });
        orders.into_iter().find(|order| {
            let there = &SQUARES[usize::from(order.ranks_turned)][usize::from(order.files_turned)];
            squares.into_iter().all(|s| offsets[s.index()] == u64::from(there[s.index()]))
        })
    }

    /// The cells by our squares. The last element is arbitrary.
    #[inline(always)]
    pub(super) fn read(self, cells: &[u8]) -> [u8; WIDTH] {
        let mut codes = [0; WIDTH];
        for rank in 0..9 {
            let from = 7 * if self.ranks_turned { 8 - rank } else { rank };
            // Seven squares, and one of the next rank, which the next iteration overwrites.
            let eight = u64::from_le_bytes(*cells[from..].first_chunk().expect("nine ranks of seven, and one more"));
            let eight = if self.files_turned { (eight << 8).swap_bytes() } else { eight };
            codes[7 * rank..7 * rank + 8].copy_from_slice(&eight.to_le_bytes());
        }
        codes
    }
}

impl CaptureAddress {
    #[inline(always)]
    pub(super) fn add(&self, base: &mut Base, piece: usize, square: usize) {
        base.cells[0] += self.offsets[0][piece][square];
        base.cells[1] += self.offsets[1][piece][square];
        if let Some((first, mirror)) = self.first
            && first == piece
        {
            base.mirrored = mirror >> square & 1 != 0;
        }
    }

    #[inline(always)]
    pub(super) fn cells<'a>(&self, captures: &CapturedCells<'a>) -> CellsRef<'a> {
        captures.get(ClassId(self.table), self.turn)
    }

    /// If the squares of the lane piece follow each other in the smaller class: whether the ranks are turned there. The files
    /// are turned exactly if the smaller class is looked up mirrored.
    #[cfg(feature = "gpu")]
    pub(in crate::tablebase::solve) fn lane_order(&self) -> Option<bool> {
        let [straight, across] = self.orders[1];
        let straight = straight.filter(|order| !order.files_turned)?;
        let across = across.filter(|order| order.files_turned)?;
        (straight.ranks_turned == across.ranks_turned).then_some(straight.ranks_turned)
    }

    /// `None` if `classes` does not contain the smaller material.
    fn new(pieces: &[Piece], rest: Material, mover: Color, classes: &Classes) -> Option<CaptureAddress> {
        let addresser = MaterialAddresser::new(classes, rest, pieces)?;
        // After the capture the opponent is to move.
        let turn = addresser.turn(!mover);
        let orders = [pieces.len() - 2, pieces.len() - 1].map(|piece| {
            let decides = addresser.first.is_some_and(|(first, _)| first == piece);
            let squares = squares_in_play(pieces[piece]);
            [0, 1].map(|mirrored| LaneOrder::of(&addresser.offsets[mirrored][piece], squares).filter(|_| !decides))
        });
        Some(CaptureAddress {
            table: addresser.class.0,
            turn,
            offsets: addresser.offsets,
            first: addresser.first,
            orders,
        })
    }
}

impl Capture {
    /// `None` if this attacker can take this victim on no square.
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
        let address = Material::of_pieces(pieces.iter().copied())
            .and_then(|material| material.without(pieces[victim]))
            .map(|rest| CaptureAddress::new(pieces, rest, color, classes).expect("classes of fewer pieces are there"));
        Some(Capture { attacker, victim, hits_from, hits_to, address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    /// The values of 64 captures at once equal the values of each capture alone.
    #[test]
    fn all_lanes_at_once_are_the_lanes_one_by_one() {
        let mut random = Pcg64::seed_from_u64(64);
        for rules in ["paper", "no-move=loss"] {
            let options: RuleOptions = rules.parse().unwrap();
            let classes = Classes::new(&options, 4);
            let index = Index::new("ELvTP".parse().unwrap(), &options).unwrap();
            let moves = Conversions::new(&index, Color::White, &classes);
            for first in 0..256 {
                let codes: [u8; WIDTH] = std::array::from_fn(|lane| (first + lane) as u8);
                let wide: [Code; WIDTH] = std::array::from_fn(|_| random.next_u32() as Code % (MAX_PLIES + 3));
                let slow = |code: Code| value(code, &options);
                assert_eq!(moves.values(codes), codes.map(|code| slow(code.into())));
                assert_eq!(moves.values(wide), wide.map(slow));
            }
            let orders: Vec<LaneOrder> = classes
                .level(4)
                .flat_map(|(_, class)| Color::ALL.map(|color| Conversions::new(&class.index(), color, &classes)))
                .flat_map(|moves| moves.captures)
                .filter_map(|capture| capture.address?.orders[1][0])
                .collect();
            let without_lane = Capture::new(&index, 0, index.pieces.len() - 1, &classes).unwrap().address.unwrap();
            assert!(without_lane.orders[0][0].is_some(), "the word piece is the last there");
            let is = |ranks_turned| orders.contains(&LaneOrder { ranks_turned, files_turned: false });
            assert!(is(false) && is(true), "with the colours as they are, and exchanged");
        }
        for (ranks_turned, files_turned) in [(false, false), (false, true), (true, false), (true, true)] {
            let order = LaneOrder { ranks_turned, files_turned };
            let mut offsets = [0; WIDTH];
            for s in Square::all() {
                let s_there = if files_turned { s.mirror() } else { s };
                let s_there = if ranks_turned { s_there.flip() } else { s_there };
                offsets[s.index()] = s_there.index() as u64;
            }
            assert_eq!(LaneOrder::of(&offsets, Square::all().collect()), Some(order));
            let cells: [u8; WIDTH] = std::array::from_fn(|_| random.next_u32() as u8);
            let codes = order.read(&cells);
            assert!((0..WIDTH - 1).all(|s| codes[s] == cells[offsets[s] as usize]), "{order:?}");
            offsets.swap(3, 11);
            assert_eq!(LaneOrder::of(&offsets, Square::all().collect()), None);
        }
    }

    /// Captures of seven pieces lead to six, whose cell numbers exceed 32 bits: the summands of the pieces add up to
    /// the cell number.
    #[test]
    fn cells_of_captures_pass_32_bits() {
        let classes = Classes::new(&RuleOptions::PAPER, 6);
        let rest: Material = "ELTvPDR".parse().unwrap();
        let pieces: Vec<Piece> = "ELTvPDCR".parse::<Material>().unwrap().pieces().collect();
        let there = CaptureAddress::new(&pieces, rest, Color::White, &classes).unwrap();
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
