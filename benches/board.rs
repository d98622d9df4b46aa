//! Generating moves, making moves, and keys, over positions of random games.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use doushouqi::board::{Move, Position, Rules};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::hint::black_box;
use std::time::Duration;

fn random_positions(rules: &Rules) -> Vec<Position> {
    let mut random = Pcg64::seed_from_u64(2013);
    let mut positions = vec![Position::start()];
    while positions.len() < 256 {
        let position = positions.last().unwrap();
        let moves = position.moves(rules);
        let next = if moves.is_empty() {
            Position::start()
        } else {
            position.make(moves[random.next_u64() as usize % moves.len()])
        };
        positions.push(next);
    }
    positions
}

fn board(c: &mut Criterion) {
    let rules = Rules::default();
    let positions = random_positions(&rules);
    let moves: Vec<(&Position, Move)> =
        positions.iter().flat_map(|p| p.moves(&rules).into_iter().map(move |mv| (p, mv))).collect();

    let mut group = c.benchmark_group("board");
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("moves, by position", |b| {
        b.iter(|| positions.iter().map(|p| black_box(p).moves(&rules).len()).sum::<usize>());
    });
    group.bench_function("count_moves, by position", |b| {
        b.iter(|| positions.iter().map(|p| black_box(p).count_moves(&rules)).sum::<u32>());
    });
    group.bench_function("compute_key, by position", |b| {
        b.iter(|| positions.iter().fold(0, |key, p| key ^ black_box(p).compute_key()));
    });
    group.throughput(Throughput::Elements(moves.len() as u64));
    group.bench_function("make with its key, by move", |b| {
        b.iter(|| moves.iter().fold(0, |key, (p, mv)| key ^ p.make(black_box(*mv)).key()));
    });
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

criterion_group! { name = benches; config = short(); targets = board }
criterion_main!(benches);
