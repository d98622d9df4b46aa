//! The backends for solving and for perft: the CPU or a GPU.

use clap::{Args, ValueEnum};
use cli::failure::Failure;
use doushouqi::board::{Move, Position, RuleOptions};
use doushouqi::tablebase::{DeviceWork, Material, Solver};

/// The choice of a backend.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// A GPU if there is one, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU or a software driver; an error if there is neither.
    Gpu,
}

/// The choice among several GPUs.
#[derive(Args, Clone, Default)]
pub struct DeviceArg {
    /// The GPU: its number in `dsq bench devices`, or a part of its name. Default: a part of a name in the environment variable
    /// WGPU_ADAPTER_NAME, or the best GPU.
    #[arg(long, value_name = "NAME|NUMBER")]
    pub device: Option<String>,
}

/// Counts the lines of moves of a position.
pub trait Counter {
    /// The name of the device.
    fn name(&self) -> String;
    /// The number of lines of `depth` plies.
    fn count(&self, position: &Position, depth: u32) -> Result<u64, Failure>;
    /// The number of lines after each move.
    fn divide(&self, position: &Position, depth: u32) -> Result<Vec<(Move, u64)>, Failure>;
}

/// The input of a plan for a GPU.
pub struct DryRun<'a> {
    pub rules: &'a RuleOptions,
    pub backend: Backend,
    pub device: &'a DeviceArg,
    /// The maximum number of pieces.
    pub pieces: usize,
    /// One material and the materials that its captures lead to, instead of all materials.
    pub material: Option<Material>,
    /// Memory bandwidth of the GPU in bytes per second.
    pub bandwidth: f64,
    pub json: bool,
}

/// Reports on stderr the classes that the CPU solved instead of the GPU.
pub fn report_fallbacks(solver: &Solver) {
    if let [(_, error), ..] = solver.backend().fallbacks() {
        eprintln!("dsq: {} classes were solved on the CPU: {error}", solver.backend().fallbacks().len());
    }
}

/// The work of a GPU since `before`; `None` without a GPU.
pub fn work_since(solver: &Solver, before: Option<DeviceWork>) -> Option<DeviceWork> {
    let now = solver.backend().work()?;
    Some(before.map_or(now, |before| now.since(&before)))
}
