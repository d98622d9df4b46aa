//! Checks finished tables: checksums, and values against the values one move on, by the move generator that plays games.

use super::{ClassId, ROW_CELLS, SetError, Table, TableSet, Value};
use crate::board::{Color, NoMove, Piece, Position, Rules, Setup};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;

/// Which values to check.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// None: only checksums.
    Checksums,
    /// So many cells of each side of each class, drawn with a seed.
    Sample { cells: u64, seed: u64 },
    /// All.
    Full,
}

/// A value that does not follow from those one move on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    pub position: Position,
    pub stored: Option<Value>,
    pub computed: Value,
}

/// Checks one class. Returns how many values were compared, or the first that is wrong.
pub fn verify(set: &TableSet, id: ClassId, scope: Scope) -> Result<Result<u64, Box<Contradiction>>, SetError> {
    let file = set.file(id)?;
    file.check()?;
    set.check_listed(id)?;
    if scope == Scope::Checksums {
        return Ok(Ok(0));
    }
    // Decoding the whole table checks that its values have their checksum, and makes full checks fast.
    let table = file.load()?;
    let rules = Rules::new(*set.rules());
    let cells = file.index().rows * ROW_CELLS;
    let check = |turn: Color, cell: usize| -> Result<Option<Result<(), Box<Contradiction>>>, SetError> {
        let Some(position) = position(set, id, turn, cell) else { return Ok(None) };
        let stored = Value::from_code(table.cells[turn].get(cell));
        let computed = compute(set, id, &table, &rules, &position)?;
        let right = stored == Some(computed);
        Ok(Some(if right { Ok(()) } else { Err(Box::new(Contradiction { position, stored, computed })) }))
    };
    let pairs: Vec<(Color, usize)> = match scope {
        Scope::Sample { cells: wanted, seed } => {
            let mut random = Pcg64::seed_from_u64(seed ^ id.0 as u64);
            (0..wanted)
                .flat_map(|_| {
                    let cell = (random.next_u64() % cells as u64) as usize;
                    Color::ALL.map(|turn| (turn, cell))
                })
                .collect()
        }
        _ => Vec::new(),
    };
    let count = if scope == Scope::Full { 2 * cells } else { pairs.len() };
    let chunk = 1 << 16;
    let results: Vec<Result<Result<u64, Box<Contradiction>>, SetError>> = (0..count.div_ceil(chunk))
        .into_par_iter()
        .map(|c| {
            let mut compared = 0;
            for i in c * chunk..((c + 1) * chunk).min(count) {
                let (turn, cell) = if scope == Scope::Full { (Color::ALL[i / cells], i % cells) } else { pairs[i] };
                match check(turn, cell)? {
                    None => {}
                    Some(Ok(())) => compared += 1,
                    Some(Err(wrong)) => return Ok(Err(wrong)),
                }
            }
            Ok(Ok(compared))
        })
        .collect();
    let mut compared = 0;
    for result in results {
        match result? {
            Ok(n) => compared += n,
            Err(wrong) => return Ok(Err(wrong)),
        }
    }
    Ok(Ok(compared))
}

/// The position of a cell of a class, if there is one.
#[must_use]
pub fn position(set: &TableSet, id: ClassId, turn: Color, cell: usize) -> Option<Position> {
    let index = set.file(id).ok()?.index();
    let squares = index.squares(cell)?;
    let mut setup = Setup::empty(turn);
    for (&(color, animal), square) in index.men.iter().zip(squares) {
        setup.squares[square.index()] = Some(Piece { color, animal });
    }
    Position::from_setup(&setup).ok()
}

/// The value that follows from the values of the positions one move on.
fn compute(set: &TableSet, id: ClassId, table: &Table, rules: &Rules, position: &Position) -> Result<Value, SetError> {
    let moves = position.moves(rules);
    if moves.is_empty() {
        return Ok(Value::NoMove);
    }
    let (mut win, mut loss, mut draw) = (None, 0, false);
    for &mv in &moves {
        let next = position.make(mv);
        // Distance for the side that moves next; `None` is a draw.
        let value = if next.winner().is_some() {
            Some(Value::Decided(0))
        } else {
            match set.classes().locate(&next) {
                Some(place) if place.class == id => {
                    let cell = set.file(id)?.index().cell(&place.squares);
                    Value::from_code(table.cells[place.turn].get(cell))
                }
                _ => set.probe(&next)?,
            }
        };
        let plies = match value {
            Some(Value::Decided(plies)) => Some(plies),
            Some(Value::NoMove) if rules.options().no_move == NoMove::Loss => Some(0),
            _ => None,
        };
        match plies {
            Some(plies) if plies % 2 == 0 => win = Some(win.map_or(plies + 1, |w: u16| w.min(plies + 1))),
            Some(plies) => loss = loss.max(plies + 1),
            None => draw = true,
        }
    }
    Ok(match win {
        Some(plies) => Value::Decided(plies),
        None if draw => Value::Draw,
        None => Value::Decided(loss),
    })
}
