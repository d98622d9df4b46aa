//! Decoding all values of a side to move.

use super::{Block, Stored, TableError, TableFile};
use crate::board::{ByColor, Color};
use crate::tablebase::layout::{push_row_sums, sum_of_rows};
use crate::tablebase::solve::cpu::rows::spread;
use crate::tablebase::store::description::hex;
use crate::tablebase::value::{CellsMut, CellsRef};
use crate::tablebase::{Cells, ROW_CELLS, Table};
use rayon::prelude::*;

/// A side to move of a file, for reading rows of the index in the order of `layout`.
pub(crate) struct SideRows<'a> {
    file: &'a TableFile,
    blocks: Vec<Block>,
    /// By place in a row, the place of the cell that is reflected in the d-file.
    reflections: Vec<u16>,
}

/// The number of consecutive rows that are read at once.
const ROWS_AT_ONCE: usize = 16;

impl TableFile {
    /// The rows of a stored side to move.
    pub(crate) fn rows(&self, color: Color) -> Result<SideRows<'_>, TableError> {
        let first = self.first_block(color);
        let blocks = (first..first + self.side_blocks()).into_par_iter().map(|number| self.block(number));
        let blocks = blocks.collect::<Result<_, _>>()?;
        Ok(SideRows { file: self, blocks, reflections: self.layout.reflections() })
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
        Cells::empty(self.description.cell_bytes, self.index.cells())
    }

    /// As [`load`](TableFile::load), into `cells`, which must have the file's number and width of cells and be zero.
    pub(crate) fn load_into<'a>(&self, color: Color, mut cells: CellsMut<'a>) -> Result<CellsRef<'a>, TableError> {
        self.decode_into(color, cells.reborrow())?;
        let cells = cells.read();
        self.check_values(color, cells)?;
        Ok(cells)
    }

    /// Decodes a side to move into `cells`, which must be zero.
    fn decode_into(&self, color: Color, cells: CellsMut<'_>) -> Result<(), TableError> {
        match self.stored {
            Stored::CanonicalRows => self.decode_rows(color, cells),
            Stored::CanonicalCells => self.decode_all(color, cells),
        }
    }

    /// Decodes all rows, a number of consecutive rows at once.
    fn decode_all(&self, color: Color, mut cells: CellsMut<'_>) -> Result<(), TableError> {
        let rows = self.rows(color)?;
        let parts = cells.chunks(ROWS_AT_ONCE * ROW_CELLS).into_par_iter().enumerate();
        parts.for_each(|(i, cells)| {
            let first = i * ROWS_AT_ONCE;
            let bytes = rows.bytes(first, ROWS_AT_ONCE.min(self.index.rows - first));
            self.layout.scatter(&bytes, cells, first, |row| self.index.valid_row(row));
        });
        Ok(())
    }

    /// Decodes the stored rows block by block, and copies them to the other rows.
    fn decode_rows(&self, color: Color, mut cells: CellsMut<'_>) -> Result<(), TableError> {
        let canonical = self.canonical();
        let stored: Vec<usize> = canonical.stored_rows().collect();
        let (first_block, block_rows) = (self.first_block(color), self.description.block_rows);
        let row_bytes = self.layout.row_len() * self.description.cell_bytes;
        // Each part has the rows of a block, and the rows from there to the next block.
        let starts: Vec<usize> = stored.iter().step_by(block_rows).map(|row| row * ROW_CELLS).collect();
        let parts = cells.reborrow().split_at_each(&starts);
        parts.into_par_iter().enumerate().try_for_each(|(number, mut part)| {
            let block = self.block(first_block + number)?;
            let rows = &stored[number * block_rows..];
            let mut part = part.chunks(ROW_CELLS);
            for (bytes, &row) in block.bytes.chunks_exact(row_bytes).zip(rows) {
                let cells = part[row - rows[0]].reborrow();
                self.layout.scatter(bytes, cells, row, |row| self.index.valid_row(row));
            }
            Ok(())
        })?;
        let like = |row| canonical.row_place(&self.index, row).map(|(number, mirrored)| (stored[number], mirrored));
        spread(cells, like);
        Ok(())
    }

    /// Compares the values of a side to move, stored or not, with their checksum.
    pub(crate) fn check_values(&self, color: Color, cells: CellsRef<'_>) -> Result<(), TableError> {
        if hex(self.rows_checksum(cells)) != self.description.values[color] {
            return Err(self.damaged("the checksum of its values is wrong"));
        }
        Ok(())
    }

    /// The checksum of the stored rows, given the values of all rows.
    fn rows_checksum(&self, cells: CellsRef<'_>) -> u64 {
        let rows: Vec<usize> = self.canonical().stored_rows().collect();
        let sums = rows.par_chunks(self.description.block_rows).flat_map_iter(|rows| {
            let (mut codes, mut sums) = (Cells::empty(cells.cell_bytes(), 0), Vec::new());
            self.layout.gather_rows(cells, rows.iter().copied(), &mut codes);
            push_row_sums(codes.view(), self.layout.row_len(), &mut Vec::new(), &mut sums);
            sums
        });
        sum_of_rows(sums.collect::<Vec<_>>().into_iter())
    }
}

impl SideRows<'_> {
    /// The bytes of `count` rows of the index from the row `first` on, in the order of `layout`; arbitrary bytes for
    /// cells without a position.
    pub(crate) fn bytes(&self, first: usize, count: usize) -> Vec<u8> {
        let file = self.file;
        let (canonical, block_rows, width) =
            (file.canonical(), file.description.block_rows, file.description.cell_bytes);
        let row_bytes = file.layout.row_len() * width;
        let mut bytes = vec![0; count * row_bytes];
        for (row, to) in (first..).zip(bytes.chunks_exact_mut(row_bytes)) {
            if file.stored == Stored::CanonicalRows {
                self.copy_row(row, to);
                continue;
            }
            canonical.visit_row(&file.index, row, |word, lane, place| {
                let block = &self.blocks[place.row / block_rows];
                let from = block.starts[place.row - block.first_row] as usize + place.cell;
                let at = file.layout.place(word, lane);
                to[at * width..][..width].copy_from_slice(&block.bytes[from * width..][..width]);
            });
        }
        bytes
    }

    /// Copies the bytes of a row of the index from the canonical row that is equal to it; nothing for a row without
    /// positions.
    fn copy_row(&self, row: usize, to: &mut [u8]) {
        let (block_rows, width) = (self.file.description.block_rows, self.file.description.cell_bytes);
        let Some((number, mirrored)) = self.file.canonical().row_place(&self.file.index, row) else { return };
        let from = &self.blocks[number / block_rows].bytes[number % block_rows * to.len()..][..to.len()];
        if !mirrored {
            to.copy_from_slice(from);
            return;
        }
        for (to, &place) in to.chunks_exact_mut(width).zip(&self.reflections) {
            to.copy_from_slice(&from[usize::from(place) * width..][..width]);
        }
    }
}
