//! The table of the blocks of a file, in pages, so that a reader of a few blocks reads a few pages. A page has the place
//! of its first block, then for each of its blocks the length and the checksum, and ends with its own checksum.

use super::source::Source;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;
use xxhash_rust::xxh3::xxh3_64;

/// The number of blocks of a page; the last page may have fewer.
pub(super) const PAGE_BLOCKS: usize = 512;

/// Bytes of a page besides its blocks, and for each block.
const PAGE_BYTES: usize = 16;
const ENTRY_BYTES: usize = 8;

/// The checksum of a block.
pub(super) fn block_sum(block: &[u8]) -> u32 {
    xxh3_64(block) as u32
}

/// The length of the table of `blocks` blocks in bytes.
pub(super) fn table_len(blocks: usize) -> usize {
    blocks.div_ceil(PAGE_BLOCKS) * PAGE_BYTES + blocks * ENTRY_BYTES
}

/// The table of these blocks. The first begins at the offset `start` of the file.
pub(super) fn table(blocks: &[Box<[u8]>], mut start: usize) -> Vec<u8> {
    let mut table = Vec::with_capacity(table_len(blocks.len()));
    for blocks in blocks.chunks(PAGE_BLOCKS) {
        let page = table.len();
        table.extend((start as u64).to_le_bytes());
        for block in blocks {
            table.extend((block.len() as u32).to_le_bytes());
            table.extend(block_sum(block).to_le_bytes());
            start += block.len();
        }
        table.extend(xxh3_64(&table[page..]).to_le_bytes());
    }
    table
}

/// The little-endian number in up to eight bytes.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte))
}

/// The table of an open file. A page is read when the first of its blocks is wanted.
pub(super) struct BlockTable {
    /// The offset of the table in the file.
    at: usize,
    blocks: usize,
    /// The offsets of the file between which all blocks are.
    within: Range<usize>,
    pages: Box<[OnceLock<Page>]>,
}

struct Page {
    start: usize,
    /// The end of each block, counted from `start`, and its checksum.
    blocks: Box<[(u32, u32)]>,
}

impl BlockTable {
    /// The table of `blocks` blocks at an offset of a file, the blocks of which end at `end`; `None` if it does not end
    /// before.
    pub(super) fn new(at: usize, blocks: usize, end: usize) -> Option<BlockTable> {
        let start = at.checked_add(table_len(blocks))?;
        let pages = (0..blocks.div_ceil(PAGE_BLOCKS)).map(|_| OnceLock::new()).collect();
        (start <= end).then_some(BlockTable { at, blocks, within: start..end, pages })
    }

    /// The place of a block in the file, and its checksum; `None` if its page is damaged.
    ///
    /// # Errors
    /// If the page cannot be read.
    pub(super) fn block(&self, source: &Source, number: usize) -> io::Result<Option<(Range<usize>, u32)>> {
        let (page, entry) = (number / PAGE_BLOCKS, number % PAGE_BLOCKS);
        let page = match self.pages[page].get() {
            Some(page) => page,
            None => match self.read(source, page)? {
                Some(read) => self.pages[page].get_or_init(|| read),
                None => return Ok(None),
            },
        };
        let (end, sum) = page.blocks[entry];
        let start = entry.checked_sub(1).map_or(0, |before| page.blocks[before].0);
        Ok(Some((page.start + start as usize..page.start + end as usize, sum)))
    }

    fn read(&self, source: &Source, page: usize) -> io::Result<Option<Page>> {
        let first = page * PAGE_BLOCKS;
        let blocks = PAGE_BLOCKS.min(self.blocks - first);
        let bytes = source.bytes(self.at + table_len(first), table_len(blocks))?;
        let (body, sum) = bytes.split_at(bytes.len() - 8);
        Ok((number(sum) == xxh3_64(body)).then(|| self.page(body)).flatten())
    }

    /// The page with these contents; `None` if a block is not where blocks are.
    fn page(&self, body: &[u8]) -> Option<Page> {
        let (start, entries) = body.split_at(8);
        let start = usize::try_from(number(start)).ok().filter(|start| self.within.contains(start))?;
        let mut end = 0u32;
        let block = |entry: &[u8]| {
            let (len, sum) = entry.split_at(4);
            end = end.checked_add(number(len) as u32)?;
            Some((end, number(sum) as u32))
        };
        let blocks = entries.chunks_exact(ENTRY_BYTES).map(block).collect::<Option<_>>()?;
        (end as usize <= self.within.end - start).then_some(Page { start, blocks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every block of a table of several pages is found, and a page with a wrong place or length is damaged, whatever its
    /// checksum.
    #[test]
    fn blocks_are_found_in_pages() {
        let blocks: Vec<Box<[u8]>> = (0..1300usize).map(|i| vec![i as u8; 1 + i % 7].into()).collect();
        let first = 10 + table_len(blocks.len());
        let bytes = [&[0; 10][..], &table(&blocks, first), &blocks.concat()].concat();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let opened = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            (Source::open(&path).unwrap(), BlockTable::new(10, blocks.len(), bytes.len()).unwrap())
        };
        let (source, there) = opened(&bytes);
        for i in (0..blocks.len()).rev() {
            let (at, sum) = there.block(&source, i).unwrap().unwrap();
            assert!(bytes[at] == *blocks[i] && sum == block_sum(&blocks[i]), "block {i}");
        }
        // The start of the second page, the length of its first block, and of its last.
        let page = 10 + table_len(PAGE_BLOCKS);
        for (at, value) in
            [(page, 0u32), (page, first as u32 - 1), (page, 1 << 20), (page + 8, 1 << 20), (page + 8 * 512, u32::MAX)]
        {
            let mut wrong = bytes.clone();
            wrong[at..at + 4].copy_from_slice(&value.to_le_bytes());
            let end = page + table_len(PAGE_BLOCKS) - 8;
            let sum = xxh3_64(&wrong[page..end]);
            wrong[end..end + 8].copy_from_slice(&sum.to_le_bytes());
            let (source, there) = opened(&wrong);
            let is_found = [0, 600, 1200].map(|i| there.block(&source, i).unwrap().is_some());
            assert_eq!(is_found, [true, false, true], "{value} at {at}");
            wrong[end] ^= 1;
            let (source, there) = opened(&wrong);
            assert!(there.block(&source, 600).unwrap().is_none());
        }
        assert!(BlockTable::new(10, blocks.len(), first - 1).is_none());
        let (source, there) = opened(&bytes);
        std::fs::write(&path, &bytes[..page]).unwrap();
        assert!(there.block(&source, 600).is_err());
    }
}
