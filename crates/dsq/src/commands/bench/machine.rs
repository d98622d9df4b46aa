use crate::arguments::BackendArg;
use crate::gpu;
use crate::provenance::{COMMIT, VERSION, machine, now};
use clap::Args;
use cli::arguments::{JsonArg, ThreadsArg};
use cli::failure::{Failure, Outcome};
use cli::output::{make_dir, print, print_json, write_file};
use doushouqi::board::{Position, RuleOptions, Rules};
use doushouqi::perft::{Perft, PerftMethod, PerftMode};
use doushouqi::search::{EngineOptions, bench};
use doushouqi::tablebase::{Material, SolveError, Solver};
use report::figures::{Record, Speed};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Measure this machine: perft, solving and searching.
///
/// The line `bulk` of perft is the speed of move generation; `merged` expands equal positions once.
/// The run takes about half a minute on two cores, and a few seconds with `--quick`. Run no other programs at the same
/// time.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq bench machine\n  dsq bench machine --quick --json\n  \
                        dsq bench machine --out results     also write a dated record, for `dsq bench report`")]
pub struct MachineCommand {
    /// Measure smaller tasks, which takes a few seconds and is less exact.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    backend: BackendArg,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Write the record to benchmark-DATE-CPU-INSTRUCTIONS.json in this directory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    json: JsonArg,
}

/// The endgames to solve, with all endgames that they depend on.
#[derive(Copy, Clone)]
enum Endgames {
    /// All materials of up to N pieces.
    Pieces(usize),
    /// One material, and the materials that its captures lead to.
    One(Material),
}

impl MachineCommand {
    pub fn run(self) -> Outcome {
        if let Some(dir) = &self.out {
            make_dir(dir)?;
        }
        let gpu = self.backend.gpu_name()?;
        let record = Record {
            date: now(),
            version: VERSION.to_owned(),
            commit: COMMIT.to_owned(),
            speeds: self.measure(gpu.is_some())?,
            machine: machine(gpu),
            quick: self.quick,
        };
        if let Some(dir) = &self.out {
            let json = serde_json::to_string_pretty(&record).expect("a record is JSON") + "\n";
            write_file(&dir.join(record.file_name()), &json)?;
        }
        if self.json.on {
            return print_json(&record);
        }
        print(format_args!("{}\n\n{}", record.heading(), record.table().aligned().trim_end()))
    }

    fn measure(&self, gpu: bool) -> Result<Vec<Speed>, Failure> {
        let most = self.threads.count();
        let counts: Vec<usize> =
            std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|&n| n < most).chain([most]).collect();
        let mut speeds = Vec::new();
        for &threads in &counts {
            for method in [PerftMethod::Bulk, PerftMethod::Merged] {
                speeds.push(ThreadsArg::of(threads).run(|| self.perft(method))?);
            }
        }
        if gpu {
            speeds.extend(self.gpu_perft()?);
        }
        let mut endgames = vec![Endgames::Pieces(3)];
        if !self.quick {
            endgames.extend([Endgames::Pieces(4), Endgames::One("EPvPDR".parse().expect("this is a material"))]);
        }
        for backend in [self.backend.on_cpu(), self.backend.clone()].into_iter().take(1 + usize::from(gpu)) {
            for &what in &endgames {
                speeds.push(self.threads.run(|| solve(what, &backend))??);
            }
        }
        speeds.extend(counts.into_iter().map(|threads| self.search(threads)));
        Ok(speeds)
    }

    fn perft(&self, method: PerftMethod) -> Speed {
        let rules = Rules::default();
        let perft = Perft::new(&rules, PerftMode::Expand).with_method(method);
        self.fastest(method, |start, depth| Ok(perft.count(start, depth))).expect("the CPU counts")
    }

    /// Perft on the GPU, if there is one.
    fn gpu_perft(&self) -> Result<Option<Speed>, Failure> {
        let rules = Rules::default();
        let Some(counter) = gpu::counter(self.backend.wanted(), self.backend.device(), &rules)? else {
            return Ok(None);
        };
        let speed = self.fastest(PerftMethod::Bulk, |start, depth| counter.count(start, depth))?;
        Ok(Some(Speed { backend: "gpu".to_owned(), ..speed }))
    }

    /// The fastest of three counts from the start.
    fn fastest(
        &self,
        method: PerftMethod,
        count: impl Fn(&Position, u32) -> Result<u64, Failure>,
    ) -> Result<Speed, Failure> {
        let depth = 6 + u32::from(method == PerftMethod::Merged) + u32::from(!self.quick);
        let (mut nodes, mut seconds) = (0, f64::INFINITY);
        for _ in 0..3 {
            let begin = Instant::now();
            nodes = count(&Position::start(), depth)?;
            seconds = begin.elapsed().as_secs_f64().min(seconds);
        }
        let task = format!("perft {depth}, {}", method.name());
        Ok(speed(task, rayon::current_num_threads(), nodes, "nodes", seconds))
    }

    /// Searches the positions of `dsq bench`.
    fn search(&self, threads: usize) -> Speed {
        let options = EngineOptions::default().threads(threads);
        let depth = if self.quick { bench::DEPTH - 4 } else { bench::DEPTH };
        let found = bench::bench(depth, &options, &Rules::default());
        speed(format!("search to depth {depth}"), threads, found.nodes, "nodes", found.seconds)
    }
}

fn speed(task: String, threads: usize, count: u64, unit: &str, seconds: f64) -> Speed {
    Speed { task, backend: "cpu".to_owned(), threads, pieces: None, count, unit: unit.to_owned(), seconds }
}

/// Solves endgames on the current rayon pool; the time does not include creating the solver.
fn solve(what: Endgames, backend: &BackendArg) -> Result<Speed, Failure> {
    let (task, pieces, runs) = match what {
        Endgames::Pieces(pieces) => (format!("solving {pieces} pieces"), pieces, if pieces <= 3 { 5 } else { 1 }),
        Endgames::One(material) => (format!("solving {material}"), material.len(), 1),
    };
    let mut best: Option<(u64, f64)> = None;
    let mut on_gpu = false;
    for _ in 0..runs {
        let mut solver = backend.solver(&RuleOptions::PAPER, pieces)?;
        on_gpu = solver.backend().work().is_some();
        let positions = AtomicU64::new(0);
        let start = Instant::now();
        solve_with(&mut solver, what, &|n| _ = positions.fetch_add(n, Ordering::Relaxed))?;
        let seconds = start.elapsed().as_secs_f64();
        if best.is_none_or(|best| seconds < best.1) {
            best = Some((positions.into_inner(), seconds));
        }
    }
    let (positions, seconds) = best.expect("it was solved");
    let speed = speed(task, rayon::current_num_threads(), positions, "positions", seconds);
    let backend = if on_gpu { "gpu" } else { "cpu" }.to_owned();
    Ok(Speed { backend, pieces: Some(pieces), ..speed })
}

fn solve_with(solver: &mut Solver, what: Endgames, solved: &(dyn Fn(u64) + Sync)) -> Result<(), SolveError> {
    match what {
        Endgames::Pieces(pieces) => {
            (2..=pieces).try_for_each(|level| solver.solve_level(level, level < pieces, &|_, n| solved(n)))
        }
        Endgames::One(material) => {
            let too_many = || SolveError::TooManyPieces { material, pieces: material.len() };
            let class = solver.classes().member(material).ok_or_else(too_many)?.class;
            solver.count_class(class, &|_, n| solved(n))
        }
    }
}
