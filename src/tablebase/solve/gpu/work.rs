use super::ROW_BYTES;
use serde::Serialize;
use std::ops::AddAssign;

/// What a card has done.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GpuWork {
    /// Rows of 4096 cells, for one side to move.
    pub rows: u64,
    /// Rows that passes looked at, each as often as it was looked at.
    pub rows_looked_at: u64,
    /// Words with seeds of one depth.
    pub seeds: u64,
    /// The least that had to move between the card and its memory, in bytes: over its bandwidth, a floor of the time.
    pub bytes_moved: u64,
    /// The most memory that the buffers of a batch took, in bytes, with the smaller classes' values.
    pub memory: u64,
}

impl GpuWork {
    /// One batch.
    pub(super) fn new(rows: u64, rows_looked_at: u64, seeds: u64, keep: bool, memory: u64) -> GpuWork {
        // In rows of a plane. The bits of the worths, eight, are written, counted, sorted and cleared, beside two planes;
        // positions without a move are found in two planes and written to two; what is left at the end is found in two,
        // and eight bits become eight bytes if values are kept.
        let set_up = 4 * 8 + 2 + 4 + 2 + if keep { 2 * 8 } else { 0 };
        // Two planes of its own and the gate, one of the opponent, and what is written.
        let looked_at = 5;
        // A seed is an entry of three u32, written and read.
        let bytes_moved = (rows * set_up + rows_looked_at * looked_at) * ROW_BYTES + 2 * 12 * seeds;
        GpuWork { rows, rows_looked_at, seeds, bytes_moved, memory }
    }

    /// What was done since; the memory is the most of all.
    #[must_use]
    pub fn since(&self, before: &GpuWork) -> GpuWork {
        GpuWork {
            rows: self.rows - before.rows,
            rows_looked_at: self.rows_looked_at - before.rows_looked_at,
            seeds: self.seeds - before.seeds,
            bytes_moved: self.bytes_moved - before.bytes_moved,
            memory: self.memory,
        }
    }
}

impl AddAssign for GpuWork {
    fn add_assign(&mut self, other: GpuWork) {
        self.rows += other.rows;
        self.rows_looked_at += other.rows_looked_at;
        self.seeds += other.seeds;
        self.bytes_moved += other.bytes_moved;
        self.memory = self.memory.max(other.memory);
    }
}
