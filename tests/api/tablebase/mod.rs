//! Endgame tables through the public API: against the slow twin, against published numbers, and for consistency.

mod classes;
mod counts;
mod index;
mod limited;
mod material;
mod one_move;
mod slow_twin;
mod solver;

use crate::slow;
use doushouqi::board::{Color, NoMove, Piece, Position, RuleOptions, Setup, Square};
use doushouqi::tablebase::{CellValue, ClassId, Material, Options, Solver, squares_in_play};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use slow::Board;
use std::collections::HashSet;

fn rules(text: &str) -> RuleOptions {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn material(text: &str) -> Material {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Every preset, and the paper's rules with each one option changed to each other value. Repetition is left out: tables
/// do not depend on it.
fn rule_sets() -> Vec<RuleOptions> {
    let mut all = slow::presets_and_single_values();
    let mut seen = HashSet::new();
    all.retain(|options| seen.insert(options.table_hash()));
    all
}

fn solver(options: &RuleOptions, pieces: usize) -> Solver {
    Solver::new(options, pieces, Options::default())
}

fn class_of(solver: &Solver, material: Material) -> ClassId {
    solver.classes().member(material).unwrap_or_else(|| panic!("{material} has no class")).class
}

/// A solver that has solved the class of a material and all classes that its captures lead to.
fn solved(options: &RuleOptions, material: Material, how: Options) -> Solver {
    let mut solver = Solver::new(options, material.len(), how);
    let id = class_of(&solver, material);
    solver.solve_class(id, &|_, _| {}).unwrap_or_else(|error| panic!("{material}: {error}"));
    solver
}

fn position_of(board: &Board, turn: Color) -> Position {
    let mut setup = Setup::empty(turn);
    for (slot, piece) in setup.squares.iter_mut().zip(board) {
        *slot = piece.map(|(color, animal)| Piece { color, animal });
    }
    Position::from_setup(&setup).unwrap_or_else(|error| panic!("{setup:?}: {error}"))
}

/// The value of a position, computed from the values after its moves. If every position has this value, all values are
/// correct: by induction over the plies no distance can be wrong, and all other positions are draws.
fn value_by_one_move(solver: &Solver, board: &Board, turn: Color, options: &RuleOptions) -> CellValue {
    let moves = slow::legal_moves(board, turn, options);
    if moves.is_empty() {
        return CellValue::NoMove;
    }
    let (mut win, mut loss, mut draws) = (None::<u16>, 0, false);
    for (from, to) in moves {
        let next = slow::make(board, from, to);
        let theirs = if slow::winner(&next).is_some() {
            CellValue::Decided(0)
        } else {
            let next = position_of(&next, !turn);
            solver.cell_value(&next).unwrap_or_else(|| panic!("{} has no value", next.to_fen()))
        };
        match theirs {
            CellValue::NoMove if options.no_move == NoMove::Loss => win = Some(1),
            CellValue::Draw | CellValue::NoMove => draws = true,
            CellValue::Decided(plies) if plies % 2 == 0 => win = Some(win.map_or(plies + 1, |w| w.min(plies + 1))),
            CellValue::Decided(plies) => loss = loss.max(plies + 1),
        }
    }
    match win {
        Some(plies) => CellValue::Decided(plies),
        None if draws => CellValue::Draw,
        None => CellValue::Decided(loss),
    }
}

fn random_board(random: &mut Pcg64, material: Material) -> Board {
    let mut board = slow::EMPTY;
    for piece in material.pieces() {
        let squares: Vec<Square> = squares_in_play(piece).into_iter().filter(|s| board[s.index()].is_none()).collect();
        board[squares[random.next_u64() as usize % squares.len()].index()] = Some((piece.color, piece.animal));
    }
    board
}

/// Checks that random positions of a material have the values that follow from the values after their moves.
fn check_by_one_move(solver: &Solver, material: Material, options: &RuleOptions, seed: u64, positions: usize) {
    let mut random = Pcg64::seed_from_u64(seed);
    for _ in 0..positions {
        let board = random_board(&mut random, material);
        for turn in Color::ALL {
            let position = position_of(&board, turn);
            let expected = value_by_one_move(solver, &board, turn, options);
            assert_eq!(solver.cell_value(&position), Some(expected), "{} under {options}", position.to_fen());
        }
    }
}
