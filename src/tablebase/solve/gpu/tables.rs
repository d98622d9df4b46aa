//! The values of smaller classes on the GPU, where captures lead: cells of codes as everywhere, brought there, or left there
//! by the level that was solved before.

use super::kernels::{cell_bytes, max_plies};
use super::plan::TablePlace;
use super::{Batch, plan};
use crate::board::{ByColor, Color};
use crate::gpu::{Device, GpuError};
use crate::tablebase::value::{Cells, decided};
use crate::tablebase::{ClassId, Classes, ROW_CELLS};
use std::collections::HashMap;

/// The values of some classes on the GPU.
#[derive(Default)]
pub(super) struct Tables {
    pub wide: bool,
    pub places: HashMap<ClassId, ByColor<TablePlace>>,
    pub buffers: Vec<wgpu::Buffer>,
}

impl Tables {
    /// Brings classes that are solved to the GPU, in buffers of `limit` bytes at most.
    pub(super) fn sent(
        device: &Device,
        batch: &Batch<'_>,
        ids: &[ClassId],
        wide: bool,
        limit: u64,
    ) -> Result<Tables, GpuError> {
        let mut this = Tables { wide, ..Tables::default() };
        let width = cell_bytes(wide) as usize;
        let send = |bytes: &[u8]| device.buffer_with("the values of smaller classes", bytes);
        let mut bytes = Vec::new();
        for &id in ids {
            let table = batch.tables[id.0].as_ref().expect("smaller classes are solved first");
            let mut places = Vec::with_capacity(2);
            for cells in Color::ALL.map(|color| &table.cells[color]) {
                if (bytes.len() + cells.len() * width) as u64 > limit && !bytes.is_empty() {
                    this.buffers.push(send(&bytes)?);
                    bytes.clear();
                }
                places.push(TablePlace { page: this.buffers.len() as u32, cell: (bytes.len() / width) as u32 });
                append(&mut bytes, cells, wide).ok_or_else(|| GpuError::TooLong {
                    what: batch.classes.get(id).representative.to_string(),
                    plies: max_plies(wide),
                })?;
            }
            let [white, black] = places[..] else { unreachable!("two sides") };
            this.places.insert(id, ByColor { white, black });
        }
        this.buffers.push(send(&bytes)?);
        Ok(this)
    }

    /// Whether these classes are all there.
    pub(super) fn have(&self, ids: &[ClassId]) -> bool {
        ids.iter().all(|id| self.places.contains_key(id))
    }

    /// Where a capture leads; `None` is the end of the game, and leads to a cell without a position: the first, where all
    /// pieces stand on one square.
    pub(super) fn place(&self, of: Option<(usize, Color)>) -> TablePlace {
        of.map_or(TablePlace { page: 0, cell: 0 }, |(class, color)| self.places[&ClassId(class)][color])
    }
}

/// Adds the codes of some cells; `None` if one is too great.
fn append(bytes: &mut Vec<u8>, cells: &Cells, wide: bool) -> Option<()> {
    if let (Cells::Byte(cells), false) = (cells, wide) {
        bytes.extend_from_slice(cells);
        return Some(());
    }
    let width = cell_bytes(wide) as usize;
    bytes.reserve(cells.len() * width);
    for code in (0..cells.len()).map(|cell| cells.get(cell)) {
        if code > decided(max_plies(wide)) {
            return None;
        }
        bytes.extend_from_slice(&code.to_le_bytes()[..width]);
    }
    Some(())
}

/// The classes that captures lead to from these.
pub(super) fn captured(ids: &[ClassId], classes: &Classes) -> Vec<ClassId> {
    let mut captured: Vec<ClassId> = ids.iter().flat_map(|&id| classes.captures(id)).collect();
    captured.sort();
    captured.dedup();
    captured
}

/// Bytes of the values of classes on the GPU.
pub(super) fn bytes_of(ids: &[ClassId], classes: &Classes, wide: bool) -> u64 {
    let rows: usize = ids.iter().map(|&id| plan::side_rows(classes.get(id).representative)).sum();
    (rows * ROW_CELLS) as u64 * cell_bytes(wide)
}
