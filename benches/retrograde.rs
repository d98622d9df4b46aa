//! Solving endgames, in positions a second, both sides to move counted.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use doushouqi::board::RuleOptions;
use doushouqi::cpu::CpuLevel;
use doushouqi::tablebase::{ClassId, Material, Options, SolveError, Solver};
use std::sync::Mutex;
use std::time::Duration;

/// A solver that knows all of up to `solved` pieces.
fn solver(pieces: usize, solved: usize, level: CpuLevel) -> Solver {
    let mut solver = Solver::new(&RuleOptions::PAPER, pieces, Options { level });
    for n in 2..=solved {
        solver.solve_level(n, true, &|_| ()).unwrap();
    }
    solver
}

/// Solves these classes by `work` and returns the number of positions in them.
fn solve(solver: &mut Solver, work: impl Fn(&mut Solver, &(dyn Fn(ClassId) + Sync)) -> Result<(), SolveError>) -> u64 {
    let done = Mutex::new(Vec::new());
    work(solver, &|id| done.lock().unwrap().push(id)).unwrap();
    let positions = |id: &ClassId| {
        let stats = solver.class_stats(*id).unwrap();
        stats.white.summary().positions + stats.black.summary().positions
    };
    done.into_inner().unwrap().iter().map(positions).sum()
}

/// Solves all three-piece materials, one for each class.
fn three(solver: &mut Solver) -> u64 {
    solve(solver, |solver, done| solver.solve_level(3, false, done))
}

/// Solves EPvLR, whose smaller materials are solved already.
fn four(solver: &mut Solver) -> u64 {
    let material: Material = "EPvLR".parse().unwrap();
    let class = solver.classes().member(material).unwrap().class;
    solve(solver, |solver, done| solver.solve_class(class, done))
}

fn retrograde(c: &mut Criterion) {
    type Work = fn(&mut Solver) -> u64;
    let works: [(&str, usize, Work); 2] = [("all of three pieces", 3, three), ("EPvLR", 4, four)];
    for (name, pieces, work) in works {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(work(&mut solver(pieces, pieces - 1, CpuLevel::best()))));
        for level in CpuLevel::available() {
            group.bench_function(BenchmarkId::from_parameter(level.name()), |b| {
                let prepare = || solver(pieces, pieces - 1, level);
                let run = |mut solver: Solver| {
                    work(&mut solver);
                    solver
                };
                b.iter_batched(prepare, run, BatchSize::PerIteration);
            });
        }
        group.finish();
    }
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

criterion_group! { name = benches; config = short(); targets = retrograde }
criterion_main!(benches);
