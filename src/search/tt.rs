//! The transposition table: search results by position, shared by threads without locks.
//!
//! An entry is two words: the data, and the key XOR the data. A probe does not find an entry torn by two threads (Hyatt
//! and Mann, *A lockless transposition-table implementation for parallel search*, 2002). Four entries form a bucket of
//! one cache line; a new entry replaces the entry of the lowest depth and the greatest age.

use super::eval::{NO_MOVE, Packed};
use super::score::{DECIDED, Value};
use crate::pages::{Pages, Words, prefetch};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// The relation of a stored value to the true value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Bound {
    Upper = 1,
    Lower,
    Exact,
}

impl Bound {
    /// Whether the stored value proves that the true value is at least `beta` or at most `alpha`.
    #[inline(always)]
    pub(super) fn proves_cutoff(self, value: Value, alpha: Value, beta: Value) -> bool {
        let lower = if value >= beta { Bound::Lower as u8 } else { 0 };
        let upper = if value <= alpha { Bound::Upper as u8 } else { 0 };
        // An exact value is both a lower and an upper bound.
        self as u8 & (lower | upper) != 0
    }

    /// Whether the stored value is the true value, or [`Bound::proves_cutoff`] the node.
    #[inline(always)]
    pub(super) fn is_exact_or_cutoff(self, value: Value, alpha: Value, beta: Value) -> bool {
        self == Bound::Exact || self.proves_cutoff(value, alpha, beta)
    }
}

/// An entry as a search reads it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct TtEntry {
    /// A packed move, or [`NO_MOVE`].
    pub mv: Packed,
    /// The value. In the table, wins count plies from this position, in the search from the root.
    pub value: Value,
    /// The depth of the search in plies; 0 for quiescence.
    pub depth: u8,
    pub bound: Bound,
    /// The evaluation of the position without correction, or [`NO_EVAL`].
    pub eval: i16,
}

/// Marks a missing evaluation: no evaluation is this low.
pub(super) const NO_EVAL: i16 = i16::MIN;

/// The key and the data in a slot. An entry torn by two threads has a random key, which no probe finds.
#[inline(always)]
fn read_slot([check, data]: &[AtomicU64; 2]) -> (u64, u64) {
    let data = data.load(Relaxed);
    (check.load(Relaxed) ^ data, data)
}

#[inline(always)]
fn write_slot([check, data]: &[AtomicU64; 2], key: u64, value: u64) {
    check.store(key ^ value, Relaxed);
    data.store(value, Relaxed);
}

#[repr(align(64))]
#[derive(Default)]
struct Bucket([[AtomicU64; 2]; 4]);

/// The transposition table.
pub(super) struct Tt {
    buckets: Pages<Bucket>,
    /// Counts searches, modulo 64.
    age: AtomicU8,
}

const AGE_MASK: u8 = 63;
/// The least buckets for a thread to clear: 16 MiB.
const LEAST_PART: usize = 1 << 18;

// SAFETY: eight atomic words.
unsafe impl Words for Bucket {}

fn pack(entry: &TtEntry, age: u8) -> u64 {
    u64::from(entry.mv)
        | u64::from(entry.value as i16 as u16) << 16
        | u64::from(entry.depth) << 32
        | u64::from(entry.eval as u16) << 40
        | u64::from(entry.bound as u8) << 56
        | u64::from(age) << 58
}

fn unpack(data: u64) -> TtEntry {
    let bound = match data >> 56 & 3 {
        1 => Bound::Upper,
        2 => Bound::Lower,
        _ => Bound::Exact,
    };
    TtEntry {
        mv: data as u16,
        value: Value::from((data >> 16) as i16),
        depth: (data >> 32) as u8,
        bound,
        eval: (data >> 40) as i16,
    }
}

impl Tt {
    /// A table of at most `mebibytes` MiB, halved until it can be allocated.
    pub(super) fn new(mebibytes: usize) -> Tt {
        let mut len = (mebibytes.min(usize::MAX >> 20).min(1 << 24) << 20).div_ceil(size_of::<Bucket>()).max(16);
        loop {
            match Pages::new(len) {
                Some(buckets) => return Tt { buckets, age: AtomicU8::new(0) },
                None => len /= 2,
            }
        }
    }

    /// Clears all entries, with up to `threads` threads.
    pub(super) fn clear(&mut self, threads: usize) {
        let clear = |buckets: &[Bucket]| {
            for word in buckets.iter().flat_map(|bucket| bucket.0.as_flattened()) {
                word.store(0, Relaxed);
            }
        };
        let part = self.buckets.len().div_ceil(threads.max(1)).max(LEAST_PART);
        std::thread::scope(|scope| {
            let mut parts = self.buckets.chunks(part);
            let first = parts.next();
            for part in parts {
                if std::thread::Builder::new().spawn_scoped(scope, move || clear(part)).is_err() {
                    clear(part);
                }
            }
            first.into_iter().for_each(clear);
        });
        self.age = AtomicU8::new(0);
    }

    /// Starts the next search: stored entries age by one.
    pub(super) fn next_age(&self) {
        self.age.store((self.age.load(Relaxed) + 1) & AGE_MASK, Relaxed);
    }

    #[inline(always)]
    fn bucket(&self, key: u64) -> &[[AtomicU64; 2]; 4] {
        let index = (u128::from(key) * self.buckets.len() as u128) >> 64;
        &self.buckets[index as usize].0
    }

    /// Prefetches the bucket of a key.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: u64) {
        prefetch(self.bucket(key));
    }

    /// The entry of a key.
    #[inline]
    pub(super) fn probe(&self, key: u64) -> Option<TtEntry> {
        for slot in self.bucket(key) {
            let (stored, data) = read_slot(slot);
            if stored == key && data != 0 {
                return Some(unpack(data));
            }
        }
        None
    }

    /// Stores an entry. It replaces the entry of the same key, else the shallowest and oldest entry of the bucket.
    #[inline]
    pub(super) fn store(&self, key: u64, mut entry: TtEntry) {
        let age = self.age.load(Relaxed);
        let bucket = self.bucket(key);
        let mut slot = &bucket[0];
        let mut lowest = i32::MAX;
        for candidate in bucket {
            let (stored, data) = read_slot(candidate);
            if stored == key && data != 0 {
                let old = unpack(data);
                if entry.mv == NO_MOVE {
                    entry.mv = old.mv;
                }
                // A much deeper entry of this search stays, unless the new value is exact.
                let current = (data >> 58) as u8 == age;
                if entry.bound != Bound::Exact && current && old.depth > entry.depth + 3 {
                    return;
                }
                slot = candidate;
                break;
            }
            let relative_age = i32::from(age.wrapping_sub((data >> 58) as u8) & AGE_MASK);
            let quality = if data == 0 { i32::MIN } else { i32::from((data >> 32) as u8) - 8 * relative_age };
            if quality < lowest {
                (lowest, slot) = (quality, candidate);
            }
        }
        // The data is never 0, which marks an empty slot: every bound is at least 1.
        write_slot(slot, key, pack(&entry, age));
    }

    /// The entries of this search, in permille of the table.
    pub(super) fn hashfull(&self) -> u32 {
        let age = self.age.load(Relaxed);
        let sample = &self.buckets[..self.buckets.len().min(250)];
        let used = |slot: &&[AtomicU64; 2]| {
            let data = slot[1].load(Relaxed);
            data != 0 && (data >> 58) as u8 == age
        };
        let count = sample.iter().flat_map(|bucket| &bucket.0).filter(used).count();
        (count * 1000 / (4 * sample.len())) as u32
    }
}

/// A value in the form of an entry: wins count plies from the position instead of the root.
#[inline(always)]
pub(super) fn value_to_tt(value: Value, ply: usize) -> Value {
    if value >= DECIDED {
        value + ply as Value
    } else if value <= -DECIDED {
        value - ply as Value
    } else {
        value
    }
}

/// The reverse of [`value_to_tt`].
#[inline(always)]
pub(super) fn value_from_tt(value: Value, ply: usize) -> Value {
    if value >= DECIDED {
        value - ply as Value
    } else if value <= -DECIDED {
        value + ply as Value
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;
    use std::thread;

    #[test]
    fn a_probe_finds_what_was_stored() {
        let tt = Tt::new(1);
        for i in 1..1000u64 {
            let key = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let bound = [Bound::Upper, Bound::Lower, Bound::Exact][i as usize % 3];
            let entry = TtEntry { mv: i as u16, value: -(i as Value), depth: i as u8, bound, eval: 7 * i as i16 };
            tt.store(key, entry);
            assert_eq!(tt.probe(key), Some(entry));
            assert_eq!(tt.probe(key ^ 1), None);
        }
    }

    /// Three threads clear every bucket.
    #[test]
    fn clearing_leaves_nothing() {
        let mut tt = Tt::new(40);
        let entry = TtEntry { mv: 1, value: 2, depth: 3, bound: Bound::Exact, eval: NO_EVAL };
        let keys: Vec<u64> = (0..1000).map(|i| u64::MAX / 999 * i).collect();
        keys.iter().for_each(|&key| tt.store(key, entry));
        tt.next_age();
        tt.clear(3);
        assert!(keys.iter().all(|&key| tt.probe(key).is_none()));
        assert!(tt.buckets.iter().flat_map(|bucket| bucket.0.as_flattened()).all(|word| word.load(Relaxed) == 0));
        assert_eq!(tt.age.load(Relaxed), 0);
    }

    #[test]
    fn bounds_decide_by_their_kind() {
        for bound in [Bound::Upper, Bound::Lower, Bound::Exact] {
            for value in -3..=3 {
                let expected = match bound {
                    Bound::Upper => value <= 0,
                    Bound::Lower => value > 0,
                    Bound::Exact => true,
                };
                assert_eq!(bound.proves_cutoff(value, 0, 1), expected, "{bound:?} {value}");
            }
        }
    }

    #[test]
    fn the_shallow_and_the_old_go_first() {
        let tt = Tt::new(0);
        let entry = |depth| TtEntry { mv: 1, value: 2, depth, bound: Bound::Exact, eval: NO_EVAL };
        // All keys fall into one bucket, which the highest bits select.
        for depth in [5, 9, 3, 7] {
            tt.store(u64::from(depth), entry(depth));
        }
        tt.store(100, entry(1));
        assert_eq!(tt.probe(3), None);
        tt.next_age();
        tt.store(101, entry(1));
        assert_eq!(tt.probe(100), None, "an old shallow entry goes first");
        assert!(tt.probe(9).is_some() && tt.probe(101).is_some());
    }

    #[test]
    fn wins_are_counted_from_the_position() {
        use super::super::score::{MATE, TB_WIN};
        for value in [0, 17, -500, MATE - 9, 12 - MATE, TB_WIN - 7, 7 - TB_WIN] {
            assert_eq!(value_from_tt(value_to_tt(value, 5), 5), value);
        }
        assert_eq!(value_from_tt(value_to_tt(MATE - 9, 5), 2), MATE - 6);
    }

    // While threads write the same bucket all the time, an entry that a probe finds was stored whole under its key. The two
    // words are read and written with relaxed ordering, so a reader may see any combination of old and new words. The XOR
    // of both must then reveal a wrong key.

    /// The only entry that is ever stored under a key.
    fn entry_of(key: u64) -> TtEntry {
        let mix = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bound = [Bound::Upper, Bound::Lower, Bound::Exact][(mix >> 60) as usize % 3];
        TtEntry {
            mv: (mix >> 8) as u16 | 1,
            value: Value::from((mix >> 24) as i16),
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
}
