//! Probing: win, draw or loss in memory; results and exact distances from files, cold and from the cache of blocks.
//! `DSQ_TABLES` names a directory of tables; without it only the benchmark in memory runs. Repacked tables store one
//! side to move of each class, so positions of the stored side are also measured alone.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use doushouqi::board::{Position, RuleOptions};
use doushouqi::tablebase::bench_support::random_positions;
use doushouqi::tablebase::{Addresser, ProbeWdl, TableSet, WdlTables};
use std::hint::black_box;
use std::path::Path;

fn probe(c: &mut Criterion) {
    let mut group = c.benchmark_group("probe");
    group.throughput(Throughput::Elements(1));
    let wdl = WdlTables::solve(&RuleOptions::PAPER, 4).unwrap();
    let positions = random_positions(4, 1 << 16);
    let mut next = positions.iter().cycle();
    group.bench_function("wdl in memory", |b| b.iter(|| wdl.probe(black_box(next.next().unwrap()))));
    if let Some(dir) = std::env::var_os("DSQ_TABLES") {
        files(&mut group, dir.as_ref());
    }
    group.finish();
}

fn files(group: &mut BenchmarkGroup<'_, WallTime>, dir: &Path) {
    let open = || TableSet::open(dir).unwrap();
    let set = open();
    let pieces = set.manifest().classes.iter().map(|class| class.class.len() - 1).max().unwrap();
    let all = random_positions(pieces, 1 << 16);
    let addresser = Addresser::new(set.classes());
    let is_stored = |position: &Position| {
        let address = addresser.locate(position).unwrap();
        set.file(address.class).unwrap().description().sides.colors().contains(&address.turn)
    };
    let stored: Vec<Position> = all.iter().filter(|position| is_stored(position)).cloned().collect();
    let of = [("either side", &all), ("the stored side", &stored)];
    let mut compare = |name: &str, probe: &dyn Fn(&Position)| {
        for (side, positions) in of {
            for (state, positions) in [("block to decode", &positions[..]), ("block in the cache", &positions[..40])] {
                let mut next = positions.iter().cycle();
                let one = |b: &mut criterion::Bencher<'_>| b.iter(|| probe(black_box(next.next().unwrap())));
                group.bench_function(format!("{name}, {side}, {state}"), one);
            }
        }
    };
    let wdl = open().wdl_prober(&RuleOptions::PAPER).unwrap();
    compare("wdl", &|position| _ = black_box(wdl.wdl(position).unwrap()));
    // Tables of results alone have no distances.
    if let Ok(dtw) = open().prober(&RuleOptions::PAPER) {
        compare("dtw", &|position| _ = black_box(dtw.cell_value(position).unwrap()));
    }
}

criterion_group!(benches, probe);
criterion_main!(benches);
