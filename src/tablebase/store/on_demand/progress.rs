use serde::Serialize;
use std::ops::ControlFlow;

/// The phase of a count.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CountPhase {
    /// Waiting for another process that counts in the same cache.
    Waiting,
    /// Reading the tables that captures lead to.
    Reading,
    /// Looking up the captures and den entries of every position.
    Conversions,
    /// Deciding positions, one ply after the other.
    Passes,
}

/// The progress of a count.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct CountProgress {
    /// The current phase.
    pub phase: CountPhase,
    /// The expected share of the work that is done, from 0 to 1.
    pub fraction: f64,
    /// The greatest distance in plies up to which all positions are decided.
    pub depth: u16,
}

/// A callback that receives the progress of a count, on any thread. Returning [`ControlFlow::Break`] cancels the count.
pub type Follow<'a> = &'a (dyn Fn(CountProgress) -> ControlFlow<()> + Sync);
