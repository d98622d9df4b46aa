use super::TableSet;
use super::look_up::{conversions, may_convert};
use crate::board::geometry::DEN;
use crate::board::{Color, Move, Position, RuleOptions, Rules};
use crate::game::random::Random;
use crate::tablebase::{CellValue, Generate, Material, Options, Solver};

#[test]
fn conversions_are_the_captures_and_den_entries() {
    let mut found = [0; 2];
    for options in ["paper", "chinese", "paper,tiger-leap=files"] {
        let rules = Rules::new(options.parse().unwrap());
        for number in 0..3000 {
            let turn = Color::ALL[number % 2];
            let Some(position) = Random::numbered(3, number as u64).scatter(turn, 2 + number % 12) else {
                continue;
            };
            let ends = |mv: &&Move| {
                let to = mv.to.index();
                position.side(!turn).bits() >> to & 1 != 0 || to == DEN[!turn].index()
            };
            let all = position.moves(&rules);
            let wanted: Vec<Move> = all.iter().filter(ends).copied().collect();
            if position.winner().is_none() {
                assert_eq!(conversions(&position, &rules).to_vec(), wanted, "{}", position.to_fen());
                assert!(wanted.is_empty() || may_convert(&position), "{}", position.to_fen());
                found[usize::from(wanted.is_empty())] += 1;
            }
        }
    }
    assert!(found.iter().all(|&count| count > 500), "{found:?}");
}

/// A thread that probes two sets in turn gets the values of each, also after one of them was opened again.
#[test]
fn recent_blocks_are_those_of_their_set() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for (dir, rules) in dirs.iter().zip(["paper", "chinese"]) {
        let rules: RuleOptions = rules.parse().unwrap();
        Generate::new(dir.path(), rules).run(&mut Solver::new(&rules, 2, Options::default()), &|_| {}).unwrap();
    }
    let open = || dirs.each_ref().map(|dir| TableSet::open(dir.path()).unwrap());
    let first = open();
    let solvers = first.each_ref().map(|set| Solver::solved(set.rules().options(), 2).unwrap());
    for sets in [first, open()] {
        for number in 0..200 {
            let Some(position) = Random::numbered(4, number).scatter(Color::White, 2) else { continue };
            for (set, solver) in sets.iter().zip(&solvers) {
                let found = set.look_up(&position, None).unwrap();
                assert_eq!(found, solver.cell_value(&position), "{}", position.to_fen());
            }
        }
    }
}

/// White's elephant captures Black's, and the panther beside its own den has no legal move.
#[test]
fn who_has_no_move_loses_where_the_rules_say_so() {
    let position = Position::from_fen("Eep4/2L4/7/7/7/7/7/7/7 w").unwrap();
    let material = Material::of(&position).unwrap();
    for (rules, value) in [("paper,no-move=loss", 1), ("paper", 3)] {
        let rules: RuleOptions = rules.parse().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut solver = Solver::new(&rules, 4, Options::default());
        let job = Generate { material: Some(material), ..Generate::new(dir.path(), rules) };
        job.run(&mut solver, &|_| {}).unwrap();
        let set = TableSet::open(dir.path()).unwrap();
        assert_eq!(set.look_up(&position, None).unwrap(), Some(CellValue::Decided(value)), "as it is stored");
        assert_eq!(set.look_ahead(&position, None).unwrap(), CellValue::Decided(value), "as its moves say");
    }
}
