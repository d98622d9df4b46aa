//! The search against plain minimax, its signature, and extreme evaluations.

use super::{PRESETS, depth, rules, search, small};
use doushouqi::board::{Color, Position, RuleOptions};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::network::Network;
use doushouqi::search::{Engine, EngineOptions, Evaluation, SearchPreset, SearchResult, bench, minimax};
use std::sync::Arc;

/// The value from White's view, in the units of [`minimax`].
fn value(result: &SearchResult, turn: Color) -> i32 {
    let value = result.lines[0].score.value();
    if turn == Color::White { value } else { -value }
}

/// Both searches without pruning and extensions equal minimax. The transposition table is off: with it, a value may
/// come from another path, on which other positions are repetitions.
#[test]
fn plain_searches_are_minimax() {
    let mut random = Random::new(1);
    for preset in PRESETS.iter().filter(|p| !p.contains("cazaux")) {
        let rules = rules(preset);
        let plain = EngineOptions::default().search(SearchPreset::AlphaBeta).evaluation(Evaluation::Burnett);
        let mut engine = Engine::new(small(plain));
        for round in 0..40 {
            let pieces = 2 + round % 12;
            let position = random.position(pieces, &rules);
            let game = Game::new(position.clone(), rules.clone(), None);
            for plies in 1..=4 {
                let expected = minimax(&position, &rules, plies);
                let found = search(&mut engine, &game, &depth(plies));
                assert_eq!(value(&found, position.turn()), expected.value, "{position:?} depth {plies} {preset}");
                assert!(expected.best.contains(&found.best().unwrap()), "{position:?} depth {plies} {preset}");
            }
        }
    }
}

/// One engine plays games under rules that change from game to game.
#[test]
fn values_are_those_of_the_rules() {
    let mut random = Random::new(12);
    let plain = EngineOptions::default().search(SearchPreset::AlphaBeta).evaluation(Evaluation::Burnett);
    for options in [plain, EngineOptions::burnett_alphabeta()] {
        let mut engine = Engine::new(small(options));
        for preset in ["paper", "chinese", "paper"] {
            let rules = rules(preset);
            for _ in 0..10 {
                let position = random.position(9, &rules);
                let game = Game::new(position.clone(), rules.clone(), None);
                let found = search(&mut engine, &game, &depth(3));
                let expected = minimax(&position, &rules, 3).value;
                assert_eq!(value(&found, position.turn()), expected, "{position:?} {preset}");
            }
        }
    }
}

/// An estimate is never a certain win, even if the evaluation returns extreme values.
#[test]
fn extreme_evaluations_are_estimates() {
    let network = Evaluation::Default.network(&RuleOptions::default()).unwrap();
    for extreme in [i32::MIN, -60_000, 60_000, i32::MAX] {
        let mut parameters = network.parameters().clone();
        parameters.scale = 10_000;
        parameters.outputs.fill(0);
        parameters.output_biases.fill(extreme);
        let evaluation = Evaluation::Network(Arc::new(Network::new(parameters).unwrap()));
        let mut engine = Engine::new(small(EngineOptions::default().evaluation(evaluation)));
        let score = search(&mut engine, &Game::default(), &depth(4)).lines[0].score;
        assert!(!score.is_win() && !score.is_loss(), "{extreme}: {score}");
        assert!(score.value().abs() > 20_000, "{extreme}: {score}");
    }
}

/// The papers' engine finds the published values of the start.
#[test]
fn the_papers_engine_finds_the_published_values() {
    let game = Game::new(Position::start(), rules("paper"), None);
    for (plies, expected) in (1..).zip([5, 0, 3, 0, 3, 0, 3]) {
        let mut engine = Engine::new(small(EngineOptions::burnett_alphabeta()));
        assert_eq!(search(&mut engine, &game, &depth(plies)).lines[0].score.value(), expected, "depth {plies}");
    }
}

/// The signature that `dsq bench` prints. A commit that changes the engine's behaviour changes this number and says so.
const SIGNATURE: u64 = 1_218_885;

#[test]
fn the_bench_signature_is_known() {
    let options = EngineOptions::default().hash_mib(16);
    assert_eq!(bench::bench(bench::DEPTH, &options, &rules("paper")).nodes, SIGNATURE);
}
