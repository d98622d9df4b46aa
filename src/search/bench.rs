//! The bench signature: the nodes that a fixed search of fixed positions takes. It is the same on every machine, so a
//! change that was to change nothing can be seen to have changed something.

use super::{Engine, EngineOptions, Limits};
use crate::board::{Position, Rules};
use crate::game::Game;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Positions of all kinds, from the start to endgames of three pieces.
pub const POSITIONS: &[&str] = &["l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w"];

/// What a bench took.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Bench {
    pub depth: u32,
    pub positions: usize,
    pub nodes: u64,
    pub seconds: f64,
    pub nodes_per_second: f64,
}

/// Searches every position of [`POSITIONS`] to a depth, with a new engine each.
#[must_use]
pub fn bench(depth: u32, options: &EngineOptions, rules: &Rules) -> Bench {
    let mut engine = Engine::new(options.clone());
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    let start = Instant::now();
    let mut nodes = 0;
    for fen in POSITIONS {
        let position = Position::from_fen(fen).expect("the positions are valid");
        let game = Game::new(position, rules.clone(), Some(Game::NO_CAPTURE_LIMIT));
        engine.new_game();
        let found = engine.search(&game, &limits, &AtomicBool::new(false), &mut |_| ());
        nodes += found.lines.first().map_or(0, |line| line.nodes);
    }
    let seconds = start.elapsed().as_secs_f64();
    let nodes_per_second = if seconds > 0.0 { (nodes as f64 / seconds).round() } else { 0.0 };
    Bench { depth, positions: POSITIONS.len(), nodes, seconds, nodes_per_second }
}
