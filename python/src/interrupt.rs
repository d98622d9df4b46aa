//! Threads for long work, and Ctrl-C.
//!
//! No work runs on rayon's global pool: a forked process finds it without threads and would wait for ever.

use crate::memory;
use doushouqi::search::Engine;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fmt::Display;
use std::mem::forget;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The interval at which Python checks for Ctrl-C.
pub(crate) const SIGNALS: Duration = Duration::from_millis(50);

/// The threads that all calls share, one for each core.
pub(crate) static SHARED: Threads = Threads::new(0);

/// A pool of threads, built at its first use in a process.
pub(crate) struct Threads {
    /// The number of threads; 0 is one for each core.
    count: usize,
    /// The pool and the process whose threads it has.
    built: Mutex<Option<(u32, Arc<ThreadPool>)>>,
}

impl Threads {
    pub const fn new(count: usize) -> Threads {
        Threads { count, built: Mutex::new(None) }
    }

    /// The pool of this process.
    ///
    /// # Errors
    /// If the operating system refuses a thread.
    pub fn get(&self, _py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
        // Callers hold the GIL, and so does a thread that forks: no thread that is missing in the new process holds the
        // lock there.
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if let Some((owner, pool)) = &*built
            && *owner == process
        {
            return Ok(Arc::clone(pool));
        }
        let pool = Arc::new(pool(self.count)?);
        if let Some((_, parents)) = built.replace((process, Arc::clone(&pool))) {
            // Ending its threads would wait for locks that they may have held.
            forget(parents);
        }
        Ok(pool)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let built = self.built.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, pool)) = built.take_if(|(owner, _)| *owner != std::process::id()) {
            forget(pool);
        }
    }
}

fn pool(threads: usize) -> PyResult<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(Engine::STACK).build();
    pool.map_err(no_thread)
}

/// The error for a thread that the operating system refuses: MemoryError if there is no memory for its stack.
pub(crate) fn no_thread(error: impl Display) -> PyErr {
    memory::need(Engine::STACK)
        .err()
        .unwrap_or_else(|| PyRuntimeError::new_err(format!("no thread can be started: {error}")))
}

/// Runs `work` on the shared threads without the GIL, while this thread checks for signals. `work` should end soon after
/// its flag has become true.
///
/// # Errors
/// The exception that a signal handler raises: KeyboardInterrupt after Ctrl-C.
pub(crate) fn parallel<T: Send>(py: Python<'_>, work: impl FnOnce(&AtomicBool) -> T + Send) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    stoppable(py, &*SHARED.get(py)?, &stop, || work(&stop))
}

/// As [`parallel`], on a thread of its own and with the caller's flag: `work` may take as long as the caller wants.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    stoppable(py, &pool(1)?, stop, work)
}

fn stoppable<T: Send>(
    py: Python<'_>,
    pool: &ThreadPool,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let found = py.detach(|| {
        pool.in_place_scope(|scope| {
            let (done, result) = channel();
            scope.spawn(move |_| {
                // The waiting thread outlives this one.
                let _ = done.send(work());
            });
            wait(&result).inspect_err(|_| stop.store(true, Ordering::Relaxed))
        })
    });
    Ok(found?.expect("the scope has continued the panic of the work"))
}

/// As [`parallel`], for work that cannot be stopped: after Ctrl-C it runs to its end, and its result is dropped.
pub(crate) fn abandonable<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let pool = SHARED.get(py)?;
    let found = py.detach(|| {
        let (done, result) = channel();
        pool.spawn(move || {
            // The waiting thread may have given up.
            let _ = done.send(catch_unwind(AssertUnwindSafe(work)));
        });
        wait(&result)
    });
    let found = found?.expect("a panic was caught");
    Ok(found.unwrap_or_else(|panic| resume_unwind(panic)))
}

/// What work with reports sends to the thread that waits for it.
enum Message<R, T> {
    /// A report; the work goes on after the answer.
    Report(R, Sender<ControlFlow<()>>),
    Done(std::thread::Result<T>),
}

/// As [`parallel`], for work that calls its argument with reports and ends soon after a [`ControlFlow::Break`]. `report`
/// receives them on this thread, and an exception that it raises ends the work. It may do all that Python may: the work has
/// threads of its own, and if the process was forked within `report`, the new one does not wait for them.
///
/// # Errors
/// The exception of `report` or of a signal handler, or RuntimeError in a process that was forked within `report`.
pub(crate) fn reporting<R: Send + 'static, T: Send + 'static>(
    py: Python<'_>,
    report: impl Fn(Python<'_>, R) -> PyResult<()>,
    work: impl FnOnce(&(dyn Fn(R) -> ControlFlow<()> + Sync)) -> T + Send + 'static,
) -> PyResult<T> {
    let (process, threads) = (std::process::id(), pool(0)?);
    let (sender, mut messages) = channel();
    threads.spawn(move || {
        let tell = |now| {
            let (answer, answered) = channel();
            // The waiting thread is gone if it has raised an exception.
            let told = sender.send(Message::Report(now, answer)).ok().and_then(|()| answered.recv().ok());
            told.unwrap_or(ControlFlow::Break(()))
        };
        let done = catch_unwind(AssertUnwindSafe(|| work(&tell)));
        let _ = sender.send(Message::Done(done));
    });
    let mut raised = None;
    loop {
        let receiver = &mut messages;
        match py.detach(move || receiver.recv_timeout(SIGNALS)) {
            Ok(Message::Report(now, answer)) => {
                if raised.is_none() {
                    raised = report(py, now).err();
                }
                if std::process::id() != process {
                    // Ending them would wait for locks that the missing threads may have held.
                    forget((threads, messages, answer));
                    return Err(raised.unwrap_or_else(another_process));
                }
                let flow = if raised.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
                // The work waits for it.
                let _ = answer.send(flow);
            }
            Ok(Message::Done(done)) => {
                let done = done.unwrap_or_else(|panic| resume_unwind(panic));
                return raised.map_or(Ok(done), Err);
            }
            Err(RecvTimeoutError::Timeout) => raised = raised.or_else(|| py.check_signals().err()),
            Err(RecvTimeoutError::Disconnected) => unreachable!("the work always ends with a message"),
        }
    }
}

fn another_process() -> PyErr {
    PyRuntimeError::new_err("this work belongs to another process: the one that was forked")
}

/// Waits for a result, and checks for signals meanwhile. `None` if the sender panicked.
fn wait<T>(result: &Receiver<T>) -> PyResult<Option<T>> {
    loop {
        match result.recv_timeout(SIGNALS) {
            Ok(found) => return Ok(Some(found)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
        }
    }
}
