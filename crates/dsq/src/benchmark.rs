//! How fast this machine is at what the program does: perft, solving, probing, searching.

use doushouqi::board::{Position, RuleOptions, Rules};
use doushouqi::cpu::{CpuLevel, processor_name};
use doushouqi::perft::{Perft, PerftMode};
use doushouqi::search::{EngineOptions, Limits, bench};
use doushouqi::tablebase::{Generate, Material, Options, SetError, SolveError, Solver, TableSet, WdlTables};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// What was measured, and on what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// What was measured.
    pub machine: Machine,
    /// Whether the sizes of `--quick` were used.
    pub quick: bool,
    /// Counting, by number of threads.
    pub perft: Vec<PerftSpeed>,
    /// Solving endgames.
    pub retrograde: Vec<RetrogradeSpeed>,
    /// Looking positions up.
    pub probe: Vec<ProbeTime>,
    /// Searching, by number of threads.
    pub search: Vec<SearchSpeed>,
}

/// What runs the program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The name of the processor.
    pub processor: String,
    /// Processors that the program may use.
    pub cores: usize,
    /// The level of instructions in use, a [`CpuLevel::name`].
    pub instructions: String,
    /// The graphics card that was measured, if any.
    pub gpu: Option<String>,
    /// Operating system and architecture.
    pub system: String,
    /// The compiler that made the program.
    pub compiler: String,
}

/// Plain perft from the start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PerftSpeed {
    /// Number of threads.
    pub threads: usize,
    /// Plies.
    pub depth: u32,
    /// Lines counted.
    pub nodes: u64,
    /// The least time of three.
    pub seconds: f64,
    /// Nodes by seconds.
    pub nodes_per_second: f64,
}

/// Solving endgames, each from nothing: all that captures lead to is solved too and counted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RetrogradeSpeed {
    /// `cpu` or `gpu`.
    pub backend: String,
    /// Number of threads.
    pub threads: usize,
    /// `3 pieces`, or a material.
    pub what: String,
    /// The most pieces.
    pub pieces: usize,
    /// Positions solved, both sides to move, one material a class.
    pub positions: u64,
    /// The least time.
    pub seconds: f64,
    /// Positions by seconds.
    pub positions_per_second: f64,
}

/// Looking up random positions on one thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProbeTime {
    /// What is looked up, and where.
    pub what: String,
    /// Pieces of each position.
    pub pieces: usize,
    /// Number of probes.
    pub probes: u64,
    /// Mean time of a probe.
    pub nanoseconds: f64,
}

/// Searching positions of all kinds, a fixed number of nodes each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchSpeed {
    /// Number of threads.
    pub threads: usize,
    /// Nodes of all positions together.
    pub nodes: u64,
    /// Time of all positions together.
    pub seconds: f64,
    /// Nodes by seconds.
    pub nodes_per_second: f64,
}

impl Machine {
    /// This machine.
    #[must_use]
    pub fn this(gpu: Option<String>) -> Machine {
        Machine {
            processor: processor_name(),
            cores: cores(),
            instructions: CpuLevel::get().name().to_owned(),
            gpu,
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            compiler: env!("DSQ_RUSTC").to_owned(),
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// 1, 2, 4 and so on, and `most` itself.
#[must_use]
pub fn thread_counts(most: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|&n| n < most).collect();
    counts.push(most.max(1));
    counts
}

/// The least of N times, in seconds, and what came out.
fn best_of<T>(times: usize, mut f: impl FnMut() -> T) -> (T, f64) {
    let mut once = || {
        let start = Instant::now();
        let result = f();
        (result, start.elapsed().as_secs_f64())
    };
    let first = once();
    (1..times).fold(first, |best, _| {
        let next = once();
        if next.1 < best.1 { next } else { best }
    })
}

/// Counts on the current rayon pool.
#[must_use]
pub fn perft(quick: bool) -> PerftSpeed {
    let (rules, start) = (Rules::default(), Position::start());
    let depth = if quick { 6 } else { 7 };
    let (nodes, seconds) = best_of(3, || Perft::new(&rules, PerftMode::Expand).count(&start, depth));
    let threads = rayon::current_num_threads();
    PerftSpeed { threads, depth, nodes, seconds, nodes_per_second: nodes as f64 / seconds }
}

/// What [`retrograde`] solves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Endgames {
    /// All materials of up to N pieces.
    Pieces(usize),
    /// One material and what it leads to.
    One(Material),
}

impl Endgames {
    /// What is solved for a benchmark: little for a quick one.
    #[must_use]
    pub fn all(quick: bool) -> Vec<Endgames> {
        let five = || "EPvPDR".parse().map(Endgames::One);
        let mut all = vec![Endgames::Pieces(3)];
        if !quick {
            all.push(Endgames::Pieces(4));
            all.extend(five());
        }
        all
    }

    /// The most pieces.
    #[must_use]
    pub fn pieces(self) -> usize {
        match self {
            Endgames::Pieces(pieces) => pieces,
            Endgames::One(material) => material.len(),
        }
    }
}

/// Solves on the current rayon pool with what `solver` makes; making it is not timed.
///
/// # Errors
/// If `solver` fails, the endgame has too many pieces for it, or there is not enough memory.
pub fn retrograde<E: From<SolveError>>(
    what: Endgames,
    backend: &str,
    mut solver: impl FnMut() -> Result<Solver, E>,
) -> Result<RetrogradeSpeed, E> {
    let mut best: Option<RetrogradeSpeed> = None;
    for _ in 0..if what.pieces() <= 3 { 5 } else { 1 } {
        let mut solver = solver()?;
        let positions = AtomicU64::new(0);
        let start = Instant::now();
        match what {
            Endgames::Pieces(pieces) => {
                for level in 2..=pieces {
                    solver.solve_level(level, level < pieces, &|_, n| _ = positions.fetch_add(n, Relaxed))?;
                }
            }
            Endgames::One(material) => {
                let too_many = || SolveError::TooManyPieces { material, pieces: material.len() };
                let class = solver.classes().member(material).ok_or_else(too_many)?.class;
                solver.count_class(class, &|_, n| _ = positions.fetch_add(n, Relaxed))?;
            }
        }
        let (seconds, positions) = (start.elapsed().as_secs_f64(), positions.into_inner());
        if best.as_ref().is_none_or(|best| seconds < best.seconds) {
            best = Some(RetrogradeSpeed {
                backend: backend.to_owned(),
                threads: rayon::current_num_threads(),
                what: match what {
                    Endgames::Pieces(pieces) => format!("{pieces} pieces"),
                    Endgames::One(material) => material.to_string(),
                },
                pieces: what.pieces(),
                positions,
                seconds,
                positions_per_second: positions as f64 / seconds,
            });
        }
    }
    Ok(best.expect("it was solved at least once"))
}

/// Makes tables in an empty directory and looks positions up, in memory and in the files.
///
/// # Errors
/// If there is not enough memory, or the directory cannot be written.
pub fn probe(quick: bool, dir: &Path) -> Result<Vec<ProbeTime>, SetError> {
    let pieces = if quick { 3 } else { 4 };
    let positions = doushouqi::tablebase::bench_support::random_positions(pieces, 1 << 14);
    let wdl = WdlTables::solve(&RuleOptions::PAPER, pieces)?;
    let mut times = Vec::new();
    let mut time = |what: &str, probes: usize, f: &mut dyn FnMut(usize) -> Result<(), SetError>| {
        let start = Instant::now();
        (0..probes).try_for_each(f)?;
        let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / probes as f64;
        times.push(ProbeTime { what: what.to_owned(), pieces, probes: probes as u64, nanoseconds });
        Ok::<(), SetError>(())
    };
    let n = positions.len();
    time("win, draw or loss in memory", 20 * n, &mut |i| {
        black_box(wdl.probe(&positions[i % n]));
        Ok(())
    })?;
    drop(wdl);
    let job = Generate { pieces, ..Generate::new(dir, RuleOptions::PAPER) };
    job.run(&mut Solver::new(&job.rules, pieces, Options::default()), &|_| ())?;
    let tables = TableSet::open(dir)?.prober(&job.rules)?;
    let mut look = |i: usize| tables.cell_value(&positions[i]).map(|value| _ = black_box(value));
    time("distance, random positions", n, &mut look)?;
    time("distance, one position again and again", 20 * n, &mut |_| look(0))?;
    Ok(times)
}

/// Searches the positions of [`bench::POSITIONS`] with one engine of N threads.
#[must_use]
pub fn search(quick: bool, threads: usize) -> SearchSpeed {
    let options = EngineOptions { threads, ..EngineOptions::default() };
    let limits = Limits { nodes: Some(if quick { 100_000 } else { 1_000_000 }), ..Limits::default() };
    let (nodes, seconds) = bench::search_all(&limits, &options, &Rules::default());
    SearchSpeed { threads, nodes, seconds, nodes_per_second: nodes as f64 / seconds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_counts_end_with_the_most() {
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(2), [1, 2]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6]);
        assert_eq!(thread_counts(8), [1, 2, 4, 8]);
    }

    #[test]
    fn the_best_time_comes_with_its_result() {
        let mut n = 0;
        let ((), seconds) = best_of(3, || {
            n += 1;
            std::thread::sleep(std::time::Duration::from_millis(if n == 2 { 1 } else { 30 }));
        });
        assert_eq!(n, 3);
        assert!(seconds < 0.03);
    }
}
