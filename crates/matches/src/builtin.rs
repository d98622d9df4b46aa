//! Players within this process: the engine, and a player of random moves.

use super::player::{Choice, Player, PlayerError, Turn};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Engine, EngineOptions};
use std::sync::atomic::{AtomicBool, Ordering};

/// A player that chooses a legal move at random, each with the same probability.
pub(super) struct RandomMover {
    seed: u64,
    random: Random,
}

impl RandomMover {
    pub(super) fn new(seed: u64) -> RandomMover {
        RandomMover { seed, random: Random::numbered(seed, 0) }
    }
}

impl Player for RandomMover {
    fn new_game(&mut self, seed: u64, _: &AtomicBool) -> Result<(), PlayerError> {
        self.random = Random::numbered(self.seed, seed);
        Ok(())
    }

    fn choose(&mut self, game: &Game, _: &Turn, _: &AtomicBool) -> Result<Choice, PlayerError> {
        let mv = *self.random.choose(&game.legal_moves()).ok_or_else(no_move)?;
        Ok(Choice { mv, score: None, depth: None, nodes: None })
    }
}

/// The engine in this process.
pub(super) struct Builtin {
    engine: Engine,
}

impl Builtin {
    pub(super) fn new(options: EngineOptions) -> Builtin {
        Builtin { engine: Engine::new(options) }
    }
}

impl Player for Builtin {
    fn new_game(&mut self, _: u64, _: &AtomicBool) -> Result<(), PlayerError> {
        self.engine.new_game();
        Ok(())
    }

    fn choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError> {
        let limits = turn.limits(game.position().turn());
        let result = self.engine.search(game, &limits).stop(stop).run();
        if stop.load(Ordering::Relaxed) {
            return Err(PlayerError::Stopped);
        }
        let line = result.lines.first().ok_or_else(no_move)?;
        Ok(Choice {
            mv: line.pv[0],
            score: Some(line.score.to_string()),
            depth: Some(line.depth),
            nodes: Some(line.nodes),
        })
    }
}

fn no_move() -> PlayerError {
    PlayerError::IllegalMove("it has no move, though the game is not over".to_owned())
}
