use super::ROW_BYTES;
use crate::tablebase::solve::backend::DeviceWork;

impl DeviceWork {
    /// One batch.
    pub(super) fn new(rows: u64, rows_looked_at: u64, seeds: u64, keep: bool, memory: u64) -> DeviceWork {
        // In rows of a plane. Two planes and the bits of the worths, eight, are written; those are read again for the seeds
        // and cleared if values are kept; positions without a move are found in three planes and written to two; what is
        // left at the end is found in two, and eight bits become eight bytes if values are kept.
        let set_up = 2 + 8 + 8 + 5 + 2 + if keep { 8 + 2 * 8 } else { 0 };
        // Its own plane and the gate, one of the opponent, and what is written; every other pass another of its own.
        let looked_at = 4;
        // A seed is an entry of three u32, written and read.
        let bytes_moved =
            (rows * set_up + rows_looked_at * looked_at + rows_looked_at / 2) * ROW_BYTES + 2 * 12 * seeds;
        DeviceWork { rows, rows_looked_at, seeds, bytes_moved, memory, sent: 0, compile_seconds: 0.0 }
    }
}
