//! How long an engine thinks, as options say it, and how to stop it.

use super::{Failure, Outcome};
use clap::Args;
use doushouqi::game::Game;
use doushouqi::matches::TimeControl;
use indicatif::ProgressBar;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What limits the search of one move.
#[derive(Args)]
#[group(multiple = false)]
pub struct LevelArgs {
    /// Milliseconds for each move.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    movetime: Option<u64>,
    /// Nodes for each move: the same game every time, on any machine.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Depth of each search in plies.
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u32).range(1..=200))]
    depth: Option<u32>,
}

impl LevelArgs {
    /// What was asked for, if anything was.
    pub fn get(&self) -> Option<TimeControl> {
        self.movetime
            .map(|ms| TimeControl::MoveTime(Duration::from_millis(ms)))
            .or(self.nodes.map(TimeControl::Nodes))
            .or(self.depth.map(TimeControl::Depth))
    }
}

/// When a game without captures is a draw.
#[derive(Args)]
pub struct NoCaptureArg {
    /// A game is drawn after this many plies without a capture; 0: never.
    #[arg(long, value_name = "PLIES", default_value_t = Game::NO_CAPTURE_LIMIT)]
    no_capture_limit: u32,
}

impl NoCaptureArg {
    pub fn get(&self) -> Option<u32> {
        (self.no_capture_limit > 0).then_some(self.no_capture_limit)
    }
}

/// Reads `SECONDS+INCREMENT`.
pub fn clock(text: &str) -> Result<TimeControl, String> {
    let seconds = |text: &str| {
        text.parse()
            .ok()
            .filter(|seconds| (0.0..=1e6).contains(seconds))
            .map(Duration::from_secs_f64)
            .ok_or_else(|| format!("{text:?} is no number of seconds; write a clock as 10+0.1"))
    };
    let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
    Ok(TimeControl::Clock { base: seconds(base)?, increment: seconds(increment)? })
}

/// Lets Ctrl-C or SIGTERM end the program at once, and say what becomes of the work. Finished parts must be on disk.
pub fn exit_on_interrupt(bar: &ProgressBar, outlook: &'static str) -> Outcome {
    let bar = bar.clone();
    let handler = move || {
        bar.finish_and_clear();
        let code = Failure::Interrupted(format!("interrupted; {outlook}")).report();
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
