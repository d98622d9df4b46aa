//! The planes of a class being solved, and the data of a range of rows.

use crate::tablebase::solve::cpu::buckets::{Buckets, Entry};
use crate::tablebase::solve::cpu::change_log::ChangeLog;
use crate::tablebase::solve::cpu::row::Row;
use crate::tablebase::{Metric, Stats};
use std::sync::atomic::AtomicU8;

/// The positions that a pass finds: the wins or the losses in some number of plies.
#[derive(Copy, Clone, Debug)]
pub(super) struct Pass {
    pub wins: bool,
    pub plies: u16,
    /// The number of [`CellValue::Decided`](crate::tablebase::CellValue::Decided).
    pub decided: u16,
    pub beat: Beat,
}

/// On the beat, wins have an odd distance and losses an even one. With DTZ a loss by a capture that the losing side cannot
/// avoid is off the beat, and with it the wins and losses that lead to it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Beat {
    On,
    Off,
}

impl Pass {
    pub(super) fn new(metric: Metric, plies: u16, beat: Beat) -> Pass {
        let wins = (plies % 2 == 1) == (beat == Beat::On);
        Pass { wins, plies, decided: metric.decided(wins, plies), beat }
    }
}

/// The planes of one side to move, with a row for each solved row.
pub(crate) struct Planes<'a> {
    /// Positions that are not (yet) won.
    pub(super) open: &'a mut [Row],
    /// Lost positions.
    pub(super) lost: &'a mut [Row],
    /// Positions that cannot be lost yet, and cells without a position.
    pub(super) escapes: &'a mut [Row],
    /// By row, the number of undecided positions.
    pub(super) left: Vec<u16>,
    /// By row, the last distance at which positions were found lost, modulo 256.
    pub(super) last_lost: Vec<AtomicU8>,
    /// By [`Beat`].
    pub(super) worklists: [Worklists; 2],
    /// Whether there is a pass off the beat at the next depth.
    pub(super) off_beat: bool,
    pub(super) chunks: Vec<Chunk>,
}

/// The rows to visit in the next pass, and in the pass after it.
#[derive(Default)]
pub(super) struct Worklists {
    pub now: Vec<AtomicU8>,
    pub next: Vec<AtomicU8>,
}

impl Worklists {
    pub(super) fn new(rows: usize) -> Worklists {
        Worklists { now: flags(rows), next: flags(rows) }
    }

    pub(super) fn swap(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
    }
}

/// The data of a range of rows.
#[derive(Default)]
pub(super) struct Chunk {
    pub buckets: Buckets,
    /// Positions without a legal move.
    pub no_move: Vec<Entry>,
    /// The positions that passes decided, if values are kept.
    pub changes: Option<ChangeLog>,
    pub last_conversion: u16,
    /// The positions that a pass off the beat has found and that are not decided yet, by row of the range.
    pub pending: Vec<(usize, Row)>,
    pub stats: Stats,
    /// The greatest number of a decided value, and the first cell with it.
    pub deepest: Option<(u16, usize)>,
}

/// One side's planes in a pass.
pub(super) struct Split<'a> {
    pub written: &'a mut [Row],
    /// The plane that the opponent reads.
    pub seen: &'a [Row],
    pub escapes: &'a mut [Row],
    pub left: &'a mut [u16],
    pub last_lost: &'a [AtomicU8],
    pub worklist: &'a [AtomicU8],
    pub next: &'a [AtomicU8],
    pub chunks: &'a mut [Chunk],
}

impl Planes<'_> {
    pub(super) fn split_for_pass(&mut self, pass: Pass) -> Split<'_> {
        let Planes { open, lost, escapes, left, last_lost, worklists, chunks, .. } = self;
        let (written, seen) = if pass.wins { (open, lost) } else { (lost, open) };
        let Worklists { now: worklist, next } = &worklists[pass.beat as usize];
        Split { written, seen, escapes, left, last_lost, worklist, next, chunks }
    }
}

pub(super) fn flags(rows: usize) -> Vec<AtomicU8> {
    (0..rows).map(|_| AtomicU8::new(0)).collect()
}
