//! Counts of wins, losses and draws, against published numbers.

use super::{rules, solver};
use doushouqi::board::{Position, RuleOptions};
use doushouqi::tablebase::{ClassId, Stats, Summary};

fn numbers(s: &Summary) -> [u64; 6] {
    [s.positions, s.no_move, s.wins, s.losses, s.draws, s.longest]
}

/// The counts of all materials, White to move, for each number of pieces from two up.
fn levels(options: &RuleOptions, pieces: usize) -> Vec<[u64; 6]> {
    let mut solver = solver(options, pieces);
    let mut rows = Vec::new();
    for n in 2..=pieces {
        assert!(solver.level_stats(n).is_none(), "nothing is solved yet");
        solver.solve_level(n, n < pieces, &|_, _| {}).expect("the level can be solved");
        rows.push(numbers(&solver.level_stats(n).expect("the level is solved").summary()));
    }
    rows
}

/// van Rijn and Vis (2014), table 2, whose counts of positions leave out stalemates.
#[test]
fn two_to_four_pieces_as_published() {
    let published = [
        [160_068, 0, 82_852, 64_501, 12_715, 34],
        [54_355_896, 1_212, 30_297_857, 23_369_820, 687_007, 67],
        [9_685_376_064, 355_554, 5_468_840_343, 4_001_236_449, 214_943_718, 118],
    ];
    assert_eq!(levels(&RuleOptions::PAPER, 4), published);
}

#[test]
fn four_pieces_where_no_move_loses() {
    let expected = [9_685_376_064, 355_554, 5_468_841_113, 4_001_236_829, 214_942_568, 118];
    assert_eq!(levels(&rules("paper,no-move=loss"), 4)[2], expected);
}

#[test]
fn counts_do_not_need_values() {
    let options = rules("paper,no-move=loss");
    let (mut kept, mut counted) = (solver(&options, 3), solver(&options, 3));
    kept.solve_level(2, true, &|_, _| {}).expect("solved");
    counted.solve_level(2, true, &|_, _| {}).expect("solved");
    kept.solve_level(3, true, &|_, _| {}).expect("solved");
    counted.solve_level(3, false, &|_, _| {}).expect("solved");
    for (id, class) in kept.classes().level(3) {
        assert_eq!(kept.class_stats(id), counted.class_stats(id), "{}", class.representative);
        assert!(counted.table(id).is_none());
    }
    let position = Position::from_fen("7/7/7/7/7/6R/7/L6/6r w").expect("a position");
    assert!(kept.cell_value(&position).is_some());
    assert_eq!(counted.cell_value(&position), None);
}

#[test]
fn every_class_is_reported_with_its_positions() {
    let mut solver = solver(&RuleOptions::PAPER, 3);
    for pieces in 2..=3 {
        let reported = std::sync::Mutex::new(Vec::new());
        solver.solve_level(pieces, true, &|id, n| reported.lock().expect("no panic").push((id, n))).expect("solved");
        let mut reported = reported.into_inner().expect("no panic");
        reported.sort();
        let expected: Vec<(ClassId, u64)> = solver
            .classes()
            .level(pieces)
            .map(|(id, _)| {
                let stats = solver.class_stats(id).expect("solved");
                (id, stats.white.summary().positions + stats.black.summary().positions)
            })
            .collect();
        assert_eq!(reported, expected);
    }
}

#[test]
fn summaries_add_up() {
    let mut stats = Stats { no_move: 3, draws: 5, by_plies: Vec::new() };
    assert_eq!(numbers(&stats.summary()), [8, 3, 0, 0, 5, 0]);
    stats.add_decided(4, 0);
    assert_eq!(stats.summary().longest, 0, "a length without positions");
    stats.add_decided(1, 10);
    stats.add_decided(2, 20);
    stats.add_decided(3, 40);
    assert_eq!(numbers(&stats.summary()), [78, 3, 50, 20, 5, 3]);
    let mut sum = stats.clone();
    sum += &stats;
    sum.add_times(&stats, 2);
    assert_eq!(numbers(&sum.summary()), [312, 12, 200, 80, 20, 3]);
}
