//! Training data: games of the engine against itself.

use super::record::Record;
use doushouqi::board::geometry::TRAPS;
use doushouqi::board::{Color, Position, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::eval::Weights;
use doushouqi::search::{Engine, EngineOptions, Evaluation, Limits, Score, Tables};
use doushouqi::tablebase::Wdl;
use std::collections::HashSet;
use std::sync::Arc;

/// The largest score of a label, in cp.
pub(crate) const MAX_SCORE: i32 = 3000;
/// An opening counts as decided if a search scores it above this, in cp.
const DECIDED: i32 = 1000;
/// The factor from the nodes of a move to the nodes of the search for decided openings.
const OPENING_NODES: u64 = 10;
/// From this halfmove clock on, scores depend more on the clock than on the position.
const MAX_CLOCK: u32 = 60;
/// One in this many positions of the endgame tables is kept, with its exact value.
const EXACT: usize = 20;

/// Games of the engine against itself.
#[derive(Clone, Debug)]
pub struct Datagen {
    /// The rules.
    pub rules: Rules,
    /// The seed of all random choices.
    pub seed: u64,
    /// The nodes of each search.
    pub nodes: u64,
    /// The evaluation of both players.
    pub evaluation: Evaluation,
    /// The weights of the hand-crafted evaluation; `None` for the current ones.
    pub weights: Option<Weights>,
    /// The tables that end games of few pieces.
    pub tables: Arc<Tables>,
}

impl Datagen {
    /// An engine for [`Datagen::game`]. Each thread needs one.
    #[must_use]
    pub fn engine(&self) -> Engine {
        let options = EngineOptions::default().hash_mib(1).evaluation(self.evaluation.clone());
        let options = options.weights(self.weights.clone());
        Engine::new(options.tables(Arc::clone(&self.tables)))
    }

    /// The records of a game. They depend only on the seed and the number of the game.
    ///
    /// Half of the games begin with 8 to 16 random moves, the rest with pieces on random squares; openings that a
    /// search scores as decided are replaced. A game ends when the tables contain its position or a search announces a
    /// win. The records exclude positions whose best move is a capture, positions with a piece in an enemy trap, and
    /// repetitions within a game.
    #[must_use]
    pub fn game(&self, engine: &mut Engine, number: u32) -> Vec<Record> {
        let mut random = Random::numbered(self.seed, number.into());
        let mut game = self.opening(engine, number, &mut random);
        engine.new_game();
        let limits = Limits::default().nodes(self.nodes);
        let mut records = Vec::new();
        let mut seen = HashSet::new();
        let winner = loop {
            if let Some(end) = game.end() {
                break end.winner();
            }
            let position = game.position();
            let turn = position.turn();
            if let Some(wdl) = self.tables.probe(position) {
                let (score, winner) = match wdl {
                    Wdl::Win => (MAX_SCORE, Some(turn)),
                    Wdl::Draw => (0, None),
                    Wdl::Loss => (-MAX_SCORE, Some(!turn)),
                };
                if random.below(EXACT) == 0 {
                    records.push(self.record(&game, number, score, true));
                }
                break winner;
            }
            let found = engine.search(&game, &limits).run();
            let Some(line) = found.lines.first() else { break None };
            let (mv, score) = (line.pv[0], line.score);
            if score.is_win() || score.is_loss() {
                break Some(if score.is_win() { turn } else { !turn });
            }
            let quiet = !mv.is_capture(position) && !has_intruder(position) && game.halfmove_clock() < MAX_CLOCK;
            if quiet && seen.insert(position.key()) {
                records.push(self.record(&game, number, score.value(), false));
            }
            if game.play(mv).is_err() {
                break None;
            }
        };
        for record in &mut records {
            record.result = winner.map_or(0, |winner| if winner == record.position.turn() { 1 } else { -1 });
        }
        records
    }

    fn record(&self, game: &Game, number: u32, score: i32, exact: bool) -> Record {
        Record {
            position: game.position().clone(),
            halfmove_clock: game.halfmove_clock().min(255) as u8,
            score: score.clamp(-MAX_SCORE, MAX_SCORE) as i16,
            result: 0,
            exact,
            game: number,
            ply: game.moves().len() as u32,
        }
    }

    /// A game that is neither over nor decided, at the end of its opening.
    fn opening(&self, engine: &mut Engine, number: u32, random: &mut Random) -> Game {
        let limits = Limits::default().nodes(OPENING_NODES * self.nodes);
        loop {
            let start = if number % 2 == 1 { random_placement(random) } else { Position::start() };
            let mut game = Game::new(start, self.rules.clone(), Some(Game::NO_CAPTURE_LIMIT));
            let plies = if number % 2 == 1 { random.below(3) } else { 8 + random.below(9) };
            random.play(&mut game, plies);
            if game.end().is_some() || self.tables.probe(game.position()).is_some() {
                continue;
            }
            engine.new_game();
            let found = engine.search(&game, &limits).run();
            let is_open = |score: Score| !score.is_win() && !score.is_loss() && score.value().abs() < DECIDED;
            if found.lines.first().is_some_and(|line| is_open(line.score)) {
                return game;
            }
        }
    }
}

/// Whether a piece stands in an enemy trap.
pub(crate) fn has_intruder(position: &Position) -> bool {
    Color::ALL.iter().any(|&color| !(position.side(!color) & TRAPS[color]).is_empty())
}

/// A position of 5 to 16 pieces on random squares.
fn random_placement(random: &mut Random) -> Position {
    loop {
        let turn = random.color();
        let tries = 6 + random.below(20);
        if let Some(position) = random.scatter(turn, tries)
            && position.winner().is_none()
            && position.occupied().len() > 4
        {
            return position;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use doushouqi::board::RuleOptions;

    fn datagen(seed: u64) -> Datagen {
        let tables = Arc::new(Tables::solve(&RuleOptions::default(), 2).unwrap());
        Datagen { rules: Rules::default(), seed, nodes: 60, evaluation: Evaluation::default(), weights: None, tables }
    }

    #[test]
    fn games_depend_on_seed_and_number_alone() {
        let games = datagen(1);
        let mut engine = games.engine();
        let forward: Vec<_> = (0..6).map(|number| games.game(&mut engine, number)).collect();
        for number in (0..6).rev() {
            assert_eq!(games.game(&mut engine, number), forward[number as usize], "{number}");
        }
        assert_ne!(datagen(2).game(&mut engine, 0), forward[0]);
    }

    #[test]
    fn records_are_quiet_positions_with_results() {
        let games = datagen(3);
        let mut engine = games.engine();
        let (mut decisive, mut total) = (0, 0);
        for number in 0..10 {
            let records = games.game(&mut engine, number);
            let mut keys = HashSet::new();
            for record in &records {
                let position = &record.position;
                assert!(position.winner().is_none() && record.game == number);
                assert!(record.exact || keys.insert(position.key()));
                let intruders = Color::ALL.map(|color| position.side(!color) & TRAPS[color]);
                assert!(record.exact || intruders.iter().all(|squares| squares.is_empty()));
                decisive += usize::from(record.result != 0);
            }
            total += records.len();
            // All records of a game have the same result from White's view.
            let white =
                |record: &Record| if record.position.turn() == Color::White { record.result } else { -record.result };
            assert!(records.windows(2).all(|pair| white(&pair[0]) == white(&pair[1])));
        }
        assert!(total > 50 && decisive > 0, "{total} {decisive}");
    }
}
