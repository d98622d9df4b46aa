//! Options that several commands share.

use crate::backend::{Backend, DeviceArg};
use crate::failure::Failure;
use crate::gpu;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use doushouqi::board::{Fen, Position, RuleOptions};
use doushouqi::game::Game;
use doushouqi::tablebase::{CpuBackend, Options, OrElse, Solver, TableProber, TableSet};
use matches::TimeControl;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

#[derive(Args)]
pub struct RulesArg {
    /// The rules: a preset (paper, cazaux, bodlaender, quadibloc, bell, chinese), then changes as key=value.
    ///
    /// Keys and values, default first: elephant-takes-rat=yes|no, shore=elephant-safe|none|no-exit,
    /// traps=opponent|any|none|sanctuary, dog-over-wolf=yes|no, tiger-leap=both|files|ranks|none,
    /// own-rat-blocks=yes|no, no-move=draw|loss, repetition=threefold|twofold|illegal|none.
    #[arg(long, default_value = "paper", value_name = "RULES")]
    pub rules: RuleOptions,
}

#[derive(Args)]
pub struct OptionalRulesArg {
    /// The rules, as for `dsq generate`. Tables for other rules are rejected. Default: the rules of the tables, or
    /// paper without tables.
    #[arg(long, value_name = "RULES")]
    pub rules: Option<RuleOptions>,
}

#[derive(Args)]
pub struct ThreadsArg {
    /// Number of threads; one for each core if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl ThreadsArg {
    /// The argument for this number of threads.
    pub fn of(threads: usize) -> ThreadsArg {
        ThreadsArg { threads: Some(u16::try_from(threads).unwrap_or(u16::MAX)) }
    }

    /// The number of threads.
    pub fn count(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }

    /// Calls `f` in a rayon pool with this many threads.
    pub fn run<T: Send>(&self, f: impl FnOnce() -> T + Send) -> Result<T, Failure> {
        let mut builder = rayon::ThreadPoolBuilder::new();
        if let Some(threads) = self.threads {
            builder = builder.num_threads(threads.into());
        }
        let pool = builder.build().map_err(|e| Failure::Environment(format!("cannot start threads: {e}")))?;
        Ok(pool.install(f))
    }
}

/// An amount of memory: a number and a unit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    bytes: u64,
}

impl Memory {
    /// The amount in bytes.
    pub fn bytes(self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }

    /// The amount in MiB, at least 1.
    pub fn mib(self) -> u64 {
        (self.bytes >> 20).max(1)
    }

    /// The amount in GiB; `None` if that is not a whole number.
    pub fn gib(self) -> Option<u64> {
        self.bytes.is_multiple_of(1 << 30).then_some(self.bytes >> 30)
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Memory, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = match unit.to_ascii_lowercase().as_str() {
            "mib" => 20,
            "gib" => 30,
            "tib" => 40,
            _ => return Err("write a number and a unit, MiB, GiB or TiB, as 10GiB".to_owned()),
        };
        let bytes = number.parse::<f64>().ok().map(|number| number * f64::from(unit).exp2());
        match bytes {
            Some(bytes) if (1.0..=u64::MAX as f64).contains(&bytes) => Ok(Memory { bytes: bytes as u64 }),
            _ => Err(format!("{number:?} is not a number above 0")),
        }
    }
}

/// Opens tables for `rules`, or for the rules that they were generated for.
pub fn open_tables(dir: &Path, rules: Option<RuleOptions>) -> Result<TableProber, Failure> {
    let set = TableSet::open(dir)?;
    let rules = rules.unwrap_or(*set.rules().options());
    Ok(set.prober(&rules)?)
}

/// The position of a FEN, or the initial position.
pub fn position(fen: Option<&str>) -> Result<Position, Failure> {
    Ok(fen.map_or_else(|| Ok(Position::start()), Position::from_fen)?)
}

/// The first position of a game with its halfmove clock; the initial position if no FEN is given.
pub fn game_start(fen: Option<&str>) -> Result<Fen, Failure> {
    Ok(fen.map_or_else(|| Ok(Position::start().into()), str::parse)?)
}

/// A parser for numbers of at least 1.
pub fn at_least_one<T: TryFrom<u64>>() -> RangedU64ValueParser<T> {
    RangedU64ValueParser::new().range(1..)
}

/// Parses a number above 0.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("{text:?} is not a number above 0"))
}

/// Parses a share from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| format!("{text:?} is not a share from 0 to 1"))
}

#[derive(Args, Clone)]
pub struct BackendArg {
    #[arg(
        long,
        value_name = "BACKEND",
        default_value = "auto",
        hide_possible_values = true,
        help = "Solver backend: cpu, gpu (also a software driver), or auto: a hardware GPU if there is one, else cpu"
    )]
    backend: Backend,
    #[command(flatten)]
    device: DeviceArg,
    /// On the CPU, keep the conversions (captures and den entries) in temporary files in DIR instead of memory.
    /// Conversions take about as much space as all other data: with them on disk, counting a class of six pieces takes
    /// at most 10 GiB of memory.
    #[arg(long, value_name = "DIR")]
    spill: Option<PathBuf>,
}

impl BackendArg {
    /// The CPU.
    fn cpu(&self) -> CpuBackend {
        let cpu = CpuBackend::default();
        self.spill.iter().fold(cpu, |cpu, dir| cpu.spilling(dir.clone()))
    }

    /// Whether the backend must be a GPU.
    pub fn is_gpu(&self) -> bool {
        self.backend == Backend::Gpu
    }

    /// A solver with this backend.
    pub fn solver(&self, rules: &RuleOptions, pieces: usize) -> Result<Solver, Failure> {
        let solver = Solver::new(rules, pieces, Options::default());
        Ok(match gpu::backend(self.backend, &self.device)? {
            None => solver.on(self.cpu()),
            Some(gpu) if self.backend == Backend::Auto => solver.on(OrElse::new(gpu, self.cpu())),
            Some(gpu) => solver.on(gpu),
        })
    }

    /// The requested backend.
    pub fn wanted(&self) -> Backend {
        self.backend
    }

    /// The choice among several GPUs.
    pub fn device(&self) -> &DeviceArg {
        &self.device
    }

    /// The same arguments with the CPU as backend.
    pub fn on_cpu(&self) -> BackendArg {
        BackendArg { backend: Backend::Cpu, device: DeviceArg::default(), spill: self.spill.clone() }
    }

    /// The name of the GPU; `None` if no GPU is wanted or found.
    pub fn gpu_name(&self) -> Result<Option<String>, Failure> {
        Ok(gpu::backend(self.backend, &self.device)?.map(|gpu| gpu.name()))
    }
}

/// The limit of the search for each move.
#[derive(Args)]
#[group(multiple = false)]
pub struct LevelArgs {
    /// Milliseconds for each move.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    movetime: Option<u64>,
    /// Nodes for each move, which gives the same game every time on any machine.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Depth of each search in plies.
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u32).range(1..=200))]
    depth: Option<u32>,
}

impl LevelArgs {
    /// The given limit, if any.
    pub fn get(&self) -> Option<TimeControl> {
        self.movetime
            .map(|ms| TimeControl::MoveTime(Duration::from_millis(ms)))
            .or(self.nodes.map(TimeControl::Nodes))
            .or(self.depth.map(TimeControl::Depth))
    }
}

/// The no-capture limit.
#[derive(Args)]
pub struct NoCaptureArg {
    /// Plies without a capture after which a game is drawn; 0 for no limit.
    #[arg(long, value_name = "PLIES", default_value_t = Game::NO_CAPTURE_LIMIT)]
    no_capture_limit: u32,
}

impl NoCaptureArg {
    pub fn get(&self) -> Option<u32> {
        (self.no_capture_limit > 0).then_some(self.no_capture_limit)
    }
}

/// Parses `SECONDS+INCREMENT`.
pub fn clock(text: &str) -> Result<TimeControl, String> {
    let seconds = |text: &str| {
        text.parse()
            .ok()
            .filter(|seconds| (0.0..=1e6).contains(seconds))
            .map(Duration::from_secs_f64)
            .ok_or_else(|| format!("{text:?} is not a number of seconds; write a clock as 10+0.1"))
    };
    let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
    let (base, increment) = (seconds(base)?, seconds(increment)?);
    if base.is_zero() {
        return Err("a clock needs more than 0 seconds at the start; write it as 10+0.1".to_owned());
    }
    Ok(TimeControl::Clock { base, increment })
}
