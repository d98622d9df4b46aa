use super::Outcome;
use clap::Args;

/// Compile a formula into a position.
#[derive(Args)]
pub struct Reduce {}

impl Reduce {
    pub fn run(self) -> Outcome {
        Ok(())
    }
}
