//! Biased openings: positions that a search scores as clearly better for one side, but not won.

use doushouqi::board::{Position, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Engine, EngineOptions, Limits};
use std::ops::RangeInclusive;

/// The divisor of the nodes for a short search, which rejects most candidates.
const SHORT: u64 = 20;

/// Candidates for biased openings, by number.
#[derive(Clone, Debug)]
pub struct BiasedOpenings {
    /// The rules.
    pub rules: Rules,
    /// The seed of all random choices.
    pub seed: u64,
    /// The nodes of the search that accepts a candidate.
    pub nodes: u64,
    /// The accepted scores of the better side, in cp.
    pub scores: RangeInclusive<i32>,
}

impl BiasedOpenings {
    /// An engine for [`BiasedOpenings::candidate`]. Each thread needs one.
    #[must_use]
    pub fn engine() -> Engine {
        Engine::new(EngineOptions::default().hash_mib(16))
    }

    /// The candidate of a number with the score for the side to move; `None` if the score of its better side is out of
    /// the range. The candidate depends only on the number and the seed: an even number plays 16 random moves from the
    /// initial position, an odd number puts 12 to 16 pieces on random squares.
    #[must_use]
    pub fn candidate(&self, engine: &mut Engine, number: u64) -> Option<(Position, i32)> {
        let mut random = Random::numbered(self.seed, number);
        let start = if number.is_multiple_of(2) {
            let mut game = Game::new(Position::start(), self.rules.clone(), None);
            random.play(&mut game, 16);
            game.position().clone()
        } else {
            let pieces = 12 + random.below(5);
            random.position(pieces, &self.rules)
        };
        // The moves before the opening do not count for repetitions or the no-capture limit.
        let game = Game::new(start, self.rules.clone(), Some(Game::NO_CAPTURE_LIMIT));
        if game.end().is_some() {
            return None;
        }
        engine.new_game();
        let mut score = |nodes: u64| {
            let score = engine.search(&game, &Limits::default().nodes(nodes)).run().lines.first()?.score;
            (!score.is_win() && !score.is_loss()).then(|| score.value())
        };
        let (least, most) = (self.scores.start() / 2, self.scores.end().saturating_mul(2));
        score(self.nodes.div_ceil(SHORT)).filter(|score| (least..=most).contains(&score.abs()))?;
        let score = score(self.nodes).filter(|score| self.scores.contains(&score.abs()))?;
        Some((game.position().clone(), score))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Openings;

    #[test]
    fn candidates_depend_on_the_number_alone() {
        let biased = BiasedOpenings { rules: Rules::default(), seed: 5, nodes: 400, scores: 100..=800 };
        let mut engine = BiasedOpenings::engine();
        let found: Vec<_> = (0..300).map(|number| biased.candidate(&mut engine, number)).collect();
        for number in (0..300).rev() {
            assert_eq!(biased.candidate(&mut engine, number), found[number as usize], "{number}");
        }
        let scores: Vec<i32> = found.iter().flatten().map(|(_, score)| score.abs()).collect();
        assert!(
            (4..296).contains(&scores.len()) && scores.iter().all(|score| (100..=800).contains(score)),
            "{scores:?}"
        );
    }

    /// The built-in openings can be played and are different, also from their mirror images.
    #[test]
    fn the_built_in_openings_are_biased() {
        let openings: Openings = "biased".parse().unwrap();
        let Openings::Book { openings: list, .. } = &openings else { panic!("{openings:?}") };
        assert_eq!(openings.check(u64::MAX, &Rules::default(), Some(Game::NO_CAPTURE_LIMIT)), Ok(()));
        let mut positions: Vec<String> = list.iter().map(|opening| opening.start.to_string()).collect();
        positions.sort_unstable();
        positions.dedup();
        assert_eq!(positions.len(), list.len());
        assert!(list.len() >= 2000, "{}", list.len());
    }
}
