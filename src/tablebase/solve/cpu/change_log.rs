//! The change log: the positions that each pass decided, in memory or on disk. A class whose values are kept is solved with
//! a change log. Afterwards its values are replayed from the log, a few rows at a time. The longest line is known by then,
//! so every cell is wide enough.

use crate::board::{Bitboard, ByColor, Color};
use crate::cpu::{CpuLevel, Vector, dispatch};
use crate::tablebase::index::{Index, ROW_CELLS, WIDTH};
use crate::tablebase::layout::BLOCK_ROWS;
use crate::tablebase::solve::cpu::buckets::Entry;
use crate::tablebase::solve::cpu::row::{Row, SQUARES};
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::spill::SpillFile;
use crate::tablebase::value::{Cells, CellsMut, CellsRef, DRAW, NO_MOVE, decided};
use rayon::prelude::*;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// The number of words of records that are kept in memory before they are written to disk: 256 KiB.
const BUFFER_WORDS: usize = 1 << 15;

/// The positions of a range of rows that passes decided. A record is the number of a row within the range, the set of the
/// words of a [`Row`] with new positions, and these positions, word by word.
#[derive(Debug)]
pub(crate) struct ChangeLog {
    /// The file, which all ranges of rows share; `None` to keep all records in memory.
    file: Option<Arc<SpillFile>>,
    /// The offset in bytes and the number of words of each part that is in the file.
    parts: Vec<(u64, usize)>,
    /// Words in the file.
    written: usize,
    /// Records that are not in the file yet.
    buffer: Vec<u64>,
    /// The depth of each pass, and the end of its records in words.
    passes: Vec<(u16, usize)>,
}

impl ChangeLog {
    /// A log in this file, or in memory.
    pub(crate) fn new(file: Option<Arc<SpillFile>>) -> ChangeLog {
        ChangeLog { file, parts: Vec::new(), written: 0, buffer: Vec::new(), passes: Vec::new() }
    }

    /// Appends the new positions of a row. Within a pass rows come in ascending order.
    ///
    /// # Errors
    /// If they cannot be written, for instance because the disk is full.
    #[inline(always)]
    pub(crate) fn push(&mut self, row: usize, new: &Row) -> io::Result<()> {
        let at = self.buffer.len();
        self.buffer.extend([row as u64, 0]);
        let mut words = 0;
        for (s, &new) in new.0.iter().enumerate().filter(|(_, new)| **new != 0) {
            words |= 1 << s;
            self.buffer.push(new);
        }
        self.buffer[at + 1] = words;
        if self.buffer.len() < BUFFER_WORDS || self.file.is_none() { Ok(()) } else { self.flush() }
    }

    /// Ends the records of a pass.
    ///
    /// # Errors
    /// As [`push`](ChangeLog::push).
    pub(crate) fn end_pass(&mut self, depth: u16) -> io::Result<()> {
        let end = self.written + self.buffer.len();
        if self.passes.last().map_or(0, |&(_, end)| end) == end {
            return Ok(());
        }
        self.passes.push((depth, end));
        self.flush()
    }

    /// Writes the records of the buffer to the file, if there is one.
    #[cold]
    fn flush(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        // Only this process reads the file, so words are written as in memory.
        let at = file.append(bytemuck::cast_slice(&self.buffer))?;
        self.parts.push((at, self.buffer.len()));
        self.written += self.buffer.len();
        self.buffer = Vec::new();
        Ok(())
    }

    /// All records. `buffer` receives those of a file.
    fn read<'a>(&'a self, buffer: &'a mut Vec<u64>) -> io::Result<&'a [u64]> {
        let Some(file) = &self.file else { return Ok(&self.buffer) };
        buffer.resize(self.written, 0);
        let mut rest = &mut buffer[..];
        for &(at, words) in &self.parts {
            let (part, after) = rest.split_at_mut(words);
            file.read(bytemuck::cast_slice_mut(part), at)?;
            rest = after;
        }
        Ok(buffer)
    }
}

/// The values of a solved class as change logs.
#[derive(Debug)]
pub(crate) struct ClassLog {
    /// By side to move, the ranges of its rows. All but the last consist of whole blocks.
    pub ranges: ByColor<Vec<LoggedRange>>,
    /// The directory of the logs, for errors.
    pub dir: PathBuf,
}

/// A range of solved rows with its log.
#[derive(Debug)]
pub(crate) struct LoggedRange {
    /// The numbers of its rows.
    pub rows: Range<usize>,
    pub changes: ChangeLog,
    /// Positions without a legal move.
    pub no_move: Vec<Entry>,
}

impl ClassLog {
    /// See [`SolvedRows::map_blocks`](crate::tablebase::solve::values::SolvedRows::map_blocks).
    pub(crate) fn map_blocks<S: Default + Send, T: Send>(
        &self,
        turn: Color,
        rows: (&Index, &Rows),
        cell_bytes: usize,
        f: impl Fn(&mut S, usize, CellsRef<'_>) -> Result<T, SolveError> + Sync,
    ) -> Result<Vec<T>, SolveError> {
        let buffers = || (Vec::new(), Cells::empty(cell_bytes, 0), S::default());
        let replay = |(records, codes, buffer): &mut (Vec<u64>, Cells, S), range: &LoggedRange| {
            let records = range.changes.read(records);
            let disk = |error: io::Error| SolveError::Disk { dir: self.dir.clone(), what: error.to_string() };
            range.replay(records.map_err(disk)?, rows, codes, |first, codes| f(buffer, first, codes))
        };
        let ranges = self.ranges[turn].par_iter().map_init(buffers, replay).collect::<Result<Vec<_>, _>>()?;
        Ok(ranges.into_iter().flatten().collect())
    }
}

impl LoggedRange {
    /// Replays the codes block by block in `codes`, and passes the number of the first row and the codes of each block to
    /// `f`, with 0 for a cell without a position. `records` are those of the log.
    ///
    /// # Errors
    /// The first error of `f`.
    fn replay<T>(
        &self,
        records: &[u64],
        (index, rows): (&Index, &Rows),
        codes: &mut Cells,
        mut f: impl FnMut(usize, CellsRef<'_>) -> Result<T, SolveError>,
    ) -> Result<Vec<T>, SolveError> {
        let LoggedRange { rows: range, changes, no_move } = self;
        let starts = std::iter::once(0).chain(changes.passes.iter().map(|&(_, end)| end));
        let passes =
            starts.zip(&changes.passes).map(|(start, &(depth, end))| (decided(depth), &records[start..end])).collect();
        let mut replay = Replay { index, rows, first: range.start, passes, no_move };
        let block = |first: usize| {
            let block = first..(first + BLOCK_ROWS).min(range.len());
            codes.reset(block.len() * ROW_CELLS);
            let (replay, view) = (&mut replay, codes.view_mut());
            dispatch!(
                CpuLevel::get(),
                fn(replay: &mut Replay<'_>, block: Range<usize>, view: CellsMut<'_>) = replay_block::<V>
            );
            f(range.start + first, codes.view())
        };
        (0..range.len()).step_by(BLOCK_ROWS).map(block).collect()
    }
}

/// The remaining records of a range.
struct Replay<'a> {
    index: &'a Index,
    rows: &'a Rows,
    /// The number of the first row of the range.
    first: usize,
    /// The code of each pass, and its records.
    passes: Vec<(u16, &'a [u64])>,
    no_move: &'a [Entry],
}

/// Writes the codes of the next rows of the range to `codes`, which must be zero.
#[inline(always)]
fn replay_block<V: Vector>(replay: &mut Replay<'_>, block: Range<usize>, mut codes: CellsMut<'_>) {
    let Replay { index, rows, first, passes, no_move } = replay;
    let first_word = block.start * WIDTH;
    for row in block.clone() {
        let valid = index.valid_row(rows.row(*first + row));
        for (s, &valid) in valid.iter().enumerate().filter(|(_, valid)| **valid != 0) {
            store::<V>(&mut codes, row * WIDTH + s - first_word, valid, DRAW);
        }
    }
    for (code, records) in passes {
        while let [row, words, rest @ ..] = *records
            && (*row as usize) < block.end
        {
            let (masks, rest) = rest.split_at(words.count_ones() as usize);
            for (word, &mask) in Bitboard::new(*words).into_iter().zip(masks) {
                store::<V>(&mut codes, *row as usize * WIDTH + SQUARES[word.index()] - first_word, mask, *code);
            }
            *records = rest;
        }
    }
    while let Some((entry, rest)) = no_move.split_first().filter(|(entry, _)| (entry.word as usize) < block.end * WIDTH)
    {
        store::<V>(&mut codes, entry.word as usize - first_word, entry.mask(), NO_MOVE);
        *no_move = rest;
    }
}

/// Stores a code in the cells of a word whose bit in `mask` is set.
#[inline(always)]
fn store<V: Vector>(codes: &mut CellsMut<'_>, word: usize, mask: u64, code: u16) {
    match codes {
        CellsMut::Byte(codes) => V::store(&mut codes.as_chunks_mut().0[word], mask, code as u8),
        CellsMut::Wide(codes) => {
            let word = &mut codes.as_chunks_mut::<WIDTH>().0[word];
            Bitboard::new(mask).into_iter().for_each(|lane| word[lane.index()] = code);
        }
    }
}
