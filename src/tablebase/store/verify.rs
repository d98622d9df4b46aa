//! Checks finished tables: checksums, and values against the values one move on, by the move generator that plays games.

use crate::board::{Color, Position};
use crate::game::random::Random;
use crate::tablebase::{Cells, ClassId, Index, Material, ROW_CELLS, SetError, Stats, TableFile, TableSet, Value};
use rayon::prelude::*;
use std::fmt;

/// Which values to check.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// None: only checksums.
    Checksums,
    /// N cells of each side of each class, drawn with a seed.
    Sample {
        /// Cells of each side.
        cells: u64,
        /// Which ones.
        seed: u64,
    },
    /// All.
    Full,
}

/// What is wrong with a table whose checksums are right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// A value does not follow from those one move on.
    Value {
        /// The position.
        position: Position,
        /// What the table says.
        stored: Option<Value>,
        /// What its moves say.
        computed: Value,
    },
    /// The counts in the file are not those of its values.
    Counts {
        /// The representative of the class.
        material: Material,
        /// The side to move.
        turn: Color,
    },
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contradiction::Value { position, stored, computed } => {
                let stored = stored.map_or("nothing".to_owned(), |value| value.to_string());
                write!(f, "{}: the table says {stored}, its moves say {computed}", position.to_fen())
            }
            Contradiction::Counts { material, turn } => {
                write!(f, "{material}, {turn} to move: the counts are not those of the values")
            }
        }
    }
}

/// Checks one class. Returns how many values were compared, or the first that is wrong. A side to move that is not stored
/// is compared with nothing: its values are computed, and only their checksum is compared, by a full check.
///
/// # Errors
/// If a table that is needed is missing or damaged, or the manifest says otherwise than the file.
pub fn verify(set: &TableSet, id: ClassId, scope: Scope) -> Result<Result<u64, Box<Contradiction>>, SetError> {
    let file = set.file(id)?;
    file.check()?;
    set.check_listed(id)?;
    if scope == Scope::Checksums {
        return Ok(Ok(0));
    }
    let stored = file.description().sides.colors();
    // Decoding the whole table checks that its values have their checksum, and makes full checks fast.
    let values = if scope == Scope::Full { set.complete(id)? } else { set.stored(id)? };
    for turn in Color::ALL {
        if let Some(cells) = values.cells(turn)
            && !counts_are_right(file, turn, cells)
        {
            let material = set.classes().get(id).representative;
            return Ok(Err(Box::new(Contradiction::Counts { material, turn })));
        }
    }
    let cells = file.index().cells();
    let check = |turn: Color, cell: usize| -> Result<Option<Result<(), Box<Contradiction>>>, SetError> {
        let (Some(position), Some(side)) = (file.index().position(cell, turn), values.cells(turn)) else {
            return Ok(None);
        };
        let stored = Value::from_code(side.get(cell));
        let computed = set.look_ahead(&position, Some(&values))?;
        let right = stored == Some(computed);
        Ok(Some(if right { Ok(()) } else { Err(Box::new(Contradiction::Value { position, stored, computed })) }))
    };
    let pairs: Vec<(Color, usize)> = match scope {
        Scope::Sample { cells: wanted, seed } => {
            let mut random = Random::new(seed ^ id.0 as u64);
            (0..wanted)
                .flat_map(|_| {
                    let cell = (random.bits() % cells as u64) as usize;
                    stored.iter().map(move |&turn| (turn, cell))
                })
                .collect()
        }
        _ => Vec::new(),
    };
    let count = if scope == Scope::Full { stored.len() * cells } else { pairs.len() };
    let chunk = 1 << 16;
    let results: Vec<Result<Result<u64, Box<Contradiction>>, SetError>> = (0..count.div_ceil(chunk))
        .into_par_iter()
        .map(|c| {
            let mut compared = 0;
            for i in c * chunk..((c + 1) * chunk).min(count) {
                let (turn, cell) = if scope == Scope::Full { (stored[i / cells], i % cells) } else { pairs[i] };
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

/// Whether a file says how many values of each kind there are, and where a longest line begins.
fn counts_are_right(file: &TableFile, turn: Color, cells: &Cells) -> bool {
    let description = file.description();
    let stats = recount(file.index(), cells);
    let longest = stats.by_plies.iter().rposition(|&n| n > 0).map(|plies| Value::Decided(plies as u16).code());
    stats == description.stats[turn] && longest == description.deepest[turn].map(|cell| cells.get(cell))
}

/// The counts of values.
fn recount(index: &Index, cells: &Cells) -> Stats {
    let chunk = 64;
    let count = |first: usize| {
        let mut stats = Stats::default();
        for row in first..(first + chunk).min(index.rows) {
            let weight = index.weight(row);
            for cell in row * ROW_CELLS..(row + 1) * ROW_CELLS {
                match Value::from_code(cells.get(cell)) {
                    None => {}
                    Some(Value::Draw) => stats.draws += weight,
                    Some(Value::NoMove) => stats.no_move += weight,
                    Some(Value::Decided(plies)) => stats.add_decided(plies, weight),
                }
            }
        }
        stats
    };
    (0..index.rows).into_par_iter().step_by(chunk).map(count).reduce(Stats::default, |mut all, part| {
        all += &part;
        all
    })
}
