//! Perft at every level of instructions against the slow twin and against published numbers.

use crate::slow;

use doushouqi::board::{Color, Position, RuleOptions, Rules};
use doushouqi::cpu::CpuLevel;
use doushouqi::game::random::Random;
use doushouqi::perft::{Perft, PerftMethod, PerftMode};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// The presets, and `paper` with each single option at each of its other values.
fn all_rules() -> Vec<RuleOptions> {
    let mut distinct: Vec<RuleOptions> = Vec::new();
    for options in slow::presets_and_single_values() {
        if !distinct.contains(&options) {
            distinct.push(options);
        }
    }
    distinct
}

fn slow_count(position: &Position, options: &RuleOptions, mode: PerftMode, depth: u32) -> u64 {
    let board = slow::board_of(position);
    match mode {
        PerftMode::Expand => slow::perft(&board, position.turn(), options, depth),
        PerftMode::Leaf => slow::perft_leaf(&board, position.turn(), options, depth),
    }
}

/// Compares all depths up to `most`, both modes, every level, with enough memory and without. Returns the two counts at
/// depth `most`.
fn agree(position: &Position, options: &RuleOptions, most: u32) -> [u64; 2] {
    let rules = Rules::new(*options);
    let mut last = [0; 2];
    for depth in 0..=most {
        for (mode, last) in [PerftMode::Expand, PerftMode::Leaf].into_iter().zip(&mut last) {
            let expected = slow_count(position, options, mode, depth);
            for level in CpuLevel::available() {
                let perft = || Perft::new(&rules, mode).with_level(level);
                let at = || format!("{} {mode:?} depth {depth}, {options}, {}", position.to_fen(), level.name());
                assert_eq!(perft().count(position, depth), expected, "{}", at());
                assert_eq!(perft().with_memory(0).count(position, depth), expected, "{} in parts", at());
                for method in PerftMethod::ALL {
                    let perft = perft().with_method(method);
                    assert_eq!(perft.count(position, depth), expected, "{} {}", at(), method.name());
                }
                // A finished game has one line at depth 0 and no move to divide by.
                if depth > 0 && !position.moves(&rules).is_empty() {
                    let divided: u64 = perft().divide(position, depth).iter().map(|(_, nodes)| nodes).sum();
                    assert_eq!(divided, expected, "{} divided", at());
                }
            }
            *last = expected;
        }
    }
    last
}

/// Runs the cases on all threads.
fn for_all<T: Sync>(cases: &[T], f: impl Fn(&T) + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    f(case);
                }
            });
        }
    });
}

fn under_all_rules(fens: &[&str], depth: u32) {
    let rules = all_rules();
    let cases: Vec<(&str, RuleOptions)> =
        fens.iter().flat_map(|&fen| rules.iter().map(move |&options| (fen, options))).collect();
    for_all(&cases, |(fen, options)| {
        agree(&Position::from_fen(fen).unwrap(), options, depth);
    });
}

#[test]
fn start_under_all_rules() {
    under_all_rules(&["l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w"], 3);
    agree(&Position::start(), &RuleOptions::PAPER, 4);
}

/// Captures on the shore and in traps, rats in the water, leaps that they block, both sides to move.
#[test]
fn middle_games() {
    under_all_rules(
        &[
            "4p2/2L4/2e4/3R3/1r5/7/2T1d2/3c3/7 b",
            "2t4/4l2/2R1w2/1r5/6E/L6/2Cd3/3P3/7 w",
            "7/7/2l1t2/1R2r2/7/7/1LeET2/7/7 w",
            "7/7/1T5/2r4/R2E3/3e3/1l4t/7/7 b",
            "2R4/1e1w3/7/1r5/7/7/4d2/2EcL2/2P1T2 b",
        ],
        4,
    );
}

/// Few pieces, so positions recur after four plies and more: `leaf` and `expand` differ.
#[test]
fn repetitions() {
    let fens = [
        "7/7/7/7/7/7/7/7/t1T4 b",
        "7/7/7/7/7/7/2L4/7/1l5 w",
        "7/7/7/7/7/7/1R5/1d5/7 w",
        "7/7/7/2r4/7/1R5/7/7/7 w",
        "7/7/3e3/7/7/7/3E3/7/7 b",
    ];
    under_all_rules(&fens, 6);
    for fen in fens {
        let [expand, leaf] = agree(&Position::from_fen(fen).unwrap(), &RuleOptions::PAPER, 6);
        assert_ne!(expand, leaf, "{fen}: no position returns");
    }
    under_all_rules(&["7/7/4t2/7/1r5/7/2L4/7/7 w", "7/7/7/6e/7/1r5/7/E6/R6 b"], 5);
}

/// Stalemates at the root or below.
#[test]
fn no_moves() {
    let fens = [
        "7/7/7/7/7/7/7/l6/Ct5 w",
        "R6/e6/7/7/7/7/7/7/7 b",
        "7/7/7/7/7/7/7/cT5/rW5 w",
        "7/7/7/7/7/7/T6/1p5/r1P4 w",
        "7/7/7/7/7/7/1c5/1pC4/1d5 w",
        "7/7/7/7/7/7/1dE4/P6/rT5 w",
        "7/7/7/7/7/7/d1l4/7/etC4 b",
    ];
    under_all_rules(&fens, 5);
    let stuck = Position::from_fen(fens[0]).unwrap();
    assert!(stuck.moves(&Rules::default()).is_empty(), "the first has no move");
    assert_eq!(agree(&stuck, &RuleOptions::PAPER, 3), [0, 1]);
}

/// A piece one step from the den or in it, and a side that is about to lose its last piece.
#[test]
fn ends_of_the_game() {
    under_all_rules(
        &[
            "7/3E3/7/7/7/7/3e3/7/7 w",
            "7/3E3/3e3/7/7/7/7/2r4/7 b",
            "2R1d2/3e3/7/7/7/7/7/3r3/2E4 w",
            "3R3/7/7/7/e6/7/7/7/7 b",
            "7/7/7/7/7/7/7/7/E6 b",
            "7/7/7/7/7/7/Er5/7/7 w",
            "4c2/2C1D2/7/7/7/7/2w4/3t3/4l2 b",
        ],
        5,
    );
}

#[test]
fn random_games() {
    const SEED: u64 = 20_131_107;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    let mut cases = Vec::new();
    for options in all_rules() {
        let rules = Rules::new(options);
        for plies in [20, 60, 120, 200] {
            let mut position = Position::start();
            for _ in 0..plies {
                let moves = position.moves(&rules);
                if moves.is_empty() {
                    break;
                }
                position = position.make(moves[random.next_u64() as usize % moves.len()]);
            }
            cases.push((position, options));
        }
    }
    for_all(&cases, |(position, options)| {
        agree(position, options, 3);
    });
}

/// Table 1 of both papers (`leaf`), and plain perft (`expand`).
#[test]
fn published_numbers() {
    const LEAF: [u64; 6] = [24, 576, 12_240, 260_100, 5_098_477, 99_860_517];
    const EXPAND: [u64; 6] = [24, 576, 12_240, 260_100, 5_111_725, 100_459_989];
    let (rules, start) = (Rules::default(), Position::start());
    for level in CpuLevel::available() {
        for (mode, counts) in [(PerftMode::Leaf, LEAF), (PerftMode::Expand, EXPAND)] {
            for (depth, count) in (1..).zip(counts) {
                let perft = Perft::new(&rules, mode).with_level(level);
                assert_eq!(perft.count(&start, depth), count, "{mode:?}, depth {depth}, {}", level.name());
            }
        }
    }
}

/// The lines of each move, counted by itself down to depth 4, which is counted depth first.
fn by_moves(perft: &Perft<'_>, rules: &Rules, position: &Position, depth: u32) -> u64 {
    if depth <= 4 {
        return perft.count(position, depth);
    }
    position.moves(rules).iter().map(|&mv| by_moves(perft, rules, &position.make(mv), depth - 1)).sum()
}

/// Counts of different positions and of all lines, in positions of random games, with memory for all positions of a ply, for
/// some, or for none.
#[test]
fn memory_changes_nothing() {
    const SEED: u64 = 5;
    println!("seed {SEED}");
    let mut random = Random::new(SEED);
    let cases: Vec<(Position, RuleOptions)> = all_rules()
        .into_iter()
        .flat_map(|options| {
            let rules = Rules::new(options);
            let start = random.position(10, &rules);
            let game = random.walk(&start, &rules, 9);
            game.into_iter().step_by(3).map(move |position| (position, options))
        })
        .collect();
    for_all(&cases, |(position, options)| {
        let rules = Rules::new(*options);
        let perft = || Perft::new(&rules, PerftMode::Expand);
        for depth in [5, 6] {
            let expected = by_moves(&perft(), &rules, position, depth);
            for memory in [Perft::MEMORY, 1 << 16, 1 << 10, 0] {
                let found = perft().with_memory(memory).count(position, depth);
                assert_eq!(found, expected, "{position} depth {depth}, {options}, {memory} bytes");
            }
        }
    });
}

#[test]
fn seven_and_eight_plies() {
    let rules = Rules::default();
    let perft = || Perft::new(&rules, PerftMode::Expand);
    assert_eq!(by_moves(&perft(), &rules, &Position::start(), 7), 1_908_483_421);
    for memory in [Perft::MEMORY, 1 << 20] {
        assert_eq!(perft().with_memory(memory).count(&Position::start(), 7), 1_908_483_421);
        assert_eq!(perft().with_memory(memory).count(&Position::start(), 8), 36_255_690_884);
    }
}

/// Without memory nearly all lines are visited: `./test deep_counts -- --ignored`
#[test]
#[ignore = "takes a minute"]
fn deep_counts() {
    let rules = Rules::default();
    let perft = || Perft::new(&rules, PerftMode::Expand);
    assert_eq!(by_moves(&perft(), &rules, &Position::start(), 8), 36_255_690_884);
    assert_eq!(perft().with_memory(8 << 20).count(&Position::start(), 9), 679_723_210_550);
    assert_eq!(perft().count(&Position::start(), 10), 12_742_948_654_200);
}

/// Exchanged colours on the rotated board, and a mirrored board, have the same counts.
#[test]
fn symmetries() {
    let rules = Rules::default();
    for fen in ["4p2/2L4/2e4/3R3/1r5/7/2T1d2/3c3/7 b", "2t4/4l2/2R1w2/1r5/6E/L6/2Cd3/3P3/7 w"] {
        let position = Position::from_fen(fen).unwrap();
        assert_eq!(position.swap_colors().turn() == Color::White, position.turn() == Color::Black);
        for mode in [PerftMode::Expand, PerftMode::Leaf] {
            let count = |position: &Position| Perft::new(&rules, mode).count(position, 5);
            assert_eq!(count(&position.swap_colors()), count(&position));
            assert_eq!(count(&position.mirror()), count(&position));
        }
    }
}

/// The reported shares of progress add up to the whole, even if lines end early.
#[test]
fn progress_adds_up_to_the_whole() {
    let rules = Rules::default();
    let near_the_end: Position = "2E4/7/6p/7/7/7/7/7/7 w".parse().unwrap();
    for (position, depth) in [(Position::start(), 3), (Position::start(), 6), (near_the_end, 7)] {
        for mode in [PerftMode::Expand, PerftMode::Leaf] {
            for memory in [Perft::MEMORY, 1 << 16] {
                let shares = std::sync::Mutex::new(Vec::new());
                let note = |share: f64| shares.lock().unwrap().push(share);
                let perft = Perft::new(&rules, mode);
                let plain = perft.count(&position, depth);
                let perft = Perft::new(&rules, mode).with_memory(memory).with_progress(&note);
                assert_eq!(perft.count(&position, depth), plain);
                let counted: Vec<f64> = std::mem::take(&mut shares.lock().unwrap());
                assert!((counted.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{depth}: {counted:?}");
                assert!(depth < 5 || counted.len() > 1, "{depth}: {counted:?}");
                assert_eq!(perft.divide(&position, depth).iter().map(|(_, count)| count).sum::<u64>(), plain);
                assert!((shares.lock().unwrap().iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
        }
    }
}

/// All methods count the same, also where lines are split among threads and games end on the way.
#[test]
fn all_methods_agree() {
    let rules = Rules::default();
    for fen in ["7/2E4/7/4r2/7/7/7/1e5/7 w", "2t4/7/2R4/7/6E/L6/2C4/3P3/7 w"] {
        let position = Position::from_fen(fen).unwrap();
        for mode in [PerftMode::Expand, PerftMode::Leaf] {
            let count = |method| Perft::new(&rules, mode).with_method(method).count(&position, 6);
            assert!(
                PerftMethod::ALL.map(count).iter().all(|&found| found == count(PerftMethod::Made)),
                "{fen} {mode:?}"
            );
        }
    }
    let leaf = Perft::new(&rules, PerftMode::Leaf);
    assert_eq!(
        (leaf.method(), leaf.with_method(PerftMethod::Made).method()),
        (PerftMethod::TwoPlies, PerftMethod::Made)
    );
}

/// More lines than fit into 64 bits are the highest number.
#[test]
fn more_lines_than_fit_are_the_most() {
    let position = Position::from_fen("7/7/2E4/7/7/7/4e2/7/7 w").unwrap();
    let rules = Rules::default();
    let perft = Perft::new(&rules, PerftMode::Expand);
    let counts: Vec<u64> = (5..=60).step_by(5).map(|depth| perft.count(&position, depth)).collect();
    assert!(counts.is_sorted() && counts[1] < u64::MAX, "{counts:?}");
    assert_eq!(counts.last(), Some(&u64::MAX));
}

/// At depth 0, `divide` has no move.
#[test]
fn depth_0_is_not_divided() {
    let rules = Rules::default();
    assert_eq!(Perft::new(&rules, PerftMode::Expand).divide(&Position::start(), 0), []);
}
