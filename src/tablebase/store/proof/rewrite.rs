//! Writes the table of a class in the other form: repacked, or with every value of both sides to move. The values are checked
//! against their checksums.

use super::planes::Plane;
use super::sweep::{Sweep, Sweepable};
use super::{Prover, Width, Work};
use crate::board::{ByColor, Color};
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::solve::observer::Unobserved;
use crate::tablebase::solve::values::SolvedRows;
use crate::tablebase::store::file::{Content, TableError};
use crate::tablebase::store::pack::{PackedRows, write_packed};
use crate::tablebase::store::verify::Stop;
use crate::tablebase::store::write::ClassBlocks;
use crate::tablebase::{Cells, ClassId, ROW_CELLS, SetError};
use bytemuck::Pod;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// The form of a file.
#[derive(Copy, Clone)]
pub(in crate::tablebase::store) enum Form {
    /// As `dsq generate` writes it, byte for byte.
    Exact,
    /// Repacked, with distances or results.
    Packed(Content),
}

impl Prover<'_> {
    /// Writes the table of a class to the file `path`.
    ///
    /// # Errors
    /// As [`prove`](Prover::prove), and if the file cannot be written.
    pub(in crate::tablebase::store) fn rewrite(
        &mut self,
        id: ClassId,
        form: Form,
        path: &Path,
    ) -> Result<(), SetError> {
        let file = self.set.file(id)?;
        file.check()?;
        let written = match self.is_wide(id)? {
            true => self.rewrite_as::<u16>(id, form, path),
            false => self.rewrite_as::<u8>(id, form, path),
        };
        match written {
            Ok(()) => Ok(()),
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Wrong(_)) => Err(file.damaged("its values do not follow from those of its captures").into()),
        }
    }

    fn rewrite_as<C: Width>(&mut self, id: ClassId, form: Form, path: &Path) -> Result<(), Stop> {
        self.free_memory::<C>(id)?;
        let work = self.work::<C>(id)?;
        let (planes, _) = work.planes()?;
        match form {
            Form::Exact => self.restore(id, &work, &planes, path)?,
            Form::Packed(content) => work.pack(&planes, content, path)?,
        }
        self.keep(id, planes);
        Ok(())
    }

    /// Writes every value of both sides to move.
    fn restore<C: Width>(
        &self,
        id: ClassId,
        work: &Work<'_, C>,
        planes: &ByColor<Plane<C>>,
        path: &Path,
    ) -> Result<(), SetError> {
        let (file, rules) = (work.file, self.rules.options());
        let (index, stats) = (file.index(), &file.description().stats);
        let rows = Arc::new(Rows::new(index, rules));
        let codes = ByColor::from_fn(|turn| match file.description().cell_bytes {
            1 => Cells::Byte(work.codes(&rows, &planes[turn], |code| code as u8)),
            _ => Cells::Wide(work.codes(&rows, &planes[turn], |code| code)),
        });
        let values = SolvedRows::of_codes(index.clone(), rows, stats, codes)
            .map_err(|_| file.damaged("its counts do not match its values"))?;
        ClassBlocks::of(&values, stats, &Unobserved)?.write(path, self.set.classes().get(id), rules, stats)?;
        Ok(())
    }
}

impl<C: Sweepable> Work<'_, C> {
    /// The codes of the solved rows.
    fn codes<T: Pod + Send + Sync>(&self, rows: &Rows, plane: &Plane<C>, cell: impl Fn(u16) -> T + Sync) -> Vec<T> {
        let codes: Vec<T> = (0..=C::MAX.number()).map(|number| cell(self.scale.code(C::cell(number)))).collect();
        let mut cells = vec![T::zeroed(); rows.len() * ROW_CELLS];
        cells.par_chunks_mut(ROW_CELLS).enumerate().for_each(|(number, cells)| {
            let scores = plane.row(rows.row(number));
            cells.iter_mut().zip(scores).for_each(|(cell, score)| *cell = codes[usize::from(score.number())]);
        });
        cells
    }

    /// Writes the values of the canonical positions to a repacked file.
    fn pack(&self, planes: &ByColor<Plane<C>>, content: Content, path: &Path) -> Result<(), TableError> {
        let none = Plane::new(0);
        let filled = Filled {
            work: self,
            planes,
            sweeps: ByColor::from_fn(|turn| self.sweep(turn, &none)),
            results_only: content == Content::Wdl,
        };
        write_packed(path, self.file, content, &filled)
    }
}

/// The rows of a repacked file.
struct Filled<'a, C> {
    work: &'a Work<'a, C>,
    planes: &'a ByColor<Plane<C>>,
    sweeps: ByColor<Sweep<'a, C>>,
    results_only: bool,
}

impl<C: Sweepable> PackedRows for Filled<'_, C> {
    /// A cell without a position repeats the value before it. So does a cell whose value follows from a conversion, if
    /// the value before it is not better.
    fn push(&self, turn: Color, row: usize, block: &mut Vec<u8>) {
        let scale = self.work.scale;
        let mut conversions = vec![C::ZERO; ROW_CELLS];
        C::conversions(self.work.level, &self.sweeps[turn], row, &mut conversions);
        let values = self.planes[turn].row(row);
        let score = |score: C| if self.results_only { scale.result(score) } else { score };
        let cell_bytes = if self.results_only { 1 } else { self.work.file.description().cell_bytes };
        let mut last = block.last_chunk::<2>().map_or(C::ONE, |&[low, high]| {
            scale.score(if cell_bytes == 1 { high.into() } else { u16::from_le_bytes([low, high]) })
        });
        let mut code = scale.code(last).to_le_bytes();
        let push = |cell: usize| {
            let (value, best) = (score(values[cell]), score(conversions[cell]));
            let follows = best != C::ZERO && value == best && last >= best;
            if value != C::ZERO && !follows && value != last {
                last = value;
                code = scale.code(last).to_le_bytes();
            }
            block.extend_from_slice(&code[..cell_bytes]);
        };
        let file = self.work.file;
        file.canonical().shape(file.index(), row).row_cells().for_each(push);
    }
}
