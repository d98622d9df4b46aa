//! Mining: features, the printed trees, learned trees and patterns in the tables, through the library and the program.

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

/// A reading of the details of the features that the paper leaves open.
#[derive(Copy, Clone, Debug)]
struct Reading {
    /// Races are decided by Manhattan distance instead of the shortest way.
    manhattan: bool,
    /// The number of moves by which White, and Black, must be nearer to a trap to be unopposed.
    ahead: [i32; 2],
    /// The number of moves that White may be behind in the race and still be closest.
    behind: i32,
    /// Only traps on a shortest way count.
    on_the_way: bool,
    /// A piece on rank 7 or above has crossed.
    above: bool,
}

const TAKEN: Reading = Reading { manhattan: false, ahead: [1, 2], behind: 0, on_the_way: false, above: true };

/// The slow twin of the paper's features, in plain steps.
struct Twin {
    white: (Animal, Square),
    black: (Animal, Square),
    reading: Reading,
}

fn manhattan(a: Square, b: Square) -> i32 {
    (a.file().index().abs_diff(b.file().index()) + a.rank().index().abs_diff(b.rank().index())) as i32
}

fn square(name: &str) -> Square {
    name.parse().expect("a square")
}

impl Twin {
    /// The number of moves from one square to another on an empty board, found by trying all moves of the slow rules.
    fn steps(&self, color: Color, animal: Animal, from: Square, to: Square) -> i32 {
        if self.reading.manhattan {
            return manhattan(from, to);
        }
        static KNOWN: OnceLock<BTreeMap<(Color, Animal, usize, usize), i32>> = OnceLock::new();
        let known = KNOWN.get_or_init(|| {
            let mut known = BTreeMap::new();
            for color in Color::ALL {
                for animal in [Animal::Rat, Animal::Panther, Animal::Lion, Animal::Elephant] {
                    for start in Square::all() {
                        let mut reached = BTreeMap::from([(start, 0)]);
                        let mut queue = VecDeque::from([start]);
                        while let Some(from) = queue.pop_front() {
                            let mut board = slow::EMPTY;
                            board[from.index()] = Some((color, animal));
                            // Without an enemy the game is over, so an enemy stands out of the way: in a corner, or in
                            // another corner if the first is needed. On its own den it would not do.
                            for corner in [Square::A1, Square::G9] {
                                let mut board = board;
                                if board[corner.index()].is_none() {
                                    board[corner.index()] = Some((!color, Animal::Cat));
                                }
                                for (_, to) in slow::legal_moves(&board, color, &PAPER)
                                    .into_iter()
                                    .filter(|&(source, _)| source == from)
                                {
                                    let length = reached[&from] + 1;
                                    reached.entry(to).or_insert_with(|| {
                                        queue.push_back(to);
                                        length
                                    });
                                }
                            }
                        }
                        for (to, length) in reached {
                            known.insert((color, animal, start.index(), to.index()), length);
                        }
                    }
                }
            }
            known
        });
        known.get(&(color, animal, from.index(), to.index())).copied().unwrap_or(60)
    }

    fn white_steps(&self, to: &str) -> i32 {
        self.steps(Color::White, self.white.0, self.white.1, square(to))
    }

    fn black_steps(&self, to: &str) -> i32 {
        self.steps(Color::Black, self.black.0, self.black.1, square(to))
    }

    fn value(&self, name: &str) -> i32 {
        let distance = manhattan(self.white.1, self.black.1);
        let den = self.white_steps("d9");
        match name {
            "closest" => i32::from(den <= self.black_steps("d1") + self.reading.behind),
            "unopposed_w" => i32::from(["c9", "e9", "d8"].iter().any(|trap| {
                self.white_steps(trap) + self.reading.ahead[0] <= self.black_steps(trap)
                    && (!self.reading.on_the_way || self.white_steps(trap) + 1 == den)
            })),
            "unopposed_b" => i32::from(
                ["c1", "e1", "d2"]
                    .iter()
                    .any(|trap| self.black_steps(trap) + self.reading.ahead[1] <= self.white_steps(trap)),
            ),
            "sector_w" => self.white.1.rank() as i32 / 3,
            "sector_b" => self.black.1.rank() as i32 / 3,
            "distance_d" => manhattan(self.white.1, square("d1")),
            "distance_p" => distance,
            "parity" => distance % 2,
            "adjacent" => i32::from(distance == 1),
            "trapped" => i32::from(["c1", "e1", "d2"].map(square).contains(&self.black.1)),
            "can_cross" => {
                let crossing = ["a7", "b7", "c7", "d7", "e7", "f7", "g7"].iter().any(|to| {
                    self.white_steps(to) + self.steps(Color::White, self.white.0, square(to), square("d9")) == den
                        && self.white_steps(to) < self.black_steps(to)
                });
                i32::from(self.reading.above && self.white.1.rank().number() >= 7 || crossing)
            }
            _ => panic!("{name} is none of the paper's features"),
        }
    }

    /// A second implementation of the printed trees.
    fn tree(&self, name: &str) -> Winner {
        use Winner::{Black, Draw, White};
        let is = |name: &str| self.value(name) == 1;
        let even = self.value("parity") == 0;
        match (name, is("closest")) {
            (_, true) if is("unopposed_w") => White,
            ("a", false) if is("unopposed_b") => Black,
            ("a", _) => {
                if even {
                    Black
                } else {
                    White
                }
            }
            (_, false) => {
                if is("adjacent") && is("trapped") {
                    White
                } else {
                    Black
                }
            }
            ("b", true) if even => Black,
            ("b", true) if is("can_cross") => Draw,
            ("b", true) if self.value("distance_p") <= 10 || self.value("distance_d") <= 3 => Black,
            ("b", true) => Draw,
            ("c", true) if self.value("sector_b") == 2 => Draw,
            ("c", true) if self.value("sector_w") == 1 => Black,
            ("c", true) => Draw,
            _ => panic!("there is no tree {name}"),
        }
    }
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

#[test]
fn the_printed_trees_are_as_good_as_the_paper_says() {
    use Animal::{Elephant, Lion, Panther};
    let tables = tables();
    let compared = compare_trees(tables);
    assert_eq!(compared.len(), 17);
    for j in &compared {
        let printed = if j.tree == "c" { 16 } else { 0 };
        assert_eq!((j.printed, j.misclassified, j.wrong.len() as u64), (printed, printed, printed), "{j:?}");
        assert_eq!(j.positions, 2352);
    }
    // The slow twin agrees, and other readings misclassify more.
    let cases = [("a", Elephant, Elephant), ("b", Panther, Elephant), ("c", Lion, Elephant)];
    let cases = cases.map(|(tree, white, black)| (tree, white, black, slow_positions(white, black)));
    let counts = |reading| {
        cases.each_ref().map(|(tree, white, black, positions)| {
            let wrong = |&&(_, w, b, winner): &&(Board, Square, Square, Winner)| {
                Twin { white: (*white, w), black: (*black, b), reading }.tree(tree) != winner
            };
            positions.iter().filter(wrong).count()
        })
    };
    assert_eq!(counts(TAKEN), [0, 0, 16]);
    assert_eq!(counts(Reading { manhattan: true, ..TAKEN }), [28, 42, 418]);
    assert_eq!(counts(Reading { behind: -1, ..TAKEN }), [121, 121, 221]);
    assert_eq!(counts(Reading { behind: 1, ..TAKEN }), [102, 141, 217]);
    assert_eq!(counts(Reading { ahead: [0, 2], ..TAKEN }), [84, 84, 187]);
    assert_eq!(counts(Reading { ahead: [2, 2], ..TAKEN }), [0, 113, 197]);
    assert_eq!(counts(Reading { on_the_way: true, ..TAKEN }), [0, 0, 24]);
    assert_eq!(counts(Reading { ahead: [1, 1], ..TAKEN }), [113, 0, 16]);
    assert_eq!(counts(Reading { ahead: [1, 3], ..TAKEN }), [0, 0, 16]);
    assert_eq!(counts(Reading { above: false, ..TAKEN }), [0, 16, 16]);
    // The position printed as an exception is one of the sixteen.
    let exceptions = &compared.iter().find(|j| j.material == "LvE").expect("tree (c) is claimed for LvE").wrong;
    assert!(
        exceptions.iter().any(|w| w.fen == POSITIONS[3].0 && w.predicted == Winner::Draw && w.winner == Winner::Black)
    );
}

#[test]
fn the_printed_positions_have_the_printed_values() {
    let compared = compare_positions(tables());
    assert_eq!(compared.len(), 4);
    for p in &compared {
        assert_eq!(p.winner, p.printed, "{p:?}");
        assert!(p.printed_plies.is_none_or(|plies| p.plies == Some(plies)), "{p:?}");
    }
    assert_eq!(compared[3].trees, [("c", Winner::Draw)]);
}

#[test]
fn features_are_the_slow_twins() {
    for name in ["EvE", "PvE", "LvE", "EvL", "LvL", "RvL", "RvR", "PvR"] {
        let set = FeatureSet::new(material(name), &PAPER, FeatureChoice::Paper);
        assert_eq!(set.features().len(), 11);
        let pieces = set.pieces().to_vec();
        for (_, w, b, _) in slow_positions(pieces[0].animal, pieces[1].animal) {
            let twin = Twin { white: (pieces[0].animal, w), black: (pieces[1].animal, b), reading: TAKEN };
            for (feature, value) in set.features().iter().zip(set.values(&[w, b])) {
                assert_eq!(i32::from(value), twin.value(&feature.name), "{name} {w} {b} {}", feature.name);
            }
        }
    }
}

#[test]
fn features_do_not_change_in_the_mirror() {
    for name in ["EPvL", "LvTR", "RvER", "TRvL"] {
        let set = FeatureSet::new(material(name), &PAPER, FeatureChoice::WithMaterial);
        let table = tables().material_table(material(name)).expect("three pieces are solved");
        let mut places = 0;
        table
            .each(Color::White, |squares, _| {
                places += 1;
                if places % 7 == 0 {
                    let mirrored: Vec<Square> = squares.iter().map(|square| square.mirror()).collect();
                    assert_eq!(set.values(squares), set.values(&mirrored), "{name} {squares:?}");
                }
                Ok::<(), ()>(())
            })
            .expect("nothing fails");
        let names: BTreeSet<&String> = set.features().iter().map(|feature| &feature.name).collect();
        assert_eq!(names.len(), set.features().len(), "no name twice");
    }
}

#[test]
fn takes_is_a_legal_capture() {
    let rules = Rules::new(PAPER);
    for name in ["LvR", "RvE", "TRvL", "ELvR"] {
        let set = FeatureSet::new(material(name), &PAPER, FeatureChoice::All);
        let table = tables().material_table(material(name)).expect("solved");
        let pieces = set.pieces().to_vec();
        let black = pieces.iter().position(|piece| piece.color == Color::Black).expect("Black has a piece");
        let white_names: Vec<(usize, usize)> = (0..black)
            .map(|i| {
                let name = if pieces.len() == 2 { "takes_w".to_owned() } else { format!("takes_w{i}b") };
                (i, set.find(&name).unwrap_or_else(|| panic!("{name}")))
            })
            .collect();
        table
            .each(Color::White, |squares, _| {
                let position = doushouqi::tablebase::position_of(&pieces, squares, Color::White).expect("a position");
                let moves = position.moves(&rules);
                for &(i, feature) in &white_names {
                    let takes = moves.iter().any(|mv| mv.animal == pieces[i].animal && mv.to == squares[black]);
                    assert_eq!(set.values(squares)[feature] == 1, takes, "{name} {position:?}");
                }
                Ok::<(), ()>(())
            })
            .expect("nothing fails");
    }
}

/// The winner according to a tree in JSON and the features by name.
fn walk(tree: &Json, value: &dyn Fn(&str) -> i64) -> String {
    match tree["winner"].as_str() {
        Some(winner) => winner.to_owned(),
        None => {
            let name = tree["feature"].as_str().expect("a feature");
            let at_most = tree["at_most"].as_i64().expect("a number");
            walk(if value(name) <= at_most { &tree["yes"] } else { &tree["no"] }, value)
        }
    }
}

fn leaves(tree: &Json) -> usize {
    if tree["winner"].is_string() { 1 } else { leaves(&tree["yes"]) + leaves(&tree["no"]) }
}

fn depth(tree: &Json) -> usize {
    if tree["winner"].is_string() { 0 } else { 1 + depth(&tree["yes"]).max(depth(&tree["no"])) }
}

#[test]
fn every_material_of_two_pieces_has_a_perfect_tree() {
    let lines = json(&["mine", "--pieces", "2", "--json"]);
    assert_eq!(lines.len(), 64);
    let mut positions = 0;
    for line in &lines {
        assert_eq!(line["misclassified"], 0, "{line}");
        assert_eq!(line["wrong"], Json::Array(Vec::new()));
        assert_eq!(line["leaves"], leaves(&line["tree"]), "{line}");
        assert_eq!(line["depth"], depth(&line["tree"]), "{line}");
        positions += line["positions"].as_u64().expect("a number");
        // The tree, walked here, agrees with the table in every position.
        let name = line["material"].as_str().expect("a material");
        let set = FeatureSet::new(material(name), &PAPER, FeatureChoice::All);
        let table = tables().material_table(material(name)).expect("solved");
        let wrong = wrong_positions(&set, &table, &PAPER, |values| {
            let value = |feature: &str| i64::from(values[set.find(feature).expect("a feature of that name")]);
            match walk(&line["tree"], &value).as_str() {
                "w" => Winner::White,
                "d" => Winner::Draw,
                _ => Winner::Black,
            }
        });
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
    }
    assert_eq!(positions, ENDGAMES[0].positions);
    // The trees are as small as the printed ones, and not smaller than possible.
    let leaves_of = |name: &str| lines.iter().find(|line| line["material"] == name).expect("a line")["leaves"].clone();
    assert_eq!((leaves_of("EvE"), leaves_of("CvC")), (6.into(), 6.into()));
    assert!(leaves_of("PvE").as_u64() <= Some(9));
}

#[test]
fn the_papers_features_do_not_tell_all_positions_apart() {
    let perfect = |name: &str| learn(tables(), material(name), Some(FeatureChoice::Paper), None).expect("solved");
    for (name, indistinct) in [("EvE", 0), ("PvE", 0), ("RvR", 0), ("TvL", 0), ("LvE", 14), ("EvL", 31)] {
        let found = perfect(name);
        assert_eq!(found.indistinct, indistinct, "{name}");
        assert_eq!(found.tree.misclassified(), indistinct, "{name}: the tree is as good as any");
        assert_eq!(wrong_of_tree(&found, tables()).len() as u64, indistinct, "{name}");
    }
}

#[test]
fn one_tree_says_who_wins_all_positions_of_two_pieces() {
    let whole = learn_whole(tables()).expect("two pieces are solved");
    assert_eq!((whole.materials, whole.positions, whole.indistinct), (64, ENDGAMES[0].positions, 0));
    assert_eq!(whole.tree.misclassified(), 0);
    for material in Material::all(2) {
        let set = FeatureSet::new(material, &PAPER, FeatureChoice::WithMaterial);
        let table = tables().material_table(material).expect("solved");
        assert_eq!(wrong_positions(&set, &table, &PAPER, |values| whole.tree.classify(values)), [], "{material}");
    }
}

#[test]
fn trees_of_few_leaves_count_their_mistakes() {
    let mut before = u64::MAX;
    for most in [1, 2, 3, 5, 10, 40] {
        let line = &json(&["mine", "--material", "TPvL", "--leaves", &most.to_string(), "--json"])[0];
        assert!(line["leaves"].as_u64() <= Some(most));
        let wrong = line["misclassified"].as_u64().expect("a number");
        assert_eq!(line["wrong"].as_array().expect("a list").len() as u64, wrong);
        assert!(wrong <= before, "more leaves are no worse");
        before = wrong;
    }
    let one = learn(tables(), material("EvE"), None, Some(1)).expect("solved");
    let stats = tables().stats(material("EvE")).expect("solved").white.summary();
    assert_eq!(one.tree.misclassified(), stats.positions - stats.wins.max(stats.losses).max(stats.draws));
}

#[test]
fn trees_of_three_pieces_are_perfect_too() {
    for name in ["ELvL", "PDvR", "EPvE"] {
        let found = learn(tables(), material(name), None, None).expect("solved");
        let table = tables().material_table(material(name)).expect("solved");
        assert_eq!(found.tree.misclassified(), 0);
        assert_eq!(wrong_positions(&found.set, &table, &PAPER, |values| found.tree.classify(values)), [], "{name}");
    }
}

/// All 84 sides of the 42 classes: `./test all_three_piece -- --ignored`.
#[test]
#[ignore = "takes a minute"]
fn all_three_piece_classes_have_a_perfect_tree() {
    let sizes = sizes(tables(), 3);
    assert_eq!(sizes.len(), 84);
    for s in sizes {
        assert_eq!(s.misclassified, 0, "{s:?}");
        assert!(s.accuracy_10 <= s.accuracy_30 && s.accuracy_30 <= s.accuracy_100 && s.accuracy_1 <= s.accuracy_10);
    }
}

#[test]
fn samples_and_trees_are_the_same_each_time() {
    let one = || {
        let name = material("LvL");
        let set = FeatureSet::new(name, &PAPER, FeatureChoice::All);
        let table = tables().material_table(name).expect("solved");
        let sample = TrainingSet::new([(&set, &table)], &PAPER);
        (sample.rows(), learn(tables(), name, None, None).expect("solved").tree)
    };
    assert_eq!(one(), one());
    let text = stdout(&["mine", "--material", "LvL", "--threads", "1"]);
    assert_eq!(text, stdout(&["mine", "--material", "LvL", "--threads", "2"]));
}

#[test]
fn zugzwangs_are_the_slow_twins() {
    // The slow solver counts both sides to move; over all materials, White to move is half of the count.
    let mut all = [0, 0];
    let mut deepest = 0;
    for white in Animal::ALL {
        for black in Animal::ALL {
            let tables = slow::solve(&[white], &[black], &PAPER);
            for (board, turn, value) in tables.positions(&[white], &[black]) {
                let slow::Value::Decided(other) = tables.value_of_board(&board, !turn) else { continue };
                match value {
                    _ if other % 2 == 1 => {}
                    slow::Value::Decided(plies) if plies % 2 == 0 => {
                        all[0] += 1;
                        deepest = deepest.max(plies);
                    }
                    slow::Value::Draw => all[1] += 1,
                    _ => {}
                }
            }
        }
    }
    let found = zugzwangs(&PAPER, 3, &|_| ()).expect("solved");
    assert_eq!([2 * found[0].lost, 2 * found[0].drawn], all);
    assert_eq!(found[0].positions, 6681);
    assert_eq!(found[0].deepest_lost.as_ref().and_then(|d| d.plies), Some(deepest));
    // The positions shown are zugzwangs.
    for z in &found {
        for d in [&z.deepest_lost, &z.deepest_drawn].into_iter().flatten() {
            let position = Position::from_fen(&d.fen).expect("a FEN");
            let mut setup = position.to_setup();
            setup.turn = !setup.turn;
            let other = Position::from_setup(&setup).expect("a position");
            assert_eq!(tables().cell_value(&other), Some(CellValue::Decided(d.other_plies)));
            assert_eq!(tables().cell_value(&position), Some(d.plies.map_or(CellValue::Draw, CellValue::Decided)));
        }
    }
}

#[test]
fn draws_add_up_to_the_published_numbers() {
    let all = draws(&PAPER, 3).expect("solved");
    for (pieces, published) in [(2, &ENDGAMES[0]), (3, &ENDGAMES[1])] {
        let level: Vec<_> = all.iter().filter(|d| d.pieces == pieces).collect();
        assert_eq!(level.iter().map(|d| d.draws * d.materials as u64).sum::<u64>(), published.draws);
        assert!(level.is_sorted_by(|a, b| a.share >= b.share));
    }
}

#[test]
fn swaps_are_counted_as_in_plain_loops() {
    let swaps = swaps(tables(), 2);
    let find = |side: &str, stronger: &str, weaker: &str| {
        swaps.iter().find(|s| s.side == side && s.stronger == stronger && s.weaker == weaker).expect("a swap")
    };
    for (stronger, weaker) in [(Animal::Lion, Animal::Rat), (Animal::Panther, Animal::Dog)] {
        let (mut positions, mut turned, mut worse) = (0, 0, 0);
        for other in Animal::ALL {
            let with = slow_positions(stronger, other);
            let without: BTreeMap<_, _> =
                slow_positions(weaker, other).into_iter().map(|(_, w, b, winner)| ((w, b), winner)).collect();
            for (_, w, b, winner) in with {
                let Some(&without) = without.get(&(w, b)) else { continue };
                positions += 1;
                turned += u64::from(winner != without);
                // The order is White, draw, Black: later values are worse for White.
                worse += u64::from(winner > without);
            }
        }
        let found = find("White", &stronger.to_string(), &weaker.to_string());
        assert_eq!((found.positions, found.turned, found.worse), (positions, turned, worse));
    }
    assert_eq!(swaps.len(), 2 * 28);
}

#[test]
fn parity_is_counted_as_in_plain_loops() {
    let found = parities(tables(), 2);
    let one = found.iter().find(|p| p.material == "LvR").expect("a line");
    let mut counts = [[0; 3]; 2];
    for (_, w, b, winner) in slow_positions(Animal::Lion, Animal::Rat) {
        counts[manhattan(w, b) as usize % 2][winner as usize] += 1;
    }
    assert_eq!([one.even, one.odd], counts);
    assert!(found.iter().all(|p| p.gain >= -1e-12 && p.gain < 1.6));
    // Equal pieces that do not leap: the tables show the parity of tree (a).
    let equal = found.iter().find(|p| p.material == "EvE").expect("a line");
    assert!(equal.white_odd > 2.0 * equal.white_even);
}

#[test]
fn fortresses_are_held_by_the_slow_rules() {
    // The elephant at home against the panther, computed with plain sets.
    let tables = slow::solve(&[Animal::Elephant], &[Animal::Panther], &PAPER);
    let all: Vec<(Board, Color)> = tables
        .positions(&[Animal::Elephant], &[Animal::Panther])
        .filter(|(_, _, value)| *value == slow::Value::Draw)
        .map(|(board, turn, _)| (board, turn))
        .collect();
    let key = |board: &Board, turn: Color| (format!("{board:?}"), turn);
    let draws: BTreeSet<_> = all.iter().map(|(board, turn)| key(board, *turn)).collect();
    let home = |board: &Board, rank: usize| {
        let elephant = board.iter().position(|p| *p == Some((Color::White, Animal::Elephant))).expect("it is there");
        elephant / 7 / 3 == rank
    };
    for (rank, name) in [(0, "home"), (1, "middle"), (2, "far")] {
        let mut held: Vec<&(Board, Color)> = all.iter().filter(|(board, _)| home(board, rank)).collect();
        loop {
            let inside: BTreeSet<_> = held.iter().map(|(board, turn)| key(board, *turn)).collect();
            let before = held.len();
            held.retain(|(board, turn)| {
                let mut next = slow::legal_moves(board, *turn, &PAPER)
                    .into_iter()
                    .map(|(from, to)| key(&slow::make(board, from, to), !*turn));
                match turn {
                    Color::White => next.any(|next| inside.contains(&next)),
                    Color::Black => next.all(|next| inside.contains(&next) || !draws.contains(&next)),
                }
            });
            if held.len() == before {
                break;
            }
        }
        let found = fortresses(self::tables(), 2);
        let one = found.iter().find(|f| f.material == "EvP" && f.holder == "E").expect("a line");
        assert_eq!(one.draws, all.len() as u64);
        let count = [("home", one.home), ("middle", one.middle), ("far", one.far)];
        assert_eq!(count.iter().find(|(n, _)| *n == name).map(|c| c.1), Some(held.len() as u64), "{name}");
    }
}

#[test]
fn the_longest_lines_are_played_out() {
    let rules = Rules::new(PAPER);
    let lines = longest_lines(&PAPER, 3).expect("solved");
    assert_eq!(lines.iter().map(|line| line.plies).collect::<Vec<_>>(), [34, 67]);
    for line in lines {
        let mut position = Position::from_fen(&line.fen).expect("a FEN");
        let first = position.turn();
        for (i, mv) in line.line.iter().enumerate() {
            let left = tables().value(&position).unwrap().and_then(|verdict| verdict.dtw);
            assert_eq!(left, Some(line.plies - i as u16), "each move is a best one");
            let mv = doushouqi::board::Move::parse(mv, &position, &rules).expect("a legal move");
            position = position.make(mv);
        }
        assert_eq!(line.line.len(), usize::from(line.plies));
        assert_eq!(position.winner(), Some(if line.plies % 2 == 1 { first } else { !first }));
    }
}

#[test]
fn games_are_the_same_again_and_add_up() {
    let series = SelfPlay { games: 20, seed: 7, opening: 3, most_plies: 300 };
    let one = play(SelfPlayer::Minimax { depth: 1 }, &PAPER, series);
    assert_eq!(one, play(SelfPlayer::Minimax { depth: 1 }, &PAPER, series));
    assert_ne!(one, play(SelfPlayer::Minimax { depth: 1 }, &PAPER, SelfPlay { seed: 8, ..series }));
    let random = play(SelfPlayer::Random, &PAPER, series);
    let engine = SelfPlayer::Engine { nodes: 300 };
    let by_engine = play(engine, &PAPER, series);
    assert_eq!(by_engine, play(engine, &PAPER, series));
    for s in [one, random, by_engine] {
        let ends = s.white_wins + s.black_wins + s.repetitions + s.no_move + s.unfinished;
        assert_eq!(ends, 20, "{}", s.player);
        assert_eq!(s.lengths.len(), 20);
        assert_eq!(s.moves.positions, s.lengths.iter().sum::<u64>(), "every ply is a position with a move");
        let position = Position::from_fen(&s.moves.fen).expect("a FEN");
        assert_eq!(position.count_moves(&Rules::new(PAPER)), s.moves.max);
    }
}

#[test]
fn moves_of_endgame_positions() {
    let rules = Rules::new(PAPER);
    let all = table_mobility(tables(), 2);
    assert_eq!(all.positions, ENDGAMES[0].positions);
    let (mut moves, mut positions) = (0, 0);
    for material in Material::all(2) {
        let table = tables().material_table(material).expect("solved");
        let pieces = table.pieces().to_vec();
        table
            .each(Color::White, |squares, _| {
                let position = doushouqi::tablebase::position_of(&pieces, squares, Color::White).expect("a position");
                moves += position.moves(&rules).len();
                positions += 1;
                Ok::<(), ()>(())
            })
            .expect("nothing fails");
    }
    assert_eq!(positions, all.positions);
    assert!((all.mean - moves as f64 / positions as f64).abs() < 1e-9);
    let sampled = sampled_mobility(&PAPER, 2, 100_000, 1);
    assert!((sampled.mean - all.mean).abs() < 0.02, "{} and {}", sampled.mean, all.mean);
    assert_eq!(sampled, sampled_mobility(&PAPER, 2, 100_000, 1));
}

#[test]
fn wrong_input_is_told() {
    fails(2, &["mine"], "--pieces N");
    fails(2, &["mine", "--material", "ELvLT"], "2 or 3 pieces");
    fails(2, &["mine", "--material", "EPvL", "--features", "paper"], "two pieces");
    fails(2, &["mine", "--material", "EvE", "--pieces", "2"], "cannot be used with");
    fails(2, &["mine", "--pieces", "4"], "4");
    fails(2, &["mine", "swaps", "--pieces", "4"], "4");
    fails(2, &["mine", "--material", "EvX"], "EvX");
    // Before any work, which takes minutes.
    fails(3, &["mine", "report", "/dev/null/nowhere"], "/dev/null/nowhere");
    fails(3, &["mine", "animals", "--pieces", "5", "--out", "/dev/null/nowhere"], "/dev/null/nowhere");
}

#[test]
fn graphviz_and_text_name_the_same_leaves() {
    let graph = stdout(&["mine", "--material", "EvE", "--features", "paper", "--graphviz"]);
    assert!(graph.starts_with("digraph \"EvE\" {") && graph.trim_end().ends_with('}'));
    assert_eq!(graph.matches("shape=ellipse").count(), 6);
    assert_eq!(graph.matches("->").count(), 10);
    let text = stdout(&["mine", "--material", "EvE", "--features", "paper"]);
    assert!(text.contains("|   unopposed_w = yes: White (772)"), "{text}");
    let total: u64 = text
        .lines()
        .filter_map(|line| line.split_once('(')?.1.strip_suffix(')')?.replace(',', "").parse::<u64>().ok())
        .sum();
    assert_eq!(total, 2352, "every position is in one leaf: {text}");
}

#[test]
fn the_report_is_written_with_its_plots() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path().join("new");
    let printed = stdout(&["mine", "report", "--quick", dir.to_str().expect("UTF-8")]);
    let text = std::fs::read_to_string(dir.join("endgames.md")).expect("the report");
    let plots: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("![")?.split_once("](")?.1.strip_suffix(')')).collect();
    assert_eq!(plots.len(), 5);
    for plot in plots {
        let svg = std::fs::read_to_string(dir.join(plot)).expect("a plot that the report shows");
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{plot}");
        assert!(printed.contains(plot));
    }
    assert!(text.contains("| (c) | White tiger or lion against black elephant | TvE LvE | 16 | 16 each |"), "{text}");
    assert!(text.contains("64 of 64 trees on all features are perfect"));
}

#[test]
fn plots_refuse_what_has_no_place() {
    let axis = |log| Axis { label: "x", log };
    let line = |x, y| [Line { name: "l".into(), points: vec![(x, y), (2.0, 2.0)] }];
    assert!(line_chart("t", axis(true), axis(false), &line(0.0, 1.0)).is_err());
    assert!(line_chart("t", axis(false), axis(false), &line(f64::NAN, 1.0)).is_err());
    assert!(line_chart("t", axis(true), axis(true), &line(1.0, 1.0)).is_ok());
    assert!(line_chart("t", axis(false), axis(false), &[]).is_ok());
}

#[test]
fn learning_all_is_learning_each() {
    let all = learn_all(tables(), 2, Some(FeatureChoice::All), None);
    for name in ["TvP", "DvC", "RvL"] {
        let of_all = all.iter().find(|tree| tree.material == material(name)).expect("a tree");
        let one = learn(tables(), material(name), Some(FeatureChoice::All), None).expect("solved");
        assert_eq!(of_all.tree, one.tree, "{name}");
        assert_eq!(of_all.positions, one.positions);
    }
}

#[test]
fn animals_have_values() {
    let fits = json(&["mine", "animals", "--pieces", "3", "--json"]);
    assert_eq!(fits.len(), 2);
    let value = |name: &str| {
        let all = fits[0]["coefficients"].as_array().unwrap();
        all.iter().find(|c| c["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    assert_eq!(fits[0]["materials"], 8 * 28 * 2);
    assert!(value("L") > value("P") && value("P") > value("C") && value("C") > 0.0 && value("move") > 0.0, "{fits:?}");
    fails(2, &["mine", "animals", "--pieces", "3", "/does/not/exist"], "");
}
