use crate::board::ByColor;
use crate::tablebase::index::ROW_CELLS;
use crate::tablebase::value::{CellValue, CellsRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The numbers of wins, losses, draws and stalemates of a set of positions, for one side to move.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Positions in which the side to move has no legal move (stalemate). The other fields leave them out.
    pub no_move: u64,
    /// Positions in which neither side can force a win.
    pub draws: u64,
    /// Number of decided positions by plies to the end: wins at odd distances, losses at even distances.
    pub by_plies: Vec<u64>,
}

/// The totals of [`Stats`], as in a row of the papers' second table.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// All positions: wins + losses + draws + no_move.
    pub positions: u64,
    /// Positions whose side to move has no legal move.
    pub no_move: u64,
    /// Positions that the side to move wins.
    pub wins: u64,
    /// Positions that the side to move loses.
    pub losses: u64,
    /// Positions in which neither side can force a win.
    pub draws: u64,
    /// The longest distance to the end, in plies.
    pub longest: u64,
}

impl Stats {
    /// The counts of all cells. `weight` returns the number of positions that each cell of a row represents.
    pub(crate) fn of(cells: CellsRef<'_>, weight: impl Fn(usize) -> u64 + Sync) -> Stats {
        match cells {
            CellsRef::Byte(cells) => Stats::of_codes(cells, weight),
            CellsRef::Wide(cells) => Stats::of_codes(cells, weight),
        }
    }

    fn of_codes<C: Copy + Into<u16> + Sync>(cells: &[C], weight: impl Fn(usize) -> u64 + Sync) -> Stats {
        /// The rows that a thread counts at a time.
        const ROWS: usize = 64;
        let count = |(chunk, rows): (usize, &[C])| {
            let mut stats = Stats::default();
            // Neighbours are often equal, so two counters in turn avoid dependent increments.
            let mut counts = vec![[0u32; 2]; 256];
            for (row, cells) in rows.chunks(ROW_CELLS).enumerate() {
                for (cell, &code) in cells.iter().enumerate() {
                    let code = usize::from(code.into());
                    if code >= counts.len() {
                        counts.resize(code + 1, [0; 2]);
                    }
                    counts[code][cell % 2] += 1;
                }
                for (code, count) in counts.iter_mut().enumerate().filter(|(_, count)| **count != [0; 2]) {
                    let positions = u64::from(count[0] + count[1]) * weight(chunk * ROWS + row);
                    *count = [0; 2];
                    match CellValue::from_code(code as u16) {
                        None => {}
                        Some(CellValue::Draw) => stats.draws += positions,
                        Some(CellValue::NoMove) => stats.no_move += positions,
                        Some(CellValue::Decided(plies)) => stats.add_decided(plies, positions),
                    }
                }
            }
            stats
        };
        cells.par_chunks(ROWS * ROW_CELLS).enumerate().map(count).reduce(Stats::default, |mut all, part| {
            all += &part;
            all
        })
    }

    /// Adds `count` positions decided in `plies`.
    pub fn add_decided(&mut self, plies: u16, count: u64) {
        let plies = plies as usize;
        if self.by_plies.len() <= plies {
            self.by_plies.resize(plies + 1, 0);
        }
        self.by_plies[plies] += count;
    }

    /// Adds `times` times the numbers of `other`.
    pub fn add_times(&mut self, other: &Stats, times: u64) {
        self.no_move += other.no_move * times;
        self.draws += other.draws * times;
        for (plies, count) in other.by_plies.iter().enumerate() {
            self.add_decided(plies as u16, count * times);
        }
    }

    /// The totals.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let of_parity = |parity| self.by_plies.iter().skip(parity).step_by(2).sum::<u64>();
        let (wins, losses) = (of_parity(1), of_parity(0));
        Summary {
            positions: wins + losses + self.draws + self.no_move,
            no_move: self.no_move,
            wins,
            losses,
            draws: self.draws,
            longest: self.by_plies.iter().rposition(|&n| n > 0).unwrap_or(0) as u64,
        }
    }
}

impl ByColor<Stats> {
    /// Number of positions, both sides to move.
    #[must_use]
    pub fn positions(&self) -> u64 {
        self.white.summary().positions + self.black.summary().positions
    }
}

impl AddAssign<&Stats> for Stats {
    fn add_assign(&mut self, other: &Stats) {
        self.add_times(other, 1);
    }
}
