//! The transposition table under threads that write the same bucket all the time: an entry that is found was put there
//! under that key, whole. Its two words are read and written relaxed, so that any word may meet any other; what is found
//! must then have its key in the XOR of both.

use super::tt::{Bound, Tt, TtEntry};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// The one entry that is ever put under a key.
fn entry_of(key: u64) -> TtEntry {
    let mix = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bound = [Bound::Upper, Bound::Lower, Bound::Exact][(mix >> 60) as usize % 3];
    TtEntry { mv: (mix >> 8) as u16 | 1, value: (mix >> 24) as i16, depth: (mix >> 40) as u8 % 8, bound }
}

#[test]
fn no_torn_entry_is_found() {
    const ROUNDS: u64 = 200_000;
    let table = Tt::new(0);
    let found = AtomicU64::new(0);
    // All keys share the high bits, which choose the bucket; there are more of them than entries.
    let key = |n: u64| (n % 13).wrapping_mul(0x0000_01d8_7f4a_7c15) >> 8 | 1;
    thread::scope(|scope| {
        for thread in 0..4u64 {
            let (table, found) = (&table, &found);
            scope.spawn(move || {
                let mut state = thread + 1;
                for _ in 0..ROUNDS {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let key = key(state >> 33);
                    if state >> 62 == 0 {
                        table.store(key, entry_of(key));
                    } else if let Some(entry) = table.probe(key) {
                        found.fetch_add(1, Ordering::Relaxed);
                        assert_eq!(entry, entry_of(key));
                    }
                }
            });
        }
    });
    assert!(found.into_inner() > ROUNDS / 100);
}
