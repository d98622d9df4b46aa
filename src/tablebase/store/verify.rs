//! Checks finished tables: the checksums, and each value against the values of its successors, which the board's move
//! generator finds.

use crate::board::{Color, Position};
use crate::game::random::Random;
use crate::tablebase::store::set::Loaded;
use crate::tablebase::{CellValue, Cells, ClassId, Material, Metric, SetError, Stats, TableFile, TableSet};
use rayon::prelude::*;
use std::fmt;

/// The values to check.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// No values, only checksums.
    Checksums,
    /// Random cells of each stored side to move of each class.
    Sample {
        /// Number of cells for each side to move.
        cells: u64,
        /// Seed of the random numbers.
        seed: u64,
    },
    /// All values.
    Full,
}

/// An error in a table whose checksums are right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "it is always in a box")]
pub enum Contradiction {
    /// A value does not follow from the values after its moves.
    CellValue {
        /// The position.
        position: Position,
        /// The value in the table; `None` if the cell is empty.
        stored: Option<CellValue>,
        /// The value computed from the values after its moves.
        computed: CellValue,
        /// What the distances measure.
        metric: Metric,
    },
    /// The counts in the file do not match its values.
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
            Contradiction::CellValue { position, stored, computed, metric } => {
                let stored = stored.map_or("nothing".to_owned(), |value| metric.text(value));
                let computed = metric.text(*computed);
                write!(f, "{}: the table contains {stored}, the moves give {computed}", position.to_fen())
            }
            Contradiction::Counts { material, turn } => {
                write!(f, "{material}, {turn} to move: the counts do not match the values")
            }
        }
    }
}

/// Why a check ended: it found a contradiction, or it failed.
pub(super) enum Stop {
    Wrong(Box<Contradiction>),
    Error(SetError),
}

impl<E: Into<SetError>> From<E> for Stop {
    fn from(error: E) -> Stop {
        Stop::Error(error.into())
    }
}

impl Stop {
    /// Separates contradictions (inner result) from failures (outer result).
    pub(super) fn split<T>(checked: Result<T, Stop>) -> Result<Result<T, Box<Contradiction>>, SetError> {
        match checked {
            Ok(checked) => Ok(Ok(checked)),
            Err(Stop::Wrong(wrong)) => Ok(Err(wrong)),
            Err(Stop::Error(error)) => Err(error),
        }
    }
}

/// Checks one class: its checksums, and the values of `scope`. Returns the number of compared values, or the first
/// contradiction. A sample reads only the blocks that it needs. A full check reads all values, counts them again, and
/// computes the side to move that is not stored to compare its checksum.
///
/// # Errors
/// If a table that is needed is missing or damaged, or the manifest differs from the file.
pub fn verify(set: &TableSet, id: ClassId, scope: Scope) -> Result<Result<u64, Box<Contradiction>>, SetError> {
    let file = set.file(id)?;
    file.check()?;
    set.check_listed(id)?;
    Stop::split(match scope {
        Scope::Checksums => Ok(0),
        Scope::Sample { cells, seed } => compare_sample(set, file, cells, seed ^ id.0 as u64),
        Scope::Full => compare_all(set, file, id),
    })
}

/// Compares `cells` random cells of each stored side to move.
fn compare_sample(set: &TableSet, file: &TableFile, cells: u64, seed: u64) -> Result<u64, Stop> {
    let mut random = Random::new(seed);
    let mut drawn: Vec<usize> = (0..cells).map(|_| (random.bits() % file.index().cells() as u64) as usize).collect();
    // Sorted, so that each block is decoded once.
    drawn.sort_unstable();
    let sides = file.description().sides.colors().iter();
    sides.map(|&turn| compare(set, file, turn, None, drawn.par_iter().copied())).sum()
}

/// Compares all values, and the counts.
fn compare_all(set: &TableSet, file: &TableFile, id: ClassId) -> Result<u64, Stop> {
    let values = set.complete(id)?;
    for turn in Color::ALL {
        if let Some(cells) = values.cells(turn)
            && !counts_are_right(file, turn, cells)
        {
            let material = set.classes().get(id).representative;
            return Err(Stop::Wrong(Box::new(Contradiction::Counts { material, turn })));
        }
    }
    let sides = file.description().sides.colors().iter();
    sides.map(|&turn| compare(set, file, turn, Some(&values), (0..file.index().cells()).into_par_iter())).sum()
}

/// Compares cells of a side to move with the values computed from their moves. The values of the class are in `values`,
/// or read when they are needed. Returns the number of compared values.
fn compare(
    set: &TableSet,
    file: &TableFile,
    turn: Color,
    values: Option<&Loaded>,
    cells: impl IndexedParallelIterator<Item = usize>,
) -> Result<u64, Stop> {
    let compare = |cell: usize| -> Result<u64, Stop> {
        let Some(position) = file.index().position(cell, turn) else { return Ok(0) };
        let stored = match values.and_then(|values| values.cells(turn)) {
            Some(side) => CellValue::from_code(side.get(cell)),
            None => set.look_up(&position, None)?,
        };
        let computed = set.look_ahead(&position, values)?;
        if stored == Some(computed) {
            return Ok(1);
        }
        let metric = set.classes().metric();
        Err(Stop::Wrong(Box::new(Contradiction::CellValue { position, stored, computed, metric })))
    };
    let add = |sum: Result<u64, Stop>, cell| Ok(sum? + compare(cell)?);
    // The sum in the order of the parts returns the first error, whichever part finishes first.
    cells.fold_chunks(1 << 12, || Ok(0), add).collect::<Vec<_>>().into_iter().sum()
}

/// Whether the counts in the file match the values, and its deepest cell has the longest distance.
fn counts_are_right(file: &TableFile, turn: Color, cells: &Cells) -> bool {
    let description = file.description();
    let stats = Stats::of(cells.view(), |row| file.index().weight(row));
    let longest = stats.by_plies.iter().rposition(|&n| n > 0).map(|plies| CellValue::Decided(plies as u16).code());
    stats == description.stats[turn] && longest == description.deepest[turn].map(|cell| cells.get(cell))
}
