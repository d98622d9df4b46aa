//! What solves and counts: the CPU or a GPU.

use crate::failure::Failure;
use clap::ValueEnum;
use doushouqi::board::{Move, Position, RuleOptions};
use doushouqi::tablebase::{DeviceWork, Material, Solver};

/// What solves.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// A GPU if there is one, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU, or a driver in software; an error if there is neither.
    Gpu,
}

/// Counts the lines of moves of a position.
pub trait Counter {
    /// Its name.
    fn name(&self) -> String;
    /// The lines of `depth` plies.
    fn count(&self, position: &Position, depth: u32) -> Result<u64, Failure>;
    /// The lines behind each move.
    fn divide(&self, position: &Position, depth: u32) -> Result<Vec<(Move, u64)>, Failure>;
}

/// What a GPU would solve, to be planned.
pub struct DryRun<'a> {
    pub rules: &'a RuleOptions,
    pub backend: Backend,
    /// The most pieces.
    pub pieces: usize,
    /// One material, and all it leads to.
    pub material: Option<Material>,
    /// Bytes a second that the GPU's memory moves.
    pub bandwidth: f64,
    pub json: bool,
}

/// Says on stderr what the CPU solved in place of the GPU.
pub fn report_taken_over(solver: &Solver) {
    if let [(_, error), ..] = solver.backend().taken_over() {
        eprintln!("dsq: {} classes were solved on the CPU: {error}", solver.backend().taken_over().len());
    }
}

/// What a GPU did since, if there is one.
pub fn work_since(solver: &Solver, before: Option<DeviceWork>) -> Option<DeviceWork> {
    let now = solver.backend().work()?;
    Some(before.map_or(now, |before| now.since(&before)))
}
