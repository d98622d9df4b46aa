//! Duels: whole games with some of the animals of each side, on their home squares, White to move.

use doushouqi::board::{Color, Position, RuleOptions, Rules, Setup};
use doushouqi::tablebase::{Material, Probe, Value, Wdl};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A duel with its exact value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duel {
    /// The letters of White's animals, the strongest first.
    pub white: String,
    /// Those of Black.
    pub black: String,
    /// The rules of the tables: a preset's name, or all options that tables depend on.
    pub rules: String,
    /// The result for White.
    pub wdl: Wdl,
    /// The plies to the end; `None` for a draw.
    pub dtw: Option<u16>,
    /// White's first moves that keep the result, the best first.
    pub keep: Vec<String>,
}

/// The first position of a duel: each piece on its home square, White to move.
///
/// # Panics
/// Never: a home square is neither water nor a den.
#[must_use]
pub fn position(material: Material) -> Position {
    let (start, mut setup) = (Position::start(), Setup::empty(Color::White));
    for piece in material.pieces() {
        let home = start.square_of(piece.color, piece.animal).expect("every animal is there at the start");
        setup.squares[home.index()] = Some(piece);
    }
    Position::from_setup(&setup).expect("home squares are on land")
}

/// The duel of a material; `None` if the tables do not contain it.
///
/// # Errors
/// If the tables cannot be read.
pub fn duel<T: Probe>(tables: &T, material: Material) -> Result<Option<Duel>, T::Error> {
    let position = position(material);
    let (Some(Value { wdl, dtw }), Some(moves)) = (tables.value(&position)?, tables.moves(&position)?) else {
        return Ok(None);
    };
    let keep = moves.iter().filter(|(_, value)| value.wdl == wdl).map(|(mv, _)| mv.notation(&position));
    Ok(Some(Duel {
        white: material.side(Color::White).to_string(),
        black: material.side(Color::Black).to_string(),
        rules: table_rules_name(tables.rules().options()),
        wdl,
        dtw,
        keep: keep.collect(),
    }))
}

/// The rules of duels as [`Duel::rules`].
#[must_use]
pub fn table_rules_name(rules: &RuleOptions) -> String {
    let preset = RuleOptions::PRESETS.into_iter().find(|(_, preset)| preset.table_hash() == rules.table_hash());
    preset.map_or_else(|| rules.table_spelling(), |(name, _)| name.to_owned())
}

/// The positions whose values decide the duel of a material: the first one, and those after White's moves that capture
/// nothing.
#[must_use]
pub fn positions(material: Material, rules: &Rules) -> Vec<Position> {
    let start = position(material);
    let next: Vec<Position> = start.moves(rules).into_iter().map(|mv| start.make(mv)).collect();
    let is_quiet = |next: &Position| next.winner().is_none() && Material::of(next) == Some(material);
    [start].into_iter().chain(next.into_iter().filter(is_quiet)).collect()
}

/// Noted values of some positions, and tables for the others.
pub struct Noted<'a, T> {
    tables: &'a T,
    /// By the key of the position.
    values: HashMap<u64, Value>,
}

impl<'a, T> Noted<'a, T> {
    /// These values, and tables.
    pub fn new(tables: &'a T, values: impl IntoIterator<Item = (Position, Value)>) -> Noted<'a, T> {
        Noted { tables, values: values.into_iter().map(|(position, value)| (position.key(), value)).collect() }
    }
}

impl<T: Probe> Probe for Noted<'_, T> {
    type Error = T::Error;

    fn rules(&self) -> &Rules {
        self.tables.rules()
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, T::Error> {
        match self.values.get(&position.key()) {
            Some(&value) => Ok(Some(value)),
            None => self.tables.value(position),
        }
    }
}

/// The duels of one size: those that White wins, draws and loses, and the longest one that is decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The animals of White and of Black.
    pub animals: [usize; 2],
    /// Won by White.
    pub won: usize,
    /// Drawn.
    pub drawn: usize,
    /// Lost by White.
    pub lost: usize,
    /// The longest win or loss, in plies.
    pub longest: u16,
}

/// The tallies of duels by size, the fewest animals first.
#[must_use]
pub fn tallies(duels: &[Duel]) -> Vec<Tally> {
    let mut all: Vec<Tally> = Vec::new();
    for duel in duels {
        let animals = [duel.white.len(), duel.black.len()];
        let at = all.iter().position(|tally| tally.animals == animals).unwrap_or_else(|| {
            all.push(Tally { animals, ..Tally::default() });
            all.len() - 1
        });
        let tally = &mut all[at];
        match duel.wdl {
            Wdl::Win => tally.won += 1,
            Wdl::Draw => tally.drawn += 1,
            Wdl::Loss => tally.lost += 1,
        }
        tally.longest = tally.longest.max(duel.dtw.unwrap_or(0));
    }
    all.sort_by_key(|tally| (tally.animals.iter().sum::<usize>(), tally.animals));
    all
}

/// The teams of White and of Black in duels of one size, each with its points (a win 1, a draw 1/2) in all of them, the best
/// first.
#[must_use]
pub fn ranking(duels: &[&Duel]) -> [Vec<(String, f64)>; 2] {
    Color::ALL.map(|color| {
        let mut teams: Vec<(String, f64)> = Vec::new();
        for duel in duels {
            let (team, best) = if color == Color::White { (&duel.white, Wdl::Win) } else { (&duel.black, Wdl::Loss) };
            let points = if duel.wdl == best { 1.0 } else { 0.5 * f64::from(u8::from(duel.wdl == Wdl::Draw)) };
            match teams.iter_mut().find(|(name, _)| name == team) {
                Some((_, sum)) => *sum += points,
                None => teams.push((team.clone(), points)),
            }
        }
        teams.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        teams
    })
}
