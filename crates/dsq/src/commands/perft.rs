use crate::arguments::position;
use crate::backend::{Backend, Counter, DeviceArg};
use crate::gpu;
use clap::{Args, ValueEnum};
use cli::arguments::{Common, Memory};
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json};
use cli::progress::progress_bar;
use doushouqi::board::{Move, Position, Rules};
use doushouqi::cpu::cpu_name;
use doushouqi::perft::{self, PerftMethod, PerftMode};
use report::text::grouped;
use serde::Serialize;
use std::time::Instant;

/// The units of the progress bar.
const SHARES: f64 = 1e9;

/// Count the lines of legal moves of a given length.
///
/// The count is the same with every `--method`, the speed is not: only speeds of one method compare, and what other programs call
/// their perft speed is `made` or `bulk`. A finished game has no moves. Times on a GPU do not include opening it and compiling its
/// shaders.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq perft 6\n  dsq perft 6 --method bulk         the speed of move generation\n  \
                        dsq perft 5 --repetition leaf     the published counts\n  \
                        dsq perft 4 --divide --rules chinese\n  dsq perft 11 --memory 4GiB --json\n  dsq perft 8 --backend gpu"
)]
pub struct Perft {
    /// Length of the lines in plies.
    #[arg(value_parser = clap::value_parser!(u32).range(0..=i64::from(perft::Perft::MAX_DEPTH)))]
    depth: u32,
    /// The position to start from; by default the start of the game.
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// The way to count a position that has already occurred on the line.
    #[arg(long, value_enum, default_value = "expand")]
    repetition: Repetition,
    /// The work behind the count. Default: merged; two-plies with `--repetition leaf`; bulk on a GPU.
    #[arg(long, value_enum)]
    method: Option<Method>,
    /// Also print the count after each move.
    #[arg(long)]
    divide: bool,
    /// The maximum memory for the positions of a ply. If they take more, they are counted in parts, which takes longer.
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    memory: Memory,
    /// The backend: cpu, gpu (also a software driver), or auto: a hardware GPU if there is one, else cpu.
    #[arg(long, value_enum, default_value = "cpu", hide_possible_values = true)]
    backend: Backend,
    #[command(flatten)]
    device: DeviceArg,
    #[command(flatten)]
    common: Common,
}

#[derive(Copy, Clone, ValueEnum)]
enum Repetition {
    /// Expand the position like any other: plain perft.
    Expand,
    /// Count the position as one leaf, and a finished game as well: the leaves of a minimax search, as published.
    Leaf,
}

#[derive(Copy, Clone, ValueEnum)]
enum Method {
    /// Make every move.
    Made,
    /// Make all moves but those of the last ply, which are counted (bulk counting).
    Bulk,
    /// Make all moves but those of the last two plies, which are counted from bitboards.
    TwoPlies,
    /// As two-plies, and expand equal positions of a ply once.
    Merged,
}

impl From<Method> for PerftMethod {
    fn from(method: Method) -> PerftMethod {
        match method {
            Method::Made => PerftMethod::Made,
            Method::Bulk => PerftMethod::Bulk,
            Method::TwoPlies => PerftMethod::TwoPlies,
            Method::Merged => PerftMethod::Merged,
        }
    }
}

impl Counter for perft::Perft<'_> {
    fn name(&self) -> String {
        cpu_name()
    }

    fn count(&self, position: &Position, depth: u32) -> Result<u64, Failure> {
        Ok(perft::Perft::count(self, position, depth))
    }

    fn divide(&self, position: &Position, depth: u32) -> Result<Vec<(Move, u64)>, Failure> {
        Ok(perft::Perft::divide(self, position, depth))
    }
}

#[derive(Serialize)]
struct Report {
    depth: u32,
    nodes: u64,
    seconds: f64,
    nodes_per_second: f64,
    repetition: &'static str,
    /// The name of the [`PerftMethod`].
    method: &'static str,
    threads: usize,
    cpu: String,
    /// The name of the GPU, if a GPU counted.
    adapter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<MoveReport>>,
}

#[derive(Serialize)]
struct MoveReport {
    r#move: String,
    nodes: u64,
}

impl Perft {
    pub fn run(self) -> Outcome {
        let position = position(self.fen.as_deref())?;
        let rules = Rules::new(*self.common.rules());
        let mode = match self.repetition {
            Repetition::Expand => PerftMode::Expand,
            Repetition::Leaf => PerftMode::Leaf,
        };
        if let Some(counter) = self.gpu_counter(mode, &rules)? {
            let report = self.report(&position, PerftMethod::Bulk, Some(counter.name()), &*counter)?;
            return self.print(&report, PerftMethod::Bulk);
        }
        let bar = progress_bar(SHARES as u64, "%").with_message(format!("perft {}", self.depth));
        let progress = |share: f64| bar.inc((share * SHARES) as u64);
        let perft = perft::Perft::new(&rules, mode).with_memory(self.memory.bytes()).with_progress(&progress);
        let perft = self.method.into_iter().fold(perft, |perft, method| perft.with_method(method.into()));
        let method = perft.method();
        let report = self.common.threads.run(|| self.report(&position, method, None, &perft))??;
        bar.finish_and_clear();
        self.print(&report, method)
    }

    /// The GPU to count on, if `--backend` selects one that exists. A GPU counts plain perft, in bulk.
    fn gpu_counter<'a>(&self, mode: PerftMode, rules: &'a Rules) -> Result<Option<Box<dyn Counter + 'a>>, Failure> {
        let in_bulk = matches!(self.method, None | Some(Method::Bulk));
        match (mode, self.backend) {
            (PerftMode::Leaf, _) if matches!(self.method, Some(Method::Merged)) => Err(Failure::Input(
                "--repetition leaf depends on the whole line, so no positions can be merged: choose --method two-plies"
                    .to_owned(),
            )),
            (PerftMode::Expand, backend) if in_bulk || backend == Backend::Cpu => {
                gpu::counter(backend, &self.device, rules)
            }
            (PerftMode::Leaf, Backend::Gpu) => Err(Failure::Input("a GPU counts without --repetition leaf".to_owned())),
            (_, Backend::Gpu) => Err(Failure::Input("a GPU counts with --method bulk".to_owned())),
            _ => Ok(None),
        }
    }

    fn report(
        &self,
        position: &Position,
        method: PerftMethod,
        adapter: Option<String>,
        counter: &dyn Counter,
    ) -> Result<Report, Failure> {
        let start = Instant::now();
        let (nodes, moves) = if self.divide && self.depth > 0 {
            let divided = counter.divide(position, self.depth)?;
            let name = |mv: Move| mv.notation(position);
            let nodes = divided.iter().map(|(_, nodes)| nodes).sum();
            (nodes, Some(divided.into_iter().map(|(mv, nodes)| MoveReport { r#move: name(mv), nodes }).collect()))
        } else {
            (counter.count(position, self.depth)?, None)
        };
        let seconds = start.elapsed().as_secs_f64();
        let nodes_per_second = if seconds > 0.0 { (nodes as f64 / seconds).round() } else { 0.0 };
        Ok(Report {
            depth: self.depth,
            nodes,
            seconds,
            nodes_per_second,
            repetition: match self.repetition {
                Repetition::Expand => "expand",
                Repetition::Leaf => "leaf",
            },
            method: method.name(),
            threads: rayon::current_num_threads(),
            cpu: cpu_name(),
            adapter,
            moves,
        })
    }

    fn print(&self, report: &Report, method: PerftMethod) -> Outcome {
        if self.common.json.on {
            return print_json(report);
        }
        for mv in report.moves.iter().flatten() {
            print(format_args!("{:6} {:>20}", mv.r#move, grouped(mv.nodes)))?;
        }
        print(format_args!(
            "perft {}: {} nodes in {:.3} s, {} nodes per second ({}: {})",
            report.depth,
            grouped(report.nodes),
            report.seconds,
            grouped(report.nodes_per_second as u64),
            method.name(),
            method.meaning()
        ))
    }
}
