//! The progress of a long command on stderr, as a bar on a terminal or as lines of a log, and its interruption.

use crate::failure::{Failure, Outcome};
use crate::name::name;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use report::text::{progress, progress_figures};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The interval between redraws of a bar without reports.
const TICK: Duration = Duration::from_millis(250);

/// The interval between lines where stderr is no terminal.
const LINES: Duration = Duration::from_secs(60);

/// A bar for `length` units of work; 0 if the number is unknown. For the unit `%` the bar shows the share of the
/// length. Where stderr is no terminal, a line is written each minute instead.
pub fn progress_bar(length: u64, unit: &'static str) -> ProgressBar {
    let text = move |state: &ProgressState, out: &mut dyn Write| {
        let _ = out.write_str(&progress(state.pos(), state.len().unwrap_or(0), state.elapsed(), unit));
    };
    let style = ProgressStyle::with_template("{msg:18} {progress}").expect("the template is right");
    let bar = ProgressBar::new(length).with_style(style.with_key("progress", text));
    bar.enable_steady_tick(TICK);
    if !std::io::stderr().is_terminal() {
        write_lines(&bar, unit, LINES, |line| eprintln!("{}: {line}", name()));
    }
    bar
}

/// Passes the state of a bar to `write` at this interval, until the bar is finished.
fn write_lines(bar: &ProgressBar, unit: &'static str, interval: Duration, write: impl Fn(String) + Send + 'static) {
    let bar = bar.downgrade();
    let lines = move || {
        loop {
            thread::sleep(interval);
            let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) else { return };
            let figures = progress_figures(bar.position(), bar.length().unwrap_or(0), bar.elapsed(), unit);
            write(if bar.message().is_empty() { figures } else { format!("{}: {figures}", bar.message()) });
        }
    };
    // Without a thread there are no lines.
    let _ = thread::Builder::new().spawn(lines);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn lines_are_written_until_the_work_is_done() {
        let bar = ProgressBar::hidden();
        bar.set_length(42);
        bar.set_message("1 of 3 classes, EvL");
        bar.inc(12);
        let (send, lines) = mpsc::channel();
        write_lines(&bar, "positions", Duration::from_millis(1), move |line| drop(send.send(line)));
        let line = lines.recv().unwrap();
        assert!(line.starts_with("1 of 3 classes, EvL: 12/42 positions"), "{line}");
        bar.finish_and_clear();
        // The thread ends, and with it the channel: otherwise this waits for ever.
        while lines.recv().is_ok() {}
    }
}
