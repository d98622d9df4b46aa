//! One class as a job: it takes no lock, reads only the tables that captures lead to, and keeps a complete file as it
//! is. Any number of jobs may share a directory; two that solve the same class write the same bytes.

use super::captures::CaptureFiles;
use super::counts::{ClassCounts, Provenance};
use super::error::SetError;
use super::exact::ExactTables;
use super::file::{Content, TableError, TableFile};
use super::peak;
use super::write::ClassBlocks;
use crate::board::{ByColor, RuleOptions};
use crate::tablebase::solve::captures::Captures;
use crate::tablebase::solve::cpu::iteration::solve;
use crate::tablebase::solve::cpu::task::{Keep, Task};
use crate::tablebase::solve::needs::class_bytes;
use crate::tablebase::solve::observer::{Observer, Unobserved};
use crate::tablebase::store::limit::MemoryLimit;
use crate::tablebase::{BufferPool, Class, ClassId, Classes, CpuBackend, Material, MemoryNeed, Solved, Solver};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

/// The folder of restored tables in the directory of temporary files.
const RESTORED: &str = "restored";

/// One class to solve in a directory of tables.
#[derive(Clone, Debug)]
pub struct ClassJob<'a> {
    /// The directory of the tables that captures lead to, and of the new table.
    pub dir: &'a Path,
    /// The rules.
    pub rules: RuleOptions,
    /// A material of the class.
    pub material: Material,
    /// Keep only the counts, as a file in this directory.
    pub stats_only: Option<&'a Path>,
    /// The memory limit, in bytes.
    pub memory: usize,
    /// The directory for conversions and change logs that do not fit into memory, and for a folder `restored` of the tables
    /// that are made of repacked ones for this job and later ones.
    pub spill: &'a Path,
    /// The program and the machine, for the counts.
    pub provenance: Provenance,
    /// Buffers that jobs reuse one after the other.
    pub pool: BufferPool,
}

/// The result of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum JobDone {
    /// The file of this class was already complete.
    There(Material),
    /// The job solved the class.
    Solved(Box<ClassCounts>),
}

impl ClassJob<'_> {
    /// Solves the class on the threads of the current rayon pool, unless its file is complete.
    ///
    /// # Errors
    /// If a table that captures lead to is missing, damaged or for other rules, the memory limit is too low (checked before
    /// solving), or the disk is full. An error leaves no partial file.
    pub fn run(&self) -> Result<JobDone, SetError> {
        let classes = Classes::new(&self.rules, self.material.len());
        let (id, there) = self.look_up(&classes)?;
        there.map_or_else(|| self.solve(&classes, id), Ok)
    }

    /// Solves the class with the backend of `solver`, unless its file is complete. The solver keeps the values that
    /// captures lead to for the next job, as far as the memory suffices; nothing goes to temporary files.
    ///
    /// # Errors
    /// As [`run`](ClassJob::run), and if the solver is for fewer pieces.
    ///
    /// # Panics
    /// If the solver is for other rules.
    pub fn run_with(&self, solver: &mut Solver) -> Result<JobDone, SetError> {
        assert_eq!(solver.classes().options().table_hash(), self.rules.table_hash(), "a solver of these rules");
        let (id, there) = self.look_up(solver.classes())?;
        there.map_or_else(|| self.solve_with(solver, id), Ok)
    }

    /// The class, and [`JobDone::There`] if its file is complete.
    fn look_up(&self, classes: &Classes) -> Result<(ClassId, Option<JobDone>), SetError> {
        let missing = || SetError::TooFewPieces { material: self.material, pieces: classes.pieces() };
        let id = classes.member(self.material).ok_or_else(missing)?.class;
        Ok((id, self.there(classes.get(id).representative)?))
    }

    /// Solves the class with a solver.
    fn solve_with(&self, solver: &mut Solver, id: ClassId) -> Result<JobDone, SetError> {
        let (start, values) = (Instant::now(), self.stats_only.is_none());
        MemoryLimit::new(self.memory).free_memory(solver, id, values, &|_| Some(0))?;
        self.load_captures(solver, id)?;
        peak::restart();
        let class = solver.classes().get(id).clone();
        let blocks = Mutex::new(None);
        solver.solve_classes(&[id], values, false, &|_, solved| {
            let made = solved.values.as_ref().map(|values| ClassBlocks::of(values, &solved.stats, &Unobserved));
            *blocks.lock().unwrap_or_else(|e| e.into_inner()) = made.transpose()?;
            Ok::<_, SetError>(())
        })?;
        let stats = solver.class_stats(id).expect("it is solved").clone();
        let counts = ClassCounts::new(&self.rules, &class, stats);
        let blocks = blocks.into_inner().unwrap_or_else(|e| e.into_inner());
        self.done(&class, counts, blocks, start, class_bytes(solver, id, values))
    }

    /// [`JobDone::There`] if the file of the class is complete.
    ///
    /// # Errors
    /// If the file is damaged or for other rules, or stores no distances.
    fn there(&self, name: Material) -> Result<Option<JobDone>, SetError> {
        let path = TableFile::path(self.dir, name);
        // A table replaces the counts in its own directory only.
        if path.exists() && self.stats_only.is_none_or(|counts| counts == self.dir) {
            let file = TableFile::open(&path, &self.rules, name)?;
            file.check()?;
            if self.stats_only.is_none() && file.description().content == Content::Wdl {
                return Err(TableError::WdlOnly { path }.into());
            }
            return Ok(Some(JobDone::There(name)));
        }
        match self.stats_only {
            Some(counts) if ClassCounts::read(counts, &self.rules, name)?.is_some() => Ok(Some(JobDone::There(name))),
            _ => Ok(None),
        }
    }

    /// Reads the tables that captures lead to, except those that the solver has kept.
    fn load_captures(&self, solver: &mut Solver, id: ClassId) -> Result<(), SetError> {
        let mut missing = solver.classes().captures(id);
        missing.retain(|&capture| solver.table(capture).is_none());
        let files = self.tables(solver.classes(), &self.restored()).open(id, &missing, &Unobserved)?;
        for (capture, file) in missing.into_iter().zip(files) {
            solver.insert(capture, file.description().stats.clone(), Some(file.load_table()?));
        }
        Ok(())
    }

    /// Writes the values of the class, if there are any, completes the counts with time, memory and provenance, and
    /// writes them if the job keeps only counts.
    fn done(
        &self,
        class: &Class,
        mut counts: ClassCounts,
        blocks: Option<ClassBlocks>,
        start: Instant,
        planned: usize,
    ) -> Result<JobDone, SetError> {
        if let Some(blocks) = blocks {
            blocks.write(&TableFile::path(self.dir, class.representative), class, &self.rules, &counts.stats)?;
        }
        counts.seconds = start.elapsed().as_secs_f64();
        counts.bytes = planned as u64;
        counts.peak_bytes = peak::bytes();
        counts.threads = rayon::current_num_threads();
        counts.provenance = self.provenance.clone();
        if let Some(dir) = self.stats_only {
            counts.write(dir)?;
        }
        Ok(JobDone::Solved(Box::new(counts)))
    }

    /// The directory of restored tables.
    fn restored(&self) -> PathBuf {
        self.spill.join(RESTORED)
    }

    fn tables<'a>(&'a self, classes: &'a Classes, restored: &'a Path) -> ExactTables<'a> {
        ExactTables { classes, dir: self.dir, restored, memory: self.memory }
    }

    /// Solves the class within a memory limit.
    fn solve(&self, classes: &Classes, id: ClassId) -> Result<JobDone, SetError> {
        let limit = MemoryLimit::new(self.memory);
        let class = classes.get(id);
        let need = MemoryNeed::of_job(classes, id, self.stats_only.is_none());
        limit.check(class.representative, need.peak_spilled())?;
        let start = Instant::now();
        let planned = need.request(self.memory);
        // Memory that the allocator retained from another class's conversions may exceed the limit together with this
        // class.
        let kept = peak::now().map_or(0, |bytes| (bytes as usize).saturating_sub(self.pool.bytes()));
        if !limit.holds(planned + kept) {
            peak::trim();
        }
        self.pool.limit(self.memory, self.memory - planned);
        peak::restart();
        let (restored, spill, pool, need) = (self.restored(), self.spill, self.pool.clone(), &need);
        let tables = self.tables(classes, &restored);
        let work = Work { tables, id, need, limit, spill, pool, observer: &Unobserved };
        let (Solved { stats, deepest, .. }, blocks) = work.solve()?;
        let mut counts = ClassCounts::new(&self.rules, class, stats);
        let index = class.index();
        counts.deepest = ByColor::from_fn(|turn| Some(index.position(deepest[turn]?, turn)?.to_fen()));
        self.done(class, counts, blocks, start, planned)
    }
}

/// One class to solve on the CPU, from the files that its captures lead to.
pub(super) struct Work<'a> {
    pub tables: ExactTables<'a>,
    pub id: ClassId,
    pub need: &'a MemoryNeed,
    pub limit: MemoryLimit,
    /// The directory for temporary files.
    pub spill: &'a Path,
    /// Buffers that classes use one after the other.
    pub pool: BufferPool,
    pub observer: &'a dyn Observer,
}

impl Work<'_> {
    /// Solves the class with as little on disk as the limit allows. Returns the counts, and the blocks of its file if the
    /// values are kept.
    ///
    /// # Errors
    /// As for [`ExactTables::open`], and if the memory does not suffice for the width of the tables, a table is damaged, the disk is
    /// full, or the observer returns an error.
    pub(super) fn solve(self) -> Result<(Solved, Option<ClassBlocks>), SetError> {
        let Work { id, limit, tables: ExactTables { classes, .. }, .. } = self;
        let captures = CaptureFiles::open(&self.tables, id, self.need, self.observer)?;
        let need = self.need.with_captures(captures.bytes());
        limit.check(classes.get(id).representative, need.peak_spilled())?;
        let keep = match need.keeps_values() {
            false => Keep::Counts,
            true if limit.holds(need.total()) => Keep::Log(None),
            true => Keep::Log(Some(self.spill)),
        };
        let is_spilling = !limit.holds(need.peak_with_log());
        let backend = CpuBackend::default().with_pool(self.pool.clone());
        let backend = if is_spilling { backend.spilling(self.spill.to_owned()) } else { backend };
        let mut solved = solve(Task { observer: self.observer, ..backend.task(classes, id, keep) }, &captures)?;
        let Some(values) = solved.values.take() else { return Ok((solved, None)) };
        if is_spilling {
            // The memory of the planes may not suffice for the values, too.
            self.pool.clear();
        }
        self.observer.values(0, 1)?;
        let blocks = ClassBlocks::of(&values, &solved.stats, self.observer)?;
        Ok((solved, Some(blocks)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A class whose values do not fit into memory replays them from a change log, and its file has the same bytes.
    #[test]
    fn values_from_a_log_are_the_same_file() {
        let (all, logged) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let rules = RuleOptions::PAPER;
        let job = |dir, material| ClassJob {
            dir,
            rules,
            material,
            stats_only: None,
            memory: 4 << 30,
            spill: logged.path(),
            provenance: Provenance::default(),
            pool: BufferPool::default(),
        };
        let classes = Classes::new(&rules, 4);
        for pieces in 2..=3 {
            for (id, class) in classes.level(pieces) {
                job(all.path(), class.representative).run().unwrap();
                let [whole, path] = [&all, &logged].map(|dir| TableFile::path(dir.path(), class.representative));
                if pieces == 3 && id.0 % 7 == 0 {
                    solve_with_log(&job(logged.path(), class.representative), &classes, id);
                    assert!(fs::read(&whole).unwrap() == fs::read(&path).unwrap(), "{}", class.representative);
                } else {
                    fs::copy(&whole, &path).unwrap();
                }
            }
        }
        for name in ["EPvLR", "ERvPR", "LTvCD", "EvLPR", "RvR", "CDWvR"] {
            let material: Material = name.parse().unwrap();
            let id = classes.member(material).unwrap().class;
            let name = classes.get(id).representative;
            let [whole, path] = [&all, &logged].map(|dir| TableFile::path(dir.path(), name));
            job(all.path(), name).run().unwrap();
            solve_with_log(&job(logged.path(), name), &classes, id);
            assert!(fs::read(&whole).unwrap() == fs::read(&path).unwrap(), "{name}");
        }
    }

    fn solve_with_log(job: &ClassJob<'_>, classes: &Classes, id: ClassId) {
        let least = MemoryNeed::of_job(classes, id, true).peak_spilled();
        let job = ClassJob { memory: least, ..job.clone() };
        let refused = ClassJob { memory: least - 1, ..job.clone() }.solve(classes, id);
        assert!(matches!(refused, Err(SetError::Memory { .. })), "{refused:?}");
        let nowhere = ClassJob { spill: Path::new("/no/such/folder"), ..job.clone() };
        let error = nowhere.solve(classes, id).unwrap_err().to_string();
        assert!(error.contains("/no/such/folder"), "{error}");
        let JobDone::Solved(counts) = job.solve(classes, id).unwrap() else { panic!("it is there") };
        assert!(counts.bytes <= least as u64);
    }
}
