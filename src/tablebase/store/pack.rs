//! Repacked files (version 7): small, for probing and publishing. They store the canonical positions of one side to move,
//! replace values that follow from a capture or den entry, and compress small blocks with a shared dictionary.

use super::codec::compress;
use super::description::{Content, Description, Sides, codec_name};
use super::file::{MAX_BLOCK_BYTES, TableError, TableFile};
use super::table_error::PACKED_VERSION;
use super::write::write_blocks;
use super::zstd::bulk::Compressor;
use super::zstd::dict::EncoderDictionary;
use crate::board::{ByColor, Color};
use rayon::prelude::*;
use std::io;
use std::path::Path;

/// Compression level of zstd.
const LEVEL: i32 = 19;
/// The level that decides which side to move is stored: a fast one finds the same side.
const TRIAL_LEVEL: i32 = 1;
/// The bytes of a decoded block with rows of mean length (but at least one row): a probe decodes one block, or several if
/// the side to move is not stored.
const BLOCK_BYTES: usize = 8 << 10;
/// The most bytes of a dictionary. It is a part of the file and, once read, stays in memory.
const DICTIONARY_BYTES: usize = 1 << 20;
/// A dictionary has at most this share of the rows.
const DICTIONARY_SHARE: usize = 4;
/// Smaller sides have no dictionary, in bytes.
const LEAST_BYTES: usize = 1 << 19;

/// The bytes of a side to move, row by row.
pub(super) trait PackedRows: Sync {
    /// Appends the bytes of a row of a block to the bytes of the rows before it in the block.
    fn push(&self, turn: Color, row: usize, block: &mut Vec<u8>);
}

/// Whether a file is repacked by this version of the program.
pub(super) fn is_packed(file: &TableFile, content: Content) -> bool {
    let description = file.description();
    description.codec == codec_name(LEVEL) && description.dont_cares && description.content == content
}

/// Writes the canonical positions of `source`, whose values are given as `rows`, to a repacked file, atomically.
pub(super) fn write_packed(
    path: &Path,
    source: &TableFile,
    content: Content,
    rows: &impl PackedRows,
) -> Result<(), TableError> {
    let packer = Packer::new(source, content, rows);
    let Packed { sides, dictionary, blocks } = packer.pack().map_err(TableError::io(path))?;
    let description = Description {
        sides,
        canonical_rows: source.canonical().rows(),
        interchangeable: source.set_names(),
        block_rows: packer.block_rows,
        cell_bytes: packer.cell_bytes,
        dictionary,
        dont_cares: true,
        content,
        codec: codec_name(LEVEL),
        ..source.description().clone()
    };
    write_blocks(path, PACKED_VERSION, &description, &blocks)
}

/// The contents of a file.
struct Packed {
    sides: Sides,
    /// Bytes of the decoded dictionary; 0 without one.
    dictionary: usize,
    /// The dictionary, if there is one, and the blocks of rows.
    blocks: Vec<Box<[u8]>>,
}

struct Packer<'a, R> {
    rows: &'a R,
    /// The stored rows of the index.
    numbers: Vec<usize>,
    /// The bytes of all stored rows.
    bytes: usize,
    cell_bytes: usize,
    block_rows: usize,
}

impl<'a, R: PackedRows> Packer<'a, R> {
    fn new(source: &TableFile, content: Content, rows: &'a R) -> Packer<'a, R> {
        let cell_bytes = if content == Content::Wdl { 1 } else { source.description().cell_bytes };
        let canonical = source.canonical();
        let numbers: Vec<usize> = canonical.stored_rows().collect();
        let bytes = canonical.cells(source.index()) * cell_bytes;
        let longest = source.row_len() * cell_bytes;
        let block_rows = (BLOCK_BYTES * numbers.len() / bytes).min(MAX_BLOCK_BYTES / longest).max(1);
        Packer { rows, numbers, bytes, cell_bytes, block_rows }
    }

    fn pack(&self) -> io::Result<Packed> {
        let size =
            |turn| self.blocks(turn, &[], TRIAL_LEVEL).map(|blocks| blocks.iter().map(|block| block.len()).sum());
        let turn = smaller(ByColor { white: size(Color::White)?, black: size(Color::Black)? });
        let sides = if turn == Color::White { Sides::White } else { Sides::Black };
        let dictionary = self.dictionary(turn);
        let mut blocks = self.blocks(turn, &dictionary, LEVEL)?;
        if !dictionary.is_empty() {
            blocks.insert(0, compress(&dictionary, LEVEL)?);
        }
        Ok(Packed { sides, dictionary: dictionary.len(), blocks })
    }

    /// Single rows, evenly spread, because similar rows are too far apart to be in one block.
    fn dictionary(&self, turn: Color) -> Vec<u8> {
        if self.bytes < LEAST_BYTES {
            return Vec::new();
        }
        let count = self.numbers.len();
        let rows = (DICTIONARY_BYTES * count / self.bytes).min(count / DICTIONARY_SHARE);
        let mut bytes = Vec::new();
        (0..rows).for_each(|i| bytes.extend(self.bytes(turn, &self.numbers[(2 * i + 1) * count / (2 * rows)..][..1])));
        // Rows differ in length, so the chosen ones may be too long together.
        bytes.truncate(DICTIONARY_BYTES);
        bytes
    }

    /// The bytes of rows, not compressed.
    fn bytes(&self, turn: Color, rows: &[usize]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes / self.numbers.len() * rows.len());
        rows.iter().for_each(|&row| self.rows.push(turn, row, &mut bytes));
        bytes
    }

    /// The compressed blocks of a side to move.
    fn blocks(&self, turn: Color, dictionary: &[u8], level: i32) -> io::Result<Vec<Box<[u8]>>> {
        let dictionary = (!dictionary.is_empty()).then(|| EncoderDictionary::copy(dictionary, level));
        let encoder = || match &dictionary {
            Some(dictionary) => Compressor::with_prepared_dictionary(dictionary),
            None => Compressor::new(level),
        };
        let block = |encoder: &mut io::Result<Compressor<'_>>, rows: &[usize]| {
            let encoder = encoder.as_mut().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
            Ok(Box::from(encoder.compress(&self.bytes(turn, rows))?.as_slice()))
        };
        self.numbers.par_chunks(self.block_rows).map_init(encoder, block).collect()
    }
}

/// The side to store, given the compressed size of each in bytes.
fn smaller(size: ByColor<usize>) -> Color {
    if size.white <= size.black { Color::White } else { Color::Black }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_that_packs_better_is_kept() {
        for (white, black, kept) in [(3, 4, Color::White), (4, 3, Color::Black), (4, 4, Color::White)] {
            assert_eq!(smaller(ByColor { white, black }), kept);
        }
    }

    /// Rows that repeat their number.
    struct Numbered(usize);

    impl PackedRows for Numbered {
        fn push(&self, _: Color, row: usize, block: &mut Vec<u8>) {
            block.extend_from_slice(&(row as u32).to_le_bytes().repeat(self.0 / 4));
        }
    }

    #[test]
    fn a_dictionary_has_evenly_spread_rows() {
        // The number of rows and the bytes of each; the rows of the dictionary.
        for (count, row_bytes, chosen) in [(1024, 508, 0), (1024, 512, 256), (2000, 4096, 256), (40_000, 256, 4096)] {
            let rows = Numbered(row_bytes);
            let numbers: Vec<usize> = (0..count).map(|number| 3 * number).collect();
            let bytes = count * row_bytes;
            let packer = Packer { rows: &rows, numbers, bytes, cell_bytes: 1, block_rows: 16 };
            let dictionary = packer.dictionary(Color::White);
            assert_eq!(dictionary.len(), chosen * row_bytes);
            for (i, row) in dictionary.chunks_exact(row_bytes).enumerate() {
                // The middle of the i-th of `chosen` equal parts of the rows.
                let expected = 3.0 * (count as f64 * (i as f64 + 0.5) / chosen as f64).floor();
                assert_eq!(f64::from(u32::from_le_bytes(row[..4].try_into().unwrap())), expected, "{count} {i}");
            }
        }
    }
}
