//! `Analysis`: a search in a thread of its own, whose lines are read while it runs.

use crate::info::PyInfo;
use crate::interrupt::SIGNALS;
use doushouqi::board::Move;
use doushouqi::game::Game;
use doushouqi::search::{Engine, Limits, SearchResult};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The place of an engine; `None` while a search uses it.
pub(crate) type Home = Arc<Mutex<Option<Engine>>>;

/// An engine in use, which returns to its place in the end.
pub(crate) struct Borrowed {
    engine: Option<Engine>,
    home: Home,
}

impl Borrowed {
    /// The engine of a place, unless it is in use.
    pub fn take(home: &Home) -> Option<Borrowed> {
        let engine = home.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Borrowed { engine: Some(engine), home: Arc::clone(home) })
    }

    pub fn get(&mut self) -> &mut Engine {
        self.engine.as_mut().expect("it is only taken when dropped")
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        *self.home.lock().unwrap_or_else(PoisonError::into_inner) = self.engine.take();
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
    stop: Arc<AtomicBool>,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Background {
    /// Starts a search, which `stop` ends.
    ///
    /// # Errors
    /// If the operating system refuses a thread.
    pub fn start(mut engine: Borrowed, task: Task, stop: Arc<AtomicBool>) -> PyResult<Background> {
        let started = Background { stop, shared: Arc::default() };
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
        thread.map_err(|error| PyRuntimeError::new_err(format!("no thread: {error}")))?;
        Ok(started)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.shared.1.notify_all();
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits without the GIL until `ready` returns something, and checks for signals meanwhile.
    fn wait_for<T: Send>(&self, py: Python<'_>, ready: impl Fn(&mut State) -> Option<T> + Sync) -> PyResult<T> {
        py.detach(|| {
            let mut state = self.state();
            loop {
                if let Some(found) = ready(&mut state) {
                    return Ok(found);
                }
                let waited = self.shared.1.wait_timeout(state, SIGNALS);
                let (woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                state = woken;
                if timeout.timed_out() {
                    drop(state);
                    Python::attach(|py| py.check_signals())?;
                    state = self.state();
                }
            }
        })
    }

    /// Waits for the end, and returns the best lines.
    pub fn wait(&self, py: Python<'_>) -> PyResult<Vec<PyInfo>> {
        let (lines, has_failed) =
            self.wait_for(py, |state| state.is_over.then(|| (state.lines.clone(), state.has_failed)))?;
        if has_failed {
            return Err(PyRuntimeError::new_err("the search has panicked"));
        }
        Ok(lines)
    }
}

/// A search that runs while its lines are read, made by `Engine.analysis`: an iterator of `Info` and a context manager.
///
/// The search ends at its limit, by `stop`, at the end of the `with` block, or when nothing refers to it any more.
#[pyclass(frozen, name = "Analysis", module = "doushouqi")]
pub(crate) struct PyAnalysis {
    pub background: Background,
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
        self.background.wait_for(py, |state| match state.unread.pop_front() {
            Some(info) => Some(Some(info)),
            None => state.is_over.then_some(None),
        })
    }

    /// The latest best line, or None.
    #[getter]
    fn info(&self) -> Option<PyInfo> {
        self.background.state().lines.first().cloned()
    }

    /// The latest line of each rank, the best first.
    #[getter]
    fn multipv(&self) -> Vec<PyInfo> {
        self.background.state().lines.clone()
    }

    /// Whether the search is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.background.state().is_over
    }

    /// Ends the search, from any thread; it does not wait.
    fn stop(&self) {
        self.background.stop();
    }

    /// Waits until the search is over, and returns the best lines, the best first.
    fn wait(&self, py: Python<'_>) -> PyResult<Vec<PyInfo>> {
        self.background.wait(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_arguments))]
    fn __exit__(&self, py: Python<'_>, _arguments: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.background.stop();
        self.background.wait(py).map(drop)
    }
}
