//! Perft 5 from the initial position, in lines per second.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use doushouqi::board::{Position, Rules};
use doushouqi::cpu::CpuLevel;
use doushouqi::perft::{Perft, PerftMode};
use std::time::Duration;

const DEPTH: u32 = 5;

fn perft(c: &mut Criterion) {
    let (rules, start) = (Rules::default(), Position::start());
    for (name, mode) in [("perft 5 expand", PerftMode::Expand), ("perft 5 leaf", PerftMode::Leaf)] {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(Perft::new(&rules, mode).count(&start, DEPTH)));
        for level in CpuLevel::available() {
            group.bench_function(BenchmarkId::from_parameter(level.name()), |b| {
                b.iter(|| Perft::new(&rules, mode).with_level(level).count(&start, DEPTH));
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

criterion_group! { name = benches; config = short(); targets = perft }
criterion_main!(benches);
