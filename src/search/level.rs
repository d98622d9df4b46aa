//! Strength levels: searches of few nodes, which choose among the moves that are nearly as good as the best.

use super::engine::Engine;
use super::info::Info;
use super::limits::Limits;
use super::options::EngineOptions;
use crate::game::random::Random;
use serde::Serialize;

/// A strength level.
///
/// ```
/// use doushouqi::search::Level;
/// let level = Level::of_elo(0);
/// assert_eq!((level.name, level.nodes, level.margin), ("beginner", Some(20), 300));
/// // Between two measured levels.
/// assert!((20..60).contains(&Level::of_elo(200).nodes.unwrap()));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Level {
    /// A word for the level, which a page may translate.
    pub name: &'static str,
    /// The most nodes of a search; `None` if only the time limits it.
    pub nodes: Option<u64>,
    /// By how much a move may be worse than the best one, in centipawns.
    pub margin: i32,
    /// The Elo above the weakest level, by games between neighbours (results/levels.md); `None` if it was not measured.
    pub elo: Option<u16>,
}

/// The lines of which a level chooses one.
const LINES: usize = 5;

const fn level(name: &'static str, nodes: u64, margin: i32, elo: Option<u16>) -> Level {
    Level { name, nodes: Some(nodes), margin, elo }
}

impl Level {
    /// Every level, weakest first.
    pub const ALL: [Level; 10] = [
        level("beginner", 20, 300, Some(0)),
        level("novice", 60, 200, Some(260)),
        level("learner", 200, 120, Some(372)),
        level("casual", 600, 80, Some(421)),
        level("intermediate", 2_000, 40, Some(479)),
        level("skilled", 6_000, 20, None),
        level("advanced", 20_000, 10, Some(556)),
        level("expert", 100_000, 0, None),
        level("master", 500_000, 0, Some(627)),
        Level { name: "champion", nodes: None, margin: 0, elo: None },
    ];

    /// The Elo of the strongest level that was measured.
    pub const MAX_ELO: u16 = {
        let (mut max, mut i) = (0, 0);
        while i < Level::ALL.len() {
            if let Some(elo) = Level::ALL[i].elo {
                max = elo;
            }
            i += 1;
        }
        max
    };

    /// The level of this Elo above the weakest one, at most [`Level::MAX_ELO`]. Between two measured levels, the logarithm
    /// of the nodes and the margin change evenly.
    #[must_use]
    pub fn of_elo(elo: u16) -> Level {
        let measured: Vec<(u16, Level)> = Level::ALL.iter().filter_map(|&level| Some((level.elo?, level))).collect();
        let above = measured.iter().position(|&(of_level, _)| of_level >= elo).unwrap_or(measured.len() - 1);
        let (high, stronger) = measured[above];
        let (low, weaker) = measured[above.saturating_sub(1)];
        if elo >= high {
            return stronger;
        }
        let part = f64::from(elo - low) / f64::from(high - low);
        let between = |from: f64, to: f64| from + (to - from) * part;
        let nodes = |level: Level| (level.nodes.unwrap_or(u64::MAX) as f64).ln();
        Level {
            nodes: Some(between(nodes(weaker), nodes(stronger)).exp().round() as u64),
            margin: between(weaker.margin.into(), stronger.margin.into()).round() as i32,
            elo: Some(elo),
            ..weaker
        }
    }

    /// The memory of the transposition table of [`Level::engine`], in MiB. It is always the same, so that the same move is
    /// played.
    pub const HASH_MIB: usize = 4;

    /// An engine for one move of this level, without endgame tables.
    #[must_use]
    pub fn engine(&self) -> Engine {
        let lines = if self.margin > 0 { LINES } else { 1 };
        Engine::new(EngineOptions::default().hash_mib(Level::HASH_MIB).multipv(lines))
    }

    /// These limits, with at most the nodes of the level.
    #[must_use]
    pub fn limits(&self, limits: &Limits) -> Limits {
        let nodes = [self.nodes, limits.nodes].into_iter().flatten().min();
        limits.nodes(nodes)
    }

    /// The line that the level plays, of those of a search; `seed` selects among the good ones.
    #[must_use]
    pub fn choose<'a>(&self, lines: &'a [Info], seed: u64) -> Option<&'a Info> {
        let best = lines.first()?.score.value();
        let good: Vec<&Info> = lines.iter().filter(|line| best - line.score.value() <= self.margin).collect();
        Random::new(seed).choose(&good).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elo_selects_a_level() {
        for level in Level::ALL {
            if let Some(elo) = level.elo {
                assert_eq!(Level::of_elo(elo), level);
            }
        }
        let levels: Vec<Level> = (0..=Level::MAX_ELO + 100).map(Level::of_elo).collect();
        assert!(levels.is_sorted_by_key(|level| level.nodes) && levels.is_sorted_by_key(|level| -level.margin));
        assert_eq!(levels.last().map(|level| level.name), Some("master"));
    }
}
