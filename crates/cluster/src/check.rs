//! An independent check of a class's counts: a forward search of random positions, with the board's move generator and
//! the tables of fewer pieces after captures. The numbers of positions that end in 1, 2, 3 ... plies must match the
//! counts statistically.

use doushouqi::board::{Color, NoMove, Position, Rules, Setup, Square};
use doushouqi::game::random::Random;
use doushouqi::tablebase::{CellValue, ClassCounts, Material, Probe, SetError, TableProber, squares_in_play};
use rayon::prelude::*;
use serde::Serialize;

/// The size of the sample and the depth of the search.
#[derive(Copy, Clone, Debug)]
pub struct Sample {
    /// The number of positions for each side to move.
    pub positions: u32,
    /// The depth of the search in plies.
    pub plies: u16,
    /// The seed of the random positions.
    pub seed: u64,
}

/// The number of positions with one result, found and expected.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Plies to the end; `None` if the side to move has no legal move (stalemate).
    pub plies: Option<u16>,
    /// The number of sampled positions with this result.
    pub found: u64,
    /// The expected number by the counts.
    pub expected: f64,
    /// The difference `found - expected` in standard deviations of random sampling.
    pub sigmas: f64,
}

impl Comparison {
    /// A comparison: `found` of `of` sampled positions have this result; by the counts, `count` of `all` positions have
    /// it.
    fn new(plies: Option<u16>, found: u64, of: u32, count: u64, all: u64) -> Comparison {
        let share = count as f64 / all as f64;
        let expected = share * f64::from(of);
        let deviation = (expected * (1.0 - share)).sqrt();
        let difference = found as f64 - expected;
        // A result with a count of 0 must not be found. For rare results a deviation of one position is normal.
        let sigmas = if count == 0 && found > 0 { f64::INFINITY } else { difference / deviation.max(1.0) };
        Comparison { plies, found, expected, sigmas }
    }
}

/// Samples positions of a class with equal probability and searches them. Returns the comparisons for White and for
/// Black of the representative to move, each in the order: no legal move, 1 ply, 2 plies and so on.
///
/// # Errors
/// If a table that captures lead to is missing or damaged, or the tables have fewer pieces than these.
pub fn check_counts(
    tables: &TableProber,
    counts: &ClassCounts,
    sample: Sample,
) -> Result<[Vec<Comparison>; 2], SetError> {
    let (needed, pieces) = (counts.class.len() - 1, tables.set().classes().pieces());
    if pieces < needed {
        return Err(SetError::SmallTables { class: counts.class, needed, pieces });
    }
    let mut random = Random::new(sample.seed);
    let mut side = |turn| -> Result<Vec<Comparison>, SetError> {
        let drawn: Vec<Position> = (0..sample.positions).map(|_| draw(counts.class, turn, &mut random)).collect();
        let search = |position: &Position| Search { tables, pieces: counts.class.len() }.value(position, sample.plies);
        let values = drawn.par_iter().map(search).collect::<Result<Vec<_>, SetError>>()?;
        let stats = &counts.stats[turn];
        let all = stats.summary().positions;
        let found = |value| values.iter().filter(|&&v| v == Some(value)).count() as u64;
        let compare = |plies, value, count| Comparison::new(plies, found(value), sample.positions, count, all);
        let mut results = vec![compare(None, CellValue::NoMove, stats.no_move)];
        results.extend((1..=sample.plies).map(|plies| {
            let count = stats.by_plies.get(usize::from(plies)).copied().unwrap_or(0);
            compare(Some(plies), CellValue::Decided(plies), count)
        }));
        Ok(results)
    };
    Ok([side(Color::White)?, side(Color::Black)?])
}

/// A random position of a material: every piece stands on a square that it may enter, and no two share a square.
fn draw(material: Material, turn: Color, random: &mut Random) -> Position {
    loop {
        let mut setup = Setup::empty(turn);
        for piece in material.pieces() {
            let squares: Vec<Square> = squares_in_play(piece).into_iter().collect();
            if let Some(square) = random.choose(&squares) {
                setup.squares[square.index()] = Some(piece);
            }
        }
        // If two pieces fall on one square, the position has fewer pieces and is sampled again.
        if let Ok(position) = Position::from_setup(&setup)
            && Material::of(&position) == Some(material)
        {
            return position;
        }
    }
}

/// A search that probes the tables after captures.
struct Search<'a> {
    tables: &'a TableProber,
    pieces: usize,
}

impl Search<'_> {
    fn rules(&self) -> &Rules {
        self.tables.rules()
    }

    /// The value of a position of the full material; `None` if it has a legal move and is not decided within `plies`.
    fn value(&self, position: &Position, plies: u16) -> Result<Option<CellValue>, SetError> {
        let moves = position.moves(self.rules());
        if moves.is_empty() {
            return Ok(Some(CellValue::NoMove));
        }
        if plies == 0 {
            return Ok(None);
        }
        let (mut win, mut loss) = (None, Some(0));
        for &mv in &moves {
            let end = self.plies_after(&position.make(mv), plies - 1)?;
            match end {
                Some(end) if end % 2 == 0 => win = Some(win.map_or(end + 1, |win: u16| win.min(end + 1))),
                Some(end) => loss = loss.map(|loss: u16| loss.max(end + 1)),
                None => loss = None,
            }
            // The shortest possible win ends the loop.
            if win == Some(1) {
                break;
            }
        }
        Ok(win.or(loss).map(CellValue::Decided))
    }

    /// The distance to the end; `None` if it is more than `plies`, or the position is a draw.
    fn plies_after(&self, position: &Position, plies: u16) -> Result<Option<u16>, SetError> {
        if position.winner().is_some() {
            return Ok(Some(0));
        }
        let captured = position.pieces().count() < self.pieces;
        let value = if captured { self.tables.cell_value(position)? } else { self.value(position, plies)? };
        Ok(match value {
            Some(CellValue::Decided(end)) => Some(end).filter(|&end| end <= plies),
            Some(CellValue::NoMove) if self.rules().options().no_move == NoMove::Loss => Some(0),
            _ => None,
        })
    }
}
