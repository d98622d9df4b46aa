//! Games to their end, by the no-capture limit and by repetition.

use super::{depth, random_game, rules, search, small};
use crate::within::Exact;
use doushouqi::board::{Color, Move, Piece, Position, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Engine, EngineOptions, Info, Limits, SearchPreset, SearchResult, Tables};
use doushouqi::tablebase::{Material, Probe, Wdl};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

/// Without repetition, so that the brute force is exact.
const ENDLESS: &str = "paper,repetition=none";

fn with_tables(pieces: usize, rules: &Rules) -> Engine {
    let tables = Arc::new(Tables::solve(rules.options(), pieces).unwrap());
    Engine::new(small(EngineOptions::default().tables(tables)))
}

/// Endgames of two and three pieces, with limits of 10 plies and more, from both sides and with any clock: the engine plays
/// them perfectly, however few nodes it searches, against every defence. The scores that it announces are true.
#[test]
fn endgames_within_a_limit_are_played_perfectly() {
    let rules = rules(ENDLESS);
    let mut engine = with_tables(3, &rules);
    let unlimited = Tables::solve(rules.options(), 3).unwrap();
    let mut random = Random::new(7);
    let (mut by_conversion, mut drawn_by_limit, mut decided) = (0, 0, 0);
    for (material, limit) in
        [("EvL", 10), ("TvR", 24), ("EPvL", 12), ("EvLR", 20), ("LRvT", 16), ("ETvR", 30), ("PvDC", 22)]
    {
        let pieces: Vec<Piece> = material.parse::<Material>().unwrap().pieces().collect();
        let exact = Exact::solve(pieces.clone(), &rules, limit);
        for i in 0..30 {
            let start = random.placement(&pieces, &rules).unwrap();
            let clock = if i % 3 == 0 { 0 } else { random.below(limit as usize) as u32 };
            let fen = format!("{} {clock}", start.to_fen()).parse().unwrap();
            let start = Game::from_fen(fen, rules.clone(), Some(limit));
            let value = unlimited.value(start.position()).unwrap().unwrap();
            for side in Color::ALL {
                let expected = exact.result(&start, side);
                let mut game = start.clone();
                while game.end().is_none() {
                    let mv = if game.position().turn() == side {
                        let found = search(&mut engine, &game, &Limits::default().nodes(200));
                        let (score, truth) = (found.lines[0].score, exact.result(&game, side));
                        assert!(!score.is_win() || truth == Wdl::Win, "{} of {limit}: {score}", game.fen());
                        assert!(!score.is_loss() || truth == Wdl::Loss, "{} of {limit}: {score}", game.fen());
                        found.best().unwrap()
                    } else {
                        exact.best(&game, &mut random)
                    };
                    game.play(mv).unwrap();
                }
                let result = exact.result(&game, side);
                assert!(result >= expected, "{} of {limit}, {side}: {result:?}", start.fen());
                if expected == Wdl::Win {
                    decided += 1;
                    by_conversion +=
                        u32::from(value.dtw.is_some_and(|dtw| u32::from(dtw) > start.plies_left().unwrap()));
                }
            }
            drawn_by_limit += u32::from(value.wdl != Wdl::Draw && exact.result(&start, Color::White) == Wdl::Draw);
        }
    }
    assert!(decided > 50 && by_conversion > 0 && drawn_by_limit > 30, "{decided} {by_conversion} {drawn_by_limit}");
}

/// Four pieces with tables of three, under limits of 10 to 100, from both sides of each position: tables that the search
/// meets after captures do not make it weaker, though their wins may come too late.
#[test]
fn tables_in_the_tree_help_within_a_limit() {
    let rules = rules("paper");
    let mut random = Random::new(11);
    let mut engines = [Engine::new(small(EngineOptions::default())), with_tables(3, &rules)];
    let mut score = 0;
    for _ in 0..60 {
        let limit = 10 + random.below(91) as u32;
        let start = Game::new(random.position(4, &rules), rules.clone(), Some(limit));
        for side in Color::ALL {
            let mut game = start.clone();
            engines.iter_mut().for_each(Engine::new_game);
            while game.end().is_none() {
                let engine = &mut engines[usize::from(game.position().turn() == side)];
                let mv = search(engine, &game, &Limits::default().nodes(500)).best().unwrap();
                game.play(mv).unwrap();
            }
            score += match game.end().unwrap().winner() {
                None => 0,
                Some(winner) => {
                    if winner == side {
                        1
                    } else {
                        -1
                    }
                }
            };
        }
    }
    assert!(score >= 0, "{score}");
}

/// A capture into an endgame whose win takes longer than the limit is no win, and no win for the other side is announced.
#[test]
fn a_table_win_beyond_the_limit_is_no_win() {
    let rules = rules(ENDLESS);
    let position: Position = "6C/6e/7/7/7/7/7/7/E6 b".parse().unwrap();
    let pieces: Vec<Piece> = position.pieces().map(|(piece, _)| piece).collect();
    let mut engine = with_tables(3, &rules);
    for limit in [10, 20, 30, 60] {
        let exact = Exact::solve(pieces.clone(), &rules, limit);
        let game = Game::new(position.clone(), rules.clone(), Some(limit));
        let found = search(&mut engine, &game, &Limits::default().nodes(5000));
        let truth = exact.result(&game, Color::Black);
        let score = found.lines[0].score;
        assert!(score.is_win() <= (truth == Wdl::Win) && !score.is_loss(), "{limit}: {score}, {truth:?}");
        let mut after = game.clone();
        after.play(found.best().unwrap()).unwrap();
        assert_eq!(exact.result(&after, Color::Black), truth, "{limit}");
    }
}

/// A position of the opponent's turn that has occurred twice is a draw if the next move leads to it, whether the history
/// came as positions or as moves, and however the moves are searched.
#[test]
fn a_third_occurrence_after_one_move_is_a_draw() {
    let rules = rules("paper");
    let root = "7/7/3E3/7/7/6c/7/7/7 w 10";
    let twice: Position = "7/3E3/7/7/7/6c/7/7/7 b".parse().unwrap();
    // The halfmove clock may be lower than the positions need.
    for root in [root.to_owned(), root.replace("10", "2")] {
        let game = Game::from_fen(root.parse().unwrap(), rules.clone(), Some(100));
        let game = game.with_earlier(vec![twice.clone(), twice.clone()]);
        let repeating = game.parse("d7d8").unwrap();
        for options in [EngineOptions::default(), EngineOptions::default().multipv(8)] {
            let mut engine = Engine::new(small(options));
            for limits in [depth(12), Limits::default().nodes(20_000)] {
                let found = search(&mut engine, &game, &limits);
                let best = found.best().unwrap().to_string();
                assert!(["d7e7", "d7c7"].contains(&best.as_str()), "{best}");
                assert_eq!(found.lines[0].score.win_in(), Some(7));
                if let Some(line) = found.lines.iter().find(|line| line.pv[0] == repeating) {
                    assert_eq!(line.score.value(), 0, "{line:?}");
                }
                let only = engine.search(&game, &limits).moves(&[repeating]).run();
                assert_eq!(only.lines[0].score.value(), 0);
            }
        }
        // With tables, too, the engine keeps the win.
        let mut engine = with_tables(2, &rules);
        let found = search(&mut engine, &game, &depth(6));
        assert!(found.lines[0].score.is_win() && found.best() != Some(repeating), "{found:?}");
        let only = engine.search(&game, &depth(12)).moves(&[repeating]).run();
        assert_eq!(only.lines[0].score.value(), 0);
    }
}

/// A move that has failed high is played if the search stops while it is searched again, within the window or with a wider
/// one: with two moves at the root, an iteration that prefers another move than the one before ends with such a search.
#[test]
fn a_fail_high_is_played() {
    /// More than the distance of the bounds of an aspiration window from the last score.
    const OUTSIDE: i32 = 40;
    let mut random = Random::new(31);
    let rules = rules("paper");
    let plain = EngineOptions::default().search(SearchPreset::AlphaBeta);
    for (options, deepest, windows) in [(plain, 4, false), (EngineOptions::default(), 9, true)] {
        let (mut within, mut wider) = (0, 0);
        for _ in 0..60 {
            let game = random_game(&mut random, &rules, 30);
            let moves: Vec<Move> = game.legal_moves().into_iter().take(2).collect();
            let mut reported: Vec<Info> = Vec::new();
            let mut engine = Engine::new(small(options.clone()));
            let search = engine.search(&game, &depth(deepest)).moves(&moves);
            drop(search.on_info(|info| reported.push(info.clone())).run());
            for (before, info) in reported.iter().zip(&reported[1..]) {
                if before.pv[0] == info.pv[0] {
                    continue;
                }
                let limits = Limits::default().nodes(info.nodes - 1);
                let stopped = Engine::new(small(options.clone())).search(&game, &limits).moves(&moves).run();
                let line = &stopped.lines[0];
                assert_eq!((line.pv[0], line.depth), (info.pv[0], info.depth), "{} {limits:?}", game.fen());
                let change = info.score.value().abs_diff(before.score.value()) as i32;
                *if change > OUTSIDE { &mut wider } else { &mut within } += 1;
            }
        }
        assert!(within > 5 && (wider > 2 || !windows), "{within} {wider}");
    }
}

/// A search that is stopped does not wait for the distances of a material to be solved.
#[test]
fn a_stopped_search_does_not_solve_tables() {
    let rules = rules("paper");
    let tables = Arc::new(Tables::solve(rules.options(), 3).unwrap());
    let mut engine = Engine::new(small(EngineOptions::default().tables(tables)));
    let game = Game::new("7/7/7/3r3/7/7/7/3L3/1E5 w".parse().unwrap(), rules, None);
    let stopped = engine.search(&game, &Limits::default()).stop(&AtomicBool::new(true)).run();
    assert!(game.legal_moves().contains(&stopped.best().unwrap()));
    assert_eq!(stopped.lines[0].score.win_in(), None);
    let solved = search(&mut engine, &game, &depth(1));
    assert!(solved.lines[0].score.win_in().is_some(), "{:?}", solved.lines[0].score);
}

/// Limits begin to hold when the opponent has moved, for the search that runs.
#[test]
fn a_search_that_ponders_goes_on() {
    let game = Game::default();
    for limits in [depth(3), Limits::default().nodes(10), Limits::default().movetime(std::time::Duration::ZERO)] {
        let hit = OnceLock::new();
        let depths = Mutex::new(Vec::new());
        let note = |info: &Info| {
            depths.lock().unwrap().push(info.depth);
            if info.depth == 6 {
                hit.get_or_init(Instant::now);
            }
        };
        let mut engine = Engine::new(small(EngineOptions::default()));
        let found: SearchResult = engine.search(&game, &limits).ponder(&hit).on_info(note).run();
        let depths = depths.into_inner().unwrap();
        assert!(depths.starts_with(&[1, 2, 3, 4, 5, 6]) && depths.len() < 9, "{limits:?}: {depths:?}");
        assert!(depths.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{limits:?}: {depths:?}");
        assert!(game.legal_moves().contains(&found.best().unwrap()));
    }
}
