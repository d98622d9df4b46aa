//! Features, decision trees, and the printed ones.

use super::*;

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

#[test]
fn every_material_of_two_pieces_has_a_perfect_tree() {
    let lines = json(&["mine", "--piece-count", "2", "--json"]);
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
fn learning_all_is_learning_each() {
    let all = learn_all(tables(), 2, Some(FeatureChoice::All), None);
    for name in ["TvP", "DvC", "RvL"] {
        let of_all = all.iter().find(|tree| tree.material == material(name)).expect("a tree");
        let one = learn(tables(), material(name), Some(FeatureChoice::All), None).expect("solved");
        assert_eq!(of_all.tree, one.tree, "{name}");
        assert_eq!(of_all.positions, one.positions);
    }
}
