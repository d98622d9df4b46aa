//! Watched cells: cells of a class that is counted, whose values are noted when a pass decides them. Values of other cells are
//! not kept.

use crate::board::{ByColor, Color};
use crate::tablebase::solve::cpu::rows::{CellPlace, Rows};
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::values::SolvedRows;
use crate::tablebase::value::{Code, DRAW, decided};
use std::sync::{Mutex, PoisonError};

/// Cells of a class, with the side to move.
#[derive(Debug)]
pub(crate) struct Watch {
    cells: Vec<(Color, usize)>,
    /// The code of each cell; that of a draw as long as no pass decides it.
    codes: Mutex<Vec<Code>>,
}

impl Watch {
    pub(crate) fn new(cells: Vec<(Color, usize)>) -> Watch {
        let codes = Mutex::new(vec![DRAW; cells.len()]);
        Watch { cells, codes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Notes the cells that the passes of a depth have decided: `value` returns the number of the decided value at a place, if
    /// there is one.
    pub(crate) fn note(&self, rows: &Rows, value: impl Fn(Color, CellPlace) -> Option<u16>) {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        for (&(turn, cell), code) in self.cells.iter().zip(&mut *codes).filter(|(_, code)| **code == DRAW) {
            if let Some(number) = rows.cell_place(cell).and_then(|place| value(turn, place)) {
                *code = decided(number);
            }
        }
    }

    /// Reads the codes of the cells from values that were kept.
    ///
    /// # Errors
    /// If the values cannot be read back.
    pub(crate) fn read(&self, values: &SolvedRows) -> Result<(), SolveError> {
        let codes = ByColor {
            white: values.codes(Color::White, &self.cells)?,
            black: values.codes(Color::Black, &self.cells)?,
        };
        let found = self.cells.iter().enumerate().map(|(i, &(turn, _))| codes[turn][i]);
        *self.codes.lock().unwrap_or_else(PoisonError::into_inner) = found.collect();
        Ok(())
    }

    /// The codes of the cells, once the class is solved.
    pub(crate) fn codes(&self) -> Vec<Code> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
