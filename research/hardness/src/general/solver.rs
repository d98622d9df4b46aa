//! Exact values of every reachable position on a small board, by retrograde analysis.
//!
//! Positions are packed into words: for each piece, in the order of kinds, its square or that it was captured, then the
//! side to move. Pieces of the same kind are sorted, so that exchanging them changes nothing. The solver first finds
//! all reachable positions with their numbers of moves; then it propagates values backward over retracted moves, by
//! increasing distance.

use super::{GeneralPosition, Place, Terrain, may_capture};
use doushouqi::board::{Animal, Color, Direction, NoMove, Piece, RuleOptions};
use std::sync::Arc;
use thiserror::Error;

/// The most pieces of a position that can be solved.
const MAX_PIECES: usize = 16;
const NONE: u32 = u32::MAX;
/// Bytes for each position: key, two places in the hash table while it grows, counters, queue.
const BYTES_PER_STATE: u64 = 36;

/// The error of a position that cannot be solved.
#[expect(missing_docs, reason = "the messages document the variants")]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GeneralSolveError {
    #[error("{pieces} pieces on {squares} squares are too many to be numbered in 64 bits: too large to be solved")]
    TooManyPieces { pieces: usize, squares: usize },
    #[error(
        "more than {states} positions can be reached, which is all that {mebibytes} MiB hold: too large to be solved"
    )]
    TooLarge { states: u64, mebibytes: u64 },
    #[error("the positions to solve differ in board or pieces")]
    Mixed,
}

/// The value of a position for the side to move, under best play of both sides.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum GeneralValue {
    /// Won in this many plies; 0 if the game is over.
    Win(u32),
    /// Neither side can force a win.
    Draw,
    /// Lost in this many plies; 0 if the game is over.
    Loss(u32),
}

/// The number of positions by value.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct GeneralCounts {
    /// All reachable positions.
    pub positions: u64,
    /// Positions that White wins.
    pub white: u64,
    /// Drawn positions.
    pub draws: u64,
    /// Positions that Black wins.
    pub black: u64,
    /// The longest distance of a win, in plies.
    pub longest: u32,
}

/// The values of all positions reachable from given ones.
pub struct Solution {
    packing: Packing,
    keys: Keys,
    /// Plies to the end plus 1; 0 for a draw. Odd plies are a win for the side to move.
    plies: Vec<u16>,
}

/// Solves all positions reachable from `starts`, which must share a board and pieces, in at most `mebibytes` MiB.
///
/// # Errors
/// If there are too many pieces or positions, or the starts differ in board or pieces.
///
/// ```
/// use doushouqi::board::RuleOptions;
/// use hardness::general::{GeneralPosition, GeneralValue, solve};
/// let position = GeneralPosition::parse(".%e\n...\n.R.\n...\n.#.\n").unwrap();
/// let solution = solve(&[position.clone()], &RuleOptions::PAPER, 64).unwrap();
/// assert_eq!(solution.value(&position), Some(GeneralValue::Win(3)));
/// ```
pub fn solve(starts: &[GeneralPosition], rules: &RuleOptions, mebibytes: u64) -> Result<Solution, GeneralSolveError> {
    let first = starts.first().ok_or(GeneralSolveError::Mixed)?;
    let packing = Packing::of(first)?;
    let bound = (mebibytes << 20) / BYTES_PER_STATE;
    let mut keys = Keys::new();
    for start in starts {
        keys.insert(packing.pack(start).ok_or(GeneralSolveError::Mixed)?);
    }
    let mut solver = Work { packing: &packing, rules: *rules, scratch: first.clone(), moves: Vec::new() };
    let too_large = || GeneralSolveError::TooLarge { states: bound, mebibytes };
    let mut plies = Vec::new();
    let mut open = Vec::new();
    let mut done = 0;
    while done < keys.all.len() {
        let (count, lost) = solver.expand(keys.all[done], &mut |key| _ = keys.insert(key));
        open.push(count);
        plies.push(u16::from(lost));
        if keys.all.len() as u64 > bound.min(u64::from(NONE) - 1) {
            return Err(too_large());
        }
        done += 1;
    }
    let mut queue: Vec<u32> = (0..keys.all.len()).filter(|&i| plies[i] == 1).map(|i| i as u32).collect();
    let mut next = 0;
    while next < queue.len() {
        let (key, value) = (keys.all[queue[next] as usize], plies[queue[next] as usize]);
        next += 1;
        let lost = value % 2 == 1;
        solver.retract(key, &mut |before| {
            let Some(before) = keys.find(before).filter(|&b| plies[b] == 0) else { return };
            open[before] -= 1;
            if lost || open[before] == 0 {
                plies[before] = value.saturating_add(1);
                queue.push(before as u32);
            }
        });
    }
    Ok(Solution { packing, keys, plies })
}

impl Solution {
    /// The value of a position; `None` if it was not reached.
    #[must_use]
    pub fn value(&self, position: &GeneralPosition) -> Option<GeneralValue> {
        let index = self.keys.find(self.packing.pack(position)?)?;
        match position.winner() {
            // Only a position that no game leads to is won for the side to move.
            Some(winner) if winner == position.turn() => Some(GeneralValue::Win(0)),
            _ => Some(self.value_of(index)),
        }
    }

    fn value_of(&self, index: usize) -> GeneralValue {
        match self.plies[index] {
            0 => GeneralValue::Draw,
            n if n % 2 == 0 => GeneralValue::Win(u32::from(n) - 1),
            n => GeneralValue::Loss(u32::from(n) - 1),
        }
    }

    /// Number of positions reached.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.all.len()
    }

    /// Always false: the starts are reached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.all.is_empty()
    }

    /// The number of positions by value, with `turn` to move.
    #[must_use]
    pub fn counts(&self, turn: Color) -> GeneralCounts {
        let mut counts = GeneralCounts::default();
        for index in 0..self.len() {
            if turn_of(self.keys.all[index]) != turn {
                continue;
            }
            counts.positions += 1;
            let winner = match self.value_of(index) {
                GeneralValue::Draw => None,
                GeneralValue::Win(n) => Some((turn, n)),
                GeneralValue::Loss(n) => Some((!turn, n)),
            };
            match winner {
                None => counts.draws += 1,
                Some((Color::White, _)) => counts.white += 1,
                Some((Color::Black, _)) => counts.black += 1,
            }
            counts.longest = counts.longest.max(winner.map_or(0, |w| w.1));
        }
        counts
    }
}

fn turn_of(key: u64) -> Color {
    if key & 1 == 0 { Color::White } else { Color::Black }
}

/// Packs positions of one material on one board into words.
struct Packing {
    board: Arc<super::Board>,
    kinds: Vec<Piece>,
    cells: Vec<Place>,
    cell_of: Vec<u16>,
    bits: u32,
}

impl Packing {
    fn of(position: &GeneralPosition) -> Result<Packing, GeneralSolveError> {
        let board = position.board().clone();
        let mut kinds: Vec<Piece> = position.pieces().map(|(piece, _)| piece).collect();
        kinds.sort_by_key(|p| (p.color, p.animal));
        let swims = kinds.iter().any(|p| p.animal.swims());
        let cells: Vec<Place> = board.places().filter(|&p| swims || board.terrain(p) != Terrain::Water).collect();
        let bits = (cells.len() + 1).next_power_of_two().trailing_zeros();
        if kinds.len() > MAX_PIECES || kinds.len() as u32 * bits + 1 > 64 {
            return Err(GeneralSolveError::TooManyPieces { pieces: kinds.len(), squares: cells.len() });
        }
        let mut cell_of = vec![u16::MAX; board.len()];
        for (i, place) in cells.iter().enumerate() {
            cell_of[place.index()] = i as u16;
        }
        Ok(Packing { board, kinds, cells, cell_of, bits })
    }

    /// The number of a captured piece.
    fn taken(&self) -> u16 {
        self.cells.len() as u16
    }

    fn pack(&self, position: &GeneralPosition) -> Option<u64> {
        if **position.board() != *self.board {
            return None;
        }
        let mut cells = [self.taken(); MAX_PIECES];
        let mut used = [false; MAX_PIECES];
        for (piece, place) in position.pieces() {
            let index = (0..self.kinds.len()).find(|&i| self.kinds[i] == piece && !used[i])?;
            used[index] = true;
            cells[index] = self.cell_of[place.index()];
        }
        Some(self.word(&mut cells, position.turn()))
    }

    /// Sorts the pieces of each kind and packs the position.
    fn word(&self, cells: &mut [u16; MAX_PIECES], turn: Color) -> u64 {
        for i in 1..self.kinds.len() {
            let mut j = i;
            while j > 0 && self.kinds[j - 1] == self.kinds[j] && cells[j - 1] > cells[j] {
                cells.swap(j - 1, j);
                j -= 1;
            }
        }
        let key = cells[..self.kinds.len()].iter().fold(0, |key, &cell| key << self.bits | u64::from(cell));
        key << 1 | turn as u64
    }

    fn unpack(&self, key: u64) -> [u16; MAX_PIECES] {
        let mut cells = [self.taken(); MAX_PIECES];
        let mut rest = key >> 1;
        for i in (0..self.kinds.len()).rev() {
            cells[i] = (rest & ((1 << self.bits) - 1)) as u16;
            rest >>= self.bits;
        }
        cells
    }
}

/// Moves forward and backward on packed positions.
struct Work<'a> {
    packing: &'a Packing,
    rules: RuleOptions,
    scratch: GeneralPosition,
    moves: Vec<super::GeneralMove>,
}

impl Work<'_> {
    /// Puts the pieces of a key on the scratch board.
    fn set(&mut self, key: u64) -> [u16; MAX_PIECES] {
        let cells = self.packing.unpack(key);
        let packing = self.packing;
        let pieces = packing.kinds.iter().zip(cells).filter(|(_, cell)| *cell != packing.taken());
        self.scratch.set(pieces.map(|(&piece, cell)| (piece, packing.cells[usize::from(cell)])), turn_of(key));
        cells
    }

    /// Calls `f` with every position after a move. Returns the number of moves, and whether the side to move has lost.
    fn expand(&mut self, key: u64, f: &mut impl FnMut(u64)) -> (u16, bool) {
        let cells = self.set(key);
        let turn = turn_of(key);
        if let Some(winner) = self.scratch.winner() {
            return (0, winner != turn);
        }
        let packing = self.packing;
        let mut moves = std::mem::take(&mut self.moves);
        let mut count = 0;
        for i in 0..packing.kinds.len() {
            if packing.kinds[i].color != turn || cells[i] == packing.taken() {
                continue;
            }
            moves.clear();
            self.scratch.moves_from(packing.cells[usize::from(cells[i])], &self.rules, &mut moves);
            count += moves.len();
            for mv in &moves {
                let to = packing.cell_of[mv.to.index()];
                let mut after = cells;
                if let Some(victim) = (0..packing.kinds.len()).find(|&j| cells[j] == to) {
                    after[victim] = packing.taken();
                }
                after[i] = to;
                f(packing.word(&mut after, !turn));
            }
        }
        self.moves = moves;
        (count as u16, count == 0 && self.rules.no_move == NoMove::Loss)
    }

    /// Calls `f` with every position from which a legal move leads to this one, and with some unreachable ones.
    fn retract(&mut self, key: u64, f: &mut impl FnMut(u64)) {
        let cells = self.set(key);
        let mover = !turn_of(key);
        let packing = self.packing;
        for i in 0..packing.kinds.len() {
            let piece = packing.kinds[i];
            if piece.color != mover || cells[i] == packing.taken() {
                continue;
            }
            let to = packing.cells[usize::from(cells[i])];
            for direction in Direction::ALL {
                // Steps and leaps are reversible.
                let Some(from) = self.scratch.destination(piece, to, direction, &self.rules) else { continue };
                if self.scratch.piece_at(from).is_some() || !self.may_stand(piece, from) {
                    continue;
                }
                let mut before = cells;
                before[i] = packing.cell_of[from.index()];
                f(packing.word(&mut before.clone(), mover));
                for victim in 0..packing.kinds.len() {
                    let kind = packing.kinds[victim];
                    let again = victim > 0 && packing.kinds[victim - 1] == kind && cells[victim - 1] == packing.taken();
                    if kind.color == mover || cells[victim] != packing.taken() || again || !self.may_stand(kind, to) {
                        continue;
                    }
                    if may_capture(&packing.board, piece, from, kind.animal, to, &self.rules) {
                        let mut before = before;
                        before[victim] = cells[i];
                        f(packing.word(&mut before, mover));
                    }
                }
            }
        }
    }

    /// Whether a piece may stand on a square while the game is not over.
    fn may_stand(&self, piece: Piece, place: Place) -> bool {
        match self.packing.board.terrain(place) {
            Terrain::Water => piece.animal == Animal::Rat,
            Terrain::Den(_) => false,
            _ => true,
        }
    }
}

/// A set of words, numbered in the order of insertion.
struct Keys {
    all: Vec<u64>,
    slots: Vec<u32>,
}

impl Keys {
    fn new() -> Keys {
        Keys { all: Vec::new(), slots: vec![NONE; 1 << 10] }
    }

    fn find(&self, key: u64) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut slot = mix(key) as usize & mask;
        while self.slots[slot] != NONE {
            let index = self.slots[slot] as usize;
            if self.all[index] == key {
                return Some(index);
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    fn insert(&mut self, key: u64) -> usize {
        if let Some(index) = self.find(key) {
            return index;
        }
        if (self.all.len() + 1) * 3 > self.slots.len() * 2 {
            self.slots = vec![NONE; self.slots.len() * 2];
            for index in 0..self.all.len() {
                self.put(index);
            }
        }
        self.all.push(key);
        self.put(self.all.len() - 1);
        self.all.len() - 1
    }

    fn put(&mut self, index: usize) {
        let mask = self.slots.len() - 1;
        let mut slot = mix(self.all[index]) as usize & mask;
        while self.slots[slot] != NONE {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = index as u32;
    }
}

/// Mixes the bits of a word (the finalizer of SplitMix64).
pub(crate) fn mix(key: u64) -> u64 {
    let mut x = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// All placements of these pieces on `board` with either side to move in which the game is not over.
#[must_use]
pub fn placements(board: &Arc<super::Board>, pieces: &[Piece]) -> Vec<GeneralPosition> {
    let mut all = Vec::new();
    let mut squares = vec![None; board.len()];
    place_rest(board, pieces, &mut squares, &mut all);
    all
}

fn place_rest(
    board: &Arc<super::Board>,
    pieces: &[Piece],
    squares: &mut Vec<Option<Piece>>,
    all: &mut Vec<GeneralPosition>,
) {
    let Some((&piece, rest)) = pieces.split_first() else {
        all.extend(Color::ALL.map(|turn| GeneralPosition::new(board.clone(), squares.clone(), turn)));
        return;
    };
    for place in board.places() {
        let stands = match board.terrain(place) {
            Terrain::Water => piece.animal.swims(),
            Terrain::Den(_) => false,
            _ => true,
        };
        if stands && squares[place.index()].is_none() {
            squares[place.index()] = Some(piece);
            place_rest(board, rest, squares, all);
            squares[place.index()] = None;
        }
    }
}
