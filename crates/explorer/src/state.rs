//! The state that all requests share.

use super::assets::Assets;
use super::config::{Config, ServeError};
use super::counting::CountQueue;
use super::limits::Rates;
use super::metrics::Metrics;
use super::permits::Permits;
use super::tables;
use answers::engine::Engines;
use answers::puzzles::Puzzles;
use answers::state::{Lane, State};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tokio::sync::{oneshot, watch};
use xxhash_rust::xxh3::Xxh3;

/// The state that all requests share.
pub struct App {
    pub config: Config,
    /// What the answers need.
    pub state: State,
    /// A hash of the program, the rules and the tables on disk.
    fingerprint: u64,
    pub assets: Assets,
    pub started: Instant,
    /// Permits to block a thread, by the kind of work, searches aside. Each kind has its own, so that slow work does not
    /// delay other work.
    lanes: [Arc<Permits>; 3],
    /// Permits for search threads.
    pub searches: Arc<Permits>,
    pub counts: Arc<CountQueue>,
    pub metrics: Metrics,
    pub rates: Rates,
    /// Becomes true when the server shuts down.
    pub stop: watch::Sender<bool>,
    /// The same as a flag, for code that polls.
    pub stopping: Arc<AtomicBool>,
}

/// The number of classes, and of rule sets and trees, that are solved at the same time; each takes some 40 MB. Two, so
/// that one client cannot keep others waiting.
const SOLVING: usize = 2;
const COLD: usize = 2;

impl App {
    /// Solves the tables of up to three pieces.
    pub fn new(config: Config, pool: rayon::ThreadPool, paths: &[&'static str]) -> Result<Arc<App>, ServeError> {
        let assets = Assets::new(config.assets.clone(), config.puzzles.as_deref().map(read_puzzles).transpose()?);
        let path = config.puzzles.as_deref().unwrap_or(Path::new("puzzles.jsonl"));
        let unfit = |what| ServeError::Puzzles { path: path.to_owned(), what };
        let puzzles = Puzzles::parse(&assets.puzzles()).map_err(unfit)?;
        if config.puzzles.is_some() && !puzzles.has_rules(config.rules) {
            return Err(unfit(format!("none is for the rules {}", config.rules)));
        }
        let (registry, fingerprint) = tables::open(&config, pool)?;
        let threads = config.threads;
        Ok(Arc::new(App {
            state: State {
                rules: config.rules,
                registry,
                engines: Engines::new(config.hash_mib),
                trees: Default::default(),
                puzzles,
                threads,
                hash_mib: config.hash_mib,
                rate: config.rate,
            },
            fingerprint,
            assets,
            started: Instant::now(),
            lanes: [Permits::new(2 * threads + 1), Permits::new(SOLVING), Permits::new(COLD)],
            // No client can hold all permits, and no analysis all of its client's. Two permits more than threads let one
            // analysis use all threads.
            searches: Permits::new((threads + 2).max(4)),
            stop: watch::channel(false).0,
            stopping: Arc::default(),
            counts: Arc::new(CountQueue::new(threads)),
            metrics: Metrics::new(paths.iter().copied()),
            rates: Rates::new(config.rate),
            config,
        }))
    }

    /// The permits of a lane.
    #[must_use]
    pub fn lane(&self, lane: Lane) -> &Arc<Permits> {
        let [read, solve, cold] = &self.lanes;
        match lane {
            Lane::Read => read,
            Lane::Solve => solve,
            Lane::Cold => cold,
            Lane::Search => &self.searches,
        }
    }

    /// The number of requests that block a thread.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.lanes.iter().map(|lane| lane.held()).sum()
    }

    /// A hash of everything besides the request that an answer from tables depends on: program, rules, checksums of tables
    /// on disk, and available tables.
    #[must_use]
    pub fn generation(&self) -> u64 {
        let main = self.state.registry.main();
        let mut hash = Xxh3::new();
        hash.update(&self.fingerprint.to_le_bytes());
        hash.update(&main.complete().to_le_bytes());
        hash.digest() ^ main.counters().map_or(0, |_| self.counts.generation()).rotate_left(32)
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
