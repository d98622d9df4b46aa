//! One class as a job: it takes no lock, reads only the tables that captures lead to, and keeps a complete file as it
//! is. Any number of jobs may share a directory; two that solve the same class write the same bytes.

use super::captures::CaptureFiles;
use super::counts::{ClassCounts, Provenance};
use super::error::SetError;
use super::exact::ExactTables;
use super::file::{Content, TableError, TableFile};
use super::peak;
use super::write::ClassBlocks;
use crate::board::{ByColor, Color, Piece, Position, RuleOptions, Rules, Square};
use crate::tablebase::address::MaterialAddresser;
use crate::tablebase::solve::captures::Captures;
use crate::tablebase::solve::cpu::iteration::solve;
use crate::tablebase::solve::cpu::task::{Keep, Task};
use crate::tablebase::solve::observer::{Observer, Unobserved};
use crate::tablebase::solve::watch::Watch;
use crate::tablebase::store::limit::MemoryLimit;
use crate::tablebase::{
    BufferPool, CellValue, ClassId, Classes, CpuBackend, Material, MemoryNeed, Metric, Solved, Solver, Stats, Value,
};
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

/// The folder of restored tables in the directory of temporary files.
pub(super) const RESTORED: &str = "restored";

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
    /// Solves the class, unless its file is complete: on the threads of the current rayon pool, or with the backend of a
    /// solver. The solver keeps the values that captures lead to for the next job, as far as the memory suffices, and needs
    /// no temporary files.
    ///
    /// # Errors
    /// If a table that captures lead to is missing, damaged or for other rules, the memory limit is too low (checked before
    /// solving), the disk is full, or the solver is for fewer pieces. An error leaves no partial file.
    ///
    /// # Panics
    /// If the solver is for other rules.
    pub fn run(&self, solver: Option<&mut Solver>) -> Result<JobDone, SetError> {
        let (classes, id) = self.class(solver.as_deref())?;
        match self.there(classes.get(id).representative)? {
            Some(there) => Ok(there),
            None => self.solve(&classes, id, solver),
        }
    }

    /// The classes of the solver, or of the rules, and that of the material.
    fn class(&self, solver: Option<&Solver>) -> Result<(Classes, ClassId), SetError> {
        let classes = match solver {
            Some(solver) => solver.classes().clone(),
            None => Classes::new(&self.rules, self.material.len()),
        };
        assert_eq!(classes.options().table_hash(), self.rules.table_hash(), "a solver of these rules");
        let missing = || SetError::TooFewPieces { material: self.material, pieces: classes.pieces() };
        let id = classes.member(self.material).ok_or_else(missing)?.class;
        Ok((classes, id))
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

    /// Counts the class, and returns the values of these positions of it, which are noted when they are decided: no other value
    /// is kept, and nothing is written. With the backend of a solver all values are kept until the class is solved.
    ///
    /// # Errors
    /// As for [`run`](ClassJob::run), and if a position is none of the class.
    ///
    /// # Panics
    /// If the solver is for other rules.
    pub fn watch(
        &self,
        positions: &[Position],
        solver: Option<&mut Solver>,
    ) -> Result<(ClassCounts, Vec<Value>), SetError> {
        let (classes, id) = self.class(solver.as_deref())?;
        let name = classes.get(id).representative;
        let cell = |position: &Position| {
            let cell = watched_cell(&classes, id, position);
            cell.ok_or_else(|| SetError::OtherClass { fen: position.to_fen(), class: name })
        };
        let watch = Watch::new(positions.iter().map(cell).collect::<Result<_, _>>()?);
        let (counts, _) = self.make(&classes, id, false, &watch, solver)?;
        let rules = Rules::new(self.rules);
        let value = |(position, code): (&Position, u16)| {
            let stalemate = Some(CellValue::NoMove).filter(|_| position.moves(&rules).is_empty());
            let value = Value::of(stalemate.or_else(|| CellValue::from_code(code)).unwrap_or(CellValue::Draw), &rules);
            Value { dtw: value.dtw.filter(|_| classes.metric() == Metric::Dtw), ..value }
        };
        Ok((counts, positions.iter().zip(watch.codes()).map(value).collect()))
    }

    /// Solves the class, and writes its values or its counts.
    fn solve(&self, classes: &Classes, id: ClassId, solver: Option<&mut Solver>) -> Result<JobDone, SetError> {
        let class = classes.get(id);
        let (counts, blocks) = self.make(classes, id, self.stats_only.is_none(), &Watch::new(Vec::new()), solver)?;
        if let Some(blocks) = blocks {
            blocks.write(&TableFile::path(self.dir, class.representative), class, &self.rules, &counts.stats)?;
        }
        if let Some(dir) = self.stats_only {
            counts.write(dir)?;
        }
        Ok(JobDone::Solved(Box::new(counts)))
    }

    /// Solves the class. Returns its counts, and the blocks of its file if the values are kept.
    fn make(
        &self,
        classes: &Classes,
        id: ClassId,
        values: bool,
        watch: &Watch,
        solver: Option<&mut Solver>,
    ) -> Result<(ClassCounts, Option<ClassBlocks>), SetError> {
        let (start, class, restored) = (Instant::now(), classes.get(id), self.spill.join(RESTORED));
        let work = Work {
            tables: ExactTables { classes, dir: self.dir, restored: &restored, memory: self.memory },
            id,
            values,
            memory: self.memory,
            spill: self.spill,
            pool: self.pool.clone(),
            observer: &Unobserved,
            watch: Some(watch).filter(|watch| !watch.is_empty()),
        };
        let Made { stats, deepest, blocks, planned } = work.solve(solver)?;
        let index = class.index();
        let counts = ClassCounts {
            deepest: ByColor::from_fn(|turn| Some(index.position(deepest[turn]?, turn)?.to_fen())),
            seconds: start.elapsed().as_secs_f64(),
            bytes: planned as u64,
            peak_bytes: peak::bytes(),
            threads: rayon::current_num_threads(),
            provenance: self.provenance.clone(),
            ..ClassCounts::new(&self.rules, class, stats)
        };
        Ok((counts, blocks))
    }
}

/// The side to move and the cell of a position of a class; `None` if its pieces are others, or the game is over.
fn watched_cell(classes: &Classes, id: ClassId, position: &Position) -> Option<(Color, usize)> {
    let material = Material::of(position).filter(|_| position.winner().is_none())?;
    let pieces: Vec<Piece> = material.pieces().collect();
    let addresser = MaterialAddresser::new(classes, material, &pieces).filter(|addresser| addresser.class == id)?;
    let squares: Option<Vec<Square>> =
        pieces.iter().map(|piece| position.square_of(piece.color, piece.animal)).collect();
    Some((addresser.turn(position.turn()), addresser.cell(&squares?)))
}

/// One class to solve from the files that its captures lead to.
pub(super) struct Work<'a> {
    pub tables: ExactTables<'a>,
    pub id: ClassId,
    /// Whether to keep the values.
    pub values: bool,
    /// The memory limit, in bytes.
    pub memory: usize,
    /// The directory for temporary files.
    pub spill: &'a Path,
    /// Buffers that classes use one after the other.
    pub pool: BufferPool,
    pub observer: &'a dyn Observer,
    /// Cells whose values are noted.
    pub watch: Option<&'a Watch>,
}

/// A class that was solved from files.
pub(super) struct Made {
    pub stats: ByColor<Stats>,
    /// For each side to move the first cell with the longest distance, if it is known.
    pub deepest: ByColor<Option<usize>>,
    /// The blocks of its file, if the values are kept.
    pub blocks: Option<ClassBlocks>,
    /// The planned peak of memory, in bytes.
    pub planned: usize,
}

impl Work<'_> {
    /// Solves the class on the threads of the current rayon pool, with as little on disk as the limit allows, or with a solver,
    /// in memory.
    ///
    /// # Errors
    /// As for [`ExactTables::open`], and if the memory does not suffice (the least is checked before anything is read), a
    /// table is damaged, the disk is full, or the observer returns an error.
    pub(super) fn solve(self, solver: Option<&mut Solver>) -> Result<Made, SetError> {
        match solver {
            Some(solver) => self.solve_with(solver),
            None => self.solve_here(),
        }
    }

    fn solve_here(self) -> Result<Made, SetError> {
        let (limit, classes, id) = (MemoryLimit::new(self.memory), self.tables.classes, self.id);
        let material = classes.get(id).representative;
        let need = MemoryNeed::of_job(classes, id, self.values);
        limit.check(material, need.peak_spilled())?;
        let planned = need.request(self.memory);
        // Memory that the allocator retained from another class's conversions may exceed the limit together with this
        // class.
        let kept = peak::now().map_or(0, |bytes| (bytes as usize).saturating_sub(self.pool.bytes()));
        if !limit.holds(planned + kept) {
            peak::trim();
        }
        self.pool.limit(self.memory, self.memory - planned);
        peak::restart();
        let captures = CaptureFiles::open(&self.tables, id, &need, self.observer)?;
        let need = need.with_captures(captures.bytes());
        limit.check(material, need.peak_spilled())?;
        let keep = match self.values {
            false => Keep::Counts,
            true if limit.holds(need.total()) => Keep::Log(None),
            true => Keep::Log(Some(self.spill)),
        };
        let is_spilling = !limit.holds(need.peak_with_log());
        let backend = CpuBackend::default().with_pool(self.pool.clone());
        let backend = if is_spilling { backend.spilling(self.spill.to_owned()) } else { backend };
        let task = Task { observer: self.observer, watch: self.watch, ..backend.task(classes, id, keep) };
        let solved = solve(task, &captures)?;
        if is_spilling && solved.values.is_some() {
            // The memory of the planes may not suffice for the values, too.
            self.pool.clear();
        }
        Made::of(&solved, self.values, planned, self.observer)
    }

    fn solve_with(self, solver: &mut Solver) -> Result<Made, SetError> {
        let Work { tables, id, values, observer, watch, .. } = self;
        let kept = values || watch.is_some();
        let planned = MemoryLimit::new(self.memory).make_space(solver, id, kept)?;
        let mut missing = solver.classes().captures(id);
        missing.retain(|&capture| solver.table(capture).is_none());
        let files = tables.open(id, &missing, observer)?;
        for (capture, file) in missing.into_iter().zip(files) {
            solver.insert(capture, file.description().stats.clone(), Some(file.load_table()?));
        }
        peak::restart();
        let made = Mutex::new(None);
        solver.solve_classes(&[id], kept, false, &|_, solved| {
            if let (Some(watch), Some(values)) = (watch, &solved.values) {
                watch.read(values)?;
            }
            *made.lock().unwrap_or_else(|e| e.into_inner()) = Some(Made::of(solved, values, planned, observer)?);
            Ok::<_, SetError>(())
        })?;
        Ok(made.into_inner().unwrap_or_else(|e| e.into_inner()).expect("it is solved"))
    }
}

impl Made {
    fn of(solved: &Solved, keep: bool, planned: usize, observer: &dyn Observer) -> Result<Made, SetError> {
        let Solved { stats, deepest, values } = solved;
        let blocks = values.as_ref().filter(|_| keep).map(|values| {
            observer.values(0, 1)?;
            ClassBlocks::of(values, stats, observer)
        });
        Ok(Made { stats: stats.clone(), deepest: *deepest, blocks: blocks.transpose()?, planned })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::random::Random;
    use crate::tablebase::{Generate, Options, Probe, position_of};
    use std::collections::HashSet;
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
                job(all.path(), class.representative).run(None).unwrap();
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
            job(all.path(), name).run(None).unwrap();
            solve_with_log(&job(logged.path(), name), &classes, id);
            assert!(fs::read(&whole).unwrap() == fs::read(&path).unwrap(), "{name}");
        }
    }

    /// The slow twin of watched values: those of tables in memory.
    #[test]
    fn watched_values_are_those_of_the_tables() {
        let rules = ["paper".parse().unwrap(), "chinese".parse().unwrap(), RuleOptions::PAPER.within(Some(12))];
        for rules in rules {
            let dir = tempfile::tempdir().unwrap();
            let three = || Solver::new(&rules, 3, Options::default());
            Generate { pieces: 3, ..Generate::new(dir.path(), rules) }.run(&mut three(), &|_| ()).unwrap();
            let mut slow = Solver::solved(&rules, 3).unwrap();
            let mut random = Random::new(1);
            let mut seen = HashSet::new();
            for name in ["RvR", "RvE", "CDvR", "LvTP", "RvLR", "EPvLR", "DRvCR", "TvWCR", "LTDvC"] {
                let material: Material = name.parse().unwrap();
                let pieces: Vec<Piece> = material.pieces().collect();
                let mut positions: Vec<Position> =
                    (0..300).filter_map(|_| random.placement(&pieces, &Rules::new(rules))).collect();
                if material.len() == 4 {
                    slow = Solver::solved_material(&rules, material).unwrap();
                }
                let table = slow.material_table(material).unwrap();
                for turn in Color::ALL {
                    let _ = table.each(turn, |squares, value| {
                        let stalemate =
                            (value == CellValue::NoMove).then(|| position_of(&pieces, squares, turn)).flatten();
                        positions.extend(stalemate.clone());
                        stalemate.map_or(Ok(()), |_| Err(()))
                    });
                }
                let job = ClassJob {
                    dir: dir.path(),
                    rules,
                    material,
                    stats_only: None,
                    memory: 4 << 30,
                    spill: dir.path(),
                    provenance: Provenance::default(),
                    pool: BufferPool::default(),
                };
                let wanted: Vec<Value> =
                    positions.iter().map(|position| slow.value(position).unwrap().unwrap()).collect();
                let (counts, values) = job.watch(&positions, None).unwrap();
                assert_eq!(values, wanted, "{name}");
                assert_eq!(Some(&counts.stats), slow.class_stats(slow.classes().member(material).unwrap().class));
                let mut solver = Solver::new(&rules, material.len(), Options::default());
                let (other, values) = job.watch(&positions, Some(&mut solver)).unwrap();
                assert_eq!((other.stats, values), (counts.stats, wanted.clone()), "{name}");
                seen.extend(wanted.iter().map(|value| (value.wdl, value.dtw)));
            }
            assert!(seen.len() > 20 || rules.no_capture_limit.is_some() && seen.len() == 3, "{}", seen.len());
        }
    }

    #[test]
    fn a_watched_position_of_another_class_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let job = ClassJob {
            dir: dir.path(),
            rules: RuleOptions::PAPER,
            material: "EvL".parse().unwrap(),
            stats_only: None,
            memory: 1 << 30,
            spill: dir.path(),
            provenance: Provenance::default(),
            pool: BufferPool::default(),
        };
        for fen in ["7/7/3r3/7/7/7/3E3/7/7 w", "3E3/7/3l3/7/7/7/7/7/7 b", "7/7/7/7/7/7/3E3/7/7 w"] {
            let error = job.watch(&[Position::from_fen(fen).unwrap()], None).unwrap_err().to_string();
            assert!(error.contains("EvL") && error.contains(fen), "{error}");
        }
    }

    fn solve_with_log(job: &ClassJob<'_>, classes: &Classes, id: ClassId) {
        let least = MemoryNeed::of_job(classes, id, true).peak_spilled();
        let job = ClassJob { memory: least, ..job.clone() };
        let refused = ClassJob { memory: least - 1, ..job.clone() }.solve(classes, id, None);
        assert!(matches!(refused, Err(SetError::Memory { .. })), "{refused:?}");
        // The class of two rats needs no log.
        if job.material.to_string() != "RvR" {
            let nowhere = ClassJob { spill: Path::new("/no/such/folder"), ..job.clone() };
            let error = nowhere.solve(classes, id, None).unwrap_err().to_string();
            assert!(error.contains("/no/such/folder"), "{error}");
        }
        let JobDone::Solved(counts) = job.solve(classes, id, None).unwrap() else { panic!("it is there") };
        assert!(counts.bytes <= least as u64);
    }
}
