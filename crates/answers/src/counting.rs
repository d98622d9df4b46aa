//! Endgames that a server counts on demand, as answers.

use doushouqi::tablebase::{CountNeed, CountPhase, CountProgress, Material};
use serde::Serialize;

/// The progress of a count.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "CountProgress"))]
pub struct CountReport {
    /// `waiting` (another process uses the cache), `reading` (tables), `conversions` (captures and den entries), `passes`
    /// or `writing` (the table).
    #[cfg_attr(test, schemars(with = "String"))]
    #[cfg_attr(test, schemars(extend("enum" = ["waiting", "reading", "conversions", "passes", "writing"])))]
    phase: CountPhase,
    /// The expected share of the work that is done, 0 to 1.
    fraction: f64,
    /// The plies to the end up to which all positions are decided.
    depth: u16,
    seconds_left: f64,
}

/// The last event of a count that succeeded.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CountDone {
    /// The representative of the class; null if a table or the cache contained the position.
    pub class: Option<String>,
}

/// The resources that counting the endgame of a position needs.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "CountNeed"))]
pub struct NeedReport {
    pub fen: String,
    pub rules: String,
    /// The representative of the material's class; null if a table or the cache contains the position.
    pub class: Option<String>,
    /// `known` (a table or the cache contains the position), `possible`, `counting` (this class), `busy` (another class),
    /// `stopping` (a count ends that its clients have left; the next one waits for its end).
    #[cfg_attr(test, schemars(extend("enum" = ["known", "possible", "counting", "busy", "stopping"])))]
    pub state: &'static str,
    /// Expected seconds.
    pub seconds: Option<f64>,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
    /// Bytes on disk at most, temporary files included.
    pub disk_bytes: Option<u64>,
    /// The part of `disk_bytes` for the file that stays in the cache, at most.
    pub file_bytes: Option<u64>,
}

impl CountReport {
    /// The report before the start of a count.
    #[must_use]
    pub fn waiting(expected: f64) -> CountReport {
        CountReport { phase: CountPhase::Waiting, fraction: 0.0, depth: 0, seconds_left: expected }
    }

    /// The report after `elapsed` seconds of a count that was expected to take `expected` seconds.
    #[must_use]
    pub fn new(CountProgress { phase, fraction, depth }: CountProgress, elapsed: f64, expected: f64) -> CountReport {
        // The first percent predicts little of the rest.
        let total = if fraction > 0.01 { elapsed / fraction } else { expected.max(elapsed) };
        CountReport { phase, fraction, depth, seconds_left: total * (1.0 - fraction) }
    }
}

impl NeedReport {
    #[must_use]
    pub fn of(
        fen: String,
        rules: String,
        class: Option<Material>,
        state: &'static str,
        need: Option<(CountNeed, f64)>,
    ) -> NeedReport {
        let (need, seconds) = need.unzip();
        NeedReport {
            fen,
            rules,
            class: class.map(|class| class.to_string()),
            state,
            seconds,
            memory_bytes: need.map(|need| need.memory_bytes),
            disk_bytes: need.map(|need| need.disk_bytes),
            file_bytes: need.map(|need| need.file_bytes),
        }
    }
}
