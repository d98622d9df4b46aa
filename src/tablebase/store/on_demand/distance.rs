//! Values by a short forward search that ends in tables. A position is won in at most d plies if a move leads to a
//! position lost in at most d - 1 plies, and lost in at most d plies if every move leads to a position won in at most
//! d - 1 plies.

use crate::board::{Move, Position, Rules};
use crate::tablebase::{CellValue, SetError, Value, Wdl};
use std::collections::HashMap;

/// The result of a probe, without a search.
pub(super) enum Probed {
    /// The value of the position.
    Value(Value),
    /// A key of a position without a known value, which only equal positions share.
    Unknown(u64),
}

/// Probes a position.
pub(super) type LookUp<'a> = &'a dyn Fn(&Position) -> Result<Probed, SetError>;

/// Why a search ends without an answer.
pub(super) enum Stop {
    /// The search has used up its budget of positions.
    Budget,
    /// A table cannot be read.
    Tables(SetError),
}

impl From<SetError> for Stop {
    fn from(error: SetError) -> Stop {
        Stop::Tables(error)
    }
}

/// A search, with the values that it has proved so far.
pub(super) struct Distances<'a> {
    rules: &'a Rules,
    look_up: LookUp<'a>,
    /// By position and whether it wins: a lower and an upper bound of the distance in plies.
    bounds: HashMap<(u64, bool), (u16, u16)>,
    /// The number of positions that may still be visited.
    budget: usize,
}

impl<'a> Distances<'a> {
    pub(super) fn new(rules: &'a Rules, look_up: LookUp<'a>, budget: usize) -> Distances<'a> {
        Distances { rules, look_up, bounds: HashMap::new(), budget }
    }

    /// The value of a position; `None` if it is neither known nor decided within `plies` plies.
    pub(super) fn value(&mut self, position: &Position, plies: u16) -> Result<Option<Value>, Stop> {
        if let Probed::Value(value) = (self.look_up)(position)? {
            return Ok(Some(value));
        }
        if position.moves(self.rules).is_empty() {
            return Ok(Some(Value::of(CellValue::NoMove, self.rules)));
        }
        for plies in 1..=plies {
            if self.within(position, plies % 2 == 1, plies)? {
                return Ok(Some(Value::of(CellValue::Decided(plies), self.rules)));
            }
        }
        Ok(None)
    }

    /// Whether the side to move wins, or loses, in at most `plies` plies.
    fn within(&mut self, position: &Position, wins: bool, plies: u16) -> Result<bool, Stop> {
        let probed = (self.look_up)(position)?;
        match self.answer_from_bounds(&probed, wins, plies) {
            (Some(result), _) => Ok(result),
            (None, key) => self.expand(position, key, wins, plies),
        }
    }

    /// The answer, if it follows from the known bounds, and the key of the position.
    fn answer_from_bounds(&self, probed: &Probed, wins: bool, plies: u16) -> (Option<bool>, u64) {
        let wanted = if wins { Wdl::Win } else { Wdl::Loss };
        let key = match *probed {
            Probed::Value(value) => {
                return (Some(value.wdl == wanted && value.dtw.is_some_and(|dtw| dtw <= plies)), 0);
            }
            Probed::Unknown(key) => key,
        };
        let answer = match self.bounds.get(&(key, wins)) {
            Some(&(_, to)) if plies >= to => Some(true),
            Some(&(from, _)) if plies < from => Some(false),
            _ => None,
        };
        (answer, key)
    }

    /// The answer from a search of the moves.
    fn expand(&mut self, position: &Position, key: u64, wins: bool, plies: u16) -> Result<bool, Stop> {
        self.budget = self.budget.checked_sub(1).ok_or(Stop::Budget)?;
        let moves = position.moves(self.rules);
        let answer = if moves.is_empty() {
            !wins && Value::of(CellValue::NoMove, self.rules).wdl == Wdl::Loss
        } else {
            plies > 0 && self.search_moves(position, &moves, wins, plies - 1)?
        };
        let (from, to) = self.bounds.entry((key, wins)).or_insert((0, u16::MAX));
        if answer {
            *to = plies.min(*to)
        } else {
            *from = (plies + 1).max(*from)
        }
        Ok(answer)
    }

    /// Whether any move leads to a loss of the opponent in at most `plies` plies, or, without `wins`, every move to a
    /// win of the opponent in at most `plies` plies.
    fn search_moves(&mut self, position: &Position, moves: &[Move], wins: bool, plies: u16) -> Result<bool, Stop> {
        // Moves with a known answer come first, because one of them often decides.
        let mut open = Vec::new();
        for &mv in moves {
            let next = position.make(mv);
            let probed = (self.look_up)(&next)?;
            match self.answer_from_bounds(&probed, !wins, plies) {
                (Some(answer), _) if answer == wins => return Ok(wins),
                (Some(_), _) => {}
                (None, _) => open.push(next),
            }
        }
        for next in &open {
            if self.within(next, !wins, plies)? == wins {
                return Ok(wins);
            }
        }
        Ok(!wins)
    }
}
