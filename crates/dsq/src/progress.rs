//! The progress of a long command on stderr, if that is a terminal, and its interruption.

use crate::failure::{Failure, Outcome};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use report::text::progress;
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Makes Ctrl-C or SIGTERM print `message` and end the program at once. Finished parts must be on disk.
pub fn exit_on_interrupt(bar: &ProgressBar, message: &'static str) -> Outcome {
    let bar = bar.clone();
    let handler = move || {
        bar.finish_and_clear();
        let code = Failure::Interrupted(format!("interrupted; {message}")).report();
        std::process::exit(code.into());
    };
    ctrlc::set_handler(handler).map_err(|e| Failure::Environment(format!("cannot watch for signals: {e}")))
}

/// A flag that Ctrl-C or SIGTERM sets. The second one ends the program at once.
pub fn interrupt() -> Result<&'static AtomicBool, Failure> {
    static STOP: AtomicBool = AtomicBool::new(false);
    static HANDLER: OnceLock<Result<(), String>> = OnceLock::new();
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    let set = HANDLER.get_or_init(|| ctrlc::set_handler(handler).map_err(|e| e.to_string()));
    set.clone().map_err(|e| Failure::Environment(format!("cannot watch for signals: {e}")))?;
    Ok(&STOP)
}
