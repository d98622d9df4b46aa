//! Endgame tables through the public API: against the slow twin, against published numbers, and for consistency.

use crate::slow;

use doushouqi::board::{Animal, ByColor, Color, File, NoMove, Piece, Position, RuleOption, RuleOptions, Setup, Square};
use doushouqi::cpu::CpuLevel;
use doushouqi::tablebase::{
    AnimalSet, CellValue, Cells, ClassId, Classes, Index, Material, Options, ParseMaterialError, ROW_CELLS, SolveError,
    Solver, Stats, Summary, Table, first_difference, squares_in_play,
};
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use slow::{Board, SQUARES};
use std::collections::{BTreeSet, HashSet};

fn rules(text: &str) -> RuleOptions {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn material(text: &str) -> Material {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn animals(set: AnimalSet) -> Vec<Animal> {
    set.strongest_first().collect()
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

#[test]
fn four_piece_values_follow_from_one_move() {
    let mut random = Pcg64::seed_from_u64(4);
    let all = Material::all(4);
    for (options, chosen) in rule_sets().into_iter().zip(["LRvTR", "ERvLT"].into_iter().cycle()) {
        let any = all[random.next_u64() as usize % all.len()];
        for material in [material(chosen), any] {
            let solver = solved(&options, material, Options::default());
            check_by_one_move(&solver, material, &options, random.next_u64(), 4_000);
        }
    }
}

/// `./test five_piece_values -- --ignored`: about 1 GB of memory for each material.
#[test]
#[ignore = "takes two minutes"]
fn five_piece_values_follow_from_one_move() {
    for (text, name) in [("paper", "ELRvTR"), ("paper,own-rat-blocks=no", "TRvLCR"), ("chinese", "RvELTC")] {
        let (options, material) = (rules(text), material(name));
        let solver = solved(&options, material, Options::default());
        check_by_one_move(&solver, material, &options, 5, 300_000);
    }
}

#[test]
fn the_classes_are_as_many_as_expected() {
    let classes = Classes::new(&RuleOptions::PAPER, 5);
    for (pieces, expected, materials) in [(2, 10, 64), (3, 42, 448), (4, 134, 1_680), (5, 340, 4_256)] {
        assert_eq!(classes.level(pieces).count(), expected, "classes of {pieces} pieces");
        assert_eq!(Material::all(pieces).len(), materials);
        let members: usize = classes.level(pieces).map(|(_, c)| c.same.len() + c.swapped.len()).sum();
        assert_eq!(members, materials, "materials of {pieces} pieces");
    }
    assert_eq!(classes.len(), 10 + 42 + 134 + 340);
    assert_eq!((classes.pieces(), classes.is_empty()), (5, false));
    assert_eq!(classes.options(), &RuleOptions::PAPER);
    assert!(classes.member(material("ELTvPDW")).is_none());
}

#[test]
fn every_material_is_in_one_class() {
    for options in rule_sets() {
        let classes = Classes::new(&options, 4);
        let mut seen = BTreeSet::new();
        let mut before = None;
        for (id, class) in classes.iter() {
            let members = class.same.iter().map(|&m| (m, false)).chain(class.swapped.iter().map(|&m| (m, true)));
            let first = members.clone().map(|(m, _)| m).min();
            assert_eq!(first, Some(class.representative), "the first in the order of spelling");
            assert!(class.same.contains(&class.representative));
            for (material, swapped) in members {
                assert!(seen.insert(material), "{material} is in two classes");
                let member = classes.member(material).expect("a member");
                assert_eq!((member.class, member.swapped), (id, swapped), "{material}");
                let (here, there): (Vec<_>, Vec<_>) = member.pieces.iter().copied().unzip();
                let set = |pieces: &[Piece]| pieces.iter().copied().collect::<HashSet<_>>();
                assert_eq!(set(&here), material.pieces().collect(), "{material}");
                assert_eq!(set(&there), class.representative.pieces().collect(), "{material}");
                for (Piece { color: here, .. }, Piece { color: there, .. }) in &member.pieces {
                    assert_eq!(*there, if swapped { !*here } else { *here }, "{material}");
                }
            }
            let order = (class.representative.len(), class.representative);
            assert!(before.replace(order) < Some(order), "classes come in order");
            for capture in classes.captures(id) {
                assert_eq!(classes.get(capture).representative.len() + 1, class.representative.len());
            }
        }
        assert_eq!(seen.len(), 64 + 448 + 1_680);
    }
}

#[test]
fn materials_of_one_class() {
    let paper = Classes::new(&RuleOptions::PAPER, 4);
    let class = |classes: &Classes, name| classes.member(material(name)).expect("a class").class;
    assert_eq!(class(&paper, "EPvLR"), class(&paper, "ECvTR"));
    assert_eq!(class(&paper, "EPvLR"), class(&paper, "LRvEP"));
    assert_eq!(class(&paper, "PvC"), class(&paper, "DvW"));
    assert_ne!(class(&paper, "LvT"), class(&paper, "PvD"), "leapers are no others");
    let no_leap = Classes::new(&rules("paper,tiger-leap=none"), 4);
    assert_eq!(class(&no_leap, "TvD"), class(&no_leap, "PvD"));
    let panther = Classes::new(&rules("panther-leap=ranks"), 4);
    assert_ne!(class(&panther, "PvC"), class(&panther, "DvW"), "the panther leaps");
    assert_ne!(class(&panther, "PvC"), class(&panther, "TvC"), "the tiger leaps along files, too");
    let sideways = Classes::new(&rules("panther-leap=ranks,tiger-leap=ranks"), 4);
    assert_eq!(class(&sideways, "PvC"), class(&sideways, "TvC"));

    // The same counts and values, although only one material was solved.
    let first = solved(&RuleOptions::PAPER, material("EPvLR"), Options::default());
    for (name, swapped) in [("ECvTR", false), ("LRvEP", true)] {
        let (stats, other) = (first.stats(material("EPvLR")), first.stats(material(name)));
        let (stats, other) = (stats.expect("solved"), other.expect("solved"));
        for color in Color::ALL {
            assert_eq!(other[color], stats[if swapped { !color } else { color }], "{name}");
        }
        check_by_one_move(&first, material(name), &RuleOptions::PAPER, 6, 10_000);
    }
}

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
        four.iter().all(|name| Index::new(material(name)).unwrap().rows > 2 * 512),
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

/// `./test long_lines -- --ignored`: lines just below 253 plies, the maximum of a byte, and above. No material of four
/// pieces has such long lines under any of [`rule_sets`].
#[test]
#[ignore = "takes 3 GB of memory"]
fn long_lines_do_not_wrap() {
    for (text, longest, wide) in [("paper", [250, 251], false), ("bell", [266, 267], true)] {
        let (options, material) = (rules(text), material("EWvWCR"));
        let solver = solved(&options, material, Options::default());
        let id = class_of(&solver, material);
        assert_eq!(solver.classes().get(id).representative, self::material("EPvPDR"), "{text}");
        let stats = solver.class_stats(id).expect("solved");
        assert_eq!(solver.stats(material), Some(ByColor { white: &stats.white, black: &stats.black }));
        assert_eq!([stats.white.summary().longest, stats.black.summary().longest], longest, "{text}");
        let table = solver.table(id).expect("kept");
        assert!(Color::ALL.iter().all(|&c| matches!(table.cells[c], Cells::Wide(_)) == wide), "{text}");
        check_by_one_move(&solver, material, &options, 7, 300_000);
        // The longest lines, and the longest ones that a byte can store.
        let representative = solver.classes().get(id).representative;
        let index = Index::new(representative).unwrap();
        for turn in Color::ALL {
            let cells = &table.cells[turn];
            let mut long = 0;
            for cell in 0..cells.len() {
                let Some(value @ CellValue::Decided(249..)) = CellValue::from_code(cells.get(cell)) else { continue };
                let squares = index.squares(cell).expect("a position's cell");
                let mut board = slow::EMPTY;
                for (piece, square) in index.pieces.iter().zip(&squares) {
                    board[square.index()] = Some((piece.color, piece.animal));
                }
                assert_eq!(value, value_by_one_move(&solver, &board, turn, &options), "{squares:?} under {text}");
                long += index.weight(cell / ROW_CELLS);
            }
            assert!(long > 0, "{text}");
            assert_eq!(long, stats[turn].by_plies[249..].iter().sum::<u64>(), "{text}");
        }
    }
}

#[test]
fn cells_and_squares_go_round() {
    for name in ["LvT", "EvL", "RvE", "RvR", "LRvR", "ERvR", "TvER", "RvLE", "ERvL", "EvLT", "CvDW"] {
        let index = Index::new(material(name)).unwrap();
        let n = index.pieces.len();
        assert_eq!(index.pieces.iter().copied().collect::<HashSet<_>>(), material(name).pieces().collect());
        assert_eq!((index.word_piece(), index.lane_piece()), (index.pieces[n - 2], index.pieces[n - 1]));
        assert_eq!(index.row_pieces.len(), n - 2);
        assert_eq!(index.is_mirrored(), n > 2);
        let mut positions = 0;
        for cell in 0..index.rows * ROW_CELLS {
            let Some(squares) = index.squares(cell) else { continue };
            assert_eq!(index.cell(&squares), cell, "{name}: {squares:?}");
            assert_eq!(index.row_squares(cell / ROW_CELLS).collect::<Vec<_>>(), squares[..n - 2]);
            assert_eq!(squares.iter().collect::<BTreeSet<_>>().len(), n, "no two on one square");
            positions += index.weight(cell / ROW_CELLS);
        }
        // Every placement is in one cell, and the weight of a cell is the number of its placements.
        let mut placements = 0;
        let mut hit = HashSet::new();
        for_placements(&index, &mut Vec::new(), &mut |squares| {
            placements += 1;
            let cell = index.cell(squares);
            let mirrored: Vec<Square> = squares.iter().map(|s| s.mirror()).collect();
            let there = index.squares(cell).expect("a position's cell");
            if n == 2 || squares[0].file() <= File::D {
                assert_eq!(there, squares, "{name}");
            } else {
                assert_eq!(there, mirrored, "{name}");
            }
            let one_cell = n > 2 && squares[0].file() != File::D;
            assert_eq!(index.cell(&mirrored) == cell, one_cell || mirrored == squares, "{name}: {squares:?}");
            hit.insert(cell);
        });
        assert_eq!((positions, material(name).positions()), (placements, placements), "{name}");
        assert_eq!(hit.len(), (0..index.rows * ROW_CELLS).filter(|&c| index.squares(c).is_some()).count(), "{name}");
    }
}

/// Calls `f` with every way to put the pieces on different squares in play.
fn for_placements(index: &Index, squares: &mut Vec<Square>, f: &mut impl FnMut(&[Square])) {
    let Some(&piece) = index.pieces.get(squares.len()) else {
        f(squares);
        return;
    };
    for square in squares_in_play(piece) {
        if !squares.contains(&square) {
            squares.push(square);
            for_placements(index, squares, f);
            squares.pop();
        }
    }
}

/// Eight pieces have more rows than 32 bits can number.
#[test]
fn an_index_has_seven_pieces_at_most() {
    let seven = Index::new(material("ELTPvDWC")).expect("seven pieces have an index");
    assert_eq!((seven.rows, seven.cells()), (28 * 49usize.pow(4), 28 * 49usize.pow(4) * ROW_CELLS));
    assert!(Index::new(material("ELTPvDWCR")).is_none());
    assert!(Index::new(material("ELTPDWCRvELTPDWCR")).is_none());
}

#[test]
fn rats_are_in_their_places() {
    for pieces in 2..=5 {
        for material in Material::all(pieces) {
            let index = Index::new(material).unwrap();
            let rats = material.pieces().filter(|piece| piece.animal == Animal::Rat).count();
            let is_rat = |i: usize| index.pieces[i].animal == Animal::Rat;
            assert_eq!(is_rat(pieces - 1), rats > 0, "{material}");
            assert_eq!(is_rat(0), rats > 1, "{material}");
        }
    }
}

#[test]
fn squares_in_play_are_no_dens() {
    for color in Color::ALL {
        for animal in Animal::ALL {
            let squares = squares_in_play(Piece { color, animal });
            assert!(!squares.contains(Square::D1) && !squares.contains(Square::D9));
            assert_eq!(squares.into_iter().count(), if animal == Animal::Rat { 61 } else { 49 }, "{animal:?}");
        }
    }
}

#[test]
fn values_and_codes_go_round() {
    assert_eq!(CellValue::from_code(0), None);
    let mut seen = HashSet::new();
    for code in 1..=u16::MAX {
        let value = CellValue::from_code(code).expect("a value");
        assert_eq!(value.code(), code);
        assert!(seen.insert(value) || matches!(value, CellValue::Decided(0)));
    }
    assert_eq!(CellValue::Draw.code(), 1);
    assert_eq!(CellValue::NoMove.code(), 2);
    assert_eq!(CellValue::Decided(1).code(), 3);
    assert_eq!(CellValue::Decided(Cells::BYTE_PLIES).code(), u16::from(u8::MAX));
    let texts =
        [CellValue::Draw, CellValue::NoMove, CellValue::Decided(7), CellValue::Decided(8)].map(|v| v.to_string());
    assert_eq!(texts, ["draw", "no legal move", "win in 7 plies", "loss in 8 plies"]);
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

#[test]
fn materials_are_read_and_written() {
    for pieces in 2..=4 {
        let all = Material::all(pieces);
        for m in &all {
            assert_eq!(m.to_string().parse(), Ok(*m));
            assert_eq!(m.to_string().to_lowercase().parse(), Ok(*m));
            assert_eq!(m.len(), pieces);
            assert_eq!(m.swap().swap(), *m);
            assert_eq!(m.pieces().count(), pieces);
        }
        assert!(all.is_sorted() && all.iter().collect::<HashSet<_>>().len() == all.len());
    }
    assert_eq!(material("rlVpe").to_string(), "LRvEP");
    assert_eq!(format!("{:?}", material("rlVpe")), "LRvEP");
    assert_eq!(material("ELTPDWCRvELTPDWCR").len(), 16);
    // Letter by letter in the alphabet ELTPDWCRv.
    let spelled = ["ELvT", "ERvT", "EvLT", "EvL", "LvE", "RvC"].map(material);
    assert!(spelled.is_sorted(), "{spelled:?}");
    let white = |animal| Piece { color: Color::White, animal };
    assert_eq!(material("EPvLR").without(white(Animal::Panther)), Some(material("EvLR")));
    assert_eq!(material("EvLR").without(white(Animal::Elephant)), None);
    let position = Position::from_fen("7/3L3/7/7/7/7/7/6r/6e w").expect("a position");
    assert_eq!(Material::of(&position), Some(material("LvER")));
    for alone in ["7/3L3/7/7/7/7/7/7/7 w", "7/7/7/7/7/7/7/6r/7 w"] {
        assert_eq!(Material::of(&Position::from_fen(alone).expect("a position")), None, "{alone}");
    }
}

#[test]
fn texts_that_are_no_material() {
    let error = |text: &str| text.parse::<Material>().expect_err(text);
    let text = |text: &str| text.to_owned();
    assert_eq!(error(""), ParseMaterialError::NoVersus { text: text("") });
    assert_eq!(error("EL"), ParseMaterialError::NoVersus { text: text("EL") });
    assert_eq!(error("EvX"), ParseMaterialError::UnknownAnimal { text: text("EvX"), letter: 'X' });
    assert_eq!(error("EvLvT"), ParseMaterialError::UnknownAnimal { text: text("EvLvT"), letter: 'v' });
    assert_eq!(error("E vL"), ParseMaterialError::UnknownAnimal { text: text("E vL"), letter: ' ' });
    assert_eq!(error("ElLvT"), ParseMaterialError::Duplicate { text: text("ElLvT"), animal: Animal::Lion });
    assert_eq!(error("vT"), ParseMaterialError::EmptySide { text: text("vT"), color: Color::White });
    assert_eq!(error("Tv"), ParseMaterialError::EmptySide { text: text("Tv"), color: Color::Black });
    for wrong in ["", "EvX", "ElLvT", "vT"] {
        assert!(error(wrong).to_string().contains(&format!("{wrong:?}")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_a_material_or_an_error(
        text in prop_oneof![any::<String>(), "[ELTPDWCReltpdwcrvV x]{0,9}", "[ELTP]{0,2}[DWCR]{0,2}v[ELTP]{0,2}[DWCR]{0,2}"]
    ) {
        match text.parse::<Material>() {
            Ok(material) => {
                prop_assert_eq!(material.to_string().parse(), Ok(material));
                prop_assert_eq!(material.len() + 1, text.chars().count());
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn cells_of_any_material_go_round(pieces in 2..=5usize, n in any::<prop::sample::Index>(), seed in any::<u64>()) {
        let material = *n.get(&Material::all(pieces));
        let index = Index::new(material).unwrap();
        let board = random_board(&mut Pcg64::seed_from_u64(seed), material);
        let squares: Vec<Square> = index
            .pieces
            .iter()
            .map(|piece| {
                let here = |&s: &usize| board[s] == Some((piece.color, piece.animal));
                (0..SQUARES).find(here).and_then(Square::new).expect("on the board")
            })
            .collect();
        let cell = index.cell(&squares);
        prop_assert!(cell < index.rows * ROW_CELLS);
        let there = index.squares(cell).expect("a position's cell");
        let mirrored: Vec<Square> = squares.iter().map(|s| s.mirror()).collect();
        prop_assert!(there == squares || there == mirrored);
        prop_assert_eq!(index.cell(&there), cell);
    }
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
