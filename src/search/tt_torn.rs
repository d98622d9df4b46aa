//! The transposition table under threads that write the same bucket all the time: an entry that is found was put there
//! under that key, whole. Its two words are read and written relaxed, so that any word may meet any other; what is found
//! must then have its key in the XOR of both.

use super::tt::{Bound, Tt, TtEntry, Word, read_slot, write_slot};
use loom::sync::atomic::AtomicU64 as ModelWord;
use loom::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// The one entry that is ever put under a key.
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

impl Word for ModelWord {
    fn get(&self) -> u64 {
        self.load(Relaxed)
    }

    fn set(&self, value: u64) {
        self.store(value, Relaxed);
    }
}

/// The words that `write` stores.
type Write = fn(&[ModelWord; 2], u64, u64);

/// Whether a reader of a slot that two threads write, one of them twice, can come upon data under another key than its own,
/// in any order of all reads and writes that the memory model allows.
fn can_be_torn(write: Write, read: fn(&[ModelWord; 2]) -> (u64, u64)) -> bool {
    let torn = Arc::new(Mutex::new(false));
    let seen = torn.clone();
    loom::model(move || {
        let data_of = |key: u64| key << 8 | 1;
        let slot = Arc::new([ModelWord::new(0), ModelWord::new(0)]);
        let writers = [&[3, 5][..], &[6]].map(|keys| {
            let slot = slot.clone();
            loom::thread::spawn(move || keys.iter().for_each(|&key| write(&slot, key, data_of(key))))
        });
        let (key, data) = read(&slot);
        if [3, 5, 6].contains(&key) && data != 0 && data != data_of(key) {
            *seen.lock().unwrap() = true;
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
    let torn = torn.lock().unwrap();
    *torn
}

#[test]
fn no_order_of_reads_and_writes_tears_an_entry() {
    assert!(!can_be_torn(write_slot, read_slot));
    // With keys that are stored as they are, the model finds what is wrong.
    let plain: Write = |[check, data], key, value| {
        check.set(key);
        data.set(value);
    };
    assert!(can_be_torn(plain, |[check, data]| (check.get(), data.get())));
}
