//! How the games of a match begin.

use crate::board::{Position, Rules};
use crate::game::Game;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// How the games of a match begin. Written `start`, or `random:PLIES:SEED`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Openings {
    /// Every game at the start.
    Start,
    /// After so many random legal moves from the start; every pair of games after others.
    Random { plies: u32, seed: u64 },
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
    pub fn game(&self, pair: u64, rules: &Rules, no_capture_limit: Option<u32>) -> Result<Game, NoOpening> {
        let start = Game::new(Position::start(), rules.clone(), no_capture_limit);
        let Openings::Random { plies, seed } = *self else { return Ok(start) };
        let mut random = seeded(seed, pair);
        for _ in 0..1000 {
            let mut game = start.clone();
            for _ in 0..plies {
                if let Some(mv) = choose(&game, &mut random) {
                    game.play(mv).expect("it is a legal move");
                }
            }
            if game.end().is_none() {
                return Ok(game);
            }
        }
        Err(NoOpening { plies })
    }
}

/// Random numbers that differ with the seed and with the number of the game.
pub(super) fn seeded(seed: u64, number: u64) -> Pcg64 {
    // An odd factor keeps the numbers apart; this one spreads them over the words.
    Pcg64::seed_from_u64(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A legal move, each as likely; `None` if the game is over.
pub(super) fn choose(game: &Game, random: &mut Pcg64) -> Option<crate::board::Move> {
    let moves = game.legal_moves();
    let i = random.next_u64() % moves.len().max(1) as u64;
    moves.get(i as usize).copied()
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
