//! The values of a class while it is solved.

use crate::cpu::Vector;
use crate::memory::has_memory;
use crate::tablebase::index::{ROW_CELLS, WIDTH};
use crate::tablebase::solve::backend::SolveError;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::value::{Cells, CellsMut};
use rayon::prelude::*;

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

/// `len` zeros in memory that the system clears when it is first used, so that unused rows cost nothing.
pub(super) fn zeros(len: usize) -> Result<Vec<u8>, SolveError> {
    let refused = SolveError::Memory { bytes: len };
    if !has_memory(len) {
        return Err(refused);
    }
    let mut zeros = bytemuck::try_zeroed_vec(len).map_err(|()| refused)?;
    prefer_large_pages(&mut zeros);
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
