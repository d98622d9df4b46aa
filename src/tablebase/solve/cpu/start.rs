//! The planes of a range of rows before the first pass: see [`Iteration`].

use crate::board::{Color, NoMove};
use crate::cpu::Vector;
use crate::tablebase::index::WIDTH;
use crate::tablebase::solve::captures::CapturedCells;
use crate::tablebase::solve::cpu::buckets::Entry;
use crate::tablebase::solve::cpu::planes::Chunk;
use crate::tablebase::solve::cpu::quiet::RowNeighbours;
use crate::tablebase::solve::cpu::row::{Row, SQUARES, WORDS};
use crate::tablebase::solve::cpu::task::Iteration;
use std::io;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// One range of rows of one side to move, before the first pass.
pub(super) struct Start<'a> {
    pub iteration: &'a Iteration<'a>,
    pub captures: &'a CapturedCells<'a>,
    pub color: Color,
    pub first_row: usize,
    /// All positions, equal for both sides to move.
    pub valid: &'a [Row],
    /// Receives the lost positions, and the positions that win in one ply by a conversion. Only the latter have an escape.
    pub lost: &'a mut [Row],
    pub escapes: &'a mut [Row],
    pub left: &'a mut [u16],
    /// The opponent's rows to visit in the first pass.
    pub next: &'a [AtomicU8],
    pub chunk: &'a mut Chunk,
}

/// Looks up the conversions of a range of rows and finds the positions without a move.
#[inline(always)]
pub(super) fn start_rows<V: Vector>(mut start: Start<'_>) -> io::Result<()> {
    let Iteration { task, index, quiet, neighbours, conversions, rows } = start.iteration;
    let loses = task.classes.options().no_move == NoMove::Loss;
    let mut best = Box::new([[0; WIDTH]; WIDTH]);
    let (mut row_neighbours, mut quiet_moves, mut losing) = (RowNeighbours::default(), Row::EMPTY, Row::EMPTY);
    for i in 0..start.lost.len() {
        let number = start.first_row + i;
        let row = rows.row(number);
        let valid = &start.valid[number];
        let (won, any) = conversions[start.color].push_row::<V>(
            index,
            start.captures,
            row,
            i * WIDTH,
            valid,
            &mut best,
            &mut start.chunk.buckets,
            &mut losing,
        );
        start.chunk.buckets.spill(false)?;
        neighbours[start.color].collect_row(number, |_| true, &mut row_neighbours);
        if quiet[start.color].always_moves(&row_neighbours) {
            quiet_moves = Row([u64::MAX; WORDS]);
        } else {
            quiet[start.color].reach(start.valid, &row_neighbours, &RowNeighbours::default(), &mut quiet_moves);
        }
        let (mut stuck, mut positions) = (Row::EMPTY, 0);
        for s in 0..WORDS {
            start.escapes[i].0[s] = any.0[s] & !losing.0[s] | !valid.0[s];
            start.lost[i].0[s] = won.0[s];
            stuck.0[s] = valid.0[s] & !any.0[s] & !quiet_moves.0[s];
            positions += u64::from(valid.0[s].count_ones());
        }
        start.left[i] = positions as u16;
        if stuck != Row::EMPTY {
            start.stuck(i, &stuck, loses);
        }
        // All moves are captures that lose.
        losing.0.iter_mut().zip(&quiet_moves.0).for_each(|(losing, quiet)| *losing &= !quiet);
        if losing != Row::EMPTY {
            start.chunk.pending.push((i, losing));
        }
    }
    start.chunk.buckets.spill(true)?;
    start.chunk.last_conversion = start.chunk.buckets.last_depth();
    Ok(())
}

impl Start<'_> {
    /// Marks the positions of a row of the range in which there is no move.
    #[cold]
    fn stuck(&mut self, i: usize, stuck: &Row, loses: bool) {
        for (s, &stuck) in stuck.0.iter().enumerate().filter(|(_, stuck)| **stuck != 0) {
            self.chunk.no_move.push(Entry::new(i * WIDTH + SQUARES[s], stuck));
            if loses {
                self.lost[i].0[s] |= stuck;
                self.left[i] -= stuck.count_ones() as u16;
            } else {
                self.escapes[i].0[s] |= stuck;
            }
        }
        if loses {
            let neighbours = &self.iteration.neighbours[!self.color];
            neighbours.for_each(self.first_row + i, |other| self.next[other].store(1, Relaxed));
        }
    }
}
