use crate::board::{ByColor, Position, RuleOptions};
use crate::cpu::CpuLevel;
use crate::tablebase::solve::cpu::pass::{Solved, Task, solve};
use crate::tablebase::solve::cpu::quiet::Row;
use crate::tablebase::{Cells, ClassId, Classes, Index, Material, ROW_CELLS, Stats, Value};
use rayon::prelude::*;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use thiserror::Error;
#[cfg(feature = "gpu")]
use {
    crate::gpu::GpuError,
    crate::tablebase::solve::gpu::{Batch, Gpu, GpuWork},
};

/// The most pieces that can be solved: cells are numbered with 32 bits in captures.
pub const MAX_PIECES: usize = 6;

/// What solving a class takes besides the tables it reads: seven planes, about as much again for the seeds of classes with
/// many captures, and the values with the blocks they are compressed to.
pub(crate) fn working_bytes(index: &Index, values: bool) -> usize {
    let planes = 14 * size_of::<Row>();
    index.rows * (planes + if values { 3 * ROW_CELLS } else { 0 })
}

/// The values of a class, for both sides to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub cells: ByColor<Cells>,
}

/// Why a material was not solved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SolveError {
    #[error("{material} has {pieces} pieces; at most {MAX_PIECES} can be solved")]
    TooManyPieces { material: Material, pieces: usize },
    #[error("there is no memory for another {bytes} bytes")]
    Memory { bytes: usize },
    #[error("{material} has a line longer than {plies} plies, which the program cannot count")]
    TooLong { material: Material, plies: u16 },
    #[error("the captures of a class do not fit into {dir}: {what}")]
    Disk { dir: PathBuf, what: String },
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

/// How to solve.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// The processor's instructions to use.
    pub level: CpuLevel,
    /// How many bytes the classes in work may take together. One class at least is always in work.
    pub memory: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { level: CpuLevel::get(), memory: 4 << 30 }
    }
}

/// Solves classes in the order of their captures and keeps what later ones need.
pub struct Solver {
    classes: Classes,
    options: Options,
    tables: Vec<Option<Table>>,
    stats: Vec<Option<ByColor<Stats>>>,
    /// Where the seeds of a class go, if not into memory.
    spill: Option<PathBuf>,
    #[cfg(feature = "gpu")]
    gpu: Option<Card>,
}

/// A graphics card to solve on, and what to do if it cannot.
#[cfg(feature = "gpu")]
struct Card {
    gpu: Gpu,
    /// What the processor took over, and why; `None` if it is not to take over.
    instead: Option<Vec<(Material, GpuError)>>,
}

impl Solver {
    /// A solver that has solved nothing yet, for materials of up to `pieces` pieces.
    #[must_use]
    pub fn new(rules: &RuleOptions, pieces: usize, options: Options) -> Solver {
        let classes = Classes::new(rules, pieces);
        let (tables, stats) = (vec![None; classes.len()], vec![None; classes.len()]);
        Solver {
            classes,
            options,
            tables,
            stats,
            spill: None,
            #[cfg(feature = "gpu")]
            gpu: None,
        }
    }

    /// The same solver, working on a graphics card. With `or_cpu` what the card cannot do is solved on the processor and
    /// noted in [`cpu_instead`](Solver::cpu_instead); otherwise it is an error.
    #[cfg(feature = "gpu")]
    #[must_use]
    pub fn on_gpu(mut self, gpu: Gpu, or_cpu: bool) -> Solver {
        self.gpu = Some(Card { gpu, instead: or_cpu.then(Vec::new) });
        self
    }

    /// The time spent so far on compiling kernels for the graphics card.
    #[cfg(feature = "gpu")]
    #[must_use]
    pub fn gpu_compile_time(&self) -> std::time::Duration {
        self.gpu.as_ref().map(|card| card.gpu.compile_time()).unwrap_or_default()
    }

    /// What the graphics card has done so far, if there is one.
    #[cfg(feature = "gpu")]
    #[must_use]
    pub fn gpu_work(&self) -> Option<GpuWork> {
        self.gpu.as_ref().map(|card| card.gpu.work())
    }

    /// The classes that the processor solved because the graphics card could not, and why it could not.
    #[cfg(feature = "gpu")]
    #[must_use]
    pub fn cpu_instead(&self) -> &[(Material, GpuError)] {
        self.gpu.as_ref().and_then(|card| card.instead.as_deref()).unwrap_or_default()
    }

    /// Whether the memory of this machine, not that of a graphics card, holds the classes in work.
    pub(crate) fn needs_host_memory(&self) -> bool {
        #[cfg(feature = "gpu")]
        return self.gpu.is_none();
        #[cfg(not(feature = "gpu"))]
        true
    }

    /// The classes of these rules.
    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The values of a class, if it is solved and they were kept.
    #[must_use]
    pub fn table(&self, id: ClassId) -> Option<&Table> {
        self.tables[id.0].as_ref()
    }

    /// The counts of a class, for White and Black of its representative to move, if it is solved.
    #[must_use]
    pub fn class_stats(&self, id: ClassId) -> Option<&ByColor<Stats>> {
        self.stats[id.0].as_ref()
    }

    /// Solves all classes of `pieces` pieces; those of fewer must be solved and kept. `done` is called after each class.
    pub fn solve_level(
        &mut self,
        pieces: usize,
        keep: bool,
        done: &(dyn Fn(ClassId, u64) + Sync),
    ) -> Result<(), SolveError> {
        let ids: Vec<ClassId> = self.classes.level(pieces).map(|(id, _)| id).collect();
        self.solve_some(&ids, keep, done)
    }

    /// Solves one class and all it leads to. `done` is called after each as in [`Solver::solve_level`].
    pub fn solve_class(&mut self, id: ClassId, done: &(dyn Fn(ClassId, u64) + Sync)) -> Result<(), SolveError> {
        self.solve_needed(id, true, done)
    }

    /// The same, but of the class itself only the counts are kept, which is faster.
    pub fn count_class(&mut self, id: ClassId, done: &(dyn Fn(ClassId, u64) + Sync)) -> Result<(), SolveError> {
        self.solve_needed(id, false, done)
    }

    fn solve_needed(
        &mut self,
        id: ClassId,
        keep: bool,
        done: &(dyn Fn(ClassId, u64) + Sync),
    ) -> Result<(), SolveError> {
        self.check_size(id)?;
        for level in self.classes.needed_for(id) {
            let missing: Vec<ClassId> = level.into_iter().filter(|id| self.tables[id.0].is_none()).collect();
            self.solve_some(&missing, keep || missing != [id], done)?;
        }
        Ok(())
    }

    /// Solves these classes, all of as many pieces; those of fewer must be solved and kept.
    pub fn solve_some(
        &mut self,
        ids: &[ClassId],
        keep: bool,
        done: &(dyn Fn(ClassId, u64) + Sync),
    ) -> Result<(), SolveError> {
        self.solve_classes(ids, keep, keep, &|id, solved| -> Result<(), SolveError> {
            done(id, solved.stats.positions());
            Ok(())
        })
    }

    /// Drops the values of a class; its counts stay.
    pub fn forget(&mut self, id: ClassId) {
        self.tables[id.0] = None;
    }

    /// What is too large is refused before anything that it leads to is solved.
    fn check_size(&self, id: ClassId) -> Result<(), SolveError> {
        let material = self.classes.get(id).representative;
        let pieces = material.len();
        if pieces > MAX_PIECES { Err(SolveError::TooManyPieces { material, pieces }) } else { Ok(()) }
    }

    /// Solves classes whose captures are solved and kept. Each is given to `sink` as soon as it is done, with its values
    /// if `values` is set; they are kept in memory if `keep` is set too.
    pub(crate) fn solve_classes<E: From<SolveError> + Send>(
        &mut self,
        ids: &[ClassId],
        values: bool,
        keep: bool,
        sink: &(dyn Fn(ClassId, &Solved) -> Result<(), E> + Sync),
    ) -> Result<(), E> {
        ids.iter().try_for_each(|&id| self.check_size(id))?;
        #[cfg(feature = "gpu")]
        let left = self.solve_on_gpu(ids, values, keep, sink)?;
        #[cfg(feature = "gpu")]
        let ids = &left[..];
        let bytes =
            |solver: &Solver, id: ClassId| working_bytes(&Index::new(solver.classes.get(id).representative), values);
        let mut ids = ids.to_vec();
        // The largest first, so that the last ones to finish are small.
        ids.sort_by_key(|&id| (std::cmp::Reverse(bytes(self, id)), id));
        let mut rest = &ids[..];
        while let Some(&largest) = rest.first() {
            // A thread that waits within one class may begin another, so only this bounds how many are in memory.
            let (group, others) = rest.split_at((self.options.memory / bytes(self, largest)).clamp(1, rest.len()));
            for (id, Solved { stats, table }) in self.solve_group(group, values, keep, sink)? {
                self.insert(id, stats, table);
            }
            rest = others;
        }
        Ok(())
    }

    /// What is solved and kept, by class.
    pub(crate) fn tables(&self) -> &[Option<Table>] {
        &self.tables
    }

    pub(crate) fn task(&self, id: ClassId, keep: bool) -> Task<'_> {
        let (material, level) = (self.classes.get(id).representative, self.options.level);
        Task { material, classes: &self.classes, keep, level, spill: self.spill.as_deref() }
    }

    /// Classes to solve on a graphics card, values and all.
    #[cfg(all(test, feature = "gpu"))]
    pub(crate) fn batch<'a>(&'a self, ids: &'a [ClassId]) -> Batch<'a> {
        Batch { ids, upcoming: ids, classes: &self.classes, tables: &self.tables, keep: true }
    }

    /// Solves these classes at the same time.
    fn solve_group<E: From<SolveError> + Send>(
        &self,
        ids: &[ClassId],
        values: bool,
        keep: bool,
        sink: &(dyn Fn(ClassId, &Solved) -> Result<(), E> + Sync),
    ) -> Result<Vec<(ClassId, Solved)>, E> {
        let one = |&id: &ClassId| {
            let mut solved = solve(&self.task(id, values), Cow::Borrowed(&self.tables))?;
            sink(id, &solved)?;
            if !keep {
                solved.table = None;
            }
            Ok((id, solved))
        };
        ids.par_iter().with_max_len(1).map(one).collect()
    }

    /// Solves what the graphics card can, if there is one. Returns the classes left to the processor.
    #[cfg(feature = "gpu")]
    fn solve_on_gpu<E: From<SolveError>>(
        &mut self,
        ids: &[ClassId],
        values: bool,
        keep: bool,
        sink: &(dyn Fn(ClassId, &Solved) -> Result<(), E> + Sync),
    ) -> Result<Vec<ClassId>, E> {
        let Some(card) = &mut self.gpu else { return Ok(ids.to_vec()) };
        let mut left = Vec::new();
        let mut batches = card.gpu.batches(ids, &self.classes);
        batches.reverse();
        while let Some(batch_ids) = batches.pop() {
            let (upcoming, ids) = (ids, batch_ids);
            let batch = Batch { ids: &ids, upcoming, classes: &self.classes, tables: &self.tables, keep: values };
            match card.gpu.solve(&batch) {
                Ok(solved) => {
                    for (id, solved) in ids.into_iter().zip(solved) {
                        sink(id, &solved)?;
                        self.stats[id.0] = Some(solved.stats);
                        self.tables[id.0] = solved.table.filter(|_| keep);
                    }
                }
                // One class of many may be the reason.
                Err(error) if ids.len() > 1 && !matches!(error, GpuError::Lost(_)) => {
                    let (first, second) = ids.split_at(ids.len() / 2);
                    batches.extend([second.to_vec(), first.to_vec()]);
                }
                Err(error) => match &mut card.instead {
                    None => return Err(SolveError::from(error).into()),
                    Some(instead) => {
                        for id in ids {
                            instead.push((self.classes.get(id).representative, error.clone()));
                            left.push(id);
                        }
                    }
                },
            }
        }
        Ok(left)
    }

    /// Keeps the seeds of classes in temporary files in `dir` from now on, not in memory. They have no name, so nothing is
    /// left of them, however the program ends.
    pub fn spill_to(&mut self, dir: &Path) {
        self.spill = Some(dir.to_owned());
    }

    /// How many bytes the classes in work may take together from now on.
    pub(crate) fn set_memory(&mut self, bytes: usize) {
        self.options.memory = bytes;
    }

    /// Takes over a class that was solved before.
    pub(crate) fn insert(&mut self, id: ClassId, stats: ByColor<Stats>, table: Option<Table>) {
        self.stats[id.0] = Some(stats);
        self.tables[id.0] = table;
    }

    /// Frees the values of the classes of that many pieces.
    pub(crate) fn forget_level(&mut self, pieces: usize) {
        for (id, _) in self.classes.level(pieces) {
            self.tables[id.0] = None;
        }
    }

    /// The counts of a material for each side to move, if its class is solved.
    #[must_use]
    pub fn stats(&self, material: Material) -> Option<ByColor<&Stats>> {
        let member = self.classes.member(material)?;
        let stats = self.class_stats(member.class)?;
        Some(ByColor::from_fn(|color| &stats[if member.swapped { !color } else { color }]))
    }

    /// The counts of all materials of `pieces` pieces, White to move, if they are all solved.
    #[must_use]
    pub fn level_stats(&self, pieces: usize) -> Option<Stats> {
        let mut total = Stats::default();
        for (id, class) in self.classes.level(pieces) {
            let stats = self.class_stats(id)?;
            total.add_times(&stats.white, class.same.len() as u64);
            total.add_times(&stats.black, class.swapped.len() as u64);
        }
        Some(total)
    }

    /// The value of a position, if its material is solved and kept and the game is not over.
    #[must_use]
    pub fn value(&self, position: &Position) -> Option<Value> {
        let place = self.classes.locate(position)?;
        let index = Index::new(self.classes.get(place.class).representative);
        Value::from_code(self.table(place.class)?.cells[place.turn].get(index.cell(&place.squares)))
    }
}
