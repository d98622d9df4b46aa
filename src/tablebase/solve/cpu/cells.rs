//! The values of a class while it is solved.

use crate::cpu::Vector;
use crate::tablebase::index::{ROW_CELLS, WIDTH};
use crate::tablebase::solve::backend::SolveError;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::value::{Cells, CellsMut};
use rayon::prelude::*;
use std::mem::MaybeUninit;

impl CellsMut<'_> {
    #[inline(always)]
    pub(super) fn store<V: Vector>(&mut self, word: usize, mask: u64, code: u16) {
        match self {
            CellsMut::Byte(cells) => V::store(&mut cells.as_chunks_mut().0[word], mask, code as u8),
            CellsMut::Wide(cells) => {
                let mut rest = mask;
                while rest != 0 {
                    cells[word * WIDTH + rest.trailing_zeros() as usize] = code;
                    rest &= rest - 1;
                }
            }
        }
    }
}

/// The cells of each range of solved rows: all cells from the first row of the range to the first row of the next
/// range.
pub(super) fn cells_chunks<'a>(
    cells: &'a mut Option<Cells>,
    rows: &Rows,
    chunk_rows: usize,
) -> rayon::vec::IntoIter<Option<CellsMut<'a>>> {
    let all: Vec<_> = match cells {
        None => (0..rows.len()).step_by(chunk_rows).map(|_| None).collect(),
        Some(Cells::Byte(cells)) => split(cells, rows, chunk_rows).map(|part| Some(CellsMut::Byte(part))).collect(),
        Some(Cells::Wide(cells)) => split(cells, rows, chunk_rows).map(|part| Some(CellsMut::Wide(part))).collect(),
    };
    all.into_par_iter()
}

fn split<'a, T>(cells: &'a mut [T], rows: &Rows, chunk_rows: usize) -> impl Iterator<Item = &'a mut [T]> {
    // There may be rows without positions before the first solved row.
    let mut rest = &mut cells[rows.row(0) * ROW_CELLS..];
    (0..rows.len()).step_by(chunk_rows).map(move |first| {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(rows.span(first, chunk_rows).len() * ROW_CELLS);
        rest = after;
        part
    })
}

/// A vector of `len` zeros, or an error if the memory cannot be allocated.
pub(super) fn try_zeros<T: Copy + Default>(len: usize) -> Result<Vec<T>, SolveError> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(len).map_err(|_| SolveError::Memory { bytes: len * size_of::<T>() })?;
    prefer_large_pages(zeros.spare_capacity_mut());
    zeros.resize(len, T::default());
    Ok(zeros)
}

/// Asks the system for large pages for memory that is not used yet: it clears these in a fraction of the time.
fn prefer_large_pages<T>(memory: &mut [MaybeUninit<T>]) {
    // The least alignment of a page on all systems.
    const PAGE: usize = 1 << 16;
    let start = memory.as_mut_ptr().cast::<u8>();
    let skipped = start.align_offset(PAGE);
    let bytes = size_of_val(memory).saturating_sub(skipped) / PAGE * PAGE;
    #[cfg(target_os = "linux")]
    if bytes > 0 {
        // SAFETY: the advice changes no contents, and the pages lie within `memory`. A failure has no effect.
        unsafe { libc::madvise(start.add(skipped).cast(), bytes, libc::MADV_HUGEPAGE) };
    }
}
