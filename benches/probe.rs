//! Probing: win, draw or loss in memory; exact distances from files, cold and from the cache of blocks. `DSQ_TABLES`
//! names a directory of four-piece tables; without it only the benchmark in memory runs.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::bench_support::random_positions;
use doushouqi::tablebase::{TableSet, WdlTables};
use std::hint::black_box;

fn probe(c: &mut Criterion) {
    let positions = random_positions(4, 1 << 16);
    let mut next = 0;
    let mut position = || {
        next = (next + 1) % positions.len();
        &positions[next]
    };
    let mut group = c.benchmark_group("probe");
    group.throughput(Throughput::Elements(1));
    let wdl = WdlTables::solve(&RuleOptions::PAPER, 4).unwrap();
    group.bench_function("wdl in memory", |b| b.iter(|| wdl.probe(black_box(position()))));
    if let Some(dir) = std::env::var_os("DSQ_TABLES") {
        let tables = TableSet::open(dir.as_ref()).unwrap().prober(&RuleOptions::PAPER).unwrap();
        group.bench_function("dtw, block to decode", |b| b.iter(|| tables.cell_value(black_box(position())).unwrap()));
        let one = &positions[0];
        group.bench_function("dtw, block in the cache", |b| b.iter(|| tables.cell_value(black_box(one)).unwrap()));
    }
    group.finish();
}

criterion_group!(benches, probe);
criterion_main!(benches);
