//! One class as a file. All numbers are little-endian.
//!
//! ```text
//! offset  bytes
//! 0       8        magic: "DSQTABLE"
//! 8       4        format version: 1
//! 12      4        length M of the description
//! 16      M        the description, JSON: see `Description`
//!         16 * B   block table: for each block its length (u64) and the XXH3-64 of its bytes (u64)
//!         8        XXH3-64 of everything before
//!                  the blocks, one after the other: White to move first, rows in order, then Black to move
//!         8        XXH3-64 of everything before
//! ```
//!
//! There are B = 2 * ceil(rows / block_rows) blocks. What a block holds is said in `codec`, how rows and cells are
//! numbered in `index`.

use super::codec::Layout;
use super::index::Index;
use super::{Cells, Material, ROW_CELLS, Stats, Table};
use crate::board::{ByColor, Color, RuleOptions};
use memmap2::Mmap;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"DSQTABLE";
const VERSION: u32 = 1;
/// Bytes of a decoded block, about: as large as one probe can afford.
const BLOCK_BYTES: usize = 64 << 10;

/// Why a table file cannot be used.
#[derive(Debug, Error)]
pub enum TableError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} is no table of this program")]
    Foreign { path: PathBuf },
    #[error("{path} has format version {found}; this program reads version {VERSION}")]
    Version { path: PathBuf, found: u32 },
    #[error("{path} is damaged: {what}")]
    Damaged { path: PathBuf, what: &'static str },
    #[error("{path} was made for the rules {found}, not {wanted}")]
    Rules { path: PathBuf, found: String, wanted: String },
    #[error("{path} holds {found} instead of {wanted}")]
    Material { path: PathBuf, found: String, wanted: Material },
}

impl TableError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> TableError + '_ {
        move |source| TableError::Io { path: path.to_owned(), source }
    }
}

/// What a file says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The rules, spelled out but for repetition.
    pub rules: String,
    /// [`RuleOptions::table_hash`], 16 hexadecimal digits.
    pub rules_hash: String,
    /// The representative of the class.
    pub material: String,
    /// The pieces in the order of the index, capitals for White: row pieces, word piece, lane piece.
    pub pieces: String,
    pub rows: usize,
    pub block_rows: usize,
    /// Bytes of a cell: 1 or 2.
    pub cell_bytes: usize,
    /// The codec with its version.
    pub codec: String,
    /// Checksum of the decoded values of each side to move, 16 hexadecimal digits; no choice of codec changes it.
    pub values: ByColor<String>,
    /// The counts, White and Black to move.
    pub stats: ByColor<Stats>,
}

fn hex(number: u64) -> String {
    format!("{number:016x}")
}

/// How this program writes down the codec that it compresses with.
fn codec_name(level: i32) -> String {
    format!("zstd {} level {level}", zstd::zstd_safe::version_string())
}

fn block_rows(layout: &Layout, cell_bytes: usize) -> usize {
    (BLOCK_BYTES / (layout.row_len() * cell_bytes)).max(1)
}

/// Writes a class. The file appears under its name only when it is whole and on the disk.
pub fn write(
    path: &Path,
    rules: &RuleOptions,
    material: Material,
    table: &Table,
    stats: &ByColor<Stats>,
    level: i32,
) -> Result<(), TableError> {
    let index = Index::new(material);
    let layout = Layout::new(&index);
    let cells = ByColor { white: &table.cells.white, black: &table.cells.black };
    let cell_bytes = match cells.white {
        Cells::Byte(_) => 1,
        Cells::Wide(_) => 2,
    };
    let block_rows = block_rows(&layout, cell_bytes);
    let letters = index.men.iter().map(|&(color, animal)| crate::board::Piece { color, animal }.letter());
    let description = Description {
        rules: rules.table_spelling(),
        rules_hash: hex(rules.table_hash()),
        material: material.to_string(),
        pieces: letters.collect(),
        rows: index.rows,
        block_rows,
        cell_bytes,
        codec: codec_name(level),
        values: cells.map(|cells| hex(layout.checksum(cells))),
        stats: stats.clone(),
    };
    let description = serde_json::to_vec(&description).expect("a description is JSON");

    let starts: Vec<(Color, usize)> =
        Color::ALL.into_iter().flat_map(|c| (0..index.rows).step_by(block_rows).map(move |r| (c, r))).collect();
    let blocks: Vec<Vec<u8>> = starts
        .par_iter()
        .map(|&(color, first)| {
            let rows = first..(first + block_rows).min(index.rows);
            zstd::bulk::compress(&layout.gather(cells[color], rows), level).map_err(TableError::io(path))
        })
        .collect::<Result<_, _>>()?;

    let mut bytes = Vec::new();
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((description.len() as u32).to_le_bytes());
    bytes.extend(description);
    for block in &blocks {
        bytes.extend((block.len() as u64).to_le_bytes());
        bytes.extend(xxh3_64(block).to_le_bytes());
    }
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    blocks.iter().for_each(|block| bytes.extend(block));
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    write_whole(path, &bytes)
}

/// Extension of files that are being written.
pub(crate) const PARTIAL: &str = "partial";

/// Writes a file under another name, brings it to the disk, and gives it its name. What goes wrong leaves nothing behind.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), TableError> {
    let partial = path.with_added_extension(PARTIAL);
    let written = File::create(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&partial, path)).and_then(|()| match path.parent() {
        // The name itself is on the disk only when the directory is. Not every system can do that.
        Some(dir) if cfg!(unix) => File::open(dir).and_then(|dir| dir.sync_all()),
        _ => Ok(()),
    });
    renamed.map_err(|source| {
        let _ = fs::remove_file(&partial);
        TableError::Io { path: path.to_owned(), source }
    })
}

/// An open table file. Its head is checked on opening, each block when it is read.
pub struct TableFile {
    path: PathBuf,
    bytes: Mmap,
    description: Description,
    index: Index,
    layout: Layout,
    /// Where each block starts, with the end of the last, and its checksum.
    starts: Vec<usize>,
    checksums: Vec<u64>,
}

/// A decoded block, to look up cells in.
pub(crate) struct Block {
    bytes: Vec<u8>,
    first_row: usize,
}

impl TableFile {
    /// Opens the table of a material under these rules.
    pub fn open(path: &Path, rules: &RuleOptions, material: Material) -> Result<TableFile, TableError> {
        let file = File::open(path).map_err(TableError::io(path))?;
        // SAFETY: the mapping is only read. Tables are never written in place, only replaced by a rename, which leaves
        // the mapped file alone; that nobody else cuts it short meanwhile is what using a mapping takes on trust.
        let bytes = unsafe { Mmap::map(&file) }.map_err(TableError::io(path))?;
        let damaged = |what| TableError::Damaged { path: path.to_owned(), what };
        if bytes.get(..8) != Some(MAGIC) {
            return Err(TableError::Foreign { path: path.to_owned() });
        }
        let number = |at: usize, len: usize| -> Result<u64, TableError> {
            let bytes = at.checked_add(len).and_then(|end| bytes.get(at..end)).ok_or(damaged("it is cut short"))?;
            Ok(bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte)))
        };
        let version = number(8, 4)? as u32;
        if version != VERSION {
            return Err(TableError::Version { path: path.to_owned(), found: version });
        }
        let table = 16 + number(12, 4)? as usize;
        let description = bytes.get(16..table).ok_or(damaged("it is cut short"))?;
        let description: Description =
            serde_json::from_slice(description).map_err(|_| damaged("its description is not readable"))?;
        if description.rules_hash != hex(rules.table_hash()) {
            let (found, wanted) = (description.rules, rules.table_spelling());
            return Err(TableError::Rules { path: path.to_owned(), found, wanted });
        }
        if description.material != material.to_string() {
            let found = description.material;
            return Err(TableError::Material { path: path.to_owned(), found, wanted: material });
        }
        let index = Index::new(material);
        let layout = Layout::new(&index);
        let sound = description.rows == index.rows
            && matches!(description.cell_bytes, 1 | 2)
            && description.block_rows == block_rows(&layout, description.cell_bytes);
        if !sound {
            return Err(damaged("its description does not fit its material"));
        }
        let count = 2 * index.rows.div_ceil(description.block_rows);
        let end = table + 16 * count;
        let head = bytes.get(..end).ok_or(damaged("it is cut short"))?;
        if number(end, 8)? != xxh3_64(head) {
            return Err(damaged("the checksum of its head is wrong"));
        }
        let mut starts = vec![end + 8];
        let mut checksums = Vec::with_capacity(count);
        for i in 0..count {
            let len = number(table + 16 * i, 8)? as usize;
            let next = starts[i].checked_add(len).ok_or(damaged("a block is too long"))?;
            starts.push(next);
            checksums.push(number(table + 16 * i + 8, 8)?);
        }
        if starts[count].checked_add(8) != Some(bytes.len()) {
            return Err(damaged("its length is wrong"));
        }
        Ok(TableFile { path: path.to_owned(), bytes, description, index, layout, starts, checksums })
    }

    /// What the file says of itself.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Whether it is compressed as this program would at that level.
    #[must_use]
    pub fn is_packed(&self, level: i32) -> bool {
        self.description.codec == codec_name(level)
    }

    /// The index of its cells.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Its length in bytes.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn damaged(&self, what: &'static str) -> TableError {
        TableError::Damaged { path: self.path.clone(), what }
    }

    /// The number of the block that holds a cell.
    pub(crate) fn block_of(&self, color: Color, cell: usize) -> usize {
        let per_side = self.index.rows.div_ceil(self.description.block_rows);
        color as usize * per_side + cell / ROW_CELLS / self.description.block_rows
    }

    /// Reads and checks a block.
    pub(crate) fn block(&self, number: usize) -> Result<Block, TableError> {
        let per_side = self.index.rows.div_ceil(self.description.block_rows);
        let first_row = number % per_side * self.description.block_rows;
        let rows = self.description.block_rows.min(self.index.rows - first_row);
        let len = rows * self.layout.row_len() * self.description.cell_bytes;
        let bytes = &self.bytes[self.starts[number]..self.starts[number + 1]];
        if xxh3_64(bytes) != self.checksums[number] {
            return Err(self.damaged("the checksum of a block is wrong"));
        }
        match zstd::bulk::decompress(bytes, len) {
            Ok(bytes) if bytes.len() == len => Ok(Block { bytes, first_row }),
            _ => Err(self.damaged("a block cannot be decoded")),
        }
    }

    /// The code of a cell in its block.
    pub(crate) fn code(&self, block: &Block, cell: usize) -> u16 {
        let place = self.layout.place(cell, block.first_row);
        match self.description.cell_bytes {
            1 => u16::from(block.bytes[place]),
            _ => u16::from_le_bytes([block.bytes[2 * place], block.bytes[2 * place + 1]]),
        }
    }

    /// Checks the checksum of the whole file.
    pub fn check(&self) -> Result<(), TableError> {
        let (body, sum) = self.bytes.split_at(self.bytes.len() - 8);
        if xxh3_64(body).to_le_bytes() != *sum {
            return Err(self.damaged("its checksum is wrong"));
        }
        Ok(())
    }

    /// Decodes the whole table, and checks the checksum of its values.
    pub fn load(&self) -> Result<Table, TableError> {
        let side = |color: Color| -> Result<Cells, TableError> {
            let len = self.index.rows * ROW_CELLS;
            let mut cells =
                if self.description.cell_bytes == 1 { Cells::Byte(vec![0; len]) } else { Cells::Wide(vec![0; len]) };
            for first in (0..self.index.rows).step_by(self.description.block_rows) {
                let block = self.block(self.block_of(color, first * ROW_CELLS))?;
                let rows = first..(first + self.description.block_rows).min(self.index.rows);
                self.layout.scatter(&block.bytes, &mut cells, rows, |row| super::pass::valid_row(&self.index, row).0);
            }
            if hex(self.layout.checksum(&cells)) != self.description.values[color] {
                return Err(self.damaged("the checksum of its values is wrong"));
            }
            Ok(cells)
        };
        Ok(Table { cells: ByColor { white: side(Color::White)?, black: side(Color::Black)? } })
    }
}
