//! Generating a directory of tables: [`Generate::run`] plans the levels, reuses existing tables, solves the missing
//! classes, and lists all tables in the manifest. As long as the limit allows, a level is solved with all that its captures
//! lead to in memory; from there on, class by class, as [`ClassJob`](super::job::ClassJob) does, from the files.

use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::solve::backend::{OnCpu, Solved};
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::needs::{class_bytes, table_bytes};
use crate::tablebase::solve::observer::Unobserved;
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::exact::{ExactTables, is_exact};
use crate::tablebase::store::file::{Content, TableError, TableFile};
use crate::tablebase::store::job::{Made, RESTORED, Work};
use crate::tablebase::store::limit::MemoryLimit;
use crate::tablebase::store::lock::lock;
use crate::tablebase::store::manifest::{
    CountedClass, Manifest, largest, manifest_for, read_manifest, update_manifest, write_manifest,
};
use crate::tablebase::store::partial::{ABANDONED, sweep};
use crate::tablebase::store::write::ClassBlocks;
use crate::tablebase::{BufferPool, ClassId, Classes, Material, MemoryNeed, Solver, Stats};
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
    /// With `stats_only`, start no class of the most pieces after this time. They are then solved class by class.
    pub deadline: Option<Instant>,
    /// The memory limit, in bytes.
    pub memory: usize,
    /// The directory for temporary files of classes that are solved one by one; `None` is the directory of the tables.
    pub spill: Option<&'a Path>,
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
            deadline: None,
            memory: 8 << 30,
            spill: None,
            stop: None,
        }
    }

    /// The classes to generate, by number of pieces from two on.
    fn levels(&self, classes: &Classes) -> Vec<Vec<ClassId>> {
        match self.material.and_then(|m| classes.member(m)) {
            Some(member) => classes.needed_for(member.class),
            None => (2..=self.pieces).map(|n| classes.level(n).map(|(id, _)| id).collect()).collect(),
        }
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
        let (plan, present) = (self.plan(solver), Present::of(self.dir));
        plan.iter().try_for_each(|level| level.check_memory(solver, &present, self.memory))?;
        fs::create_dir_all(self.dir).map_err(TableError::io(self.dir))?;
        let _lock = lock(self.dir)?;
        let Manifest { counted, classes, .. } = self.take_up()?;
        let listed = largest(self.dir, &classes)?;
        sweep(self.dir, ABANDONED)?;
        let run = Run { job: self, classes: solver.classes().clone(), listed, counted: Mutex::new(counted), follow };
        for level in plan {
            run.make(solver, &level)?;
            solver.forget_level(level.pieces - 1);
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

    /// The levels to generate, fewest pieces first.
    pub(super) fn plan(&self, solver: &Solver) -> Vec<Level> {
        let limit = MemoryLimit::new(self.memory);
        let fits = |ids: &[ClassId], values, kept: &[ClassId]| limit.for_level(solver, ids, values, kept).is_ok();
        let levels = self.levels(solver.classes());
        let last = levels.len() + 1;
        let mut plan: Vec<Level> = Vec::with_capacity(levels.len());
        for (ids, pieces) in levels.into_iter().zip(2..) {
            let (top, below) = (pieces == last, plan.last_mut());
            let values = !(top && self.stats_only);
            let keeps = below.as_ref().is_none_or(|below| below.together && fits(&below.ids, true, &below.ids));
            let together = keeps && fits(&ids, values, &[]) && !(top && self.deadline.is_some());
            below.into_iter().for_each(|below| below.kept = together);
            plan.push(Level { pieces, ids, values, together, kept: false });
        }
        plan
    }
}

/// The classes that a directory already contains.
pub(super) struct Present<'a> {
    dir: &'a Path,
    counted: HashSet<String>,
}

impl<'a> Present<'a> {
    /// Reads the counted classes of a directory from its manifest; none if it has no readable manifest.
    pub(super) fn of(dir: &'a Path) -> Present<'a> {
        let counted = read_manifest(dir).map(|manifest| manifest.counted).unwrap_or_default();
        Present { dir, counted: counted.into_iter().map(|counted| counted.class).collect() }
    }

    /// Whether the directory contains the table of a class, or its counts if `values` is not set.
    fn has(&self, class: Material, values: bool) -> bool {
        TableFile::path(self.dir, class).exists() || !values && self.counted.contains(&class.to_string())
    }
}

/// The classes to generate of one number of pieces.
pub(super) struct Level {
    pub pieces: usize,
    pub ids: Vec<ClassId>,
    /// Whether to write the values; else only the counts are kept.
    pub values: bool,
    /// Whether to solve the classes side by side, with all values that their captures lead to in memory; else they are solved one
    /// by one, from the files.
    pub together: bool,
    /// Whether the values stay in memory for the next level.
    kept: bool,
}

impl Level {
    /// The classes that a directory does not contain.
    pub(super) fn left(&self, classes: &Classes, present: &Present<'_>) -> Vec<ClassId> {
        let is_left = |id: &ClassId| !present.has(classes.get(*id).representative, self.values);
        self.ids.iter().copied().filter(is_left).collect()
    }

    /// The classes whose values stay in memory.
    pub(super) fn kept(&self) -> &[ClassId] {
        if self.kept { &self.ids } else { &[] }
    }

    /// Rejects a level with a class that needs more memory than the limit even alone.
    fn check_memory(&self, solver: &Solver, present: &Present<'_>, limit: usize) -> Result<(), SetError> {
        if self.together {
            return Ok(());
        }
        let left = self.left(solver.classes(), present);
        let needs = left.iter().map(|&id| (self.class_needs(solver, id, limit).0, id));
        let Some((needed, id)) = needs.max() else { return Ok(()) };
        MemoryLimit::new(limit).check(solver.classes().get(id).representative, needed)
    }

    /// The bytes of memory that a class takes alone under a limit, or the least that suffices if that is above the limit, and
    /// the bytes of its temporary files.
    pub(super) fn class_needs(&self, solver: &Solver, id: ClassId, limit: usize) -> (usize, u64) {
        if let Some(bytes) = on_device(solver, id, self.values, limit) {
            // The values that other classes read stay in memory as far as the limit allows.
            let smaller = solver.classes().level(self.pieces - 1).map(|(id, _)| table_bytes(solver.classes(), id, 1));
            return (bytes.max(limit.min(bytes + smaller.sum::<usize>())), 0);
        }
        let need = MemoryNeed::of_job(solver.classes(), id, self.values);
        let memory = need.request(limit);
        (memory, need.temporary_bytes(memory))
    }
}

/// The bytes that a class takes alone on the solver's device; `None` if the CPU solves it, which can keep a part of it on disk.
fn on_device(solver: &Solver, id: ClassId, values: bool, limit: usize) -> Option<usize> {
    let bytes = || class_bytes(solver, id, values);
    match solver.backend().on_cpu() {
        OnCpu::Everything => None,
        OnCpu::Fallback => Some(bytes()).filter(|&bytes| MemoryLimit::new(limit).holds(bytes)),
        OnCpu::Nothing => Some(bytes()),
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
        let to_solve = self.reuse(solver, level)?;
        if !level.values {
            // [`Run::count`] then adds the counts class by class.
            self.list()?;
        }
        if !level.together {
            return self.make_one_by_one(solver, level, &to_solve.ids);
        }
        let limit = MemoryLimit::new(self.job.memory);
        solver.set_memory(limit.for_level(solver, &level.ids, level.values, level.kept())?);
        let begun = |id| self.begun(id);
        solver.solve_classes_and_tell(&to_solve.ids, level.values, level.kept, &begun, &|id, solved| {
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
            if level.kept && !is_exact(&file) {
                to_solve.ids.push(id);
                to_solve.known.insert(id, file);
                continue;
            }
            let table = level.kept.then(|| file.load_table()).transpose()?;
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
            self.write(id, ClassBlocks::of(values, &solved.stats, &Unobserved)?, &solved.stats)?;
        }
        self.progress(&solved.stats, known.is_some());
        Ok(())
    }

    fn write(&self, id: ClassId, blocks: ClassBlocks, stats: &ByColor<Stats>) -> Result<(), SetError> {
        let class = self.classes.get(id);
        Ok(blocks.write(&TableFile::path(self.job.dir, class.representative), class, &self.job.rules, stats)?)
    }

    /// Solves classes one by one, those that are only counted until the deadline.
    fn make_one_by_one(&self, solver: &mut Solver, level: &Level, ids: &[ClassId]) -> Result<(), SetError> {
        let Generate { dir, memory, deadline, .. } = *self.job;
        let spill = self.job.spill.unwrap_or(dir);
        let (restored, pool) = (spill.join(RESTORED), BufferPool::default());
        for &id in ids {
            self.check_stop()?;
            let start = Instant::now();
            if !level.values && deadline.is_some_and(|deadline| start >= deadline) {
                break;
            }
            self.begun(id);
            let work = Work {
                tables: ExactTables { classes: &self.classes, dir, restored: &restored, memory },
                id,
                values: level.values,
                memory,
                spill,
                pool: pool.clone(),
                observer: &Unobserved,
                watch: None,
            };
            let fits = on_device(solver, id, level.values, memory).is_some();
            if solver.backend().on_cpu() == OnCpu::Fallback {
                let (material, bytes) = (self.classes.get(id).representative, class_bytes(solver, id, level.values));
                if let Err(error) = MemoryLimit::new(memory).check(material, bytes) {
                    let reason = SolveError::Backend { material: Some(material), reason: error.to_string() };
                    solver.backend_mut().left_to_cpu(material, reason);
                }
            }
            let Made { stats, blocks, .. } = work.solve(fits.then_some(&mut *solver))?;
            if let Some(blocks) = blocks {
                self.write(id, blocks, &stats)?;
                self.progress(&stats, false);
            } else {
                self.count(id, &stats, Some(start.elapsed().as_secs_f64()))?;
            }
            solver.insert(id, stats, None);
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
    use crate::tablebase::{Backend, CpuBackend, Job, Options, OrElse, Sink};

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

    /// However little memory there is, the files are the same, or nothing is written.
    #[test]
    fn classes_one_by_one_are_the_same_files() {
        let material = Some("EPvLR".parse().unwrap());
        let job = |dir, memory| Generate { material, memory, ..Generate::new(dir, RuleOptions::PAPER) };
        let solver = || Solver::new(&RuleOptions::PAPER, 4, Options::default());
        let together = |job: &Generate<'_>| job.plan(&solver()).iter().map(|level| level.together).collect::<Vec<_>>();
        let [all, one] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let ample = job(all.path(), 4 << 30);
        assert_eq!(together(&ample), [true; 3]);
        ample.run(&mut solver(), &|_| {}).unwrap();

        let (mut memory, begun) = (0, Mutex::new(Vec::new()));
        let note = |progress| match progress {
            Progress::Begun(class) => begun.lock().unwrap().push(class),
            Progress::Done { .. } => (),
        };
        while let Err(error) = job(one.path(), memory).run(&mut solver(), &note) {
            let SetError::Memory { needed, .. } = error else { panic!("{error}") };
            assert!(needed > memory && begun.lock().unwrap().is_empty());
            assert_eq!(fs::read_dir(one.path()).unwrap().count(), 0);
            memory = needed;
        }
        assert!(!together(&job(one.path(), memory))[2]);
        assert_eq!(begun.into_inner().unwrap().len(), ample.size().0);
        for class in read_manifest(all.path()).unwrap().classes {
            let path = |dir: &Path| TableFile::path(dir, class.class.parse().unwrap());
            assert!(fs::read(path(all.path())).unwrap() == fs::read(path(one.path())).unwrap(), "{}", class.class);
        }
        // What is there needs no memory.
        let is_reused = |progress| assert!(matches!(progress, Progress::Done { reused: true, .. }));
        job(one.path(), 0).run(&mut solver(), &is_reused).unwrap();
    }

    /// A device, as far as a run knows.
    struct Device(CpuBackend);

    impl Backend for Device {
        fn name(&self) -> String {
            "device".to_owned()
        }

        fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
            self.0.solve(job, sink)
        }

        fn host_bytes(&self, classes: &Classes, id: ClassId, values: bool) -> usize {
            self.0.host_bytes(classes, id, values)
        }
    }

    /// A device counts class by class; what does not fit into memory is left to a fallback, or refused.
    #[test]
    fn a_device_solves_what_fits() {
        let device = || Device(CpuBackend::default());
        let count = |memory, backend: Box<dyn Backend>| {
            let dir = tempfile::tempdir().unwrap();
            let deadline = Some(Instant::now() + std::time::Duration::from_secs(1 << 20));
            let all = Generate::new(dir.path(), RuleOptions::PAPER);
            let job = Generate { pieces: 3, stats_only: true, deadline, memory, ..all };
            let mut solver = Solver::new(&RuleOptions::PAPER, 3, Options::default()).on(backend);
            job.run(&mut solver, &|_| {})?;
            let counted = read_manifest(dir.path()).unwrap().counted;
            let left = solver.backend().fallbacks().first().map(|(_, reason)| reason.to_string());
            Ok::<_, SetError>((counted.into_iter().map(|class| (class.class, class.stats)).collect::<Vec<_>>(), left))
        };
        let (all, left) = count(4 << 30, Box::<CpuBackend>::default()).unwrap();
        assert_eq!((all.len(), left), (42, None));
        assert!(all == count(4 << 30, Box::new(device())).unwrap().0);
        let mut memory = 0;
        while let Err(SetError::Memory { needed, .. }) = count(memory, Box::<CpuBackend>::default()) {
            memory = needed;
        }
        let refused = count(memory, Box::new(device()));
        assert!(matches!(refused, Err(SetError::Memory { .. })), "{refused:?}");
        let (counted, left) = count(memory, Box::new(OrElse::new(device(), CpuBackend::default()))).unwrap();
        assert!(
            all == counted
                && left.is_some_and(|reason| reason.starts_with("solving ") && reason.contains("raise --memory"))
        );
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
