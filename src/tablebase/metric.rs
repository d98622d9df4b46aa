//! What the distances of tables measure.

use crate::board::RuleOptions;
use crate::tablebase::{CellValue, Dtz, Stats, Summary, Wdl};

/// What the distance of a decided position measures.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// DTW, the distance to the end of the game in plies, in games without a no-capture limit. A win has an odd distance, a
    /// loss an even one.
    Dtw,
    /// DTZ, the distance to the next capture or den entry in plies, in games that are drawn after so many plies without a
    /// capture: the winner minimizes it, the loser maximizes it, and both keep the result under this limit.
    ///
    /// A position is won or lost at a clock if its distance is at most the plies that are left before the limit, else it
    /// is drawn. Either side may make the capture, so wins and losses have odd and even distances.
    Dtz(u16),
}

impl Metric {
    /// The metric of tables for these rules.
    #[must_use]
    pub fn of(rules: &RuleOptions) -> Metric {
        rules.no_capture_limit.map_or(Metric::Dtw, Metric::Dtz)
    }

    /// The distance in plies of a position with the value [`CellValue::Decided`].
    #[must_use]
    pub fn plies(self, decided: u16) -> u16 {
        match self {
            Metric::Dtw => decided,
            Metric::Dtz(_) => Dtz::of_decided(decided).plies,
        }
    }

    /// A value of a table as text.
    #[must_use]
    pub fn text(self, value: CellValue) -> String {
        match (self, value) {
            (Metric::Dtz(_), CellValue::Decided(number)) => {
                let Dtz { wdl, plies } = Dtz::of_decided(number);
                let result = if wdl == Wdl::Win { "win" } else { "loss" };
                format!("{result}, {plies} plies to a capture or den")
            }
            _ => value.to_string(),
        }
    }

    /// The totals of counts, with the longest distance in plies.
    #[must_use]
    pub fn summary(self, stats: &Stats) -> Summary {
        let summary = stats.summary();
        Summary { longest: self.plies(summary.longest as u16).into(), ..summary }
    }

    /// The numbers of wins and of losses by distance.
    #[must_use]
    pub fn by_plies(self, stats: &Stats) -> (Vec<u64>, Vec<u64>) {
        let (mut wins, mut losses) = (Vec::new(), Vec::new());
        for (number, &count) in stats.by_plies.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (plies, side) = (self.plies(number as u16), if number % 2 == 1 { &mut wins } else { &mut losses });
            side.resize(usize::from(plies) + 1, 0);
            side[usize::from(plies)] = count;
        }
        (wins, losses)
    }

    /// The number of [`CellValue::Decided`] for a win or a loss in `plies`: odd for a
    /// win, even for a loss.
    #[must_use]
    pub(crate) fn decided(self, wins: bool, plies: u16) -> u16 {
        match self {
            Metric::Dtw => plies,
            Metric::Dtz(_) => Dtz { wdl: if wins { Wdl::Win } else { Wdl::Loss }, plies }.decided(),
        }
    }

    /// The number of [`CellValue::Decided`] of a move to a position decided with such a
    /// number, for the side that makes it; `converts` tells whether the move is a capture. `None` if the move comes too late.
    pub(crate) fn before(self, decided: u16, converts: bool) -> Option<u16> {
        match self {
            Metric::Dtw => Some(decided + 1),
            Metric::Dtz(limit) => {
                let value = Dtz::of_decided(decided).before(converts);
                (value.plies <= limit).then(|| value.decided())
            }
        }
    }
}
