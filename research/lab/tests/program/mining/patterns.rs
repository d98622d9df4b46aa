//! Zugzwangs, draws, fortresses, games, the values of animals, the report.

use super::*;

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
    fails(2, &["mine"], "--piece-count N");
    fails(2, &["mine", "--material", "ELvLT"], "2 or 3 pieces");
    fails(2, &["mine", "--material", "EPvL", "--features", "paper"], "two pieces");
    fails(2, &["mine", "--material", "EvE", "--piece-count", "2"], "cannot be used with");
    fails(2, &["mine", "--piece-count", "4"], "4");
    fails(2, &["mine", "swaps", "--piece-count", "4"], "4");
    fails(2, &["mine", "--material", "EvX"], "EvX");
    // Before any work, which takes minutes.
    fails(3, &["mine", "report", "--out", "/dev/null/nowhere"], "/dev/null/nowhere");
    fails(3, &["mine", "animals", "--pieces", "5", "--out", "/dev/null/nowhere"], "/dev/null/nowhere");
}

#[test]
fn the_report_is_written_with_its_plots() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path().join("new");
    let printed = stdout(&["mine", "report", "--quick", "--out", dir.to_str().expect("UTF-8")]);
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
