use serde::Serialize;
use std::ops::ControlFlow;

/// What a count does at the moment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CountPhase {
    /// Another process counts in the same cache.
    Waiting,
    /// It reads the tables that captures lead to.
    Reading,
    /// It looks up the captures and den entries of every position.
    Conversions,
    /// It decides positions, one ply after the other.
    Passes,
}

/// How far a count is.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct CountProgress {
    /// What it does.
    pub phase: CountPhase,
    /// The expected share of the work that is done, from 0 to 1.
    pub fraction: f64,
    /// The plies to the end up to which all positions are decided.
    pub depth: u16,
}

/// Takes the progress of a count, on any thread, and cancels the count if it returns [`ControlFlow::Break`].
pub type Follow<'a> = &'a (dyn Fn(CountProgress) -> ControlFlow<()> + Sync);
