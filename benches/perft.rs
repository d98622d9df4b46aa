//! Perft 5 from the initial position by each method, in lines per second.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use doushouqi::board::{Position, Rules};
use doushouqi::cpu::CpuLevel;
use doushouqi::perft::{Perft, PerftMethod, PerftMode};
use std::time::Duration;

const DEPTH: u32 = 5;

fn perft(c: &mut Criterion) {
    let (rules, start) = (Rules::default(), Position::start());
    let expand = PerftMethod::ALL.map(|method| (format!("perft 5 {}", method.name()), PerftMode::Expand, method));
    let leaf = ("perft 5 leaf".to_owned(), PerftMode::Leaf, PerftMethod::TwoPlies);
    for (name, mode, method) in expand.into_iter().chain([leaf]) {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(Perft::new(&rules, mode).count(&start, DEPTH)));
        for level in CpuLevel::available() {
            group.bench_function(BenchmarkId::from_parameter(level.name()), |b| {
                b.iter(|| Perft::new(&rules, mode).with_method(method).with_level(level).count(&start, DEPTH));
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
