//! Puzzles: positions in which exactly one move keeps the value, by endgame tables.
//!
//! [`Puzzle::at`] defines a puzzle and all its fields. The result depends only on the rules and the position, so that a
//! puzzle can be checked by computing it again.

mod export;
mod generate;
mod source;
mod themes;

pub use export::{anki_header, csv_header};
pub use generate::{Generate, MEMORY_PIECES};
pub use source::Source;
pub use themes::Theme;

use crate::minimax::minimax;
use doushouqi::board::{Move, ParseFenError, Piece, Position, Rules, Square};
use doushouqi::tablebase::{Material, Probe, Value, Wdl};
use serde::{Deserialize, Serialize};

/// The largest depth in plies of the search that grades puzzles.
pub const MAX_DEPTH: u32 = 8;
/// The most plies of a solution; longer solutions are truncated.
pub const MAX_PLIES: usize = 31;
/// The most plies of a solution that draws, whose line has no end.
const MAX_DRAW_PLIES: usize = 9;
/// The fewest legal moves of a puzzle.
const MIN_MOVES: usize = 3;

/// The result that the solver has to achieve.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Exactly one move wins.
    Win,
    /// No move wins, and exactly one does not lose.
    Draw,
}

/// A position with exactly one move that keeps its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Puzzle {
    /// The name: 16 hexadecimal digits that depend on the position and on the rules.
    pub id: String,
    /// The position, as FEN. The solver has the move.
    pub fen: String,
    /// The rules: the name of a preset, or every option.
    pub rules: String,
    /// The material, White's first.
    pub material: String,
    /// The result that the solver has to achieve.
    pub goal: Goal,
    /// The moves in coordinates; the solver makes the first and the last. Each move of the solver is the only one that
    /// keeps the value; the opponent replies with the best moves of the tables. The line ends when the game ends or a
    /// second move keeps the value.
    pub solution: Vec<String>,
    /// The same moves in the papers' notation.
    pub notation: Vec<String>,
    /// Number of plies of the solution.
    pub plies: usize,
    /// Plies to the end of the game under best play; `None` if the solver has to draw.
    pub dtw: Option<u16>,
    /// The least depth such that, from there to [`MAX_DEPTH`] plies, a plain search with Burnett's evaluation finds the
    /// first move as its only best move; `MAX_DEPTH + 1` if there is none.
    pub depth: u32,
    /// Number of wrong first moves that this search considers best at some depth.
    pub alternatives: usize,
    /// Number of legal first moves.
    pub moves: usize,
    /// The themes of the solution.
    pub themes: Vec<Theme>,
    /// From 1, easy, to 5, hard.
    pub difficulty: u8,
    /// A position one ply earlier, as FEN.
    pub before: String,
    /// The move, in coordinates, that leads from `before` to the puzzle.
    pub last_move: String,
}

/// A solution: each move with the position in which it is made.
type Line = Vec<(Move, Position)>;

impl Puzzle {
    /// The puzzle of a position; `None` if it is not one: no single move keeps the value, it has fewer than three legal
    /// moves, the side to move loses, no legal move leads to it, or the tables do not cover it.
    ///
    /// # Errors
    /// If the tables cannot be read.
    pub fn at<P: Probe>(tables: &P, position: &Position) -> Result<Option<Puzzle>, P::Error> {
        let rules = tables.rules();
        let Some(moves) = tables.moves(position)? else { return Ok(None) };
        let Some(goal) = goal(&moves).filter(|_| moves.len() >= MIN_MOVES) else { return Ok(None) };
        let (Some((before, last_move)), Some(material)) = (predecessor(position, rules), Material::of(position)) else {
            return Ok(None);
        };
        let line = solution(tables, position, goal)?;
        let (depth, alternatives) = grade(position, rules, moves[0].0);
        let plies = line.len();
        Ok(Some(Puzzle {
            id: id(position, rules),
            fen: position.to_fen(),
            rules: rules.options().preset_name().map_or_else(|| rules.options().to_string(), str::to_owned),
            material: material.to_string(),
            goal,
            solution: line.iter().map(|(mv, _)| mv.to_string()).collect(),
            notation: line.iter().map(|(mv, position)| mv.notation(position)).collect(),
            plies,
            dtw: moves[0].1.dtw,
            depth,
            alternatives,
            moves: moves.len(),
            themes: themes::themes(tables, goal, &line)?,
            difficulty: difficulty(depth, alternatives, plies),
            before: before.to_fen(),
            last_move: last_move.to_string(),
        }))
    }

    /// The position to solve.
    ///
    /// # Errors
    /// If the FEN is malformed.
    pub fn position(&self) -> Result<Position, ParseFenError> {
        Position::from_fen(&self.fen)
    }
}

/// The goal of the side to move, given the values of its moves, the best first; `None` unless the position is not lost
/// and exactly one move keeps its value.
#[must_use]
pub fn goal(moves: &[(Move, Value)]) -> Option<Goal> {
    let best = moves.first()?.1.wdl;
    let only = moves.get(1).is_none_or(|(_, second)| second.wdl < best);
    match best {
        Wdl::Win if only => Some(Goal::Win),
        Wdl::Draw if only => Some(Goal::Draw),
        _ => None,
    }
}

/// The solution: the moves of the solver as long as exactly one keeps the value, and the best replies of the tables.
fn solution<P: Probe>(tables: &P, position: &Position, goal_of_all: Goal) -> Result<Line, P::Error> {
    let most = if goal_of_all == Goal::Win { MAX_PLIES } else { MAX_DRAW_PLIES };
    let mut line: Line = Vec::new();
    let mut current = position.clone();
    loop {
        let Some(moves) = tables.moves(&current)? else { break };
        let repeats = line.iter().any(|(_, earlier)| *earlier == current);
        if repeats || goal(&moves) != Some(goal_of_all) {
            break;
        }
        let key = moves[0].0;
        let next = current.make(key);
        line.push((key, current));
        if next.winner().is_some() || line.len() >= most {
            break;
        }
        // The best reply by the tables; none if the opponent has no legal move.
        let Some((reply, _)) = tables.moves(&next)?.and_then(|replies| replies.into_iter().next()) else { break };
        current = next.make(reply);
        line.push((reply, next));
        if current.winner().is_some() {
            break;
        }
    }
    // The solution ends with a move of the solver.
    if line.len().is_multiple_of(2) {
        line.pop();
    }
    Ok(line)
}

/// The depth that a search needs to find the only move, and the number of other moves that it rates at least as high at
/// some depth.
fn grade(position: &Position, rules: &Rules, key: Move) -> (u32, usize) {
    let mut depth = 1;
    let mut tempting: Vec<Move> = Vec::new();
    for plies in 1..=MAX_DEPTH {
        let best = minimax(position, rules, plies).best;
        if best != [key] {
            depth = plies + 1;
        }
        tempting.extend(best.iter().filter(|&&mv| mv != key));
    }
    tempting.sort_unstable_by_key(|mv| (mv.from, mv.to));
    tempting.dedup();
    (depth, tempting.len())
}

/// The difficulty from 1 to 5: half a step for each ply that the search needs beyond the second, for each alternative
/// (at most four), and for each move of the solver beyond the first (at most four).
fn difficulty(depth: u32, alternatives: usize, plies: usize) -> u8 {
    let steps = depth.saturating_sub(2) as usize + alternatives.min(4) + (plies / 2).min(4);
    (1 + steps / 3).min(5) as u8
}

/// A position one ply earlier and the quiet move from there: the first in the order of pieces and squares.
fn predecessor(position: &Position, rules: &Rules) -> Option<(Position, Move)> {
    let setup = position.to_setup();
    let pieces: Vec<(Piece, Square)> = position.pieces().filter(|(piece, _)| piece.color != position.turn()).collect();
    pieces.into_iter().find_map(|(piece, to)| {
        Square::all().find_map(|from| {
            let mut earlier = setup.clone();
            if earlier.squares[from.index()].is_some() {
                return None;
            }
            earlier.squares[to.index()] = None;
            earlier.squares[from.index()] = Some(piece);
            earlier.turn = piece.color;
            let earlier = Position::from_setup(&earlier).ok().filter(|earlier| earlier.winner().is_none())?;
            let mv = Move { animal: piece.animal, from, to };
            earlier.is_legal(mv, rules).then_some((earlier, mv))
        })
    })
}

/// FNV-1a, 64 bits, over the FEN, continued from the hash of the rules.
fn id(position: &Position, rules: &Rules) -> String {
    let hash = position
        .to_fen()
        .bytes()
        .fold(rules.options().table_hash(), |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests;
