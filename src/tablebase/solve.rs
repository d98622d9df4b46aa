use super::pass::{Solved, Task, solve};
use super::{Cells, ClassId, Classes, Index, Material, Stats, Value};
use crate::board::{ByColor, Position, RuleOptions};
use crate::cpu::CpuLevel;
use rayon::prelude::*;
use thiserror::Error;

/// The most pieces that can be solved: cells are numbered with 32 bits in captures.
pub const MAX_PIECES: usize = 6;

/// Rows from which on one class is enough work for all threads.
const BIG_CLASS_ROWS: usize = 1 << 15;

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
}

/// How to solve.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// The processor's instructions to use.
    pub level: CpuLevel,
}

impl Default for Options {
    fn default() -> Options {
        Options { level: CpuLevel::get() }
    }
}

/// Solves classes in the order of their captures and keeps what later ones need.
pub struct Solver {
    classes: Classes,
    options: Options,
    tables: Vec<Option<Table>>,
    stats: Vec<Option<ByColor<Stats>>>,
}

impl Solver {
    /// A solver that has solved nothing yet, for materials of up to `pieces` pieces.
    #[must_use]
    pub fn new(rules: &RuleOptions, pieces: usize, options: Options) -> Solver {
        let classes = Classes::new(rules, pieces);
        let (tables, stats) = (vec![None; classes.len()], vec![None; classes.len()]);
        Solver { classes, options, tables, stats }
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
        self.solve_classes(&ids, keep, keep, &|id, solved| {
            done(id, solved.positions());
            Ok(())
        })
    }

    /// Solves one class and all it leads to. `done` is called after each as in [`Solver::solve_level`].
    pub fn solve_class(&mut self, id: ClassId, done: &(dyn Fn(ClassId, u64) + Sync)) -> Result<(), SolveError> {
        self.check_size(id)?;
        for level in self.classes.needed_for(id) {
            let missing: Vec<ClassId> = level.into_iter().filter(|id| self.tables[id.0].is_none()).collect();
            self.solve_classes(&missing, true, true, &|id, solved| {
                done(id, solved.positions());
                Ok(())
            })?;
        }
        Ok(())
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
        let one = |&id: &ClassId| -> Result<(ClassId, Solved), E> {
            let material = self.classes.get(id).representative;
            let level = self.options.level;
            let task = Task { material, classes: &self.classes, tables: &self.tables, keep: values, level };
            let mut solved = solve(&task)?;
            sink(id, &solved)?;
            if !keep {
                solved.table = None;
            }
            Ok((id, solved))
        };
        let rows = |id: ClassId| Index::new(self.classes.get(id).representative).rows;
        let mut ids = ids.to_vec();
        // The largest first, so that the last ones to finish are small.
        ids.sort_by_key(|&id| (std::cmp::Reverse(rows(id)), id));
        let (big, small): (Vec<ClassId>, Vec<ClassId>) = ids.iter().partition(|&&id| rows(id) >= BIG_CLASS_ROWS);
        let mut solved: Vec<(ClassId, Solved)> = big.iter().map(one).collect::<Result<_, _>>()?;
        let small: Result<Vec<_>, E> = small.par_iter().with_max_len(1).map(one).collect();
        solved.extend(small?);
        for (id, Solved { stats, table }) in solved {
            self.insert(id, stats, table);
        }
        Ok(())
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
