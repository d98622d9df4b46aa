use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// The most bytes of decoded blocks in a cache, unless it is created with another limit.
const CACHE_BYTES: usize = 80 << 20;

/// A cache of recently used blocks in two generations: a hit in the older generation moves the block to the newer one,
/// and a full newer generation replaces the older one.
pub(crate) struct Cache<K, B> {
    newer: Generation<K, B>,
    older: Generation<K, B>,
    /// Bytes of the blocks of the newer generation.
    bytes: usize,
    /// The bytes at which a generation is full.
    limit: usize,
}

/// With a hash function that takes less time than the rest of a look-up.
type Generation<K, B> = HashMap<K, Cached<B>, RandomState>;

/// A block and its size in bytes.
struct Cached<B> {
    block: Arc<B>,
    bytes: usize,
}

impl<K, B> Default for Cache<K, B> {
    fn default() -> Cache<K, B> {
        Cache::with_limit(CACHE_BYTES)
    }
}

impl<K, B> Cache<K, B> {
    /// An empty cache of at most `bytes` bytes, and a block more for each generation.
    pub(crate) fn with_limit(bytes: usize) -> Cache<K, B> {
        Cache { newer: Generation::default(), older: Generation::default(), bytes: 0, limit: bytes / 2 }
    }
}

/// The block of a key; if the cache lacks it, `decode` returns it with its size in bytes. Decoding holds no lock, so two threads
/// may decode the same block, which is harmless.
pub(crate) fn get_or_decode<K: Copy + Eq + Hash, B, E>(
    cache: &Mutex<Cache<K, B>>,
    key: K,
    decode: impl FnOnce() -> Result<(B, usize), E>,
) -> Result<Arc<B>, E> {
    let cache = || cache.lock().unwrap_or_else(PoisonError::into_inner);
    let found = cache().get(key);
    if let Some(block) = found {
        return Ok(block);
    }
    let (block, bytes) = decode()?;
    let block = Arc::new(block);
    cache().put(key, block.clone(), bytes);
    Ok(block)
}

impl<K: Copy + Eq + Hash, B> Cache<K, B> {
    pub(crate) fn get(&mut self, key: K) -> Option<Arc<B>> {
        if let Some(cached) = self.newer.get(&key) {
            return Some(cached.block.clone());
        }
        let Cached { block, bytes } = self.older.remove(&key)?;
        self.put(key, block.clone(), bytes);
        Some(block)
    }

    /// Adds a block of `bytes` bytes.
    pub(crate) fn put(&mut self, key: K, block: Arc<B>, bytes: usize) {
        if self.bytes >= self.limit {
            self.older = std::mem::take(&mut self.newer);
            self.bytes = 0;
        }
        self.bytes += bytes;
        if let Some(before) = self.newer.insert(key, Cached { block, bytes }) {
            self.bytes -= before.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_were_used_stay_and_the_bytes_are_limited() {
        let mut cache: Cache<usize, usize> = Cache::default();
        let bytes = CACHE_BYTES / 64;
        for number in 0..1000 {
            cache.put(number, Arc::new(number), bytes);
            assert_eq!(cache.get(0).as_deref(), Some(&0), "it is used all the time");
            assert!(cache.newer.len() + cache.older.len() <= 66);
        }
        assert!(cache.get(1).is_none() && cache.get(990).is_some());
        // A lower limit keeps fewer.
        let mut small: Cache<usize, usize> = Cache::with_limit(8 * bytes);
        (0..1000).for_each(|number| small.put(number, Arc::new(number), bytes));
        assert!(small.newer.len() + small.older.len() <= 8);
        // A block that is put twice counts once.
        (0..1000).for_each(|_| cache.put(7, Arc::new(7), bytes));
        assert_eq!(cache.bytes, cache.newer.values().map(|cached| cached.bytes).sum::<usize>());
    }
}
