//! The values that captures lead to, from memory or from files.

use crate::board::{ByColor, Color};
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::observer::Observer;
use crate::tablebase::value::CellsRef;
use crate::tablebase::{ClassId, Table};

/// A source of the values of the classes that captures of a class lead to.
pub(crate) trait Captures: Sync {
    /// Why they cannot be read.
    type Error: From<SolveError>;

    /// Bytes of memory for the values that are decoded; 0 if they are in memory.
    fn bytes(&self) -> usize;

    /// The values, for every side to move that is looked up. `memory` has at least [`bytes`](Captures::bytes) bytes with any
    /// contents; values that are not in memory are decoded into it.
    ///
    /// # Errors
    /// If a value cannot be read, or the observer returns an error.
    fn read<'a>(&'a self, memory: &'a mut [u8], observer: &dyn Observer) -> Result<CapturedCells<'a>, Self::Error>;
}

/// Tables in memory, by class.
impl Captures for [Option<Table>] {
    type Error = SolveError;

    fn bytes(&self) -> usize {
        0
    }

    fn read<'a>(&'a self, _: &'a mut [u8], _: &dyn Observer) -> Result<CapturedCells<'a>, SolveError> {
        let tables = self.iter().enumerate().filter_map(|(id, table)| Some((ClassId(id), table.as_ref()?)));
        let sides = |(id, table): (ClassId, &'a Table)| Color::ALL.map(|turn| (id, turn, table.cells[turn].view()));
        Ok(tables.flat_map(sides).collect())
    }
}

/// The cells of smaller classes, by class and side to move.
pub(crate) struct CapturedCells<'a>(Vec<ByColor<Option<CellsRef<'a>>>>);

impl<'a> CapturedCells<'a> {
    /// The cells of a side to move that captures look up.
    #[inline(always)]
    pub(crate) fn get(&self, id: ClassId, turn: Color) -> CellsRef<'a> {
        self.0[id.0][turn].expect("the values that captures lead to are there")
    }
}

impl<'a> FromIterator<(ClassId, Color, CellsRef<'a>)> for CapturedCells<'a> {
    fn from_iter<I: IntoIterator<Item = (ClassId, Color, CellsRef<'a>)>>(cells: I) -> CapturedCells<'a> {
        let mut all = Vec::new();
        for (id, turn, cells) in cells {
            if all.len() <= id.0 {
                all.resize_with(id.0 + 1, ByColor::default);
            }
            all[id.0][turn] = Some(cells);
        }
        CapturedCells(all)
    }
}
