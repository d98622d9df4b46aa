//! All values of a class.

use super::TableSet;
use crate::board::{ByColor, Color};
use crate::memory::has_memory;
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::{Content, TableError, TableFile};
use crate::tablebase::value::CellsMut;
use crate::tablebase::{CellValue, Cells, ClassId, Index, ROW_CELLS, SolveError, Table};
use rayon::prelude::*;

/// The values of a class in memory, for one side to move or both.
pub(crate) struct Loaded {
    pub(super) class: ClassId,
    cells: ByColor<Option<Cells>>,
}

impl Loaded {
    /// The values of a side to move; `None` if they are not loaded.
    pub(crate) fn cells(&self, turn: Color) -> Option<&Cells> {
        self.cells[turn].as_ref()
    }
}

impl TableSet {
    /// The stored values of a class. Don't-cares are replaced by the values of the captures and den entries.
    pub(crate) fn stored(&self, id: ClassId) -> Result<Loaded, SetError> {
        let file = self.file(id)?;
        if self.content == Content::Wdl {
            return Err(TableError::WdlOnly { path: file.file_path().to_owned() }.into());
        }
        let side = |color| -> Result<Option<Cells>, SetError> {
            Ok(match file.stores(color) {
                false => None,
                true if file.is_exact(color) => Some(file.load(color)?),
                true => Some(self.restore(file, color)?),
            })
        };
        Ok(Loaded { class: id, cells: ByColor { white: side(Color::White)?, black: side(Color::Black)? } })
    }

    /// Decodes a side to move and replaces its don't-cares by their values.
    fn restore(&self, file: &TableFile, turn: Color) -> Result<Cells, SetError> {
        let mut cells = file.load_stored(turn)?;
        let value = |cell: usize, code: u16| -> Result<Option<u16>, SetError> {
            let Some(stored) = CellValue::from_code(code) else { return Ok(None) };
            let Some(position) = file.index().position(cell, turn) else { return Ok(None) };
            Ok(self.with_conversions(&position, stored)?.map(CellValue::code))
        };
        let row = |(row, cells): (usize, CellsMut<'_>)| -> Result<(), SetError> {
            match cells {
                CellsMut::Byte(cells) => {
                    for (cell, code) in cells.iter_mut().enumerate() {
                        let code_here = value(row * ROW_CELLS + cell, u16::from(*code))?;
                        // A value that does not fit the cell cannot be right: the checksum then differs.
                        *code = code_here.map_or(*code, |code| code.try_into().unwrap_or(0));
                    }
                }
                CellsMut::Wide(cells) => {
                    for (cell, code) in cells.iter_mut().enumerate() {
                        *code = value(row * ROW_CELLS + cell, *code)?.unwrap_or(*code);
                    }
                }
            }
            Ok(())
        };
        cells.view_mut().chunks(ROW_CELLS).into_par_iter().enumerate().try_for_each(row)?;
        file.check_values(turn, cells.view())?;
        Ok(cells)
    }

    /// All values of a class. A side to move that is not stored is computed from its moves, which takes about a
    /// microsecond a position.
    ///
    /// # Errors
    /// As [`look_up`](TableSet::look_up).
    pub(in crate::tablebase) fn table(&self, id: ClassId) -> Result<Table, SetError> {
        let mut loaded = self.complete(id)?;
        let cells = ByColor::from_fn(|color| loaded.cells[color].take().expect("both sides are there"));
        Ok(Table { cells })
    }

    /// The values of a class for both sides to move. The side that is not stored is computed and checked.
    pub(crate) fn complete(&self, id: ClassId) -> Result<Loaded, SetError> {
        let file = self.file(id)?;
        // Both sides to move, two bytes a cell, and as much again while they are decoded.
        let bytes = 8 * file.index().cells();
        if !has_memory(bytes) {
            return Err(SolveError::Memory { bytes }.into());
        }
        let mut loaded = self.stored(id)?;
        for color in Color::ALL {
            if loaded.cells[color].is_none() {
                let cells = self.compute(file.index(), color, &loaded)?;
                file.check_values(color, cells.view())?;
                loaded.cells[color] = Some(cells);
            }
        }
        Ok(loaded)
    }

    /// Computes the values of a side to move from the values after its moves.
    fn compute(&self, index: &Index, turn: Color, loaded: &Loaded) -> Result<Cells, SetError> {
        let code = |cell: usize| match index.position(cell, turn) {
            None => Ok(0),
            Some(position) => self.look_ahead(&position, Some(loaded)).map(CellValue::code),
        };
        let mut codes = vec![0; index.cells()];
        codes.par_chunks_mut(ROW_CELLS).enumerate().try_for_each(|(row, chunk)| -> Result<(), SetError> {
            for (i, slot) in chunk.iter_mut().enumerate() {
                *slot = code(row * ROW_CELLS + i)?;
            }
            Ok(())
        })?;
        Ok(match loaded.cells(!turn) {
            Some(other) => Cells::from_codes(codes, other),
            None => Cells::Wide(codes),
        })
    }
}
