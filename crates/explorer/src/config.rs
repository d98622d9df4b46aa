//! How to serve, and why serving can fail.

use doushouqi::board::RuleOptions;
use doushouqi::tablebase::SetError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use thiserror::Error;

/// How to serve.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen: the first of these addresses that can be had.
    pub listen: Vec<SocketAddr>,
    /// The rules where a request names none, and those that tables are made for beforehand.
    pub rules: RuleOptions,
    /// Tables on disk for these rules.
    pub tables: Option<PathBuf>,
    /// Pieces of the tables in memory: 3, or 4, which are solved in the background.
    pub pieces: usize,
    /// Threads for requests, searches and solving.
    pub threads: usize,
    /// Read the page's files from here.
    pub assets: Option<PathBuf>,
    /// Names by which the server is known besides its addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Pages from elsewhere that may ask (CORS), as `https://example.org`.
    pub allow_origins: Vec<String>,
    /// Requests a second that an address other than this machine's may make.
    pub rate: f32,
    /// A proxy stands before it: clients are known by the last address in `X-Forwarded-For`.
    pub behind_proxy: bool,
}

/// Why the server did not run.
#[expect(missing_docs, reason = "the messages say it all")]
#[derive(Debug, Error)]
pub enum ServeError {
    #[error(transparent)]
    Tables(#[from] SetError),
    #[error("cannot listen on {}: {error}", addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Listen { addresses: Vec<SocketAddr>, error: io::Error },
    #[error("cannot start: {0}")]
    Start(io::Error),
}
