//! What the kernels read: where each side row stands, and the moves and captures of each side of each class, as one array
//! of u32. The numbers that say where in it something is are shared with the shaders.

use super::kernels::Variant;
use crate::board::geometry::{LEAP_DOWN, LEAP_LEFT, LEAP_RIGHT, LEAP_UP};
use crate::board::{Color, Direction, Square};
use crate::shaders::*;
use crate::tablebase::class::Classes;
use crate::tablebase::index::{Index, WIDTH};
use crate::tablebase::material::squares_in_play;
use crate::tablebase::solve::cpu::conversions::{Capture, Conversions};
use crate::tablebase::solve::cpu::quiet::{LaneLeaps, QuietMoves, WordLeap};
use crate::tablebase::value::{DRAW, NO_MOVE, decided};
use crate::tablebase::{ClassId, Material};

const _: () = {
    assert!(DRAW == 1 && NO_MOVE == 2, "finish.wgsl tells the two apart by their bits");
    assert!(NO_MOVE as u32 == CODE_NO_MOVE && decided(0) as u32 == CODE_OF_0_PLIES);
};

fn halves(mask: u64) -> [u32; 2] {
    [mask as u32, (mask >> 32) as u32]
}

/// The depth at which conversions with this value count.
pub(super) fn depth_of_value(value: u32, variant: Variant) -> usize {
    (if value < variant.draw() { 2 * value } else { 2 * (variant.win_at_once() - value) + 1 }) as usize
}

/// A class in a batch.
pub(super) struct PlannedClass {
    pub id: ClassId,
    pub material: Material,
    pub rows: usize,
    /// The first side row; White's come first, then Black's.
    pub first: usize,
}

impl PlannedClass {
    /// The first side row of one side to move.
    pub(super) fn side(&self, color: Color) -> usize {
        self.first + if color == Color::White { 0 } else { self.rows }
    }
}

/// Where the values of a smaller class for one side to move are: page, and first cell there.
#[derive(Copy, Clone, Debug)]
pub(super) struct TablePlace {
    pub page: u32,
    pub cell: u32,
}

/// The plan of a batch.
pub(super) struct Plan {
    pub data: Vec<u32>,
    pub members: Vec<PlannedClass>,
    pub side_rows: usize,
    pub records: u32,
    pub crossed: u32,
    crossing: u32,
    zeros: u32,
}

/// All sets of squares that a leap crosses, the empty one first.
struct Crossed(Vec<u64>);

impl Crossed {
    fn new() -> Crossed {
        let mut all = vec![0];
        for from in Square::all() {
            for direction in Direction::ALL {
                if let Some((_, crossed)) = from.leap(direction)
                    && !all.contains(&crossed.bits())
                {
                    all.push(crossed.bits());
                }
            }
        }
        debug_assert!(all.len() <= 32);
        Crossed(all)
    }

    fn code(&self, crossed: u64) -> u32 {
        self.0.iter().position(|&c| c == crossed).expect("the water of a leap") as u32
    }
}

impl Plan {
    /// Plans a batch. `table` says where the values of a class are, and for `None` where a cell is that has the value
    /// of a win at once.
    pub(super) fn new(
        ids: &[ClassId],
        classes: &Classes,
        table: &dyn Fn(Option<(usize, Color)>) -> TablePlace,
    ) -> Plan {
        let options = classes.options();
        let crossed = Crossed::new();
        let mut plan =
            Plan { data: Vec::new(), members: Vec::new(), side_rows: 0, records: 0, crossed: 0, crossing: 0, zeros: 0 };
        plan.zeros = plan.extend(vec![0; 2 * 4 * WIDTH * 8]);
        plan.crossed = plan.extend(crossed.0.iter().flat_map(|&c| halves(c)));
        let mut crossing = vec![0; WIDTH * WIDTH];
        for from in Square::all() {
            for (to, water) in Direction::ALL.into_iter().filter_map(|d| from.leap(d)) {
                crossing[from.index() * WIDTH + to.index()] = crossed.code(water.bits());
            }
        }
        plan.crossing = plan.extend(crossing);

        let indexes: Vec<Index> = ids.iter().map(|&id| classes.get(id).index()).collect();
        for (&id, index) in ids.iter().zip(&indexes) {
            let material = classes.get(id).representative;
            plan.members.push(PlannedClass { id, material, rows: index.rows, first: plan.side_rows });
            plan.side_rows += 2 * index.rows;
        }
        let sides = plan.extend(vec![0; ids.len() * 2 * SIDE_WORDS as usize]);
        plan.records = plan.extend(vec![0; plan.side_rows * 2]);
        for (c, index) in indexes.iter().enumerate() {
            let blocks = Color::ALL.map(|color| sides + side_number(c, color) as u32 * SIDE_WORDS);
            for (i, color) in Color::ALL.into_iter().enumerate() {
                let moves = QuietMoves::new(index, color, options);
                let conversions = Conversions::new(index, color, classes);
                plan.side(c, color, (blocks[i], blocks[1 - i]), index, &moves, &conversions, &crossed, table);
                plan.rows(plan.members[c].side(color), blocks[i], index, &conversions);
            }
        }
        plan
    }

    fn extend(&mut self, values: impl IntoIterator<Item = u32>) -> u32 {
        let at = self.data.len() as u32;
        self.data.extend(values);
        at
    }

    #[expect(clippy::too_many_arguments, reason = "one call")]
    fn side(
        &mut self,
        class: usize,
        color: Color,
        (block, other): (u32, u32),
        index: &Index,
        moves: &QuietMoves,
        conversions: &Conversions,
        crossed: &Crossed,
        table: &dyn Fn(Option<(usize, Color)>) -> TablePlace,
    ) {
        let n = index.pieces.len();
        let (captures, counts) = self.captures(n, moves, conversions, table);
        let (moves_at, movers) = self.moves(index, moves, crossed);
        let mirrored = index.row_pieces.iter().flat_map(|piece| {
            Square::all().map(|square| piece.digit[square.mirror().index()] * piece.stride).chain([0])
        });
        let mirrored = self.extend(mirrored.collect::<Vec<_>>());

        let member = &self.members[class];
        let opponent = member.side(!color).wrapping_sub(member.side(color)) as u32;
        let first_row = member.side(color) as u32;
        let word_leaps = |vertical: bool| {
            let leaps = |leap: &WordLeap| leap.from.abs_diff(leap.to).is_multiple_of(7) == vertical;
            if moves.word.iter().flatten().any(leaps) { u64::MAX } else { 0 }
        };
        let word = LaneLeaps { files: word_leaps(true), ranks: word_leaps(false) };
        let lane = moves.lane.unwrap_or(LaneLeaps { files: 0, ranks: 0 });
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let flags = flag(moves.lane_blocks, FLAG_LANE_BLOCKS)
            | flag(moves.first_blocks, FLAG_FIRST_BLOCKS)
            | flag(moves.word.is_some(), FLAG_WORD_MOVES)
            | flag(moves.lane.is_some(), FLAG_LANE_MOVES)
            | flag([word, lane].iter().any(|leaps| leaps.files | leaps.ranks != 0), FLAG_LEAPS);
        let mut set = |place: u32, values: &[u32]| {
            let at = (block + place) as usize;
            self.data[at..at + values.len()].copy_from_slice(values);
        };
        let mover_slots = moves.row_pieces.len() as u32;
        set(SIDE_FLAGS, &[flags]);
        set(SIDE_OPPONENT, &[opponent]);
        set(SIDE_OTHER, &[other]);
        set(SIDE_FIRST_ROW, &[first_row]);
        set(SIDE_NUMBER, &[side_number(class, color) as u32]);
        set(SIDE_ROW_PIECES, &[n as u32 - 2]);
        for (place, leaps) in [(SIDE_WORD_UP, word), (SIDE_LANE_UP, lane)] {
            set(place, &halves(LEAP_UP.bits() & leaps.files));
            set(place + 2, &halves(LEAP_DOWN.bits() & leaps.files));
            set(place + 4, &halves(LEAP_RIGHT.bits() & leaps.ranks));
            set(place + 6, &halves(LEAP_LEFT.bits() & leaps.ranks));
        }
        set(SIDE_LANES, &halves(squares_in_play(index.lane_piece()).bits()));
        set(SIDE_WORDS_IN_PLAY, &halves(squares_in_play(index.word_piece()).bits()));
        set(SIDE_DEN_WORD, &halves(conversions.den_entries[n - 2]));
        set(SIDE_DEN_LANE, &halves(conversions.den_entries[n - 1]));
        set(SIDE_MOVES, &[moves_at, 4 * mover_slots, MOVE_SLOTS * mover_slots]);
        set(SIDE_MARKS_ITSELF, &[u32::from(moves.word.is_some() || moves.lane.is_some())]);
        set(SIDE_MOVERS, &movers);
        set(SIDE_MIRRORED, &[mirrored, captures]);
        set(SIDE_BY_LANE, &counts);
    }

    /// The captures of a side, and how many there are by the lane piece, of it, and others, which come in that order.
    fn captures(
        &mut self,
        n: usize,
        moves: &QuietMoves,
        conversions: &Conversions,
        table: &dyn Fn(Option<(usize, Color)>) -> TablePlace,
    ) -> (u32, [u32; 3]) {
        let (by, others): (Vec<&Capture>, Vec<&Capture>) =
            conversions.captures.iter().partition(|c| c.attacker == n - 1);
        let (of, others): (Vec<&Capture>, Vec<&Capture>) = others.into_iter().partition(|c| c.victim == n - 1);
        let counts = [by.len() as u32, of.len() as u32, others.len() as u32];
        let captures: Vec<[u32; CAPTURE_WORDS as usize]> = [by, of, others]
            .concat()
            .into_iter()
            .map(|capture| self.capture(capture, n, moves.first_blocks, table))
            .collect();
        (self.extend(captures.into_iter().flatten()), counts)
    }

    /// The moves of a side's row pieces from each square, and where each row piece has its digits.
    fn moves(&mut self, index: &Index, moves: &QuietMoves, crossed: &Crossed) -> (u32, [u32; 4]) {
        let mut movers = [0; 4];
        let mut move_table = Vec::new();
        for (k, piece) in moves.row_pieces.iter().enumerate() {
            movers[k] = 6 * piece.piece as u32;
            let squares = &index.row_pieces[piece.piece];
            for square in 0..WIDTH {
                let mut slots = [0; 8];
                if let Some(digit) = squares.squares.iter().position(|s| s.index() == square) {
                    assert!(piece.moves[digit].len() <= 4 && piece.mirrored_into[digit].len() <= 1, "one a direction");
                    for (slot, mv) in slots.iter_mut().zip(&piece.moves[digit]) {
                        let kind = if mv.mirrored { MOVE_MIRRORED } else { MOVE_MARKS };
                        *slot = (mv.delta << MOVE_DELTA_SHIFT) as u32 | crossed.code(mv.crossed) | MOVE_IS | kind;
                    }
                    if let Some(&from) = piece.mirrored_into[digit].first() {
                        slots[4] = from << MOVE_DELTA_SHIFT | MOVE_MIRRORED | MOVE_MARKS;
                    }
                }
                move_table.extend(slots);
            }
        }
        let at = if move_table.is_empty() { self.zeros } else { self.extend(move_table) };
        (at, movers)
    }

    fn capture(
        &mut self,
        capture: &Capture,
        pieces: usize,
        first_blocks: bool,
        table: &dyn Fn(Option<(usize, Color)>) -> TablePlace,
    ) -> [u32; CAPTURE_WORDS as usize] {
        let (word_piece, lane_piece) = (pieces - 2, pieces - 1);
        let by_victim = capture.attacker == lane_piece || capture.attacker == word_piece && capture.victim < word_piece;
        let hits = if by_victim { &capture.hits_to } else { &capture.hits_from };
        let masks: Vec<u32> = hits
            .iter()
            .flat_map(|hits| halves(hits.iter().fold(0, |mask, (square, _)| mask | 1 << square.index())))
            .collect();
        let leaps = hits.iter().flatten().any(|(_, crossed)| *crossed != 0);
        let (blocked, stride) = if first_blocks && leaps && capture.attacker != lane_piece {
            let blocked = (0..WIDTH).flat_map(|rat| {
                hits.iter().flat_map(move |hits| {
                    let blocked = hits.iter().filter(|(_, crossed)| crossed >> rat & 1 != 0);
                    halves(blocked.fold(0, |mask, (square, _)| mask | 1 << square.index()))
                })
            });
            (self.extend(blocked), WIDTH as u32)
        } else {
            (self.zeros, 0)
        };
        let mut words = [0; CAPTURE_WORDS as usize];
        let mut set = |place: u32, value: u32| words[place as usize] = value;
        set(CAPTURE_ATTACKER, capture.attacker as u32);
        set(CAPTURE_VICTIM, capture.victim as u32);
        set(CAPTURE_HITS, self.extend(masks));
        set(CAPTURE_BLOCKED, blocked);
        set(CAPTURE_BLOCKED_STRIDE, stride);
        set(CAPTURE_CROSSING, self.crossing);
        let place = table(capture.rest.as_ref().map(|rest| (rest.table, rest.turn)));
        set(CAPTURE_PAGE, place.page);
        set(CAPTURE_TABLE, place.cell);
        set(CAPTURE_FIRST, u32::MAX - 1);
        match &capture.rest {
            // Whatever stands where, it is the same cell.
            None => set(CAPTURE_OFFSETS, self.zeros),
            Some(rest) => {
                // No class of more than MAX_PIECES comes here, so what is left has few enough cells.
                let narrow = |&offset: &u64| u32::try_from(offset).expect("cells of five pieces fit 32 bits");
                set(CAPTURE_OFFSETS, self.extend(rest.offsets.iter().flatten().flatten().map(narrow)));
                set(CAPTURE_STRIDE, (pieces * WIDTH) as u32);
                if let Some((first, mirror)) = rest.first {
                    set(CAPTURE_FIRST, first as u32);
                    let [low, high] = halves(mirror);
                    set(CAPTURE_MIRROR, low);
                    set(CAPTURE_MIRROR + 1, high);
                }
            }
        }
        words
    }

    fn rows(&mut self, first: usize, block: u32, index: &Index, conversions: &Conversions) {
        for row in 0..index.rows {
            let mut squares = 0;
            let mut den = false;
            for (piece, square) in index.row_squares(row).enumerate() {
                squares |= (square.index() as u32) << (6 * piece);
                den |= conversions.den_entries[piece] >> square.index() & 1 != 0;
            }
            squares |= if den { RECORD_DEN } else { 0 } | if index.weight(row) == 2 { RECORD_PAIR } else { 0 };
            let at = self.records as usize + (first + row) * 2;
            self.data[at..at + 2].copy_from_slice(&[squares, block]);
        }
    }
}

fn side_number(class: usize, color: Color) -> usize {
    2 * class + usize::from(color == Color::Black)
}

/// Side rows of a class.
pub(super) fn side_rows(material: Material) -> usize {
    2 * rows(material)
}

fn rows(material: Material) -> usize {
    Index::new(material).expect("no class has more pieces than an index").rows
}
