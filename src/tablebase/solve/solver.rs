use crate::board::{ByColor, Position, RuleOptions, Rules};
use crate::cpu::CpuLevel;
use crate::tablebase::address::Addresser;
use crate::tablebase::solve::backend::{Backend, Job, SolveError, Solved};
use crate::tablebase::solve::cpu::CpuBackend;
use crate::tablebase::{CellValue, ClassId, Classes, MAX_PIECES, Material, MaterialTable, Probe, Stats, Table, Value};
use std::convert::Infallible;
use std::sync::Mutex;

/// How to solve.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// The CPU's instructions to use.
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
    rules: Rules,
    classes: Classes,
    addresser: Addresser,
    memory: usize,
    tables: Vec<Option<Table>>,
    stats: Vec<Option<ByColor<Stats>>>,
    backend: Box<dyn Backend>,
}

/// Called after each class with its number of positions, both sides to move.
pub type Done<'a> = &'a (dyn Fn(ClassId, u64) + Sync);

impl Solver {
    /// A solver that has solved nothing yet, for materials of up to `pieces` pieces. It works on the CPU.
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

    /// The same solver, working on another backend.
    #[must_use]
    pub fn on(self, backend: impl Backend + 'static) -> Solver {
        Solver { backend: Box::new(backend), ..self }
    }

    /// A solver that has solved all materials of up to `pieces` pieces and kept them: for three pieces 40 MB, for four
    /// 2.3 GB.
    ///
    /// # Errors
    /// If there is no memory for them, or there are more pieces than can be solved.
    pub fn solved(rules: &RuleOptions, pieces: usize) -> Result<Solver, SolveError> {
        let mut solver = Solver::new(rules, pieces, Options::default());
        for n in 2..=pieces {
            solver.solve_level(n, true, &|_, _| ())?;
        }
        Ok(solver)
    }

    /// A solver that has solved one material and all that it leads to.
    ///
    /// # Errors
    /// If there is no memory for it, or it has more pieces than can be solved.
    pub fn solved_material(rules: &RuleOptions, material: Material) -> Result<Solver, SolveError> {
        check_size(material)?;
        let mut solver = Solver::new(rules, material.len(), Options::default());
        let id = solver.classes.member(material).expect("there are classes for as many pieces").class;
        solver.solve_class(id, &|_, _| ())?;
        Ok(solver)
    }

    /// What solves.
    #[must_use]
    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
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

    /// The values of a material, position by position, if its class is solved and they were kept.
    #[must_use]
    pub fn material_table(&self, material: Material) -> Option<MaterialTable<'_>> {
        let id = self.classes.member(material)?.class;
        MaterialTable::new(&self.classes, self.table(id)?, material)
    }

    /// The counts of a class, for White and Black of its representative to move, if it is solved.
    #[must_use]
    pub fn class_stats(&self, id: ClassId) -> Option<&ByColor<Stats>> {
        self.stats[id.0].as_ref()
    }

    /// Solves all classes of `pieces` pieces; those of fewer must be solved and kept.
    ///
    /// # Errors
    /// What the backend says of the first class that it cannot solve.
    pub fn solve_level(&mut self, pieces: usize, keep: bool, done: Done<'_>) -> Result<(), SolveError> {
        let ids: Vec<ClassId> = self.classes.level(pieces).map(|(id, _)| id).collect();
        self.solve_some(&ids, keep, done)
    }

    /// Solves one class and all it leads to.
    ///
    /// # Errors
    /// As [`solve_level`](Solver::solve_level).
    pub fn solve_class(&mut self, id: ClassId, done: Done<'_>) -> Result<(), SolveError> {
        self.solve_needed(id, true, done)
    }

    /// The same, but of the class itself only the counts are kept, which is faster.
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

    /// Solves these classes, all of as many pieces; those of fewer must be solved and kept.
    ///
    /// # Errors
    /// As [`solve_level`](Solver::solve_level).
    pub fn solve_some(&mut self, ids: &[ClassId], keep: bool, done: Done<'_>) -> Result<(), SolveError> {
        self.solve_classes(ids, keep, keep, &|id, solved| -> Result<(), SolveError> {
            done(id, solved.stats.positions());
            Ok(())
        })
    }

    /// Solves the class of a position and all it leads to, if that is not done yet, and says who wins. `None` if the
    /// position has more pieces than this solver was made for.
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

    /// Drops the values of a class; its counts stay.
    pub fn forget(&mut self, id: ClassId) {
        self.tables[id.0] = None;
    }

    /// Classes to solve, and what they are solved from.
    pub(crate) fn job<'a>(&'a self, ids: &'a [ClassId], values: bool) -> Job<'a> {
        Job { ids, classes: &self.classes, values, memory: self.memory, tables: &self.tables }
    }

    /// Solves classes whose captures are solved and kept. Each is given to `sink` as soon as it is done, with its values
    /// if `values` is set; they are kept in memory if `keep` is set too.
    pub fn solve_classes<E: From<SolveError> + Send>(
        &mut self,
        ids: &[ClassId],
        values: bool,
        keep: bool,
        sink: &(dyn Fn(ClassId, &Solved) -> Result<(), E> + Sync),
    ) -> Result<(), E> {
        ids.iter().try_for_each(|&id| check_size(self.classes.get(id).representative))?;
        let Solver { classes, memory, tables, backend, .. } = self;
        let job = Job { ids, classes, values, memory: *memory, tables };
        let name = backend.name();
        let (all, refused) = (Mutex::new(Vec::with_capacity(ids.len())), Mutex::new(None));
        let take = |id: ClassId, mut solved: Solved| {
            check(&job, &name, id, &solved)?;
            if let Err(error) = sink(id, &solved) {
                refused.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(error);
                return Err(SolveError::Stopped);
            }
            solved.table = solved.table.filter(|_| keep);
            all.lock().unwrap_or_else(|e| e.into_inner()).push((id, solved));
            Ok(())
        };
        let result = backend.solve(&job, &take);
        for (id, Solved { stats, table }) in all.into_inner().unwrap_or_else(|e| e.into_inner()) {
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

    /// How many bytes the classes in work may take together from now on.
    pub(crate) fn set_memory(&mut self, bytes: usize) {
        self.memory = bytes;
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
        let value = || Some(Value::of(self.cell_value(position)?, &self.rules));
        Ok(Value::of_finished(position).or_else(value))
    }
}

/// What is too large is refused before anything that it leads to is solved.
fn check_size(material: Material) -> Result<(), SolveError> {
    let pieces = material.len();
    if pieces > MAX_PIECES { Err(SolveError::TooManyPieces { material, pieces }) } else { Ok(()) }
}

/// Whether what a backend solved has the form of what it was to solve; the values are its own affair.
fn check(job: &Job<'_>, backend: &str, id: ClassId, solved: &Solved) -> Result<(), SolveError> {
    let cells = job.classes.get(id).index().cells();
    let right = match &solved.table {
        None => !job.values,
        Some(table) => table.cells.white.len() == cells && table.cells.black.len() == cells,
    };
    if right {
        return Ok(());
    }
    let reason = format!("{backend} gave no values of {cells} cells for each side to move");
    Err(SolveError::Backend { material: Some(job.material(id)), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_pieces_as_can_be_solved_are_let_pass() {
        for (name, passes) in [("EvL", true), ("ELTvPDW", true), ("ELTvPDWC", false)] {
            assert_eq!(check_size(name.parse().unwrap()).is_ok(), passes, "{name}");
        }
    }
}
