//! The progress of solving a class, for a caller that shows it or cancels the work.

use super::error::SolveError;
use super::observer::Observer;
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

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
    /// Compressing the values and writing the table.
    Writing,
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

/// The shares of the work that restoring repacked captures, decoding captures, the conversions, and then the passes take.
const RESTORING: f64 = 0.04;
const CAPTURES: f64 = 0.01;
const CONVERSIONS: f64 = 0.25;
const PASSES: f64 = 0.4;

/// Reports the progress of a class being solved, and stops it on request.
pub(in crate::tablebase) struct Reporter<'a> {
    follow: Follow<'a>,
    depth: AtomicU16,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(follow: Follow<'a>) -> Reporter<'a> {
        Reporter { follow, depth: AtomicU16::new(0) }
    }

    fn report(&self, phase: CountPhase, fraction: f64) -> Result<(), SolveError> {
        let flow = (self.follow)(CountProgress { phase, fraction, depth: self.depth.load(Relaxed) });
        if flow.is_break() { Err(SolveError::Stopped) } else { Ok(()) }
    }
}

impl Observer for Reporter<'_> {
    fn restored(&self, done: usize, of: usize) -> Result<(), SolveError> {
        self.report(CountPhase::Reading, RESTORING * done as f64 / of as f64)
    }

    fn captures(&self, done: usize, of: usize) -> Result<(), SolveError> {
        self.report(CountPhase::Reading, RESTORING + CAPTURES * done as f64 / of as f64)
    }

    fn conversions(&self, done: usize, of: usize) -> Result<(), SolveError> {
        self.report(CountPhase::Conversions, RESTORING + CAPTURES + CONVERSIONS * done as f64 / of as f64)
    }

    fn pass(&self, depth: u16) -> Result<(), SolveError> {
        self.depth.store(depth, Relaxed);
        // The number of remaining passes is unknown; lines are rarely longer than 150 plies.
        let before = RESTORING + CAPTURES + CONVERSIONS;
        self.report(CountPhase::Passes, before + PASSES * (1.0 - 0.97f64.powi(depth.into())))
    }

    fn values(&self, done: usize, of: usize) -> Result<(), SolveError> {
        let before = RESTORING + CAPTURES + CONVERSIONS + PASSES;
        self.report(CountPhase::Writing, before + (1.0 - before) * done as f64 / of as f64)
    }
}
