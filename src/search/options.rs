//! How an engine is set up.

use super::eval::{Evaluation, Weights};
use super::ideas::Ideas;
use super::tb::Tables;
use std::sync::Arc;

/// How the tree is searched.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// As the papers' engine does (van Rijn and Vis, 2013): alpha-beta with iterative deepening and a transposition table
    /// of Zobrist keys, the table's move and captures first, and nothing else. One thread, no endgame tables.
    AlphaBeta,
    /// Principal variation search with all that helps.
    #[default]
    Pvs,
}

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Size of the transposition table in MiB. It is made smaller if there is no memory for it.
    pub hash_mib: usize,
    /// Number of threads that search.
    pub threads: usize,
    /// What judges a position at the horizon.
    pub evaluation: Evaluation,
    /// Number of best lines to find.
    pub multipv: usize,
    /// How the tree is searched.
    pub algorithm: Algorithm,
    /// Endgame tables; they are used in games by the rules that they are for.
    pub tables: Option<Arc<Tables>>,
    /// What the search does beyond plain alpha-beta; for measurements.
    pub ideas: Ideas,
    /// Takes the place of the weights that the program has; for tuning.
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
            algorithm: Algorithm::default(),
            tables: None,
            ideas: Ideas::default(),
            weights: None,
        }
    }
}
