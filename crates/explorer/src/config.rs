//! The server's configuration, and the errors of its start.

use super::limits::Timeouts;
use answers::rule_tables::MEMORY_PIECES;
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{CountCache, OnDemandError, SetError};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use thiserror::Error;

/// The server's configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The addresses to listen on; the server uses the first free one.
    pub listen: Vec<SocketAddr>,
    /// The default rules of requests. Their tables are solved at the start.
    pub rules: RuleOptions,
    /// Tables for these rules: a directory with distances, one with results alone, or both
    /// ([`TablePath::open`](doushouqi::tablebase::TablePath::open)).
    pub tables: Option<PathBuf>,
    /// The limits of counting on demand from these tables; no counting if `None`.
    pub on_demand: Option<CountCache>,
    /// Pieces of the tables in memory: 3, or 4, which a background thread solves.
    pub pieces: usize,
    /// Threads for requests, searches and solving.
    pub threads: usize,
    /// The most memory of the hash tables of all searches together, in MiB.
    pub hash_mib: usize,
    /// A file with the puzzles of `dsq puzzles`, instead of the embedded ones.
    pub puzzles: Option<PathBuf>,
    /// A directory with the page's files, instead of the embedded ones.
    pub assets: Option<PathBuf>,
    /// Accepted host names besides IP addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Other origins that may send requests (CORS), such as `https://example.org`.
    pub allow_origins: Vec<String>,
    /// Requests per second and address; this machine has no limit.
    pub rate: f32,
    /// Whether the server is behind a proxy, which names the client (`guard::forwarded_client`).
    pub behind_proxy: bool,
    /// How long the server waits for a client, and how long clients wait for each other.
    pub timeouts: Timeouts,
}

/// The error of a server that could not run.
#[expect(missing_docs, reason = "the messages describe them")]
#[derive(Debug, Error)]
pub enum ServeError {
    #[error(transparent)]
    Tables(#[from] SetError),
    #[error(transparent)]
    OnDemand(#[from] OnDemandError),
    #[error("counting endgames on demand needs tables with distances of {MEMORY_PIECES} pieces or more on disk")]
    TablesTooSmall,
    #[error("cannot read the puzzles in {}: {what}", path.display())]
    Puzzles { path: PathBuf, what: String },
    #[error("cannot listen on {}: {error}", addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Listen { addresses: Vec<SocketAddr>, error: io::Error },
    #[error("cannot start: {0}")]
    Start(io::Error),
}
