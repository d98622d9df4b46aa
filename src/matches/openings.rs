//! How the games of a match begin.

use crate::board::{Position, Rules};
use crate::game::Game;
use crate::game::random::Random;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// How the games of a match begin. Written `start`, or `random:PLIES:SEED`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Openings {
    /// Every game at the start.
    Start,
    /// After random legal moves from the start; every pair of games after others.
    Random {
        /// Number of moves.
        plies: u32,
        /// What they follow from.
        seed: u64,
    },
}

/// Text that says no openings.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{text:?} is no opening: write start, or random:PLIES:SEED with at most {} plies, as in random:8:1",
    Openings::MAX_PLIES
)]
pub struct ParseOpeningsError {
    text: String,
}

/// Random moves that end every game.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{plies} random plies decide the game every time; ask for fewer")]
pub struct NoOpening {
    plies: u32,
}

impl Openings {
    const MAX_PLIES: u32 = 200;

    /// The seed of everything random in a match.
    #[must_use]
    pub fn seed(&self) -> u64 {
        match self {
            Openings::Start => 0,
            Openings::Random { seed, .. } => *seed,
        }
    }

    /// The opening of a pair of games, counted from 0. The game is not over, and the same numbers make the same opening.
    ///
    /// # Errors
    /// If that many random moves end every game.
    pub fn game(&self, pair: u64, rules: &Rules, no_capture_limit: Option<u32>) -> Result<Game, NoOpening> {
        let start = Game::new(Position::start(), rules.clone(), no_capture_limit);
        let Openings::Random { plies, seed } = *self else { return Ok(start) };
        let mut random = Random::numbered(seed, pair);
        for _ in 0..1000 {
            let mut game = start.clone();
            random.play(&mut game, plies as usize);
            if game.end().is_none() {
                return Ok(game);
            }
        }
        Err(NoOpening { plies })
    }
}

impl fmt::Display for Openings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Openings::Start => f.write_str("start"),
            Openings::Random { plies, seed } => write!(f, "random:{plies}:{seed}"),
        }
    }
}

impl FromStr for Openings {
    type Err = ParseOpeningsError;

    fn from_str(text: &str) -> Result<Openings, ParseOpeningsError> {
        let parts: Vec<&str> = text.split(':').collect();
        let parsed = match parts[..] {
            ["start"] => Some(Openings::Start),
            ["random", plies, seed] => plies
                .parse()
                .ok()
                .filter(|&plies| plies <= Openings::MAX_PLIES)
                .zip(seed.parse().ok())
                .map(|(plies, seed)| Openings::Random { plies, seed }),
            _ => None,
        };
        parsed.ok_or_else(|| ParseOpeningsError { text: text.to_owned() })
    }
}
