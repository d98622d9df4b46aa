//! A legal move in any position and with any limit; lines and their order.

use super::{PRESETS, depth, random_game, rules, search, small};
use doushouqi::board::{Fen, Move, Position};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Clock, Engine, EngineOptions, Info, Limits};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest times and halfmove clocks are limits like others.
#[test]
fn the_longest_times_and_clocks_are_limits_like_others() {
    let long = Clock { remaining: Duration::MAX, increment: Duration::MAX, moves_to_go: None };
    for limits in [Limits::default().clock(long), Limits::default().movetime(Duration::MAX)] {
        for halfmove_clock in [u32::MAX, u32::MAX - 1, Fen::MAX_HALFMOVE_CLOCK] {
            for no_capture_limit in [None, Some(u32::MAX)] {
                let start = Fen { position: Position::start(), halfmove_clock };
                let mut game = Game::from_fen(start, rules("paper"), no_capture_limit);
                let mut engine = Engine::new(small(EngineOptions::default().threads(2)));
                for _ in 0..3 {
                    let found = engine.search(&game, &limits.depth(3)).run();
                    game.play(found.best().expect("a move")).expect("it is legal");
                    assert_eq!(game.fen().to_string().parse(), Ok(game.fen()));
                }
            }
        }
    }
}

/// Under any rules, in any game and with any limit, the engine returns a legal move if one exists.
#[test]
fn always_a_legal_move() {
    let mut random = Random::new(7);
    let limits = [
        Limits::default().nodes(1),
        Limits::default().nodes(0),
        Limits::default().nodes(777),
        depth(1),
        depth(3),
        Limits::default().movetime(Duration::ZERO),
        Limits::default().movetime(Duration::from_millis(1)),
        Limits::default().clock(Clock { remaining: Duration::ZERO, increment: Duration::ZERO, moves_to_go: None }),
    ];
    let engines = [
        EngineOptions::default(),
        EngineOptions::default().threads(2),
        EngineOptions::default().multipv(5),
        EngineOptions::burnett_alphabeta(),
        EngineOptions::burnett_alphabeta().multipv(3),
    ];
    for options in engines {
        let mut engine = Engine::new(small(options));
        for preset in PRESETS.into_iter().chain(["paper,repetition=twofold", "chinese,repetition=illegal"]) {
            let rules = rules(preset);
            for plies in [0, 7, 40, 150, 400] {
                let game = random_game(&mut random, &rules, plies);
                for limits in &limits {
                    let found = search(&mut engine, &game, limits);
                    let legal = game.legal_moves();
                    assert_eq!(found.best().is_some(), !legal.is_empty());
                    for line in &found.lines {
                        assert!(legal.contains(&line.pv[0]), "{preset} {limits:?}");
                        assert_line(&game, &line.pv);
                    }
                }
            }
        }
    }
}

/// Checks that every move of a line is legal.
fn assert_line(game: &Game, line: &[Move]) {
    let mut position = game.position().clone();
    for &mv in line {
        assert!(position.moves(game.rules()).contains(&mv), "{mv} in {line:?} from {:?}", game.position());
        position = position.make(mv);
    }
}

#[test]
fn finished_games_have_no_move() {
    for fen in ["7/3E3/7/7/7/7/3e3/7/3r3 w", "7/7/7/7/7/7/7/7/E6 b", "3R3/7/7/7/e6/7/7/7/7 b"] {
        let game = Game::new(Position::from_fen(fen).unwrap(), rules("paper"), None);
        for options in [EngineOptions::default(), EngineOptions::burnett_alphabeta()] {
            let found = search(&mut Engine::new(small(options)), &game, &depth(5));
            assert!(found.lines.is_empty() == game.legal_moves().is_empty(), "{fen}");
        }
    }
}

#[test]
fn a_search_stops_when_told() {
    let game = Game::new(Position::start(), rules("paper"), Some(100));
    for options in [EngineOptions::default(), EngineOptions::default().threads(2), EngineOptions::burnett_alphabeta()] {
        let mut engine = Engine::new(small(options));
        // Before it begins.
        let found = engine.search(&game, &Limits::default()).stop(&AtomicBool::new(true)).run();
        assert!(game.legal_moves().contains(&found.best().unwrap()));
        // While it runs.
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(60));
                stop.store(true, Ordering::Relaxed);
            });
            let found = engine.search(&game, &Limits::default()).stop(&stop).run();
            assert!(game.legal_moves().contains(&found.best().unwrap()));
        });
    }
}

#[test]
fn node_limits_are_kept_and_repeatable() {
    let game = Game::new(Position::start(), rules("paper"), Some(100));
    for limit in [1, 100, 5000, 54_321] {
        let limits = Limits::default().nodes(limit);
        let run = |options: EngineOptions| {
            let found = search(&mut Engine::new(small(options)), &game, &limits);
            (found.best(), found.lines[0].score, found.lines[0].nodes)
        };
        let first = run(EngineOptions::default());
        assert!(first.2 <= limit + 2, "{} nodes of {limit}", first.2);
        assert_eq!(first, run(EngineOptions::default()));
    }
}

/// The clock of a search may have started before the search.
#[test]
fn a_clock_may_have_started_before() {
    let before = Instant::now();
    std::thread::sleep(Duration::from_millis(20));
    let limits = Limits::default().movetime(Duration::from_millis(10));
    let mut engine = Engine::new(small(EngineOptions::default()));
    let found = engine.search(&Game::default(), &limits).started(before).run();
    assert!(found.lines[0].time >= Duration::from_millis(20) && found.lines[0].nodes <= 2048);
}

/// More contempt than the highest counts as the highest.
#[test]
fn contempt_has_a_limit() {
    let drawn = Game::from_fen("7/7/3e3/7/7/7/3E3/7/7 w 99".parse().unwrap(), rules("paper"), Some(100));
    for contempt in [1000, 1001, 60_000] {
        let mut engine = Engine::new(small(EngineOptions::default().contempt(contempt)));
        assert_eq!(search(&mut engine, &drawn, &depth(4)).lines[0].score.value(), -1000, "{contempt}");
    }
}

/// Wherever a search is stopped, its lines have one depth and are in order, as are the lines of each report.
#[test]
fn interrupted_lines_are_of_one_depth() {
    let game = Game::new(Position::start(), rules("paper"), Some(100));
    let kinds = [EngineOptions::default().multipv(3), EngineOptions::burnett_alphabeta().multipv(3)];
    let mut depths = std::collections::BTreeSet::new();
    for nodes in (1..60).map(|i| i * 150) {
        for options in kinds.clone() {
            let mut reported: Vec<Info> = Vec::new();
            let limits = Limits::default().nodes(nodes);
            let stop = AtomicBool::new(false);
            let lines = Engine::new(small(options))
                .search(&game, &limits)
                .stop(&stop)
                .on_info(|info| reported.push(info.clone()))
                .run()
                .lines;
            assert_eq!(lines.len(), 3);
            for lines in reported.chunks(3).chain([&lines[..]]) {
                assert!(lines.iter().all(|line| line.depth == lines[0].depth), "{nodes} nodes: {lines:?}");
                assert!(lines.is_sorted_by(|a, b| a.score >= b.score), "{nodes} nodes: {lines:?}");
                assert_eq!(lines.iter().map(|line| line.multipv).collect::<Vec<_>>(), [1, 2, 3]);
            }
            depths.insert(lines[0].depth);
        }
    }
    assert!(depths.len() > 3, "{depths:?}");
}

#[test]
fn multipv_gives_different_moves_in_order() {
    let game = Game::new(Position::start(), rules("paper"), Some(100));
    let mut engine = Engine::new(small(EngineOptions::default().multipv(4)));
    let lines = search(&mut engine, &game, &depth(7)).lines;
    assert_eq!(lines.len(), 4);
    for (i, line) in lines.iter().enumerate() {
        assert_eq!(line.multipv, i + 1);
        assert!(i == 0 || lines[i - 1].score >= line.score);
        assert!(lines[..i].iter().all(|other| other.pv[0] != line.pv[0]));
    }
}
