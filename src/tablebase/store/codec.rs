//! Compression of blocks with zstd.

use super::zstd;
use super::zstd::bulk::Compressor;
use super::zstd::zstd_safe::{DCtx, DDict, compress_bound};
use crate::tablebase::CellValue;
use crate::tablebase::index::Index;
use crate::tablebase::layout::{Layout, block_bytes, checksum_codes};
use crate::tablebase::value::Cells;
use std::cell::RefCell;
use std::io;

thread_local! {
    /// One decompressor for each thread: setting one up takes longer than decoding a small block.
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
    /// Likewise one compressor, with a buffer for its result.
    static COMPRESSOR: RefCell<(Option<Compressor<'static>>, Vec<u8>)> = const { RefCell::new((None, Vec::new())) };
}

/// Compresses bytes into a block of exactly its size.
pub(crate) fn compress(bytes: &[u8], level: i32) -> io::Result<Box<[u8]>> {
    COMPRESSOR.with_borrow_mut(|(slot, buffer)| {
        let compressor = match slot {
            Some(compressor) => compressor,
            None => slot.insert(Compressor::new(level)?),
        };
        compressor.set_compression_level(level)?;
        buffer.clear();
        buffer.reserve(compress_bound(bytes.len()));
        compressor.compress_to_buffer(bytes, buffer)?;
        Ok(Box::from(buffer.as_slice()))
    })
}

/// Decompresses a block; `None` if the block is damaged or does not decompress to `len` bytes.
pub(crate) fn decompress(block: &[u8], len: usize) -> Option<Vec<u8>> {
    decompress_with(None, block, len)
}

/// As [`decompress`], for a block that may refer to a dictionary.
pub(crate) fn decompress_with(dictionary: Option<&Dictionary>, block: &[u8], len: usize) -> Option<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = Some(DCtx::try_create()?);
        }
        let mut bytes = Vec::with_capacity(len);
        let decoder = slot.as_mut()?;
        match dictionary {
            None => decoder.decompress(&mut bytes, block),
            Some(Dictionary(dictionary)) => decoder.decompress_using_ddict(&mut bytes, block, dictionary),
        }
        .ok()?;
        (bytes.len() == len).then_some(bytes)
    })
}

/// Rows of a side to move that zstd refers to when it decompresses a block.
pub(crate) struct Dictionary(DDict<'static>);

impl Dictionary {
    /// Decompresses a dictionary; `None` if it is damaged or does not decompress to `len` bytes.
    pub(crate) fn decode(compressed: &[u8], len: usize) -> Option<Dictionary> {
        DDict::try_create(&decompress(compressed, len)?).map(Dictionary)
    }
}

/// The size in bytes of the values of one side to move of a class, compressed as one zstd frame of level 19: with `wdl`
/// only the results, else the distances. One byte for each cell (two if `cells` has two) in the order of a file.
///
/// # Errors
/// If zstd fails.
pub fn compressed_len(index: &Index, cells: &Cells, wdl: bool) -> std::io::Result<usize> {
    let layout = Layout::new(index);
    let who_wins = |code: u16| match CellValue::from_code(code) {
        None => 0,
        Some(CellValue::Draw) => 1,
        Some(CellValue::NoMove) => 2,
        Some(CellValue::Decided(plies)) => 3 + (plies % 2) as u8,
    };
    let results = wdl.then(|| Cells::Byte((0..cells.len()).map(|cell| who_wins(cells.get(cell))).collect()));
    let cells = results.as_ref().unwrap_or(cells);
    let mut codes = Cells::empty(cells.cell_bytes(), 0);
    layout.gather(cells.view(), &mut codes);
    let mut words = Vec::new();
    checksum_codes(codes.view(), &mut words);
    Ok(zstd::bulk::compress(block_bytes(&mut codes, &words), 19)?.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;
    use crate::tablebase::ROW_CELLS;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    /// With `wdl`, different distances of one result compress like one value, and different results do not.
    #[test]
    fn only_who_wins_is_compressed() {
        let index = Index::new("EvL".parse().unwrap(), &RuleOptions::PAPER).unwrap();
        let cells = |values: [CellValue; 3]| {
            let mut random = Pcg64::seed_from_u64(4);
            Cells::Byte((0..ROW_CELLS).map(|_| values[random.next_u64() as usize % 3].code() as u8).collect())
        };
        let len = |values: [u16; 3], wdl| compressed_len(&index, &cells(values.map(CellValue::Decided)), wdl).unwrap();
        let one = len([1; 3], true);
        assert_eq!(len([1, 3, 251], true), one, "all are won");
        assert_eq!(len([2, 4, 250], true), one, "all are lost");
        assert!(len([1, 3, 251], false) > 10 * one, "but not equally soon");
        let others = [CellValue::Draw, CellValue::NoMove, CellValue::Decided(2), CellValue::Decided(1)];
        for (i, &a) in others.iter().enumerate() {
            for &b in &others[..i] {
                let two = compressed_len(&index, &cells([a, a, b]), true).unwrap();
                assert!(two > 10 * one, "{a:?} and {b:?} are told apart: {two} bytes, {one} of one value");
            }
        }
    }
}
