//! A pass over a range of rows: see [`Iteration`].

use crate::board::Color;
use crate::cpu::prefetch;
use crate::tablebase::index::{ROW_CELLS, WIDTH};
use crate::tablebase::solve::cpu::buckets::Entry;
use crate::tablebase::solve::cpu::planes::{Beat, Chunk, Pass};
use crate::tablebase::solve::cpu::quiet::RowNeighbours;
use crate::tablebase::solve::cpu::row::{Row, SQUARES, WORD_OF, WORDS};
use crate::tablebase::solve::cpu::task::Iteration;
use std::io;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// One range of rows of one side to move, in one pass.
pub(super) struct Part<'a> {
    pub iteration: &'a Iteration<'a>,
    pub color: Color,
    pub pass: Pass,
    pub first_row: usize,
    /// This side's planes: the one that the pass writes, and the cells with an escape.
    pub written: &'a mut [Row],
    pub escapes: &'a mut [Row],
    /// By row, the number of undecided positions.
    pub left: &'a mut [u16],
    /// The whole plane of the opponent that the pass reads.
    pub opponent: &'a [Row],
    pub worklist: &'a [AtomicU8],
    /// The opponent's rows to visit in the next pass.
    pub next: &'a [AtomicU8],
    /// By row, the last distance at which positions of this side, and of the opponent, were found lost, modulo 256.
    pub own_last_lost: &'a [AtomicU8],
    pub last_lost: &'a [AtomicU8],
    pub chunk: &'a mut Chunk,
}

/// A row to visit in a pass.
struct Visit<'e> {
    /// The number of the row in the range.
    at: usize,
    conversions: &'e [Entry],
    /// Whether the row is on the worklist: a row that its moves lead to has changed.
    listed: bool,
}

/// The rows of a range to visit, in order.
struct Visits<'a, 'e> {
    at: usize,
    conversions: &'e [Entry],
    worklist: &'a [AtomicU8],
}

impl<'e> Iterator for Visits<'_, 'e> {
    type Item = Visit<'e>;

    #[inline(always)]
    fn next(&mut self) -> Option<Visit<'e>> {
        let row = |entry: &Entry| entry.word as usize / WIDTH;
        let converted = self.conversions.first().map_or(self.worklist.len(), row);
        while self.at < converted && self.worklist[self.at].load(Relaxed) == 0 {
            self.at += 1;
        }
        let (at, flag) = (self.at, self.worklist.get(self.at)?);
        self.at += 1;
        let listed = flag.load(Relaxed) != 0;
        flag.store(0, Relaxed);
        let (conversions, rest) =
            self.conversions.split_at(self.conversions.iter().take_while(|entry| row(entry) == at).count());
        self.conversions = rest;
        Some(Visit { at, conversions, listed })
    }
}

/// One pass over a range of rows. Returns whether a row changed.
#[inline(always)]
pub(super) fn pass_rows(mut part: Part<'_>, buffer: &mut Vec<Entry>) -> io::Result<bool> {
    let entries = part.chunk.buckets.take(part.pass.plies, buffer)?;
    let mut visits = Visits { at: 0, conversions: &entries, worklist: part.worklist };
    let mut changed = false;
    // The memory of a row is prefetched while the row before it is processed: its own words at once, the rows that its
    // moves lead to one for each row that is read, because a core loads only some twenty cache lines at a time.
    let mut row_neighbours = [RowNeighbours::default(); 2];
    let mut now = 0;
    let mut next = part.next(&mut visits, &mut row_neighbours[now]);
    while let Some(visit) = next {
        next = part.next(&mut visits, &mut row_neighbours[now ^ 1]);
        changed |= part.visit(&visit, &row_neighbours[now], &row_neighbours[now ^ 1])?;
        now ^= 1;
    }
    part.end()?;
    Ok(changed)
}

/// Decides the positions of a range of rows that a pass off the beat has found. Returns whether there were any.
pub(super) fn decide_pending(mut part: Part<'_>) -> io::Result<bool> {
    let pending = std::mem::take(&mut part.chunk.pending);
    for &(at, found) in &pending {
        let mut count = 0;
        // Won positions are no longer open; lost ones were not lost.
        for (written, found) in part.written[at].0.iter_mut().zip(&found.0) {
            *written ^= found;
            count += found.count_ones() as u16;
        }
        part.decide(at, &found, count)?;
    }
    part.end()?;
    Ok(!pending.is_empty())
}

/// Decides the positions of a range of rows that win in one ply by a conversion: those that are lost and have an escape.
/// Removes them from `lost`.
#[inline(always)]
pub(super) fn first_wins(mut part: Part<'_>, lost: &mut [Row]) -> io::Result<()> {
    for (at, lost) in lost.iter_mut().enumerate() {
        let mut found = Row::EMPTY;
        for s in 0..WORDS {
            found.0[s] = lost.0[s] & part.escapes[at].0[s];
            lost.0[s] ^= found.0[s];
        }
        let count = take_won(&mut part.written[at], &mut found);
        part.decide(at, &found, count)?;
    }
    part.end()
}

impl Part<'_> {
    /// Ends the records of the pass.
    fn end(&mut self) -> io::Result<()> {
        self.chunk.changes.as_mut().map_or(Ok(()), |changes| changes.end_pass(self.pass.decided))
    }

    /// The next row with undecided positions. Prefetches its words; [`visit`](Part::visit) prefetches the rows that its
    /// moves lead to.
    #[inline(always)]
    fn next<'e>(&self, visits: &mut Visits<'_, 'e>, row_neighbours: &mut RowNeighbours) -> Option<Visit<'e>> {
        row_neighbours.clear();
        let visit = visits.find(|visit| self.left[visit.at] != 0)?;
        let wins = self.pass.wins;
        prefetch(&self.written[visit.at]);
        if !wins {
            prefetch(&self.escapes[visit.at]);
        }
        // If nothing that its moves lead to has changed, only its conversions win.
        if !wins || visit.listed {
            // A new win moves to a position lost in the pass before; a move that avoids a loss may lead to any row.
            let wanted = |number: usize| !wins || self.last_lost[number].load(Relaxed) == (self.pass.plies - 1) as u8;
            self.iteration.neighbours[self.color].collect_row(self.first_row + visit.at, wanted, row_neighbours);
        }
        Some(visit)
    }

    /// Processes one row, and prefetches the rows of `upcoming`. Returns whether the row changed.
    #[inline(always)]
    fn visit(
        &mut self,
        visit: &Visit<'_>,
        row_neighbours: &RowNeighbours,
        upcoming: &RowNeighbours,
    ) -> io::Result<bool> {
        let at = visit.at;
        let mut found = Row::EMPTY;
        self.iteration.quiet[self.color].reach(self.opponent, row_neighbours, upcoming, &mut found);
        let word = |entry: &Entry| WORD_OF[entry.word as usize - at * WIDTH];
        let mut unchanged;
        let written = match self.pass.beat {
            Beat::On => &mut self.written[at],
            Beat::Off => {
                unchanged = self.written[at];
                &mut unchanged
            }
        };
        let count = if self.pass.wins {
            visit.conversions.iter().for_each(|entry| found.0[word(entry)] |= entry.mask());
            take_won(written, &mut found)
        } else {
            visit.conversions.iter().for_each(|entry| self.escapes[at].0[word(entry)] &= !entry.mask());
            take_lost(written, &self.escapes[at], &mut found)
        };
        match self.pass.beat {
            Beat::On => self.decide(at, &found, count)?,
            Beat::Off if count > 0 => self.chunk.pending.push((at, found)),
            Beat::Off => {}
        }
        Ok(count > 0)
    }

    /// Records the `count` positions `found` of a row, which the pass decides.
    #[inline(always)]
    fn decide(&mut self, at: usize, found: &Row, count: u16) -> io::Result<()> {
        if count == 0 {
            return Ok(());
        }
        let Iteration { neighbours, rows, .. } = self.iteration;
        self.left[at] -= count;
        let number = self.first_row + at;
        let Pass { wins, plies, decided, .. } = self.pass;
        if !wins {
            self.own_last_lost[number].store(plies as u8, Relaxed);
        }
        // The wins in one ply are found in two parts, so the first row of a depth may come last.
        let row_cell = rows.row(number) * ROW_CELLS;
        if self.chunk.deepest.is_none_or(|(deepest, cell)| deepest < decided || deepest == decided && row_cell < cell) {
            let new = found.0.iter().zip(SQUARES).filter(|(new, _)| **new != 0);
            let cell = new.map(|(new, s)| row_cell + s * WIDTH + new.trailing_zeros() as usize).min();
            let earlier = self.chunk.deepest.filter(|&(deepest, _)| deepest == decided);
            self.chunk.deepest = earlier.into_iter().chain(cell.map(|cell| (decided, cell))).min();
        }
        if let Some(changes) = &mut self.chunk.changes {
            changes.push(at, found)?;
        }
        self.chunk.stats.add_decided(decided, u64::from(count) * rows.weight(number));
        neighbours[!self.color].for_each(number, |other| self.next[other].store(1, Relaxed));
        Ok(())
    }
}

/// Restricts `found` to open positions, which are won, and removes them from `open`. Returns their number.
#[inline(always)]
fn take_won(open: &mut Row, found: &mut Row) -> u16 {
    let mut count = 0;
    for (open, found) in open.0.iter_mut().zip(&mut found.0) {
        *found &= *open;
        *open ^= *found;
        count += u64::from(found.count_ones());
    }
    count as u16
}

/// Replaces `found` by the cells that are not in `found`, not lost and without an escape, and adds them to `lost`.
/// Returns their number.
#[inline(always)]
fn take_lost(lost: &mut Row, escapes: &Row, found: &mut Row) -> u16 {
    let mut count = 0;
    for ((lost, escapes), found) in lost.0.iter_mut().zip(&escapes.0).zip(&mut found.0) {
        *found = !(*lost | escapes | *found);
        *lost |= *found;
        count += u64::from(found.count_ones());
    }
    count as u16
}
