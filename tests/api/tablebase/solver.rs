//! The solver: equal tables on any CPU and with any number of threads, and its errors.

use super::{class_of, material, rules, solved, solver};
use doushouqi::board::{Position, RuleOptions};
use doushouqi::cpu::CpuLevel;
use doushouqi::tablebase::{CellValue, Index, Options, SolveError, Solver, Table, first_difference};

fn same_tables(a: &Solver, b: &Solver, pieces: usize, what: &str) {
    let tables = |solver: &Solver, id| solver.table(id).cloned();
    for (id, class) in a.classes().level(pieces) {
        let (left, right): (Option<Table>, Option<Table>) = (tables(a, id), tables(b, id));
        assert!(left.is_some() || pieces > 3, "{} is solved", class.representative);
        // Not assert_eq!: a table is too long to print.
        assert!(left == right, "{}: {what}", class.representative);
        assert_eq!(a.class_stats(id), b.class_stats(id), "{}: {what}", class.representative);
    }
}

/// All classes of three pieces, and those of four pieces with these names.
fn solve_some(options: &RuleOptions, level: CpuLevel, four: &[&str]) -> Solver {
    let mut solver = Solver::new(options, 4, Options { level, ..Options::default() });
    for pieces in 2..=3 {
        solver.solve_level(pieces, true, &|_, _| {}).expect("three pieces can be solved");
    }
    for name in four {
        let id = class_of(&solver, material(name));
        solver.solve_class(id, &|_, _| {}).expect("four pieces can be solved");
        assert!(solver.table(id).is_some());
    }
    solver
}

#[test]
fn every_cpu_level_gives_the_same_tables() {
    assert_eq!(CpuLevel::available().next(), Some(CpuLevel::Portable));
    for text in ["paper", "chinese"] {
        let solve = |level| solve_some(&rules(text), level, &["LRvTR", "ETvLC"]);
        let portable = solve(CpuLevel::Portable);
        for level in CpuLevel::available().skip(1) {
            let other = solve(level);
            for pieces in 2..=4 {
                same_tables(&portable, &other, pieces, level.name());
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_tables() {
    // With several threads, rows are cut into chunks of 512 or more.
    let four = ["LRvTR", "ETvLC", "ERvLR"];
    assert!(
        four.iter().all(|name| Index::new(material(name), &RuleOptions::PAPER).unwrap().rows > 2 * 512),
        "the classes have several chunks"
    );
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        pool.install(|| solve_some(&RuleOptions::PAPER, CpuLevel::get(), &four))
    };
    let one = solve(1);
    for threads in [2, 5] {
        let other = solve(threads);
        for pieces in 2..=4 {
            same_tables(&one, &other, pieces, &format!("{threads} threads"));
        }
    }
}

#[test]
fn finished_and_unsolved_positions_have_no_value() {
    let solver = solved(&RuleOptions::PAPER, material("LvR"), Options::default());
    let value =
        |fen: &str| solver.cell_value(&Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}")));
    assert_eq!(value("7/3L3/7/7/7/7/7/6r/7 w"), Some(CellValue::Decided(1)));
    assert_eq!(value("3L3/7/7/7/7/7/7/6r/7 b"), None, "White is in the den");
    assert_eq!(value("7/3L3/7/7/7/7/7/7/7 w"), None, "Black has no piece");
    assert_eq!(value("7/3L3/7/7/7/7/7/6e/7 w"), None, "not solved");
    assert_eq!(value("7/3LE2/7/7/7/7/7/6r/7 w"), None, "too many pieces");
}

#[test]
fn too_many_pieces_are_refused_at_once() {
    let mut solver = solver(&RuleOptions::PAPER, 7);
    let material = material("ELTPvDWC");
    let id = class_of(&solver, material);
    let representative = solver.classes().get(id).representative;
    let error = SolveError::TooManyPieces { material: representative, pieces: 7 };
    assert_eq!(solver.solve_class(id, &|_, _| panic!("nothing is solved")), Err(error.clone()));
    assert_eq!(error.to_string(), format!("{representative} has 7 pieces; at most 6 can be solved"));
}

/// Two rule sets with the same classes.
#[test]
fn the_first_difference_is_named() {
    let solved = |text: &str| {
        let mut solver = Solver::new(&rules(text), 3, Options::default());
        (2..=3).for_each(|pieces| solver.solve_level(pieces, true, &|_, _| {}).unwrap());
        solver
    };
    let (one, again, other) = (solved("traps=opponent"), solved("traps=opponent"), solved("traps=any"));
    let mut found = 0;
    for (id, class) in one.classes().iter() {
        assert_eq!(first_difference(&one, &again, id), None);
        let Some(difference) = first_difference(&one, &other, id) else {
            assert_eq!(one.table(id), other.table(id));
            continue;
        };
        found += 1;
        assert_eq!(difference.material, class.representative);
        let position = Position::from_fen(&difference.fen.unwrap()).unwrap();
        let value = |solver: &Solver| solver.cell_value(&position).unwrap().to_string();
        assert_eq!((difference.first, difference.second), (value(&one), value(&other)));
        assert_ne!(value(&one), value(&other));
    }
    assert!(found > 0);
    let without = Solver::new(&rules("paper"), 3, Options::default());
    let (id, _) = one.classes().iter().next().unwrap();
    assert_eq!(first_difference(&one, &without, id).unwrap().second, "no values");
}
