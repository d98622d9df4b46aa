//! The transposition table while threads write the same bucket all the time: an entry that a probe finds was stored
//! whole under its key. The two words are read and written with relaxed ordering, so a reader may see any combination
//! of old and new words. The XOR of both must then reveal a wrong key.

use super::tt::{Bound, Tt, TtEntry, read_slot, write_slot};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// The only entry that is ever stored under a key.
fn entry_of(key: u64) -> TtEntry {
    let mix = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bound = [Bound::Upper, Bound::Lower, Bound::Exact][(mix >> 60) as usize % 3];
    TtEntry {
        mv: (mix >> 8) as u16 | 1,
        value: (mix >> 24) as i16,
        depth: (mix >> 40) as u8 % 8,
        bound,
        eval: mix as i16,
    }
}

#[test]
fn no_torn_entry_is_found() {
    const ROUNDS: u64 = 200_000;
    let table = Tt::new(0);
    let found = AtomicU64::new(0);
    // All keys share the high bits, which select the bucket. There are more keys than entries in a bucket.
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

/// A slot whose words one thread writes.
type Slot = [AtomicU64; 2];

/// Whether a reader can find data under a wrong key. Relaxed writes to two words may become visible in any order: a
/// reader may see any past value of one word together with any past value of the other.
fn can_be_torn(write: fn(&Slot, u64, u64), read: fn(&Slot) -> (u64, u64)) -> bool {
    let keys = [3, 5, 6];
    let data_of = |key: u64| key << 8 | 1;
    let written = |key: u64| {
        let slot = Slot::default();
        write(&slot, key, data_of(key));
        slot.map(AtomicU64::into_inner)
    };
    let states: Vec<[u64; 2]> = keys.into_iter().map(written).chain([[0, 0]]).collect();
    states.iter().flat_map(|&[check, _]| states.iter().map(move |&[_, data]| [check, data])).any(|words| {
        let (key, data) = read(&words.map(AtomicU64::new));
        keys.contains(&key) && data != 0 && data != data_of(key)
    })
}

#[test]
fn no_order_of_reads_and_writes_tears_an_entry() {
    assert!(!can_be_torn(write_slot, read_slot));
    // Keys stored without the XOR do not protect the data.
    let plain = |[check, data]: &Slot, key, value| {
        check.store(key, Ordering::Relaxed);
        data.store(value, Ordering::Relaxed);
    };
    assert!(can_be_torn(plain, |[check, data]| (check.load(Ordering::Relaxed), data.load(Ordering::Relaxed))));
}
