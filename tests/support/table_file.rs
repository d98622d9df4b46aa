//! Table files made of their parts.

use xxhash_rust::xxh3::xxh3_64;

/// A table file with this beginning (the magic and the version), description and blocks, and with the lengths and
/// checksums that follow from them.
pub fn table_file(beginning: &[u8], description: &[u8], blocks: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = beginning.to_vec();
    let pages = blocks.chunks(512).map(|page| 16 + 8 * page.len()).sum::<usize>();
    let mut at = 32 + description.len() + pages;
    let len = at + blocks.iter().map(Vec::len).sum::<usize>() + 8;
    bytes.extend((description.len() as u32).to_le_bytes());
    bytes.extend((len as u64).to_le_bytes());
    bytes.extend(description);
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    for page in blocks.chunks(512) {
        let start = bytes.len();
        bytes.extend((at as u64).to_le_bytes());
        for block in page {
            bytes.extend((block.len() as u32).to_le_bytes());
            bytes.extend((xxh3_64(block) as u32).to_le_bytes());
            at += block.len();
        }
        bytes.extend(xxh3_64(&bytes[start..]).to_le_bytes());
    }
    blocks.iter().for_each(|block| bytes.extend(block));
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes
}
