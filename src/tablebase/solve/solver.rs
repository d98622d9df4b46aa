use crate::board::{ByColor, Color, Position, RuleOptions, Rules};
use crate::cpu::CpuLevel;
use crate::tablebase::address::Addresser;
use crate::tablebase::solve::backend::{Backend, Job, Solved};
use crate::tablebase::solve::cpu::CpuBackend;
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::values::SolvedRows;
use crate::tablebase::{
    CellValue, ClassId, Classes, Dtz, MAX_PIECES, Material, MaterialTable, Metric, Probe, ProbeDtz, Stats, Table, Value,
};
use std::convert::Infallible;
use std::sync::Mutex;

/// Options of a [`Solver`].
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// The instruction set of the CPU to use.
    pub level: CpuLevel,
    /// The memory limit in bytes for all classes that are solved at the same time. One class is solved even above it.
    pub memory: usize,
}

impl Default for Options {
    fn default() -> Options {
        // WebAssembly has no more than 4 GiB.
        Options { level: CpuLevel::get(), memory: usize::try_from(4u64 << 30).unwrap_or(usize::MAX) }
    }
}

/// Solves classes in the order of their captures and keeps the values that later classes need.
pub struct Solver {
    rules: Rules,
    classes: Classes,
    addresser: Addresser,
    memory: usize,
    tables: Vec<Option<Table>>,
    stats: Vec<Option<ByColor<Stats>>>,
    backend: Box<dyn Backend>,
}

/// A callback after each class, with its number of positions for both sides to move.
pub type Done<'a> = &'a (dyn Fn(ClassId, u64) + Sync);

impl Solver {
    /// A solver for materials of up to `pieces` pieces that has solved nothing yet and uses the CPU. With rules that have a
    /// no-capture limit its values have no [`Value::dtw`]: see [`ProbeDtz`].
    #[must_use]
    pub fn new(rules: &RuleOptions, pieces: usize, options: Options) -> Solver {
        let classes = Classes::new(rules, pieces);
        Solver {
            rules: Rules::new(*rules),
            addresser: Addresser::new(&classes),
            memory: options.memory,
            tables: vec![None; classes.len()],
            stats: vec![None; classes.len()],
            backend: Box::new(CpuBackend::new(options.level)),
            classes,
        }
    }

    /// The same solver with another backend.
    #[must_use]
    pub fn on(self, backend: impl Backend + 'static) -> Solver {
        Solver { backend: Box::new(backend), ..self }
    }

    /// A solver that has solved all materials of up to `pieces` pieces and keeps their values: 40 MB for three pieces,
    /// 2.3 GB for four.
    ///
    /// # Errors
    /// If the memory cannot be allocated, or `pieces` is greater than [`MAX_PIECES`].
    pub fn solved(rules: &RuleOptions, pieces: usize) -> Result<Solver, SolveError> {
        let mut solver = Solver::new(rules, pieces, Options::default());
        for n in 2..=pieces {
            solver.solve_level(n, true, &|_, _| ())?;
        }
        Ok(solver)
    }

    /// A solver that has solved one material and all materials that its captures lead to.
    ///
    /// # Errors
    /// If the memory cannot be allocated, or the material has more than [`MAX_PIECES`] pieces.
    pub fn solved_material(rules: &RuleOptions, material: Material) -> Result<Solver, SolveError> {
        check_size(material)?;
        let mut solver = Solver::new(rules, material.len(), Options::default());
        let id = solver.classes.member(material).expect("there are classes for as many pieces").class;
        solver.solve_class(id, &|_, _| ())?;
        Ok(solver)
    }

    /// The backend.
    #[must_use]
    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    pub(crate) fn backend_mut(&mut self) -> &mut dyn Backend {
        &mut *self.backend
    }

    /// The classes of the solver's rules.
    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The values of a class; `None` if it is not solved or its values were not kept.
    #[must_use]
    pub fn table(&self, id: ClassId) -> Option<&Table> {
        self.tables[id.0].as_ref()
    }

    /// The values of a material by the squares of its pieces; `None` if its class is not solved and kept.
    #[must_use]
    pub fn material_table(&self, material: Material) -> Option<MaterialTable<'_>> {
        let id = self.classes.member(material)?.class;
        MaterialTable::new(&self.classes, self.table(id)?, material)
    }

    /// The counts of a class, with White and Black of its representative to move; `None` if it is not solved.
    #[must_use]
    pub fn class_stats(&self, id: ClassId) -> Option<&ByColor<Stats>> {
        self.stats[id.0].as_ref()
    }

    /// Solves all classes of `pieces` pieces. The classes of fewer pieces must be solved and kept.
    ///
    /// # Errors
    /// The backend's error at the first class that it cannot solve.
    pub fn solve_level(&mut self, pieces: usize, keep: bool, done: Done<'_>) -> Result<(), SolveError> {
        let ids: Vec<ClassId> = self.classes.level(pieces).map(|(id, _)| id).collect();
        self.solve_some(&ids, keep, done)
    }

    /// Solves one class and all classes that its captures lead to, and keeps their values.
    ///
    /// # Errors
    /// As [`solve_level`](Solver::solve_level).
    pub fn solve_class(&mut self, id: ClassId, done: Done<'_>) -> Result<(), SolveError> {
        self.solve_needed(id, true, done)
    }

    /// As [`solve_class`](Solver::solve_class), but keeps only the counts of the class itself, which is faster.
    ///
    /// # Errors
    /// As [`solve_level`](Solver::solve_level).
    pub fn count_class(&mut self, id: ClassId, done: Done<'_>) -> Result<(), SolveError> {
        self.solve_needed(id, false, done)
    }

    fn solve_needed(&mut self, id: ClassId, keep: bool, done: Done<'_>) -> Result<(), SolveError> {
        check_size(self.classes.get(id).representative)?;
        for level in self.classes.needed_for(id) {
            let missing: Vec<ClassId> = level.into_iter().filter(|id| self.tables[id.0].is_none()).collect();
            self.solve_some(&missing, keep || missing != [id], done)?;
        }
        Ok(())
    }

    /// Solves these classes, all of the same number of pieces. The classes of fewer pieces must be solved and kept.
    ///
    /// # Errors
    /// As [`solve_level`](Solver::solve_level).
    pub fn solve_some(&mut self, ids: &[ClassId], keep: bool, done: Done<'_>) -> Result<(), SolveError> {
        self.solve_classes(ids, keep, keep, &|id, solved| -> Result<(), SolveError> {
            done(id, solved.stats.positions());
            Ok(())
        })
    }

    /// Solves the class of a position and all classes that its captures lead to, unless they are solved, and returns
    /// the value of the position; `None` if the position has more pieces than this solver was made for.
    ///
    /// # Errors
    /// As [`solve_level`](Solver::solve_level).
    pub fn solve_position(&mut self, position: &Position) -> Result<Option<Value>, SolveError> {
        if let Some(address) = self.addresser.locate(position) {
            self.solve_class(address.class, &|_, _| ())?;
        }
        let Ok(value) = self.value(position);
        Ok(value)
    }

    /// Drops the values of a class and keeps its counts. Returns the values, if there were any.
    pub fn forget(&mut self, id: ClassId) -> Option<Table> {
        self.tables[id.0].take()
    }

    /// A job for the backend: classes to solve, and the tables of the smaller classes.
    pub(crate) fn job<'a>(&'a self, ids: &'a [ClassId], values: bool) -> Job<'a> {
        Job { ids, classes: &self.classes, values, memory: self.memory, tables: &self.tables, begun: &|_| () }
    }

    /// Solves classes whose captures lead to classes that are solved and kept. Passes each to `sink` as soon as it is
    /// solved, with its values if `values` is set, and keeps the values in memory if `keep` is set, too.
    ///
    /// # Errors
    /// The backend's error at the first class that it cannot solve, or the first error of `sink`.
    pub fn solve_classes<E: From<SolveError> + Send>(
        &mut self,
        ids: &[ClassId],
        values: bool,
        keep: bool,
        sink: &(dyn Fn(ClassId, &Solved) -> Result<(), E> + Sync),
    ) -> Result<(), E> {
        self.solve_classes_and_tell(ids, values, keep, &|_| (), sink)
    }

    /// As [`solve_classes`](Solver::solve_classes), and tells which class is begun.
    pub(crate) fn solve_classes_and_tell<E: From<SolveError> + Send>(
        &mut self,
        ids: &[ClassId],
        values: bool,
        keep: bool,
        begun: &(dyn Fn(ClassId) + Sync),
        sink: &(dyn Fn(ClassId, &Solved) -> Result<(), E> + Sync),
    ) -> Result<(), E> {
        ids.iter().try_for_each(|&id| check_size(self.classes.get(id).representative))?;
        let Solver { classes, memory, tables, backend, .. } = self;
        let job = Job { ids, classes, values, memory: *memory, tables, begun };
        let name = backend.name();
        let (all, refused) = (Mutex::new(Vec::with_capacity(ids.len())), Mutex::new(None));
        let take = |id: ClassId, solved: Solved| {
            check(&job, id, &solved).map_err(|what| SolveError::Backend {
                material: Some(job.material(id)),
                reason: format!("{name} gave {what}"),
            })?;
            if let Err(error) = sink(id, &solved) {
                refused.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(error);
                return Err(SolveError::Stopped);
            }
            let Solved { stats, values, .. } = solved;
            let table = values.filter(|_| keep).map(SolvedRows::into_table).transpose()?;
            all.lock().unwrap_or_else(|e| e.into_inner()).push((id, stats, table));
            Ok(())
        };
        let result = backend.solve(&job, &take);
        for (id, stats, table) in all.into_inner().unwrap_or_else(|e| e.into_inner()) {
            self.insert(id, stats, table);
        }
        if let Some(error) = refused.into_inner().unwrap_or_else(|e| e.into_inner()) {
            return Err(error);
        }
        result?;
        match ids.iter().find(|id| self.stats[id.0].is_none()) {
            None => Ok(()),
            Some(&id) => {
                let material = Some(self.classes.get(id).representative);
                Err(SolveError::Backend { material, reason: format!("{name} left a class out") }.into())
            }
        }
    }

    /// Sets the memory limit in bytes for all classes that are solved at the same time.
    pub(crate) fn set_memory(&mut self, bytes: usize) {
        self.memory = bytes;
    }

    /// Adds a class that was solved elsewhere.
    pub(crate) fn insert(&mut self, id: ClassId, stats: ByColor<Stats>, table: Option<Table>) {
        self.stats[id.0] = Some(stats);
        self.tables[id.0] = table;
    }

    /// Drops the values of all classes of `pieces` pieces and keeps their counts.
    pub(crate) fn forget_level(&mut self, pieces: usize) {
        for (id, _) in self.classes.level(pieces) {
            self.tables[id.0] = None;
        }
    }

    /// The counts of a material for each side to move; `None` if its class is not solved.
    #[must_use]
    pub fn stats(&self, material: Material) -> Option<ByColor<&Stats>> {
        let member = self.classes.member(material)?;
        let stats = self.class_stats(member.class)?;
        Some(ByColor::from_fn(|color| &stats[if member.swapped { !color } else { color }]))
    }

    /// The sum of the counts of all materials of `pieces` pieces with White to move; `None` if one is not solved.
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

    /// The value of a position; `None` if its class is not solved and kept or the game is over.
    #[must_use]
    pub fn cell_value(&self, position: &Position) -> Option<CellValue> {
        let address = self.addresser.locate(position)?;
        CellValue::from_code(self.table(address.class)?.cells[address.turn].get(address.cell))
    }
}

impl Probe for Solver {
    type Error = Infallible;

    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, Infallible> {
        let value = || {
            let value = Value::of(self.cell_value(position)?, &self.rules);
            let is_dtw = self.classes.metric() == Metric::Dtw;
            Some(Value { dtw: value.dtw.filter(|_| is_dtw), ..value })
        };
        Ok(Value::of_finished(position).or_else(value))
    }
}

/// For a solver with a no-capture limit; another covers no position.
impl ProbeDtz for Solver {
    type Error = Infallible;

    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn limit(&self) -> u16 {
        self.classes.options().no_capture_limit.unwrap_or(0)
    }

    fn open_dtz(&self, position: &Position) -> Result<Option<Dtz>, Infallible> {
        let has_limit = self.classes.options().no_capture_limit.is_some();
        let value = self.cell_value(position).filter(|_| has_limit);
        Ok(value.map(|value| Dtz::of(value, &self.rules)))
    }
}

/// Rejects a material of too many pieces, before any class that it leads to is solved.
fn check_size(material: Material) -> Result<(), SolveError> {
    let pieces = material.len();
    if pieces > MAX_PIECES { Err(SolveError::TooManyPieces { material, pieces }) } else { Ok(()) }
}

/// Checks a backend's result: values of this class if and only if the job wants them, and counts of all positions. The error
/// is what the backend gave.
fn check(job: &Job<'_>, id: ClassId, solved: &Solved) -> Result<(), String> {
    let (index, material) = (job.classes.get(id).index(), job.material(id));
    let values = solved.values.as_ref().map(|values| &values.index().pieces);
    if values != job.values.then_some(&index.pieces) {
        return Err(format!("no values of {} cells for each side to move", index.cells()));
    }
    for turn in Color::ALL {
        let (counted, positions) = (solved.stats[turn].summary().positions, material.positions());
        if counted != positions {
            return Err(format!(
                "counts of {counted} positions of {material} with {turn} to move, which has {positions}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;
    use std::sync::Arc;

    #[test]
    fn the_progress_of_a_class_is_followed_and_stops_it() {
        let id = |solver: &Solver| solver.classes().member("EvL".parse().unwrap()).unwrap().class;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let note = seen.clone();
        let backend = CpuBackend::default().following(move |progress| {
            note.lock().unwrap().push(progress);
            ControlFlow::Continue(())
        });
        let mut solver = Solver::new(&RuleOptions::PAPER, 2, Options::default()).on(backend);
        let class = id(&solver);
        solver.solve_class(class, &|_, _| ()).unwrap();
        let seen = seen.lock().unwrap();
        assert!(seen.is_sorted_by_key(|progress| progress.depth));
        let longest = solver.class_stats(class).unwrap().white.summary().longest;
        assert!(seen.last().is_some_and(|last| last.fraction < 1.0 && u64::from(last.depth) >= longest), "{seen:?}");
        assert!(
            solver.forget(class).is_some() && solver.forget(class).is_none() && solver.class_stats(class).is_some()
        );

        let backend = CpuBackend::default().following(|_| ControlFlow::Break(()));
        let mut stopped = Solver::new(&RuleOptions::PAPER, 2, Options::default()).on(backend);
        assert_eq!(stopped.solve_class(id(&stopped), &|_, _| ()), Err(SolveError::Stopped));
        assert!(stopped.table(class).is_none());
    }

    #[test]
    fn as_many_pieces_as_can_be_solved_are_let_pass() {
        for (name, passes) in [("EvL", true), ("ELTvPDW", true), ("ELTvPDWC", false)] {
            assert_eq!(check_size(name.parse().unwrap()).is_ok(), passes, "{name}");
        }
    }
}
