//! The fuzzing targets on stable Rust: the corpus, and seeded changes of it. `fuzz/` runs the same targets by coverage.
//!
//! `DSQ_FUZZ="http gtp" DSQ_FUZZ_TIMES=100 DSQ_FUZZ_SEED=7 ./test fuzz::` tries a hundred times as many inputs of these
//! targets, with other changes.

#[path = "../../../../fuzz/targets.rs"]
mod targets;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The number in an environment variable.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")))
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let mut paths: Vec<PathBuf> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// A new input: an input with bytes changed, inserted, removed, or copied from another.
fn changed(random: &mut Pcg64, inputs: &[Vec<u8>]) -> Vec<u8> {
    let mut pick = |n: usize| random.next_u64() as usize % n.max(1);
    let mut bytes = inputs[pick(inputs.len())].clone();
    for _ in 0..1 + pick(4) {
        let at = pick(bytes.len() + 1);
        match pick(5) {
            0 if at < bytes.len() => bytes[at] = pick(256) as u8,
            1 => bytes.insert(at, b" \n/0919avEeRr-=,"[pick(16)]),
            2 => {
                let end = (at + 1 + pick(4)).min(bytes.len());
                bytes.drain(at.min(end)..end);
            }
            3 => {
                let other = &inputs[pick(inputs.len())];
                let from = pick(other.len());
                let part = other[from..(from + pick(16)).min(other.len())].to_vec();
                bytes.splice(at..at, part);
            }
            _ if at < bytes.len() => bytes[at] ^= 1 << pick(8),
            _ => {}
        }
    }
    bytes
}

#[test]
fn inputs_of_all_kinds_do_no_harm() {
    // Inputs that a fuzzer found stay in the corpus, so every run tries them.
    let chosen = std::env::var("DSQ_FUZZ").ok();
    let is_chosen = |name: &str| chosen.as_ref().is_none_or(|names| names.split(' ').any(|one| one == name));
    let times = number("DSQ_FUZZ_TIMES").unwrap_or(1);
    let seed = number("DSQ_FUZZ_SEED").unwrap_or(0);
    let targets = targets::TARGETS.into_iter().enumerate();
    for (number, (name, target, count)) in targets.filter(|(_, (name, ..))| is_chosen(name)) {
        let inputs = corpus(name);
        assert!(!inputs.is_empty(), "{name} has no corpus");
        inputs.iter().for_each(|input| target(input));
        let mut random = Pcg64::seed_from_u64(seed * 1000 + number as u64);
        let start = Instant::now();
        for run in 0..u64::from(count) * times {
            let input = changed(&mut random, &inputs);
            if std::panic::catch_unwind(|| target(&input)).is_err() {
                panic!("{name}: input {run} of seed {seed}: {:?}", String::from_utf8_lossy(&input));
            }
        }
        eprintln!("{name}: {:.1} s", start.elapsed().as_secs_f64());
    }
}
