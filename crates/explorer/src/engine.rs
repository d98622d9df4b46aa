//! Searches for many clients at once. Only this module uses the engine.

use super::api::Over;
use super::game_state;
use doushouqi::board::{Move, Position};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Engine, EngineOptions, Info, Limits, Score, Tables};
use doushouqi::tablebase::{Value, Wdl};
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The limits of a search.
pub const MAX_HASH_MIB: usize = 256;
pub const MAX_LINES: usize = 5;
pub const MAX_DEPTH: u32 = 100;
/// The longest analysis, and the longest search whose result comes in one response.
pub const MAX_MOVETIME: Duration = Duration::from_secs(600);
pub const MAX_WAIT: Duration = Duration::from_secs(10);

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

/// Idle engines, which keep their hash tables.
#[derive(Default)]
pub struct Engines {
    idle: Mutex<Vec<(Setup, Engine)>>,
}

/// The most idle engines, and the most hash memory of all of them.
const IDLE: usize = 4;
const IDLE_MIB: usize = 256;

impl Engines {
    /// Searches a game until a limit or `stop`.
    pub fn search(
        &self,
        setup: Setup,
        game: &Game,
        limits: &Limits,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&Info),
    ) -> Vec<Info> {
        let mut engine = self.take(&setup);
        let lines = engine.search(game, limits).stop(stop).on_info(report).run().lines;
        let mut idle = self.idle.lock().unwrap_or_else(|e| e.into_inner());
        idle.push((setup, engine));
        while idle.len() > IDLE || idle.iter().map(|(setup, _)| setup.hash_mib).sum::<usize>() > IDLE_MIB {
            idle.remove(0);
        }
        lines
    }

    fn take(&self, setup: &Setup) -> Engine {
        let mut idle = self.idle.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(found) = idle.iter().rposition(|(other, _)| other == setup) {
            return idle.remove(found).1;
        }
        drop(idle);
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
pub struct ScoreReport {
    /// `cp`, `mate` or `win`.
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
pub struct LineMove {
    pub uci: String,
    pub san: String,
}

/// The state of one line of a search.
#[derive(Clone, Debug, Serialize)]
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
pub struct BestMove {
    pub uci: Option<String>,
    pub san: Option<String>,
    /// The position after the move.
    pub fen: String,
    /// For the side that moves.
    pub score: Option<ScoreReport>,
    /// `table`, `engine`, or `rules` if the game is over.
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
        // A move that the game refuses ends nothing.
        let over = game.play(mv).ok().and_then(|()| game_state::over(&game));
        BestMove { uci: Some(mv.to_string()), san: Some(san), fen, score: Some(score), source, over }
    }
}

/// A strength level.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Level {
    /// A word for the level, which a page may translate.
    pub name: &'static str,
    /// The most nodes of a search; null if only the time limits it.
    pub nodes: Option<u64>,
    /// By how much a move may be worse than the best one, in centipawns.
    pub margin: i32,
}

/// A level with its number, as in answers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LevelReport {
    /// The value of `strength`.
    pub strength: usize,
    #[serde(flatten)]
    pub level: Level,
}

/// Every level, weakest first.
#[must_use]
pub fn levels() -> Vec<LevelReport> {
    LEVELS.iter().enumerate().map(|(i, &level)| LevelReport { strength: i + 1, level }).collect()
}

/// Strengths 1 to 10; the last is limited by time only.
const LEVELS: [Level; 10] = [
    Level { name: "beginner", nodes: Some(20), margin: 300 },
    Level { name: "novice", nodes: Some(60), margin: 200 },
    Level { name: "learner", nodes: Some(200), margin: 120 },
    Level { name: "casual", nodes: Some(600), margin: 80 },
    Level { name: "intermediate", nodes: Some(2_000), margin: 40 },
    Level { name: "skilled", nodes: Some(6_000), margin: 20 },
    Level { name: "advanced", nodes: Some(20_000), margin: 10 },
    Level { name: "expert", nodes: Some(100_000), margin: 0 },
    Level { name: "master", nodes: Some(500_000), margin: 0 },
    Level { name: "champion", nodes: None, margin: 0 },
];

impl Engines {
    /// A move at a strength from 1 to 10, with its score; `None` if the game is over. `seed` selects among moves that are good
    /// enough. Only strength 10 probes `tables`.
    pub fn play(
        &self,
        game: &Game,
        tables: Option<Arc<Tables>>,
        strength: usize,
        time: Duration,
        seed: u64,
        stop: &AtomicBool,
    ) -> Option<(Move, Score)> {
        let level = LEVELS[strength.clamp(1, LEVELS.len()) - 1];
        let limits = Limits::default().movetime(time);
        let found = if level.nodes.is_none() {
            let setup = Setup { hash_mib: 64, threads: 1, lines: 1, tables };
            self.search(setup, game, &limits, stop, &mut |_| ())
        } else {
            // A new engine has an empty hash table and plays the same move every time.
            let lines = if level.margin > 0 { MAX_LINES } else { 1 };
            let setup = Setup { hash_mib: 4, threads: 1, lines, tables: None };
            let limits = limits.nodes(level.nodes);
            setup.engine().search(game, &limits).stop(stop).run().lines
        };
        let best = found.first()?.score;
        let is_good = |info: &&Info| best.value() - info.score.value() <= level.margin;
        let good: Vec<&Info> = found.iter().filter(is_good).collect();
        let chosen = Random::new(seed).choose(&good).copied()?;
        Some((chosen.pv[0], chosen.score))
    }
}

/// Whether the end that the tables know comes before the no-capture limit, even if nothing is captured on the way.
#[must_use]
pub fn ends_in_time(value: &Value, game: &Game) -> bool {
    let plies = u32::from(value.dtw.unwrap_or(0));
    value.wdl == Wdl::Draw || game.plies_left().is_none_or(|left| plies <= left)
}
