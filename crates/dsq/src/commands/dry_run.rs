//! What solving on a graphics card would take, without doing it.

use super::backend::BackendArg;
use super::{Outcome, card};
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::Material;

/// What to plan.
pub struct DryRun<'a> {
    pub rules: &'a RuleOptions,
    pub backend: &'a BackendArg,
    /// The most pieces.
    pub pieces: usize,
    /// One material, and all it leads to.
    pub material: Option<Material>,
    /// Bytes a second that the card's memory moves.
    pub bandwidth: f64,
    pub json: bool,
}

impl DryRun<'_> {
    pub fn run(&self) -> Outcome {
        card::plan(self)
    }
}
