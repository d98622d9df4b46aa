//! Endgames that are counted on demand: one at a time, as long as a client waits.

use super::cancel::Cancel;
use answers::counters::Counters;
use answers::counting::{CountReport, NeedReport};
use answers::errors::{ApiError, Code};
use answers::rule_tables::MEMORY_PIECES;
use doushouqi::board::Position;
use doushouqi::tablebase::{CountProgress, Material, OnDemandError, SetError};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::watch;

/// The assumed rate of a thread, in positions per second, until a count has measured it.
const POSITIONS_PER_SECOND: u64 = 100_000_000;

/// The time between two reports of the progress.
const REPORT: Duration = Duration::from_millis(100);

/// The count that is running, if any.
pub struct CountQueue {
    threads: usize,
    running: Mutex<Option<Running>>,
    /// The rate of a thread in the last count, in positions per second.
    rate: AtomicU64,
    /// A counter that grows when a class may have become known. Every start of the server begins with another number.
    generation: AtomicU64,
}

struct Running {
    class: Material,
    states: watch::Receiver<CountState>,
    /// Held by the waiting clients; the count is cancelled when the last client leaves.
    cancel: Weak<Cancel>,
}

impl Running {
    fn is_stopping(&self) -> bool {
        self.cancel.strong_count() == 0
    }
}

/// The state of a count.
#[derive(Clone, Debug)]
pub enum CountState {
    Progress(CountReport),
    Finished,
    Failed(ApiError),
}

/// A client that waits for a count.
pub struct Follower {
    pub class: Material,
    pub states: watch::Receiver<CountState>,
    pub cancel: Arc<Cancel>,
}

impl CountQueue {
    #[must_use]
    pub fn new(threads: usize) -> CountQueue {
        // The cache may have changed since the last start.
        let start = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64);
        CountQueue {
            threads: threads.max(1),
            running: Mutex::default(),
            rate: AtomicU64::new(POSITIONS_PER_SECOND),
            generation: AtomicU64::new(start),
        }
    }

    /// A number that changes when a class becomes known.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Notes that a class may have become known, here or in another process.
    pub fn note_known(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a count is running.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.running().is_some()
    }

    /// Waits until a count that its last client has left has ended. Until then it holds its memory.
    pub async fn stopped(&self) {
        loop {
            let stopping =
                self.running().as_ref().filter(|running| running.is_stopping()).map(|running| running.states.clone());
            let Some(mut states) = stopping else { return };
            while states.changed().await.is_ok() {}
        }
    }

    /// Expected seconds of a count.
    fn seconds(&self, class: Material) -> f64 {
        2.0 * class.positions() as f64 / (self.rate.load(Ordering::Relaxed) * self.threads as u64) as f64
    }

    /// The resources that counting the class of a position needs.
    ///
    /// # Errors
    /// If the class cannot be counted.
    pub fn need(&self, counters: &Counters, position: &Position, rules: String) -> Result<NeedReport, ApiError> {
        let fen = position.to_fen();
        let running = self.running().as_ref().map(|running| (running.class, running.is_stopping()));
        if position.occupied().len() <= MEMORY_PIECES {
            return Ok(NeedReport::of(fen, rules, None, "known", None));
        }
        let class = counters.class(position).map_err(refusal)?;
        // The plan of a second count would lack the memory that the running count uses.
        match running {
            Some((_, true)) if class.is_some() => return Ok(NeedReport::of(fen, rules, class, "stopping", None)),
            Some((running, _)) if class == Some(running) => {
                return Ok(NeedReport::of(fen, rules, class, "counting", None));
            }
            _ => {}
        }
        let Some(need) = counters.need(position).map_err(refusal)? else {
            self.note_known();
            return Ok(NeedReport::of(fen, rules, None, "known", None));
        };
        let state = if running.is_some() { "busy" } else { "possible" };
        Ok(NeedReport::of(fen, rules, class, state, Some((need, self.seconds(need.class)))))
    }

    /// Joins the count of a class, or starts it if no count is running. `stop_at_shutdown` arranges that its flag is
    /// set when the server stops, until the guard that it returns is dropped.
    ///
    /// # Errors
    /// If another class is being counted.
    pub fn follow<G: Send + 'static>(
        self: &Arc<CountQueue>,
        job: CountJob,
        stop_at_shutdown: impl FnOnce(Arc<AtomicBool>) -> G,
    ) -> Result<Follower, ApiError> {
        let mut running = self.running();
        if let Some(running) = &*running {
            let busy = || {
                let class = running.class.to_string();
                let error = ApiError::new(Code::Busy, format!("the server is counting {class}; try again later"));
                error.reason("counting").with("material", class)
            };
            let cancel = running.cancel.upgrade().filter(|_| running.class == job.class).ok_or_else(busy)?;
            return Ok(Follower { class: job.class, states: running.states.clone(), cancel });
        }
        let cancel = Arc::new(Cancel::default());
        let first = CountReport::waiting(self.seconds(job.class));
        let (sender, states) = watch::channel(CountState::Progress(first));
        let (class, stop) = (job.class, cancel.0.clone());
        let finished = stop_at_shutdown(stop.clone());
        *running = Some(Running { class, states: states.clone(), cancel: Arc::downgrade(&cancel) });
        let counts = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            let result = counts.count(&job, &sender, &stop);
            if result.is_ok() {
                counts.note_known();
            }
            *counts.running() = None;
            let state = result.map_or_else(CountState::Failed, |()| CountState::Finished);
            sender.send_replace(state);
            drop(finished);
        });
        Ok(Follower { class, states, cancel })
    }

    /// Counts on separate threads. The system schedules them fairly beside the threads that answer requests.
    fn count(&self, job: &CountJob, states: &watch::Sender<CountState>, stop: &AtomicBool) -> Result<(), ApiError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool = pool.map_err(|error| {
            tracing::error!(%error, "threads of a count");
            ApiError::new(Code::Unavailable, "the server has no threads for a count").reason("no_threads")
        })?;
        let started = Instant::now();
        let expected = self.seconds(job.class);
        let reported = Mutex::new(None);
        let follow = |progress: CountProgress| {
            let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
            if reported.is_none_or(|last: Instant| last.elapsed() >= REPORT) {
                *reported = Some(Instant::now());
                let report = CountReport::new(progress, started.elapsed().as_secs_f64(), expected);
                states.send_replace(CountState::Progress(report));
            }
            if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        pool.install(|| job.counters.count(&job.position, &follow)).map_err(refusal)?;
        let rate = 2.0 * job.class.positions() as f64 / started.elapsed().as_secs_f64() / self.threads as f64;
        self.rate.store((rate as u64).max(1), Ordering::Relaxed);
        Ok(())
    }
}

/// The work of a count.
pub struct CountJob {
    pub counters: Counters,
    pub position: Position,
    /// The class of the position.
    pub class: Material,
}

/// The error for a count that needs a table, with both sides to move, that the server lacks.
fn missing_table(capture: &str) -> ApiError {
    let message = format!("counting this endgame needs the complete table of {capture}, which the server lacks");
    ApiError::new(Code::NoTable, message).reason("no_tables_to_count").with("capture", capture.to_owned())
}

/// The error for a position that cannot be counted, without the paths of the server.
fn refusal(error: OnDemandError) -> ApiError {
    let shortage = |material: Material, needed: u64, available: u64, reason, what: &str| {
        let [in_mb, has_mb] = [needed.div_ceil(1_000_000), available / 1_000_000];
        let message = format!("counting {material} takes {in_mb} MB of {what}, and {has_mb} MB are available");
        let error = ApiError::new(Code::NoRoom, message).reason(reason).with("material", material.to_string());
        error.with("needed", needed).with("available", available)
    };
    match error {
        OnDemandError::TooManyPieces { pieces, most } => {
            let (needed, largest) = (pieces - 1, most - 1);
            let message = format!(
                "counting {pieces} pieces needs tables of {needed} pieces; the server has tables of {largest} and counts \
                 up to {most}"
            );
            let error = ApiError::new(Code::NoTable, message).reason("too_many_pieces_to_count");
            error.with("pieces", pieces).with("most", most).with("tables", needed).with("largest", largest)
        }
        OnDemandError::Memory { material, needed, available } => {
            shortage(material, needed, available, "no_memory_to_count", "memory")
        }
        OnDemandError::Disk { material, needed, free, .. } => {
            shortage(material, needed, free, "no_disk_to_count", "disk space")
        }
        OnDemandError::Cache { material, needed, size } => {
            shortage(material, needed, size, "no_cache_to_count", "its cache")
        }
        OnDemandError::Cancelled => ApiError::shutting_down(),
        OnDemandError::Set(SetError::MissingCapture { capture, .. }) => missing_table(&capture.to_string()),
        OnDemandError::Set(error) => error.into(),
        error => {
            tracing::error!(%error, "count");
            ApiError::new(Code::Unavailable, "the endgame cannot be counted at the moment").reason("cannot_count")
        }
    }
}
