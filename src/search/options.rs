//! The configuration of an engine.

use super::eval::{Evaluation, Weights};
use super::search_options::SearchOptions;
use super::tb::Tables;
use std::sync::Arc;
use std::time::Duration;

/// How the tree is searched.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// As the papers' engine does (van Rijn and Vis, 2013): alpha-beta with iterative deepening and a transposition table
    /// of Zobrist keys, the table's move and captures first, and nothing else. One thread, no endgame tables.
    AlphaBeta,
    /// Principal variation search with [`SearchOptions`].
    #[default]
    Pvs,
}

/// The configuration of an engine.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Size of the transposition table in MiB. [`Engine::new`](super::Engine::new) halves it until it can be allocated.
    pub hash_mib: usize,
    /// Number of search threads; 0 counts as 1.
    pub threads: usize,
    /// The static evaluation at the leaves of the search.
    pub evaluation: Evaluation,
    /// Number of best lines to report; 0 counts as 1.
    pub multipv: usize,
    /// Time that the engine leaves on the clock at each move, for delays outside the search; at most a fifth of the clock.
    pub move_overhead: Duration,
    /// How the tree is searched.
    pub algorithm: Algorithm,
    /// Endgame tables. The engine uses them in games under the rules that they were solved for, and ignores them in others.
    pub tables: Option<Arc<Tables>>,
    /// The search techniques that are on; for measurements.
    pub search: SearchOptions,
    /// Weights that replace those of the default evaluation; for tuning.
    pub weights: Option<Weights>,
}

impl EngineOptions {
    /// The papers' engine: plain alpha-beta and Burnett's evaluation.
    #[must_use]
    pub fn burnett_alphabeta() -> EngineOptions {
        EngineOptions { evaluation: Evaluation::Burnett, algorithm: Algorithm::AlphaBeta, ..EngineOptions::default() }
    }
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            hash_mib: 64,
            threads: 1,
            evaluation: Evaluation::default(),
            multipv: 1,
            move_overhead: Duration::from_millis(10),
            algorithm: Algorithm::default(),
            tables: None,
            search: SearchOptions::default(),
            weights: None,
        }
    }
}
