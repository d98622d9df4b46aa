//! Options that several commands share.

use crate::backend::{Backend, DeviceArg};
use crate::gpu;
use clap::{Args, ValueEnum};
use cli::arguments::{Memory, hash_size};
use cli::failure::Failure;
use cli::progress::spinner;
use doushouqi::board::{Fen, Position, RuleOptions};
use doushouqi::game::Game;
use doushouqi::search::{EngineOptions, TableCache};
use doushouqi::tablebase::{CpuBackend, Options, OrElse, Solver};
use matches::TimeControl;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The option `--rules` of commands that read the rules from tables.
#[derive(Args)]
pub struct OptionalRulesArg {
    /// The rules, as for `dsq generate`. Tables for other rules are rejected. Default: the rules of the tables, or
    /// paper without tables.
    #[arg(long, value_name = "RULES")]
    pub rules: Option<RuleOptions>,
}

/// The option `--rules` of jobs, which name the metric of tables by it.
#[derive(Args)]
pub struct TableRulesArg {
    /// The rules, as for `dsq generate`; with no-capture-limit=N as the last item, tables of `--metric dtz --limit N`.
    #[arg(long, default_value = "paper", value_name = "RULES", value_parser = RuleOptions::from_table_spelling)]
    pub rules: RuleOptions,
}

/// What the distances of new tables measure.
#[derive(Args)]
pub struct MetricArg {
    /// The distance that tables store: dtw, to the end of the game; dtz, to the next capture or den entry that keeps the result
    /// in games that are drawn after --limit plies without a capture. Values of dtz are exact at every clock.
    #[arg(long, value_enum, value_name = "METRIC", default_value = "dtw", hide_possible_values = true)]
    metric: MetricName,
    /// With --metric dtz, the no-capture limit in plies. Default: 100.
    #[arg(long, value_name = "PLIES",
          value_parser = clap::value_parser!(u16).range(1..=i64::from(RuleOptions::MAX_NO_CAPTURE_LIMIT)))]
    limit: Option<u16>,
}

#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum MetricName {
    Dtw,
    Dtz,
}

impl MetricArg {
    /// The rules of the tables for games under `rules`.
    pub fn rules(&self, rules: &RuleOptions) -> Result<RuleOptions, Failure> {
        match (self.metric, self.limit) {
            (MetricName::Dtw, None) => Ok(*rules),
            (MetricName::Dtw, Some(_)) => Err(Failure::Input("--limit needs --metric dtz".to_owned())),
            (MetricName::Dtz, limit) => Ok(rules.within(Some(limit.unwrap_or(Game::NO_CAPTURE_LIMIT as u16)))),
        }
    }
}

/// The position of a FEN, or the initial position.
pub fn position(fen: Option<&str>) -> Result<Position, Failure> {
    Ok(fen.map_or_else(|| Ok(Position::start()), Position::from_fen)?)
}

/// The first position of a game with its halfmove clock; the initial position if no FEN is given.
pub fn game_start(fen: Option<&str>) -> Result<Fen, Failure> {
    Ok(fen.map_or_else(|| Ok(Position::start().into()), str::parse)?)
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

    /// The directory of temporary files.
    pub fn spill(&self) -> Option<&Path> {
        self.spill.as_deref()
    }

    /// Whether the backend must be a GPU.
    pub fn is_gpu(&self) -> bool {
        self.backend == Backend::Gpu
    }

    /// A solver with this backend.
    pub fn solver(&self, rules: &RuleOptions, pieces: usize) -> Result<Solver, Failure> {
        let on_gpu = gpu_solver(self.backend, &self.device, rules, pieces, self.cpu())?;
        Ok(on_gpu.unwrap_or_else(|| Solver::new(rules, pieces, Options::default()).on(self.cpu())))
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

/// A solver on the chosen GPU; with [`Backend::Auto`], `cpu` takes over what the GPU cannot solve. `None` if no GPU is
/// wanted or found.
pub fn gpu_solver(
    wanted: Backend,
    device: &DeviceArg,
    rules: &RuleOptions,
    pieces: usize,
    cpu: CpuBackend,
) -> Result<Option<Solver>, Failure> {
    let Some(gpu) = gpu::backend(wanted, device)? else { return Ok(None) };
    let solver = Solver::new(rules, pieces, Options::default());
    Ok(Some(if wanted == Backend::Auto { solver.on(OrElse::new(gpu, cpu)) } else { solver.on(gpu) }))
}

/// The option `--threads` of a search.
#[derive(Args)]
pub struct SearchThreadsArg {
    /// Number of search threads. Only searches with one thread are repeatable.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
}

impl SearchThreadsArg {
    pub fn count(&self) -> usize {
        self.threads.into()
    }
}

/// The resources of a search.
#[derive(Args)]
pub struct SearchArgs {
    /// Size of the transposition table.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = hash_size::<1>)]
    hash: Memory,
    #[command(flatten)]
    threads: SearchThreadsArg,
    /// Endgame tables: a directory of `dsq generate`, one of `dsq repack --wdl`, or both, separated by `:` (on Windows
    /// `;`).
    #[arg(long, value_name = "PATH")]
    tables: Option<PathBuf>,
}

impl SearchArgs {
    /// The options of the engine, with the tables loaded.
    pub fn engine(&self, rules: &RuleOptions) -> Result<EngineOptions, Failure> {
        let mut options = EngineOptions::default().hash_mib(self.hash.mib() as usize).threads(self.threads.count());
        if let Some(path) = &self.tables {
            let line = spinner("loading the tables");
            let tables = TableCache::default().get(path, rules);
            line.finish_and_clear();
            options.tables = Some(tables?);
        }
        Ok(options)
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

    /// The given limit, or a second for each move.
    pub fn or_a_second(&self) -> TimeControl {
        self.get().unwrap_or(TimeControl::MoveTime(Duration::from_secs(1)))
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
