//! Training data: games of the engine against itself.

use super::record::Record;
use doushouqi::board::geometry::TRAPS;
use doushouqi::board::{Color, Move, Position, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Engine, EngineOptions, Evaluation, Limits, Score, Tables};
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
    /// The tables that end games of few pieces.
    pub tables: Arc<Tables>,
    /// Whether each move adds a position that the game does not reach: 1 to 3 random moves from the position before it,
    /// with a search of its own. Its score is the label; its result is that of the game and says nothing about it.
    pub sidelines: bool,
}

impl Datagen {
    /// An engine for [`Datagen::game`]. Each thread needs one.
    #[must_use]
    pub fn engine(&self) -> Engine {
        let options = EngineOptions::default().hash_mib(1).evaluation(self.evaluation.clone());
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
                if random.below(EXACT) == 0 {
                    let score = i32::from(wdl.sign()) * MAX_SCORE;
                    records.push(self.record(&game, number, score, true));
                }
                break wdl.winner(turn);
            }
            let found = engine.search(&game, &limits).run();
            let Some(line) = found.lines.first() else { break None };
            let (mv, score) = (line.pv[0], line.score);
            if score.is_win() || score.is_loss() {
                break Some(if score.is_win() { turn } else { !turn });
            }
            if is_quiet(&game, mv) && seen.insert(position.key()) {
                records.push(self.record(&game, number, score.value(), false));
            }
            if self.sidelines
                && let Some(record) = self.sideline(engine, &game, number, &mut random)
                && seen.insert(record.position.key())
            {
                records.push(record);
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

    /// The record of a position after 1 to 3 random moves from the position of a game; `None` if a game excludes such a
    /// position.
    fn sideline(&self, engine: &mut Engine, game: &Game, number: u32, random: &mut Random) -> Option<Record> {
        let mut line = game.clone();
        let plies = 1 + random.below(3);
        random.play(&mut line, plies);
        if line.end().is_some() || self.tables.probe(line.position()).is_some() {
            return None;
        }
        let found = engine.search(&line, &Limits::default().nodes(self.nodes)).run();
        let best = found.lines.first()?;
        let (mv, score) = (best.pv[0], best.score);
        let kept = !score.is_win() && !score.is_loss() && is_quiet(&line, mv);
        kept.then(|| self.record(&line, number, score.value(), true))
    }

    fn record(&self, game: &Game, number: u32, score: i32, score_only: bool) -> Record {
        Record {
            position: game.position().clone(),
            halfmove_clock: game.halfmove_clock().min(255) as u8,
            score: score.clamp(-MAX_SCORE, MAX_SCORE) as i16,
            result: 0,
            score_only,
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

/// Whether an evaluation can judge the position of a game, in which a search found this move.
fn is_quiet(game: &Game, best: Move) -> bool {
    let position = game.position();
    !best.is_capture(position) && !has_intruder(position) && game.halfmove_clock() < MAX_CLOCK
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
        let (rules, evaluation) = (Rules::default(), Evaluation::default());
        Datagen { rules, seed, nodes: 60, evaluation, tables, sidelines: false }
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
    fn random_placements_have_five_pieces_or_more() {
        let mut random = Random::new(8);
        let placements: Vec<_> = (0..500).map(|_| random_placement(&mut random)).collect();
        let counts = || placements.iter().map(|position| position.occupied().len());
        assert!(counts().min() == Some(5) && counts().max() >= Some(14));
        assert!(placements.iter().all(|position| position.winner().is_none()));
    }

    #[test]
    fn records_are_quiet_positions_with_results() {
        let games = datagen(3);
        let mut engine = games.engine();
        let (mut decisive, mut total, mut agreement) = (0, 0, 0);
        for number in 0..10 {
            let records = games.game(&mut engine, number);
            let mut keys = HashSet::new();
            for record in &records {
                let position = &record.position;
                assert!(position.winner().is_none() && record.game == number);
                assert!(record.score_only || keys.insert(position.key()));
                let intruders = Color::ALL.map(|color| position.side(!color) & TRAPS[color]);
                assert!(record.score_only || intruders.iter().all(|squares| squares.is_empty()));
                decisive += usize::from(record.result != 0);
                agreement += i32::from(record.score) * i32::from(record.result);
            }
            total += records.len();
            // All records of a game have the same result from White's view.
            let white =
                |record: &Record| if record.position.turn() == Color::White { record.result } else { -record.result };
            assert!(records.windows(2).all(|pair| white(&pair[0]) == white(&pair[1])));
        }
        assert!(total > 50 && decisive > 0 && agreement > 0, "{total} {decisive} {agreement}");
    }

    /// With sidelines there are about twice as many positions, and still no position twice.
    #[test]
    fn sidelines_are_quiet_positions_off_the_game() {
        let games = Datagen { sidelines: true, ..datagen(3) };
        let mut engine = games.engine();
        let (mut played, mut beside) = (0, 0);
        for number in 0..10 {
            let records = games.game(&mut engine, number);
            assert_eq!(records, games.game(&mut engine, number), "{number}");
            let mut keys = HashSet::new();
            for record in records.iter().filter(|record| record.position.occupied().len() > 2) {
                assert!(keys.insert(record.position.key()) && !has_intruder(&record.position));
                *(if record.score_only { &mut beside } else { &mut played }) += 1;
            }
        }
        assert!(beside > played / 2 && beside < 2 * played, "{played} {beside}");
    }
}
