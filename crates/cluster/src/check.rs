//! Counts of a class checked by another way: positions drawn at random are searched forward, by the move generator that
//! plays games, with the tables of fewer pieces behind captures. How many of them end in 1, 2, 3 ... plies must fit the
//! counts.

use doushouqi::board::{Color, NoMove, Position, Rules, Setup, Square};
use doushouqi::game::random::Random;
use doushouqi::tablebase::{CellValue, ClassCounts, Material, Probe, SetError, TableProber, squares_in_play};
use rayon::prelude::*;
use serde::Serialize;

/// What to draw and how far to search.
#[derive(Copy, Clone, Debug)]
pub struct Sample {
    /// Positions for each side to move.
    pub positions: u32,
    /// Plies to search.
    pub plies: u16,
    /// The seed of what is drawn.
    pub seed: u64,
}

/// How often one result came up.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Plies to the end; `None`: the side to move has no legal move.
    pub plies: Option<u16>,
    /// How many of the positions drawn have it.
    pub found: u64,
    /// How many should, by the counts.
    pub expected: f64,
    /// The difference in standard deviations of what chance does.
    pub sigmas: f64,
}

impl Comparison {
    /// `of` positions were drawn, and `count` of `all` have this result.
    fn new(plies: Option<u16>, found: u64, of: u32, count: u64, all: u64) -> Comparison {
        let share = count as f64 / all as f64;
        let expected = share * f64::from(of);
        let deviation = (expected * (1.0 - share)).sqrt();
        let difference = found as f64 - expected;
        // What never happens must not be found; what is rare comes in whole numbers.
        let sigmas = if count == 0 && found > 0 { f64::INFINITY } else { difference / deviation.max(1.0) };
        Comparison { plies, found, expected, sigmas }
    }
}

/// Draws positions of a class, each as likely as any other, and searches them forward. The result is for White of the
/// representative to move, then for Black: no legal move, then 1 ply and more.
///
/// # Errors
/// If a table that captures lead to is missing or damaged.
pub fn check_counts(
    tables: &TableProber,
    counts: &ClassCounts,
    sample: Sample,
) -> Result<[Vec<Comparison>; 2], SetError> {
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

/// A position of a material: every piece where it may stand, no two on one square.
fn draw(material: Material, turn: Color, random: &mut Random) -> Position {
    loop {
        let mut setup = Setup::empty(turn);
        for piece in material.pieces() {
            let squares: Vec<Square> = squares_in_play(piece).into_iter().collect();
            if let Some(square) = random.choose(&squares) {
                setup.squares[square.index()] = Some(piece);
            }
        }
        // Fewer pieces are left where two came to one square.
        if let Ok(position) = Position::from_setup(&setup)
            && Material::of(&position) == Some(material)
        {
            return position;
        }
    }
}

/// A search that ends where tables begin.
struct Search<'a> {
    tables: &'a TableProber,
    pieces: usize,
}

impl Search<'_> {
    fn rules(&self) -> &Rules {
        self.tables.rules()
    }

    /// The value of a position of all pieces, if it is decided within `plies` or has no move; else `None`.
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
            // Nothing is shorter.
            if win == Some(1) {
                break;
            }
        }
        Ok(win.or(loss).map(CellValue::Decided))
    }

    /// Plies to the end, if they are at most `plies`.
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
