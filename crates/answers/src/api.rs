//! Answers from the tables as plain data, without HTTP.

use super::errors::{ApiError, Code};
use super::rule_tables::{Found, MaterialCounts, RequestTables, WantedValue};
use doushouqi::board::{Color, Move, Outcome, Piece, Position, PositionError, RuleOptions, Rules, Square};
use doushouqi::clock::Instant;
use doushouqi::game::random::Random;
use doushouqi::tablebase::{Material, Probe as _, Stats, Summary, Value, Wdl};
use serde::Serialize;
use std::time::Duration;

/// The value of a position or of a move, for the side that the field's description names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Value"))]
pub struct ValueReport {
    #[cfg_attr(test, schemars(with = "crate::openapi::schema::WdlName"))]
    pub wdl: Wdl,
    /// Plies to the end; null for a draw, and if only the result is known.
    pub dtw: Option<u16>,
    /// The side to move has no legal move (stalemate).
    pub no_move: bool,
}

impl ValueReport {
    fn new(value: Value, no_move: bool) -> ValueReport {
        ValueReport { wdl: value.wdl, dtw: value.dtw, no_move }
    }
}

/// Whether the side to move has no legal move and nobody has won yet.
fn is_stuck(position: &Position, rules: &Rules) -> bool {
    position.winner().is_none() && position.count_moves(rules) == 0
}

/// The value of a position for the side to move.
pub fn value(tables: &RequestTables<'_>, position: &Position) -> Result<Option<ValueReport>, ApiError> {
    let value = tables.value(position)?;
    Ok(value.map(|value| ValueReport::new(value, is_stuck(position, tables.rules()))))
}

/// A finished game.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Over {
    #[cfg_attr(test, schemars(extend("enum" = ["white", "black", null])))]
    pub winner: Option<&'static str>,
    /// `den`, `no_pieces` or `no_move`; of a game also `repetition`, `no_capture`, `move_limit` or `loop`.
    pub reason: &'static str,
}

/// How the game has ended; `None` if it goes on.
#[must_use]
pub fn over(position: &Position, rules: &Rules) -> Option<Over> {
    let winner = match position.outcome(rules)? {
        Outcome::Win(color) => Some(color),
        _ => None,
    };
    let how = match winner {
        _ if position.winner().is_none() => "no_move",
        Some(winner) if position.side(!winner).is_empty() => "no_pieces",
        _ => "den",
    };
    Some(Over { winner: winner.map(Color::name), reason: how })
}

/// What a move does.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MoveFacts {
    pub uci: String,
    pub san: String,
    pub from: String,
    pub to: String,
    pub piece: char,
    /// The captured animal.
    pub captures: Option<char>,
    pub den: bool,
    pub leap: bool,
}

impl MoveFacts {
    #[must_use]
    pub fn new(position: &Position, mv: Move) -> MoveFacts {
        MoveFacts {
            uci: mv.to_string(),
            san: mv.notation(position),
            from: mv.from.to_string(),
            to: mv.to.to_string(),
            piece: mv.animal.letter(),
            captures: position.piece_at(mv.to).map(|piece| piece.animal.letter()),
            den: doushouqi::board::geometry::DEN[!position.turn()] == mv.to,
            leap: mv.is_leap(),
        }
    }
}

/// A move with its value.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Move"))]
pub struct MoveEntry {
    #[serde(flatten)]
    pub facts: MoveFacts,
    #[cfg_attr(test, schemars(extend("enum" = ["white", "black"])))]
    pub color: &'static str,
    /// For the side that makes the move, counting the move.
    pub value: Option<ValueReport>,
}

fn move_entry(position: &Position, rules: &Rules, mv: Move, value: Option<Value>) -> MoveEntry {
    let value = value.map(|value| ValueReport::new(value, is_stuck(&position.make(mv), rules)));
    MoveEntry { facts: MoveFacts::new(position, mv), color: position.turn().name(), value }
}

/// The value of a position and of its moves.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Probe"))]
pub struct ProbeAnswer {
    pub fen: String,
    pub rules: String,
    #[cfg_attr(test, schemars(extend("enum" = ["white", "black"])))]
    pub turn: &'static str,
    pub pieces: usize,
    /// Null if a side has no pieces.
    pub material: Option<String>,
    /// The representative of the material's class; null if no table has that many pieces.
    pub class: Option<String>,
    pub over: Option<Over>,
    pub known: bool,
    pub value: Option<ValueReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<MoveEntry>>,
    /// Moves that keep the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keeps_result: Option<usize>,
    /// The value with the other side to move, for that side.
    pub other_side: Option<ValueReport>,
    /// Whether the side to move would get a better result if it could pass.
    pub zugzwang: Option<bool>,
    pub sentence: String,
}

/// Probes a position, and all its moves if `moves` is set.
pub fn probe(tables: &RequestTables<'_>, position: &Position, moves: bool) -> Result<ProbeAnswer, ApiError> {
    let rules = tables.rules();
    let material = Material::of(position);
    let over = over(position, rules);
    let exact = tables.value(position)?;
    let value = exact.map(|value| ValueReport::new(value, is_stuck(position, rules)));
    let other_side = if over.is_some() { None } else { self::value(tables, &position.pass())? };
    let zugzwang = value.zip(other_side).map(|(here, there)| here.wdl < there.wdl.before());
    let ranked = if moves { Some(tables.ranked(position)?) } else { None };
    let keeps_result = ranked.as_ref().map(|ranked| keeps_result(ranked, exact));
    let entries = |ranked: Vec<(Move, Option<Value>)>| {
        ranked.into_iter().map(|(mv, value)| move_entry(position, rules, mv, value)).collect()
    };
    Ok(ProbeAnswer {
        fen: position.to_fen(),
        rules: tables.requested_rules.to_string(),
        turn: position.turn().name(),
        pieces: position.occupied().len(),
        material: material.map(|material| material.to_string()),
        class: material.and_then(|material| class_of(tables, material)),
        sentence: sentence(position, over.as_ref(), value),
        over,
        known: value.is_some(),
        value,
        moves: ranked.map(entries),
        keeps_result,
        other_side,
        zugzwang,
    })
}

fn class_of(tables: &RequestTables<'_>, material: Material) -> Option<String> {
    let name = |classes: &doushouqi::tablebase::Classes| {
        Some(classes.get(classes.member(material)?.class).representative.to_string())
    };
    let counted = || tables.counted().filter(|counted| counted.member(material).is_some());
    let counted = || Some(counted()?.table.material.to_string());
    name(tables.classes()).or_else(counted).or_else(|| name(tables.disk()?.classes()))
}

/// The number of moves that keep the result of the position.
fn keeps_result(ranked: &[(Move, Option<Value>)], value: Option<Value>) -> usize {
    let Some(value) = value else { return 0 };
    ranked.iter().filter(|(_, other)| other.is_some_and(|other| other.wdl == value.wdl)).count()
}

/// The result in a sentence.
fn sentence(position: &Position, over: Option<&Over>, value: Option<ValueReport>) -> String {
    let turn = position.turn();
    if let Some(over) = over {
        let winner = over.winner.map_or("Nobody", |name| if name == "white" { "White" } else { "Black" });
        return match over.reason {
            "den" => format!("{winner} has won by entering the den."),
            "no_pieces" => format!("{winner} has won by taking every piece."),
            _ if over.winner.is_none() => format!("{turn} has no legal move: a draw."),
            _ => format!("{turn} has no legal move: {winner} has won."),
        };
    }
    match value.map(|value| (value.wdl, value.dtw)) {
        Some((Wdl::Win, dtw)) => format!("{turn} wins{}.", in_plies(dtw)),
        Some((Wdl::Loss, dtw)) => format!("{} wins{}.", !turn, in_plies(dtw)),
        Some((Wdl::Draw, _)) => "A draw: neither side can force a win.".to_owned(),
        None => format!("No table contains this position of {} pieces.", position.occupied().len()),
    }
}

/// A distance in words, to follow a verb: " in 1 ply", " in 12 plies"; empty if it is unknown.
#[must_use]
pub(crate) fn in_plies(dtw: Option<u16>) -> String {
    match dtw {
        None => String::new(),
        Some(1) => " in 1 ply".to_owned(),
        Some(dtw) => format!(" in {dtw} plies"),
    }
}

/// One move of a line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LineEntry {
    pub uci: String,
    pub san: String,
    /// The position after the move.
    pub fen: String,
    /// For the side that makes the move, counting the move.
    pub value: ValueReport,
    /// Moves that keep the result, and all legal moves.
    pub keeps_result: usize,
    pub legal: usize,
}

/// A principal variation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MainLine {
    pub fen: String,
    pub rules: String,
    pub value: ValueReport,
    pub line: Vec<LineEntry>,
    /// `den`, `no_pieces`, `no_move` or `draw`; `limit` if the line goes on after the last position, `no_distance` if the
    /// tables contain only the results of the moves there.
    pub end: &'static str,
}

/// The most time for a line. The moves of a class that was counted on demand take up to a tenth of a second each.
pub(crate) const LINE_TIME: Duration = Duration::from_secs(5);

impl MainLine {
    /// Whether a line of at most `max` plies was cut off for lack of time, so that the same request may give a longer
    /// one.
    #[must_use]
    pub(crate) fn is_cut_off(&self, max: usize) -> bool {
        self.end == "limit" && self.line.len() < max
    }
}

/// The principal variation to the end of the game, at most `max` plies, cut off after `time`. Of equal moves it takes
/// the first. A draw has no line.
pub fn mainline(
    tables: &RequestTables<'_>,
    position: &Position,
    max: usize,
    time: Duration,
) -> Result<MainLine, ApiError> {
    let rules = tables.rules();
    let started = Instant::now();
    let start = value(tables, position)?.ok_or_else(|| no_table(position))?;
    let mut line = Vec::new();
    let mut current = position.clone();
    let end = loop {
        if let Some(over) = over(&current, rules) {
            break over.reason;
        }
        let ranked = tables.ranked(&current)?;
        let Some(&(mv, Some(value))) = ranked.first() else { break "draw" };
        if value.wdl == Wdl::Draw {
            break "draw";
        }
        if value.dtw.is_none() {
            break "no_distance";
        }
        if line.len() == max || started.elapsed() > time {
            break "limit";
        }
        tables.check()?;
        let next = current.make(mv);
        line.push(LineEntry {
            uci: mv.to_string(),
            san: mv.notation(&current),
            fen: next.to_fen(),
            value: ValueReport::new(value, is_stuck(&next, rules)),
            keeps_result: keeps_result(&ranked, Some(value)),
            legal: ranked.len(),
        });
        current = next;
    };
    Ok(MainLine { fen: position.to_fen(), rules: tables.requested_rules.to_string(), value: start, line, end })
}

/// The error for a position that no table contains.
#[must_use]
pub fn no_table(position: &Position) -> ApiError {
    let pieces = position.occupied().len();
    let error = ApiError::new(Code::NoTable, format!("no table contains this position of {pieces} pieces"));
    error.reason("no_table_of_position").with("pieces", pieces)
}

/// A piece on its square.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlacedPiece {
    pub square: String,
    pub animal: char,
    #[cfg_attr(test, schemars(extend("enum" = ["white", "black"])))]
    pub color: &'static str,
}

/// The value of the position with the piece on a square.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhatIfSquare {
    pub square: String,
    pub legal: bool,
    /// The reason that excludes the square: `water`, `occupied`, `own den`, `both dens`; `same` for its own square.
    pub reason: Option<&'static str>,
    /// For the side to move.
    pub value: Option<ValueReport>,
}

/// The values of a position with one piece moved to each square.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhatIf {
    pub fen: String,
    pub rules: String,
    pub piece: PlacedPiece,
    pub squares: Vec<WhatIfSquare>,
}

/// The values of the position with one piece moved to each square.
pub fn whatif(tables: &RequestTables<'_>, position: &Position, square: Square) -> Result<WhatIf, ApiError> {
    let Some(piece) = position.piece_at(square) else {
        let error = ApiError::parameter("piece", "no_piece_there", format!("there is no piece on {square}"));
        return Err(error.with("square", square.to_string()));
    };
    let mut squares = Vec::with_capacity(Square::COUNT);
    for to in Square::all() {
        let (why, value) = match moved(position, piece, square, to) {
            Ok(moved) => (if to == square { Some("same") } else { None }, self::value(tables, &moved)?),
            Err(why) => (Some(why), None),
        };
        let legal = why.is_none_or(|why| why == "same");
        squares.push(WhatIfSquare { square: to.to_string(), legal, reason: why, value });
    }
    let (animal, color) = (piece.animal.letter(), piece.color.name());
    Ok(WhatIf {
        fen: position.to_fen(),
        rules: tables.requested_rules.to_string(),
        piece: PlacedPiece { square: square.to_string(), animal, color },
        squares,
    })
}

/// The position with a piece on another square, or the reason why that is impossible.
fn moved(position: &Position, piece: Piece, from: Square, to: Square) -> Result<Position, &'static str> {
    let mut setup = position.to_setup();
    setup.squares[from.index()] = None;
    if setup.squares[to.index()].replace(piece).is_some() {
        return Err("occupied");
    }
    Position::from_setup(&setup).map_err(|error| match error {
        PositionError::InWater { .. } => "water",
        PositionError::InOwnDen { .. } => "own den",
        _ => "both dens",
    })
}

/// The counts of a material with one side to move.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SideStats {
    #[serde(flatten)]
    #[cfg_attr(test, schemars(with = "crate::openapi::schema::Counts"))]
    pub summary: Summary,
    /// Decided positions by plies to the end.
    pub by_plies: Vec<u64>,
}

impl From<&Stats> for SideStats {
    fn from(stats: &Stats) -> SideStats {
        SideStats { summary: stats.summary(), by_plies: stats.by_plies.clone() }
    }
}

/// The counts of a material.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MaterialStats {
    pub material: String,
    pub rules: String,
    /// The representative of its class, and the number of materials in the class.
    pub class: String,
    pub represents: usize,
    pub white: SideStats,
    pub black: SideStats,
}

/// The error for a material without a table.
#[must_use]
pub(crate) fn no_table_of(material: Material) -> ApiError {
    let error = ApiError::new(Code::NoTable, format!("there is no table of {material}"));
    error.reason("no_table_of_material").with("material", material.to_string())
}

/// The counts of a material for each side to move.
pub fn stats(tables: &RequestTables<'_>, material: Material) -> Result<MaterialStats, ApiError> {
    let found = tables.stats(material)?;
    let MaterialCounts { stats, representative, materials } = found.ok_or_else(|| no_table_of(material))?;
    Ok(MaterialStats {
        material: material.to_string(),
        rules: tables.requested_rules.to_string(),
        class: representative.to_string(),
        represents: materials,
        white: (&stats.white).into(),
        black: (&stats.black).into(),
    })
}

/// A longest line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LongLine {
    pub material: String,
    pub fen: String,
    pub plies: u64,
}

/// The longest lines of the available tables, longest first.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Longest {
    pub rules: String,
    pub lines: Vec<LongLine>,
}

/// The longest line of five pieces under rules with the tables of `paper`: 251 plies (`results/README.md`). A table on
/// disk is too large to scan.
const LONGEST_OF_FIVE: &str = "7/Ep5/7/1r5/d6/7/7/7/6P b";

/// A position with the longest line of five pieces under these rules, if it is known.
fn known_longest(rules: &RuleOptions) -> Option<Position> {
    let is_paper = rules.table_hash() == RuleOptions::PAPER.table_hash();
    Position::from_fen(LONGEST_OF_FIVE).ok().filter(|_| is_paper)
}

/// The longest line of five pieces, if it is known and a table on disk contains its position.
fn longest_of_five(tables: &RequestTables<'_>) -> Result<Option<LongLine>, ApiError> {
    let Some(position) = known_longest(tables.rules().options()) else { return Ok(None) };
    let plies = tables.value(&position)?.and_then(|value| value.dtw);
    let line = plies.zip(Material::of(&position)).map(|(plies, material)| LongLine {
        material: material.to_string(),
        fen: position.to_fen(),
        plies: plies.into(),
    });
    Ok(line)
}

/// At most `count` longest lines, of all available tables or of one material.
pub fn longest(tables: &RequestTables<'_>, material: Option<Material>, count: usize) -> Result<Longest, ApiError> {
    if let Some(material) = material {
        // An error names a material without a table.
        stats(tables, material)?;
    }
    let mut lines = Vec::new();
    if let Some(line) = longest_of_five(tables)?.filter(|line| material.is_none_or(|m| m.to_string() == line.material))
    {
        lines.push(line);
    }
    for (material, turn, plies) in tables.longest(material)?.into_iter().take(count - lines.len()) {
        tables.check()?;
        let longest = WantedValue { plies: Some(plies as u16), wdl: None };
        let found = tables.find(material, turn, longest, &mut Random::new(0), (0, LINE_TIME))?;
        if let Some(Found::Position(position)) = found {
            lines.push(LongLine { material: material.to_string(), fen: position.to_fen(), plies });
        }
    }
    Ok(Longest { rules: tables.requested_rules.to_string(), lines })
}

/// The most positions in a batch.
pub(crate) const MAX_BATCH: usize = 200;

/// An entry of a batch: the value of a position, or an error.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum BatchResult {
    Known(Box<ProbeAnswer>),
    Error { error: super::errors::Body },
}

/// Probes several positions, without their moves.
pub fn batch(tables: &RequestTables<'_>, fens: &[String]) -> Result<Vec<BatchResult>, ApiError> {
    if fens.len() > MAX_BATCH {
        let error = ApiError::new(Code::TooLarge, format!("a batch has at most {MAX_BATCH} positions"));
        return Err(error.reason("too_many_positions").with("max", MAX_BATCH));
    }
    let one = |fen: &String| {
        tables.check()?;
        Ok(match super::params::fen(fen).and_then(|position| probe(tables, &position, false)) {
            Ok(probe) => BatchResult::Known(Box::new(probe)),
            Err(error) => BatchResult::Error { error: error.body() },
        })
    };
    fens.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::class_cache::ClassCache;
    use super::super::rule_tables::RuleTables;
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// The same position is not the longest of five pieces under other rules.
    #[test]
    fn the_longest_line_of_five_pieces_is_known_for_one_rule_set() {
        for (name, rules) in RuleOptions::PRESETS {
            assert_eq!(
                known_longest(&rules).is_some(),
                rules.table_hash() == RuleOptions::PAPER.table_hash(),
                "{name}"
            );
        }
        assert!(known_longest(&"paper,repetition=none".parse().unwrap()).is_some());
        assert!(known_longest(&"chinese".parse().unwrap()).is_none());
    }

    #[test]
    fn a_line_is_cut_off_by_time_alone() {
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap());
        let (stop, cache) = (AtomicBool::new(false), Arc::new(ClassCache::new(0)));
        let tables = RuleTables::new(RuleOptions::PAPER, None, None, pool, cache, &stop).unwrap();
        let tables = RequestTables::new(&tables, RuleOptions::PAPER, &stop);
        let position = Position::from_fen("7/7/3e3/7/7/7/3E3/7/7 w").unwrap();
        let line = |max, time| mainline(&tables, &position, max, time).unwrap();
        let cut = line(100, Duration::ZERO);
        assert!(cut.is_cut_off(100) && cut.line.is_empty(), "{cut:?}");
        let short = line(3, LINE_TIME);
        assert!(!short.is_cut_off(3) && short.end == "limit", "{short:?}");
        let whole = line(100, LINE_TIME);
        assert!(!whole.is_cut_off(100) && whole.line.len() == 12, "{whole:?}");
    }
}
