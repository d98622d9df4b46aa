//! What all requests share.

use super::engine::Engines;
use super::explain::Trees;
use super::puzzles::Puzzles;
use super::registry::Registry;
use doushouqi::board::RuleOptions;

/// What all requests share.
pub struct State {
    /// The default rules of requests.
    pub rules: RuleOptions,
    pub registry: Registry,
    pub engines: Engines,
    pub trees: Trees,
    pub puzzles: Puzzles,
    /// The most threads of a search.
    pub threads: usize,
    /// The most memory of the hash tables of all searches together, in MiB.
    pub hash_mib: usize,
    /// Requests per second of a client.
    pub rate: f32,
}

/// Kinds of slow work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Reads tables in memory or on disk, or parses a game.
    Read,
    /// Solves single classes.
    Solve,
    /// Solves a rule set, or learns a tree.
    Cold,
    /// Searches with one thread.
    Search,
}
