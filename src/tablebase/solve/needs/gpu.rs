//! The GPU memory and the memory traffic of a batch of classes, and the memory of its host.

use super::{most_block_bytes, solved_rows_of};
use crate::tablebase::{ClassId, Classes, Index, Metric, ROW_CELLS};
use serde::Serialize;
use std::ops::Range;

/// Bytes of a row of a plane on a GPU: the 49 words of a word piece on land, in whole sectors of 32 bytes. (If the word
/// piece is a rat, the class has one row.)
pub(crate) const GPU_PLANE_ROW: u64 = 13 * 32;
/// Bytes of the state of a row on a GPU, what it has more under a no-capture limit, and bytes of the record of a row of both
/// sides, at most.
const GPU_ROW_STATE: u64 = 24;
const GPU_LIMIT_STATE: u64 = 12;
const GPU_RECORD: u64 = 96;
/// Bytes of the moves, counters and captures of a class on a GPU, at most.
const GPU_CLASS: u64 = 100 << 10;
/// Bytes that move between a GPU and its memory for each solved row, if only counts are requested: see
/// `results/kernels.md`.
const GPU_MOVED_PER_ROW: u64 = 60_000;

/// The most rows of a page: cells have indices of 32 bits.
const PAGE_ROWS: u64 = 1 << 22;

/// The format of a batch's buffers.
#[derive(Copy, Clone)]
pub(crate) struct BatchFormat {
    /// Whether values are kept.
    pub values: bool,
    /// Whether codes have two bytes.
    pub wide: bool,
    /// The number of entries of the conversions that are allocated for a row.
    pub entries_per_row: u64,
    /// Bytes of the largest buffer.
    pub limit: u64,
    /// The most work of a submission, in rows of a pass.
    pub submitted_rows: usize,
}

impl BatchFormat {
    /// Bytes of a code.
    pub(crate) fn cell_bytes(self) -> usize {
        1 + usize::from(self.wide)
    }

    /// Bytes of the codes of a row.
    pub(crate) fn code_bytes(self) -> u64 {
        if self.values { (ROW_CELLS * self.cell_bytes()) as u64 } else { 0 }
    }

    /// Bytes of the conversions of a row.
    pub(crate) fn entry_bytes(self) -> u64 {
        8 * self.entries_per_row
    }

    /// Bytes of a row of both sides to move in the planes, codes and conversions.
    pub(crate) fn row_bytes(self) -> u64 {
        2 * (3 * GPU_PLANE_ROW + self.code_bytes() + self.entry_bytes())
    }

    /// Whether the planes of both sides to move fit into one buffer, with so many rows for one side and bytes of a row.
    pub(crate) fn is_joint(self, side_rows: usize, plane_row: u64) -> bool {
        2 * side_rows as u64 * plane_row <= self.limit
    }

    /// The rows of each page. White's rows come first, then as many of Black.
    pub(crate) fn pages(self, side_rows: usize, plane_row: u64) -> Vec<Range<usize>> {
        let most = (self.limit / (self.code_bytes() + self.entry_bytes())).clamp(1, PAGE_ROWS) as usize;
        let rows = if self.is_joint(side_rows, plane_row) { 2 * side_rows } else { side_rows };
        let blocks = (0..2 * side_rows).step_by(rows.max(1));
        blocks
            .flat_map(|first| {
                (first..first + rows).step_by(most).map(move |page| page..(first + rows).min(page + most))
            })
            .collect()
    }
}

/// The resources of a GPU that a batch of classes takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BatchNeeds {
    /// The representative of the first class.
    pub material: String,
    /// The number of classes.
    pub classes: usize,
    /// The number of rows that are solved, of both sides to move.
    pub rows: u64,
    /// The number of pages that the rows are divided into.
    pub pages: u64,
    /// Bytes of the six planes.
    pub planes: u64,
    /// Bytes of the codes.
    pub codes: u64,
    /// Bytes of the conversions (expected).
    pub conversions: u64,
    /// Bytes of the smaller classes' values.
    pub tables: u64,
    /// Bytes of the moves, the rows' states and places, and the counters.
    pub lists: u64,
    /// Bytes of all buffers together.
    pub bytes: u64,
    /// Bytes that will move between the GPU and its memory (expected).
    pub moved: u64,
}

impl BatchNeeds {
    /// The needs of a batch in this format, with `tables` bytes of values of smaller classes.
    pub(crate) fn new(classes: &Classes, ids: &[ClassId], format: BatchFormat, tables: u64) -> BatchNeeds {
        let rows = 2 * ids.iter().map(|&id| solved_rows_of(classes, id)).sum::<u64>();
        let places: u64 = ids.iter().map(|&id| classes.get(id).index().rows as u64).sum();
        let planes = 3 * rows * GPU_PLANE_ROW;
        let codes = rows * format.code_bytes();
        let conversions = rows * format.entry_bytes();
        let state = GPU_ROW_STATE + if classes.metric() == Metric::Dtw { 0 } else { GPU_LIMIT_STATE };
        let lists = rows * (state + GPU_RECORD / 2 + 8) + 4 * places + ids.len() as u64 * GPU_CLASS;
        BatchNeeds {
            material: classes.get(ids[0]).representative.to_string(),
            classes: ids.len(),
            rows,
            pages: format.pages(rows as usize / 2, GPU_PLANE_ROW).len() as u64,
            planes,
            codes,
            conversions,
            tables,
            lists,
            bytes: planes + codes + conversions + tables + lists,
            moved: rows * GPU_MOVED_PER_ROW,
        }
    }

    /// A lower bound of the time in seconds, with a memory bandwidth of `bandwidth` bytes a second.
    #[must_use]
    pub fn seconds(&self, bandwidth: f64) -> f64 {
        self.moved as f64 / bandwidth
    }
}

/// Bytes of host memory for the codes of a class as they are fetched from the GPU, and for their compressed blocks. With more
/// than five pieces a line may be too long for codes of one byte: with five pieces the longest line under the rules
/// `paper` has 251 plies.
pub(crate) fn host_bytes(index: &Index, values: bool) -> usize {
    let code_bytes = if index.pieces.len() > 5 { 2 } else { 1 };
    if values { 2 * index.cells() * code_bytes + most_block_bytes(index.rows) } else { 0 }
}
