//! Repacked files (version 3): small, for probing and publishing. They store one side to move, replace values that
//! follow from a capture or den entry, and compress small blocks with a shared dictionary.

use super::codec::compress;
use super::file::{Content, Description, Sides, TableError, TableFile, codec_name, write_blocks};
use super::table_error::PACKED_VERSION;
use crate::board::{ByColor, Color};
use rayon::prelude::*;
use std::io;
use std::path::Path;
use zstd::bulk::Compressor;
use zstd::dict::EncoderDictionary;

/// Compression level of zstd.
const LEVEL: i32 = 19;
/// The level that decides which side to move is stored: a fast one finds the same side.
const TRIAL_LEVEL: i32 = 1;
/// The most bytes of a decoded block (but at least one row): a probe decodes one block, or several if the side to move
/// is not stored.
const BLOCK_BYTES: usize = 16 << 10;
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
    description.codec == codec_name(LEVEL)
        && description.dont_cares
        && description.content == content
        && description.sides != Sides::Both
}

/// Writes the values of `source`, given as `rows`, to a repacked file, atomically.
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
    count: usize,
    row_bytes: usize,
    cell_bytes: usize,
    block_rows: usize,
}

impl<'a, R: PackedRows> Packer<'a, R> {
    fn new(source: &TableFile, content: Content, rows: &'a R) -> Packer<'a, R> {
        let cell_bytes = if content == Content::Wdl { 1 } else { source.description().cell_bytes };
        let row_bytes = source.row_len() * cell_bytes;
        Packer { rows, count: source.index().rows, row_bytes, cell_bytes, block_rows: (BLOCK_BYTES / row_bytes).max(1) }
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
        if self.count * self.row_bytes < LEAST_BYTES {
            return Vec::new();
        }
        let rows = (DICTIONARY_BYTES / self.row_bytes).min(self.count / DICTIONARY_SHARE);
        (0..rows).flat_map(|i| self.bytes(turn, (2 * i + 1) * self.count / (2 * rows), 1)).collect()
    }

    /// The bytes of `rows` rows, not compressed.
    fn bytes(&self, turn: Color, first: usize, rows: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(rows * self.row_bytes);
        (first..first + rows).for_each(|row| self.rows.push(turn, row, &mut bytes));
        bytes
    }

    /// The compressed blocks of a side to move.
    fn blocks(&self, turn: Color, dictionary: &[u8], level: i32) -> io::Result<Vec<Box<[u8]>>> {
        let dictionary = (!dictionary.is_empty()).then(|| EncoderDictionary::copy(dictionary, level));
        let encoder = || match &dictionary {
            Some(dictionary) => Compressor::with_prepared_dictionary(dictionary),
            None => Compressor::new(level),
        };
        let block = |encoder: &mut io::Result<Compressor<'_>>, first: usize| {
            let encoder = encoder.as_mut().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
            let bytes = self.bytes(turn, first, self.block_rows.min(self.count - first));
            Ok(Box::from(encoder.compress(&bytes)?.as_slice()))
        };
        let firsts: Vec<usize> = (0..self.count).step_by(self.block_rows).collect();
        firsts.into_par_iter().map_init(encoder, block).collect()
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
}
