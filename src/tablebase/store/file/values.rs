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
    color: Color,
    /// All blocks, unless the file stores all rows of the index.
    blocks: Vec<Block>,
    /// By place in a row, the place of the cell that is reflected in the d-file.
    reflections: Vec<u16>,
}

impl TableFile {
    /// The rows of a stored side to move.
    pub(crate) fn rows(&self, color: Color) -> Result<SideRows<'_>, TableError> {
        let blocks = match self.stored {
            Stored::AllRows => Vec::new(),
            Stored::CanonicalRows | Stored::CanonicalCells => {
                let first = self.first_block(color);
                (first..first + self.side_blocks())
                    .into_par_iter()
                    .map(|number| self.block(number))
                    .collect::<Result<_, _>>()?
            }
        };
        Ok(SideRows { file: self, color, blocks, reflections: self.layout.reflections() })
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
        match &self.reorder {
            None => self.decode_into(color, cells.view_mut())?,
            Some((there, _)) => there.copy(self.decode(color)?.view(), cells.view_mut()),
        }
        Ok(cells)
    }

    fn empty_cells(&self) -> Cells {
        Cells::empty(self.description.cell_bytes, self.index.cells())
    }

    /// As [`load`](TableFile::load), into `cells`, which must have the file's number and width of cells and be zero.
    pub(crate) fn load_into<'a>(&self, color: Color, mut cells: CellsMut<'a>) -> Result<CellsRef<'a>, TableError> {
        let Some((there, _)) = &self.reorder else {
            self.decode_into(color, cells.reborrow())?;
            let cells = cells.read();
            self.check_own_values(color, cells)?;
            return Ok(cells);
        };
        let own = self.decode(color)?;
        self.check_own_values(color, own.view())?;
        there.copy(own.view(), cells.reborrow());
        Ok(cells.read())
    }

    /// Decodes a side to move to cells of the file's own index.
    fn decode(&self, color: Color) -> Result<Cells, TableError> {
        let mut cells = Cells::empty(self.description.cell_bytes, self.own.cells());
        self.decode_into(color, cells.view_mut())?;
        Ok(cells)
    }

    /// As [`decode`](TableFile::decode), into `cells`, which must be zero.
    fn decode_into(&self, color: Color, cells: CellsMut<'_>) -> Result<(), TableError> {
        match self.stored {
            Stored::CanonicalRows => self.decode_rows(color, cells),
            Stored::AllRows | Stored::CanonicalCells => self.decode_all(color, cells),
        }
    }

    /// Decodes all rows, a number of consecutive rows at once.
    fn decode_all(&self, color: Color, mut cells: CellsMut<'_>) -> Result<(), TableError> {
        let rows = self.rows(color)?;
        let at_once = rows.at_once();
        cells.chunks(at_once * ROW_CELLS).into_par_iter().enumerate().try_for_each(|(i, cells)| {
            let first = i * at_once;
            let bytes = rows.bytes(first, at_once.min(self.own.rows - first))?;
            self.layout.scatter(&bytes, cells, first, |row| self.own.valid_row(row));
            Ok(())
        })
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
                self.layout.scatter(bytes, cells, row, |row| self.own.valid_row(row));
            }
            Ok(())
        })?;
        let like = |row| canonical.row_place(&self.own, row).map(|(number, mirrored)| (stored[number], mirrored));
        spread(cells, like);
        Ok(())
    }

    /// Compares the values of a side to move, stored or not, with their checksum.
    pub(crate) fn check_values(&self, color: Color, cells: CellsRef<'_>) -> Result<(), TableError> {
        match &self.reorder {
            None => self.check_own_values(color, cells),
            Some((_, back)) => self.check_own_values(color, back.copied(cells).view()),
        }
    }

    /// As [`check_values`](TableFile::check_values), of cells of the file's own index.
    fn check_own_values(&self, color: Color, cells: CellsRef<'_>) -> Result<(), TableError> {
        let checksum = if self.sums_rows() { self.rows_checksum(cells) } else { self.layout.checksum(cells) };
        if hex(checksum) != self.description.values[color] {
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
        let row_bytes = file.layout.row_len() * width;
        let mut bytes = vec![0; count * row_bytes];
        for (row, to) in (first..).zip(bytes.chunks_exact_mut(row_bytes)) {
            if file.stored == Stored::CanonicalRows {
                self.copy_row(row, to);
                continue;
            }
            canonical.visit_row(&file.own, row, |word, lane, place| {
                let block = &self.blocks[place.row / block_rows];
                let from = block.starts[place.row - block.first_row] as usize + place.cell;
                let at = file.layout.place(word, lane);
                to[at * width..][..width].copy_from_slice(&block.bytes[from * width..][..width]);
            });
        }
        Ok(bytes)
    }

    /// Copies the bytes of a row of the index from the canonical row that is equal to it; nothing for a row without
    /// positions.
    fn copy_row(&self, row: usize, to: &mut [u8]) {
        let (block_rows, width) = (self.file.description.block_rows, self.file.description.cell_bytes);
        let Some((number, mirrored)) = self.file.canonical().row_place(&self.file.own, row) else { return };
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
