//! Searching, in nodes per second: positions of all kinds to a fixed depth, as `dsq bench` does.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use doushouqi::board::Rules;
use doushouqi::search::EngineOptions;
use doushouqi::search::bench::bench;
use std::time::Duration;

const DEPTH: u32 = 8;

fn search(c: &mut Criterion) {
    let rules = Rules::default();
    let mut group = c.benchmark_group("search to depth 8");
    let engines = [("default", EngineOptions::default()), ("burnett, alpha-beta", EngineOptions::burnett_alphabeta())];
    for (name, options) in engines {
        group.throughput(Throughput::Elements(bench(DEPTH, &options, &rules).nodes));
        group.bench_function(BenchmarkId::from_parameter(name), |b| b.iter(|| bench(DEPTH, &options, &rules)));
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

criterion_group! { name = benches; config = short(); targets = search }
criterion_main!(benches);
