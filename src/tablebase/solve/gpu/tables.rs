//! The values on the GPU of the smaller classes that captures lead to, in the usual codes.

use crate::board::Color;
use crate::gpu::{Device, GpuError};
use crate::tablebase::solve::backend::Job;
use crate::tablebase::solve::cpu::conversions::Conversions;
use crate::tablebase::value::{Cells, decided};
use crate::tablebase::{ClassId, Classes};
use std::collections::{BTreeSet, HashMap};

/// One side to move of a class.
pub(super) type TableId = (ClassId, Color);

/// The values of some classes on the GPU.
pub(super) struct Tables {
    pub wide: bool,
    /// The buffer of each table, and the first cell there.
    pub places: HashMap<TableId, (u32, u32)>,
    pub buffers: Vec<wgpu::Buffer>,
}

impl Tables {
    /// Copies tables to the GPU, into buffers of at most `limit` bytes. A larger table has a buffer of its own.
    ///
    /// # Errors
    /// If a value does not fit into a byte and cells are not wide, or a buffer cannot be allocated.
    pub(super) fn sent(
        device: &Device,
        job: &Job<'_>,
        ids: &[TableId],
        wide: bool,
        limit: u64,
    ) -> Result<Tables, GpuError> {
        let mut this = Tables { wide, places: HashMap::new(), buffers: Vec::new() };
        let width = 1 + u64::from(wide);
        let send = |bytes: &[u8]| device.buffer_with("the values of smaller classes", bytes);
        let mut bytes = Vec::new();
        for &(id, color) in ids {
            let cells = &job.table(id).expect("smaller classes are solved first").cells[color];
            if bytes.len() as u64 + cells.len() as u64 * width > limit && !bytes.is_empty() {
                this.buffers.push(send(&bytes)?);
                bytes.clear();
            }
            this.places.insert((id, color), (this.buffers.len() as u32, (bytes.len() as u64 / width) as u32));
            append(&mut bytes, cells, wide)
                .ok_or_else(|| GpuError::TooLong { what: job.material(id).to_string(), plies: Cells::BYTE_PLIES })?;
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        this.buffers.push(send(&bytes)?);
        Ok(this)
    }

    /// Whether all of these tables are on the GPU.
    pub(super) fn have(&self, ids: &[TableId]) -> bool {
        ids.iter().all(|id| self.places.contains_key(id))
    }
}

/// Appends the codes of `cells`; `None` if a code is too large for a byte and `wide` is not set.
fn append(bytes: &mut Vec<u8>, cells: &Cells, wide: bool) -> Option<()> {
    match (cells, wide) {
        (Cells::Byte(cells), false) => bytes.extend_from_slice(cells),
        (Cells::Byte(cells), true) => bytes.extend(cells.iter().flat_map(|&code| u16::from(code).to_le_bytes())),
        (Cells::Wide(cells), true) => bytes.extend_from_slice(bytemuck::cast_slice(cells)),
        (Cells::Wide(cells), false) => {
            if cells.iter().any(|&code| code > decided(Cells::BYTE_PLIES)) {
                return None;
            }
            bytes.extend(cells.iter().map(|&code| code as u8));
        }
    }
    Some(())
}

/// The tables that captures of these classes lead to.
pub(super) fn captured(ids: &[ClassId], classes: &Classes) -> Vec<TableId> {
    let of_class = |&id: &ClassId| {
        let index = classes.get(id).index();
        Color::ALL
            .into_iter()
            .flat_map(move |color| Conversions::new(&index, color, classes).looked_up().collect::<Vec<_>>())
    };
    ids.iter().flat_map(of_class).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Bytes of tables on the GPU.
pub(super) fn bytes_of(ids: &[TableId], classes: &Classes, wide: bool) -> u64 {
    ids.iter().map(|&(id, _)| classes.get(id).index().cells() as u64 * (1 + u64::from(wide))).sum()
}
