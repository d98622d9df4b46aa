//! The values that captures lead to, from files that store every value.

use super::error::SetError;
use super::file::{Content, TableError, TableFile};
use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::solve::captures::{CapturedCells, Captures};
use crate::tablebase::value::CellsMut;
use crate::tablebase::{ClassId, Classes, MemoryNeed};
use rayon::prelude::*;
use std::path::Path;

/// The number of bytes that a thread clears at a time.
const CLEARED: usize = 1 << 21;

/// The files of the classes that captures of a class lead to, with the sides to move that are looked up.
pub(super) struct CaptureFiles(Vec<(ClassId, Vec<Color>, TableFile)>);

impl CaptureFiles {
    /// Opens the files in `dir` for the class `id`.
    ///
    /// # Errors
    /// As for [`open_capture`].
    pub(super) fn open(
        dir: &Path,
        classes: &Classes,
        id: ClassId,
        need: &MemoryNeed,
    ) -> Result<CaptureFiles, SetError> {
        let open = |(&capture, sides): (&ClassId, &ByColor<bool>)| {
            let turns: Vec<Color> = Color::ALL.into_iter().filter(|&turn| sides[turn]).collect();
            let file = open_capture(dir, classes, id, capture, &turns)?;
            Ok((capture, turns, file))
        };
        Ok(CaptureFiles(need.captures.iter().map(open).collect::<Result<_, SetError>>()?))
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

    fn read<'a>(&'a self, memory: &'a mut [u8]) -> Result<CapturedCells<'a>, SetError> {
        // Cells without a position are not decoded.
        memory[..self.bytes()].par_chunks_mut(CLEARED).for_each(|part| part.fill(0));
        let mut rest = memory;
        let parts = self.sides().map(|(id, turn, file)| {
            let (part, after) = std::mem::take(&mut rest).split_at_mut(bytes(file));
            rest = after;
            (id, turn, file, CellsMut::of(part, file.description().cell_bytes))
        });
        let parts: Vec<_> = parts.collect();
        let read = |(id, turn, file, cells): (ClassId, Color, &TableFile, CellsMut<'a>)| {
            Ok((id, turn, file.load_into(turn, cells)?))
        };
        let read = parts.into_par_iter().map(read).collect::<Result<Vec<_>, SetError>>()?;
        Ok(read.into_iter().collect())
    }
}

/// Bytes of the decoded values of a side to move.
fn bytes(file: &TableFile) -> usize {
    file.index().cells() * file.description().cell_bytes
}

/// # Errors
/// If a file does not store every value of these sides to move, as jobs need them.
pub(super) fn check_exact(file: &TableFile, turns: &[Color]) -> Result<(), SetError> {
    let path = || file.file_path().to_owned();
    if file.description().content == Content::Wdl {
        Err(TableError::WdlOnly { path: path() }.into())
    } else if turns.iter().all(|&turn| file.is_exact(turn)) {
        Ok(())
    } else {
        Err(SetError::OneSided { path: path() })
    }
}

/// Opens the table of a class that captures of the class `id` lead to.
///
/// # Errors
/// If it is missing, damaged, for other rules, or does not store every value of these sides to move.
pub(super) fn open_capture(
    dir: &Path,
    classes: &Classes,
    id: ClassId,
    capture: ClassId,
    turns: &[Color],
) -> Result<TableFile, SetError> {
    let rules = classes.options();
    let [class, capture] = [id, capture].map(|id| classes.get(id).representative);
    let path = TableFile::path(dir, capture);
    if !path.exists() {
        let rules = match rules.table_spelling() {
            rules if rules == RuleOptions::PAPER.table_spelling() => String::new(),
            rules => format!(" --rules {rules}"),
        };
        let command = format!("dsq cluster solve {capture} --tables {}{rules}", dir.display());
        return Err(SetError::MissingCapture { dir: dir.to_owned(), class, capture, command });
    }
    let file = TableFile::open(&path, rules, capture)?;
    check_exact(&file, turns)?;
    Ok(file)
}
