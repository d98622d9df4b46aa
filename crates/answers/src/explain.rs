//! Explanations of a value: the race to the dens, other rules, the fortress of a draw, the decision tree.

use super::api::{ValueReport, no_table, value};
use super::errors::{ApiError, Code};
use super::rule_tables::{MaterialCounts, RequestTables, RuleTables, check};
use doushouqi::board::geometry::DEN;
use doushouqi::board::{Bitboard, ByColor, Color, Move, Position, RuleOptions, Rules, Square};
use doushouqi::tablebase::{AnimalSet, Material, Probe, SetError, Solver, Wdl};
use rayon::ThreadPool;
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use study::{Bearing, Clause, FeatureSet, Routes, Tree, Winner, learn, manhattan};

/// A side's shortest path to the enemy's den on an otherwise empty board.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Way {
    pub piece: Option<char>,
    /// Moves to the den, and the ply in which the piece enters it, from 1.
    pub steps: Option<u8>,
    pub plies: Option<u16>,
    pub path: Vec<String>,
}

/// The race to the dens.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Race {
    pub fen: String,
    pub rules: String,
    pub white: Way,
    pub black: Way,
    #[cfg_attr(test, schemars(extend("enum" = ["white", "black"])))]
    pub turn: &'static str,
    #[cfg_attr(test, schemars(extend("enum" = ["white", "black", null])))]
    pub first: Option<&'static str>,
    /// Whether the distance between the pieces, if each side has one, is odd or even.
    pub parity: Option<&'static str>,
}

/// Both sides' shortest paths to the dens on an otherwise empty board.
#[must_use]
pub fn race(position: &Position, rules: &RuleOptions) -> Race {
    let turn = position.turn();
    let ways = ByColor::from_fn(|color| way(position, rules, color));
    let first = match (ways.white.plies, ways.black.plies) {
        (Some(white), Some(black)) => Some(if white < black { Color::White } else { Color::Black }),
        (Some(_), None) => Some(Color::White),
        (None, Some(_)) => Some(Color::Black),
        (None, None) => None,
    };
    let squares: Vec<Square> = position.pieces().map(|(_, square)| square).collect();
    let parity = match (&squares[..], Material::of(position)) {
        (&[a, b], Some(_)) => Some(if manhattan(a, b).is_multiple_of(2) { "even" } else { "odd" }),
        _ => None,
    };
    let (white, black) = (ways.white, ways.black);
    let (fen, rules) = (position.to_fen(), rules.to_string());
    Race { fen, rules, white, black, turn: turn.name(), first: first.map(Color::name), parity }
}

fn way(position: &Position, rules: &RuleOptions, color: Color) -> Way {
    let den = DEN[!color];
    let nearest = position
        .pieces()
        .filter(|(piece, _)| piece.color == color)
        .map(|(piece, square)| (piece, square, Routes::new(color, piece.animal, rules)))
        .min_by_key(|(_, square, routes)| routes.steps(*square, den));
    let Some((piece, start, routes)) = nearest.filter(|(_, square, r)| r.steps(*square, den) < Routes::NONE) else {
        return Way { piece: None, steps: None, plies: None, path: Vec::new() };
    };
    let steps = routes.steps(start, den);
    let mut path = vec![start];
    let mut square = start;
    while square != den {
        let left = routes.steps(square, den);
        let nearer = |to: &Square| routes.steps(*to, den) + 1 == left && routes.steps(square, *to) == 1;
        let mut choices = rules.destinations(piece.animal, square).map(|(to, _)| to).filter(nearer);
        // Prefer squares without own pieces among equally short paths.
        let own = position.side(color);
        let Some(to) = choices.clone().find(|to| !own.contains(*to)).or_else(|| choices.next()) else { break };
        path.push(to);
        square = to;
    }
    let plies = 2 * u16::from(steps) - u16::from(position.turn() == color && steps > 0);
    Way {
        piece: Some(piece.animal.letter()),
        steps: Some(steps),
        plies: Some(plies),
        path: path.iter().map(Square::to_string).collect(),
    }
}

/// The value of the position under one preset.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Preset {
    pub name: &'static str,
    pub rules: String,
    pub known: bool,
    pub value: Option<ValueReport>,
    /// Whether the result differs from the result under the requested rules.
    pub changes_result: bool,
}

/// The value of the position under every preset.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Presets {
    pub fen: String,
    pub rules: String,
    pub value: Option<ValueReport>,
    pub presets: Vec<Preset>,
}

/// Probes a position under every preset; `all` contains the tables of each, in order.
pub fn presets(
    requested: &RequestTables<'_>,
    all: &[(&'static str, RuleOptions, Arc<RuleTables>)],
    position: &Position,
) -> Result<Presets, ApiError> {
    let here = value(requested, position)?;
    let mut presets = Vec::new();
    for (name, options, tables) in all {
        let value = value(&RequestTables::new(tables, *options, requested.stop()), position)?;
        let changes_result = here.zip(value).is_some_and(|(here, there)| here.wdl != there.wdl);
        presets.push(Preset { name, rules: options.to_string(), known: value.is_some(), value, changes_result });
    }
    Ok(Presets { fen: position.to_fen(), rules: requested.requested_rules.to_string(), value: here, presets })
}

/// The shares of wins, draws and losses of all pairs of sides, White to move.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Matrix {
    pub rules: String,
    pub white: Vec<String>,
    pub black: Vec<String>,
    /// Shares of the positions, one row per entry of `white`.
    pub win: Vec<Vec<f64>>,
    pub draw: Vec<Vec<f64>>,
    pub loss: Vec<Vec<f64>>,
}

/// All materials with the given numbers of white and black pieces.
pub fn matrix(tables: &RequestTables<'_>, white: usize, black: usize) -> Result<Matrix, ApiError> {
    let missing = || {
        let pieces = white + black;
        let error = ApiError::new(Code::NoTable, format!("not all tables of {pieces} pieces are available"));
        error.reason("no_tables_of_pieces").with("pieces", pieces)
    };
    if white + black > tables.complete() && tables.disk().is_none_or(|set| white + black > set.classes().pieces()) {
        return Err(missing());
    }
    let mut all: Vec<Material> = Material::all(white + black);
    all.retain(|material| material.side(Color::White).len() == white && material.side(Color::Black).len() == black);
    let sides = |color: Color| {
        let mut seen = HashSet::new();
        all.iter().map(|material| material.side(color)).filter(|&side| seen.insert(side)).collect::<Vec<AnimalSet>>()
    };
    let (whites, blacks) = (sides(Color::White), sides(Color::Black));
    let mut shares: [Vec<Vec<f64>>; 3] = Default::default();
    for &white in &whites {
        tables.check()?;
        let mut row: [Vec<f64>; 3] = Default::default();
        for &black in &blacks {
            let material = all.iter().find(|m| m.side(Color::White) == white && m.side(Color::Black) == black);
            let MaterialCounts { stats, .. } = tables.stats(*material.ok_or_else(missing)?)?.ok_or_else(missing)?;
            let s = stats.white.summary();
            // Four digits are enough for display.
            let share = |count: u64| (count as f64 / s.positions.max(1) as f64 * 1e4).round() / 1e4;
            let lost = if tables.rules().options().no_move == doushouqi::board::NoMove::Loss { s.no_move } else { 0 };
            row[0].push(share(s.wins));
            row[1].push(share(s.draws + s.no_move - lost));
            row[2].push(share(s.losses + lost));
        }
        shares.iter_mut().zip(row).for_each(|(all, row)| all.push(row));
    }
    let [win, draw, loss] = shares;
    let names = |sets: &[AnimalSet]| sets.iter().map(ToString::to_string).collect();
    let (rules, white, black) = (tables.requested_rules.to_string(), names(&whites), names(&blacks));
    Ok(Matrix { rules, white, black, win, draw, loss })
}

/// A move of a line that keeps the draw.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CycleMove {
    pub uci: String,
    pub san: String,
    pub fen: String,
}

/// How a draw is held.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fortress {
    pub draw: bool,
    /// Moves that keep the draw until a position repeats, and the index at which the repetition begins.
    pub cycle: Vec<CycleMove>,
    pub repeats_from: Option<usize>,
    /// The squares that each side's pieces need to hold the draw against every move; null if the search gave up.
    #[cfg_attr(test, schemars(with = "crate::openapi::schema::Sides<Option<Vec<String>>>"))]
    pub squares: doushouqi::board::ByColor<Option<Vec<String>>>,
    /// The side that holds the draw: the one that wins fewer positions of the material.
    #[cfg_attr(test, schemars(extend("enum" = ["white", "black", null])))]
    pub defender: Option<&'static str>,
    pub sentence: String,
}

/// The most positions of one side's defence.
const MAX_POSITIONS: usize = 20_000;

/// One side's way to hold a draw.
struct Defence {
    squares: Bitboard,
    /// Its move in every position that can arise.
    moves: HashMap<Position, Move>,
}

/// The moves that keep the draw.
fn drawing(tables: &RequestTables<'_>, position: &Position) -> Result<Vec<Move>, ApiError> {
    let moves = tables.ranked(position)?;
    let draws = moves.into_iter().filter(|(_, value)| value.is_some_and(|value| value.wdl == Wdl::Draw));
    Ok(draws.map(|(mv, _)| mv).collect())
}

/// A defence against every move that keeps the draw. The defender returns to visited squares if possible, so that it
/// needs few squares. `None` if too many positions arise.
fn hold(tables: &RequestTables<'_>, start: &Position, defender: Color) -> Result<Option<Defence>, ApiError> {
    let mut holding = Defence { squares: start.side(defender), moves: HashMap::new() };
    let mut seen = HashSet::from([start.clone()]);
    let mut left = VecDeque::from([start.clone()]);
    while let Some(position) = left.pop_front() {
        tables.check()?;
        let moves = drawing(tables, &position)?;
        let next: Vec<Move> = if position.turn() == defender {
            let known = |mv: &&Move| seen.contains(&position.make(**mv));
            let within = |mv: &&Move| holding.squares.contains(mv.to) && !mv.is_capture(&position);
            let chosen = moves.iter().find(|mv| known(mv) && within(mv));
            let chosen = chosen.or_else(|| moves.iter().find(within)).or(moves.first()).copied();
            if let Some(mv) = chosen {
                holding.squares |= mv.to.into();
                holding.moves.insert(position.clone(), mv);
            }
            chosen.into_iter().collect()
        } else {
            moves
        };
        for mv in next {
            let next = position.make(mv);
            if seen.insert(next.clone()) {
                left.push_back(next);
            }
        }
        if seen.len() > MAX_POSITIONS {
            return Ok(None);
        }
    }
    Ok(Some(holding))
}

/// How a side holds a drawn position; `draw` is false for other positions.
pub fn fortress(tables: &RequestTables<'_>, position: &Position) -> Result<Fortress, ApiError> {
    let value = tables.value(position)?.ok_or_else(|| no_table(position))?;
    if position.winner().is_some() || value.wdl != Wdl::Draw {
        let sentence = "This position is not a draw.".to_owned();
        let squares = ByColor::default();
        return Ok(Fortress { draw: false, cycle: Vec::new(), repeats_from: None, squares, defender: None, sentence });
    }
    let found = ByColor { white: hold(tables, position, Color::White)?, black: hold(tables, position, Color::Black)? };
    let size = |color: Color| found[color].as_ref().map_or(usize::MAX, |holding| holding.squares.len());
    // The side that seldom wins with this material is the one that holds the draw.
    let counts = Material::of(position).map(|material| tables.stats(material)).transpose()?.flatten();
    let wins = |color: Color| {
        let [own, other] = [color, !color].map(|turn| counts.as_ref().map(|counts| counts.stats[turn].summary()));
        own.map_or(0, |own| own.wins) + other.map_or(0, |other| other.losses)
    };
    let holder = Color::ALL.into_iter().min_by_key(|&color| (wins(color), size(color)));
    let holder = holder.filter(|&color| found[color].is_some());
    let (cycle, from) = cycle(tables, position, holder.and_then(|color| found[color].as_ref()))?;
    let names = |holding: &Defence| holding.squares.into_iter().map(|square| square.to_string()).collect::<Vec<_>>();
    let squares = ByColor { white: found.white.as_ref().map(names), black: found.black.as_ref().map(names) };
    let sentence = match holder.and_then(|color| Some((color, squares[color].as_ref()?))) {
        _ if position.count_moves(tables.rules()) == 0 => format!("{} has no legal move.", position.turn()),
        Some((color, squares)) if squares.len() <= 12 => {
            format!("{color} needs only {} to hold the draw against every move of {}.", squares.join(", "), !color)
        }
        Some((color, squares)) => {
            format!("{color} holds the draw on {} squares against every move of {}.", squares.len(), !color)
        }
        None => "Neither side can force a win. The defence needs too many positions to list.".to_owned(),
    };
    let defender = holder.map(Color::name);
    Ok(Fortress { draw: true, cycle, repeats_from: from, squares, defender, sentence })
}

/// A line until a position repeats: the defender follows its defence, the other side plays any move that draws.
fn cycle(
    tables: &RequestTables<'_>,
    start: &Position,
    holding: Option<&Defence>,
) -> Result<(Vec<CycleMove>, Option<usize>), ApiError> {
    const LONGEST: usize = 200;
    let (mut line, mut seen) = (Vec::new(), vec![start.clone()]);
    let mut position = start.clone();
    while line.len() < LONGEST {
        tables.check()?;
        let planned = holding.and_then(|holding| holding.moves.get(&position)).copied();
        let chosen = match planned {
            Some(mv) => Some(mv),
            // Prefer new positions, to show more attempts.
            None => {
                let moves = drawing(tables, &position)?;
                let new = moves.iter().find(|mv| !seen.contains(&position.make(**mv)));
                new.or(moves.first()).copied()
            }
        };
        let Some(mv) = chosen else { return Ok((line, None)) };
        let next = position.make(mv);
        line.push(CycleMove { uci: mv.to_string(), san: mv.notation(&position), fen: next.to_fen() });
        if let Some(from) = seen.iter().position(|earlier| *earlier == next) {
            return Ok((line, Some(from)));
        }
        seen.push(next.clone());
        position = next;
    }
    Ok((line, None))
}

/// A statement about a position, in English and as data for other languages.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Clause"))]
pub struct ClauseReport {
    /// What is stated, without subjects and numbers: `own_den.at_most`.
    pub key: &'static str,
    /// The side that the clause is about, if it is not about pieces.
    #[cfg_attr(test, schemars(extend("enum" = ["white", "black", null])))]
    pub side: Option<&'static str>,
    /// The letters of the pieces that the clause is about, as in a FEN.
    pub pieces: Vec<char>,
    /// A bound, or the first and the last rank.
    pub numbers: Vec<i8>,
    /// The clause in English.
    pub text: String,
}

impl From<Clause> for ClauseReport {
    fn from(Clause { key, side, pieces, numbers, text, .. }: Clause) -> ClauseReport {
        let side = side.map(Color::name);
        ClauseReport { key, side, pieces: pieces.iter().map(|piece| piece.letter()).collect(), numbers, text }
    }
}

/// A node of a tree: a test or a leaf.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TreeNode {
    pub id: usize,
    /// The clause that is true in the branch `yes`.
    pub test: Option<ClauseReport>,
    /// The name of the tested feature.
    pub feature: Option<String>,
    pub yes: Option<usize>,
    pub no: Option<usize>,
    /// `win`, `draw` or `loss` of the side to move, in most positions of the node.
    pub label: &'static str,
    pub positions: u64,
}

/// The tree of a material, and a position's path through it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Tree"))]
pub struct TreeReport {
    pub fen: String,
    /// The position with White to move: itself, or with colours exchanged.
    pub as_white: String,
    pub material: String,
    pub class: String,
    pub positions: u64,
    pub misclassified: u64,
    pub accuracy: f64,
    pub nodes: Vec<TreeNode>,
    pub path: Vec<usize>,
    /// The value of the position by the tables. The tree is wrong about the position if the label of its leaf differs.
    pub value: Option<ValueReport>,
    /// The result, and the clauses below.
    pub sentence: String,
    /// The reasons for the result, at most two: none of them speaks for the other result.
    pub clauses: Vec<ClauseReport>,
    /// Without a reason, at most two conditions that speak for the other result.
    pub although: Vec<ClauseReport>,
}

/// Learned trees, least recently used first.
#[derive(Default)]
pub struct Trees {
    known: Mutex<VecDeque<(u64, Material, Arc<learn::MaterialTree>)>>,
}

/// Leaves of a tree for three pieces: accurate and still readable.
const LEAVES: usize = 24;
/// The most trees that are kept.
const KEPT_TREES: usize = 64;

impl Trees {
    fn get(
        &self,
        pool: &ThreadPool,
        options: &RuleOptions,
        material: Material,
        stop: &AtomicBool,
    ) -> Result<Arc<learn::MaterialTree>, ApiError> {
        let hash = options.table_hash();
        {
            let mut known = self.known.lock().unwrap_or_else(|e| e.into_inner());
            if let Some(found) = known.iter().position(|entry| entry.0 == hash && entry.1 == material)
                && let Some(entry) = known.remove(found)
            {
                let tree = entry.2.clone();
                known.push_back(entry);
                return Ok(tree);
            }
        }
        let no_tree = || {
            let error = ApiError::new(Code::NoTable, format!("there is no tree of {material}"));
            error.reason("no_tree_of_material").with("material", material.to_string())
        };
        let leaves = (material.len() > 2).then_some(LEAVES);
        let learned = pool.install(|| {
            let tables = Solver::solved_material(options, material).map_err(|_| no_tree())?;
            check(stop).map_err(SetError::from)?;
            learn::learn(&tables, material, None, leaves).ok_or_else(no_tree)
        });
        let tree = Arc::new(learned?);
        let mut known = self.known.lock().unwrap_or_else(|e| e.into_inner());
        known.push_back((hash, material, tree.clone()));
        if known.len() > KEPT_TREES {
            known.pop_front();
        }
        Ok(tree)
    }

    /// The tree of a position of two or three pieces.
    pub fn report(
        &self,
        pool: &ThreadPool,
        tables: &RequestTables<'_>,
        position: &Position,
    ) -> Result<TreeReport, ApiError> {
        let options = &tables.requested_rules;
        let none = |what: &str| ApiError::new(Code::NoTable, what.to_owned()).reason("no_tree");
        if position.outcome(&Rules::new(*options)).is_some() {
            return Err(none("the game is over"));
        }
        // The trees are for White to move.
        let seen = if position.turn() == Color::White { position.clone() } else { position.swap_colors() };
        let material = Material::of(&seen).filter(|material| material.len() <= 3);
        let material = material.ok_or_else(|| none("decision trees exist for two and three pieces only"))?;
        let found = self.get(pool, options, material, tables.stop())?;
        let (tree, exchanged) = (&found.tree, position.turn() == Color::Black);
        let values = found.set.values_of(&seen).ok_or_else(|| none("the tree has other pieces"))?;
        let path = path(tree, &values);
        let nodes = nodes(tree, &found.set, exchanged);
        let clause = |&node: &usize| {
            let split = tree.node(node).split?;
            let low = values[split.feature] <= split.at_most;
            Some(found.set.clause(split.feature, split.at_most, low, exchanged))
        };
        let label = path.last().map_or(Wdl::Draw, |&leaf| label(tree, leaf).1);
        let value = value(tables, position)?;
        let is_right = value.is_none_or(|value| value.wdl == label);
        let winner = value.map_or(label, |value| value.wdl).winner(position.turn());
        let result = winner.map_or_else(|| "The position is a draw".to_owned(), |winner| format!("{winner} wins"));
        let clauses: Vec<Clause> = path.iter().filter_map(clause).collect();
        let reasons = if is_right { Reasons::of(winner, clauses) } else { Reasons::default() };
        let sentence = match is_right {
            true => reasons.sentence(&result, path.len() > 1),
            false => format!("{result}, which the decision tree of this material gets wrong."),
        };
        let [clauses, although] =
            [reasons.because, reasons.although].map(|all| all.into_iter().map(Into::into).collect());
        let wrong = found.tree.misclassified();
        Ok(TreeReport {
            fen: position.to_fen(),
            as_white: seen.to_fen(),
            material: material.to_string(),
            class: found.class.to_string(),
            positions: found.positions,
            misclassified: wrong,
            accuracy: 1.0 - wrong as f64 / found.positions.max(1) as f64,
            value,
            sentence,
            clauses,
            although,
            nodes,
            path,
        })
    }
}

/// The nodes on the path of a position with these feature values.
fn path(tree: &Tree, values: &[i8]) -> Vec<usize> {
    let (mut path, mut at) = (vec![0], 0);
    while let Some(split) = tree.node(at).split {
        at = if values[split.feature] <= split.at_most { split.yes } else { split.no };
        path.push(at);
    }
    path
}

/// The result of most positions of a node, for the side to move.
fn label(tree: &Tree, node: usize) -> (&'static str, Wdl) {
    match tree.node(node).winner() {
        Winner::White => ("win", Wdl::Win),
        Winner::Draw => ("draw", Wdl::Draw),
        Winner::Black => ("loss", Wdl::Loss),
    }
}

fn nodes(tree: &Tree, set: &FeatureSet, exchanged: bool) -> Vec<TreeNode> {
    // Nodes are numbered from 0 without gaps. There is one inner node fewer than leaves.
    let count = 2 * tree.leaves() - 1;
    let node = |id: usize| {
        let node = tree.node(id);
        TreeNode {
            id,
            test: node.split.map(|split| set.clause(split.feature, split.at_most, true, exchanged).into()),
            feature: node.split.map(|split| set.features()[split.feature].name.clone()),
            yes: node.split.map(|split| split.yes),
            no: node.split.map(|split| split.no),
            label: label(tree, id).0,
            positions: node.counts.iter().sum(),
        }
    };
    (0..count).map(node).collect()
}

/// The most reasons of a sentence.
const MOST_REASONS: usize = 2;

/// The clauses of a sentence about a result.
#[derive(Default)]
struct Reasons {
    because: Vec<Clause>,
    /// Clauses that speak against the result, if none speaks for it.
    although: Vec<Clause>,
}

impl Reasons {
    /// The reasons among the clauses on a path, the last of which are the most specific.
    fn of(winner: Option<Color>, path: Vec<Clause>) -> Reasons {
        let mut clauses: Vec<Clause> = Vec::new();
        for clause in path.into_iter().rev() {
            // Of two bounds of one feature, the last is the closer one.
            let what = |clause: &Clause| clause.key.split('.').next();
            let is_new = |other: &Clause| (what(other), &other.pieces) != (what(&clause), &clause.pieces);
            if clauses.iter().all(is_new) {
                clauses.push(clause);
            }
        }
        let of = |bearing: Bearing, most: usize| {
            let fitting = clauses.iter().filter(move |clause| clause.bearing == bearing);
            fitting.take(most).cloned().collect::<Vec<Clause>>()
        };
        let mut because = match winner {
            Some(winner) => of(Bearing::For(winner), MOST_REASONS),
            // A draw has a reason on each side, or on neither.
            None => {
                let each: Vec<Clause> = Color::ALL.iter().flat_map(|&side| of(Bearing::For(side), 1)).collect();
                if each.len() == Color::ALL.len() { each } else { Vec::new() }
            }
        };
        because.extend(of(Bearing::Neutral, MOST_REASONS - because.len()));
        let mut although = Vec::new();
        if because.is_empty() {
            let against = Color::ALL.into_iter().filter(|&side| Some(side) != winner);
            although.extend(against.flat_map(|side| of(Bearing::For(side), MOST_REASONS)).take(MOST_REASONS));
        }
        Reasons { because, although }
    }

    /// The sentence; `is_split` tells whether the tree has conditions.
    fn sentence(&self, result: &str, is_split: bool) -> String {
        let joined =
            |clauses: &[Clause]| clauses.iter().map(|clause| clause.text.as_str()).collect::<Vec<_>>().join(", and ");
        match (&self.because[..], &self.although[..]) {
            ([], []) if is_split => format!("{result}, by the decision tree of this material."),
            ([], []) => format!("{result}, as in every position of this material."),
            ([], although) => format!("{result}, although {}.", joined(although)),
            (because, _) => format!("{result}, because {}.", joined(because)),
        }
    }
}

#[cfg(test)]
mod tests;
