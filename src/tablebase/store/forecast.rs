//! A forecast of the time, disk space and memory of generating tables, level by level, and of shortages of the machine.

use super::generate::{Generate, Made};
use super::peak;
use crate::tablebase::solve::needs::{class_bytes, expected_file_bytes, level_bytes, stored_cells, table_bytes};
use crate::tablebase::{ClassId, Solver};
use serde::Serialize;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Cells that a core compresses and writes per second, measured with five pieces.
const CELLS_PER_SECOND: f64 = 2.6e8;

/// The forecast for one level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelForecast {
    /// Pieces on the board.
    pub pieces: usize,
    /// Number of classes to solve, without those that the directory already contains.
    pub classes: usize,
    /// Number of positions of these classes, both sides to move.
    pub positions: u64,
    /// Expected seconds on the CPU.
    pub seconds: f64,
    /// Expected bytes of the files to write.
    pub disk_bytes: u64,
    /// The memory that the level takes under the limit, in bytes, or the least that suffices if that is above the limit.
    pub memory_bytes: u64,
}

/// The forecast for generating, and the free resources of the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// The levels, fewest pieces first.
    pub levels: Vec<LevelForecast>,
    /// Expected seconds of all levels on the CPU.
    pub seconds: f64,
    /// Expected bytes of all files to write.
    pub disk_bytes: u64,
    /// The memory of the level that needs the most, in bytes.
    pub memory_bytes: u64,
    /// Free bytes on the disk of the tables; `None` if the system does not report them.
    pub disk_free: Option<u64>,
    /// Available bytes of memory; `None` if the system does not report them.
    pub memory_available: Option<u64>,
    /// The directory of the tables.
    #[serde(skip)]
    dir: PathBuf,
}

/// A resource of which the machine has too little.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Shortage {
    /// The free disk space is too small.
    #[error("the tables take about {} on disk, and {} has {} free", binary_bytes(*needed), dir.display(), binary_bytes(*free))]
    Disk {
        /// The directory of the tables.
        dir: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Free bytes.
        free: u64,
    },
    /// The available memory is too small.
    #[error("{pieces} pieces take about {} of memory, and {} are available", binary_bytes(*needed), binary_bytes(*available))]
    Memory {
        /// Number of pieces of the level that needs the most memory.
        pieces: usize,
        /// Bytes needed.
        needed: u64,
        /// Available bytes.
        available: u64,
    },
}

impl Forecast {
    /// The resources of which the machine has too little.
    #[must_use]
    pub fn shortages(&self) -> Vec<Shortage> {
        let disk = self.disk_free.filter(|&free| free < self.disk_bytes).map(|free| Shortage::Disk {
            dir: self.dir.clone(),
            needed: self.disk_bytes,
            free,
        });
        let largest = self.levels.iter().max_by_key(|level| level.memory_bytes);
        let memory = self.memory_available.zip(largest).filter(|(available, level)| *available < level.memory_bytes);
        let memory = memory.map(|(available, level)| Shortage::Memory {
            pieces: level.pieces,
            needed: level.memory_bytes,
            available,
        });
        disk.into_iter().chain(memory).collect()
    }
}

impl Generate<'_> {
    /// The forecast for [`run`](Self::run) with this solver, if each of `cores` cores solves `rows_per_second` rows of
    /// 4096 cells for one side to move per second.
    #[must_use]
    pub fn forecast(&self, solver: &Solver, rows_per_second: f64, cores: usize) -> Forecast {
        let classes = solver.classes();
        let made = Made::of(self.dir);
        let left = |ids: &[ClassId], values: bool| -> Vec<ClassId> {
            ids.iter().copied().filter(|&id| !made.has(classes.get(id).representative, values)).collect()
        };
        let forecast = |pieces: usize, left: Vec<ClassId>, values: bool, memory: usize| {
            let rows: usize = left.iter().map(|&id| classes.get(id).index().rows).sum();
            let written = if values { &left[..] } else { &[] };
            let cells: u64 = written.iter().map(|&id| stored_cells(classes, id)).sum();
            let core_seconds = rows as f64 / rows_per_second + cells as f64 / CELLS_PER_SECOND;
            LevelForecast {
                pieces,
                classes: left.len(),
                positions: left.iter().map(|&id| 2 * classes.get(id).representative.positions()).sum(),
                seconds: core_seconds / cores.max(1) as f64,
                disk_bytes: written.iter().map(|&id| expected_file_bytes(classes, id)).sum(),
                memory_bytes: memory as u64,
            }
        };
        let planned = self.plan(classes).into_iter().map(|level| {
            let left = left(&level.ids, level.values);
            let memory = match left.iter().map(|&id| class_bytes(solver, id, false)).max() {
                None => 0,
                // The values of smaller classes stay in memory as far as the limit allows.
                Some(largest) if level.one_by_one => {
                    let smaller = classes.iter().filter(|(_, class)| class.representative.len() < level.pieces);
                    let smaller: usize = smaller.map(|(id, _)| table_bytes(classes, id, 1)).sum();
                    largest.max(self.memory.min(largest + smaller))
                }
                Some(_) => level_bytes(solver, &level.ids, level.values, !level.top)
                    .map_or(0, |need| need.under(self.memory, left.len(), cores)),
            };
            forecast(level.pieces, left, level.values, memory)
        });
        let mut levels: Vec<LevelForecast> = planned.collect();
        if levels.last().is_some_and(|top| top.classes > 0) {
            // The forecast assumes that classes that are solved only when needed are solved once.
            levels.extend(self.passing_levels(classes).into_iter().map(|(n, ids)| forecast(n, ids, false, 0)));
        }
        levels.sort_by_key(|level| level.pieces);
        Forecast {
            seconds: levels.iter().map(|level| level.seconds).sum(),
            disk_bytes: levels.iter().map(|level| level.disk_bytes).sum(),
            memory_bytes: levels.iter().map(|level| level.memory_bytes).max().unwrap_or(0),
            levels,
            disk_free: disk_free(self.dir),
            memory_available: peak::available(),
            dir: self.dir.to_owned(),
        }
    }
}

/// Free bytes on the disk of a directory, which need not exist yet; `None` if the system does not report them.
#[cfg(unix)]
pub(super) fn disk_free(dir: &Path) -> Option<u64> {
    let dir = std::path::absolute(dir).ok()?;
    let existing = dir.ancestors().find(|dir| dir.exists())?;
    let disk = rustix::fs::statvfs(existing).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

#[cfg(not(unix))]
pub(super) fn disk_free(_: &Path) -> Option<u64> {
    None
}

/// `bytes` as text in the largest unit that they fill, of KiB, MiB and GiB.
pub(super) fn binary_bytes(bytes: u64) -> String {
    let (name, shift) = match bytes {
        _ if bytes >= 1 << 30 => ("GiB", 30),
        _ if bytes >= 1 << 20 => ("MiB", 20),
        _ => ("KiB", 10),
    };
    format!("{:.1} {name}", bytes as f64 / f64::from(1 << shift))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;
    use crate::tablebase::{Material, Options};

    fn generate(dir: &Path, pieces: usize) -> Generate<'_> {
        Generate { pieces, ..Generate::new(dir, RuleOptions::PAPER) }
    }

    fn forecast(job: &Generate<'_>) -> Forecast {
        job.forecast(&Solver::new(&job.rules, job.most_pieces(), Options::default()), 60_000.0, 2)
    }

    /// Five pieces were generated in 843 s of CPU time and 3.8 GB of memory, to 5.45 GB of files.
    #[test]
    fn five_pieces_take_about_what_they_took() {
        let found = forecast(&generate(Path::new("tables"), 5));
        assert_eq!(found.levels.iter().map(|level| level.pieces).collect::<Vec<_>>(), [2, 3, 4, 5]);
        assert_eq!(found.levels.iter().map(|level| level.classes).sum::<usize>(), 10 + 42 + 134 + 340);
        assert!((5.0..9.0).contains(&(found.seconds / 60.0)), "{}", found.seconds);
        assert!((4_900_000_000..6_000_000_000).contains(&found.disk_bytes), "{}", found.disk_bytes);
        assert!((2 << 30..5 << 30).contains(&found.memory_bytes), "{}", found.memory_bytes);
        assert_eq!(found.levels.iter().map(|level| level.disk_bytes).sum::<u64>(), found.disk_bytes);
    }

    #[test]
    fn too_little_is_a_shortage_and_just_enough_is_none() {
        let found = forecast(&generate(Path::new("tables"), 6));
        let with = |disk_free, memory_available| Forecast { disk_free, memory_available, ..found.clone() }.shortages();
        let (disk, memory) = (found.disk_bytes, found.memory_bytes);
        assert!(disk > 300 << 30 && memory > 100 << 30);
        assert_eq!(with(Some(disk), Some(memory)), []);
        assert_eq!(with(None, None), []);
        let short = with(Some(disk - 1), Some(memory - 1));
        let [Shortage::Disk { needed, free, .. }, Shortage::Memory { pieces: 6, available, .. }] = short[..] else {
            panic!("{short:?}")
        };
        assert_eq!((needed, free, available), (disk, disk - 1, memory - 1));
        let short = with(Some(5 << 30), Some(memory)).pop().unwrap().to_string();
        let start = format!("the tables take about {} on disk", binary_bytes(disk));
        assert!(short.starts_with(&start) && start.contains(" GiB"), "{short}");
        assert!(short.ends_with(", and tables has 5.0 GiB free"), "{short}");
    }

    #[test]
    fn sizes_are_in_the_largest_unit_that_they_fill() {
        for (bytes, text) in
            [(0, "0.0 KiB"), (1536, "1.5 KiB"), (3 << 19, "1.5 MiB"), (1 << 30, "1.0 GiB"), (5 << 40, "5120.0 GiB")]
        {
            assert_eq!(binary_bytes(bytes), text);
        }
    }

    #[test]
    fn what_is_there_is_not_forecast() {
        let dir = tempfile::tempdir().unwrap();
        let job = generate(dir.path(), 3);
        let whole = forecast(&job);
        assert!(whole.disk_free.is_some() || cfg!(not(unix)));
        let mut solver = Solver::new(&RuleOptions::PAPER, 2, Options::default());
        generate(dir.path(), 2).run(&mut solver, &|_| {}).unwrap();
        let left = forecast(&job);
        assert_eq!(left.levels[0].classes, 0);
        assert_eq!((left.levels[0].disk_bytes, left.levels[0].seconds), (0, 0.0));
        assert_eq!(left.levels[1], whole.levels[1]);

        // Counted classes count as done if only counts are requested.
        let count = Generate { stats_only: true, ..generate(dir.path(), 3) };
        assert!(forecast(&count).levels[1].classes == 42 && forecast(&count).disk_bytes == 0);
        count.run(&mut Solver::new(&RuleOptions::PAPER, 3, Options::default()), &|_| {}).unwrap();
        assert_eq!((forecast(&count).levels[1].classes, forecast(&job).levels[1].classes), (0, 42));
    }

    /// Intermediate classes are solved and not written; the memory is for one class with all classes that it leads to.
    #[test]
    fn classes_that_pass_take_time_and_no_disk() {
        let job = Generate { stats_only: true, write_up_to: Some(3), ..generate(Path::new("tables"), 5) };
        let found = forecast(&job);
        let all = forecast(&generate(Path::new("tables"), 5));
        assert_eq!(found.levels.iter().map(|level| level.classes).collect::<Vec<_>>(), [10, 42, 134, 340]);
        assert_eq!(found.disk_bytes, all.levels[..2].iter().map(|level| level.disk_bytes).sum::<u64>());
        assert!(found.levels[2].seconds > 0.0 && found.seconds < all.seconds / 2.0);
        assert!(found.memory_bytes < all.memory_bytes && found.memory_bytes > 100 << 20);
        let one = Generate { material: Some("LvTR".parse::<Material>().unwrap()), ..generate(Path::new("tables"), 2) };
        assert_eq!(forecast(&one).levels.iter().map(|level| level.classes).collect::<Vec<_>>(), [2, 1]);
    }
}
