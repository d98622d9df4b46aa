use super::ROW_BYTES;
use crate::tablebase::solve::backend::DeviceWork;

impl DeviceWork {
    /// One batch.
    pub(super) fn new(rows: u64, rows_looked_at: u64, conversions: u64, keep: bool, memory: u64) -> DeviceWork {
        // In halves of a row of a plane. Two planes and the bits of the values, eight, are written; those are read
        // again for the conversions; positions without a move are found in three planes and written to two; what is
        // left at the end is found in two, and some five rows of changes become eight of codes if values are kept.
        let set_up = 2 * (2 + 8 + 8 + 5 + 2 + if keep { 5 + 8 } else { 0 });
        // Its own plane and the plane of conversions, one of the opponent, and what is written; every other pass
        // another of its own; changes take about half a row.
        let looked_at = 2 * 4 + 1 + u64::from(keep);
        // A conversion is an entry of three u32, written and read.
        let bytes_moved = (rows * set_up + rows_looked_at * looked_at) * ROW_BYTES / 2 + 2 * 12 * conversions;
        DeviceWork { rows, rows_looked_at, conversions, bytes_moved, memory, sent: 0, compile_seconds: 0.0 }
    }
}
