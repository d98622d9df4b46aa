//! One class as a job: it takes no lock, reads only the tables that captures lead to, and keeps a complete file as it
//! is. Any number of jobs may share a directory; two that solve the same class write the same bytes.

use super::counts::{ClassCounts, Provenance};
use super::error::SetError;
use super::file::{Content, TableError, TableFile};
use super::peak;
use super::write::ClassBlocks;
use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::needs::class_bytes;
use crate::tablebase::needs::limit::MemoryLimit;
use crate::tablebase::solve::cpu::conversions::CaptureTables;
use crate::tablebase::solve::cpu::task::{Keep, Observer, Unobserved};
use crate::tablebase::value::CellsMut;
use crate::tablebase::{BufferPool, Class, ClassId, Classes, CpuBackend, Material, MemoryNeed, Solved, Solver};
use rayon::prelude::*;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

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
    /// The directory for conversions and change logs that do not fit into memory.
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
    /// If a table that captures lead to is missing, damaged, for other rules or repacked, the memory limit is too low
    /// (checked before solving), or the disk is full. An error leaves no partial file.
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
    /// If the file is damaged or for other rules, or other jobs cannot use its values.
    fn there(&self, name: Material) -> Result<Option<JobDone>, SetError> {
        let path = TableFile::path(self.dir, name);
        // A table replaces the counts in its own directory only.
        if path.exists() && self.stats_only.is_none_or(|counts| counts == self.dir) {
            let file = TableFile::open(&path, &self.rules, name)?;
            file.check()?;
            if self.stats_only.is_none() {
                check_exact(&file, &Color::ALL)?;
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
        for capture in solver.classes().captures(id) {
            if solver.table(capture).is_none() {
                let file = open_capture(self.dir, solver.classes(), id, capture, &Color::ALL)?;
                solver.insert(capture, file.description().stats.clone(), Some(file.load_table()?));
            }
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
        let means = Means { limit, spill: self.spill, pool: self.pool.clone() };
        let (Solved { stats, deepest, .. }, blocks) =
            Work::new(self.dir, classes, id, &need, &means, &Unobserved)?.run()?;
        let mut counts = ClassCounts::new(&self.rules, class, stats);
        let index = class.index();
        counts.deepest = ByColor::from_fn(|turn| Some(index.position(deepest[turn]?, turn)?.to_fen()));
        self.done(class, counts, blocks, start, planned)
    }
}

/// # Errors
/// If a file does not store every value of these sides to move, as jobs need them.
pub(super) fn check_exact(file: &TableFile, turns: &[Color]) -> Result<(), SetError> {
    let path = || file.file_path().to_owned();
    if file.description().content == Content::Wdl {
        Err(TableError::WdlOnly { path: path() }.into())
    } else if turns.iter().all(|&turn| file.is_exact(turn)) {
        Ok(())
    } else {
        Err(SetError::OneSided { path: path() })
    }
}

/// Opens the table of a class that captures of the class `id` lead to.
///
/// # Errors
/// If it is missing, damaged, for other rules, or does not store every value of these sides to move.
fn open_capture(
    dir: &Path,
    classes: &Classes,
    id: ClassId,
    capture: ClassId,
    turns: &[Color],
) -> Result<TableFile, SetError> {
    let rules = classes.options();
    let [class, capture] = [id, capture].map(|id| classes.get(id).representative);
    let path = TableFile::path(dir, capture);
    if !path.exists() {
        let rules = match rules.table_spelling() {
            rules if rules == RuleOptions::PAPER.table_spelling() => String::new(),
            rules => format!(" --rules {rules}"),
        };
        let command = format!("dsq cluster solve {capture} --tables {}{rules}", dir.display());
        return Err(SetError::MissingCapture { dir: dir.to_owned(), class, capture, command });
    }
    let file = TableFile::open(&path, rules, capture)?;
    check_exact(&file, turns)?;
    Ok(file)
}

/// Opens the tables that captures lead to, one entry for each side to move that is probed.
///
/// # Errors
/// As for [`open_capture`].
pub(super) fn captures(
    dir: &Path,
    classes: &Classes,
    id: ClassId,
    need: &MemoryNeed,
) -> Result<Vec<CaptureTable>, SetError> {
    let sides = need.captures.iter().flat_map(|(&id, sides)| {
        let looked_up = Color::ALL.into_iter().filter(|&turn| sides[turn]);
        looked_up.map(move |turn| (id, turn))
    });
    let open = |(capture, turn)| {
        let file = open_capture(dir, classes, id, capture, &[turn])?;
        Ok(CaptureTable { id: capture, turn, file })
    };
    sides.map(open).collect()
}

/// The memory and the directory for temporary files that solving a class may use.
pub(super) struct Means<'a> {
    pub limit: MemoryLimit,
    pub spill: &'a Path,
    /// Buffers that classes use one after the other.
    pub pool: BufferPool,
}

/// The inputs for solving one class.
pub(super) struct Work<'a> {
    classes: &'a Classes,
    id: ClassId,
    keep: Keep<'a>,
    /// The tables that captures lead to.
    files: Vec<CaptureTable>,
    backend: CpuBackend,
    means: &'a Means<'a>,
    observer: &'a dyn Observer,
}

impl<'a> Work<'a> {
    /// The work for a class, from the tables in `dir`, with as little on disk as the means allow.
    ///
    /// # Errors
    /// As for [`open_capture`], and if the memory does not suffice for the width of the tables.
    pub(super) fn new(
        dir: &Path,
        classes: &'a Classes,
        id: ClassId,
        need: &MemoryNeed,
        means: &'a Means<'a>,
        observer: &'a dyn Observer,
    ) -> Result<Work<'a>, SetError> {
        let (limit, files) = (means.limit, captures(dir, classes, id, need)?);
        let need = need.with_captures(files.iter().map(CaptureTable::bytes).sum());
        limit.check(classes.get(id).representative, need.peak_spilled())?;
        let keep = match need.keeps_values() {
            false => Keep::Counts,
            true if limit.holds(need.total()) => Keep::Log(None),
            true => Keep::Log(Some(means.spill)),
        };
        let backend = CpuBackend::default().with_pool(means.pool.clone());
        let spilling = !limit.holds(need.peak_with_log());
        let backend = if spilling { backend.spilling(means.spill.to_owned()) } else { backend };
        Ok(Work { files, classes, id, keep, backend, means, observer })
    }

    /// Solves the class. Returns the counts, and the blocks of its file if the values are kept.
    ///
    /// # Errors
    /// If a table is damaged, the memory or the disk is too small, or the observer returns an error.
    pub(super) fn run(&self) -> Result<(Solved, Option<ClassBlocks>), SetError> {
        let mut solved = self.solve()?;
        let Some(values) = solved.values.take() else { return Ok((solved, None)) };
        if self.backend.is_spilling() {
            // The memory of the planes may not suffice for the values, too.
            self.means.pool.clear();
        }
        self.observer.values(0, 1)?;
        let blocks = ClassBlocks::of(&values, &solved.stats, self.observer)?;
        Ok((solved, Some(blocks)))
    }

    fn solve(&self) -> Result<Solved, SetError> {
        let iteration = self.backend.iteration(self.classes, self.id, self.keep, self.observer)?;
        let mut memory = iteration.memory(self.files.iter().map(CaptureTable::bytes).sum())?;
        let (first, last) = memory.split_at_mut(iteration.first_bytes());
        let planes = iteration.start(&load(&self.files, last, self.classes.len())?, first)?;
        Ok(iteration.solve(planes, last)?)
    }
}

/// One side to move of a table that captures lead to.
pub(super) struct CaptureTable {
    id: ClassId,
    turn: Color,
    file: TableFile,
}

impl CaptureTable {
    /// Bytes of the decoded values.
    fn bytes(&self) -> usize {
        self.file.index().cells() * self.file.description().cell_bytes
    }
}

/// The number of bytes that a thread clears at a time.
const CLEARED: usize = 1 << 21;

/// Decodes the values into `memory`.
fn load<'a>(files: &[CaptureTable], memory: &'a mut [u8], classes: usize) -> Result<CaptureTables<'a>, SetError> {
    let bytes = files.iter().map(CaptureTable::bytes).sum();
    // Cells without a position are not decoded.
    memory[..bytes].par_chunks_mut(CLEARED).for_each(|part| part.fill(0));
    let mut rest = memory;
    let parts = files.iter().map(|capture| {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(capture.bytes());
        rest = after;
        (capture, CellsMut::of(part, capture.file.description().cell_bytes))
    });
    let read = |(capture, cells): (&CaptureTable, CellsMut<'a>)| {
        Ok((capture.id, capture.turn, capture.file.load_into(capture.turn, cells)?))
    };
    let read: Vec<_> = parts.collect::<Vec<_>>().into_par_iter().map(read).collect::<Result<_, SetError>>()?;
    Ok(CaptureTables::some(classes, read))
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
