//! The published values, extreme evaluations, and the signature of the engine.

use super::{depth, rules, search, small};
use doushouqi::board::{Position, RuleOptions};
use doushouqi::game::Game;
use doushouqi::search::network::Network;
use doushouqi::search::{Engine, EngineOptions, Evaluation, bench};
use std::sync::Arc;

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
