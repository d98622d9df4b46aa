//! The search against the endgame tables, and with them.

use super::{depth, rules, search, small};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Engine, EngineOptions, SearchPreset, Tables};
use doushouqi::tablebase::{Probe, Wdl};
use std::sync::Arc;

/// A win or loss that the search announces without tables is a win or loss by the tables, and not shorter.
#[test]
fn announced_wins_are_in_the_tables() {
    let mut random = Random::new(3);
    for preset in ["paper", "chinese", "bodlaender"] {
        let rules = rules(preset);
        let tables = Tables::solve(rules.options(), 3).unwrap();
        let mut engine = Engine::new(small(EngineOptions::default()));
        let mut announced = 0;
        for _ in 0..150 {
            let position = random.position(3, &rules);
            let game = Game::new(position.clone(), rules.clone(), None);
            let found = search(&mut engine, &game, &depth(9));
            let value = tables.value(&position).unwrap().unwrap();
            let score = found.lines[0].score;
            if let Some(plies) = score.win_in() {
                assert_eq!(value.wdl, Wdl::Win, "{position:?} {preset}");
                assert!(plies >= u32::from(value.dtw.unwrap()), "{position:?} {preset}: {plies}");
                announced += 1;
            } else if let Some(plies) = score.loss_in() {
                assert_eq!(value.wdl, Wdl::Loss, "{position:?} {preset}");
                // A search that prunes may underestimate a defence, but the loss is real.
                assert!(plies > 0);
                announced += 1;
            }
        }
        assert!(announced > 30, "{preset}: {announced}");
    }
}

/// Without pruning, distances to the den are exact.
#[test]
fn distances_of_a_full_search_are_those_of_the_tables() {
    let mut random = Random::new(4);
    let rules = rules("paper");
    let tables = Tables::solve(rules.options(), 3).unwrap();
    let mut engine = Engine::new(small(EngineOptions::default().search(SearchPreset::AlphaBeta)));
    let mut decided = 0;
    for _ in 0..80 {
        let position = random.position(3, &rules);
        let value = tables.value(&position).unwrap().unwrap();
        let Some(plies) = value.dtw.filter(|&plies| plies <= 8) else { continue };
        let game = Game::new(position.clone(), rules.clone(), None);
        let score = search(&mut engine, &game, &depth(u32::from(plies))).lines[0].score;
        let found = if value.wdl == Wdl::Win { score.win_in() } else { score.loss_in() };
        assert_eq!(found, Some(u32::from(plies)), "{position:?}");
        decided += 1;
    }
    assert!(decided > 15, "{decided}");
}

/// With tables the engine wins a won endgame within the distance of the tables, against any defence.
#[test]
fn with_tables_wins_take_the_shortest_way() {
    let mut random = Random::new(5);
    let rules = rules("paper");
    let tables = Arc::new(Tables::solve(rules.options(), 3).unwrap());
    let options = EngineOptions::default().tables(tables.clone());
    let mut engine = Engine::new(small(options));
    let (mut won, mut drawn) = (0, 0);
    for _ in 0..200 {
        let position = random.position(3, &rules);
        let mut game = Game::new(position.clone(), rules.clone(), None);
        let value = tables.value(&position).unwrap().unwrap();
        if value.wdl == Wdl::Draw {
            // The move played keeps the draw.
            let mv = search(&mut engine, &game, &depth(3)).best().unwrap();
            let after = tables.value(&position.make(mv)).unwrap().unwrap();
            assert_eq!(after.wdl, Wdl::Draw, "{position:?} {mv}");
            drawn += 1;
        }
        if value.wdl != Wdl::Win {
            continue;
        }
        let mut plies = value.dtw.unwrap();
        while game.end().is_none() {
            let mine = plies % 2 == 1;
            if mine {
                let found = search(&mut engine, &game, &depth(3));
                assert_eq!(found.lines[0].score.win_in(), Some(u32::from(plies)));
                game.play(found.best().unwrap()).unwrap();
                plies -= 1;
            } else {
                let moves = game.legal_moves();
                game.play(*random.choose(&moves).unwrap()).unwrap();
                // A random defence may shorten the game, but never lengthen it.
                let after = tables.value(game.position()).unwrap().unwrap().dtw.unwrap();
                assert!(after < plies, "{position:?}");
                plies = after;
            }
        }
        assert_eq!(game.end().unwrap().winner(), Some(position.turn()));
        won += 1;
    }
    assert!(won > 40 && drawn > 0, "{won} {drawn}");
}

/// Tables in the tree: from positions of five pieces the search reaches the tables.
#[test]
fn tables_in_the_tree_agree_with_larger_tables() {
    let mut random = Random::new(6);
    let rules = rules("paper");
    let small_tables = Arc::new(Tables::solve(rules.options(), 2).unwrap());
    let large = Tables::solve(rules.options(), 3).unwrap();
    let mut engine = Engine::new(small(EngineOptions::default().tables(small_tables)));
    let (mut hits, mut table_wins) = (0, 0);
    for _ in 0..400 {
        let position = random.position(3, &rules);
        let game = Game::new(position.clone(), rules.clone(), None);
        let found = search(&mut engine, &game, &depth(4));
        hits += found.lines[0].tbhits;
        let score = found.lines[0].score;
        let truth = large.value(&position).unwrap().unwrap();
        let dtw = truth.dtw.map_or(0, u32::from);
        if let Some(plies) = score.win_within() {
            assert_eq!(truth.wdl, Wdl::Win, "{position:?}");
            assert!(plies >= dtw, "{position:?}: {score}, {dtw} plies");
        } else if let Some(plies) = score.loss_within() {
            assert_eq!(truth.wdl, Wdl::Loss, "{position:?}");
            assert!(plies >= dtw, "{position:?}: {score}, {dtw} plies");
        } else {
            assert!(score.value().abs() < 25_001, "{position:?}: {score}");
        }
        table_wins += usize::from(score.win_within().is_some() && score.win_in().is_none());
    }
    assert!(table_wins > 2, "{table_wins}");
    assert!(hits > 0);
}
