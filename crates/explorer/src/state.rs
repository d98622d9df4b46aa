//! The state that all requests share.

use super::assets::Assets;
use super::config::{Config, ServeError};
use super::engine::Engines;
use super::errors::{ApiError, Code};
use super::explain::Trees;
use super::limits::Rates;
use super::metrics::Metrics;
use super::tables::{Registry, View};
use doushouqi::board::RuleOptions;
use doushouqi::search::Tables;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

/// The state that all requests share.
pub struct App {
    pub config: Config,
    pub registry: Registry,
    pub assets: Assets,
    pub started: Instant,
    /// Permits for work that blocks a thread: solving, tables on disk, searches.
    blocking: Arc<Semaphore>,
    /// Permits for search threads.
    pub searches: Arc<Semaphore>,
    pub engines: Engines,
    pub trees: Trees,
    pub metrics: Metrics,
    pub rates: Rates,
    /// Becomes true when the server shuts down.
    pub stop: watch::Sender<bool>,
    /// The same as a flag, for code that polls.
    pub stopping: Arc<AtomicBool>,
}

/// How long a request waits for a permit.
const PATIENCE: Duration = Duration::from_secs(5);

/// A flag that becomes true when dropped.
#[derive(Default)]
pub struct Cancel(pub Arc<AtomicBool>);

impl Drop for Cancel {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl App {
    /// Solves the tables of up to three pieces.
    pub fn new(config: Config, pool: rayon::ThreadPool, paths: &[&'static str]) -> Result<Arc<App>, ServeError> {
        let registry = Registry::new(config.rules, config.tables.as_ref(), pool)?;
        let threads = config.threads;
        Ok(Arc::new(App {
            registry,
            assets: Assets::new(config.assets.clone()),
            started: Instant::now(),
            blocking: Arc::new(Semaphore::new(2 * threads)),
            searches: Arc::new(Semaphore::new(threads)),
            stop: watch::channel(false).0,
            stopping: Arc::default(),
            engines: Engines::default(),
            trees: Trees::default(),
            metrics: Metrics::new(paths.iter().copied()),
            rates: Rates::new(config.rate),
            config,
        }))
    }

    /// Starts the shutdown.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.stop.send_replace(true);
    }

    /// Runs slow work on a blocking thread; the number of such threads is limited.
    pub async fn blocking<T: Send + 'static>(
        self: &Arc<App>,
        work: impl FnOnce(&App) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let busy = || ApiError::new(Code::Busy, "the server is busy; try again in a second");
        let permit = tokio::time::timeout(PATIENCE, self.blocking.clone().acquire_owned()).await;
        let permit = permit.map_err(|_| busy())?.map_err(|_| busy())?;
        let app = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&app)
        });
        done.await.map_err(|_| ApiError::new(Code::Unavailable, "the server is shutting down"))?
    }

    /// Runs slow work like [`blocking`](App::blocking). The flag becomes true when the client leaves, which drops this future,
    /// and when the server shuts down.
    pub async fn cancellable<T: Send + 'static>(
        self: &Arc<App>,
        work: impl FnOnce(&App, &AtomicBool) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let cancel = Cancel::default();
        let stop = cancel.0.clone();
        let _finished = self.stop_at_shutdown(stop.clone());
        self.blocking(move |app| work(app, &stop)).await
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

    /// Runs `work` with the tables of `rules`, which it probes for positions of up to `pieces` pieces: on this thread if they are
    /// in memory, else on a blocking thread.
    pub async fn with_tables<T: Send + 'static>(
        self: &Arc<App>,
        rules: RuleOptions,
        pieces: usize,
        work: impl FnOnce(&View<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        if let Some(tables) = self.registry.ready(&rules).filter(|tables| tables.is_quick(pieces)) {
            return work(&View::new(&tables, rules));
        }
        self.blocking(move |app| work(&View::new(&*app.registry.get(&rules)?, rules))).await
    }

    /// The tables that a search under `rules` probes.
    pub async fn search_tables(self: &Arc<App>, rules: RuleOptions) -> Result<Arc<Tables>, ApiError> {
        self.blocking(move |app| app.registry.get(&rules)?.for_search().map_err(ApiError::from)).await
    }

    /// Waits for permits to search on `threads` threads.
    pub async fn search_permits(&self, threads: usize) -> Result<OwnedSemaphorePermit, ApiError> {
        let busy = || ApiError::new(Code::Busy, "every search thread is in use; try again in a few seconds");
        let permits = self.searches.clone().acquire_many_owned(threads as u32);
        tokio::time::timeout(PATIENCE, permits).await.map_err(|_| busy())?.map_err(|_| busy())
    }
}
