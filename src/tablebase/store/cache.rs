use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// The most decoded blocks in the cache, of about 80 KB each.
const CACHE_BLOCKS: usize = 1024;

/// A cache of recently used blocks in two generations: a hit in the older generation moves the block to the newer one,
/// and a full newer generation replaces the older one.
pub(crate) struct Cache<K, B> {
    newer: HashMap<K, Arc<B>>,
    older: HashMap<K, Arc<B>>,
}

impl<K, B> Default for Cache<K, B> {
    fn default() -> Cache<K, B> {
        Cache { newer: HashMap::new(), older: HashMap::new() }
    }
}

impl<K: Copy + Eq + Hash, B> Cache<K, B> {
    pub(crate) fn get(&mut self, key: K) -> Option<Arc<B>> {
        if let Some(block) = self.newer.get(&key) {
            return Some(block.clone());
        }
        let block = self.older.remove(&key)?;
        self.put(key, block.clone());
        Some(block)
    }

    pub(crate) fn put(&mut self, key: K, block: Arc<B>) {
        if self.newer.len() >= CACHE_BLOCKS / 2 {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(key, block);
    }
}
