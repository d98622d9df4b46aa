//! The values of a class that memory does not hold while it is solved. Each pass appends the positions that it decided to
//! a log, and once the class is solved the values are made from the log, a few rows at a time. So a class is solved once,
//! whatever the memory, and the width of a cell is known before the first value is made.

use crate::board::Bitboard;
use crate::cpu::{CpuLevel, Vector, dispatch};
use crate::tablebase::index::{Index, WIDTH};
use crate::tablebase::material::squares_in_play;
use crate::tablebase::solve::cpu::buckets::Entry;
use crate::tablebase::solve::cpu::quiet::Row;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::value::{Cells, CellsMut, CellsRef, DRAW, NO_MOVE, decided};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

/// Words of records that are kept in memory before they go to disk: 256 KiB.
const BUFFER_WORDS: usize = 1 << 15;

thread_local! {
    /// Records that are read back, in memory kept from one range to the next: clearing fresh memory takes as long as reading.
    static RECORDS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The positions of a range of rows that passes decided. A record is the number of a row within the range, the set of its
/// words with new positions, and these positions, word by word.
#[derive(Debug)]
pub(crate) struct ChangeLog {
    file: File,
    /// Words in the file.
    written: usize,
    /// Records that are not in the file yet.
    buffer: Vec<u64>,
    /// Each pass with its depth and where its records end.
    passes: Vec<(u16, usize)>,
}

impl ChangeLog {
    /// A log in a temporary file in `dir`. The file has no name, so nothing is left of it, however the program ends.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub(crate) fn new(dir: &Path) -> io::Result<ChangeLog> {
        Ok(ChangeLog { file: tempfile::tempfile_in(dir)?, written: 0, buffer: Vec::new(), passes: Vec::new() })
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
        if self.buffer.len() < BUFFER_WORDS { Ok(()) } else { self.flush() }
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
        self.flush()?;
        self.buffer = Vec::new();
        Ok(())
    }

    #[cold]
    fn flush(&mut self) -> io::Result<()> {
        // The file is this process's own: its words are as in memory.
        self.file.write_all(bytemuck::cast_slice(&self.buffer))?;
        self.written += self.buffer.len();
        self.buffer.clear();
        Ok(())
    }

    /// All records, in memory that earlier logs may have used.
    fn read(&mut self, records: &mut Vec<u64>) -> io::Result<()> {
        records.resize(self.written, 0);
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_exact(bytemuck::cast_slice_mut(records))
    }
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
    /// Makes the codes, `block_rows` rows at a time in cells of `cell_bytes` bytes, and passes those of each block to `f`: in
    /// the order of a file, 0 for a cell without a position.
    ///
    /// # Errors
    /// If the log cannot be read back, or the first error of `f`.
    pub(crate) fn replay(
        self,
        (level, index, rows): (CpuLevel, &Index, &Rows),
        block_rows: usize,
        cell_bytes: usize,
        f: impl FnMut(CellsRef<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        RECORDS.with_borrow_mut(|records| self.replay_with(records, (level, index, rows), block_rows, cell_bytes, f))
    }

    fn replay_with(
        self,
        records: &mut Vec<u64>,
        (level, index, rows): (CpuLevel, &Index, &Rows),
        block_rows: usize,
        cell_bytes: usize,
        mut f: impl FnMut(CellsRef<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let LoggedRange { rows: range, mut changes, no_move } = self;
        changes.read(records)?;
        let starts = std::iter::once(0).chain(changes.passes.iter().map(|&(_, end)| end));
        let passes =
            starts.zip(&changes.passes).map(|(start, &(depth, end))| (decided(depth), &records[start..end])).collect();
        let (words, lanes) = (squares_in_play(index.word_piece()), squares_in_play(index.lane_piece()));
        let mut word_places = [0; WIDTH];
        words.into_iter().enumerate().for_each(|(i, word)| word_places[word.index()] = i * lanes.len());
        let row_len = words.len() * lanes.len();
        let first = range.start;
        let mut replay = Replay { index, rows, first, passes, no_move: &no_move, word_places, lanes, row_len };
        let mut codes = Cells::empty(cell_bytes, 0);
        for first in (0..range.len()).step_by(block_rows) {
            let block = first..(first + block_rows).min(range.len());
            // A word is written with all its lanes at once.
            let len = block.len() * row_len;
            codes.clear(len + WIDTH);
            let (replay, view) = (&mut replay, codes.view_mut());
            dispatch!(level, fn(replay: &mut Replay<'_>, block: Range<usize>, view: CellsMut<'_>) = replay_block::<V>);
            f(codes.view().range(0..len))?;
        }
        Ok(())
    }
}

/// What is left of the logs of a range.
struct Replay<'a> {
    index: &'a Index,
    rows: &'a Rows,
    /// The number of the first row of the range.
    first: usize,
    /// The code of each pass, and its records.
    passes: Vec<(u16, &'a [u64])>,
    no_move: &'a [Entry],
    /// By square of the word piece, the place of its first code in the row.
    word_places: [usize; WIDTH],
    /// The squares of the lane piece.
    lanes: Bitboard,
    /// Codes of a row.
    row_len: usize,
}

/// Writes the codes of the next rows of the range to `codes`, which must be zero.
#[inline(always)]
fn replay_block<V: Vector>(replay: &mut Replay<'_>, block: Range<usize>, mut codes: CellsMut<'_>) {
    let Replay { index, rows, first, passes, no_move, word_places, lanes, row_len } = replay;
    let mut store = |row: usize, word: usize, mask: u64, code: u16| {
        let (at, mask) = ((row - block.start) * *row_len + word_places[word], V::extract(mask, lanes.bits()));
        match &mut codes {
            CellsMut::Byte(codes) => {
                V::store(codes[at..].first_chunk_mut().expect("there is room for all lanes"), mask, code as u8);
            }
            CellsMut::Wide(codes) => Bitboard::new(mask).into_iter().for_each(|lane| codes[at + lane.index()] = code),
        }
    };
    for row in block.clone() {
        for (word, &mask) in index.valid_row(rows.row(*first + row)).iter().enumerate().filter(|(_, mask)| **mask != 0)
        {
            store(row, word, mask, DRAW);
        }
    }
    for (code, records) in passes {
        while let [row, words, rest @ ..] = *records
            && (*row as usize) < block.end
        {
            let (masks, rest) = rest.split_at(words.count_ones() as usize);
            for (word, &mask) in Bitboard::new(*words).into_iter().zip(masks) {
                store(*row as usize, word.index(), mask, *code);
            }
            *records = rest;
        }
    }
    while let Some((entry, rest)) = no_move.split_first().filter(|(entry, _)| (entry.word as usize) < block.end * WIDTH)
    {
        store(entry.word as usize / WIDTH, entry.word as usize % WIDTH, entry.mask(), NO_MOVE);
        *no_move = rest;
    }
}
