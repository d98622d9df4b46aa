//! A formula with its position on the general board, and the interface of the strategies that play on it:
//! `white_strategy` and `black_strategy`.

use super::catalog;
use super::check::{DEFAULT_BOUND, Solved};
use super::circuit::Circuit;
use super::formula::Formula;
use super::gadget::GadgetError;
use super::game::{Action, State};
use super::layout::{GadgetKind, Layout};
use crate::general::{GeneralMove, GeneralPosition, Place, Terrain};
use doushouqi::board::{Animal, Color, Piece, RuleOptions};
use std::collections::HashMap;

pub(super) const RULES: RuleOptions = RuleOptions::PAPER;
pub(super) const WHITE_PANTHER: Piece = Piece { color: Color::White, animal: Animal::Panther };

/// The solved claims that both sides' strategies follow.
pub struct SolvedClaims {
    pub(super) white: HashMap<(GadgetKind, &'static str), Solved>,
    pub(super) black: HashMap<(GadgetKind, &'static str), Solved>,
}

pub(super) const WHITE_CLAIMS: [(GadgetKind, &str); 11] = [
    (GadgetKind::Start, "> out=1 forced"),
    (GadgetKind::And, "left=1 right=1 > out=1 forced steady-cats"),
    (GadgetKind::Or, "left=1 > out=1 forced steady-cats"),
    (GadgetKind::Or, "right=1 > out=1 forced steady-cats"),
    (GadgetKind::Fanout, "in=1 > left=1 right=1 forced"),
    (GadgetKind::Choice, "in=1 > left=1 forced"),
    (GadgetKind::Choice, "in=1 > right=1 forced"),
    (GadgetKind::WhiteEdge, "bottom=1 > top=1 forced"),
    (GadgetKind::BlackEdge, "bottom=1 > top=1 forced"),
    (GadgetKind::Outflow, "in=1 > out=1 forced steady-cats"),
    (GadgetKind::Den, "in=1 > den=1 forced"),
];

pub(super) const BLACK_CLAIMS: [(GadgetKind, &str); 9] = [
    (GadgetKind::Start, "> out=1 prevented other-first any-cats"),
    (GadgetKind::And, "left=1 > out=1 prevented any-cats"),
    (GadgetKind::Or, "> out=1 prevented any-cats"),
    (GadgetKind::Or, "left=1 right=1 > out=2 prevented any-cats"),
    (GadgetKind::Fanout, "> left=1 prevented any-cats"),
    (GadgetKind::Fanout, "> right=1 prevented any-cats"),
    (GadgetKind::BlackEdge, "bottom=1 > top=1 bottom=1 prevented round-trip any-cats"),
    (GadgetKind::Outflow, "> out=1 prevented any-cats"),
    (GadgetKind::Outflow, "in=2 > out=2 prevented any-cats"),
];

impl SolvedClaims {
    /// Solves the claims, which takes less than a second.
    ///
    /// # Errors
    /// If a claim of the catalog is malformed or too large, which is a bug.
    pub fn new() -> Result<SolvedClaims, GadgetError> {
        let solve = |claims: &[(GadgetKind, &'static str)]| {
            let one = |&(kind, text): &(GadgetKind, &'static str)| {
                let gadget = catalog::gadget(kind.name()).ok_or(GadgetError::Missing { what: "catalog" })?;
                let claim = gadget.claim(0, text)?;
                Ok(((kind, text), Solved::new(&gadget, &claim, DEFAULT_BOUND)?))
            };
            claims.iter().map(one).collect::<Result<HashMap<_, _>, GadgetError>>()
        };
        Ok(SolvedClaims { white: solve(&WHITE_CLAIMS)?, black: solve(&BLACK_CLAIMS)? })
    }
}

/// A formula with its circuit and its position.
pub struct Reduction<'a> {
    /// The formula.
    pub formula: &'a Formula,
    /// The circuit of the formula.
    pub circuit: &'a Circuit,
    /// The board of the circuit.
    pub layout: &'a Layout,
    /// For each square, one plus the index of the part that contains it; 0 for none.
    part_of: Vec<u32>,
    pub(super) tables: &'a SolvedClaims,
}

impl<'a> Reduction<'a> {
    /// Prepares a layout of the circuit of this formula.
    #[must_use]
    pub fn new(
        formula: &'a Formula,
        circuit: &'a Circuit,
        layout: &'a Layout,
        tables: &'a SolvedClaims,
    ) -> Reduction<'a> {
        let board = layout.position.board();
        let mut part_of = vec![0; board.len()];
        for (i, part) in layout.parts.iter().enumerate() {
            let gadget = catalog::gadget(part.kind.name()).expect("a gadget of the catalog");
            let small = gadget.position.board();
            for place in small.places().filter(|&p| small.terrain(p) != Terrain::Water) {
                let (row, column) = small.row_column(place);
                let place = board.at(part.row + row, part.column + column).expect("parts are on the board");
                part_of[place.index()] = i as u32 + 1;
            }
        }
        Reduction { formula, circuit, layout, part_of, tables }
    }

    pub(super) fn part_at(&self, place: Place) -> Option<usize> {
        (self.part_of[place.index()] as usize).checked_sub(1)
    }

    /// The square on the board of a square of a part.
    pub(super) fn on_board(&self, part: usize, solved: &Solved, place: Place) -> Place {
        let (row, column) = solved.gadget.position.board().row_column(place);
        let part = self.layout.parts[part];
        self.layout.position.board().at(part.row + row, part.column + column).expect("parts are on the board")
    }

    /// The square outside an entrance of a part: above an entrance in its first rank, below any other.
    pub(super) fn outside(&self, part: usize, solved: &Solved, door: usize) -> Place {
        let board = self.layout.position.board();
        let door = solved.game.door(door);
        let (row, column) = board.row_column(self.on_board(part, solved, door));
        let top = solved.gadget.position.board().row_column(door).0 == 0;
        board.at(if top { row - 1 } else { row + 1 }, column).expect("nothing opens at the border")
    }

    /// The state of a part.
    pub(super) fn state(
        &self,
        position: &GeneralPosition,
        part: usize,
        solved: &Solved,
        waiting: [u8; 4],
        left: [u8; 4],
    ) -> State {
        let piece_at = |place| position.piece_at(self.on_board(part, solved, place));
        solved.game.state(piece_at, waiting, left, position.turn())
    }

    /// The move on the board for an action in a part; `None` for a pass.
    pub(super) fn real(&self, part: usize, solved: &Solved, action: Action) -> Option<GeneralMove> {
        let door = |d| self.on_board(part, solved, solved.game.door(d));
        Some(match action {
            Action::Pass => return None,
            Action::Move(mv) => {
                GeneralMove { from: self.on_board(part, solved, mv.from), to: self.on_board(part, solved, mv.to) }
            }
            Action::Enter(d) => GeneralMove { from: self.outside(part, solved, d), to: door(d) },
            Action::Leave(d) => GeneralMove { from: door(d), to: self.outside(part, solved, d) },
        })
    }

    /// The initial squares of White's and Black's panthers in a START.
    pub(super) fn pair(&self, part: usize) -> (Place, Place) {
        let board = self.layout.position.board();
        let part = self.layout.parts[part];
        let at = |row| board.at(part.row + row, part.column + 2).expect("parts are on the board");
        (at(3), at(2))
    }

    /// Whether both panthers of a START still face each other.
    pub(super) fn is_open(&self, position: &GeneralPosition, part: usize) -> bool {
        let (white, black) = self.pair(part);
        position.piece_at(white) == Some(WHITE_PANTHER)
            && position.piece_at(black) == Some(Piece { color: Color::Black, animal: Animal::Panther })
    }

    /// The variables that are true and false, as bits; all others are open.
    pub(super) fn variables(&self, position: &GeneralPosition, taken: u32) -> (u32, u32) {
        let mut sets = (0, 0);
        for &(part, variable) in &self.layout.starts {
            if taken >> variable & 1 != 0 {
                sets.0 |= 1 << variable;
            } else if !self.is_open(position, part) {
                sets.1 |= 1 << variable;
            }
        }
        sets
    }

    /// The move that captures the opponent's panther of this variable.
    pub(super) fn choice(&self, variable: usize, turn: Color) -> Option<GeneralMove> {
        let (part, _) = self.layout.starts.iter().find(|(_, v)| *v == variable)?;
        let (white, black) = self.pair(*part);
        Some(if turn == Color::White {
            GeneralMove { from: white, to: black }
        } else {
            GeneralMove { from: black, to: white }
        })
    }
}

pub(super) fn is_legal(position: &GeneralPosition, mv: GeneralMove) -> bool {
    let mut moves = Vec::new();
    position.moves_from(mv.from, &RULES, &mut moves);
    moves.contains(&mv) && position.piece_at(mv.from).is_some_and(|p| p.color == position.turn())
}

/// A strategy of one side.
pub trait Strategy {
    /// The move of the side to move, which must have one. `last` is the opponent's last move.
    fn choose(&mut self, position: &GeneralPosition, last: Option<GeneralMove>) -> GeneralMove;
}
