use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A table of perft counts, shared by threads without locks. An entry is two words: the count, and the key XOR the count,
/// so that a torn entry is not found.
pub struct PerftHash {
    entries: Vec<[AtomicU64; 2]>,
}

impl PerftHash {
    /// A table of at most `mebibytes` MiB; `None` if there is no memory for it.
    #[must_use]
    pub fn new(mebibytes: usize) -> Option<PerftHash> {
        let wanted = mebibytes.checked_mul(1 << 20)? / size_of::<[AtomicU64; 2]>();
        let len = if wanted.is_power_of_two() { wanted } else { wanted.next_power_of_two() / 2 }.max(1);
        let mut entries = Vec::new();
        entries.try_reserve_exact(len).ok()?;
        entries.resize_with(len, Default::default);
        Some(PerftHash { entries })
    }

    /// The key of a position counted to some depth.
    #[inline]
    pub(super) fn key(position_key: u64, depth: u32) -> u64 {
        position_key ^ u64::from(depth).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<u64> {
        let [check, count] = &self.entries[key as usize & (self.entries.len() - 1)];
        let count = count.load(Relaxed);
        (check.load(Relaxed) == key ^ count && count != 0).then_some(count)
    }

    #[inline]
    pub(super) fn put(&self, key: u64, value: u64) {
        let [check, count] = &self.entries[key as usize & (self.entries.len() - 1)];
        check.store(key ^ value, Relaxed);
        count.store(value, Relaxed);
    }
}
