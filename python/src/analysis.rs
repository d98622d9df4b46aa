//! `Analysis`: a search in a thread of its own, whose lines are read while it runs.

use crate::info::PyInfo;
use crate::interrupt::{SIGNALS, no_thread};
use doushouqi::board::Move;
use doushouqi::game::Game;
use doushouqi::search::{Engine, Limits, SearchResult, Tables};
use pyo3::exceptions::{PyRuntimeError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The seat of an engine, which one search at a time takes.
pub(crate) struct Seat {
    /// The process that made it. The threads of searches are missing in a forked process.
    pub process: u32,
    pub tables: Option<Arc<Tables>>,
    engine: Mutex<Option<Engine>>,
    /// Signals that a search has returned the engine.
    free: Condvar,
    /// Ends the last search that took the engine.
    stop: Mutex<Arc<AtomicBool>>,
}

impl Seat {
    pub fn new(engine: Engine, tables: Option<Arc<Tables>>) -> Seat {
        let engine = Mutex::new(Some(engine));
        Seat { process: std::process::id(), tables, engine, free: Condvar::new(), stop: Mutex::default() }
    }

    /// Ends the search that has the engine.
    pub fn stop(&self) {
        self.flag().store(true, Ordering::Relaxed);
    }

    fn flag(&self) -> MutexGuard<'_, Arc<AtomicBool>> {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The engine for a search. Waits for the end of a search that was told to stop, and checks for signals meanwhile.
    ///
    /// # Errors
    /// RuntimeError if a search has the engine that was not told to stop, or the exception of a signal handler.
    pub fn take(self: &Arc<Seat>, py: Python<'_>) -> PyResult<Borrowed> {
        loop {
            // With the GIL, so that no other caller sees the engine taken and the flag of the search before.
            let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(engine) = engine {
                let stop = Arc::new(AtomicBool::new(false));
                *self.flag() = Arc::clone(&stop);
                return Ok(Borrowed { engine: Some(engine), seat: Arc::clone(self), stop });
            }
            if !self.flag().load(Ordering::Relaxed) {
                let what = "the engine is searching: stop that search, or use another Engine";
                return Err(PyRuntimeError::new_err(what));
            }
            py.detach(|| {
                let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
                drop(self.free.wait_timeout_while(engine, SIGNALS, |engine| engine.is_none()));
            });
            py.check_signals()?;
        }
    }

    /// The engine in a forked process; `None` if a search of the parent had it, or its tables were in use.
    pub fn inherit(&self) -> Option<Engine> {
        let is_idle = self.tables.as_ref().is_none_or(|tables| tables.is_idle());
        self.engine.try_lock().ok().filter(|_| is_idle)?.take()
    }
}

/// An engine in use, which returns to its seat in the end.
pub(crate) struct Borrowed {
    engine: Option<Engine>,
    seat: Arc<Seat>,
    /// Ends the search.
    pub stop: Arc<AtomicBool>,
}

impl Borrowed {
    pub fn get(&mut self) -> &mut Engine {
        self.engine.as_mut().expect("it is only taken when dropped")
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        *self.seat.engine.lock().unwrap_or_else(PoisonError::into_inner) = self.engine.take();
        self.seat.free.notify_all();
    }
}

/// The work of a search.
pub(crate) struct Task {
    pub game: Game,
    pub limits: Limits,
    /// The moves to choose from; `None` for all.
    pub moves: Option<Vec<Move>>,
}

impl Task {
    pub fn run(&self, engine: &mut Engine, stop: &AtomicBool, mut on_info: impl FnMut(&PyInfo)) -> SearchResult {
        let search = engine.search(&self.game, &self.limits).stop(stop).on_info(|info| on_info(&PyInfo::of(info)));
        match &self.moves {
            Some(moves) => search.moves(moves).run(),
            None => search.run(),
        }
    }
}

#[derive(Default)]
struct State {
    /// The lines that have not been read.
    unread: VecDeque<PyInfo>,
    /// The latest line of each rank; in the end the result.
    lines: Vec<PyInfo>,
    is_over: bool,
    /// Whether the search panicked.
    has_failed: bool,
}

impl State {
    fn report(&mut self, info: PyInfo) {
        let rank = info.multipv - 1;
        self.unread.push_back(info.clone());
        match self.lines.get_mut(rank) {
            Some(line) => *line = info,
            None => self.lines.push(info),
        }
    }

    /// Ends with these lines. An unfinished iteration may have found a better line than the last one reported.
    fn end(&mut self, lines: Vec<PyInfo>) {
        if lines.first().zip(self.lines.first()).is_none_or(|(last, reported)| !last.is_like(reported)) {
            self.unread.extend(lines.iter().cloned());
        }
        self.lines = lines;
    }
}

/// A search in the background.
#[derive(Clone)]
pub(crate) struct Background {
    /// The process that has the thread of the search.
    process: u32,
    stop: Arc<AtomicBool>,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Background {
    /// Starts a search.
    ///
    /// # Errors
    /// If the operating system refuses a thread.
    pub fn start(mut engine: Borrowed, task: Task) -> PyResult<Background> {
        let started =
            Background { process: std::process::id(), stop: Arc::clone(&engine.stop), shared: Arc::default() };
        let search = started.clone();
        let run = move || {
            let found = catch_unwind(AssertUnwindSafe(|| {
                task.run(engine.get(), &search.stop, |info| search.change(|state| state.report(info.clone())))
            }));
            // The engine is free before anyone learns that the search is over.
            drop(engine);
            search.change(|state| {
                state.has_failed = found.is_err();
                if let Ok(found) = found {
                    state.end(found.lines.iter().map(PyInfo::of).collect());
                }
                state.is_over = true;
            });
        };
        let thread = std::thread::Builder::new().name("analysis".to_owned()).stack_size(Engine::STACK).spawn(run);
        thread.map_err(no_thread)?;
        Ok(started)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state.
    ///
    /// # Errors
    /// RuntimeError in a forked process, unless the search was over before.
    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        if self.process == std::process::id() {
            return Ok(self.lock());
        }
        let state = match self.shared.0.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let what = "the analysis runs in another process, from which this one was forked";
        state.filter(|state| state.is_over).ok_or_else(|| PyRuntimeError::new_err(what))
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.shared.1.notify_all();
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits without the GIL until `ready` returns something, and checks for signals meanwhile; `None` after `timeout`.
    fn wait_for<T: Send>(
        &self,
        py: Python<'_>,
        timeout: Option<Duration>,
        ready: impl Fn(&mut State) -> Option<T> + Sync,
    ) -> PyResult<Option<T>> {
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        py.detach(|| {
            let mut state = self.state()?;
            loop {
                if let Some(found) = ready(&mut state) {
                    return Ok(Some(found));
                }
                let left = end.map_or(SIGNALS, |end| end.saturating_duration_since(Instant::now()).min(SIGNALS));
                if left.is_zero() {
                    return Ok(None);
                }
                let waited = self.shared.1.wait_timeout(state, left);
                let (woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                state = woken;
                if timeout.timed_out() {
                    drop(state);
                    Python::attach(|py| py.check_signals())?;
                    state = self.lock();
                }
            }
        })
    }

    /// Waits for the end, and returns the best lines; `None` after `timeout`.
    fn wait(&self, py: Python<'_>, timeout: Option<Duration>) -> PyResult<Option<Vec<PyInfo>>> {
        let ended =
            self.wait_for(py, timeout, |state| state.is_over.then(|| (state.lines.clone(), state.has_failed)))?;
        match ended {
            Some((_, true)) => Err(PyRuntimeError::new_err("the search has panicked")),
            Some((lines, false)) => Ok(Some(lines)),
            None => Ok(None),
        }
    }
}

/// A search that runs while its lines are read, made by `Engine.analysis`: an iterator of `Info`, also for `async for`, and
/// a context manager.
///
/// The search ends at its limit, by `stop`, at the end of the `with` block, or when nothing refers to it any more.
#[pyclass(frozen, name = "Analysis", module = "doushouqi")]
pub(crate) struct PyAnalysis {
    background: Background,
    /// The end of the engine would end its search.
    _engine: Py<PyAny>,
}

impl PyAnalysis {
    pub fn new(background: Background, engine: Py<PyAny>) -> PyAnalysis {
        PyAnalysis { background, _engine: engine }
    }
}

impl Drop for PyAnalysis {
    fn drop(&mut self) {
        self.background.stop();
    }
}

#[pymethods]
impl PyAnalysis {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Waits for the next line; the iteration ends with the search.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PyInfo>> {
        let next = self.background.wait_for(py, None, |state| match state.unread.pop_front() {
            Some(info) => Some(Some(info)),
            None => state.is_over.then_some(None),
        });
        Ok(next?.flatten())
    }

    fn __aiter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("doushouqi.uci")?.getattr("_lines")?.call1((slf,))
    }

    /// The latest best line, or None.
    #[getter]
    fn info(&self) -> PyResult<Option<PyInfo>> {
        Ok(self.background.state()?.lines.first().cloned())
    }

    /// The latest line of each rank, the best first.
    #[getter]
    fn multipv(&self) -> PyResult<Vec<PyInfo>> {
        Ok(self.background.state()?.lines.clone())
    }

    /// Whether the search is over.
    #[getter]
    fn is_over(&self) -> PyResult<bool> {
        Ok(self.background.state()?.is_over)
    }

    /// Ends the search, from any thread; it does not wait. The next call of the engine does.
    fn stop(&self) {
        self.background.stop();
    }

    /// Waits until the search is over, and returns the best lines, the best first. Raises TimeoutError after `timeout`
    /// seconds; the search goes on.
    #[pyo3(signature = (timeout = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Vec<PyInfo>> {
        let seconds = match timeout {
            Some(seconds) if seconds.is_nan() || seconds < 0.0 => {
                return Err(PyValueError::new_err("a timeout is a number of seconds that is not negative"));
            }
            // Longer times, infinity among them, have no end.
            seconds => seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        };
        let what = || PyTimeoutError::new_err("the search is not over; it goes on");
        self.background.wait(py, seconds)?.ok_or_else(what)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_arguments), text_signature = "($self, *arguments)")]
    fn __exit__(&self, py: Python<'_>, _arguments: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.background.stop();
        self.background.wait(py, None).map(drop)
    }
}
