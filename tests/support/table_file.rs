//! Table files made of their parts.

use xxhash_rust::xxh3::xxh3_64;

/// A table file with this beginning (the magic and the version), description and blocks, and with the lengths and
/// checksums that follow from them.
pub fn table_file(beginning: &[u8], description: &[u8], blocks: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = beginning.to_vec();
    bytes.extend((description.len() as u32).to_le_bytes());
    bytes.extend(description);
    for block in blocks {
        bytes.extend((block.len() as u64).to_le_bytes());
        bytes.extend(xxh3_64(block).to_le_bytes());
    }
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    blocks.iter().for_each(|block| bytes.extend(block));
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes
}
