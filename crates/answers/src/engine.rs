//! Searches for many clients at once. Only this module uses the engine.

use super::api::Over;
use super::errors::{ApiError, Code};
use super::game_state;
use doushouqi::board::{Judge, Move, Position, RuleOptions};
use doushouqi::game::Game;
use doushouqi::search::network::Network;
use doushouqi::search::{Engine, EngineOptions, Info, Level, Limits, Score, Tables};
use doushouqi::tablebase::{Value, Wdl};
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The limits of a search.
pub const MAX_HASH_MIB: usize = 256;
/// The default hash memory of a search.
pub const HASH_MIB: usize = 64;
pub(crate) const MAX_LINES: usize = 5;
pub const MAX_DEPTH: u32 = 100;
/// The longest analysis, and the longest search whose result comes in one response.
pub(crate) const MAX_MOVETIME: Duration = Duration::from_secs(600);
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(10);

/// # Errors
/// If the host of a WebAssembly module must provide the network for these rules first, which the error names.
pub(crate) fn check_network(rules: &RuleOptions) -> Result<(), ApiError> {
    let Some(preset) = Network::missing(rules) else { return Ok(()) };
    let message = format!("the engine's network for the rules {preset} is not loaded");
    Err(ApiError::new(Code::Unavailable, message).with("network", preset.to_owned()))
}

/// The options of a search.
#[derive(Clone, Debug)]
pub struct Setup {
    pub hash_mib: usize,
    pub threads: usize,
    pub lines: usize,
    /// The tables that the search probes.
    pub tables: Option<Arc<Tables>>,
}

/// Equal if the same engine can serve both.
impl PartialEq for Setup {
    fn eq(&self, other: &Setup) -> bool {
        let tables = |setup: &Setup| setup.tables.as_ref().map(Arc::as_ptr);
        (self.hash_mib, self.threads, self.lines, tables(self))
            == (other.hash_mib, other.threads, other.lines, tables(other))
    }
}

/// The engines of all searches. Their hash tables together stay within a limit, those of idle engines included.
pub struct Engines {
    hash_mib: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Engines that have searched and keep their hash tables, least recently used first.
    idle: Vec<(Setup, Engine)>,
    /// The hash memory of the engines that search.
    used_mib: usize,
}

/// The most idle engines.
const IDLE: usize = 4;
/// The least hash memory of a search. Searches beyond the limit get this much.
const MIN_HASH_MIB: usize = 1;

/// Hash memory of a running search, returned when dropped.
struct Hash<'a> {
    engines: &'a Engines,
    mib: usize,
}

impl Drop for Hash<'_> {
    fn drop(&mut self) {
        self.engines.lock().used_mib -= self.mib;
    }
}

impl Engines {
    /// Engines whose hash tables take at most `hash_mib` MiB together.
    #[must_use]
    pub fn new(hash_mib: usize) -> Engines {
        Engines { hash_mib, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves hash memory for a search: at most half of the free memory, which leaves some for the next search.
    fn reserve(&self, wanted_mib: usize) -> Hash<'_> {
        let mut state = self.lock();
        let free = self.hash_mib.saturating_sub(state.used_mib);
        let mib = wanted_mib.min(free / 2).max(MIN_HASH_MIB);
        state.used_mib += mib;
        Hash { engines: self, mib }
    }

    /// Searches a game until a limit or `stop`. The hash table is smaller than `setup` wants if memory is short.
    pub fn search(
        &self,
        setup: Setup,
        game: &Game,
        limits: &Limits,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&Info),
    ) -> Vec<Info> {
        let hash = self.reserve(setup.hash_mib);
        let setup = Setup { hash_mib: hash.mib, ..setup };
        let mut engine = self.take(&setup);
        let lines = engine.search(game, limits).stop(stop).on_info(report).run().lines;
        drop(hash);
        let mut state = self.lock();
        state.idle.push((setup, engine));
        self.shrink(&mut state);
        lines
    }

    /// Drops idle engines until all hash tables are within the limit.
    fn shrink(&self, state: &mut State) {
        let idle_mib = |state: &State| state.idle.iter().map(|(setup, _)| setup.hash_mib).sum::<usize>();
        while !state.idle.is_empty() && (state.idle.len() > IDLE || state.used_mib + idle_mib(state) > self.hash_mib) {
            state.idle.remove(0);
        }
    }

    /// An idle engine of this setup, or a new one.
    fn take(&self, setup: &Setup) -> Engine {
        let mut state = self.lock();
        if let Some(found) = state.idle.iter().rposition(|(other, _)| other == setup) {
            let engine = state.idle.remove(found).1;
            self.shrink(&mut state);
            return engine;
        }
        self.shrink(&mut state);
        drop(state);
        setup.engine()
    }
}

impl Setup {
    fn engine(&self) -> Engine {
        Engine::new(
            EngineOptions::default()
                .hash_mib(self.hash_mib)
                .threads(self.threads)
                .multipv(self.lines)
                .tables(self.tables.clone()),
        )
    }
}

/// A score for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Score"))]
pub struct ScoreReport {
    #[cfg_attr(test, schemars(extend("enum" = ["cp", "mate", "win"])))]
    pub kind: &'static str,
    /// `cp`: centipawns, 100 is the value of a cat. `mate`: plies to the end, negative for a loss. `win`: the most plies that a
    /// win by endgame tables takes, negative for a loss.
    pub value: i32,
}

impl From<Score> for ScoreReport {
    fn from(score: Score) -> ScoreReport {
        let kind = if score.win_in().or(score.loss_in()).is_some() { "mate" } else { "win" };
        match (score.win_within(), score.loss_within()) {
            (Some(plies), _) => ScoreReport { kind, value: plies as i32 },
            (_, Some(plies)) => ScoreReport { kind, value: -(plies as i32) },
            _ => ScoreReport { kind: "cp", value: score.value() },
        }
    }
}

/// The value of a position in the tables as a score.
impl From<Value> for ScoreReport {
    fn from(value: Value) -> ScoreReport {
        let plies = i32::from(value.dtw.unwrap_or(0));
        match value.wdl {
            Wdl::Win => ScoreReport { kind: "mate", value: plies },
            Wdl::Draw => ScoreReport { kind: "cp", value: 0 },
            Wdl::Loss => ScoreReport { kind: "mate", value: -plies },
        }
    }
}

/// A move of a line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LineMove {
    pub uci: String,
    pub san: String,
}

/// The state of one line of a search.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Info"))]
pub struct InfoReport {
    pub depth: u32,
    pub seldepth: u32,
    pub multipv: usize,
    pub score: ScoreReport,
    pub nodes: u64,
    pub nps: u64,
    pub time_ms: u64,
    pub pv: Vec<LineMove>,
}

impl InfoReport {
    #[must_use]
    pub fn new(position: &Position, info: &Info) -> InfoReport {
        let seconds = info.time.as_secs_f64();
        InfoReport {
            depth: info.depth,
            seldepth: info.seldepth,
            multipv: info.multipv,
            score: info.score.into(),
            nodes: info.nodes,
            nps: if seconds > 0.0 { (info.nodes as f64 / seconds) as u64 } else { 0 },
            time_ms: info.time.as_millis() as u64,
            pv: line(position, &info.pv),
        }
    }
}

/// A line in both notations.
#[must_use]
pub fn line(position: &Position, moves: &[Move]) -> Vec<LineMove> {
    let mut position = position.clone();
    let mut line = Vec::with_capacity(moves.len());
    for &mv in moves {
        line.push(LineMove { uci: mv.to_string(), san: mv.notation(&position) });
        position = position.make(mv);
    }
    line
}

/// The best move of a game; without a move if the game is over.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BestMove {
    pub uci: Option<String>,
    pub san: Option<String>,
    /// The position after the move.
    pub fen: String,
    /// For the side that moves.
    pub score: Option<ScoreReport>,
    /// `table`, `engine`, or `rules` if the game is over.
    #[cfg_attr(test, schemars(extend("enum" = ["table", "engine", "rules"])))]
    pub source: &'static str,
    /// How the game has ended, by this move or before it.
    pub over: Option<Over>,
}

impl BestMove {
    /// A legal move of a game.
    #[must_use]
    pub fn new(mut game: Game, mv: Move, score: ScoreReport, source: &'static str) -> BestMove {
        let san = mv.notation(game.position());
        let fen = game.position().make(mv).to_fen();
        // A move that the game rejects does not end it.
        let over = game.play(mv).ok().and_then(|()| game_state::over(&game));
        BestMove { uci: Some(mv.to_string()), san: Some(san), fen, score: Some(score), source, over }
    }
}

/// A level with its number, as in answers.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LevelReport {
    /// The value of `strength`.
    pub strength: usize,
    /// A word for the level, which a page may translate.
    pub name: &'static str,
    /// The most nodes of a search; null if only the time limits it.
    pub nodes: Option<u64>,
    /// By how much a move may be worse than the best one, in centipawns.
    pub margin: i32,
    /// The Elo above the weakest level, by games between neighbours; null if it was not measured.
    pub elo: Option<u16>,
}

/// Every level, weakest first.
#[must_use]
pub fn levels() -> Vec<LevelReport> {
    let report = |(i, level): (usize, &Level)| {
        let Level { name, nodes, margin, elo, .. } = *level;
        LevelReport { strength: i + 1, name, nodes, margin, elo }
    };
    Level::ALL.iter().enumerate().map(report).collect()
}

impl Engines {
    /// A move at a strength from 1 to 10, with its score; `None` if the game is over. `seed` selects among moves that
    /// are good enough. Only strength 10 probes `tables`.
    pub fn play(
        &self,
        game: &Game,
        tables: Option<Arc<Tables>>,
        strength: usize,
        time: Duration,
        seed: u64,
        stop: &AtomicBool,
    ) -> Option<(Move, Score)> {
        let level = Level::ALL[strength.clamp(1, Level::ALL.len()) - 1];
        let limits = level.limits(&Limits::default().movetime(time));
        let found = if level.nodes.is_none() {
            let setup = Setup { hash_mib: HASH_MIB, threads: 1, lines: 1, tables };
            self.search(setup, game, &limits, stop, &mut |_| ())
        } else {
            let _hash = self.reserve(Level::HASH_MIB);
            level.engine().search(game, &limits).stop(stop).run().lines
        };
        level.choose(&found, seed).map(|line| (line.pv[0], line.score))
    }
}

/// Whether a value of the tables surely holds in a game, but for repetitions: best play ends before a limit, even without
/// captures on the way, there is no rule against loops, and no draw is judged. If the distance of a win or loss is
/// unknown, the tables cannot tell, and the answer is no.
#[must_use]
pub(crate) fn holds_in_game(value: &Value, game: &Game) -> bool {
    let options = game.rules().options();
    match value.dtw {
        _ if options.has_loop_rule() => false,
        Some(plies) => game.plies_left().is_none_or(|left| u32::from(plies) <= left),
        None => value.wdl == Wdl::Draw && options.judge == Judge::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_tables_stay_within_their_limit() {
        let engines = Engines::new(16);
        let setup = |hash_mib, lines| Setup { hash_mib, threads: 1, lines, tables: None };
        let (game, stop) = (Game::default(), AtomicBool::new(false));
        let limits = Limits::default().nodes(50);
        let total = || {
            let state = engines.lock();
            state.used_mib + state.idle.iter().map(|(setup, _)| setup.hash_mib).sum::<usize>()
        };
        for lines in 1..=5 {
            engines.search(setup(256, lines), &game, &limits, &stop, &mut |_| assert!(total() <= 16));
            assert!(total() <= 16);
        }
        let held: Vec<Hash<'_>> = (0..4).map(|_| engines.reserve(256)).collect();
        assert_eq!(held.iter().map(|hash| hash.mib).collect::<Vec<_>>(), [8, 4, 2, 1]);
        drop(held);
        assert_eq!(engines.lock().used_mib, 0);
    }
}
