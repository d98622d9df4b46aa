//! The moves that the engine plays in endgames, compared with the tables.

use doushouqi::board::{Position, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Engine, EngineOptions, Limits, Tables};
use doushouqi::tablebase::{Probe, Wdl};
use rayon::prelude::*;
use serde::Serialize;

/// The moves that were played in some positions.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EndgameMoves {
    /// Number of positions.
    pub positions: usize,
    /// Moves that keep the value of the table.
    pub kept: usize,
    /// Of these, the moves that win fastest or lose slowest; every drawing move of a drawn position.
    pub best: usize,
}

impl EndgameMoves {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: EndgameMoves) -> EndgameMoves {
        EndgameMoves {
            positions: self.positions + other.positions,
            kept: self.kept + other.kept,
            best: self.best + other.best,
        }
    }
}

/// The values of the positions, in the order in which [`endgame_moves`] reports them.
const VALUES: [Wdl; 3] = [Wdl::Win, Wdl::Draw, Wdl::Loss];

/// Positions of three and four pieces, in equal shares won, drawn and lost for the side to move by the tables.
#[must_use]
pub fn endgame_positions(count: usize, seed: u64, rules: &Rules, tables: &Tables) -> Vec<Position> {
    let mut random = Random::new(seed);
    let mut found = Vec::new();
    while found.len() < count {
        let wanted = VALUES[found.len() % 3];
        let pieces = 3 + random.below(2);
        let turn = random.color();
        if let Some(position) = random.scatter(turn, pieces)
            && position.occupied().len() == pieces
            && position.count_moves(rules) > 0
            && tables.probe(&position) == Some(wanted)
        {
            found.push(position);
        }
    }
    found
}

/// Plays one move in each of these positions and compares its value with the tables: in won, drawn and lost positions.
/// `done` is called after each position.
#[must_use]
pub fn endgame_moves(
    positions: &[Position],
    options: &EngineOptions,
    limits: &Limits,
    rules: &Rules,
    tables: &Tables,
    done: &(dyn Fn() + Sync),
) -> [EndgameMoves; 3] {
    let one = |position: &Position| {
        let game = Game::new(position.clone(), rules.clone(), None);
        let played = Engine::new(options.clone()).search(&game, limits).run().best();
        let Ok(moves) = tables.moves(position);
        let moves = moves.unwrap_or_default();
        let value = |mv| moves.iter().find(|&&(other, _)| Some(other) == mv).map(|&(_, value)| value);
        let best = moves.first().map(|&(_, value)| value);
        let played = value(played);
        done();
        let kept = played.is_some() && played.map(|value| value.wdl) == best.map(|value| value.wdl);
        let moves = EndgameMoves { positions: 1, kept: kept.into(), best: (kept && played == best).into() };
        VALUES.map(|wdl| if best.is_some_and(|value| value.wdl == wdl) { moves } else { EndgameMoves::default() })
    };
    let add = |a: [EndgameMoves; 3], b: [EndgameMoves; 3]| std::array::from_fn(|i| a[i].plus(b[i]));
    positions.par_iter().with_max_len(1).map(one).reduce(Default::default, add)
}
