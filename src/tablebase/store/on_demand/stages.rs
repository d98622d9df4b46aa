//! The file of a class that was counted on demand: the result (WDL) of every position, and the stage of its distance to
//! the end (DTW), a range of [`STAGE_PLIES`] plies. All numbers are little-endian.
//!
//! ```text
//! offset  bytes
//! 0       8        magic: "DSQSTAGE"
//! 8       8        format version: 2
//! 16               the blocks
//!         4        length M of the description
//!         M        the description, JSON: see `Description`
//!         12 * B   block table: for each block its length (u32) and the XXH3-64 of its bytes (u64)
//!         8        offset of the length M
//!         8        XXH3-64 of everything from this offset to the end of the block table
//! ```
//!
//! The file contains planes: bit s of a word is the position with the lane piece on square s. A block contains the
//! words of up to [`BLOCK_ROWS`] solved rows, compressed with zstd, but only the words for squares that the word piece
//! may stand on. A block of length 0 contains no position. First come, stage by stage, White to move and then Black to
//! move, the blocks of the positions that are decided in the stage. Then come, for each side to move, the blocks of the
//! results: the lost positions of all rows, then the undecided positions, which are draws.

use crate::board::{Color, RuleOptions};
use crate::tablebase::index::{Index, WIDTH};
use crate::tablebase::material::squares_in_play;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::store::cache::Cache;
use crate::tablebase::store::codec::decompress;
use crate::tablebase::store::partial::PartialWriter;
use crate::tablebase::store::source::Source;
use crate::tablebase::store::table_error::TableError;
use crate::tablebase::{Material, Wdl};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"DSQSTAGE";
pub(super) const VERSION: u64 = 2;
const HEAD: usize = 16;
const FOOT: usize = 16;
const TABLE_ENTRY: usize = 12;

/// The number of plies of a stage. Longer stages make smaller files and slower probes, which find the exact distance by
/// search.
pub(super) const STAGE_PLIES: u16 = 16;
/// The number of rows of a block: 50 KB of words.
pub(super) const BLOCK_ROWS: usize = 128;

/// The description in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Description {
    rules: String,
    rules_hash: String,
    material: String,
    /// The number of solved rows.
    rows: usize,
    stage_plies: u16,
    block_rows: usize,
    stages: usize,
}

/// The words of a row that a file contains.
pub(super) struct Words {
    /// The squares of the word piece.
    pub squares: Vec<usize>,
    places: [usize; WIDTH],
}

impl Words {
    pub(super) fn new(index: &Index) -> Words {
        let squares: Vec<usize> = squares_in_play(index.word_piece()).into_iter().map(|s| s.index()).collect();
        let mut places = [0; WIDTH];
        squares.iter().enumerate().for_each(|(place, &square)| places[square] = place);
        Words { squares, places }
    }
}

/// A file that is being written, block by block.
pub(super) struct StageWriter {
    file: PartialWriter,
    end: usize,
    table: Vec<u8>,
}

impl StageWriter {
    /// # Errors
    /// If the directory cannot be written.
    pub(super) fn create(path: &Path) -> Result<StageWriter, TableError> {
        let mut file = PartialWriter::create(path)?;
        file.write(MAGIC)?;
        file.write(&VERSION.to_le_bytes())?;
        Ok(StageWriter { file, end: HEAD, table: Vec::new() })
    }

    /// Writes the next block; `bytes` is empty for a block without positions.
    ///
    /// # Errors
    /// If the disk is full.
    pub(super) fn block(&mut self, bytes: &[u8]) -> Result<(), TableError> {
        self.file.write(bytes)?;
        self.table.extend((bytes.len() as u32).to_le_bytes());
        self.table.extend(xxh3_64(bytes).to_le_bytes());
        self.end += bytes.len();
        Ok(())
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// If the disk is full.
    pub(super) fn finish(
        mut self,
        rules: &RuleOptions,
        material: Material,
        rows: usize,
        stages: usize,
    ) -> Result<(), TableError> {
        let description = Description {
            rules: rules.table_spelling(),
            rules_hash: hash(rules),
            material: material.to_string(),
            rows,
            stage_plies: STAGE_PLIES,
            block_rows: BLOCK_ROWS,
            stages,
        };
        let description = serde_json::to_vec(&description).expect("a description is JSON");
        let mut directory = (description.len() as u32).to_le_bytes().to_vec();
        directory.extend(description);
        directory.extend(&self.table);
        self.file.write(&directory)?;
        self.file.write(&(self.end as u64).to_le_bytes())?;
        self.file.write(&xxh3_64(&directory).to_le_bytes())?;
        self.file.finish()
    }
}

fn hash(rules: &RuleOptions) -> String {
    format!("{:016x}", rules.table_hash())
}

/// The result of a position, and bounds of its distance in plies.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Staged {
    pub wdl: Wdl,
    /// The least and the greatest distance that the file allows; 0 and 0 for a draw.
    pub from: u16,
    pub to: u16,
}

/// An open file. Opening checks the description and the block table; reading a block checks the block.
pub(super) struct StageFile {
    path: PathBuf,
    source: Source,
    rows: Rows,
    words: Words,
    stages: usize,
    starts: Vec<usize>,
    checksums: Vec<u64>,
    /// Decoded blocks by number.
    blocks: Mutex<Cache<usize, Vec<u64>>>,
}

impl StageFile {
    /// Opens the file of the class with the representative `material`.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is of another version, for other rules or for another class.
    pub(super) fn open(path: &Path, rules: &RuleOptions, material: Material) -> Result<StageFile, TableError> {
        let source = Source::open(path).map_err(TableError::io(path))?;
        let damaged = |what| TableError::Damaged { path: path.to_owned(), what };
        let read = |at, len| source.bytes(at, len).map_err(|error| read_error(path, error));
        let head = read(0, HEAD.min(source.len()))?;
        if head.get(..8) != Some(MAGIC) {
            return Err(TableError::Foreign { path: path.to_owned() });
        }
        let version = number(head.get(8..).ok_or(damaged("it is cut short"))?);
        if version != VERSION {
            return Err(TableError::Version { path: path.to_owned(), found: version as u32 });
        }
        let foot_at = source.len().checked_sub(FOOT).ok_or(damaged("it is cut short"))?;
        let foot = read(foot_at, FOOT)?;
        let directory_at = usize::try_from(number(&foot)).unwrap_or(usize::MAX);
        let len = foot_at.checked_sub(directory_at).ok_or(damaged("its length is wrong"))?;
        let directory = read(directory_at, len)?;
        if number(&foot[8..]) != xxh3_64(&directory) {
            return Err(damaged("the checksum of its directory is wrong"));
        }
        let unreadable = || damaged("its description is not readable");
        let (len, rest) = directory.split_at_checked(4).ok_or_else(unreadable)?;
        let (text, table) = rest.split_at_checked(number(len) as usize).ok_or_else(unreadable)?;
        let description: Description = serde_json::from_slice(text).map_err(|_| unreadable())?;
        if description.rules_hash != hash(rules) {
            let (found, wanted) = (description.rules, rules.table_spelling());
            return Err(TableError::Rules { path: path.to_owned(), found, wanted });
        }
        if description.material != material.to_string() {
            let found = description.material;
            return Err(TableError::Material { path: path.to_owned(), found, wanted: material });
        }
        let index = Index::new(material, rules).ok_or(damaged("it names more pieces than a class has"))?;
        let rows = Rows::new(&index, rules);
        let most_stages = usize::from(u16::MAX / STAGE_PLIES);
        let blocks = 2 * rows.len().div_ceil(BLOCK_ROWS) * (description.stages.min(most_stages) + 1);
        let sound = description.rows == rows.len()
            && description.stages <= most_stages
            && description.stage_plies == STAGE_PLIES
            && description.block_rows == BLOCK_ROWS
            && table.len() == blocks * TABLE_ENTRY;
        if !sound {
            return Err(damaged("its description does not fit its class"));
        }
        let (mut starts, mut checksums) = (vec![HEAD], Vec::with_capacity(blocks));
        for (i, entry) in table.chunks_exact(TABLE_ENTRY).enumerate() {
            starts.push(starts[i].saturating_add(number(&entry[..4]) as usize));
            checksums.push(number(&entry[4..]));
        }
        if starts[blocks] != directory_at {
            return Err(damaged("its length is wrong"));
        }
        let (path, words, stages) = (path.to_owned(), Words::new(&index), description.stages);
        Ok(StageFile { path, source, rows, words, stages, starts, checksums, blocks: Mutex::default() })
    }

    /// The result of a cell of the class's index, and its stage; `None` if no position has the cell.
    ///
    /// # Errors
    /// If a block cannot be read or is damaged.
    pub(super) fn probe(&self, turn: Color, cell: usize) -> Result<Option<Staged>, TableError> {
        let Some((number, word, lane)) = self.rows.locate(cell) else { return Ok(None) };
        let words = self.words.squares.len();
        let block = number / BLOCK_ROWS;
        let rows = block_rows(block, self.rows.len()).len();
        let place = number % BLOCK_ROWS * words + self.words.places[word];
        let bit = |section: usize, place: usize| -> Result<bool, TableError> {
            let plane = 2 * section + turn as usize;
            let number = plane * self.rows.len().div_ceil(BLOCK_ROWS) + block;
            let len = if section == self.stages { 2 * rows * words } else { rows * words };
            Ok(self.block(number, len)?.is_some_and(|block| block[place] >> lane & 1 != 0))
        };
        if bit(self.stages, rows * words + place)? {
            return Ok(Some(Staged { wdl: Wdl::Draw, from: 0, to: 0 }));
        }
        let lost = bit(self.stages, place)?;
        for stage in 0..self.stages {
            if bit(stage, place)? {
                let before = stage as u16 * STAGE_PLIES;
                // A win takes an odd number of plies and a loss an even number, which is 0 only without a legal move.
                return Ok(Some(match lost {
                    true if stage == 0 => Staged { wdl: Wdl::Loss, from: 0, to: STAGE_PLIES },
                    true => Staged { wdl: Wdl::Loss, from: before + 2, to: before + STAGE_PLIES },
                    false => Staged { wdl: Wdl::Win, from: before + 1, to: before + STAGE_PLIES - 1 },
                }));
            }
        }
        Ok(None)
    }

    /// A decoded block of `len` words; `None` if it contains no position.
    fn block(&self, number: usize, len: usize) -> Result<Option<Arc<Vec<u64>>>, TableError> {
        let (start, end) = (self.starts[number], self.starts[number + 1]);
        if start == end {
            return Ok(None);
        }
        let blocks = || self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = blocks().get(number) {
            return Ok(Some(block));
        }
        let damaged = |what| TableError::Damaged { path: self.path.clone(), what };
        let packed = self.source.bytes(start, end - start).map_err(|error| read_error(&self.path, error))?;
        if xxh3_64(&packed) != self.checksums[number] {
            return Err(damaged("the checksum of a block is wrong"));
        }
        let bytes = decompress(&packed, 8 * len).ok_or(damaged("a block cannot be decoded"))?;
        let words = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
        let block = Arc::new(words);
        blocks().put(number, Arc::clone(&block), 8 * block.len());
        Ok(Some(block))
    }
}

/// The solved rows of a block.
pub(super) fn block_rows(block: usize, rows: usize) -> Range<usize> {
    block * BLOCK_ROWS..rows.min((block + 1) * BLOCK_ROWS)
}

/// Up to eight bytes as a number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn read_error(path: &Path, error: io::Error) -> TableError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => TableError::Damaged { path: path.to_owned(), what: "it is cut short" },
        _ => TableError::Io { path: path.to_owned(), source: error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files without a block, whose directory has the right checksum.
    #[test]
    fn impossible_numbers_of_stages_are_refused() {
        let (dir, rules, material) = (tempfile::tempdir().unwrap(), RuleOptions::PAPER, "EvL".parse().unwrap());
        let path = dir.path().join("EvL.stages");
        let rows = Rows::new(&Index::new(material, &rules).unwrap(), &rules).len();
        for stages in [0, 1, 4096, usize::MAX / 2, usize::MAX] {
            StageWriter::create(&path).unwrap().finish(&rules, material, rows, stages).unwrap();
            let opened = StageFile::open(&path, &rules, material).map(|_| ());
            assert!(matches!(opened, Err(TableError::Damaged { .. })), "{stages}: {opened:?}");
        }
    }
}
