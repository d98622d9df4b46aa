//! The values of a solved class: a source of blocks of solved rows. Tables in memory, files and counts are made of these
//! blocks, whichever backend has solved the class.

use crate::board::{ByColor, Color, RuleOptions};
use crate::memory::has_memory;
use crate::tablebase::index::{Index, ROW_CELLS, WIDTH};
use crate::tablebase::layout::BLOCK_ROWS;
use crate::tablebase::solve::cpu::change_log::ClassLog;
use crate::tablebase::solve::cpu::rows::{CellPlace, Rows};
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::value::{Cells, CellsRef, Code};
#[cfg(test)]
use crate::tablebase::{ClassId, Solved, Solver, value::decided};
use crate::tablebase::{Stats, Table};
use bytemuck::Pod;
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The values of the solved rows of a class, for both sides to move.
#[derive(Debug)]
pub struct SolvedRows {
    index: Index,
    rows: Arc<Rows>,
    /// The bytes of a cell that can represent every distance of the class: 1 or 2.
    cell_bytes: usize,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// What each pass decided.
    Log(ClassLog),
    /// The codes of all solved rows.
    Codes(ByColor<Cells>),
}

impl SolvedRows {
    /// The values of a class with these counts, which are replayed from its change logs.
    pub(crate) fn of_log(index: Index, rows: Arc<Rows>, stats: &ByColor<Stats>, log: ClassLog) -> SolvedRows {
        SolvedRows { index, rows, cell_bytes: cell_bytes(stats), source: Source::Log(log) }
    }

    /// The values of a class, given the codes of its solved rows, which are counted again.
    ///
    /// # Errors
    /// A side to move whose codes have other counts than `stats`.
    pub(crate) fn of_codes(
        index: Index,
        rows: Arc<Rows>,
        stats: &ByColor<Stats>,
        codes: ByColor<Cells>,
    ) -> Result<SolvedRows, Color> {
        let counted = |turn: Color| Stats::of(codes[turn].view(), |number| rows.weight(number));
        if let Some(wrong) = Color::ALL.into_iter().find(|&turn| counted(turn) != stats[turn]) {
            return Err(wrong);
        }
        let cell_bytes = cell_bytes(stats);
        let codes = codes.map(|codes| codes.with_width(cell_bytes));
        Ok(SolvedRows { index, rows, cell_bytes, source: Source::Codes(codes) })
    }

    /// The values of the class with this representative, given the values of all its rows, which are counted again.
    ///
    /// # Errors
    /// If the table has another number of cells, or other counts than `stats`.
    pub(crate) fn of_table(
        index: Index,
        rules: &RuleOptions,
        stats: &ByColor<Stats>,
        table: &Table,
    ) -> Result<SolvedRows, SolveError> {
        let (material, cells) = (index.material(), index.cells());
        let wrong = |reason| SolveError::Backend { material: Some(material), reason };
        if Color::ALL.iter().any(|&turn| table.cells[turn].len() != cells) {
            return Err(wrong(format!("{material} has not {cells} cells for each side to move")));
        }
        let rows = Arc::new(Rows::new(&index, rules));
        let codes = ByColor::from_fn(|turn| match &table.cells[turn] {
            Cells::Byte(cells) => Cells::Byte(rows.pick(cells)),
            Cells::Wide(cells) => Cells::Wide(rows.pick(cells)),
        });
        SolvedRows::of_codes(index, rows, stats, codes)
            .map_err(|turn| wrong(format!("{material} with {turn} to move has values that differ from its counts")))
    }

    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// The solved rows.
    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Bytes of a cell: 1 or 2.
    pub(crate) fn cell_bytes(&self) -> usize {
        self.cell_bytes
    }

    /// Calls `f` with each block of a side to move: the number of its first solved row, and the codes of [`BLOCK_ROWS`]
    /// solved rows (the last block may have fewer), all cells of each row, with 0 for a cell without a position. `S` is a
    /// buffer that calls share. Returns the results in the order of the rows. It can be called any number of times.
    ///
    /// # Errors
    /// If the values cannot be read back from a temporary file, or the first error of `f`.
    pub(crate) fn map_blocks<S: Default + Send, T: Send>(
        &self,
        turn: Color,
        f: impl Fn(&mut S, usize, CellsRef<'_>) -> Result<T, SolveError> + Sync,
    ) -> Result<Vec<T>, SolveError> {
        match &self.source {
            Source::Log(log) => log.map_blocks(turn, (&self.index, &self.rows), self.cell_bytes, f),
            Source::Codes(codes) => {
                let blocks = codes[turn].view().chunks(BLOCK_ROWS * ROW_CELLS);
                let block =
                    |buffer: &mut S, (number, codes): (usize, CellsRef<'_>)| f(buffer, number * BLOCK_ROWS, codes);
                blocks.into_par_iter().enumerate().map_init(S::default, block).collect()
            }
        }
    }

    /// For each of these cells its code if this side is to move, else 0.
    ///
    /// # Errors
    /// If the values cannot be read back from a temporary file.
    pub(crate) fn codes(&self, turn: Color, cells: &[(Color, usize)]) -> Result<Vec<Code>, SolveError> {
        let place = |&(side, cell): &(Color, usize)| self.rows.cell_place(cell).filter(|_| side == turn);
        let places: Vec<Option<CellPlace>> = cells.iter().map(place).collect();
        let blocks = self.map_blocks(turn, |(): &mut (), first, codes| {
            let rows = first..first + codes.len() / ROW_CELLS;
            let in_block = |place: &CellPlace| rows.contains(&place.number);
            let found = places.iter().enumerate().filter_map(|(i, place)| Some((i, place.filter(in_block)?)));
            let code = |CellPlace { number, word, bit }| codes.get((number - first) * ROW_CELLS + word * WIDTH + bit);
            Ok(found.map(|(i, place)| (i, code(place))).collect::<Vec<_>>())
        })?;
        let mut codes = vec![0; cells.len()];
        blocks.into_iter().flatten().for_each(|(i, code)| codes[i] = code);
        Ok(codes)
    }

    /// The values of all rows in memory.
    ///
    /// # Errors
    /// If the memory cannot be allocated, or the values cannot be read back from a temporary file.
    pub fn table(&self) -> Result<Table, SolveError> {
        Ok(Table { cells: ByColor { white: self.cells(Color::White)?, black: self.cells(Color::Black)? } })
    }

    /// As [`table`](SolvedRows::table), but frees what the table of a side to move is made of as soon as it is made.
    ///
    /// # Errors
    /// As [`table`](SolvedRows::table).
    pub(crate) fn into_table(mut self) -> Result<Table, SolveError> {
        let white = self.cells(Color::White)?;
        match &mut self.source {
            Source::Log(log) => log.ranges.white = Vec::new(),
            Source::Codes(codes) => codes.white = Cells::empty(1, 0),
        }
        Ok(Table { cells: ByColor { white, black: self.cells(Color::Black)? } })
    }

    fn cells(&self, turn: Color) -> Result<Cells, SolveError> {
        let len = self.index.cells();
        let mut cells = if self.cell_bytes == 1 { Cells::Byte(zeros(len)?) } else { Cells::Wide(zeros(len)?) };
        let rows = &*self.rows;
        // Each part has the solved rows of a block, and the rows from there to the next block.
        let starts: Vec<usize> =
            rows.solved().iter().step_by(BLOCK_ROWS).map(|&row| row as usize * ROW_CELLS).collect();
        let parts: Vec<_> = cells.view_mut().split_at_each(&starts).into_iter().map(Mutex::new).collect();
        self.map_blocks(turn, |(): &mut (), first, codes| {
            let mut part = parts[first / BLOCK_ROWS].lock().unwrap_or_else(PoisonError::into_inner);
            for (number, codes) in (first..).zip(codes.chunks(ROW_CELLS)) {
                part.copy_from(rows.offset(first, number) * ROW_CELLS, codes);
            }
            Ok(())
        })?;
        drop(parts);
        rows.spread(&mut cells);
        Ok(cells)
    }
}

/// The bytes of a cell that can represent every distance of a class with these counts.
fn cell_bytes(stats: &ByColor<Stats>) -> usize {
    let longest = Color::ALL.iter().map(|&turn| stats[turn].summary().longest).max().unwrap_or(0);
    if longest > Cells::BYTE_PLIES.into() { 2 } else { 1 }
}

/// `len` zeros in memory that the system clears when it is first used.
fn zeros<T: Pod>(len: usize) -> Result<Vec<T>, SolveError> {
    let bytes = len * size_of::<T>();
    let refused = SolveError::Memory { bytes };
    if !has_memory(bytes) {
        return Err(refused);
    }
    let mut zeros = bytemuck::try_zeroed_vec(len).map_err(|()| refused)?;
    prefer_large_pages(bytemuck::cast_slice_mut(&mut zeros));
    Ok(zeros)
}

/// Asks the system for large pages for memory that is not used yet: it clears these in a fraction of the time.
fn prefer_large_pages(memory: &mut [u8]) {
    // The least alignment of a page on all systems.
    const PAGE: usize = 1 << 16;
    let skipped = memory.as_ptr().align_offset(PAGE).min(memory.len());
    let memory = &mut memory[skipped..];
    #[cfg(target_os = "linux")]
    if memory.len() >= PAGE {
        // SAFETY: the advice changes no contents, and the memory lies within the slice. A failure has no effect.
        unsafe { libc::madvise(memory.as_mut_ptr().cast(), memory.len(), libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

/// A solved class whose longest lines are longer by 256 plies, too long for cells of one byte. No small class has such lines.
#[cfg(test)]
pub(crate) fn lengthened(solver: &Solver, id: ClassId) -> Solved {
    let mut stats = solver.class_stats(id).unwrap().clone();
    let cells = ByColor::from_fn(|turn| {
        let longest = stats[turn].by_plies.len() - 1;
        let count = std::mem::take(&mut stats[turn].by_plies[longest]);
        stats[turn].add_decided(longest as u16 + 256, count);
        let Cells::Wide(mut codes) = solver.table(id).unwrap().cells[turn].clone().with_width(2) else {
            unreachable!()
        };
        codes.iter_mut().filter(|code| **code == decided(longest as u16)).for_each(|code| *code += 256);
        Cells::Wide(codes)
    });
    let table = Table { cells };
    let solved = Solved::of_table(solver.classes().get(id).index(), solver.classes().options(), stats, &table).unwrap();
    assert_eq!(solved.table().unwrap(), Some(table));
    solved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::{Backend, CpuBackend, Options};

    /// Logs are replayed in cells of either width.
    #[test]
    fn wide_cells_hold_what_narrow_cells_do() {
        let mut solver = Solver::new(&"no-move=loss".parse().unwrap(), 3, Options::default());
        solver.solve_level(2, true, &|_, _| ()).unwrap();
        let ids = ["LRvT", "EvPR"].map(|name| solver.classes().member(name.parse().unwrap()).unwrap().class);
        let replay = |_, solved: Solved| {
            let values = solved.values.unwrap();
            let narrow = values.table()?;
            let wide = SolvedRows { cell_bytes: 2, ..values }.table()?;
            assert!(narrow.cells.white.cell_bytes() == 1 && wide.cells.white.cell_bytes() == 2);
            assert_eq!(wide.cells.map(|cells| cells.with_width(1)), narrow.cells);
            Ok(())
        };
        CpuBackend::default().solve(&solver.job(&ids, true), &replay).unwrap();
    }
}
