//! The values on the GPU of the smaller classes that captures lead to: the ranks of `shaders/values.wgsl`.

use super::kernels::Kernels;
use super::plan::TableId;
use crate::board::Color;
use crate::gpu::{Buffer, Device, GpuError};
use crate::tablebase::solve::backend::Job;
use crate::tablebase::solve::cpu::conversions::Conversions;
use crate::tablebase::value::{Cells, decided};
use crate::tablebase::{ClassId, Classes};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// The values of some classes on the GPU.
pub(super) struct Tables {
    pub wide: bool,
    /// The buffer of each table, and the first cell there.
    pub places: HashMap<TableId, (u32, u32)>,
    pub buffers: Vec<Buffer>,
}

impl Tables {
    /// Copies tables to the GPU, with cells of the width of the kernels, into buffers of at most `limit` bytes. A larger table
    /// has a buffer of its own.
    ///
    /// # Errors
    /// If a value does not fit into a byte and the kernels are not wide, or a buffer cannot be allocated.
    pub(super) async fn sent(
        device: &Device,
        job: &Job<'_>,
        ids: &[TableId],
        kernels: &Kernels,
        limit: u64,
    ) -> Result<Tables, GpuError> {
        let wide = kernels.wide;
        let width = 1 + u64::from(wide);
        let cells_of = |(id, color): TableId| &job.table(id).expect("smaller classes are solved first").cells[color];
        // By buffer: its size and its tables, each with the place of its first byte.
        let mut buffers: Vec<(u64, Vec<(TableId, u64)>)> = Vec::new();
        for &id in ids {
            let bytes = cells_of(id).len() as u64 * width;
            if buffers.last().is_none_or(|(size, _)| size + bytes > limit) {
                buffers.push((0, Vec::new()));
            }
            let (size, tables) = buffers.last_mut().expect("one is there");
            tables.push((id, *size));
            *size += bytes;
        }
        let mut this = Tables { wide, places: HashMap::new(), buffers: Vec::new() };
        for (size, tables) in buffers {
            let buffer = device.unset_buffer("the values of smaller classes", size).await?;
            for (id, first) in tables {
                let too_long = || GpuError::TooLong { what: job.material(id.0).to_string(), plies: Cells::BYTE_PLIES };
                device.upload(&buffer, first, &codes(cells_of(id), wide).ok_or_else(too_long)?).await?;
                this.places.insert(id, (this.buffers.len() as u32, (first / width) as u32));
            }
            kernels.rank(device, &buffer, size / width, job.classes.options().no_move).await?;
            this.buffers.push(buffer);
        }
        Ok(this)
    }

    /// Whether all of these tables are on the GPU.
    pub(super) fn have(&self, ids: &[TableId]) -> bool {
        ids.iter().all(|id| self.places.contains_key(id))
    }
}

/// The codes of `cells`; `None` if a code is too large for a byte and `wide` is not set.
fn codes(cells: &Cells, wide: bool) -> Option<Cow<'_, [u8]>> {
    match (cells, wide) {
        (Cells::Byte(cells), true) => Some(cells.iter().flat_map(|&code| u16::from(code).to_le_bytes()).collect()),
        (Cells::Wide(cells), false) => {
            let fits = cells.iter().all(|&code| code <= decided(Cells::BYTE_PLIES));
            fits.then(|| cells.iter().map(|&code| code as u8).collect())
        }
        _ => Some(cells.view().bytes().into()),
    }
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
