//! The engine against the endgame tables, and with any position, game and limit.

mod endings;
mod limits;
mod tables;
mod values;
mod wins;

use doushouqi::board::{Position, RuleOptions, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Engine, EngineOptions, Limits, SearchResult};

const PRESETS: [&str; 6] = ["paper", "cazaux", "bodlaender", "quadibloc", "bell", "chinese"];

fn rules(text: &str) -> Rules {
    Rules::new(text.parse::<RuleOptions>().unwrap())
}

fn depth(depth: u32) -> Limits {
    Limits::default().depth(depth)
}

fn small(options: EngineOptions) -> EngineOptions {
    options.hash_mib(2)
}

fn search(engine: &mut Engine, game: &Game, limits: &Limits) -> SearchResult {
    engine.search(game, limits).run()
}

/// A game of random moves from the start that is not over.
fn random_game(random: &mut Random, rules: &Rules, plies: usize) -> Game {
    let mut game = Game::new(Position::start(), rules.clone(), Some(Game::NO_CAPTURE_LIMIT));
    random.play(&mut game, plies);
    if game.end().is_some() {
        game.undo();
    }
    game
}
