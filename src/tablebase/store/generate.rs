//! Generating a directory of tables: [`Generate::run`] plans the levels, reuses existing tables, solves the missing
//! classes level by level, and lists all tables in the manifest.

use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::solve::backend::Solved;
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::needs::class_bytes;
use crate::tablebase::solve::observer::Unobserved;
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::exact::is_exact;
use crate::tablebase::store::file::{Content, TableError, TableFile};
use crate::tablebase::store::limit::MemoryLimit;
use crate::tablebase::store::lock::lock;
use crate::tablebase::store::manifest::{
    CountedClass, Manifest, largest, manifest_for, read_manifest, update_manifest, write_manifest,
};
use crate::tablebase::store::partial::{ABANDONED, sweep};
use crate::tablebase::store::write::ClassBlocks;
use crate::tablebase::{ClassId, Classes, Material, Solver, Stats};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

/// The progress of a run.
#[derive(Copy, Clone, Debug)]
pub enum Progress {
    /// A class is begun.
    Begun(Material),
    /// A class is in the directory.
    Done {
        /// Number of positions of the class, both sides to move.
        positions: u64,
        /// Whether the directory already contained it.
        reused: bool,
    },
}

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct Generate<'a> {
    /// The directory; the run creates it if it does not exist.
    pub dir: &'a Path,
    /// The rules.
    pub rules: RuleOptions,
    /// Generate all materials of up to this many pieces.
    pub pieces: usize,
    /// Generate only this material and the classes that its captures lead to, instead of all materials.
    pub material: Option<Material>,
    /// Keep only the counts of the classes with the most pieces.
    pub stats_only: bool,
    /// With `stats_only`, write tables of at most this many pieces. The classes between these and the most pieces are
    /// solved when a class needs them, and dropped when their memory is needed.
    pub write_up_to: Option<usize>,
    /// With `write_up_to`, start no class of the most pieces after this time.
    pub deadline: Option<Instant>,
    /// The memory limit, in bytes.
    pub memory: usize,
    /// Ends the run with [`SolveError::Stopped`] at the next class once it becomes true.
    pub stop: Option<&'a AtomicBool>,
}

impl<'a> Generate<'a> {
    /// All tables of two pieces, with a memory limit of 8 GiB.
    #[must_use]
    pub fn new(dir: &'a Path, rules: RuleOptions) -> Generate<'a> {
        Generate {
            dir,
            rules,
            pieces: 2,
            material: None,
            stats_only: false,
            write_up_to: None,
            deadline: None,
            memory: 8 << 30,
            stop: None,
        }
    }

    /// The classes to solve, by number of pieces from two on.
    fn all_levels(&self, classes: &Classes) -> Vec<Vec<ClassId>> {
        match self.material.and_then(|m| classes.member(m)) {
            Some(member) => classes.needed_for(member.class),
            None => (2..=self.pieces).map(|n| classes.level(n).map(|(id, _)| id).collect()).collect(),
        }
    }

    /// The classes that are solved only when needed, with their number of pieces.
    pub(super) fn passing_levels(&self, classes: &Classes) -> Vec<(usize, Vec<ClassId>)> {
        (2..).zip(self.all_levels(classes)).filter(|(pieces, _)| self.is_passing(*pieces)).collect()
    }

    /// The classes to generate, by number of pieces from two on. Levels that are solved only when needed are empty.
    fn levels(&self, classes: &Classes) -> Vec<Vec<ClassId>> {
        let mut levels = self.all_levels(classes);
        for (level, pieces) in levels.iter_mut().zip(2..) {
            if self.is_passing(pieces) {
                level.clear();
            }
        }
        levels
    }

    /// Whether classes of `pieces` pieces are solved only when a class of more pieces needs them.
    fn is_passing(&self, pieces: usize) -> bool {
        self.stats_only && self.write_up_to.is_some_and(|most| pieces > most) && pieces < self.most_pieces()
    }

    /// The number of classes to generate, and of their positions, both sides to move.
    #[must_use]
    pub fn size(&self) -> (usize, u64) {
        let classes = Classes::new(&self.rules, self.most_pieces());
        let ids: Vec<ClassId> = self.levels(&classes).into_iter().flatten().collect();
        (ids.len(), ids.iter().map(|&id| 2 * classes.get(id).representative.positions()).sum())
    }

    /// Number of pieces of the largest classes.
    #[must_use]
    pub fn most_pieces(&self) -> usize {
        self.material.map_or(self.pieces, Material::len)
    }

    /// Generates the tables with a solver that has solved nothing yet, for these rules and
    /// [`most_pieces`](Self::most_pieces). Complete files are reused, so that a run resumes where an earlier one was
    /// killed. Calls `follow` at the beginning and the end of each class, from any thread.
    ///
    /// # Errors
    /// If another run writes to the directory, the directory contains tables for other rules, a file in it is damaged,
    /// the disk is full, or the memory limit is too low, which is checked before anything is written.
    pub fn run(&self, solver: &mut Solver, follow: &(dyn Fn(Progress) + Sync)) -> Result<(), SetError> {
        let (plan, made) = (self.plan(solver.classes()), Made::of(self.dir));
        let limit = MemoryLimit::new(self.memory);
        plan.iter().try_for_each(|level| level.check_memory(solver, &made, limit))?;
        fs::create_dir_all(self.dir).map_err(TableError::io(self.dir))?;
        let _lock = lock(self.dir)?;
        let Manifest { counted, classes, .. } = self.take_up()?;
        let listed = largest(self.dir, &classes)?;
        sweep(self.dir, ABANDONED)?;
        let run = Run { job: self, classes: solver.classes().clone(), listed, counted: Mutex::new(counted), follow };
        for level in plan {
            run.make(solver, &level)?;
            if level.forget_smaller {
                solver.forget_level(level.pieces - 1);
            }
        }
        run.list()
    }

    /// The manifest of the directory; writes an empty one if there is none.
    fn take_up(&self) -> Result<Manifest, SetError> {
        if let Some(manifest) = manifest_for(self.dir, &self.rules)? {
            return Ok(manifest);
        }
        write_manifest(self.dir, &self.rules, None, &[])?;
        read_manifest(self.dir)
    }

    /// The levels to generate, fewest pieces first, without levels that are solved only when needed.
    pub(super) fn plan(&self, classes: &Classes) -> Vec<Level> {
        let levels = self.levels(classes);
        let plan =
            levels.iter().zip(2..).enumerate().filter(|(_, (ids, _))| !ids.is_empty()).map(|(i, (ids, pieces))| {
                let top = i + 1 == levels.len();
                let one_by_one = top && self.is_passing(pieces - 1);
                // Classes that are solved only when needed need the smaller ones again.
                let forget_smaller = pieces > 2 && !one_by_one && levels.get(i + 1).is_none_or(|next| !next.is_empty());
                Level { pieces, ids: ids.clone(), top, values: !(top && self.stats_only), one_by_one, forget_smaller }
            });
        plan.collect()
    }
}

/// The classes that a directory already contains.
pub(super) struct Made<'a> {
    dir: &'a Path,
    counted: HashSet<String>,
}

impl<'a> Made<'a> {
    /// Reads the counted classes of a directory from its manifest; none if it has no readable manifest.
    pub(super) fn of(dir: &'a Path) -> Made<'a> {
        let counted = read_manifest(dir).map(|manifest| manifest.counted).unwrap_or_default();
        Made { dir, counted: counted.into_iter().map(|counted| counted.class).collect() }
    }

    /// Whether the directory contains the table of a class, or its counts if `values` is not set.
    pub(super) fn has(&self, class: Material, values: bool) -> bool {
        TableFile::path(self.dir, class).exists() || !values && self.counted.contains(&class.to_string())
    }
}

/// The classes to generate of one number of pieces.
pub(super) struct Level {
    pub pieces: usize,
    pub ids: Vec<ClassId>,
    /// Whether this is the last level, whose values no other class needs in memory.
    pub top: bool,
    /// Whether to write the values; else only the counts are kept.
    pub values: bool,
    /// Whether to solve each class together with the classes it needs, dropping these when their memory is needed.
    pub one_by_one: bool,
    /// Whether the classes with one piece fewer are not needed after this level.
    forget_smaller: bool,
}

impl Level {
    /// Rejects a level that needs more memory than the limit.
    fn check_memory(&self, solver: &Solver, made: &Made<'_>, limit: MemoryLimit) -> Result<(), SetError> {
        if !self.one_by_one {
            return limit.for_level(solver, &self.ids, self.values, !self.top).map(|_| ());
        }
        let material = |id: ClassId| solver.classes().get(id).representative;
        let mut left = self.ids.iter().filter(|&&id| !made.has(material(id), self.values));
        left.try_for_each(|&id| limit.check(material(id), class_bytes(solver, id, self.values)))
    }
}

/// The classes of a level that are not solved yet.
#[derive(Default)]
struct ToSolve {
    ids: Vec<ClassId>,
    /// Existing tables that are repacked: solving their classes again is faster than computing the values that they do
    /// not store.
    known: HashMap<ClassId, TableFile>,
}

/// The state of a run of [`Generate`].
struct Run<'a> {
    job: &'a Generate<'a>,
    classes: Classes,
    /// The largest number of pieces that the manifest listed before the run.
    listed: usize,
    counted: Mutex<Vec<CountedClass>>,
    follow: &'a (dyn Fn(Progress) + Sync),
}

impl Run<'_> {
    /// Generates one level.
    fn make(&self, solver: &mut Solver, level: &Level) -> Result<(), SetError> {
        let memory = MemoryLimit::new(self.job.memory);
        if !level.one_by_one {
            solver.set_memory(memory.for_level(solver, &level.ids, level.values, !level.top)?);
        }
        let to_solve = self.reuse(solver, level)?;
        if !level.values {
            // [`Run::count`] then adds the counts class by class.
            self.list()?;
        }
        if level.one_by_one {
            return self.count_one_by_one(solver, &to_solve.ids, memory);
        }
        // The values of the last level are in no memory but their files.
        let begun = |id| self.begun(id);
        solver.solve_classes_and_tell(&to_solve.ids, level.values, !level.top, &begun, &|id, solved| {
            self.keep(id, solved, to_solve.known.get(&id))
        })
    }

    /// Passes the existing classes of a level to the solver. Returns the missing ones.
    fn reuse(&self, solver: &mut Solver, level: &Level) -> Result<ToSolve, SetError> {
        let mut to_solve = ToSolve::default();
        for &id in &level.ids {
            self.check_stop()?;
            let class = self.classes.get(id);
            let path = TableFile::path(self.job.dir, class.representative);
            if !path.exists() {
                let name = class.representative.to_string();
                match self.counted().iter().find(|counted| !level.values && counted.class == name) {
                    Some(counted) => self.progress(&counted.stats, true),
                    None => to_solve.ids.push(id),
                }
                continue;
            }
            let file = TableFile::open(&path, &self.job.rules, class.representative)?;
            file.check()?;
            if file.description().content == Content::Wdl {
                return Err(TableError::WdlOnly { path }.into());
            }
            let stats = file.description().stats.clone();
            if !level.top && !is_exact(&file) {
                to_solve.ids.push(id);
                to_solve.known.insert(id, file);
                continue;
            }
            let table = if level.top { None } else { Some(file.load_table()?) };
            self.progress(&stats, true);
            solver.insert(id, stats, table);
        }
        Ok(to_solve)
    }

    fn check_stop(&self) -> Result<(), SetError> {
        if self.job.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            Err(SolveError::Stopped.into())
        } else {
            Ok(())
        }
    }

    /// Stores a solved class: writes its file, or compares the checksums of the existing file `known`, or adds its
    /// counts to the manifest.
    fn keep(&self, id: ClassId, solved: &Solved, known: Option<&TableFile>) -> Result<(), SetError> {
        self.check_stop()?;
        let Some(values) = &solved.values else { return self.count(id, &solved.stats, None) };
        if let Some(file) = known {
            let table = values.table()?;
            Color::ALL.into_iter().try_for_each(|turn| file.check_values(turn, table.cells[turn].view()))?;
        } else {
            let class = self.classes.get(id);
            let path = TableFile::path(self.job.dir, class.representative);
            let blocks = ClassBlocks::of(values, &solved.stats, &Unobserved)?;
            blocks.write(&path, class, &self.job.rules, &solved.stats)?;
        }
        self.progress(&solved.stats, known.is_some());
        Ok(())
    }

    /// Counts classes one by one until the deadline.
    fn count_one_by_one(&self, solver: &mut Solver, ids: &[ClassId], memory: MemoryLimit) -> Result<(), SetError> {
        let mut uses: HashMap<ClassId, Vec<usize>> = HashMap::new();
        for (at, &id) in ids.iter().enumerate() {
            self.classes.needed_for(id).into_iter().flatten().for_each(|other| uses.entry(other).or_default().push(at));
        }
        let is_passing = |id| self.job.is_passing(self.classes.get(id).representative.len());
        for (at, &id) in ids.iter().enumerate() {
            self.check_stop()?;
            let start = Instant::now();
            if self.job.deadline.is_some_and(|deadline| start >= deadline) {
                break;
            }
            // Classes that are solved only when needed are dropped, the ones that are needed last first.
            let later = |other| uses.get(&other).and_then(|uses| uses.iter().find(|&&later| later > at));
            let next_use = |other| is_passing(other).then(|| later(other).copied().unwrap_or(usize::MAX));
            memory.free_memory(solver, id, false, &next_use)?;
            self.begun(id);
            solver.count_class(id, &|_, _| {})?;
            let stats = solver.class_stats(id).expect("it is solved");
            self.count(id, stats, Some(start.elapsed().as_secs_f64()))?;
        }
        Ok(())
    }

    /// Adds the counts of a class to the manifest.
    fn count(&self, id: ClassId, stats: &ByColor<Stats>, seconds: Option<f64>) -> Result<(), SetError> {
        let mut counted = self.counted();
        counted.push(CountedClass::new(self.classes.get(id), stats, seconds));
        update_manifest(self.job.dir, |manifest| manifest.counted.clone_from(&counted))?;
        self.progress(stats, false);
        Ok(())
    }

    /// Lists all tables in the manifest. Larger classes that were listed before stay listed.
    fn list(&self) -> Result<(), SetError> {
        let Generate { dir, ref rules, .. } = *self.job;
        if self.listed > self.job.most_pieces() {
            return write_manifest(dir, rules, Some(&Classes::new(rules, self.listed)), &self.counted());
        }
        write_manifest(dir, rules, Some(&self.classes), &self.counted())
    }

    fn begun(&self, id: ClassId) {
        (self.follow)(Progress::Begun(self.classes.get(id).representative));
    }

    fn progress(&self, stats: &ByColor<Stats>, reused: bool) {
        (self.follow)(Progress::Done { positions: stats.positions(), reused });
    }

    fn counted(&self) -> MutexGuard<'_, Vec<CountedClass>> {
        self.counted.lock().unwrap_or_else(|e| e.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::Options;

    #[test]
    fn what_is_not_needed_any_more_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        for pieces in [2, 3] {
            let mut solver = Solver::new(&RuleOptions::PAPER, pieces, Options::default());
            Generate { pieces, ..Generate::new(dir.path(), RuleOptions::PAPER) }.run(&mut solver, &|_| {}).unwrap();
            for (id, class) in solver.classes().iter() {
                assert!(solver.class_stats(id).is_some() && solver.table(id).is_none(), "{}", class.representative);
            }
        }
    }

    /// The manifest that is written before the first count already lists what it listed before the run.
    #[test]
    fn larger_tables_stay_listed_while_classes_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let run = |job: Generate<'_>, done: &(dyn Fn(Progress) + Sync)| {
            job.run(&mut Solver::new(&job.rules, job.most_pieces(), Options::default()), done).unwrap();
        };
        let job = Generate::new(dir.path(), RuleOptions::PAPER);
        run(Generate { material: Some("EvLT".parse().unwrap()), ..job.clone() }, &|_| {});
        let lists = || read_manifest(dir.path()).unwrap().classes.iter().any(|class| class.class == "EvLT");
        run(Generate { stats_only: true, ..job }, &|_| assert!(lists()));
        assert!(lists());
    }

    #[test]
    fn positions_are_those_of_the_classes_to_make() {
        let dir = Path::new("tables");
        let positions = |material: &str| 2 * material.parse::<Material>().unwrap().positions();
        let all: u64 =
            Classes::new(&RuleOptions::PAPER, 3).iter().map(|(_, class)| 2 * class.representative.positions()).sum();
        let job = Generate { pieces: 3, ..Generate::new(dir, RuleOptions::PAPER) };
        assert_eq!(job.size(), (10 + 42, all));
        let one = Generate { material: Some("LvTR".parse().unwrap()), ..job };
        assert_eq!(one.size(), (3, positions("LvTR") + positions("LvT") + positions("LvR")));
    }
}
