//! Moves of random positions against the slow twin.

use super::{compare, perft, random_position};
use crate::slow;
use doushouqi::board::{Move, Position, RuleOptions, Rules};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// A random legal move, or `None`.
fn random_move(position: &Position, rules: &Rules, random: &mut Pcg64) -> Option<Move> {
    let moves = position.moves(rules);
    if moves.is_empty() { None } else { Some(moves[random.next_u64() as usize % moves.len()]) }
}

#[test]
fn perft_from_the_start() {
    for (depth, leaves) in [(0, 1), (1, 24), (2, 576), (3, 12_240), (4, 260_100)] {
        assert_eq!(perft(&Position::start(), &Rules::default(), depth), leaves, "depth {depth}");
    }
}

#[test]
fn moves_in_playouts_as_the_slow_twin_says() {
    const SEED: u64 = 20_130_614;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    for options in slow::presets_and_single_values() {
        let rules = Rules::new(options);
        for _ in 0..20 {
            let mut position = Position::start();
            for _ in 0..300 {
                compare(&position, &rules);
                let Some(mv) = random_move(&position, &rules, &mut random) else { break };
                position = position.make(mv);
            }
        }
    }
}

#[test]
fn moves_of_random_positions_as_the_slow_twin_says() {
    const SEED: u64 = 20_140_828;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    let mut count = |rules: &Rules, positions: usize| {
        for _ in 0..positions {
            let mut position = random_position(&mut random);
            compare(&position, rules);
            compare(&position.pass(), rules);
            for _ in 0..4 {
                let Some(mv) = random_move(&position, rules, &mut random) else { break };
                position = position.make(mv);
                compare(&position, rules);
            }
        }
    };
    for options in slow::presets_and_single_values() {
        count(&Rules::new(options), 1_000);
    }
    for options in RuleOptions::all() {
        count(&Rules::new(options), 30);
    }
}

#[test]
fn perft_of_random_positions_as_the_slow_twin_says() {
    const SEED: u64 = 19_040_513;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    for options in slow::presets_and_single_values() {
        let rules = Rules::new(options);
        for _ in 0..12 {
            let position = random_position(&mut random);
            let board = slow::board_of(&position);
            for depth in 0..=3 {
                assert_eq!(
                    perft(&position, &rules, depth),
                    slow::perft(&board, position.turn(), &options, depth),
                    "{position:?} under {options}, depth {depth}"
                );
            }
        }
    }
}
