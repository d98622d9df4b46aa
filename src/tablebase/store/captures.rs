//! The values that captures lead to, from files.

use super::error::SetError;
use super::exact::ExactTables;
use super::file::TableFile;
use crate::board::Color;
use crate::tablebase::solve::captures::{CapturedCells, Captures};
use crate::tablebase::solve::observer::Observer;
use crate::tablebase::value::CellsMut;
use crate::tablebase::{ClassId, MemoryNeed};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number of bytes that a thread clears at a time.
const CLEARED: usize = 1 << 21;

/// The files of the classes that captures of a class lead to, with the sides to move that are looked up.
pub(super) struct CaptureFiles(Vec<(ClassId, Vec<Color>, TableFile)>);

impl CaptureFiles {
    /// Opens the files for the class `id`.
    ///
    /// # Errors
    /// As for [`ExactTables::open`].
    pub(super) fn open(
        tables: &ExactTables<'_>,
        id: ClassId,
        need: &MemoryNeed,
        observer: &dyn Observer,
    ) -> Result<CaptureFiles, SetError> {
        let turns = |id| Color::ALL.into_iter().filter(|&turn| need.captures[&id][turn]).collect();
        let ids: Vec<ClassId> = need.captures.keys().copied().collect();
        let files = tables.open(id, &ids, observer)?;
        Ok(CaptureFiles(ids.into_iter().zip(files).map(|(id, file)| (id, turns(id), file)).collect()))
    }

    /// Every side to move that is looked up.
    fn sides(&self) -> impl Iterator<Item = (ClassId, Color, &TableFile)> {
        self.0.iter().flat_map(|(id, turns, file)| turns.iter().map(move |&turn| (*id, turn, file)))
    }
}

impl Captures for CaptureFiles {
    type Error = SetError;

    fn bytes(&self) -> usize {
        self.sides().map(|(_, _, file)| bytes(file)).sum()
    }

    fn read<'a>(&'a self, memory: &'a mut [u8], observer: &dyn Observer) -> Result<CapturedCells<'a>, SetError> {
        // Cells without a position are not decoded.
        memory[..self.bytes()].par_chunks_mut(CLEARED).for_each(|part| part.fill(0));
        let mut rest = memory;
        let parts = self.sides().map(|(id, turn, file)| {
            let (part, after) = std::mem::take(&mut rest).split_at_mut(bytes(file));
            rest = after;
            (id, turn, file, CellsMut::of(part, file.description().cell_bytes))
        });
        let parts: Vec<_> = parts.collect();
        let (done, of) = (AtomicUsize::new(0), parts.len());
        let read = |(id, turn, file, cells): (ClassId, Color, &TableFile, CellsMut<'a>)| {
            let cells = file.load_into(turn, cells)?;
            observer.captures(done.fetch_add(1, Relaxed) + 1, of)?;
            Ok((id, turn, cells))
        };
        let read = parts.into_par_iter().map(read).collect::<Result<Vec<_>, SetError>>()?;
        Ok(read.into_iter().collect())
    }
}

/// Bytes of the decoded values of a side to move.
fn bytes(file: &TableFile) -> usize {
    file.index().cells() * file.description().cell_bytes
}
