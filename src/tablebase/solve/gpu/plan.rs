//! The input of the kernels for a batch, computed without a GPU: the moves and captures of each side to move of each
//! class, and the states and places of the rows. The structs are shared with the shaders.

use crate::board::geometry::{LEAP_DOWN, LEAP_LEFT, LEAP_RIGHT, LEAP_UP};
use crate::board::{Bitboard, Color, Direction, Square};
use crate::shaders::*;
use crate::tablebase::ClassId;
use crate::tablebase::class::Classes;
use crate::tablebase::index::{Index, WIDTH};
use crate::tablebase::material::squares_in_play;
use crate::tablebase::solve::cpu::conversions::{self, Conversions};
use crate::tablebase::solve::cpu::quiet::QuietMoves;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::value::{DRAW, NO_MOVE, decided};
use bytemuck::Zeroable;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

const _: () = {
    assert!(DRAW as u32 == CODE_DRAW && NO_MOVE as u32 == CODE_NO_MOVE && decided(0) as u32 == CODE_OF_0_PLIES);
};

/// One side to move of a class.
pub(super) type TableId = (ClassId, Color);

/// A class in a batch.
pub(super) struct Member {
    pub id: ClassId,
    pub index: Index,
    pub rows: Arc<Rows>,
    /// The first row of the class for each side to move.
    pub first: usize,
}

/// The plan of a batch.
#[derive(Default)]
pub(super) struct Plan {
    /// The classes, for errors.
    pub name: String,
    pub members: Vec<Member>,
    /// The number of rows for one side to move. By row, its squares and its weight, and its class.
    pub rows: usize,
    pub given: Vec<[u32; 2]>,
    pub places: Vec<u32>,
    /// The sides, without the buffers and the first cells of the smaller classes.
    pub sides: Vec<Side>,
    /// The captures that do not end the game, by side and number, and the class and the side to move that each leads to.
    pub looked_up: Vec<([usize; 2], TableId)>,
    /// The tables that captures of the batch lead to.
    pub tables: Vec<TableId>,
    /// The tables that captures of all classes of the job lead to.
    pub job_tables: Arc<[TableId]>,
    /// The squares whose words are in memory.
    pub words: Bitboard,
}

impl Plan {
    pub(super) fn new(ids: &[ClassId], classes: &Classes, job_tables: Arc<[TableId]>) -> Plan {
        let member = |&id: &ClassId| {
            let index = classes.get(id).index();
            Member { id, rows: Arc::new(Rows::new(&index, classes.options())), index, first: 0 }
        };
        let mut members: Vec<Member> = ids.par_iter().map(member).collect();
        let first = classes.get(ids[0]).representative;
        let mut plan = Plan {
            name: if ids.len() == 1 { first.to_string() } else { format!("{} classes from {first} on", ids.len()) },
            job_tables,
            ..Plan::default()
        };
        for (number, member) in members.iter_mut().enumerate() {
            member.first = plan.rows;
            plan.rows += member.rows.len();
            plan.words |= squares_in_play(member.index.word_piece());
            Color::ALL.into_iter().for_each(|color| plan.add_side(member, color, classes));
            plan.add_rows(member, number as u32);
        }
        plan.members = members;
        plan.tables = plan.looked_up.iter().map(|looked_up| looked_up.1).collect::<BTreeSet<_>>().into_iter().collect();
        plan
    }

    /// The classes of the batch.
    pub(super) fn ids(&self) -> impl Iterator<Item = ClassId> {
        self.members.iter().map(|member| member.id)
    }

    /// The number of words of a row, in whole sectors.
    pub(super) fn row_words(&self) -> usize {
        self.words.len().next_multiple_of(4)
    }

    fn add_rows(&mut self, member: &Member, class_number: u32) {
        let Member { index, rows, .. } = member;
        let state = |number: usize| {
            let pieces = index.row_squares(rows.row(number)).enumerate();
            let squares: u32 = pieces.map(|(piece, square)| (square.index() as u32) << (6 * piece)).sum();
            let weight = u8::try_from(rows.weight(number)).expect("four row pieces have 24 orders");
            let squares = squares | u32::from(weight) << WEIGHT_SHIFT;
            [squares, class_number]
        };
        self.given.par_extend((0..rows.len()).into_par_iter().map(state));
        let place = |row| rows.place(row).map_or(NONE, |(number, mirrored)| 2 * number as u32 + u32::from(mirrored));
        self.places.par_extend((0..index.rows).into_par_iter().map(place));
    }

    fn add_side(&mut self, member: &Member, color: Color, classes: &Classes) {
        let (index, options) = (&member.index, classes.options());
        let quiet = QuietMoves::new(index, color, options);
        let conversions = Conversions::new(index, color, classes);
        let n = index.pieces.len();
        let mut dens = [[0; 2]; 6];
        (0..n).for_each(|piece| dens[number_of(piece, n)] = halves(conversions.den_entries[piece]));
        let lane = index.lane_piece();
        let leaps = |(direction, from): (Direction, Bitboard)| {
            let leaps = lane.color == color && options.leaps(lane.animal, direction);
            if leaps { halves(from.bits()) } else { [0; 2] }
        };
        let directions = [Direction::Up, Direction::Down, Direction::Right, Direction::Left];
        let from = [LEAP_UP, LEAP_DOWN, LEAP_RIGHT, LEAP_LEFT];
        let lane_leaps: [Halves; 4] = std::array::from_fn(|i| leaps((directions[i], from[i])));
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let mut moves = [[u32::MAX; WIDTH]; 5];
        for (p, &piece) in index.pieces[..n - 1].iter().enumerate().filter(|(_, piece)| piece.color == color) {
            let allowed = squares_in_play(piece);
            for from in allowed {
                let to = options.destinations(piece.animal, from).map(|(to, _)| to).filter(|&to| allowed.contains(to));
                let mut bytes = [u8::MAX; 4];
                bytes.iter_mut().zip(to).for_each(|(byte, to)| *byte = to.index() as u8);
                moves[number_of(p, n)][from.index()] = u32::from_le_bytes(bytes);
            }
        }
        let mut positions = [[0; WIDTH]; 4];
        for (positions, row_piece) in positions.iter_mut().zip(&index.row_pieces) {
            *positions = row_piece.digit.map(|digit| digit * row_piece.stride);
        }
        let mut captures = [Capture::zeroed(); CAPTURES as usize];
        for (number, capture) in conversions.captures.iter().enumerate() {
            captures[number] = planned(n, capture);
            let to = capture.address.as_ref().map(|address| (ClassId(address.table), address.turn));
            self.looked_up.extend(to.map(|to| ([self.sides.len(), number], to)));
        }
        self.sides.push(Side {
            lanes: halves(squares_in_play(index.lane_piece()).bits()),
            words: halves(squares_in_play(index.word_piece()).bits()),
            lane_leaps,
            dens,
            flags: flag(quiet.lane_blocks, LANE_BLOCKS)
                | flag(quiet.first_blocks, FIRST_BLOCKS)
                | flag(index.word_piece().color == color, WORD_MOVES)
                | flag(index.lane_piece().color == color, LANE_MOVES)
                | flag(lane_leaps != [[0; 2]; 4], LEAPS),
            row_pieces: index.row_pieces.len() as u32,
            first_row: member.first as u32,
            places: self.places.len() as u32,
            capture_count: conversions.captures.len() as u32,
            padding: 0,
            moves,
            positions,
            captures,
        });
    }
}

/// A capture of a class of `n` pieces, without the buffer and the first cell of the smaller class.
fn planned(n: usize, capture: &conversions::Capture) -> Capture {
    let hits = if capture.attacker < capture.victim { &capture.hits_from } else { &capture.hits_to };
    let set = |hits: &Vec<(Square, u64)>| hits.iter().map(|hit| hit.0).collect::<Bitboard>();
    let mut planned = Capture {
        hits: std::array::from_fn(|square| halves(set(&hits[square]).bits())),
        attacker: number_of(capture.attacker, n) as u32,
        victim: number_of(capture.victim, n) as u32,
        buffer: NONE,
        first: NONE,
        ..Capture::zeroed()
    };
    if let Some(address) = &capture.address {
        for (to, from) in planned.offsets.iter_mut().zip(&address.offsets) {
            for (piece, offsets) in from.iter().enumerate() {
                // A class here has at most MAX_PIECES pieces, so the class after a capture has at most five.
                let narrow = |offset| u32::try_from(offset).expect("cells of five pieces fit 32 bits");
                to[number_of(piece, n)] = offsets.map(narrow);
            }
        }
        planned.flags =
            address.lane_order().map_or(0, |ranks_turned| LANES_IN_ORDER | if ranks_turned { RANKS_TURNED } else { 0 });
        if let Some((first, mirror)) = address.first {
            (planned.first, planned.mirror) = (number_of(first, n) as u32, halves(mirror));
        }
    }
    planned
}

/// The number by which the kernels know a piece of a class of `n` pieces.
fn number_of(piece: usize, n: usize) -> usize {
    if piece < n - 2 { piece } else { WORD_PIECE as usize + piece + 2 - n }
}
