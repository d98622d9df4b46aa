//! Long work that Ctrl-C stops.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// The interval at which Python checks for Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(50);
/// Searches recurse as deep as their longest line.
const STACK: usize = 16 << 20;

/// Runs `work` on a separate thread without the GIL, while this thread checks for signals. `work` ends soon after its
/// flag has become true.
///
/// # Errors
/// The exception that a signal handler raises: KeyboardInterrupt after Ctrl-C.
pub(crate) fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce(&AtomicBool) -> T + Send) -> PyResult<T> {
    let stop = &AtomicBool::new(false);
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, finished) = mpsc::channel();
            let run = move || {
                let found = work(stop);
                // The waiting thread outlives this one.
                let _ = done.send(());
                found
            };
            let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run)?;
            let mut interrupted = Ok(());
            while finished.recv_timeout(SIGNALS) == Err(mpsc::RecvTimeoutError::Timeout) {
                if interrupted.is_ok() {
                    interrupted = Python::attach(|py| py.check_signals());
                    stop.store(interrupted.is_err(), Ordering::Relaxed);
                }
            }
            let found = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            interrupted.map(|()| found)
        })
    })
}
