//! The observer of a class that is being solved.

use crate::tablebase::solve::error::SolveError;

/// Observes the solution of a class. Any of its errors stops the solution.
pub(crate) trait Observer: Sync {
    /// Called when `done` of `of` repacked tables that captures lead to are restored.
    fn restored(&self, _done: usize, _of: usize) -> Result<(), SolveError> {
        Ok(())
    }

    /// Called when the values of `done` of `of` sides to move that captures lead to are decoded, from any thread.
    fn captures(&self, _done: usize, _of: usize) -> Result<(), SolveError> {
        Ok(())
    }

    /// Called when the conversions of `done` of `of` ranges of rows are known, from any thread.
    fn conversions(&self, _done: usize, _of: usize) -> Result<(), SolveError> {
        Ok(())
    }

    /// Called after each pass. All positions that are decided in up to `depth` plies are known.
    fn pass(&self, _depth: u16) -> Result<(), SolveError> {
        Ok(())
    }

    /// Called when the values of `done` of `of` blocks of rows are compressed, from any thread, now and then; at least for 0,
    /// if values are kept.
    fn values(&self, _done: usize, _of: usize) -> Result<(), SolveError> {
        Ok(())
    }
}

/// An observer that does nothing.
pub(crate) struct Unobserved;

impl Observer for Unobserved {}
