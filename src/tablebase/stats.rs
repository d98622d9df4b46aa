use crate::board::ByColor;
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
