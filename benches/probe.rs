//! Probing: win, draw or loss in memory; exact distances from files, cold and from the cache of blocks. Needs a directory
//! of four-piece tables, named by `DSQ_TABLES`; without it only what needs no files runs.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use doushouqi::board::{Color, Piece, Position, RuleOptions, Rules, Setup, Square};
use doushouqi::tablebase::{Material, TableSet, WdlTables};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::hint::black_box;

/// Random positions of four pieces that are not over.
fn positions(count: usize) -> Vec<Position> {
    let mut random = Pcg64::seed_from_u64(1);
    let materials = Material::all(4);
    let rules = Rules::default();
    let mut positions = Vec::new();
    while positions.len() < count {
        let material = materials[(random.next_u64() % materials.len() as u64) as usize];
        let turn = if random.next_u64() & 1 == 0 { Color::White } else { Color::Black };
        let mut setup = Setup::empty(turn);
        for (color, animal) in material.pieces() {
            let square = Square::new((random.next_u64() % 63) as usize).unwrap();
            setup.squares[square.index()] = Some(Piece { color, animal });
        }
        if let Ok(position) = Position::from_setup(&setup)
            && Material::of(&position) == Some(material)
            && position.outcome(&rules).is_none()
        {
            positions.push(position);
        }
    }
    positions
}

fn probe(c: &mut Criterion) {
    let positions = positions(1 << 16);
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
        let set = TableSet::open(dir.as_ref()).unwrap();
        group.bench_function("dtw, block to decode", |b| b.iter(|| set.probe(black_box(position())).unwrap()));
        let one = &positions[0];
        group.bench_function("dtw, block in the cache", |b| b.iter(|| set.probe(black_box(one)).unwrap()));
    }
    group.finish();
}

criterion_group!(benches, probe);
criterion_main!(benches);
