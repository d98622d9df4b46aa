//! The slow twin against published numbers.

use crate::slow;

use doushouqi::board::{Animal, Color, Position, RuleOptions};
use slow::{Tables, Value};

/// Counts of the positions with White to move: all, wins, losses, draws, and the plies of the longest line. Stalemates
/// are excluded and counted last.
#[derive(Debug, Default, PartialEq)]
struct Row {
    positions: u64,
    wins: u64,
    losses: u64,
    draws: u64,
    longest: u16,
    no_move: u64,
}

fn count(row: &mut Row, tables: &Tables, white: &[Animal], black: &[Animal]) {
    for (_, turn, value) in tables.positions(white, black) {
        if turn == Color::Black {
            continue;
        }
        match value {
            Value::NoMove => {
                row.no_move += 1;
                continue;
            }
            Value::Draw => row.draws += 1,
            Value::Decided(plies) => {
                *(if plies % 2 == 1 { &mut row.wins } else { &mut row.losses }) += 1;
                row.longest = row.longest.max(plies);
            }
        }
        row.positions += 1;
    }
}

/// van Rijn and Vis (2014), table 2, first row.
#[test]
fn two_pieces_as_published() {
    let options = RuleOptions::PAPER;
    let mut row = Row::default();
    for white in Animal::ALL {
        for black in Animal::ALL {
            count(&mut row, &slow::solve(&[white], &[black], &options), &[white], &[black]);
        }
    }
    let published = Row { positions: 160_068, wins: 82_852, losses: 64_501, draws: 12_715, longest: 34, no_move: 0 };
    assert_eq!(row, published);
}

/// The second row: all materials of three pieces.
#[test]
#[ignore = "takes some ten minutes"]
fn three_pieces_as_published() {
    let options = RuleOptions::PAPER;
    let mut row = Row::default();
    for (i, &first) in Animal::ALL.iter().enumerate() {
        for &second in &Animal::ALL[..i] {
            for other in Animal::ALL {
                let (two, one) = ([first, second], [other]);
                count(&mut row, &slow::solve(&two, &one, &options), &two, &one);
                count(&mut row, &slow::solve(&one, &two, &options), &one, &two);
            }
        }
    }
    let published = Row {
        positions: 54_354_684,
        wins: 30_297_857,
        losses: 23_369_820,
        draws: 687_007,
        longest: 67,
        no_move: 1_212,
    };
    assert_eq!(row, published);
}

/// Table 1 of both papers: a position that already occurred on the path is a leaf.
#[test]
fn leaves_as_published() {
    let board = slow::board_of(&Position::start());
    for (depth, leaves) in [(1, 24), (2, 576), (3, 12_240), (4, 260_100), (5, 5_098_477)] {
        assert_eq!(slow::perft_leaf(&board, Color::White, &RuleOptions::PAPER, depth), leaves, "depth {depth}");
    }
    assert_eq!(slow::perft(&board, Color::White, &RuleOptions::PAPER, 5), 5_111_725);
}

/// Times the solver: `./test timings -- --ignored --nocapture`.
#[test]
#[ignore = "only prints times"]
fn timings() {
    use Animal::*;
    let materials: [(&[Animal], &[Animal]); 5] = [
        (&[Elephant], &[Rat]),
        (&[Lion], &[Tiger]),
        (&[Elephant, Rat], &[Lion]),
        (&[Tiger, Lion], &[Rat]),
        (&[Cat, Dog], &[Rat]),
    ];
    for (white, black) in materials {
        let start = std::time::Instant::now();
        let tables = slow::solve(white, black, &RuleOptions::PAPER);
        let time = start.elapsed();
        let mut row = Row::default();
        count(&mut row, &tables, white, black);
        println!("{white:?} against {black:?}: {time:.2?}, White to move {row:?}");
    }
}
