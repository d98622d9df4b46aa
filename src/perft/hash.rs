use crate::pages::{Pages, Words, prefetch};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A hash table of perft counts, shared by threads without locks. An entry is two words: the count, and the key XOR the
/// count, so that a probe does not match a torn entry. A bucket is four entries in one cache line; a new entry replaces
/// the lowest count of its bucket, which is the cheapest to count again.
///
/// The keys include the rules and the [`PerftMode`](super::PerftMode), so that one table can serve all counts.
pub struct PerftHash {
    buckets: Pages<Bucket>,
}

#[repr(align(64))]
struct Bucket([[AtomicU64; 2]; 4]);

// SAFETY: eight atomic words.
unsafe impl Words for Bucket {}

impl PerftHash {
    /// A table of at most `mebibytes` MiB, but at least one bucket; `None` if the memory cannot be allocated.
    #[must_use]
    pub fn new(mebibytes: usize) -> Option<PerftHash> {
        let len = mebibytes.checked_mul(1 << 20)? / size_of::<Bucket>();
        Some(PerftHash { buckets: Pages::new(len.max(1))? })
    }

    #[inline(always)]
    fn bucket(&self, key: u64) -> &Bucket {
        &self.buckets[((u128::from(key) * self.buckets.len() as u128) >> 64) as usize]
    }

    #[inline(always)]
    pub(super) fn prefetch(&self, key: u64) {
        prefetch(self.bucket(key));
    }

    #[inline(always)]
    pub(super) fn get(&self, key: u64) -> Option<u64> {
        self.bucket(key).0.iter().find_map(|[check, count]| {
            let count = count.load(Relaxed);
            (check.load(Relaxed) == key ^ count && count != 0).then_some(count)
        })
    }

    #[inline(always)]
    pub(super) fn put(&self, key: u64, value: u64) {
        let bucket = &self.bucket(key).0;
        let mut lowest = (&bucket[0], u64::MAX);
        for entry in bucket {
            let count = entry[1].load(Relaxed);
            if count < lowest.1 {
                lowest = (entry, count);
            }
        }
        let [check, count] = lowest.0;
        check.store(key ^ value, Relaxed);
        count.store(value, Relaxed);
    }
}
