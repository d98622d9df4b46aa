//! Solving endgames, in positions per second with both sides to move; its parts; writing and reading tables.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use doushouqi::board::{Color, RuleOptions};
use doushouqi::cpu::CpuLevel;
use doushouqi::tablebase::bench_support::Pass;
use doushouqi::tablebase::{ClassId, Generate, Material, Options, Solver, TableSet};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A solver that has solved all classes of up to `solved` pieces.
fn solver(pieces: usize, solved: usize, level: CpuLevel) -> Solver {
    let mut solver = Solver::new(&RuleOptions::PAPER, pieces, Options { level, ..Options::default() });
    for n in 2..=solved {
        solver.solve_level(n, true, &|_, _| ()).unwrap();
    }
    solver
}

/// Solves all three-piece classes and returns the number of positions solved, for one material per class.
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

/// A solver for EPvLR that has solved all smaller materials, and the class of EPvLR.
fn eplr(level: CpuLevel) -> (Solver, ClassId) {
    let solver = solver(4, 3, level);
    let class = solver.classes().member("EPvLR".parse().unwrap()).unwrap().class;
    (solver, class)
}

/// Words of 64 positions per second: quiet moves into a plane of random bits, and captures and den entries.
fn parts(c: &mut Criterion) {
    let pass = Pass::new("EPvLR".parse().unwrap(), Color::White, &RuleOptions::PAPER);
    let mut group = c.benchmark_group("words of EPvLR");
    group.throughput(Throughput::Elements(pass.words()));
    for level in CpuLevel::available() {
        group.bench_function(BenchmarkId::new("quiet moves of one side", level.name()), |b| {
            b.iter(|| black_box(pass.run(level)));
        });
    }
    group.throughput(Throughput::Elements(2 * pass.words()));
    for level in CpuLevel::available() {
        let (solver, class) = eplr(level);
        group.bench_function(BenchmarkId::new("conversions of both sides", level.name()), |b| {
            b.iter(|| solver.find_conversions(class).unwrap());
        });
    }
    group.finish();
}

/// Writing and reading a class, in bytes of values, one byte per position.
fn codec(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let (mut solver, class) = eplr(CpuLevel::best());
    solver.solve_class(class, &|_, _| ()).unwrap();
    let table = solver.table(class).unwrap();
    let mut group = c.benchmark_group("file of EPvLR");
    group.throughput(Throughput::Bytes((table.cells.white.len() + table.cells.black.len()) as u64));
    group.bench_function("write", |b| b.iter(|| solver.write(class, dir.path()).unwrap()));
    let tables = dir.path().join("tables");
    let job = Generate { material: Some("EPvLR".parse().unwrap()), ..Generate::new(&tables, RuleOptions::PAPER) };
    job.run(&mut Solver::new(&job.rules, job.most_pieces(), Options::default()), &|_| ()).unwrap();
    let tables = TableSet::open(&tables).unwrap().prober(&job.rules).unwrap();
    let material = "EPvLR".parse().unwrap();
    group.bench_function("read", |b| b.iter(|| black_box(tables.load(material).unwrap())));
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

criterion_group! { name = benches; config = short(); targets = retrograde, parts, codec }
criterion_main!(benches);
