//! The bench signature: the nodes of fixed searches.

use super::engine::Engine;
use super::limits::Limits;
use super::options::EngineOptions;
use crate::board::{Position, Rules};
use crate::clock::Instant;
use crate::game::Game;
use serde::Serialize;
use std::fmt;

/// Positions of all kinds, from the initial position to endgames of three pieces.
const POSITIONS: [&str; 20] = [
    "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w",
    "2d4/p3c1t/3w1e1/E2l3/1r3R1/6L/5P1/T1W1D2/1C5 w",
    "5t1/2d1w1c/l2p1e1/5R1/3L3/Tr5/1E1D3/2W1P2/1C5 b",
    "1d3t1/4w1c/1l2e2/4R2/Lr5/7/1E1P3/C1W1D2/1T5 b",
    "T6/2pe2c/2E2w1/1r4t/5R1/3l3/5L1/C1W1P2/5D1 b",
    "5t1/1d2w1c/2l1e2/L6/1r5/7/1E1W3/2C1P2/1T3D1 b",
    "7/2p2e1/1d2t2/l5L/1r5/5R1/1E1W3/T1C1P2/5D1 w",
    "7/1d2c2/3L1e1/p6/2r4/t4R1/2l2T1/E3D2/2P4 b",
    "4e1L/2d4/2l1c2/T6/1r3R1/7/1E5/2PW3/5t1 w",
    "1d4c/7/3w2e/5R1/2r3P/7/2E2L1/2W1D2/l6 w",
    "7/d1p2c1/3w1e1/5R1/7/7/2t2L1/2P1D2/1T5 w",
    "2p4/2TetL1/7/7/3R3/6c/C6/2W1D2/7 b",
    "1p2c2/dT5/3w1e1/5R1/7/7/3L3/4D2/7 b",
    "7/2c4/2t4/1r5/3e3/7/1R1L3/3P3/2E4 w",
    "7/T4l1/7/2r4/7/p6/1D5/5R1/7 b",
    "2p1l2/e6/5t1/3L3/7/7/7/7/7 w",
    "7/3l3/7/6t/3r3/7/E6/2T4/2L4 b",
    "2d4/7/4w2/7/7/R6/2E4/3C3/7 w",
    "7/7/7/7/7/3R3/7/p6/1T2e2 b",
    "7/7/2l4/7/7/7/4L2/7/2P4 w",
];

/// The depth of the signature, in plies.
pub const DEPTH: u32 = 14;

/// The greatest depth of a bench.
pub const MAX_DEPTH: u32 = 60;

/// The options of the engine for the signature.
#[must_use]
pub fn options() -> EngineOptions {
    EngineOptions::default().hash_mib(16)
}

/// The result of a bench. As text, its last line is the one that OpenBench reads.
#[derive(Clone, Debug, Serialize)]
pub struct Bench {
    /// The depth of every search, in plies.
    pub depth: u32,
    /// The number of positions.
    pub positions: usize,
    /// The nodes of all searches: the signature.
    pub nodes: u64,
    /// The time of all searches.
    pub seconds: f64,
    /// Nodes per second.
    pub nodes_per_second: f64,
}

impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bench { depth, positions, nodes, seconds, nodes_per_second } = self;
        writeln!(f, "{positions} positions to depth {depth} in {seconds:.3} s")?;
        write!(f, "{nodes} nodes {nodes_per_second:.0} nps")
    }
}

/// Searches twenty positions to a depth, each as in a new game. With one thread the number of nodes is the same on
/// every machine.
#[must_use]
pub fn bench(depth: u32, options: &EngineOptions, rules: &Rules) -> Bench {
    let limits = Limits::default().depth(depth);
    let mut engine = Engine::new(options.clone());
    let (mut nodes, mut seconds) = (0, 0.0);
    for fen in POSITIONS {
        let position = Position::from_fen(fen).expect("the positions are valid");
        let game = Game::new(position, rules.clone(), Some(Game::NO_CAPTURE_LIMIT));
        engine.new_game();
        let start = Instant::now();
        let found = engine.search(&game, &limits).run();
        seconds += start.elapsed().as_secs_f64();
        nodes += found.lines.first().map_or(0, |line| line.nodes);
    }
    let nodes_per_second = if seconds > 0.0 { (nodes as f64 / seconds).round() } else { 0.0 };
    Bench { depth, positions: POSITIONS.len(), nodes, seconds, nodes_per_second }
}
