//! What a table says of the moves of a position, and best lines.

use super::{SetError, TableSet, Value};
use crate::board::{Color, Move, NoMove, Position, Rules};
use crate::tablebase::store::verify::position;
use std::cmp::Reverse;

/// Who wins, from the side to move's view.
#[derive(Copy, Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Wdl {
    Win,
    Draw,
    Loss,
}

/// A value as a person asks for it: for the side to move, or of a move for the side that makes it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub wdl: Wdl,
    /// Plies to the end; `None` for a draw.
    pub dtw: Option<u16>,
}

impl Verdict {
    const DRAW: Verdict = Verdict { wdl: Wdl::Draw, dtw: None };

    fn decided(plies: u16) -> Verdict {
        Verdict { wdl: if plies % 2 == 1 { Wdl::Win } else { Wdl::Loss }, dtw: Some(plies) }
    }

    /// What a value means under these rules.
    #[must_use]
    pub fn of(value: Value, rules: &Rules) -> Verdict {
        match value {
            Value::Draw => Verdict::DRAW,
            Value::NoMove if rules.options().no_move == NoMove::Draw => Verdict::DRAW,
            Value::NoMove => Verdict::decided(0),
            Value::Decided(plies) => Verdict::decided(plies),
        }
    }

    /// The same from one ply before: the value of the move that led here.
    fn before(self) -> Verdict {
        self.dtw.map_or(Verdict::DRAW, |plies| Verdict::decided(plies + 1))
    }

    /// Sorts the best first: wins, the shortest first, draws, losses, the longest first.
    fn rank(self) -> (u8, Reverse<u16>, u16) {
        match self.wdl {
            Wdl::Loss => (0, Reverse(0), self.dtw.unwrap_or(0)),
            Wdl::Draw => (1, Reverse(0), 0),
            Wdl::Win => (2, Reverse(self.dtw.unwrap_or(0)), 0),
        }
    }
}

impl TableSet {
    /// The value of a position; also of a finished game. `None` if no table here covers it.
    pub fn verdict(&self, position: &Position, rules: &Rules) -> Result<Option<Verdict>, SetError> {
        if let Some(winner) = position.winner() {
            let wdl = if winner == position.turn() { Wdl::Win } else { Wdl::Loss };
            return Ok(Some(Verdict { wdl, dtw: Some(0) }));
        }
        Ok(self.probe(position)?.map(|value| Verdict::of(value, rules)))
    }

    /// The value of every legal move, best first. `None` if no table here covers the position.
    pub fn moves(&self, position: &Position, rules: &Rules) -> Result<Option<Vec<(Move, Verdict)>>, SetError> {
        let mut moves = Vec::new();
        for &mv in &position.moves(rules) {
            let Some(verdict) = self.verdict(&position.make(mv), rules)? else { return Ok(None) };
            moves.push((mv, verdict.before()));
        }
        moves.sort_by_key(|(_, verdict)| Reverse(verdict.rank()));
        Ok(Some(moves))
    }

    /// A position of so many pieces with the longest line of all tables here; the first in the order of classes and cells.
    pub fn deepest(&self, pieces: usize) -> Result<Option<(Position, u16)>, SetError> {
        let mut best: Option<(usize, Position)> = None;
        for id in self.ids().filter(|&id| self.classes().get(id).representative.len() == pieces) {
            let file = self.file(id)?;
            for turn in Color::ALL {
                let longest = file.description().stats[turn].summary().longest as usize;
                if best.as_ref().is_some_and(|(so_far, _)| longest <= *so_far) {
                    continue;
                }
                let cell = file.description().deepest[turn];
                if let Some(position) = cell.and_then(|cell| position(file.index(), turn, cell)) {
                    best = Some((longest, position));
                }
            }
        }
        Ok(best.map(|(plies, position)| (position, plies as u16)))
    }

    /// Best play to the end, the first of equal moves each time. Empty for a draw, which has no end.
    pub fn line(&self, position: &Position, rules: &Rules) -> Result<Vec<(Move, Position)>, SetError> {
        let mut line = Vec::new();
        let mut current = position.clone();
        let mut left = None;
        while let Some(moves) = self.moves(&current, rules)? {
            let Some(&(mv, verdict)) = moves.first() else { break };
            if verdict.wdl == Wdl::Draw {
                break;
            }
            // Forged values could go round for ever.
            if left.is_some_and(|left| verdict.dtw != Some(left)) {
                return Err(self.contradictory());
            }
            left = verdict.dtw.and_then(|plies| plies.checked_sub(1));
            line.push((mv, current.clone()));
            current = current.make(mv);
        }
        Ok(line)
    }
}
