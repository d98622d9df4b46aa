//! The retrograde iteration on one class with rayon. A pass at depth d finds the positions decided in exactly d plies:
//!
//! - odd d, wins: undecided positions with a quiet move to a position lost for the opponent, and the conversions of depth d;
//! - even d, losses: undecided positions that have no escape and whose quiet moves all lead to positions won by the
//!   opponent.
//!
//! A pass for wins does not read *lost* of its own side, and a pass for losses does not read *open*: a lost position has no
//! move to a position lost for the opponent and no conversion that wins, and a won position has such a move or an escape.
//!
//! Both passes are an OR over the same quiet moves, of the opponent's plane *lost* or *open* (not won). A pass for wins
//! writes *open* and reads *lost*, a pass for losses the other way round, so the two sides to move and all rows are
//! processed in parallel. A pass visits only rows next to a row that changed in the pass before, and rows with
//! conversions of its depth. The conversions of depth 1, of which almost every row has some, are decided before the
//! first pass.
//!
//! With DTZ ([`Metric::Dtz`]) a conversion wins in one ply, is an escape, or loses and bounds nothing, and the passes end at
//! the limit. A side whose moves are all captures that lose has lost in one ply. From there wins and losses in the other
//! plies follow: few, but each depth has both. The pass for them ([`Beat::Off`]) comes first and only finds them; they are
//! decided after the pass on the beat, which must not see them.

use crate::board::{ByColor, Color, NoMove};
use crate::cpu::dispatch;
use crate::tablebase::index::WIDTH;
use crate::tablebase::layout::BLOCK_ROWS;
use crate::tablebase::solve::backend::Solved;
use crate::tablebase::solve::captures::{CapturedCells, Captures};
use crate::tablebase::solve::cpu::buckets::{Buckets, Entry};
use crate::tablebase::solve::cpu::change_log::{ChangeLog, ClassLog, LoggedRange};
use crate::tablebase::solve::cpu::conversions::MAX_PLIES;
use crate::tablebase::solve::cpu::pass::{Part, decide_pending, first_wins, pass_rows};
use crate::tablebase::solve::cpu::planes::{Beat, Chunk, Pass, Planes, Split, Worklists, flags};
use crate::tablebase::solve::cpu::row::{Row, WORD_OF};
use crate::tablebase::solve::cpu::rows::CellPlace;
use crate::tablebase::solve::cpu::start::{Start, start_rows};
use crate::tablebase::solve::cpu::task::{Iteration, Keep, Task};
use crate::tablebase::solve::cpu::two_rats::solve_two_rats;
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::values::SolvedRows;
use crate::tablebase::spill::SpillFile;
use crate::tablebase::{Metric, Stats};
use rayon::prelude::*;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

/// The number of conversions of a range of rows that are kept in memory before they are written to disk: 3 MiB.
const SPILL_ENTRIES: usize = 1 << 18;

/// The least number of rows of a task, so that the cost of starting a task is small.
const CHUNK_ROWS: usize = 512;

thread_local! {
    /// A buffer for conversions that are read back from disk, kept from one pass to the next.
    static READ_BACK: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// Solves one class on the threads of the current rayon pool.
///
/// # Errors
/// If the captures cannot be read, the memory cannot be allocated, a line is too long, a temporary file cannot be written or
/// read, or the observer returns an error.
pub(crate) fn solve<C: Captures + ?Sized>(task: Task, captures: &C) -> Result<Solved, C::Error> {
    let iteration = Iteration::new(task)?;
    if iteration.index.word_piece().animal.swims() {
        return Ok(solve_two_rats(&iteration.task, iteration.index)?);
    }
    let mut memory = iteration.memory(captures.bytes())?;
    let (first, last) = memory.split_at_mut(iteration.first_bytes());
    let planes = iteration.start(&captures.read(last, iteration.task.observer)?, first)?;
    Ok(iteration.solve(planes, last)?)
}

impl<'t> Iteration<'t> {
    /// Runs the passes after [`start`](Iteration::start). `last` is the memory of the last plane, with any contents.
    ///
    /// # Errors
    /// If a line is too long to be counted, the memory cannot be allocated, a temporary file cannot be written or read,
    /// or the observer returns an error.
    pub(crate) fn solve<'m>(&self, mut planes: ByColor<Planes<'m>>, last: &'m mut [u8]) -> Result<Solved, SolveError> {
        self.first_wins(&mut planes, last).map_err(|error| self.disk(&error))?;
        let chunks = Color::ALL.iter().flat_map(|&color| &planes[color].chunks);
        // The wins in one ply are work for the second pass.
        let last_conversion = chunks.map(|chunk| chunk.last_conversion).max().unwrap_or(0).max(2);
        let metric = self.task.classes.metric();
        for depth in 1..=self.task.classes.options().no_capture_limit.unwrap_or(MAX_PLIES) {
            let work = self.passes(&mut planes, depth).map_err(|error| self.disk(&error))?;
            self.note_watched(&planes, depth);
            self.task.observer.pass(depth)?;
            if !work && depth >= last_conversion {
                return Ok(self.finish(planes));
            }
        }
        match metric {
            Metric::Dtw => Err(SolveError::TooLong { material: self.task.material, plies: MAX_PLIES }),
            Metric::Dtz(_) => Ok(self.finish(planes)),
        }
    }

    /// The passes at a depth. Returns whether there is work for the next depth.
    fn passes(&self, planes: &mut ByColor<Planes<'_>>, depth: u16) -> io::Result<bool> {
        let [on, off] = [Beat::On, Beat::Off].map(|beat| Pass::new(self.task.classes.metric(), depth, beat));
        let find = |part: Part<'_>| {
            READ_BACK.with_borrow_mut(|buffer| {
                dispatch!(
                    self.task.level,
                    fn(part: Part<'_>, buffer: &mut Vec<Entry>) -> io::Result<bool> = pass_rows
                )
            })
        };
        // Those in one ply are found before the first pass.
        if Color::ALL.iter().any(|&color| planes[color].off_beat) {
            self.pass(planes, off, find)?;
        }
        let mut work = self.pass(planes, on, find)?;
        let is_pending = |side: &Planes<'_>| side.chunks.iter().any(|chunk| !chunk.pending.is_empty());
        let pending = is_pending(&planes.white) || is_pending(&planes.black);
        if pending {
            self.pass(planes, off, decide_pending)?;
            work = true;
        }
        for color in Color::ALL {
            let side = &mut planes[color];
            side.off_beat = pending;
            side.worklists.iter_mut().for_each(Worklists::swap);
        }
        Ok(work)
    }

    /// Notes the watched cells that were decided at this depth.
    fn note_watched(&self, planes: &ByColor<Planes<'_>>, depth: u16) {
        let Some(watch) = self.task.watch else { return };
        let metric = self.task.classes.metric();
        watch.note(&self.rows, |turn, CellPlace { number, word, bit }| {
            let is_set = |plane: &[Row]| plane[number].0[WORD_OF[word]] >> bit & 1 != 0;
            let (won, lost) = (!is_set(planes[turn].open), is_set(planes[turn].lost));
            (won || lost).then(|| metric.decided(won, depth))
        });
    }

    fn disk(&self, error: &io::Error) -> SolveError {
        SolveError::Disk { dir: self.temporary_dir().to_owned(), what: error.to_string() }
    }

    /// The directory of the temporary files; empty if there are none.
    fn temporary_dir(&self) -> &Path {
        let log = if let Keep::Log(dir) = self.task.keep { dir } else { None };
        log.or(self.task.spill).unwrap_or(Path::new(""))
    }

    /// The data of `count` ranges of rows, which share a temporary file for conversions and one for change logs.
    fn chunks(&self, count: usize) -> Result<Vec<Chunk>, SolveError> {
        let log = if let Keep::Log(dir) = self.task.keep { dir } else { None };
        let file = |dir: Option<&Path>| dir.map(|dir| SpillFile::create(dir).map(Arc::new)).transpose();
        let [spill, log] = [file(self.task.spill), file(log)].map(|file| file.map_err(|error| self.disk(&error)));
        let (spill, log) = (spill?, log?);
        let on_disk = |file: &Arc<SpillFile>| Buckets::on_disk(file.clone(), SPILL_ENTRIES);
        let chunk = |_| Chunk {
            buckets: spill.as_ref().map(on_disk).unwrap_or_default(),
            changes: matches!(self.task.keep, Keep::Log(_)).then(|| ChangeLog::new(log.clone())),
            ..Chunk::default()
        };
        Ok((0..count).map(chunk).collect())
    }

    fn chunk_rows(&self) -> usize {
        let threads = rayon::current_num_threads();
        let all = self.rows.len();
        // The conversions from disk are in memory one range at a time, so with a spill directory the ranges must be
        // small.
        let whole = threads == 1 && self.task.spill.is_none();
        let rows = if whole { all } else { CHUNK_ROWS.max(all.div_ceil(threads * 16)) };
        // Whole blocks of a file.
        rows.next_multiple_of(BLOCK_ROWS).min(self.task.range_rows)
    }

    /// The planes before the first pass, except Black's open positions. The positions that win in one ply by a conversion
    /// are still open, and are marked by being lost and having an escape. `memory` is
    /// [`first_bytes`](Iteration::first_bytes) bytes with any contents.
    ///
    /// # Errors
    /// If memory or the disk is too small for the conversions, or the observer returns an error.
    pub(crate) fn start<'m>(
        &self,
        captures: &CapturedCells<'_>,
        memory: &'m mut [u8],
    ) -> Result<ByColor<Planes<'m>>, SolveError> {
        let rows = self.rows.len();
        let chunk_rows = self.chunk_rows();
        let mut rest: &'m mut [Row] = bytemuck::cast_slice_mut(memory);
        let mut plane = || {
            let (plane, after) = std::mem::take(&mut rest).split_at_mut(rows);
            rest = after;
            plane
        };
        let valid = plane();
        valid.par_chunks_mut(chunk_rows).enumerate().for_each(|(c, chunk)| {
            for (i, row) in chunk.iter_mut().enumerate() {
                *row = Row::of_squares(&self.index.valid_row(self.rows.row(c * chunk_rows + i)));
            }
        });
        let mut chunks = self.chunks(2 * rows.div_ceil(chunk_rows))?.into_iter();
        let is_dtz = self.task.classes.metric() != Metric::Dtw;
        let mut planes = ByColor::from_fn(|_| Planes {
            open: &mut [],
            lost: plane(),
            escapes: plane(),
            left: vec![0; rows],
            last_lost: flags(rows),
            worklists: [Worklists::new(rows), Worklists::new(if is_dtz { rows } else { 0 })],
            off_beat: false,
            chunks: chunks.by_ref().take(rows.div_ceil(chunk_rows)).collect(),
        });
        let (done, of) = (AtomicUsize::new(0), 2 * rows.div_ceil(chunk_rows));
        for color in Color::ALL {
            // Positions lost in 0 plies put the opponent's rows next to them on the worklist of the first pass.
            let worklist = std::mem::take(&mut planes[!color].worklists[Beat::On as usize].now);
            let own = &mut planes[color];
            own.lost
                .par_chunks_mut(chunk_rows)
                .zip(own.escapes.par_chunks_mut(chunk_rows))
                .zip(own.left.par_chunks_mut(chunk_rows))
                .zip(&mut own.chunks)
                .enumerate()
                .try_for_each(|(c, (((lost, escapes), left), chunk))| {
                    let start = Start {
                        iteration: self,
                        captures,
                        color,
                        first_row: c * chunk_rows,
                        valid,
                        lost,
                        escapes,
                        left,
                        next: &worklist,
                        chunk,
                    };
                    dispatch!(self.task.level, fn(start: Start<'_>) -> io::Result<()> = start_rows::<V>)
                        .map_err(|error| self.disk(&error))?;
                    self.task.observer.conversions(done.fetch_add(1, Relaxed) + 1, of)
                })?;
            planes[!color].worklists[Beat::On as usize].now = worklist;
        }
        planes.white.open = valid;
        Ok(planes)
    }

    /// Initializes Black's plane *open*, and decides the positions that win in one ply by a conversion. `last` is the
    /// memory of the plane.
    fn first_wins<'m>(&self, planes: &mut ByColor<Planes<'m>>, last: &'m mut [u8]) -> io::Result<()> {
        let open: &mut [Row] = bytemuck::cast_slice_mut(&mut last[..self.plane_bytes()]);
        open.par_chunks_mut(CHUNK_ROWS)
            .zip(planes.white.open.par_chunks(CHUNK_ROWS))
            .for_each(|(open, valid)| open.copy_from_slice(valid));
        planes.black.open = open;
        let chunk_rows = self.chunk_rows();
        for color in Color::ALL {
            let next = std::mem::take(&mut planes[!color].worklists[Beat::On as usize].next);
            let Planes { open, lost, escapes, left, last_lost, chunks, .. } = &mut planes[color];
            open.par_chunks_mut(chunk_rows)
                .zip(lost.par_chunks_mut(chunk_rows))
                .zip(escapes.par_chunks_mut(chunk_rows))
                .zip(left.par_chunks_mut(chunk_rows))
                .zip(chunks)
                .enumerate()
                .try_for_each(|(c, ((((open, lost), escapes), left), chunk))| {
                    let part = Part {
                        iteration: self,
                        color,
                        pass: Pass::new(self.task.classes.metric(), 1, Beat::On),
                        first_row: c * chunk_rows,
                        written: open,
                        escapes,
                        left,
                        opponent: &[],
                        worklist: &[],
                        next: &next,
                        own_last_lost: last_lost,
                        last_lost: &[],
                        chunk,
                    };
                    dispatch!(
                        self.task.level,
                        fn(part: Part<'_>, lost: &mut [Row]) -> io::Result<()> = first_wins
                    )
                })?;
            planes[!color].worklists[Beat::On as usize].next = next;
        }
        Ok(())
    }

    /// Calls `f` with each range of rows of both sides. Returns whether one of them returned true.
    fn pass(
        &self,
        planes: &mut ByColor<Planes<'_>>,
        pass: Pass,
        f: impl Fn(Part<'_>) -> io::Result<bool> + Sync,
    ) -> io::Result<bool> {
        let chunk_rows = self.chunk_rows();
        let white = planes.white.split_for_pass(pass);
        let black = planes.black.split_for_pass(pass);
        let (white_seen, black_seen) = (white.seen, black.seen);
        let (white_next, black_next) = (white.next, black.next);
        let (white_last_lost, black_last_lost) = (white.last_lost, black.last_lost);
        let run = |color: Color, side: Split<'_>, opponent: &[Row], next: &[AtomicU8], last_lost: &[AtomicU8]| {
            side.written
                .par_chunks_mut(chunk_rows)
                .zip(side.escapes.par_chunks_mut(chunk_rows))
                .zip(side.left.par_chunks_mut(chunk_rows))
                .zip(side.worklist.par_chunks(chunk_rows))
                .zip(side.chunks)
                .enumerate()
                .map(|(c, ((((written, escapes), left), worklist), chunk))| {
                    let first_row = c * chunk_rows;
                    f(Part {
                        iteration: self,
                        color,
                        pass,
                        first_row,
                        written,
                        escapes,
                        left,
                        opponent,
                        worklist,
                        next,
                        own_last_lost: side.last_lost,
                        last_lost,
                        chunk,
                    })
                })
                .try_reduce(|| false, |a, b| Ok(a | b))
        };
        let (a, b) = rayon::join(
            || run(Color::White, white, black_seen, black_next, black_last_lost),
            || run(Color::Black, black, white_seen, white_next, white_last_lost),
        );
        let (a, b) = (a?, b?);
        Ok(a || b)
    }

    /// Counts the positions that no pass decided.
    fn finish(&self, mut planes: ByColor<Planes<'_>>) -> Solved {
        let chunk_rows = self.chunk_rows();
        let draws_too = self.task.classes.options().no_move == NoMove::Draw;
        for color in Color::ALL {
            let Planes { open, lost, chunks, .. } = &mut planes[color];
            open.par_chunks(chunk_rows).zip(lost.par_chunks(chunk_rows)).zip(chunks).enumerate().for_each(
                |(c, ((open, lost), chunk))| {
                    let first_row = c * chunk_rows;
                    let weight = |row: usize| self.rows.weight(first_row + row);
                    let of_row = |(row, (open, lost)): (usize, (&Row, &Row))| {
                        let words = open.0.iter().zip(&lost.0);
                        words.map(|(open, lost)| u64::from((open & !lost).count_ones())).sum::<u64>() * weight(row)
                    };
                    let undecided = open.iter().zip(lost).enumerate().map(of_row).sum::<u64>();
                    let no_move =
                        |entry: &Entry| u64::from(entry.mask().count_ones()) * weight(entry.word as usize / WIDTH);
                    chunk.stats.no_move = chunk.no_move.iter().map(no_move).sum();
                    chunk.stats.draws = undecided - if draws_too { chunk.stats.no_move } else { 0 };
                },
            );
        }
        let stats = ByColor::from_fn(|color| {
            let mut all = Stats::default();
            planes[color].chunks.iter().for_each(|chunk| all += &chunk.stats);
            all
        });
        let deepest = ByColor::from_fn(|color| {
            let found = planes[color].chunks.iter().filter_map(|chunk| chunk.deepest);
            found.min_by_key(|&(depth, cell)| (Reverse(depth), cell)).map(|(_, cell)| cell)
        });
        let values = matches!(self.task.keep, Keep::Log(_)).then(|| {
            let log =
                ClassLog { ranges: planes.map(|side| self.logged(side.chunks)), dir: self.temporary_dir().to_owned() };
            SolvedRows::of_log(self.index.clone(), self.rows.clone(), &stats, log)
        });
        Solved { stats, deepest, values }
    }

    /// The logs of all ranges of rows of a side to move.
    fn logged(&self, chunks: Vec<Chunk>) -> Vec<LoggedRange> {
        let chunk_rows = self.chunk_rows();
        let logged = chunks.into_iter().enumerate().filter_map(|(c, chunk)| {
            let rows = c * chunk_rows..((c + 1) * chunk_rows).min(self.rows.len());
            Some(LoggedRange { rows, changes: chunk.changes?, no_move: chunk.no_move })
        });
        logged.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;
    use crate::tablebase::{CellValue, ClassId, CpuBackend, Options, Solver};

    /// Conversions on disk change no value and no count, and leave no file. The deepest cell is the first cell of the
    /// longest line.
    #[test]
    fn conversions_on_disk_change_nothing() {
        let dir = tempfile::tempdir().unwrap();
        for rules in [RuleOptions::PAPER, "chinese".parse().unwrap()] {
            let mut memory = Solver::new(&rules, 3, Options::default());
            for pieces in 2..=3 {
                memory.solve_level(pieces, true, &|_, _| ()).unwrap();
            }
            let tables: Vec<_> = (0..memory.classes().len()).map(|i| memory.table(ClassId(i)).cloned()).collect();
            let backend = CpuBackend::default().spilling(dir.path().to_owned());
            for id in (0..tables.len()).map(ClassId) {
                let task = backend.task(memory.classes(), id, Keep::Log(None));
                let solved = solve(task.clone(), &tables[..]).unwrap();
                let table = solved.table().unwrap();
                // Ranges of one block. Classes of seven pieces need several ranges, as an entry's word number has 32 bits.
                let narrow = solve(Task { range_rows: BLOCK_ROWS, ..task }, &tables[..]).unwrap();
                assert_eq!((narrow.table().unwrap(), &narrow.stats), (table.clone(), &solved.stats));
                assert_eq!(narrow.deepest, solved.deepest);
                assert_eq!(table.as_ref(), memory.table(id));
                assert_eq!(Some(&solved.stats), memory.class_stats(id));
                for turn in Color::ALL {
                    let longest = solved.stats[turn].by_plies.iter().rposition(|&n| n > 0);
                    let code = longest.map(|plies| CellValue::Decided(plies as u16).code());
                    let cells = &memory.table(id).unwrap().cells[turn];
                    assert_eq!(solved.deepest[turn], (0..cells.len()).find(|&cell| Some(cells.get(cell)) == code));
                }
            }
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_disk_that_is_not_there_is_named() {
        let solver = Solver::new(&RuleOptions::PAPER, 2, Options::default());
        let mut solver = solver.on(CpuBackend::default().spilling("/no/such/folder".into()));
        let error = solver.solve_level(2, true, &|_, _| ()).unwrap_err();
        assert!(matches!(error, SolveError::Disk { .. }) && error.to_string().contains("/no/such/folder"), "{error}");
    }
}
