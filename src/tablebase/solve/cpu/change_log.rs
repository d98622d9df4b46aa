//! The change log: the positions that each pass decided, in memory or on disk. A class whose values go to a file is solved
//! with a change log. Afterwards its values are replayed from the log, a few rows at a time, and compressed at once. The
//! longest line is known by then, so every cell is wide enough.

use crate::board::{Bitboard, ByColor, Square};
use crate::cpu::{CpuLevel, Vector, dispatch};
use crate::tablebase::index::{Index, WIDTH};
use crate::tablebase::layout::Layout;
use crate::tablebase::solve::cpu::buckets::Entry;
use crate::tablebase::solve::cpu::quiet::Row;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::spill::SpillFile;
use crate::tablebase::value::{Cells, CellsMut, DRAW, NO_MOVE, decided};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// The number of words of records that are kept in memory before they are written to disk: 256 KiB.
const BUFFER_WORDS: usize = 1 << 15;

/// The positions of a range of rows that passes decided. A record is the number of a row within the range, the set of its
/// words with new positions, and these positions, word by word.
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

    /// Moves or reads all records into a buffer that several logs may use one after the other.
    fn read(&mut self, records: &mut Vec<u64>) -> io::Result<()> {
        let Some(file) = &self.file else {
            *records = std::mem::take(&mut self.buffer);
            return Ok(());
        };
        records.resize(self.written, 0);
        let mut rest = &mut records[..];
        for &(at, words) in &self.parts {
            let (part, after) = rest.split_at_mut(words);
            file.read(bytemuck::cast_slice_mut(part), at)?;
            rest = after;
        }
        Ok(())
    }
}

/// The values of a solved class as change logs.
#[derive(Debug)]
pub struct ClassLog {
    /// By side to move, the ranges of its rows.
    pub(crate) ranges: ByColor<Vec<LoggedRange>>,
    /// For each side to move the first cell of the longest line.
    pub(crate) deepest: ByColor<Option<usize>>,
    /// The bytes of a cell that can represent every distance of the class.
    pub(crate) cell_bytes: usize,
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

impl LoggedRange {
    /// Replays the codes, `block_rows` rows at a time in cells of `cell_bytes` bytes, and passes the codes of each
    /// block to `f`, in the order of a file, with 0 for a cell without a position. `records` is a buffer for the log.
    ///
    /// # Errors
    /// If the log cannot be read back, or the first error of `f`.
    pub(crate) fn replay(
        self,
        records: &mut Vec<u64>,
        (index, rows, layout): (&Index, &Rows, &Layout),
        block_rows: usize,
        cell_bytes: usize,
        mut f: impl FnMut(&mut Cells) -> io::Result<()>,
    ) -> io::Result<()> {
        let LoggedRange { rows: range, mut changes, no_move } = self;
        changes.read(records)?;
        let starts = std::iter::once(0).chain(changes.passes.iter().map(|&(_, end)| end));
        let passes =
            starts.zip(&changes.passes).map(|(start, &(depth, end))| (decided(depth), &records[start..end])).collect();
        let mut replay = Replay { index, rows, layout, first: range.start, passes, no_move: &no_move };
        let mut codes = Cells::empty(cell_bytes, 0);
        for first in (0..range.len()).step_by(block_rows) {
            let block = first..(first + block_rows).min(range.len());
            let len = block.len() * layout.row_len();
            // A word is written with all its lanes at once.
            codes.reset(len + WIDTH);
            let (replay, view) = (&mut replay, codes.view_mut());
            dispatch!(
                CpuLevel::get(),
                fn(replay: &mut Replay<'_>, block: Range<usize>, view: CellsMut<'_>) = replay_block::<V>
            );
            codes.truncate(len);
            f(&mut codes)?;
        }
        Ok(())
    }
}

/// The remaining records of a range.
struct Replay<'a> {
    index: &'a Index,
    rows: &'a Rows,
    layout: &'a Layout,
    /// The number of the first row of the range.
    first: usize,
    /// The code of each pass, and its records.
    passes: Vec<(u16, &'a [u64])>,
    no_move: &'a [Entry],
}

/// Writes the codes of the next rows of the range to `codes`, which must be zero.
#[inline(always)]
fn replay_block<V: Vector>(replay: &mut Replay<'_>, block: Range<usize>, mut codes: CellsMut<'_>) {
    let Replay { index, rows, layout, first, passes, no_move } = replay;
    let mut store = |row: usize, word: Square, mask: u64, code: u16| {
        let at = (row - block.start) * layout.row_len() + layout.word_offset(word) as usize;
        let mask = V::extract(mask, layout.lanes().bits());
        match &mut codes {
            CellsMut::Byte(codes) => {
                V::store(codes[at..].first_chunk_mut().expect("there is room for all lanes"), mask, code as u8);
            }
            CellsMut::Wide(codes) => Bitboard::new(mask).into_iter().for_each(|lane| codes[at + lane.index()] = code),
        }
    };
    for row in block.clone() {
        let valid = index.valid_row(rows.row(*first + row));
        Square::all()
            .filter(|word| valid[word.index()] != 0)
            .for_each(|word| store(row, word, valid[word.index()], DRAW));
    }
    for (code, records) in passes {
        while let [row, words, rest @ ..] = *records
            && (*row as usize) < block.end
        {
            let (masks, rest) = rest.split_at(words.count_ones() as usize);
            for (word, &mask) in Bitboard::new(*words).into_iter().zip(masks) {
                store(*row as usize, word, mask, *code);
            }
            *records = rest;
        }
    }
    while let Some((entry, rest)) = no_move.split_first().filter(|(entry, _)| (entry.word as usize) < block.end * WIDTH)
    {
        let word = Square::new(entry.word as usize % WIDTH).expect("a word with positions has a square");
        store(entry.word as usize / WIDTH, word, entry.mask(), NO_MOVE);
        *no_move = rest;
    }
}
