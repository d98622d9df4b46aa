//! The reachability game that decides a claim about a gadget.
//!
//! A state consists of the pieces inside, the numbers of the sender's pieces that wait at each entrance and have left
//! by each, and the side to move. Either side moves a piece inside, or passes, because it has moves elsewhere. The
//! sender's side may also move a waiting piece onto its entrance, if that is empty or holds a piece that it may
//! capture, and take a piece out that stands on an exit. Captured pieces are gone.
//!
//! With `any-cats` White's cats are left out and Black keeps off White's traps. What Black prevents in this game, Black
//! prevents against any number of cats wherever they come from: a cat captures a black dog, panther or elephant only on
//! a trap, a cat does not block them (they capture it instead), and cats can only block White's other pieces.
//!
//! With `unlimited` a piece that enters is replaced outside, and the numbers of a claim limit how many of the sender's
//! pieces may be inside at once; reaching the limit counts as reaching the target. A target that is prevented in this
//! game is prevented against any number of pieces, since the limit is never reached.
//!
//! With `unharmed` the game is over, and the target missed, when the sender's side loses a piece of the sender's kind.
//!
//! With `steady-cats` White's cats move only to capture, which leaves fewer states. What White forces in this game,
//! White forces in the full game.

use super::attractor::ReachabilityGame;
use super::gadget::{Claim, Gadget, GadgetError};
use crate::general::{Board, GeneralMove, Place, Terrain, may_capture};
use doushouqi::board::{Animal, Color, Direction, Piece, RuleOptions};

/// The most pieces of a game.
const MAX_PIECES: usize = 8;
const MAX_DOORS: usize = 4;
/// The cell number of a piece that is not inside.
const ABSENT: u8 = 63;
const NOBODY: u8 = u8::MAX;
const WHITE_CAT: Piece = Piece { color: Color::White, animal: Animal::Cat };

/// A state, unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// The cell of each piece; pieces of the same kind are sorted.
    pub cells: [u8; MAX_PIECES],
    /// The number of pieces that wait outside each entrance.
    pub waiting: [u8; MAX_DOORS],
    /// The number of pieces that have left by each entrance.
    pub left: [u8; MAX_DOORS],
    /// The side to move.
    pub turn: Color,
}

/// An action of one side.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A move elsewhere on the board.
    Pass,
    /// A move inside the gadget.
    Move(GeneralMove),
    /// A waiting piece enters by this entrance.
    Enter(usize),
    /// A piece leaves by this entrance.
    Leave(usize),
}

/// The game of one claim.
pub(crate) struct GadgetGame {
    board: std::sync::Arc<Board>,
    cells: Vec<Place>,
    neighbours: Vec<Vec<u8>>,
    kinds: Vec<Piece>,
    /// Consecutive pieces of one kind.
    groups: Vec<std::ops::Range<usize>>,
    sender: Piece,
    doors: Vec<u8>,
    may_leave: Vec<bool>,
    takes: Vec<bool>,
    /// By side, the cells that it must not enter: its own den, and traps that Black keeps off.
    shunned: [Vec<bool>; 2],
    round_trip: bool,
    unlimited: bool,
    unharmed: bool,
    steady_cats: bool,
    target: Vec<usize>,
    start: State,
}

impl GadgetGame {
    /// The game of a claim, which starts with the claim's pieces outside.
    ///
    /// # Errors
    /// If the gadget has more than 62 squares, 8 pieces or 4 entrances.
    pub(crate) fn new(gadget: &Gadget, claim: &Claim) -> Result<GadgetGame, GadgetError> {
        let too_large = |reason: String| GadgetError::TooLarge { reason };
        let board = gadget.position.board().clone();
        let cells: Vec<Place> = board.places().filter(|&p| board.terrain(p) != Terrain::Water).collect();
        if cells.len() >= usize::from(ABSENT) {
            return Err(too_large(format!("{} squares of land, at most 62", cells.len())));
        }
        if gadget.entrances.len() > MAX_DOORS {
            return Err(too_large(format!("{} entrances, at most {MAX_DOORS}", gadget.entrances.len())));
        }
        let cell = |place: Place| cells.iter().position(|&c| c == place).expect("a land square") as u8;
        let waiting: usize = claim.waiting.iter().sum();
        let counted = gadget.position.pieces().filter(|(piece, _)| !(claim.any_cats && *piece == WHITE_CAT));
        let inside = counted.map(|(piece, place)| (piece, cell(place)));
        let outside = (0..waiting).map(|_| (claim.sender, ABSENT));
        let mut placed: Vec<(Piece, u8)> = inside.chain(outside).collect();
        placed.sort_by_key(|(piece, cell)| (piece.color, piece.animal, *cell));
        if placed.len() > MAX_PIECES {
            return Err(too_large(format!("{} pieces, at most {MAX_PIECES}", placed.len())));
        }
        let kinds: Vec<Piece> = placed.iter().map(|(piece, _)| *piece).collect();
        let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
        for i in 0..kinds.len() {
            match groups.last_mut() {
                Some(group) if kinds[group.start] == kinds[i] => group.end = i + 1,
                _ => groups.push(i..i + 1),
            }
        }
        let mut start = State {
            cells: [ABSENT; MAX_PIECES],
            waiting: [0; MAX_DOORS],
            left: [0; MAX_DOORS],
            turn: if claim.other_first { !claim.sender.color } else { claim.sender.color },
        };
        placed.iter().enumerate().for_each(|(i, &(_, cell))| start.cells[i] = cell);
        // An unlimited supply is represented by one piece that is always waiting.
        let supply = |n: usize| if claim.unlimited { n.min(1) } else { n };
        claim.waiting.iter().enumerate().for_each(|(i, &n)| start.waiting[i] = supply(n) as u8);
        let neighbours = cells
            .iter()
            .map(|&p| {
                let next = Direction::ALL.into_iter().filter_map(|d| board.neighbour(p, d));
                next.filter(|&p| board.terrain(p) != Terrain::Water).map(cell).collect()
            })
            .collect();
        let exits = gadget.entrances.iter().zip(&claim.waiting);
        let may_leave = exits.map(|(e, &n)| (n == 0 || claim.round_trip) && !e.input_only).collect();
        let shunned = Color::ALL.map(|color| {
            let off = |&c: &Place| match board.terrain(c) {
                Terrain::Den(owner) => owner == color,
                Terrain::Trap(Color::White) => claim.any_cats && color == Color::Black,
                _ => false,
            };
            cells.iter().map(off).collect()
        });
        let doors = gadget.entrances.iter().map(|e| cell(e.place)).collect();
        let takes = takes_table(&board, &cells);
        Ok(GadgetGame {
            board,
            cells,
            neighbours,
            kinds,
            groups,
            sender: claim.sender,
            doors,
            may_leave,
            takes,
            shunned,
            round_trip: claim.round_trip,
            unlimited: claim.unlimited,
            unharmed: claim.unharmed,
            steady_cats: claim.steady_cats,
            target: claim.target.clone(),
            start,
        })
    }

    /// The initial state.
    #[must_use]
    pub(crate) fn start(&self) -> State {
        self.start
    }

    /// The state with the pieces on the gadget's squares, without pieces that do not belong to this game.
    pub(crate) fn state(
        &self,
        piece_at: impl Fn(Place) -> Option<Piece>,
        waiting: [u8; 4],
        left: [u8; 4],
        turn: Color,
    ) -> State {
        let mut state = State { cells: [ABSENT; MAX_PIECES], waiting, left, turn };
        for (cell, &place) in self.cells.iter().enumerate() {
            let Some(piece) = piece_at(place) else { continue };
            if let Some(index) = (0..self.kinds.len()).find(|&i| self.kinds[i] == piece && state.cells[i] == ABSENT) {
                state.cells[index] = cell as u8;
            }
        }
        self.sort(&mut state);
        state
    }

    /// The square of an entrance.
    #[must_use]
    pub(crate) fn door(&self, door: usize) -> Place {
        self.cells[usize::from(self.doors[door])]
    }

    /// Packs a state: six bits for each piece, two for each counter, one for the side to move.
    #[must_use]
    pub(crate) fn pack(&self, state: &State) -> u64 {
        let mut key = 0;
        for &cell in &state.cells[..self.kinds.len()] {
            key = key << 6 | u64::from(cell);
        }
        for i in 0..self.doors.len() {
            key = key << 4 | u64::from(state.waiting[i] << 2 | state.left[i]);
        }
        key << 1 | state.turn as u64
    }

    /// Unpacks a state.
    #[must_use]
    pub(crate) fn unpack(&self, mut key: u64) -> State {
        let turn = if key & 1 == 0 { Color::White } else { Color::Black };
        key >>= 1;
        let mut state = State { cells: [ABSENT; MAX_PIECES], waiting: [0; MAX_DOORS], left: [0; MAX_DOORS], turn };
        for i in (0..self.doors.len()).rev() {
            (state.waiting[i], state.left[i]) = ((key >> 2 & 3) as u8, (key & 3) as u8);
            key >>= 4;
        }
        for i in (0..self.kinds.len()).rev() {
            state.cells[i] = (key & 63) as u8;
            key >>= 6;
        }
        state
    }

    /// Calls `f` with every action and the state after it.
    pub(crate) fn actions(&self, state: &State, mut f: impl FnMut(Action, State)) {
        let mut next = *state;
        next.turn = !state.turn;
        f(Action::Pass, next);
        let mut piece_on = [NOBODY; 64];
        for i in 0..self.kinds.len() {
            if state.cells[i] != ABSENT {
                piece_on[usize::from(state.cells[i])] = i as u8;
            }
        }
        for i in 0..self.kinds.len() {
            let (kind, from) = (self.kinds[i], state.cells[i]);
            if from == ABSENT || kind.color != state.turn {
                continue;
            }
            let steady = self.steady_cats && kind == WHITE_CAT;
            for &to in &self.neighbours[usize::from(from)] {
                if steady && piece_on[usize::from(to)] == NOBODY {
                    continue;
                }
                if let Some(mut next) = self.step(state, &piece_on, kind, from, to) {
                    next.cells[i] = to;
                    self.sort(&mut next);
                    let (from, to) = (self.cells[usize::from(from)], self.cells[usize::from(to)]);
                    f(Action::Move(GeneralMove { from, to }), next);
                }
            }
        }
        if state.turn == self.sender.color {
            self.through_doors(state, &piece_on, f);
        }
    }

    fn through_doors(&self, state: &State, piece_on: &[u8; 64], mut f: impl FnMut(Action, State)) {
        for (door, &cell) in self.doors.iter().enumerate() {
            if state.waiting[door] > 0
                && let Some(mut next) = self.step(state, piece_on, self.sender, cell, cell)
            {
                let absent = (0..self.kinds.len()).find(|&i| self.kinds[i] == self.sender && next.cells[i] == ABSENT);
                next.cells[absent.expect("a piece that waits")] = cell;
                next.waiting[door] -= u8::from(!self.unlimited);
                self.sort(&mut next);
                f(Action::Enter(door), next);
            }
            let index = piece_on[usize::from(cell)];
            if self.may_leave[door] && index != NOBODY && self.kinds[usize::from(index)] == self.sender {
                let mut next = *state;
                next.turn = !state.turn;
                next.cells[usize::from(index)] = ABSENT;
                next.left[door] = (next.left[door] + 1).min(3);
                if self.round_trip {
                    // A piece that leaves where it entered counts only after it was on the other side.
                    if self.start.waiting[door] > 0 {
                        let was_through =
                            (0..self.doors.len()).any(|d| self.start.waiting[d] == 0 && state.left[d] > 0);
                        next.left[door] = u8::from(was_through);
                    }
                    next.waiting[door] += 1;
                }
                self.sort(&mut next);
                f(Action::Leave(door), next);
            }
        }
    }

    /// The state after a piece `kind` moves from `from` to `to`; `None` if it may not go there.
    fn step(&self, state: &State, piece_on: &[u8; 64], kind: Piece, from: u8, to: u8) -> Option<State> {
        if self.shunned[kind.color as usize][usize::from(to)] {
            return None;
        }
        let mut next = *state;
        next.turn = !state.turn;
        let victim = piece_on[usize::from(to)];
        if victim != NOBODY {
            let prey = self.kinds[usize::from(victim)];
            let trap = usize::from(to) * 128 + code(kind) * 8 + prey.animal.index();
            if prey.color == kind.color || !self.takes[trap] {
                return None;
            }
            next.cells[usize::from(victim)] = ABSENT;
            if self.unharmed && prey == self.sender {
                self.give_up(&mut next);
            }
        }
        debug_assert!(from != ABSENT);
        Some(next)
    }

    /// Removes all of the sender's pieces, which makes the state hopeless.
    fn give_up(&self, state: &mut State) {
        state.waiting = [0; MAX_DOORS];
        (0..self.kinds.len()).filter(|&i| self.kinds[i] == self.sender).for_each(|i| state.cells[i] = ABSENT);
    }

    fn sort(&self, state: &mut State) {
        for group in &self.groups {
            if group.len() > 1 {
                state.cells[group.clone()].sort_unstable();
            }
        }
    }

    /// Whether the numbers of pieces that have left satisfy the claim or, with an unlimited supply, the limit of pieces
    /// inside is reached.
    #[must_use]
    pub(crate) fn reached(&self, key: u64) -> bool {
        let state = self.unpack(key);
        let outside = |i: usize| self.kinds[i] == self.sender && state.cells[i] == ABSENT;
        self.target.iter().zip(state.left).all(|(&wanted, left)| usize::from(left) >= wanted)
            || self.unlimited && !(0..self.kinds.len()).any(outside)
    }

    /// Whether too few of the sender's pieces remain for the target.
    fn hopeless(&self, state: &State) -> bool {
        let senders = |&i: &usize| self.kinds[i] == self.sender && state.cells[i] != ABSENT;
        let alive = (0..self.kinds.len()).filter(senders).count()
            + state.waiting.iter().map(|&n| usize::from(n)).sum::<usize>();
        let missing = self.target.iter().zip(state.left).map(|(&wanted, left)| wanted.saturating_sub(left.into()));
        if self.round_trip || self.unlimited { alive == 0 } else { alive < missing.sum() }
    }

    /// The pieces inside, as a board.
    #[must_use]
    pub(crate) fn picture(&self, state: &State) -> String {
        let mut text = String::new();
        for place in self.board.places() {
            let cell = self.cells.iter().position(|&c| c == place);
            let index = cell.and_then(|c| (0..self.kinds.len()).find(|&i| usize::from(state.cells[i]) == c));
            text.push(index.map_or(self.board.terrain(place).symbol(), |i| self.kinds[i].letter()));
            if (place.index() + 1).is_multiple_of(self.board.width()) {
                text.push('\n');
            }
        }
        text
    }

    /// An action as text.
    #[must_use]
    pub(crate) fn describe(&self, gadget: &Gadget, state: &State, action: Action) -> String {
        match action {
            Action::Pass => format!("{} passes", state.turn),
            Action::Enter(door) => format!("{} in at {}", self.sender.letter(), gadget.entrances[door].name),
            Action::Leave(door) => format!("{} out at {}", self.sender.letter(), gadget.entrances[door].name),
            Action::Move(mv) => {
                let index = |p: Place| (0..self.kinds.len()).find(|&i| self.cell_place(state.cells[i]) == Some(p));
                let letter = index(mv.from).map_or('?', |i| self.kinds[i].letter());
                let sign = if index(mv.to).is_some() { 'x' } else { '-' };
                format!("{letter}{}{sign}{}", self.board.name(mv.from), self.board.name(mv.to))
            }
        }
    }

    fn cell_place(&self, cell: u8) -> Option<Place> {
        self.cells.get(usize::from(cell)).copied()
    }
}

/// A piece as a number below 16.
fn code(piece: Piece) -> usize {
    piece.color as usize * 8 + piece.animal.index()
}

/// Whether each piece may capture each animal on each cell. Without water the square of the attacker does not matter.
fn takes_table(board: &Board, cells: &[Place]) -> Vec<bool> {
    let rules = RuleOptions::PAPER;
    let mut takes = Vec::with_capacity(cells.len() * 128);
    for &cell in cells {
        for color in Color::ALL {
            for attacker in Animal::ALL {
                for victim in Animal::ALL {
                    takes.push(may_capture(board, Piece { color, animal: attacker }, cell, victim, cell, &rules));
                }
            }
        }
    }
    takes
}

impl ReachabilityGame for GadgetGame {
    fn successors(&self, key: u64, next: &mut Vec<u64>) {
        let state = self.unpack(key);
        // A decided game has no further moves.
        if !self.reached(key) && !self.hopeless(&state) {
            self.actions(&state, |_, state| next.push(self.pack(&state)));
        }
    }

    fn attacks(&self, key: u64) -> bool {
        (key & 1 == 0) == (self.sender.color == Color::White)
    }
}
