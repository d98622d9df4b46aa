//! The state that all requests share.

use super::assets::Assets;
use super::config::{Config, ServeError};
use super::counting::CountQueue;
use super::engine::Engines;
use super::explain::Trees;
use super::limits::Rates;
use super::metrics::Metrics;
use super::permits::Permits;
use super::puzzles::Puzzles;
use super::registry::Registry;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tokio::sync::{oneshot, watch};

/// The state that all requests share.
pub struct App {
    pub config: Config,
    pub registry: Registry,
    pub assets: Assets,
    pub started: Instant,
    /// Permits to block a thread, by the kind of work.
    lanes: [Arc<Permits>; 3],
    /// Permits for search threads.
    pub searches: Arc<Permits>,
    pub engines: Engines,
    pub trees: Trees,
    pub puzzles: Puzzles,
    pub counts: Arc<CountQueue>,
    pub metrics: Metrics,
    pub rates: Rates,
    /// Becomes true when the server shuts down.
    pub stop: watch::Sender<bool>,
    /// The same as a flag, for code that polls.
    pub stopping: Arc<AtomicBool>,
}

/// Kinds of work that block a thread. Each has its own permits, so that slow work does not delay other work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Reads tables in memory or on disk, or parses a game.
    Read,
    /// Solves single classes.
    Solve,
    /// Solves a rule set, or learns a tree.
    Cold,
}

/// The number of classes, and of rule sets and trees, that are solved at the same time; each takes some 40 MB. Two, so
/// that one client cannot keep others waiting.
const SOLVING: usize = 2;
const COLD: usize = 2;

impl App {
    /// Solves the tables of up to three pieces.
    pub fn new(config: Config, pool: rayon::ThreadPool, paths: &[&'static str]) -> Result<Arc<App>, ServeError> {
        let assets = Assets::new(config.assets.clone(), config.puzzles.as_deref().map(read_puzzles).transpose()?);
        let puzzles =
            parse_puzzles(config.puzzles.as_deref().unwrap_or(Path::new("puzzles.jsonl")), &assets.puzzles())?;
        let registry = Registry::new(&config, pool)?;
        let threads = config.threads;
        Ok(Arc::new(App {
            registry,
            assets,
            started: Instant::now(),
            lanes: [Permits::new(2 * threads + 1), Permits::new(SOLVING), Permits::new(COLD)],
            // No client can hold all permits, and no analysis all of its client's. Two permits more than threads let one
            // analysis use all threads.
            searches: Permits::new((threads + 2).max(4)),
            stop: watch::channel(false).0,
            stopping: Arc::default(),
            engines: Engines::new(config.hash_mib),
            trees: Trees::default(),
            puzzles,
            counts: Arc::new(CountQueue::new(threads)),
            metrics: Metrics::new(paths.iter().copied()),
            rates: Rates::new(config.rate),
            config,
        }))
    }

    /// The permits of a lane.
    #[must_use]
    pub fn lane(&self, lane: Lane) -> &Arc<Permits> {
        &self.lanes[lane as usize]
    }

    /// The number of requests that block a thread.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.lanes.iter().map(|lane| lane.held()).sum()
    }

    /// A hash of everything besides the request that an answer from tables depends on.
    #[must_use]
    pub fn generation(&self) -> u64 {
        let counted = self.registry.main().on_demand().map_or(0, |_| self.counts.generation());
        self.registry.generation() ^ counted.rotate_left(32)
    }

    /// Starts the shutdown.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.stop.send_replace(true);
    }

    /// Sets `stop` when the server shuts down, until the returned sender is dropped.
    pub fn stop_at_shutdown(&self, stop: Arc<AtomicBool>) -> oneshot::Sender<()> {
        let (finished, finish) = oneshot::channel();
        let mut ending = self.stop.subscribe();
        tokio::spawn(async move {
            tokio::select! {
                _ = finish => {}
                _ = ending.wait_for(|&ending| ending) => stop.store(true, Ordering::Relaxed),
            }
        });
        finished
    }
}

fn read_puzzles(path: &Path) -> Result<String, ServeError> {
    std::fs::read_to_string(path)
        .map_err(|error| ServeError::Puzzles { path: path.to_owned(), what: error.to_string() })
}

fn parse_puzzles(path: &Path, text: &str) -> Result<Puzzles, ServeError> {
    Puzzles::parse(text).map_err(|(line, what)| {
        let what = format!("line {line}: {what}");
        ServeError::Puzzles { path: path.to_owned(), what }
    })
}
