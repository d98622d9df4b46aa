//! The progress of a long command on stderr, if that is a terminal, and its interruption.

use crate::failure::{Failure, Outcome};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use report::text::progress;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The interval between redraws of a bar without reports.
const TICK: Duration = Duration::from_millis(250);

/// A bar for `length` units of work; 0 if the number is unknown. For the unit `%` the bar shows the share of the
/// length.
pub fn progress_bar(length: u64, unit: &'static str) -> ProgressBar {
    let text = move |state: &ProgressState, out: &mut dyn Write| {
        let _ = out.write_str(&progress(state.pos(), state.len().unwrap_or(0), state.elapsed(), unit));
    };
    let style = ProgressStyle::with_template("{msg:18} {progress}").expect("the template is right");
    let bar = ProgressBar::new(length).with_style(style.with_key("progress", text));
    bar.enable_steady_tick(TICK);
    bar
}

/// A line with a message and the time elapsed.
pub fn spinner(message: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg}, {elapsed}").expect("the template is right");
    let line = ProgressBar::new_spinner().with_style(style).with_message(message);
    line.enable_steady_tick(TICK);
    line
}

/// What Ctrl-C, SIGTERM or SIGHUP does.
enum Reaction {
    /// Ends the program at once.
    Exit,
    /// Clears the bar, prints what is kept and ends the program at once.
    Report(ProgressBar, &'static str),
    /// Sets [`STOP`] and calls a function. The second one ends the program at once.
    Stop(Box<dyn Fn() + Send>),
}

static REACTION: Mutex<Reaction> = Mutex::new(Reaction::Exit);
static STOP: AtomicBool = AtomicBool::new(false);

fn reaction() -> MutexGuard<'static, Reaction> {
    REACTION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes Ctrl-C, SIGTERM or SIGHUP end the program with the exit code of an interruption. Signals that are ignored stay
/// ignored. No other thread may run.
pub(crate) fn watch_signals() -> Outcome {
    let install = || ctrlc::set_handler(interrupted);
    #[cfg(unix)]
    let installed = crate::signals::keep_ignored(install);
    #[cfg(not(unix))]
    let installed = install();
    installed.map_err(|e| Failure::Environment(format!("cannot watch for signals: {e}")))
}

fn interrupted() {
    let text = match &*reaction() {
        Reaction::Stop(call) if !STOP.swap(true, Ordering::Relaxed) => return call(),
        Reaction::Exit | Reaction::Stop(_) => "interrupted".to_owned(),
        Reaction::Report(bar, kept) => {
            bar.finish_and_clear();
            format!("interrupted; {kept}")
        }
    };
    std::process::exit(Failure::Interrupted(text).report().into());
}

/// Makes Ctrl-C or SIGTERM print what is kept and end the program at once. Finished parts must be on disk.
pub fn exit_on_interrupt(bar: &ProgressBar, kept: &'static str) {
    *reaction() = Reaction::Report(bar.clone(), kept);
}

/// A flag that Ctrl-C or SIGTERM sets. The second one ends the program at once.
pub fn interrupt() -> &'static AtomicBool {
    *reaction() = Reaction::Stop(Box::new(|| ()));
    &STOP
}

/// Makes Ctrl-C or SIGTERM call `stop`. The second one ends the program at once.
pub fn stop_on_interrupt(stop: Box<dyn Fn() + Send>) {
    *reaction() = Reaction::Stop(stop);
}
