//! The conversion between the cells of a class and the bytes of a file. A block is a range of rows, compressed with
//! zstd. Of each row it stores only the cells for squares that the word piece and the lane piece may stand on, one byte
//! each (two bytes, little-endian, if the class has a line longer than 253 plies). A cell without a position repeats
//! the value before it, which compresses to almost nothing.

use crate::board::{Bitboard, Square};
use crate::tablebase::index::{Index, ROW_CELLS, WIDTH};
use crate::tablebase::material::squares_in_play;
use crate::tablebase::value::{Cells, CellsMut, CellsRef};
use crate::tablebase::{CellValue, Material};
use std::cell::RefCell;
use std::io;
use xxhash_rust::xxh3::Xxh3;
use zstd::zstd_safe::{DCtx, DDict};

thread_local! {
    /// One decompressor for each thread: setting one up takes longer than decoding a small block.
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// Compresses bytes into a block of exactly its size. zstd writes to a buffer as large as the input; shrinking that
/// buffer in place would leave gaps too small for the next block.
pub(crate) fn compress(bytes: &[u8], level: i32) -> io::Result<Box<[u8]>> {
    Ok(Box::from(zstd::bulk::compress(bytes, level)?.as_slice()))
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

/// The cells of a row that a file stores, and their order.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// By place in the file, the cell of the row.
    cells: Vec<u16>,
    /// By cell of the row, the place in the file.
    places: Vec<u16>,
    /// The squares of the word piece and of the lane piece.
    words: Bitboard,
    lanes: Bitboard,
    /// By square of the lane piece, its place among the stored squares.
    lane_places: [u8; WIDTH],
}

impl Layout {
    pub(crate) fn new(index: &Index) -> Layout {
        let (words, lanes) = (squares_in_play(index.word_piece()), squares_in_play(index.lane_piece()));
        let cells: Vec<u16> = words
            .into_iter()
            .flat_map(|word| lanes.into_iter().map(move |lane| (word.index() * WIDTH + lane.index()) as u16))
            .collect();
        let mut places = vec![0; ROW_CELLS];
        for (place, &cell) in cells.iter().enumerate() {
            places[usize::from(cell)] = place as u16;
        }
        let mut lane_places = [0; WIDTH];
        lanes.into_iter().enumerate().for_each(|(place, lane)| lane_places[lane.index()] = place as u8);
        Layout { cells, places, words, lanes, lane_places }
    }

    /// Number of stored cells of a row.
    pub(crate) fn row_len(&self) -> usize {
        self.cells.len()
    }

    /// The stored cells of a row, in the order of the file.
    pub(crate) fn cells(&self) -> impl Iterator<Item = usize> + '_ {
        self.cells.iter().map(|&cell| usize::from(cell))
    }

    /// The contribution of the word piece on a square to a cell's place among the stored cells of its row.
    pub(crate) fn word_offset(&self, square: Square) -> u32 {
        (self.words.bits() & ((1 << square.index()) - 1)).count_ones() * self.lanes.len() as u32
    }

    /// The contribution of the lane piece on a square to a cell's place among the stored cells of its row.
    pub(crate) fn lane_offset(&self, square: Square) -> u32 {
        (self.lanes.bits() & ((1 << square.index()) - 1)).count_ones()
    }

    /// The place of a cell in the block that starts with `first_row`. The cell must have a position.
    pub(crate) fn place(&self, cell: usize, first_row: usize) -> usize {
        (cell / ROW_CELLS - first_row) * self.row_len() + usize::from(self.places[cell % ROW_CELLS])
    }

    /// The bytes of a block with these cells of whole rows, before compression.
    pub(crate) fn gather(&self, cells: CellsRef<'_>) -> Vec<u8> {
        match cells {
            CellsRef::Byte(cells) => self.gather_codes(cells, u8::to_le_bytes),
            CellsRef::Wide(cells) => self.gather_codes(cells, u16::to_le_bytes),
        }
    }

    fn gather_codes<const N: usize, C: Copy + From<u8> + PartialEq>(
        &self,
        cells: &[C],
        bytes: impl Fn(C) -> [u8; N],
    ) -> Vec<u8> {
        let mut gathered = Vec::with_capacity(cells.len() / ROW_CELLS * self.row_len());
        let (none, mut last) = (C::from(0), C::from(1));
        for row in cells.as_chunks::<ROW_CELLS>().0 {
            for &cell in &self.cells {
                let code = row[usize::from(cell)];
                last = if code == none { last } else { code };
                gathered.push(bytes(last));
            }
        }
        gathered.into_flattened()
    }

    /// Writes the bytes of a decompressed block to `cells`, which must be zero. `valid` returns the cells of a row that
    /// have a position, one bit each; the other cells stay zero.
    pub(crate) fn scatter(
        &self,
        bytes: &[u8],
        cells: CellsMut<'_>,
        first_row: usize,
        valid: impl Fn(usize) -> [u64; WIDTH],
    ) {
        match cells {
            CellsMut::Byte(cells) => self.scatter_codes(bytes, cells, first_row, valid, u8::from_le_bytes),
            CellsMut::Wide(cells) => self.scatter_codes(bytes, cells, first_row, valid, u16::from_le_bytes),
        }
    }

    fn scatter_codes<const N: usize, C: Copy + Default>(
        &self,
        bytes: &[u8],
        cells: &mut [C],
        first_row: usize,
        valid: impl Fn(usize) -> [u64; WIDTH],
        code: impl Fn([u8; N]) -> C,
    ) {
        let mut words = bytes.as_chunks::<N>().0.chunks_exact(self.lanes.len());
        for (row, cells) in cells.as_chunks_mut::<ROW_CELLS>().0.iter_mut().enumerate() {
            let valid = valid(first_row + row);
            for (word, bytes) in self.words.into_iter().map(Square::index).zip(&mut words) {
                if valid[word] == 0 {
                    continue;
                }
                let mut kept = [C::default(); WIDTH];
                kept.iter_mut().zip(bytes).for_each(|(kept, &bytes)| *kept = code(bytes));
                for (lane, cell) in cells[word * WIDTH..][..WIDTH].iter_mut().enumerate() {
                    // Without a branch, which would often be mispredicted.
                    let code = kept[usize::from(self.lane_places[lane]) % WIDTH];
                    *cell = if valid[word] >> lane & 1 != 0 { code } else { C::default() };
                }
            }
        }
    }

    /// The checksum of the values: XXH3-64 over the stored cells row by row, as two bytes each, little-endian, 0 for
    /// cells without a position. It does not depend on block size, cell width or compression.
    pub(crate) fn checksum(&self, cells: CellsRef<'_>) -> u64 {
        let mut hash = Xxh3::new();
        for first in (0..cells.len()).step_by(ROW_CELLS) {
            hash.update(&self.codes(cells.range(first..first + ROW_CELLS)));
        }
        hash.digest()
    }

    /// The bytes of some rows that enter the checksum.
    pub(crate) fn codes(&self, cells: CellsRef<'_>) -> Vec<u8> {
        match cells {
            CellsRef::Byte(cells) => self.codes_of(cells, |code| [code, 0]),
            CellsRef::Wide(cells) => self.codes_of(cells, u16::to_le_bytes),
        }
    }

    fn codes_of<C: Copy>(&self, cells: &[C], bytes: impl Fn(C) -> [u8; 2]) -> Vec<u8> {
        let mut codes = Vec::with_capacity(cells.len() / ROW_CELLS * self.row_len());
        for row in cells.as_chunks::<ROW_CELLS>().0 {
            codes.extend(self.cells.iter().map(|&cell| bytes(row[usize::from(cell)])));
        }
        codes.into_flattened()
    }
}

/// The size in bytes of the values of one side to move of a class, compressed as one zstd frame of level 19: with `wdl`
/// only the results, else the distances. One byte for each cell (two if `cells` has two) in the order of a file.
///
/// # Errors
/// If the material has too many pieces for an index, or zstd fails.
pub fn compressed_len(material: Material, cells: &Cells, wdl: bool) -> std::io::Result<usize> {
    let index = Index::new(material).ok_or_else(|| std::io::Error::other("no table has that many pieces"))?;
    let layout = Layout::new(&index);
    let who_wins = |code: u16| match CellValue::from_code(code) {
        None => 0,
        Some(CellValue::Draw) => 1,
        Some(CellValue::NoMove) => 2,
        Some(CellValue::Decided(plies)) => 3 + (plies % 2) as u8,
    };
    let bytes = if wdl {
        let cells = Cells::Byte((0..cells.len()).map(|cell| who_wins(cells.get(cell))).collect());
        layout.gather(cells.view())
    } else {
        layout.gather(cells.view())
    };
    Ok(zstd::bulk::compress(&bytes, 19)?.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    /// With `wdl`, different distances of one result compress like one value, and different results do not.
    #[test]
    fn only_who_wins_is_compressed() {
        let material: Material = "EvL".parse().unwrap();
        let cells = |values: [CellValue; 3]| {
            let mut random = Pcg64::seed_from_u64(4);
            Cells::Byte((0..ROW_CELLS).map(|_| values[random.next_u64() as usize % 3].code() as u8).collect())
        };
        let len =
            |values: [u16; 3], wdl| compressed_len(material, &cells(values.map(CellValue::Decided)), wdl).unwrap();
        let one = len([1; 3], true);
        assert_eq!(len([1, 3, 251], true), one, "all are won");
        assert_eq!(len([2, 4, 250], true), one, "all are lost");
        assert!(len([1, 3, 251], false) > 10 * one, "but not equally soon");
        let others = [CellValue::Draw, CellValue::NoMove, CellValue::Decided(2), CellValue::Decided(1)];
        for (i, &a) in others.iter().enumerate() {
            for &b in &others[..i] {
                let two = compressed_len(material, &cells([a, a, b]), true).unwrap();
                assert!(two > 10 * one, "{a:?} and {b:?} are told apart: {two} bytes, {one} of one value");
            }
        }
    }
}
