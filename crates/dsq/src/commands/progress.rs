//! The progress of a long command, on stderr where that is a terminal.

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use report::text::progress;
use std::fmt::Write;
use std::time::Duration;

/// How often a bar is drawn when nothing is reported.
const TICK: Duration = Duration::from_millis(250);

/// A bar for `length` units of work, 0 if their number is not known; for the unit `%` it shows the share of the length.
pub fn progress_bar(length: u64, unit: &'static str) -> ProgressBar {
    let text = move |state: &ProgressState, out: &mut dyn Write| {
        let _ = out.write_str(&progress(state.pos(), state.len().unwrap_or(0), state.elapsed(), unit));
    };
    let style = ProgressStyle::with_template("{msg:18} {progress}").expect("the template is right");
    let bar = ProgressBar::new(length).with_style(style.with_key("progress", text));
    bar.enable_steady_tick(TICK);
    bar
}

/// A line that says what is being waited for, and since when.
pub fn waiting(message: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg}, {elapsed}").expect("the template is right");
    let line = ProgressBar::new_spinner().with_style(style).with_message(message);
    line.enable_steady_tick(TICK);
    line
}
