//! What a batch of classes takes of a GPU.

use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::{ClassId, Classes, ROW_CELLS};
use serde::Serialize;

/// Bytes of a row of a plane on a GPU: the 49 words of a word piece on land, in whole sectors of 32 bytes. (Where the word
/// piece is a rat there is one row.)
pub(crate) const GPU_PLANE_ROW: u64 = 13 * 32;
/// Bytes of the state of a row there.
pub(crate) const GPU_ROW_STATE: u64 = 32;
/// Bytes there of the moves, counters and captures of a class, at most.
const GPU_CLASS: u64 = 100 << 10;
/// Bytes that pass between a GPU and its memory for each solved row, if only counts are wanted: see `results/kernels.md`.
const GPU_MOVED_PER_ROW: u64 = 60_000;

/// What a batch of classes takes of a GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BatchNeeds {
    /// The first class's representative.
    pub material: String,
    /// How many classes there are.
    pub classes: usize,
    /// Rows that are solved, of both sides to move.
    pub rows: u64,
    /// The pages that they come in.
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
    /// With codes of so many bytes a cell (0 for counts), so many bytes of conversions a row, pages of so many rows of one
    /// side to move, and smaller classes of so many bytes.
    pub(crate) fn new(
        classes: &Classes,
        ids: &[ClassId],
        cell_bytes: u64,
        conversion_bytes: u64,
        page_rows: u64,
        tables: u64,
    ) -> BatchNeeds {
        let rows = 2 * ids.iter().map(|&id| solved_rows(classes, id)).sum::<u64>();
        let places: u64 = ids.iter().map(|&id| classes.get(id).index().rows as u64).sum();
        let planes = 3 * rows * GPU_PLANE_ROW;
        let codes = rows * ROW_CELLS as u64 * cell_bytes;
        let conversions = rows * conversion_bytes;
        let lists = rows * GPU_ROW_STATE + 4 * places + ids.len() as u64 * GPU_CLASS;
        BatchNeeds {
            material: classes.get(ids[0]).representative.to_string(),
            classes: ids.len(),
            rows,
            pages: 2 * (rows / 2).div_ceil(page_rows),
            planes,
            codes,
            conversions,
            tables,
            lists,
            bytes: planes + codes + conversions + tables + lists,
            moved: rows * GPU_MOVED_PER_ROW,
        }
    }

    /// The least seconds with a memory that moves `bandwidth` bytes a second.
    #[must_use]
    pub fn seconds(&self, bandwidth: f64) -> f64 {
        self.moved as f64 / bandwidth
    }
}

/// Rows of a class that are solved, of one side to move.
pub(crate) fn solved_rows(classes: &Classes, id: ClassId) -> u64 {
    Rows::count(&classes.get(id).index(), classes.options()) as u64
}
