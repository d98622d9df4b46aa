//! The values of small materials against the slow twin.

use super::{material, position_of, rule_sets, rules, solved, solver};
use crate::slow;
use doushouqi::board::{Animal, Color, RuleOption, RuleOptions};
use doushouqi::tablebase::{AnimalSet, CellValue, Material, Options, Solver, Stats};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;

fn animals(set: AnimalSet) -> Vec<Animal> {
    set.strongest_first().collect()
}

fn from_slow(value: slow::Value) -> CellValue {
    match value {
        slow::Value::Draw => CellValue::Draw,
        slow::Value::NoMove => CellValue::NoMove,
        slow::Value::Decided(plies) => CellValue::Decided(plies),
    }
}

fn count(stats: &mut Stats, value: CellValue) {
    match value {
        CellValue::Draw => stats.draws += 1,
        CellValue::NoMove => stats.no_move += 1,
        CellValue::Decided(plies) => stats.add_decided(plies, 1),
    }
}

/// Checks that every position of a material, with either side to move, has the slow twin's value, and that the counts
/// agree.
fn compare(solver: &Solver, tables: &slow::Tables, material: Material, options: &RuleOptions) {
    let mut counts = [Stats::default(), Stats::default()];
    for (board, turn, value) in
        tables.positions(&animals(material.side(Color::White)), &animals(material.side(Color::Black)))
    {
        let (position, value) = (position_of(&board, turn), from_slow(value));
        assert_eq!(solver.cell_value(&position), Some(value), "{} under {options}", position.to_fen());
        count(&mut counts[turn as usize], value);
    }
    let stats = solver.stats(material).expect("the material is solved");
    for color in Color::ALL {
        assert_eq!(stats[color], &counts[color as usize], "{material}, {color} to move, under {options}");
    }
}

#[test]
fn all_two_piece_materials_are_the_slow_twins() {
    let sets = rule_sets();
    let changes = |option: &RuleOption| if option.in_tables { option.values.len() - 1 } else { 0 };
    let changes: usize = RuleOptions::OPTIONS.iter().map(changes).sum();
    assert_eq!(sets.len(), 2 + changes, "all presets but paper and chinese are paper with one option changed");
    sets.par_iter().for_each(|options| {
        let mut solver = solver(options, 2);
        solver.solve_level(2, true, &|_, _| {}).expect("two pieces can be solved");
        for material in Material::all(2) {
            let tables =
                slow::solve(&animals(material.side(Color::White)), &animals(material.side(Color::Black)), options);
            compare(&solver, &tables, material, options);
        }
    });
}

fn compare_one(options: &RuleOptions, material: Material) {
    let solver = solved(options, material, Options::default());
    let tables = slow::solve(&animals(material.side(Color::White)), &animals(material.side(Color::Black)), options);
    compare(&solver, &tables, material, options);
}

/// Chosen materials: two rats and a leaper, a leaper over the enemy's rat, elephant and rat on one side, members of a
/// class other than its representative, and materials with few stalemates.
const THREE_PIECES: &[(&str, &[&str])] = &[
    ("paper", &["LRvR", "RvTR", "ERvL", "EvLR", "TvER", "CWvR"]),
    ("chinese", &["TRvR", "ERvL", "RvWD"]),
    ("bodlaender", &["RvLR", "EvTR"]),
    ("bell", &["ERvT"]),
    ("quadibloc", &["TvRL"]),
    ("paper,traps=any", &["LRvR", "ELvR"]),
    ("paper,own-rat-blocks=no", &["LRvR", "ERvT"]),
    ("paper,tiger-leap=files", &["TRvR", "RvLT"]),
    ("paper,tiger-leap=ranks,own-rat-blocks=no", &["ELvT"]),
    ("panther-leap=ranks", &["PRvR", "RvPR", "PvTR", "EvPR"]),
    ("paper,no-move=loss,shore=none", &["LRvR", "EvTR"]),
    ("paper,no-move=loss,elephant-takes-rat=no", &["CRvE"]),
];

#[test]
fn chosen_three_piece_materials_are_the_slow_twins() {
    let cases: Vec<(RuleOptions, Material)> =
        THREE_PIECES.iter().flat_map(|(text, names)| names.iter().map(|name| (rules(text), material(name)))).collect();
    cases.par_iter().with_max_len(1).for_each(|(options, material)| compare_one(options, *material));
}

#[test]
fn some_three_piece_materials_are_the_slow_twins() {
    let mut random = Pcg64::seed_from_u64(3);
    let (sets, all) = (rule_sets(), Material::all(3));
    let cases: Vec<(RuleOptions, Material)> = (0..6)
        .map(|i| {
            let options = if i < 2 { RuleOptions::PAPER } else { sets[random.next_u64() as usize % sets.len()] };
            (options, all[random.next_u64() as usize % all.len()])
        })
        .collect();
    cases.par_iter().with_max_len(1).for_each(|(options, material)| compare_one(options, *material));
}

/// `./test all_three_piece -- --ignored --nocapture`; `DSQ_TEST_RULES=chinese` selects other rules.
#[test]
#[ignore = "takes some ten minutes"]
fn all_three_piece_materials_are_the_slow_twins() {
    let options = rules(&std::env::var("DSQ_TEST_RULES").unwrap_or_else(|_| "paper".to_owned()));
    let mut solver = solver(&options, 3);
    for pieces in 2..=3 {
        solver.solve_level(pieces, true, &|_, _| {}).expect("three pieces can be solved");
    }
    let solver = &solver;
    Material::all(3).into_par_iter().with_max_len(1).for_each(|material| {
        let tables =
            slow::solve(&animals(material.side(Color::White)), &animals(material.side(Color::Black)), &options);
        compare(solver, &tables, material, &options);
    });
}
