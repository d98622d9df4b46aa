//! The speed of a device: perft and endgames on its CPU and its GPU, whose values are compared.

use crate::send;
use crate::threads::this_thread;
use answers::analysis::event;
use doushouqi::board::{Position, RuleOptions, Rules};
use doushouqi::clock::Instant;
use doushouqi::gpu::{AdapterChoice, GpuError};
use doushouqi::perft::{GpuPerft, Perft, PerftMethod, PerftMode};
use doushouqi::tablebase::{ClassId, Difference, Gpu, GpuLimits, Options, SolveError, Solver, first_difference};
use serde::Serialize;
use std::fmt::Display;

/// The most bytes of a layer of perft, and of the classes that are solved at the same time: phones end pages that need much
/// more.
const MEMORY: usize = 256 << 20;
/// Bytes of the buffers of perft on a GPU.
const PERFT_BUFFER: u64 = 64 << 20;
/// The number of classes that the GPU and then the CPU solve, and whose values are in memory.
const CLASSES: usize = 8;
/// Perft is counted to more plies until a count takes this many seconds.
const PERFT_SECONDS: f64 = 0.5;
const PERFT_PLIES: u32 = 10;

/// The result of a measurement.
#[derive(Serialize)]
struct Report {
    version: &'static str,
    rules: String,
    /// All endgames of up to this many pieces are solved.
    pieces: usize,
    cpu: Speed,
    /// `None` without a GPU, and the reason: `none` if the browser offers no GPU.
    gpu: Option<Speed>,
    no_gpu: Option<String>,
    /// The number of positions whose values the CPU and the GPU computed.
    compared: u64,
    difference: Option<Different>,
}

/// The speed of the CPU or the GPU.
#[derive(Serialize)]
struct Speed {
    name: Option<String>,
    /// Whether a CPU does the work of the GPU.
    software: bool,
    /// In bulk: the moves of the last ply are counted, not made, which is how a GPU counts.
    bulk: Count,
    /// With equal positions expanded once, which a GPU does not do.
    merged: Option<Count>,
    /// The positions that were solved, with both sides to move, and the time for all.
    positions: u64,
    seconds: f64,
}

/// A count of perft.
#[derive(Serialize)]
struct Count {
    plies: u32,
    nodes: u64,
    seconds: f64,
}

/// The first difference between values.
#[derive(Serialize)]
struct Different {
    material: String,
    fen: Option<String>,
    cpu: String,
    gpu: String,
}

/// How far a measurement is.
#[derive(Serialize)]
struct Progress {
    /// `perft` or `solve`.
    phase: &'static str,
    done: usize,
    total: usize,
}

/// Measures the device and returns a [`Report`], or the reason why that is impossible, as JSON.
pub(crate) async fn measure(pieces: usize) -> Vec<u8> {
    let report = run(pieces).await.map_err(|reason| serde_json::json!({ "error": reason }));
    let json = match &report {
        Ok(report) => serde_json::to_vec(report),
        Err(error) => serde_json::to_vec(error),
    };
    json.unwrap_or_default()
}

async fn run(pieces: usize) -> Result<Report, String> {
    if !(2..=4).contains(&pieces) {
        return Err(format!("{pieces} pieces are not measured: 2 to 4"));
    }
    // The pool of all that runs without a pool of its own; it exists if this module has measured before.
    _ = this_thread().build_global();
    let rules = RuleOptions::PAPER;
    let board = Rules::new(rules);
    let note = |phase, done, total| send(event("progress", &Progress { phase, done, total }));
    note("perft", 0, 2);
    let on_cpu = async |method| {
        let counter = Perft::new(&board, PerftMode::Expand).with_method(method).with_memory(MEMORY);
        perft(async |start, plies| Ok::<_, String>(counter.count(start, plies))).await
    };
    let mut cpu = Speed::new(None, false, on_cpu(PerftMethod::Bulk).await?);
    cpu.merged = Some(on_cpu(PerftMethod::Merged).await?);
    note("perft", 1, 2);
    let (mut gpu, mut opened, mut no_gpu) = (None, None, None);
    match open(&board).await {
        Ok((device, speed)) => (opened, gpu) = (Some(device), Some(speed)),
        Err(GpuError::NoAdapter) => no_gpu = Some("none".to_owned()),
        Err(error) => no_gpu = Some(error.to_string()),
    }
    let mut solvers = [(); 2].map(|()| Solver::new(&rules, pieces, Options { memory: MEMORY, ..Options::default() }));
    let mut levels = Vec::new();
    for level in 2..=pieces {
        let ids: Vec<ClassId> = solvers[0].classes().level(level).map(|(id, _)| id).collect();
        levels.extend(ids.chunks(CLASSES).map(|ids| (level < pieces, ids.to_vec())));
    }
    let (mut compared, mut difference) = (0, None);
    for (number, (keep, ids)) in levels.iter().enumerate() {
        note("solve", number, levels.len());
        let [on_cpu, on_gpu] = &mut solvers;
        let start = Instant::now();
        on_cpu.solve_some(ids, true, &|_, _| ()).map_err(text)?;
        cpu.seconds += start.elapsed().as_secs_f64();
        let positions = ids.iter().filter_map(|&id| on_cpu.class_stats(id)).map(|stats| stats.positions()).sum::<u64>();
        cpu.positions += positions;
        if let (Some(device), Some(speed)) = (&mut opened, &mut gpu) {
            let start = Instant::now();
            match device.solve_into(on_gpu, ids).await {
                Ok(()) => {
                    speed.seconds += start.elapsed().as_secs_f64();
                    speed.positions += positions;
                    compared += positions;
                    let first = ids.iter().find_map(|&id| first_difference(on_cpu, on_gpu, id));
                    difference = difference.or(first.map(Different::new));
                }
                // The CPU goes on alone.
                Err(error @ SolveError::Backend { .. }) => (opened, no_gpu) = (None, Some(error.to_string())),
                Err(error) => return Err(text(error)),
            }
        }
        if !keep {
            solvers.iter_mut().for_each(|solver| ids.iter().for_each(|&id| drop(solver.forget(id))));
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    Ok(Report { version, rules: rules.to_string(), pieces, cpu, gpu, no_gpu, compared, difference })
}

/// Opens the GPU and measures its perft.
async fn open(rules: &Rules) -> Result<(Gpu, Speed), GpuError> {
    let gpu = Gpu::open_async(AdapterChoice::Any, GpuLimits::NONE).await?;
    let counter = GpuPerft::open_async(AdapterChoice::Any, rules, PERFT_BUFFER, false).await?;
    let counted = perft(async |start, plies| counter.count_async(start, plies).await).await?;
    let adapter = gpu.adapter();
    let speed = Speed::new(Some(adapter.name.clone()), adapter.is_software(), counted);
    Ok((gpu, speed))
}

/// Counts lines from the start with more and more plies.
async fn perft<E>(count: impl AsyncFn(&Position, u32) -> Result<u64, E>) -> Result<Count, E> {
    let position = Position::start();
    let mut plies = 4;
    loop {
        let start = Instant::now();
        let nodes = count(&position, plies).await?;
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= PERFT_SECONDS || plies == PERFT_PLIES {
            return Ok(Count { plies, nodes, seconds });
        }
        plies += 1;
    }
}

fn text(error: impl Display) -> String {
    error.to_string()
}

impl Speed {
    fn new(name: Option<String>, software: bool, bulk: Count) -> Speed {
        Speed { name, software, bulk, merged: None, positions: 0, seconds: 0.0 }
    }
}

impl Different {
    fn new(Difference { material, fen, first, second }: Difference) -> Different {
        Different { material: material.to_string(), fen, cpu: first, gpu: second }
    }
}
