use crate::tablebase::ClassId;
use crate::tablebase::store::file::Block;
use std::collections::HashMap;
use std::sync::Arc;

/// Decoded blocks that are kept for the next probe, of about 80 KB each.
const CACHE_BLOCKS: usize = 1024;

/// A class, and the number of a block in its file.
pub(crate) type BlockKey = (ClassId, usize);

/// The blocks used last, in two generations: what is found in the older one moves to the newer, and when that is full it
/// becomes the older one.
#[derive(Default)]
pub(crate) struct Cache {
    newer: HashMap<BlockKey, Arc<Block>>,
    older: HashMap<BlockKey, Arc<Block>>,
}

impl Cache {
    pub fn get(&mut self, key: BlockKey) -> Option<Arc<Block>> {
        if let Some(block) = self.newer.get(&key) {
            return Some(block.clone());
        }
        let block = self.older.remove(&key)?;
        self.put(key, block.clone());
        Some(block)
    }

    pub fn put(&mut self, key: BlockKey, block: Arc<Block>) {
        if self.newer.len() >= CACHE_BLOCKS / 2 {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(key, block);
    }
}
