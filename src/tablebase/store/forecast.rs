//! A forecast of the time, disk space and memory of generating tables, level by level, and of shortages of the machine.

use super::generate::{Generate, Level, Present};
use super::peak;
use crate::tablebase::Solver;
use crate::tablebase::solve::needs::{expected_file_bytes, level_bytes, stored_cells};
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
    /// Expected bytes of the files to write, with the most that temporary files take.
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
    /// Expected bytes of all files to write, with the temporary ones.
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
        let (classes, present) = (solver.classes(), Present::of(self.dir));
        let forecast = |level: Level| {
            let left = level.left(classes, &present);
            let rows: usize = left.iter().map(|&id| classes.get(id).index().rows).sum();
            let written = if level.values { &left[..] } else { &[] };
            let cells: u64 = written.iter().map(|&id| stored_cells(classes, id)).sum();
            let core_seconds = rows as f64 / rows_per_second + cells as f64 / CELLS_PER_SECOND;
            let files: u64 = written.iter().map(|&id| expected_file_bytes(classes, id)).sum();
            let (memory, temporary) = if level.together {
                let need = level_bytes(solver, &level.ids, level.values, level.kept());
                let taken = need.map_or(0, |need| need.under(self.memory, left.len(), cores));
                (if left.is_empty() { 0 } else { taken }, 0)
            } else {
                let needs = left.iter().map(|&id| level.class_needs(solver, id, self.memory));
                needs.fold((0, 0), |most, need| (most.0.max(need.0), most.1.max(need.1)))
            };
            LevelForecast {
                pieces: level.pieces,
                classes: left.len(),
                positions: left.iter().map(|&id| 2 * classes.get(id).representative.positions()).sum(),
                seconds: core_seconds / cores.max(1) as f64,
                disk_bytes: files + temporary,
                memory_bytes: memory as u64,
            }
        };
        let levels: Vec<LevelForecast> = self.plan(solver).into_iter().map(forecast).collect();
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

#[cfg(windows)]
pub(super) fn disk_free(dir: &Path) -> Option<u64> {
    use std::os::windows::ffi::OsStrExt;
    use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;
    let dir = std::path::absolute(dir).ok()?;
    let existing = dir.ancestors().find(|dir| dir.exists())?;
    let name: Vec<u16> = existing.as_os_str().encode_wide().chain([0]).collect();
    let (mut free, none) = (0, std::ptr::null_mut());
    // SAFETY: the name ends with a zero, and the function writes only `free`.
    (unsafe { GetDiskFreeSpaceExW(name.as_ptr(), &mut free, none, none) } != 0).then_some(free)
}

#[cfg(not(any(unix, windows)))]
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
        assert!(disk > 300 << 30 && memory > 5 << 30);
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

    /// Below the memory of a level its classes are solved one by one, with temporary files.
    #[test]
    fn little_memory_is_kept_to_with_temporary_files() {
        let job = generate(Path::new("tables"), 5);
        let (ample, little) = (forecast(&job), forecast(&Generate { memory: 700 << 20, ..job.clone() }));
        assert_eq!(little.levels[..2], ample.levels[..2]);
        assert!(ample.memory_bytes > 2 << 30 && (200 << 20..=700 << 20).contains(&little.memory_bytes));
        assert!(little.disk_bytes > ample.disk_bytes && little.levels[3].disk_bytes > ample.levels[3].disk_bytes);
        assert_eq!(little.seconds, ample.seconds);
        let least = forecast(&Generate { memory: 1 << 20, ..job.clone() }).memory_bytes;
        let deadline = Some(std::time::Instant::now());
        let counts = forecast(&Generate { stats_only: true, deadline, memory: least as usize, ..job });
        assert!(counts.memory_bytes <= least && counts.disk_bytes < ample.disk_bytes);
        let one = Generate { material: Some("LvTR".parse::<Material>().unwrap()), ..generate(Path::new("tables"), 2) };
        assert_eq!(forecast(&one).levels.iter().map(|level| level.classes).collect::<Vec<_>>(), [2, 1]);
    }
}
