//! One class as a file. All numbers are little-endian.
//!
//! ```text
//! offset  bytes
//! 0       8        magic: "DSQTABLE"
//! 8       4        format version: 6, or 7 for a repacked table
//! 12      4        length M of the description
//! 16      8        length of the file
//! 24      M        the description, JSON: see `Description`
//! 24 + M  8        XXH3-64 of everything before
//!                  the table of the blocks: see `block_table`
//!                  the blocks, one after the other: the sides that are stored, White to move first, rows in order
//!         8        XXH3-64 of everything before
//! ```
//!
//! If a repacked file has a dictionary, it is the first block.
//!
//! There are B = sides * ceil(rows / block_rows) blocks, where `sides` is 2, or 1 if only one side to move is stored,
//! and `rows` is the number of rows with canonical positions. The values of the other side follow from the values after
//! its moves, which lead to the stored side or to smaller classes. `layout` and `canonical` define the contents of a
//! block, `index` the numbers of rows and cells.

use crate::board::{Color, RuleOptions};
use crate::memory::has_memory;
use crate::tablebase::alike::interchangeable_sets;
use crate::tablebase::canonical::{Canonical, Place};
use crate::tablebase::index::Index;
use crate::tablebase::layout::Layout;
use crate::tablebase::order::solved_rows;
use crate::tablebase::squares::Squares;
use crate::tablebase::store::block_table::{BlockTable, block_sum, number};
use crate::tablebase::store::codec::{self, Dictionary};
use crate::tablebase::store::description::hex;
pub use crate::tablebase::store::description::{Content, Description, Sides};
use crate::tablebase::store::source::Source;
pub use crate::tablebase::store::table_error::TableError;
use crate::tablebase::store::table_error::{EXACT_VERSION, PACKED_VERSION};
use crate::tablebase::{Material, ROW_CELLS};
use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

mod values;

pub(super) const MAGIC: &[u8; 8] = b"DSQTABLE";
/// The offset of the description.
pub(super) const DESCRIPTION_AT: usize = 24;
/// The largest decoded block that the reader accepts, in bytes.
pub(super) const MAX_BLOCK_BYTES: usize = 1 << 20;
/// The largest decoded dictionary that the reader accepts, in bytes.
const MAX_DICTIONARY_BYTES: usize = 16 << 20;

/// Extension of table files.
const EXTENSION: &str = "dsq";
/// Bytes of one read when a whole file is read.
const CHUNK: usize = 1 << 20;
thread_local! {
    /// One buffer for each thread, for the compressed bytes of a block.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The error of a failed read: [`TableError::Damaged`] if the file has become shorter since it was opened.
fn read_error(path: &Path, source: io::Error) -> TableError {
    match source.kind() {
        io::ErrorKind::UnexpectedEof => TableError::Damaged { path: path.to_owned(), what: "it is cut short" },
        _ => TableError::io(path)(source),
    }
}

/// An open table file. Opening checks the header, reading a block checks the block.
pub struct TableFile {
    path: PathBuf,
    source: Source,
    /// The checksum of the whole file, stored at its end.
    checksum: u64,
    description: Description,
    stored: Stored,
    /// The index of the class.
    index: Index,
    layout: Layout,
    blocks: BlockTable,
    /// The dictionary, decoded when the first block is read.
    dictionary: OnceLock<Dictionary>,
    /// The sets of interchangeable pieces, and the canonical positions once they are needed.
    sets: Vec<Vec<usize>>,
    canonical: OnceLock<Canonical>,
}

/// The cells of canonical rows that a file stores.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stored {
    /// All cells (version 6).
    CanonicalRows,
    /// Those of canonical positions (version 7).
    CanonicalCells,
}

/// A decoded block.
pub(crate) struct Block {
    bytes: Vec<u8>,
    /// The number of its first row among the stored rows.
    first_row: usize,
    /// By row of the block, the number of its first cell, if rows differ in length.
    starts: Vec<u32>,
}

/// The place of a stored value.
#[derive(Copy, Clone, Debug)]
pub(crate) struct StoredPlace {
    /// The number of the block.
    pub block: usize,
    /// The number of the row among the stored rows of its side to move, and the number of the cell in the row.
    place: Place,
}

impl Block {
    /// The values of its rows, in the layout of `codec`.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl TableFile {
    /// The path of the table of a class in a directory, by the representative of the class.
    #[must_use]
    pub fn path(dir: &Path, class: Material) -> PathBuf {
        dir.join(format!("{class}.{EXTENSION}"))
    }

    /// Opens the table of a material under these rules.
    ///
    /// # Errors
    /// If the file cannot be read, its header is damaged, or it is for other rules or another material.
    pub fn open(path: &Path, rules: &RuleOptions, material: Material) -> Result<TableFile, TableError> {
        let source = Source::open(path).map_err(TableError::io(path))?;
        let damaged = |what| TableError::Damaged { path: path.to_owned(), what };
        let read = |at, len| source.bytes(at, len).map_err(|error| read_error(path, error));
        let start = read(0, source.len().min(DESCRIPTION_AT))?;
        // An empty file, as a full disk or a power failure leaves it, is a table that is cut short.
        if !MAGIC.starts_with(&start[..start.len().min(MAGIC.len())]) {
            return Err(TableError::Foreign { path: path.to_owned() });
        }
        let field = |at: Range<usize>| start.get(at).map(number).ok_or_else(|| damaged("it is cut short"));
        let stored = match field(8..12)? as u32 {
            PACKED_VERSION => Stored::CanonicalCells,
            EXACT_VERSION => Stored::CanonicalRows,
            found => return Err(TableError::Version { path: path.to_owned(), found }),
        };
        let (description_len, file_len) = (field(12..16)? as usize, field(16..24)?);
        let head_len = DESCRIPTION_AT + description_len;
        let head = read(0, head_len + 8)?;
        let (head, sum) = head.split_at(head_len);
        if number(sum) != xxh3_64(head) {
            return Err(damaged("the checksum of its head is wrong"));
        }
        if file_len != source.len() as u64 {
            return Err(damaged("its length is wrong"));
        }
        let description: Description =
            serde_json::from_slice(&head[DESCRIPTION_AT..]).map_err(|_| damaged("its description is not readable"))?;
        if description.rules_hash != hex(rules.table_hash()) {
            let (found, wanted) = (description.rules, rules.table_spelling());
            return Err(TableError::Rules { path: path.to_owned(), found, wanted });
        }
        if description.material != material.to_string() {
            let found = description.material;
            return Err(TableError::Material { path: path.to_owned(), found, wanted: material });
        }
        let index = Index::new(material, rules).ok_or(damaged("it names more pieces than a table has"))?;
        let (layout, sets) = (Layout::new(&index), interchangeable_sets(&index.pieces, rules));
        let is_sound = description.pieces == index.letters()
            && description.canonical_rows == solved_rows(&index.pieces, rules)
            && description.interchangeable == index.names(&sets)
            && (stored == Stored::CanonicalCells || description.is_plain())
            && fits(&description, &index, &layout);
        if !is_sound {
            return Err(damaged("its description does not fit its material"));
        }
        let sum_at = source.len() - 8;
        let blocks = BlockTable::new(head_len + 8, description.blocks(), sum_at).ok_or(damaged("it is cut short"))?;
        Ok(TableFile {
            path: path.to_owned(),
            checksum: number(&read(sum_at, 8)?),
            source,
            description,
            stored,
            index,
            layout,
            blocks,
            dictionary: OnceLock::new(),
            sets,
            canonical: OnceLock::new(),
        })
    }

    /// The path of the file.
    pub(crate) fn file_path(&self) -> &Path {
        &self.path
    }

    /// The description in the header.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Whether the file stores the values of this side to move.
    #[must_use]
    pub(crate) fn stores(&self, color: Color) -> bool {
        self.description.sides.colors().contains(&color)
    }

    /// Whether the file stores the value of every position with this side to move, as the solver needs them.
    #[must_use]
    pub(crate) fn is_exact(&self, color: Color) -> bool {
        self.stores(color) && !self.description.dont_cares && self.description.content == Content::Dtw
    }

    /// The index of its class.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Number of stored cells of a row.
    pub(crate) fn row_len(&self) -> usize {
        self.layout.row_len()
    }

    /// The length of the file in bytes.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.source.len() as u64
    }

    pub(crate) fn damaged(&self, what: &'static str) -> TableError {
        TableError::Damaged { path: self.path.clone(), what }
    }

    /// The canonical positions of the class.
    pub(crate) fn canonical(&self) -> &Canonical {
        self.canonical.get_or_init(|| Canonical::on_one_thread(&self.index, self.sets.clone()))
    }

    /// The names of the sets of interchangeable pieces, as in a description.
    pub(super) fn set_names(&self) -> Vec<String> {
        self.index.names(&self.sets)
    }

    /// The number of blocks of a side to move.
    pub(crate) fn side_blocks(&self) -> usize {
        self.description.side_blocks()
    }

    /// The number of the first block of a side to move, which must be stored.
    fn first_block(&self, color: Color) -> usize {
        if self.description.sides == Sides::Both { color as usize * self.side_blocks() } else { 0 }
    }

    /// The place of the value of the position with these squares of the pieces, reflected or not. The side to move must be
    /// stored.
    #[inline]
    pub(crate) fn stored_place(&self, color: Color, squares: Squares) -> StoredPlace {
        let place = match self.stored {
            Stored::CanonicalCells => self.canonical().place(squares),
            Stored::CanonicalRows => {
                let (row, is_reflected) = self.canonical().row_of(squares);
                let there = if is_reflected { squares.reflected() } else { squares };
                let n = self.index.pieces.len();
                Place { row, cell: self.layout.place(there.get(n - 2).into(), there.get(n - 1).into()) }
            }
        };
        StoredPlace { block: self.first_block(color) + place.row / self.description.block_rows, place }
    }

    /// The sets of interchangeable pieces, as places in the index.
    pub(crate) fn interchangeable(&self) -> &[Vec<usize>] {
        &self.sets
    }

    /// The codes of a block of a stored side to move, counted from the first block of this side.
    pub(crate) fn codes(&self, color: Color, number: usize) -> Result<Vec<u16>, TableError> {
        let bytes = self.block(self.first_block(color) + number)?.bytes;
        Ok(match self.description.cell_bytes {
            1 => bytes.into_iter().map(u16::from).collect(),
            _ => bytes.as_chunks().0.iter().map(|&bytes| u16::from_le_bytes(bytes)).collect(),
        })
    }

    /// The cells in a block of a side to move, in the order of the block.
    pub(crate) fn block_cells(&self, number: usize) -> impl Iterator<Item = usize> + '_ {
        let block_rows = self.description.block_rows;
        self.canonical().rows_from(number * block_rows).take(block_rows).flat_map(|row| {
            let cells: Box<dyn Iterator<Item = usize>> = match self.stored {
                Stored::CanonicalCells => Box::new(self.canonical().shape(&self.index, row).row_cells()),
                Stored::CanonicalRows => Box::new(self.layout.cells()),
            };
            cells.map(move |cell| row * ROW_CELLS + cell)
        })
    }

    /// Reads, checks and decodes a block.
    pub(crate) fn block(&self, number: usize) -> Result<Block, TableError> {
        let first_row = number % self.side_blocks() * self.description.block_rows;
        let rows = self.description.block_rows.min(self.description.canonical_rows - first_row);
        let mut starts = Vec::new();
        let cells = if self.stored == Stored::CanonicalCells {
            let canonical = self.canonical();
            canonical.rows_from(first_row).take(rows).fold(0, |cells, row| {
                starts.push(cells as u32);
                cells + canonical.shape(&self.index, row).len()
            })
        } else {
            rows * self.layout.row_len()
        };
        let len = cells * self.description.cell_bytes;
        let dictionary = self.dictionary()?;
        let decode = |packed: &[u8]| codec::decompress_with(dictionary, packed, len);
        Ok(Block { bytes: self.decode_block(number + usize::from(dictionary.is_some()), decode)?, first_row, starts })
    }

    /// As [`block`](TableFile::block), with the bytes of the block.
    pub(crate) fn sized_block(&self, number: usize) -> Result<(Block, usize), TableError> {
        let block = self.block(number)?;
        let bytes = block.bytes.len();
        Ok((block, bytes))
    }

    /// The dictionary of the blocks; `None` if they have none.
    fn dictionary(&self) -> Result<Option<&Dictionary>, TableError> {
        let len = self.description.dictionary;
        if len == 0 || self.dictionary.get().is_some() {
            return Ok(self.dictionary.get());
        }
        let dictionary = self.decode_block(0, |packed| Dictionary::decode(packed, len))?;
        Ok(Some(self.dictionary.get_or_init(|| dictionary)))
    }

    /// Reads, checks and decodes the block with this number in the block table.
    fn decode_block<T>(&self, number: usize, decode: impl FnOnce(&[u8]) -> Option<T>) -> Result<T, TableError> {
        if !has_memory(0) {
            return Err(read_error(&self.path, io::ErrorKind::OutOfMemory.into()));
        }
        let block = self.blocks.block(&self.source, number).map_err(|error| read_error(&self.path, error))?;
        let (at, sum) = block.ok_or_else(|| self.damaged("the table of its blocks is wrong"))?;
        BUFFER.with_borrow_mut(|buffer| {
            if buffer.len() < at.len() {
                buffer.resize(at.len(), 0);
            }
            let packed = &mut buffer[..at.len()];
            self.source.read(packed, at.start).map_err(|error| read_error(&self.path, error))?;
            if block_sum(packed) != sum {
                return Err(self.damaged("the checksum of a block is wrong"));
            }
            decode(packed).ok_or_else(|| self.damaged("a block cannot be decoded"))
        })
    }

    /// The code at a place, given its block.
    pub(crate) fn code(&self, block: &Block, StoredPlace { place, .. }: StoredPlace) -> u16 {
        let row = place.row - block.first_row;
        let start = if block.starts.is_empty() { row * self.layout.row_len() } else { block.starts[row] as usize };
        let at = start + place.cell;
        match self.description.cell_bytes {
            1 => u16::from(block.bytes[at]),
            _ => u16::from_le_bytes([block.bytes[2 * at], block.bytes[2 * at + 1]]),
        }
    }

    /// The checksum of the whole file, stored at its end.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        self.checksum
    }

    /// Compares the checksum of the whole file.
    ///
    /// # Errors
    /// If the checksum is wrong or the file cannot be read.
    pub fn check(&self) -> Result<(), TableError> {
        let (end, mut hash) = (self.source.len() - 8, Xxh3::new());
        let mut buffer = vec![0; CHUNK.min(end)];
        for at in (0..end).step_by(CHUNK) {
            let part = &mut buffer[..CHUNK.min(end - at)];
            self.source.read(part, at).map_err(|error| read_error(&self.path, error))?;
            hash.update(part);
        }
        if hash.digest() != self.checksum {
            return Err(self.damaged("its checksum is wrong"));
        }
        Ok(())
    }
}

/// Whether a description has the sizes of a table with this index.
fn fits(description: &Description, index: &Index, layout: &Layout) -> bool {
    let row_bytes = layout.row_len().saturating_mul(description.cell_bytes);
    description.rows == index.rows
        && description.dictionary <= MAX_DICTIONARY_BYTES
        && matches!(description.cell_bytes, 1 | 2)
        && description.block_rows > 0
        && row_bytes.checked_mul(description.block_rows).is_some_and(|bytes| bytes <= MAX_BLOCK_BYTES)
        && Color::ALL.iter().all(|&color| description.deepest[color].is_none_or(|cell| cell < index.cells()))
}
