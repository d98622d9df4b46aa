//! The position of a circuit: gadgets placed on a grid, protected, and joined by corridors of land in the water.
//!
//! From the bottom up the board contains a row of START gadgets, one for each variable; then for each layer of gates a
//! band of corridors to the gates' inputs, the gates, a band that spreads their outputs, and a gadget protector on
//! every output; and at the top the black den. Black's runner has its winding path to the white den on the right.

use super::catalog;
use super::circuit::{Circuit, Gate, Wiring};
use super::gadget::Gadget;
use crate::general::{Board, GeneralPosition, Place, Terrain};
use doushouqi::board::{Animal, Color, Piece};
use std::sync::Arc;
use thiserror::Error;

/// A kind of gadget on the board.
#[expect(missing_docs, reason = "the names say it all")]
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GadgetKind {
    Start,
    And,
    Or,
    Fanout,
    Choice,
    WhiteEdge,
    BlackEdge,
    Outflow,
    Den,
}

impl GadgetKind {
    /// All kinds.
    pub const ALL: [GadgetKind; 9] = [
        GadgetKind::Start,
        GadgetKind::And,
        GadgetKind::Or,
        GadgetKind::Fanout,
        GadgetKind::Choice,
        GadgetKind::WhiteEdge,
        GadgetKind::BlackEdge,
        GadgetKind::Outflow,
        GadgetKind::Den,
    ];

    /// The name of its gadget.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            GadgetKind::Start => "START",
            GadgetKind::And => "AND",
            GadgetKind::Or => "OR",
            GadgetKind::Fanout => "FANOUT",
            GadgetKind::Choice => "CHOICE",
            GadgetKind::WhiteEdge => "WHITE EDGE PROTECTOR",
            GadgetKind::BlackEdge => "BLACK EDGE PROTECTOR",
            GadgetKind::Outflow => "OUTFLOW PROTECTOR UPRIGHT",
            GadgetKind::Den => "DEN",
        }
    }

    /// The most moves that White needs to bring a panther (or all panthers that the gadget outputs) through it,
    /// including entering and leaving: the checker's result, in moves instead of plies.
    #[must_use]
    pub const fn moves(self) -> u64 {
        match self {
            GadgetKind::Start => 4,
            GadgetKind::And | GadgetKind::Or => 17,
            GadgetKind::Fanout => 13,
            GadgetKind::Choice | GadgetKind::Den => 5,
            GadgetKind::WhiteEdge => 7,
            GadgetKind::BlackEdge => 8,
            GadgetKind::Outflow => 16,
        }
    }
}

impl From<Gate> for GadgetKind {
    fn from(gate: Gate) -> GadgetKind {
        match gate {
            Gate::Fanout => GadgetKind::Fanout,
            Gate::Choice => GadgetKind::Choice,
            Gate::Or => GadgetKind::Or,
            Gate::And => GadgetKind::And,
        }
    }
}

/// A gadget on the board.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind of gadget.
    pub kind: GadgetKind,
    /// The row of the top left square.
    pub row: usize,
    /// The column of the top left square.
    pub column: usize,
}

/// A stretch of a wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// The squares of a corridor, in upward order.
    Corridor(Vec<Place>),
    /// The index of a part of a protector.
    Part(usize),
}

/// The position of a formula.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The board with its pieces, White to move.
    pub position: GeneralPosition,
    /// The gadgets with their places.
    pub parts: Vec<Part>,
    /// The circuit that the gadgets and corridors implement.
    pub wiring: Wiring,
    /// The START part of each input wire, with its variable; variables in no clause come last.
    pub starts: Vec<(usize, usize)>,
    /// The part of each gate of the wiring.
    pub gates: Vec<usize>,
    /// The route of each wire, from an output to an input.
    pub routes: Vec<Vec<Stretch>>,
    /// The part of the black den.
    pub den: usize,
    /// The runner's squares, from its first square to the white den.
    pub run: Vec<Place>,
    /// The most moves of White's plan, without the choices of variables.
    pub plan_moves: u64,
}

/// The error of a position that cannot be built.
#[expect(missing_docs, reason = "the messages document the variants")]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    #[error("the position has more than {max} squares; a smaller formula, please", max = MAX_SQUARES)]
    TooLarge,
}

/// The most squares of a position.
pub(crate) const MAX_SQUARES: usize = 1 << 29;
/// Number of files of a wire's slot.
const SLOT: usize = 8;
/// Ranks of the tallest gate.
const GATE_RANKS: usize = 9;
/// Number of moves that Black's runner needs beyond White's plan.
const SPARE_MOVES: u64 = 32;

impl Layout {
    /// Builds the position of a circuit of a formula with `variables` variables. A protector consists of `channels`
    /// one-way channels, an outflow protector and `channels` channels again; the paper uses three.
    ///
    /// # Errors
    /// If the board would be too large.
    pub fn build(circuit: &Circuit, variables: usize, channels: usize) -> Result<Layout, LayoutError> {
        Builder::new(circuit, variables, channels)?.build()
    }

    /// Moves of the runner to the white den.
    #[must_use]
    pub fn run_moves(&self) -> u64 {
        self.run.len() as u64 - 1
    }

    /// The least number of plies by which White, who moves first, reaches the den before the runner, if every gadget
    /// takes as long as possible and Black only runs: twice the remaining moves of the runner.
    #[must_use]
    pub fn slack_plies(&self) -> i64 {
        let white = self.plan_moves + self.starts.len() as u64;
        2 * (self.run_moves() as i64 - white as i64)
    }
}

/// The growing board: ranks from the bottom, as bytes of symbols.
struct Builder {
    gadgets: Vec<Gadget>,
    wiring: Wiring,
    variables: Vec<usize>,
    inputs: usize,
    channels: usize,
    width: usize,
    ranks: Vec<Vec<u8>>,
    parts: Vec<(GadgetKind, usize, usize)>,
    starts: Vec<(usize, usize)>,
    gates: Vec<usize>,
    /// Corridor squares as (rank from the bottom, file), until the height is known.
    routes: Vec<Vec<Leg>>,
}

enum Leg {
    Corridor(Vec<(usize, usize)>),
    Part(usize),
}

impl Builder {
    fn new(circuit: &Circuit, variables: usize, channels: usize) -> Result<Builder, LayoutError> {
        let wiring = circuit.wiring();
        let unused = (0..variables).filter(|v| !circuit.inputs.contains(v));
        let all: Vec<usize> = circuit.inputs.iter().copied().chain(unused).collect();
        let gadgets = GadgetKind::ALL.map(|kind| catalog::gadget(kind.name()).expect("a gadget of the catalog")).into();
        let widest = all.len().max(widest_row(&wiring, circuit.inputs.len()));
        Ok(Builder {
            gadgets,
            gates: vec![usize::MAX; wiring.gates.len()],
            routes: (0..wiring.wires).map(|_| Vec::new()).collect(),
            wiring,
            variables: all,
            inputs: circuit.inputs.len(),
            channels,
            width: widest * SLOT + 1,
            ranks: Vec::new(),
            parts: Vec::new(),
            starts: Vec::new(),
        })
    }

    fn gadget(&self, kind: GadgetKind) -> &Gadget {
        &self.gadgets[GadgetKind::ALL.iter().position(|&k| k == kind).expect("one of all")]
    }

    /// Adds ranks of water.
    fn grow(&mut self, ranks: usize) -> Result<usize, LayoutError> {
        let bottom = self.ranks.len();
        if (bottom + ranks) * self.width > MAX_SQUARES {
            return Err(LayoutError::TooLarge);
        }
        self.ranks.resize_with(bottom + ranks, || vec![b'~'; self.width]);
        Ok(bottom)
    }

    /// Draws a gadget with its lowest rank at `bottom`. Returns the index of the part.
    fn place(&mut self, kind: GadgetKind, bottom: usize, left: usize) -> usize {
        let position = &self.gadget(kind).position;
        let board = position.board().clone();
        let symbols: Vec<u8> = board
            .places()
            .map(|p| position.piece_at(p).map_or(board.terrain(p).symbol(), Piece::letter) as u8)
            .collect();
        for (row, line) in symbols.chunks(board.width()).enumerate() {
            let rank = &mut self.ranks[bottom + board.height() - 1 - row];
            rank[left..left + line.len()].copy_from_slice(line);
        }
        self.parts.push((kind, bottom, left));
        self.parts.len() - 1
    }

    /// Adds one square of land to a wire.
    fn lay(&mut self, wire: usize, rank: usize, file: usize) {
        self.ranks[rank][file] = b'.';
        if let Some(Leg::Corridor(squares)) = self.routes[wire].last_mut() {
            squares.push((rank, file));
        } else {
            self.routes[wire].push(Leg::Corridor(vec![(rank, file)]));
        }
    }

    fn lay_up(&mut self, wire: usize, ranks: std::ops::Range<usize>, file: usize) {
        for rank in ranks {
            self.lay(wire, rank, file);
        }
    }

    fn build(mut self) -> Result<Layout, LayoutError> {
        let mut row = self.start_row()?;
        let levels = levels(&self.wiring);
        let mut files: Vec<usize> = (0..row.len()).map(slot).collect();
        for level in 1..=levels.iter().copied().max().unwrap_or(0) {
            let (next, outputs) = self.layer(&row, &files, &levels, level)?;
            row = next;
            files = (0..row.len()).map(slot).collect();
            self.protect(&row, &outputs)?;
        }
        let bottom = self.grow(4)?;
        let den = self.place(GadgetKind::Den, bottom, slot(0) - 2);
        self.grow(1)?;
        self.finish(den)
    }

    /// Adds the START gadgets and their protectors. Returns the row of wires.
    fn start_row(&mut self) -> Result<Vec<usize>, LayoutError> {
        self.grow(1)?;
        let bottom = self.grow(5)?;
        for i in 0..self.variables.len() {
            let part = self.place(GadgetKind::Start, bottom, slot(i) - 2);
            self.starts.push((part, self.variables[i]));
        }
        let row: Vec<usize> = (0..self.inputs).collect();
        // A rank of water, or of corridor, above the outputs.
        self.grow(1)?;
        for &wire in &row {
            self.lay(wire, bottom + 5, slot(wire));
        }
        self.protect(&row, &row)?;
        Ok(row)
    }

    /// Adds one layer of gates between two bands. Returns the row of wires after it, and the outputs among them.
    fn layer(
        &mut self,
        row: &[usize],
        files: &[usize],
        levels: &[usize],
        level: usize,
    ) -> Result<(Vec<usize>, Vec<usize>), LayoutError> {
        let mut to = files.to_vec();
        // For each gate its leftmost wire in the row.
        let mut here: Vec<(usize, usize)> = Vec::new();
        for (gate, wired) in self.wiring.gates.iter().enumerate() {
            if levels[gate] == level {
                here.push((row.iter().position(|&w| w == wired.inputs[0]).expect("a wire of the row"), gate));
            }
        }
        here.sort_unstable();
        let left_of = |kind: GadgetKind, first: usize| match kind {
            GadgetKind::And | GadgetKind::Or => slot(first) + SLOT / 2 - 2,
            GadgetKind::Fanout => slot(first) - 3,
            _ => slot(first) - 2,
        };
        for &(first, gate) in &here {
            if self.wiring.gates[gate].inputs.len() == 2 {
                let left = left_of(self.wiring.gates[gate].gate.into(), first);
                (to[first], to[first + 1]) = (left + 1, left + 3);
            }
        }
        let wires: Vec<(usize, usize, usize)> =
            row.iter().zip(files).zip(&to).map(|((&wire, &from), &to)| (wire, from, to)).collect();
        self.band(&wires)?;
        let bottom = self.grow(GATE_RANKS)?;
        let (mut next, mut outputs, mut from) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
        while at < row.len() {
            let Some(&(_, gate)) = here.iter().find(|(first, _)| *first == at) else {
                self.lay_up(row[at], bottom..bottom + GATE_RANKS, to[at]);
                next.push(row[at]);
                from.push(to[at]);
                at += 1;
                continue;
            };
            let wired = self.wiring.gates[gate].clone();
            let kind = GadgetKind::from(wired.gate);
            let left = left_of(kind, at);
            self.gates[gate] = self.place(kind, bottom, left);
            let (height, doors) = self.outputs_of(kind);
            for (&wire, door) in wired.outputs.iter().zip(doors) {
                self.lay_up(wire, bottom + height..bottom + GATE_RANKS, left + door);
                next.push(wire);
                from.push(left + door);
                outputs.push(wire);
            }
            at += wired.inputs.len();
        }
        let wires: Vec<_> =
            next.iter().zip(&from).enumerate().map(|(i, (&wire, &from))| (wire, from, slot(i))).collect();
        self.band(&wires)?;
        Ok((next, outputs))
    }

    /// The number of ranks of a gate, and the files of its outputs.
    fn outputs_of(&self, kind: GadgetKind) -> (usize, Vec<usize>) {
        let gadget = self.gadget(kind);
        let board = gadget.position.board();
        let outputs = gadget.entrances.iter().filter(|e| !e.input_only);
        (board.height(), outputs.map(|e| board.row_column(e.place).1).collect())
    }

    /// Adds corridors between files, given as (wire, from, to) in ascending order of both. Of two corridors that would
    /// meet, both to the right, the right one turns higher, and the mirror image for corridors to the left.
    fn band(&mut self, wires: &[(usize, usize, usize)]) -> Result<(), LayoutError> {
        let mut track = vec![0usize; wires.len()];
        for i in (0..wires.len()).rev() {
            let (_, from, to) = wires[i];
            let meets = |j: &usize| wires[*j].2 > wires[*j].1 && to + 2 > wires[*j].1;
            if to > from {
                track[i] = (i + 1..wires.len()).filter(meets).map(|j| track[j] + 1).max().unwrap_or(0);
            }
        }
        for i in 0..wires.len() {
            let (_, from, to) = wires[i];
            let meets = |j: &usize| wires[*j].2 < wires[*j].1 && wires[*j].1 + 2 > to;
            if to < from {
                track[i] = (0..i).filter(meets).map(|j| track[j] + 1).max().unwrap_or(0);
            }
        }
        let ranks = 3 + 2 * track.iter().copied().max().unwrap_or(0);
        let bottom = self.grow(ranks)?;
        for (&(wire, from, to), track) in wires.iter().zip(track) {
            let turn = bottom + 1 + 2 * track;
            self.lay_up(wire, bottom..turn, from);
            let mut file = from;
            self.lay(wire, turn, file);
            while file != to {
                file = if file < to { file + 1 } else { file - 1 };
                self.lay(wire, turn, file);
            }
            self.lay_up(wire, turn + 1..bottom + ranks, to);
        }
        Ok(())
    }

    /// Adds a gadget protector on each of `outputs`, and corridors for the other wires of the row.
    fn protect(&mut self, row: &[usize], outputs: &[usize]) -> Result<(), LayoutError> {
        use GadgetKind::{BlackEdge, Outflow, WhiteEdge};
        let channel = [WhiteEdge, WhiteEdge, BlackEdge, WhiteEdge, WhiteEdge];
        let channels: Vec<GadgetKind> = channel.into_iter().cycle().take(5 * self.channels).collect();
        let kinds: Vec<GadgetKind> =
            channels.iter().copied().chain([Outflow]).chain(channels.iter().copied()).collect();
        let mut heights = Vec::new();
        for &kind in &kinds {
            heights.push(self.gadget(kind).position.board().height());
        }
        let ranks = heights.iter().sum::<usize>();
        // A rank of corridor above it, where a panther waits.
        let bottom = self.grow(ranks + 1)?;
        for (i, &wire) in row.iter().enumerate() {
            if outputs.contains(&wire) {
                let mut rank = bottom;
                for (&kind, height) in kinds.iter().zip(&heights) {
                    let half = if kind == BlackEdge { 3 } else { 2 };
                    let part = self.place(kind, rank, slot(i) - half);
                    self.routes[wire].push(Leg::Part(part));
                    rank += height;
                }
                self.lay(wire, rank, slot(i));
            } else {
                self.lay_up(wire, bottom..bottom + ranks + 1, slot(i));
            }
        }
        Ok(())
    }

    /// The most moves of White's plan, which passes every part and every corridor once.
    fn plan_moves(&self) -> u64 {
        let parts: u64 = self.parts.iter().map(|(kind, ..)| kind.moves()).sum();
        let corridors = self.routes.iter().flatten().map(|leg| match leg {
            Leg::Corridor(squares) => squares.len() as u64,
            Leg::Part(_) => 0,
        });
        parts + corridors.sum::<u64>()
    }

    /// Adds the runner's path and builds the position.
    fn finish(mut self, den: usize) -> Result<Layout, LayoutError> {
        let height = self.ranks.len();
        let plan_moves = self.plan_moves();
        let moves = plan_moves + self.variables.len() as u64 + SPARE_MOVES;
        // The path goes up one file and down the next but one, with a file of water between.
        let columns = (moves as usize + 1).div_ceil(height - 2 + 1).max(1);
        let left = self.width + 1;
        let width = left + 2 * columns;
        if width * height > MAX_SQUARES {
            return Err(LayoutError::TooLarge);
        }
        for rank in &mut self.ranks {
            rank.resize(width, b'~');
        }
        let mut run = Vec::new();
        for column in 0..columns {
            let file = left + 2 * column;
            let up: Vec<usize> = (1..height - 1).collect();
            let ranks: Vec<usize> = if column % 2 == 0 { up } else { up.into_iter().rev().collect() };
            run.extend(ranks.iter().map(|&rank| (rank, file)));
            if let (Some(&last), true) = (ranks.last(), column + 1 < columns) {
                run.push((last, file + 1));
            }
        }
        run.truncate(moves as usize + 1);
        for &(rank, file) in &run {
            self.ranks[rank][file] = b'.';
        }
        let place = |(rank, file): (usize, usize)| Place::new((height - 1 - rank) * width + file);
        let (first, last) = (run[0], run[run.len() - 1]);
        self.ranks[last.0][last.1] = b'#';
        let runner = Piece { color: Color::Black, animal: Animal::Elephant };
        self.ranks[first.0][first.1] = runner.letter() as u8;
        let symbols = self.ranks.iter().rev().flatten().map(|&byte| char::from(byte));
        let (mut terrain, mut squares) = (Vec::with_capacity(width * height), Vec::with_capacity(width * height));
        for symbol in symbols {
            let piece = Piece::from_letter(symbol);
            terrain.push(Terrain::from_symbol(symbol).unwrap_or(Terrain::Land));
            squares.push(piece);
        }
        let position = GeneralPosition::new(Arc::new(Board::new(width, terrain)), squares, Color::White);
        let parts: Vec<Part> = self
            .parts
            .iter()
            .map(|&(kind, bottom, column)| {
                let ranks = self.gadget(kind).position.board().height();
                Part { kind, row: height - bottom - ranks, column }
            })
            .collect();
        let routes = self.routes.into_iter().map(|legs| {
            let stretch = |leg| match leg {
                Leg::Corridor(squares) => Stretch::Corridor(squares.into_iter().map(place).collect()),
                Leg::Part(part) => Stretch::Part(part),
            };
            legs.into_iter().map(stretch).collect()
        });
        Ok(Layout {
            position,
            parts,
            routes: routes.collect(),
            wiring: self.wiring,
            starts: self.starts,
            gates: self.gates,
            den,
            run: run.into_iter().map(place).collect(),
            plan_moves,
        })
    }
}

/// The layer of each gate: one more than the highest layer of the gates before it.
fn levels(wiring: &Wiring) -> Vec<usize> {
    let mut of_wire = vec![0; wiring.wires];
    let mut levels = Vec::new();
    for gate in &wiring.gates {
        let level = 1 + gate.inputs.iter().map(|&w| of_wire[w]).max().unwrap_or(0);
        gate.outputs.iter().for_each(|&w| of_wire[w] = level);
        levels.push(level);
    }
    levels
}

/// The most wires between two layers.
fn widest_row(wiring: &Wiring, inputs: usize) -> usize {
    let levels = levels(wiring);
    let mut change = vec![0i64; levels.iter().copied().max().unwrap_or(0) + 1];
    for (gate, level) in wiring.gates.iter().zip(levels) {
        change[level] += gate.outputs.len() as i64 - gate.inputs.len() as i64;
    }
    let rows = change.iter().scan(inputs as i64, |row, change| {
        *row += change;
        Some(*row)
    });
    rows.max().unwrap_or(0) as usize
}

/// The file of a wire's slot.
fn slot(index: usize) -> usize {
    SLOT * index + SLOT / 2
}
