//! The search against plain minimax, its signature, and other evaluations.

use super::{PRESETS, depth, random_game, rules, search, small};
use doushouqi::board::{Color, Position};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{
    Engine, EngineOptions, EvalContext, Evaluate, Evaluation, SearchOptions, SearchResult, bench, burnett, minimax,
};

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
        let plain = EngineOptions::default().search(SearchOptions::NONE).evaluation(Evaluation::Burnett);
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

/// Burnett's evaluation as a caller would write it.
struct Foreign {
    calls: u64,
}

impl Evaluate for Foreign {
    fn evaluate(&mut self, context: &EvalContext<'_>) -> i32 {
        self.calls += 1;
        let position = context.position();
        assert_eq!(position.key(), position.compute_key());
        for (piece, _) in position.pieces().filter(|(piece, _)| piece.color == position.turn()) {
            let legal = position.moves(context.rules());
            let targets = legal.iter().filter(|mv| mv.animal == piece.animal).map(|mv| mv.to).collect();
            assert_eq!(context.targets(piece), targets, "{position:?}");
        }
        let white = burnett::evaluate(&position);
        if position.turn() == Color::White { white } else { -white }
    }
}

/// The engine plays with an evaluation of the caller, and plain search with it equals minimax.
#[test]
fn a_foreign_evaluation_is_searched_like_a_built_in_one() {
    let mut random = Random::new(12);
    let foreign = || EngineOptions::default().evaluation(Evaluation::custom(|_| Box::new(Foreign { calls: 0 })));
    for search_options in [SearchOptions::NONE, EngineOptions::burnett_alphabeta().search] {
        let mut engine = Engine::new(small(foreign().search(search_options)));
        // Rules change from game to game.
        for preset in ["paper", "chinese", "paper"] {
            let rules = rules(preset);
            for _ in 0..10 {
                let position = random.position(9, &rules);
                let game = Game::new(position.clone(), rules.clone(), None);
                let found = search(&mut engine, &game, &depth(3));
                let expected = minimax(&position, &rules, 3).value;
                assert_eq!(value(&found, position.turn()), expected, "{position:?} {preset} {search_options}");
            }
        }
    }
    // With two threads, all techniques, and after a new game.
    let mut engine = Engine::new(small(foreign().threads(2)));
    for _ in 0..2 {
        let found = search(&mut engine, &Game::default(), &depth(6));
        assert!(Game::default().legal_moves().contains(&found.best().unwrap()));
        engine.new_game();
    }
}

/// An estimate is never a certain win, even if the evaluation returns extreme values.
#[test]
fn extreme_evaluations_are_estimates() {
    struct Extreme(i32);
    impl Evaluate for Extreme {
        fn evaluate(&mut self, _: &EvalContext<'_>) -> i32 {
            self.0
        }
    }
    for extreme in [i32::MIN, -30_000, 30_000, i32::MAX] {
        let evaluation = Evaluation::custom(move |_| Box::new(Extreme(extreme)));
        let mut engine = Engine::new(small(EngineOptions::default().evaluation(evaluation)));
        let score = search(&mut engine, &Game::default(), &depth(4)).lines[0].score;
        assert!(!score.is_win() && !score.is_loss(), "{extreme}: {score}");
    }
}

/// Techniques that must not change a value, one by one and together.
#[test]
fn ordering_and_exact_bounds_change_no_value() {
    let mut random = Random::new(2);
    let rules = rules("paper");
    let variants = ["none,+killers,+history,+continuation", "none,+mate-distance", "none,+aspiration,+history"];
    for techniques in variants {
        let options = EngineOptions::default().search(techniques.parse().unwrap()).evaluation(Evaluation::Burnett);
        let mut engine = Engine::new(small(options));
        for _ in 0..12 {
            let game = random_game(&mut random, &rules, 60);
            let position = game.position().clone();
            // Without the history, which minimax ignores.
            let game = Game::new(position.clone(), rules.clone(), None);
            for plies in 2..=5 {
                let found = search(&mut engine, &game, &depth(plies));
                let expected = minimax(&position, &rules, plies).value;
                assert_eq!(value(&found, position.turn()), expected, "{techniques}: {position:?} depth {plies}");
            }
        }
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
