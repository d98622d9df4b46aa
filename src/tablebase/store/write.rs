//! Writes the file of a class, with the values of both sides to move.

use super::codec;
use super::description::{Content, Description, Sides, codec_name, hex};
use super::file::{MAGIC, TableFile};
use super::partial::write_whole;
use super::table_error::{EXACT_VERSION, TableError};
use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::index::Index;
use crate::tablebase::layout::{Layout, block_bytes, checksum_codes};
use crate::tablebase::value::CellsRef;
use crate::tablebase::{CellValue, Cells, MAX_PIECES, Material, ROW_CELLS, Stats, Table};
use rayon::prelude::*;
use std::io;
use std::ops::Range;
use std::path::Path;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

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
                let row_bytes = file.row_len() * cell_bytes;
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
}
