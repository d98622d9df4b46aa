//! What batches will take of a GPU, known before they start.

use super::kernels::cell_bytes;
use super::{Batch, Gpu, ROW_BYTES, plan};
use crate::shaders::SIDE_WORDS;
use crate::tablebase::{ClassId, Classes, WIDTH};
use serde::Serialize;

/// Bytes that pass between the GPU and its memory for each cell, with values kept: what the kernels' twins count over four
/// classes of four pieces, see `results/kernels.md`.
const MOVED_PER_CELL: f64 = 26.55;
/// Words with conversions of one depth, for each word: what classes of four and five pieces have.
const CONVERSIONS_PER_WORD: u64 = 3;

/// What a batch of classes will take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BatchNeeds {
    /// The first class's representative.
    pub material: String,
    /// How many classes there are.
    pub classes: usize,
    /// Rows of 4096 cells for one side to move.
    pub rows: u64,
    /// The pages that they come in.
    pub pages: u64,
    /// Buffers that the plane is cut into that a pass reads.
    pub plane_buffers: u64,
    /// Bytes of the four planes.
    pub planes: u64,
    /// Bytes of the codes.
    pub codes: u64,
    /// Bytes of the conversions (expected).
    pub conversions: u64,
    /// Bytes of the smaller classes' values.
    pub tables: u64,
    /// Bytes of the plan and of the lists of rows.
    pub lists: u64,
    /// Bytes of all buffers together.
    pub bytes: u64,
    /// Bytes that will move between the GPU and its memory (expected).
    pub moved: u64,
}

impl BatchNeeds {
    /// The least seconds with a memory that moves `bandwidth` bytes a second.
    #[must_use]
    pub fn seconds(&self, bandwidth: f64) -> f64 {
        self.moved as f64 / bandwidth
    }
}

impl Gpu {
    /// What solving these classes will take, batch by batch.
    #[must_use]
    pub fn plan(&self, ids: &[ClassId], classes: &Classes, keep: bool) -> Vec<BatchNeeds> {
        let batches = self.batches(ids, classes);
        let tables = vec![None; classes.len()];
        let needs = |batch: &Vec<ClassId>| {
            self.needs(
                &Batch { ids: batch.as_slice().into(), upcoming: ids, classes, tables: &tables, keep },
                false,
                self.page_rows(false),
            )
        };
        batches.iter().map(needs).collect()
    }

    /// What a batch will take with pages of `page_rows` rows.
    pub(super) fn needs(&self, batch: &Batch<'_>, wide: bool, page_rows: u64) -> BatchNeeds {
        let side_rows = |id: &ClassId| plan::side_rows(batch.classes.get(*id).representative) as u64;
        let rows: u64 = batch.ids.iter().map(side_rows).sum();
        let pages = rows.div_ceil(page_rows);
        let planes = 4 * rows * ROW_BYTES;
        // With values that are not kept, all pages share one.
        let codes = if batch.keep { rows } else { rows.min(page_rows) } * WIDTH as u64 * 64 * cell_bytes(wide);
        let conversions = CONVERSIONS_PER_WORD * 12 * rows * WIDTH as u64;
        let tables = self.table_bytes(batch, wide);
        let depths = if wide { 4096 } else { 256 };
        // Records, stamps, what is left, and two lists; then sizes of dispatches, counts, and what moves and captures take.
        let lists = 4
            * (6 * rows
                + 4 * depths * pages
                + batch.ids.len() as u64 * (4 * depths + 2 * u64::from(SIDE_WORDS) + 20_000));
        let bytes = planes + codes + conversions + tables + lists;
        let moved = (rows as f64 * (WIDTH * 64) as f64 * MOVED_PER_CELL) as u64;
        BatchNeeds {
            material: batch.classes.get(batch.ids[0]).representative.to_string(),
            classes: batch.ids.len(),
            rows,
            pages,
            plane_buffers: rows.div_ceil(self.seen_rows(page_rows)),
            planes,
            codes,
            conversions,
            tables,
            lists,
            bytes,
            moved,
        }
    }
}
