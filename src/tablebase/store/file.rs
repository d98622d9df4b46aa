//! One class as a file. All numbers are little-endian.
//!
//! ```text
//! offset  bytes
//! 0       8        magic: "DSQTABLE"
//! 8       4        format version: 2, or 4 for a repacked table
//! 12      4        length M of the description
//! 16      M        the description, JSON: see `Description`
//!         16 * B   block table: for each block its length (u64) and the XXH3-64 of its bytes (u64)
//!         8        XXH3-64 of everything before
//!                  the blocks, one after the other: the sides that are stored, White to move first, rows in order
//!         8        XXH3-64 of everything before
//! ```
//!
//! If a repacked file has a dictionary, it is the first block.
//!
//! There are B = sides * ceil(rows / block_rows) blocks, where `sides` is 2, or 1 if only one side to move is stored, and
//! `rows` is the number of stored rows: those of the index, or of a repacked table those with canonical positions.
//! The values of the other side follow from the values after its moves, which lead to the stored side or to smaller
//! classes. `layout` defines the contents of a block, `index` the numbers of rows and cells.

use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::canonical::{Canonical, Place, interchangeable_sets};
use crate::tablebase::index::Index;
use crate::tablebase::layout::{Layout, block_bytes, checksum_codes};
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::store::codec::{self, Dictionary};
use crate::tablebase::store::partial::write_whole;
use crate::tablebase::store::source::Source;
pub use crate::tablebase::store::table_error::TableError;
use crate::tablebase::store::table_error::{EXACT_VERSION, PACKED_VERSION};
use crate::tablebase::value::{CellsMut, CellsRef};
use crate::tablebase::{CellValue, Cells, Class, MAX_PIECES, Material, ROW_CELLS, Stats, Table, WIDTH};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const MAGIC: &[u8; 8] = b"DSQTABLE";
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

/// How a table with all values of both sides to move is written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packing {
    /// The most bytes of a decoded block (but at least one row).
    block_bytes: usize,
    /// Compression level of zstd.
    level: i32,
}

impl Packing {
    /// The packing of new tables: most of the time would be compression at a higher level.
    pub(crate) fn fast(material: Material) -> Packing {
        Packing { block_bytes: 64 << 10, level: if material.len() < MAX_PIECES { 5 } else { 3 } }
    }
}

/// The sides to move that a file stores.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sides {
    /// White to move and Black to move.
    Both,
    /// White to move.
    White,
    /// Black to move.
    Black,
}

impl Sides {
    /// The stored sides, in the order of the file.
    #[must_use]
    pub fn colors(self) -> &'static [Color] {
        match self {
            Sides::Both => &Color::ALL,
            Sides::White => &[Color::White],
            Sides::Black => &[Color::Black],
        }
    }
}

/// The kind of the values of a file.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Win, draw or loss, and the distance to the end.
    #[default]
    Dtw,
    /// Win, draw or loss: a win is stored as a win in 1 ply, a loss as a loss in 2.
    Wdl,
}

/// The description in the header of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// All rule options except repetition, as text.
    pub rules: String,
    /// [`RuleOptions::table_hash`] as 16 hexadecimal digits.
    pub rules_hash: String,
    /// The representative of the class.
    pub material: String,
    /// The pieces in the order of the index, capitals for White: row pieces, word piece, lane piece.
    pub pieces: String,
    /// Number of rows of the index.
    pub rows: usize,
    /// If the file stores only canonical positions, the number of rows with such positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical_rows: Option<usize>,
    /// If the file stores only canonical positions, the sets of two or more interchangeable pieces, in the order of the
    /// index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interchangeable: Vec<String>,
    /// The sides to move that are stored.
    pub sides: Sides,
    /// Rows of a block; the last block has the remaining rows.
    pub block_rows: usize,
    /// Bytes of a cell: 1 or 2.
    pub cell_bytes: usize,
    /// Bytes of the decoded dictionary; 0 without a dictionary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dictionary: usize,
    /// Whether a value that follows from a capture or den entry may be replaced by a worse one. A probe then takes the
    /// best of the stored value and the values of the captures and den entries.
    #[serde(default, skip_serializing_if = "is_false")]
    pub dont_cares: bool,
    /// The kind of the values.
    #[serde(default, skip_serializing_if = "is_default")]
    pub content: Content,
    /// The codec with its version and level.
    pub codec: String,
    /// Checksum of the values of each side to move, stored or not, as 16 hexadecimal digits; independent of the codec.
    pub values: ByColor<String>,
    /// For each side to move the first cell with the longest distance; `None` if no position is decided.
    pub deepest: ByColor<Option<usize>>,
    /// The counts, with White and Black to move.
    pub stats: ByColor<Stats>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_default(content: &Content) -> bool {
    *content == Content::default()
}

/// The error of a failed read: [`TableError::Damaged`] if the file has become shorter since it was opened.
fn read_error(path: &Path, source: io::Error) -> TableError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::UnexpectedEof => TableError::Damaged { path, what: "it is cut short" },
        _ => TableError::Io { path, source },
    }
}

/// The little-endian number in up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte))
}

pub(super) fn hex(number: u64) -> String {
    format!("{number:016x}")
}

/// The name of the codec in descriptions.
pub(super) fn codec_name(level: i32) -> String {
    format!("zstd {} level {level}", zstd::zstd_safe::version_string())
}

/// The values of a class, as a source for [`write`].
pub(crate) trait Values: Sync {
    /// Bytes of a cell.
    fn cell_bytes(&self) -> usize;
    /// Replaces `codes` by the codes of a range of rows in the order of the file, with 0 for a cell without a position.
    /// `codes` must have the width of the cells.
    fn gather(&self, layout: &Layout, color: Color, rows: Range<usize>, codes: &mut Cells);
    /// The first cell with the longest distance of a side to move; `None` if no position is decided.
    fn deepest(&self, color: Color, stats: &Stats) -> Option<usize>;
}

impl Values for Table {
    fn cell_bytes(&self) -> usize {
        self.cells.white.cell_bytes()
    }

    fn gather(&self, layout: &Layout, color: Color, rows: Range<usize>, codes: &mut Cells) {
        layout.gather(self.cells[color].view().range(rows.start * ROW_CELLS..rows.end * ROW_CELLS), codes);
    }

    fn deepest(&self, color: Color, stats: &Stats) -> Option<usize> {
        let plies = stats.by_plies.iter().rposition(|&n| n > 0)?;
        let code = CellValue::Decided(plies as u16).code();
        match self.cells[color].view() {
            CellsRef::Byte(cells) => first(cells, code.try_into().ok()?),
            CellsRef::Wide(cells) => first(cells, code),
        }
    }
}

/// The first cell with this code. Rayon searches large parts: cell by cell, its overhead exceeds the comparisons.
fn first<C: PartialEq + Sync>(cells: &[C], code: C) -> Option<usize> {
    const PART: usize = 1 << 16;
    let start = PART * cells.par_chunks(PART).position_first(|part| part.contains(&code))?;
    cells[start..].iter().position(|cell| *cell == code).map(|cell| start + cell)
}

/// The compressed blocks of a side to move.
struct Side {
    blocks: Vec<Box<[u8]>>,
    checksum: u64,
}

/// Number of blocks that are compressed in parallel before their values enter the checksum.
const BATCH: usize = 64;

/// The input of [`write`] and the division into blocks.
struct Writer<'a> {
    values: &'a dyn Values,
    layout: Layout,
    rows: usize,
    block_rows: usize,
}

impl Writer<'_> {
    fn side(&self, color: Color, level: i32) -> io::Result<Side> {
        // Reuses memory for all batches: clearing fresh memory takes about as long as everything else except zstd.
        let mut batch: Vec<_> = (0..BATCH).map(|_| (Cells::empty(self.values.cell_bytes(), 0), Vec::new())).collect();
        let (mut blocks, mut hash) = (Vec::new(), Xxh3::new());
        let starts: Vec<usize> = (0..self.rows).step_by(self.block_rows).collect();
        for starts in starts.chunks(BATCH) {
            let made = starts.par_iter().zip(&mut batch).map(|(&first, (codes, hashed))| {
                let rows = first..(first + self.block_rows).min(self.rows);
                self.values.gather(&self.layout, color, rows, codes);
                checksum_codes(codes.view(), hashed);
                codec::compress(block_bytes(codes), level)
            });
            blocks.extend(made.collect::<io::Result<Vec<_>>>()?);
            batch[..starts.len()].iter().for_each(|(_, hashed)| hash.update(bytemuck::cast_slice(hashed)));
        }
        Ok(Side { blocks, checksum: hash.digest() })
    }
}

/// Writes the file of a solved class in a directory of tables, as every solver does.
pub(crate) fn write_class(
    dir: &Path,
    rules: &RuleOptions,
    material: Material,
    values: &dyn Values,
    stats: &ByColor<Stats>,
) -> Result<(), TableError> {
    write(&TableFile::path(dir, material), rules, material, values, stats, Packing::fast(material))
}

/// Writes the file of a class, atomically: the name appears only when the file is complete and on the disk.
pub(crate) fn write(
    path: &Path,
    rules: &RuleOptions,
    material: Material,
    values: &dyn Values,
    stats: &ByColor<Stats>,
    packing: Packing,
) -> Result<(), TableError> {
    let index = Index::new(material).expect("no class has more pieces than an index");
    let layout = Layout::new(&index);
    let cell_bytes = values.cell_bytes();
    let block_rows = (packing.block_bytes / (layout.row_len() * cell_bytes)).max(1);
    let writer = Writer { values, layout, rows: index.rows, block_rows };
    let side = |color| writer.side(color, packing.level).map_err(TableError::io(path));
    let made = ByColor { white: side(Color::White)?, black: side(Color::Black)? };
    let letters = index.pieces.iter().map(|piece| piece.letter());
    let description = Description {
        rules: rules.table_spelling(),
        rules_hash: hex(rules.table_hash()),
        material: material.to_string(),
        pieces: letters.collect(),
        rows: index.rows,
        canonical_rows: None,
        interchangeable: Vec::new(),
        sides: Sides::Both,
        block_rows,
        cell_bytes,
        dictionary: 0,
        dont_cares: false,
        content: Content::Dtw,
        codec: codec_name(packing.level),
        values: ByColor::from_fn(|color| hex(made[color].checksum)),
        deepest: ByColor::from_fn(|color| values.deepest(color, &stats[color])),
        stats: stats.clone(),
    };
    let blocks: Vec<_> = made.white.blocks.into_iter().chain(made.black.blocks).collect();
    write_blocks(path, EXACT_VERSION, &description, &blocks)
}

/// Writes a file of these blocks, atomically.
pub(super) fn write_blocks(
    path: &Path,
    version: u32,
    description: &Description,
    blocks: &[Box<[u8]>],
) -> Result<(), TableError> {
    let description = serde_json::to_vec(description).expect("a description is JSON");
    let mut bytes = Vec::new();
    bytes.extend(MAGIC);
    bytes.extend(version.to_le_bytes());
    bytes.extend((description.len() as u32).to_le_bytes());
    bytes.extend(description);
    for block in blocks {
        bytes.extend((block.len() as u64).to_le_bytes());
        bytes.extend(xxh3_64(block).to_le_bytes());
    }
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    blocks.iter().for_each(|block| bytes.extend_from_slice(block));
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    write_whole(path, &bytes)
}

/// Checks values that were solved again against the checksums of the file at `path`.
pub(crate) fn check_values(
    path: &Path,
    class: &Class,
    table: &Table,
    values: &ByColor<String>,
) -> Result<(), TableError> {
    let layout = Layout::new(&class.index());
    if Color::ALL.iter().all(|&color| hex(layout.checksum(table.cells[color].view())) == values[color]) {
        return Ok(());
    }
    Err(TableError::Damaged { path: path.to_owned(), what: "its values do not match its material" })
}

/// An open table file. Opening checks the header, reading a block checks the block.
pub struct TableFile {
    path: PathBuf,
    source: Source,
    /// The checksum of the whole file, stored at its end.
    checksum: u64,
    description: Description,
    index: Index,
    layout: Layout,
    /// The offset of each block in the file, followed by the end of the last block, and the checksum of each block.
    starts: Vec<usize>,
    checksums: Vec<u64>,
    /// The dictionary, decoded when the first block is read.
    dictionary: OnceLock<Dictionary>,
    /// The sets of interchangeable pieces, and the canonical positions once they are needed.
    sets: Vec<Vec<usize>>,
    canonical: OnceLock<Canonical>,
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

/// A side to move of a file, for reading rows of the index in the order of `layout`.
pub(crate) struct SideRows<'a> {
    file: &'a TableFile,
    color: Color,
    /// All blocks, if the file stores only canonical positions.
    blocks: Vec<Block>,
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
        let start = read(0, source.len().min(16))?;
        // An empty file, as a full disk or a power failure leaves it, is a table that is cut short.
        if !MAGIC.starts_with(&start[..start.len().min(MAGIC.len())]) {
            return Err(TableError::Foreign { path: path.to_owned() });
        }
        let [version, len] = [8, 12].map(|at| start.get(at..at + 4).map(|bytes| number(bytes) as usize));
        let version = version.ok_or(damaged("it is cut short"))? as u32;
        if ![EXACT_VERSION, PACKED_VERSION].contains(&version) {
            return Err(TableError::Version { path: path.to_owned(), found: version });
        }
        let table = 16 + len.ok_or(damaged("it is cut short"))?;
        let description: Description =
            serde_json::from_slice(&read(16, table - 16)?).map_err(|_| damaged("its description is not readable"))?;
        let stored_rows = description.canonical_rows.unwrap_or(description.rows);
        let end = (stored_rows.checked_next_multiple_of(description.block_rows))
            .and_then(|rows| (rows / description.block_rows).checked_mul(16 * description.sides.colors().len()))
            .and_then(|len| len.checked_add(table + 16 * usize::from(description.dictionary > 0)))
            .ok_or(damaged("its description is inconsistent"))?;
        let count = (end - table) / 16;
        let head = read(0, end.checked_add(8).ok_or(damaged("its description is inconsistent"))?)?;
        if number(&head[end..]) != xxh3_64(&head[..end]) {
            return Err(damaged("the checksum of its head is wrong"));
        }
        if description.rules_hash != hex(rules.table_hash()) {
            let (found, wanted) = (description.rules, rules.table_spelling());
            return Err(TableError::Rules { path: path.to_owned(), found, wanted });
        }
        if description.material != material.to_string() {
            let found = description.material;
            return Err(TableError::Material { path: path.to_owned(), found, wanted: material });
        }
        let index = Index::new(material).ok_or(damaged("it names more pieces than a table has"))?;
        let layout = Layout::new(&index);
        let cells = index.cells();
        let row_bytes = layout.row_len().saturating_mul(description.cell_bytes);
        let exact = description.dictionary == 0 && !description.dont_cares && description.content == Content::Dtw;
        let sets = interchangeable_sets(&index, rules);
        let canonical = (description.canonical_rows, &description.interchangeable);
        let version_is_sound = if version == PACKED_VERSION {
            canonical == (Some(Rows::count(&index, rules)), &set_names(&index, &sets))
        } else {
            exact && canonical == (None, &Vec::new())
        };
        let sound = description.rows == index.rows
            && version_is_sound
            && description.dictionary <= MAX_DICTIONARY_BYTES
            && matches!(description.cell_bytes, 1 | 2)
            && row_bytes.checked_mul(description.block_rows).is_some_and(|bytes| bytes <= MAX_BLOCK_BYTES)
            && Color::ALL.iter().all(|&color| description.deepest[color].is_none_or(|cell| cell < cells));
        if !sound {
            return Err(damaged("its description does not fit its material"));
        }
        let mut starts = vec![end + 8];
        let mut checksums = Vec::with_capacity(count);
        for (i, entry) in head[table..end].chunks_exact(16).enumerate() {
            let next = usize::try_from(number(&entry[..8])).ok().and_then(|len| starts[i].checked_add(len));
            starts.push(next.ok_or(damaged("a block is too long"))?);
            checksums.push(number(&entry[8..]));
        }
        let sum_at = starts[count];
        if sum_at.checked_add(8) != Some(source.len()) {
            return Err(damaged("its length is wrong"));
        }
        let checksum = number(&read(sum_at, 8)?);
        let (path, dictionary) = (path.to_owned(), OnceLock::new());
        let canonical = OnceLock::new();
        Ok(TableFile {
            path,
            source,
            checksum,
            description,
            index,
            layout,
            starts,
            checksums,
            dictionary,
            sets,
            canonical,
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

    /// The index of its cells.
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

    /// The canonical positions of the class, whether the file stores only these or not.
    pub(crate) fn canonical(&self) -> &Canonical {
        self.canonical.get_or_init(|| Canonical::new(&self.index, self.sets.clone()))
    }

    /// The names of the sets of interchangeable pieces, as in a description.
    pub(super) fn set_names(&self) -> Vec<String> {
        set_names(&self.index, &self.sets)
    }

    /// The number of stored rows of a side to move.
    fn side_rows(&self) -> usize {
        self.description.canonical_rows.unwrap_or(self.index.rows)
    }

    /// The number of blocks of a side to move.
    fn side_blocks(&self) -> usize {
        self.side_rows().div_ceil(self.description.block_rows)
    }

    /// The number of the first block of a side to move, which must be stored.
    fn first_block(&self, color: Color) -> usize {
        if self.description.sides == Sides::Both { color as usize * self.side_blocks() } else { 0 }
    }

    /// The place of the value of a cell. The side to move must be stored and the cell must have a position.
    pub(crate) fn stored_place(&self, color: Color, cell: usize) -> StoredPlace {
        let place = if self.description.canonical_rows.is_some() {
            self.canonical().place(&self.index, cell)
        } else {
            Place { row: cell / ROW_CELLS, cell: self.layout.place(cell % ROW_CELLS, 0) }
        };
        StoredPlace { block: self.first_block(color) + place.row / self.description.block_rows, place }
    }

    /// Reads, checks and decodes a block.
    pub(crate) fn block(&self, number: usize) -> Result<Block, TableError> {
        let first_row = number % self.side_blocks() * self.description.block_rows;
        let rows = self.description.block_rows.min(self.side_rows() - first_row);
        let mut starts = Vec::new();
        let cells = if self.description.canonical_rows.is_some() {
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
        Ok(Block { bytes: self.decode(number + usize::from(dictionary.is_some()), decode)?, first_row, starts })
    }

    /// The dictionary of the blocks; `None` if they have none.
    fn dictionary(&self) -> Result<Option<&Dictionary>, TableError> {
        let len = self.description.dictionary;
        if len == 0 || self.dictionary.get().is_some() {
            return Ok(self.dictionary.get());
        }
        let dictionary = self.decode(0, |packed| Dictionary::decode(packed, len))?;
        Ok(Some(self.dictionary.get_or_init(|| dictionary)))
    }

    /// Reads, checks and decodes the block with this number in the block table.
    fn decode<T>(&self, number: usize, decode: impl FnOnce(&[u8]) -> Option<T>) -> Result<T, TableError> {
        let (start, end) = (self.starts[number], self.starts[number + 1]);
        BUFFER.with_borrow_mut(|buffer| {
            if buffer.len() < end - start {
                buffer.resize(end - start, 0);
            }
            let packed = &mut buffer[..end - start];
            self.source.read(packed, start).map_err(|error| read_error(&self.path, error))?;
            if xxh3_64(packed) != self.checksums[number] {
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

    /// The rows of a stored side to move.
    pub(crate) fn rows(&self, color: Color) -> Result<SideRows<'_>, TableError> {
        let blocks = match self.description.canonical_rows {
            None => Vec::new(),
            Some(_) => {
                let first = self.first_block(color);
                (first..first + self.side_blocks())
                    .into_par_iter()
                    .map(|number| self.block(number))
                    .collect::<Result<_, _>>()?
            }
        };
        Ok(SideRows { file: self, color, blocks })
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

    /// Decodes all values of a side to move that is stored exactly, and compares their checksum.
    pub(crate) fn load(&self, color: Color) -> Result<Cells, TableError> {
        let mut cells = self.empty_cells();
        self.load_into(color, cells.view_mut())?;
        Ok(cells)
    }

    /// As [`load`](TableFile::load), for both sides to move.
    pub(crate) fn load_table(&self) -> Result<Table, TableError> {
        Ok(Table { cells: ByColor { white: self.load(Color::White)?, black: self.load(Color::Black)? } })
    }

    /// Decodes the stored bytes of a side to move, don't-cares included.
    pub(crate) fn load_stored(&self, color: Color) -> Result<Cells, TableError> {
        let mut cells = self.empty_cells();
        self.decode_into(color, cells.view_mut())?;
        Ok(cells)
    }

    fn empty_cells(&self) -> Cells {
        Cells::empty(self.description.cell_bytes, self.index.rows * ROW_CELLS)
    }

    /// As [`load`](TableFile::load), into `cells`, which must have the file's number and width of cells and be zero.
    pub(crate) fn load_into<'a>(&self, color: Color, cells: CellsMut<'a>) -> Result<CellsRef<'a>, TableError> {
        let cells = self.decode_into(color, cells)?;
        self.check_values(color, cells)?;
        Ok(cells)
    }

    fn decode_into<'a>(&self, color: Color, mut cells: CellsMut<'a>) -> Result<CellsRef<'a>, TableError> {
        let rows = self.rows(color)?;
        let at_once = rows.at_once();
        cells.chunks(at_once * ROW_CELLS).into_par_iter().enumerate().try_for_each(|(i, cells)| {
            let first = i * at_once;
            let bytes = rows.bytes(first, at_once.min(self.index.rows - first))?;
            self.layout.scatter(&bytes, cells, first, |row| self.index.valid_row(row));
            Ok(())
        })?;
        Ok(cells.read())
    }

    /// Compares the values of a side to move, stored or not, with their checksum.
    pub(crate) fn check_values(&self, color: Color, cells: CellsRef<'_>) -> Result<(), TableError> {
        if hex(self.layout.checksum(cells)) != self.description.values[color] {
            return Err(self.damaged("the checksum of its values is wrong"));
        }
        Ok(())
    }
}

impl SideRows<'_> {
    /// The number of consecutive rows that are best read at once.
    pub(crate) fn at_once(&self) -> usize {
        if self.blocks.is_empty() { self.file.description.block_rows } else { 16 }
    }

    /// The bytes of `count` rows of the index from the row `first` on, in the order of `layout`; arbitrary bytes for
    /// cells without a position. `first` must be a multiple of [`at_once`](SideRows::at_once), and `count` at most this
    /// number.
    pub(crate) fn bytes(&self, first: usize, count: usize) -> Result<Vec<u8>, TableError> {
        let file = self.file;
        if self.blocks.is_empty() {
            return Ok(file.block(file.first_block(self.color) + first / file.description.block_rows)?.bytes);
        }
        let (canonical, block_rows, width) =
            (file.canonical(), file.description.block_rows, file.description.cell_bytes);
        let mut bytes = vec![0; count * file.layout.row_len() * width];
        for (row, to) in (first..).zip(bytes.chunks_exact_mut(file.layout.row_len() * width)) {
            canonical.visit_row(&file.index, row, |word, lane, place| {
                let block = &self.blocks[place.row / block_rows];
                let from = block.starts[place.row - block.first_row] as usize + place.cell;
                let at = file.layout.place(word * WIDTH + lane, 0);
                to[at * width..][..width].copy_from_slice(&block.bytes[from * width..][..width]);
            });
        }
        Ok(bytes)
    }
}

/// The names of sets of pieces, given as places in the order of the index.
fn set_names(index: &Index, sets: &[Vec<usize>]) -> Vec<String> {
    sets.iter().map(|set| set.iter().map(|&place| index.pieces[place].letter()).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::Solver;

    /// Checks that loading and probing find every value that a file stores.
    fn holds(file: &TableFile, cells: &ByColor<Cells>) {
        for &color in file.description().sides.colors() {
            assert_eq!(file.load(color).unwrap(), cells[color]);
            for cell in (0..cells[color].len()).step_by(97).filter(|&c| cells[color].get(c) != 0) {
                let place = file.stored_place(color, cell);
                let block = file.block(place.block).unwrap();
                assert_eq!(file.code(&block, place), cells[color].get(cell));
            }
        }
    }

    /// Two bytes for each cell, as for lines longer than 253 plies. No small class has such a line.
    #[test]
    fn wide_cells_come_back() {
        let rules = RuleOptions::PAPER;
        let material: Material = "ERvR".parse().unwrap();
        let solver = Solver::solved_material(&rules, material).unwrap();
        let id = solver.classes().member(material).unwrap().class;
        let stats = solver.class_stats(id).unwrap();
        let narrow = solver.table(id).unwrap();
        let mut wide = narrow.clone();
        Color::ALL.iter().for_each(|&color| wide.cells[color].widen());
        let dir = tempfile::tempdir().unwrap();
        for packing in [Packing::fast(material), Packing { block_bytes: 16 << 10, level: 19 }] {
            let [narrow_path, wide_path] = ["narrow", "wide"].map(|name| dir.path().join(name));
            write(&narrow_path, &rules, material, narrow, stats, packing).unwrap();
            write(&wide_path, &rules, material, &wide, stats, packing).unwrap();
            let [narrow_file, file] =
                [narrow_path, wide_path].map(|path| TableFile::open(&path, &rules, material).unwrap());
            assert_eq!(file.description().cell_bytes, 2);
            // No width changes the checksum of the values.
            assert_eq!(file.description().values, narrow_file.description().values);
            holds(&narrow_file, &narrow.cells);
            holds(&file, &wide.cells);
            for file in [&narrow_file, &file] {
                let Description { block_rows, cell_bytes, .. } = *file.description();
                let row_bytes = file.layout.row_len() * cell_bytes;
                assert!(block_rows * row_bytes <= packing.block_bytes, "a block is no larger than it may be");
                assert!((block_rows + 1) * row_bytes > packing.block_bytes, "and no smaller than it must be");
            }
        }
        // The second byte belongs to the same cell.
        for color in Color::ALL {
            let Cells::Wide(cells) = &mut wide.cells[color] else { unreachable!("it was widened") };
            cells.iter_mut().filter(|code| **code % 3 == 2).for_each(|code| *code += 256);
        }
        let path = dir.path().join("long");
        write(&path, &rules, material, &wide, stats, Packing::fast(material)).unwrap();
        holds(&TableFile::open(&path, &rules, material).unwrap(), &wide.cells);
    }

    #[test]
    fn values_of_another_table_are_refused() {
        let material: Material = "ERvR".parse().unwrap();
        let solver = Solver::solved_material(&RuleOptions::PAPER, material).unwrap();
        let id = solver.classes().member(material).unwrap().class;
        let (class, table) = (solver.classes().get(id), solver.table(id).unwrap());
        let layout = Layout::new(&class.index());
        let values = ByColor::from_fn(|color| hex(layout.checksum(table.cells[color].view())));
        let check = |values: &ByColor<String>| check_values(Path::new("ERvR.dsq"), class, table, values);
        assert!(check(&values).is_ok());
        for color in Color::ALL {
            let mut wrong = values.clone();
            wrong[color] = values[!color].clone();
            assert!(matches!(check(&wrong), Err(TableError::Damaged { .. })), "{color}");
        }
    }
}
