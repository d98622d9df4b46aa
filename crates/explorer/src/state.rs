//! What all requests share.

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
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// What all requests share.
pub struct App {
    pub config: Config,
    pub registry: Registry,
    pub assets: Assets,
    pub started: Instant,
    /// Work that blocks a thread: solving, tables on disk, whole maps.
    blocking: Arc<Semaphore>,
    /// Threads that search.
    pub searches: Arc<Semaphore>,
    pub engines: Engines,
    pub trees: Trees,
    pub metrics: Metrics,
    pub rates: Rates,
    /// Becomes true when the server is to end.
    pub stop: watch::Sender<bool>,
    /// The same, for work that does not wait.
    pub stopping: Arc<AtomicBool>,
}

/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

impl App {
    /// Solves the tables that are needed at once.
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

    /// Tells everybody to end.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.stop.send_replace(true);
    }

    /// Does what takes longer than a moment on a thread of its own, a few at a time.
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
        done.await.map_err(|_| ApiError::new(Code::Unavailable, "the server is about to end"))?
    }

    /// Asks the tables of some rules about positions of up to `pieces` pieces: at once if they are in memory.
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

    /// What a search by some rules asks where few pieces are left.
    pub async fn search_tables(self: &Arc<App>, rules: RuleOptions) -> Result<Arc<Tables>, ApiError> {
        self.blocking(move |app| app.registry.get(&rules)?.for_search().map_err(ApiError::from)).await
    }

    /// The right to search on N threads.
    pub async fn search_permits(&self, threads: usize) -> Result<OwnedSemaphorePermit, ApiError> {
        let busy = || ApiError::new(Code::Busy, "all processors are searching; try again in a few seconds");
        let permits = self.searches.clone().acquire_many_owned(threads as u32);
        tokio::time::timeout(PATIENCE, permits).await.map_err(|_| busy())?.map_err(|_| busy())
    }
}
