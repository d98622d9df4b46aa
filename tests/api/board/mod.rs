//! The public API of the board: moves against the slow twin, and every text that the board reads or writes.

mod corners;
mod moves;
mod rules;
mod squares;
mod text;

use crate::slow;
use doushouqi::board::{
    Animal, Color, NoMove, Outcome, Piece, Position, PositionError, RuleOption, RuleOptions, Rules, Setup, Square,
};
use rand_core::Rng;
use rand_pcg::Pcg64;
use std::collections::BTreeSet;

fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

fn options(text: &str) -> RuleOptions {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The number of rule sets that differ in the options that `f` chooses.
fn combinations(f: impl Fn(&RuleOption) -> bool) -> usize {
    RuleOptions::OPTIONS.iter().filter(|option| f(option)).map(|option| option.values.len()).product()
}

/// A position of random pieces on allowed squares, most of them near each other.
fn random_position(random: &mut Pcg64) -> Position {
    let mut below = |n: u64| random.next_u64() % n;
    loop {
        let mut setup = Setup::empty(if below(2) == 0 { Color::White } else { Color::Black });
        let keep = 1 + below(8);
        let (lowest, height) = (below(9), 1 + below(9));
        for color in Color::ALL {
            for animal in Animal::ALL {
                if below(8) >= keep {
                    continue;
                }
                let rank = (lowest + below(height)).min(8);
                let square = (rank * 7 + below(7)) as usize;
                let before = setup.clone();
                if setup.squares[square].is_none() {
                    setup.squares[square] = Some(Piece { color, animal });
                }
                match Position::from_setup(&setup) {
                    Ok(_) | Err(PositionError::NoPieces) => {}
                    Err(_) => setup = before,
                }
            }
        }
        if let Ok(position) = Position::from_setup(&setup) {
            return position;
        }
    }
}

fn perft(position: &Position, rules: &Rules, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    position.moves(rules).iter().map(|&mv| perft(&position.make(mv), rules, depth - 1)).sum()
}

/// Compares the library's moves and ends of games with the slow twin.
fn compare(position: &Position, rules: &Rules) {
    let options = rules.options();
    let board = slow::board_of(position);
    let here = || format!("{position:?} under {options}");
    let moves = position.moves(rules);
    let fast: BTreeSet<(Square, Square)> = moves.iter().map(|mv| (mv.from, mv.to)).collect();
    assert_eq!(fast.len(), moves.len(), "{}: a move comes twice", here());
    let expected: BTreeSet<(Square, Square)> =
        slow::legal_moves(&board, position.turn(), options).into_iter().collect();
    assert_eq!(fast, expected, "{}", here());
    assert_eq!(position.count_moves(rules) as usize, moves.len(), "{}", here());
    assert_eq!(position.winner(), slow::winner(&board), "{}", here());
    let mut enters = false;
    for mv in &moves {
        let piece = Piece { color: position.turn(), animal: mv.animal };
        assert_eq!(position.piece_at(mv.from), Some(piece), "{}: {mv}", here());
        assert_eq!(mv.is_capture(position), board[mv.to.index()].is_some(), "{}: {mv}", here());
        let next = position.make(*mv);
        assert_eq!(slow::board_of(&next), slow::make(&board, mv.from, mv.to), "{}: {mv}", here());
        assert_eq!(next.turn(), !position.turn(), "{}: {mv}", here());
        assert_eq!(next.key(), next.compute_key(), "{}: {mv}", here());
        enters |= mv.to == if position.turn() == Color::White { Square::D9 } else { Square::D1 };
    }
    assert_eq!(position.can_enter_den(rules), enters, "{}", here());
    let outcome = match slow::winner(&board) {
        Some(color) => Some(Outcome::Win(color)),
        None if !moves.is_empty() => None,
        None if options.no_move == NoMove::Loss => Some(Outcome::Win(!position.turn())),
        None => Some(Outcome::NoMove),
    };
    assert_eq!(position.outcome(rules), outcome, "{}", here());
}
