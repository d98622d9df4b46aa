//! Solving endgames, in positions a second, both sides to move counted.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use doushouqi::board::RuleOptions;
use doushouqi::cpu::CpuLevel;
use doushouqi::tablebase::{Material, Options, Solver};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A solver that knows all of up to `solved` pieces.
fn solver(pieces: usize, solved: usize, level: CpuLevel) -> Solver {
    let mut solver = Solver::new(&RuleOptions::PAPER, pieces, Options { level, ..Options::default() });
    for n in 2..=solved {
        solver.solve_level(n, true, &|_, _| ()).unwrap();
    }
    solver
}

/// Solves all three-piece materials and returns the number of positions that were solved for them, one material a class.
fn three(solver: &mut Solver) -> u64 {
    let positions = AtomicU64::new(0);
    solver.solve_level(3, false, &|_, n| _ = positions.fetch_add(n, Relaxed)).unwrap();
    positions.into_inner()
}

/// Solves EPvLR, whose smaller materials are solved already.
fn four(solver: &mut Solver) -> u64 {
    let material: Material = "EPvLR".parse().unwrap();
    let class = solver.classes().member(material).unwrap().class;
    let positions = AtomicU64::new(0);
    solver.solve_class(class, &|_, n| _ = positions.fetch_add(n, Relaxed)).unwrap();
    positions.into_inner()
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
