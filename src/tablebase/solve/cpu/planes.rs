//! The planes of a class being solved, and the data of a range of rows.

use crate::tablebase::Stats;
use crate::tablebase::solve::cpu::buckets::{Buckets, Entry};
use crate::tablebase::solve::cpu::change_log::ChangeLog;
use crate::tablebase::solve::cpu::quiet::Row;
use std::sync::atomic::AtomicU8;

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
    /// By row, the last depth at which positions were found lost, modulo 256.
    pub(super) last_lost: Vec<AtomicU8>,
    /// The rows to visit in the next pass, and in the pass after it.
    pub(super) worklist: Vec<AtomicU8>,
    pub(super) next: Vec<AtomicU8>,
    pub(super) chunks: Vec<Chunk>,
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
    pub stats: Stats,
    /// The greatest depth at which a position was decided, and the first cell decided at this depth.
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
    pub(super) fn split_for_pass(&mut self, depth: u16) -> Split<'_> {
        let Planes { open, lost, escapes, left, last_lost, worklist, next, chunks } = self;
        let (written, seen) = if depth % 2 == 1 { (open, lost) } else { (lost, open) };
        Split { written, seen, escapes, left, last_lost, worklist, next, chunks }
    }
}

pub(super) fn flags(rows: usize) -> Vec<AtomicU8> {
    (0..rows).map(|_| AtomicU8::new(0)).collect()
}
