//! Mining: features, the printed trees, learned trees and patterns in the tables, through the library and the program.

mod duels;
mod opening;
mod patterns;
mod trees;

use crate::program::{fails, json, stdout};
use crate::slow::{self, Board};
use doushouqi::board::{Animal, Color, Position, RuleOptions, Rules, Square};
use doushouqi::tablebase::{CellValue, Material, Probe, Solver};
use mining::games::{SelfPlay, SelfPlayer, play, sampled_mobility, table_mobility};
use mining::patterns::{draws, fortresses, longest_lines, parities, swaps};
use mining::printed::{POSITIONS, compare_positions, compare_trees, wrong_of_tree, wrong_positions};
use mining::trees::{learn_all, learn_whole, sizes};
use mining::zugzwang::zugzwangs;
use report::plot::{Axis, Line, line_chart};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::OnceLock;
use study::learn::learn;
use study::reproduce::ENDGAMES;
use study::{FeatureChoice, FeatureSet, TrainingSet, Winner};

const PAPER: RuleOptions = RuleOptions::PAPER;

/// All of two and three pieces.
fn tables() -> &'static Solver {
    static TABLES: OnceLock<Solver> = OnceLock::new();
    TABLES.get_or_init(|| Solver::solved(&PAPER, 3).expect("three pieces are solved"))
}

fn material(text: &str) -> Material {
    text.parse().expect("a material")
}

fn manhattan(a: Square, b: Square) -> i32 {
    (a.file().index().abs_diff(b.file().index()) + a.rank().index().abs_diff(b.rank().index())) as i32
}

fn square(name: &str) -> Square {
    name.parse().expect("a square")
}

/// The winner if the side to move has this value of the slow solver; stalemate is a draw.
fn winner_of(value: slow::Value, turn: Color) -> Winner {
    let slow::Value::Decided(plies) = value else { return Winner::Draw };
    if (plies % 2 == 1) == (turn == Color::White) { Winner::White } else { Winner::Black }
}

/// All positions of two pieces with White to move, by the slow solver.
fn slow_positions(white: Animal, black: Animal) -> Vec<(Board, Square, Square, Winner)> {
    let tables = slow::solve(&[white], &[black], &PAPER);
    let at = |board: &Board, color| {
        let index = board.iter().position(|piece| piece.is_some_and(|(c, _)| c == color)).expect("a piece");
        Square::new(index).expect("a square")
    };
    tables
        .positions(&[white], &[black])
        .filter(|&(_, turn, _)| turn == Color::White)
        .map(|(board, turn, value)| {
            let (w, b) = (at(&board, Color::White), at(&board, Color::Black));
            (board, w, b, winner_of(value, turn))
        })
        .collect()
}

fn depth(tree: &Json) -> usize {
    if tree["winner"].is_string() { 0 } else { 1 + depth(&tree["yes"]).max(depth(&tree["no"])) }
}
