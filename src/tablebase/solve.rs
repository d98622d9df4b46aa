use super::pass::{Solved, Task, solve};
use super::{Cells, ClassId, Classes, Index, Material, Stats, Value};
use crate::board::{ByColor, Color, Position, RuleOptions};
use crate::cpu::CpuLevel;
use rayon::prelude::*;
use thiserror::Error;
#[cfg(feature = "gpu")]
use {
    super::gpu::{Batch, Gpu},
    crate::gpu::GpuError,
};

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
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] GpuError),
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

    /// The classes that the processor solved because the graphics card could not, and why it could not.
    #[cfg(feature = "gpu")]
    #[must_use]
    pub fn cpu_instead(&self) -> &[(Material, GpuError)] {
        self.gpu.as_ref().and_then(|card| card.instead.as_deref()).unwrap_or_default()
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

    /// Solves all classes of `pieces` pieces; those of fewer must be solved and kept. `done` is called after each class
    /// with the positions (both sides to move) it holds.
    pub fn solve_level(
        &mut self,
        pieces: usize,
        keep: bool,
        done: &(dyn Fn(ClassId, u64) + Sync),
    ) -> Result<(), SolveError> {
        let ids: Vec<ClassId> = self.classes.level(pieces).map(|(id, _)| id).collect();
        self.solve_classes(&ids, keep, done)
    }

    /// Solves one class and all it leads to.
    pub fn solve_class(&mut self, id: ClassId, done: &(dyn Fn(ClassId, u64) + Sync)) -> Result<(), SolveError> {
        let mut needed = vec![id];
        let mut i = 0;
        while i < needed.len() {
            for capture in self.classes.captures(needed[i]) {
                if !needed.contains(&capture) {
                    needed.push(capture);
                }
            }
            i += 1;
        }
        let pieces = |id: ClassId| self.classes.get(id).representative.len();
        let levels: Vec<Vec<ClassId>> = (2..=pieces(id))
            .map(|n| needed.iter().copied().filter(|&id| pieces(id) == n && self.tables[id.0].is_none()).collect())
            .collect();
        levels.iter().try_for_each(|ids| self.solve_classes(ids, true, done))
    }

    /// Solves these classes, all of as many pieces; those of fewer must be solved and kept.
    pub fn solve_some(
        &mut self,
        ids: &[ClassId],
        keep: bool,
        done: &(dyn Fn(ClassId, u64) + Sync),
    ) -> Result<(), SolveError> {
        self.solve_classes(ids, keep, done)
    }

    /// Drops the values of a class; its counts stay.
    pub fn forget(&mut self, id: ClassId) {
        self.tables[id.0] = None;
    }

    fn solve_classes(
        &mut self,
        ids: &[ClassId],
        keep: bool,
        done: &(dyn Fn(ClassId, u64) + Sync),
    ) -> Result<(), SolveError> {
        #[cfg(feature = "gpu")]
        let left = self.solve_on_gpu(ids, keep, done)?;
        #[cfg(feature = "gpu")]
        let ids = &left[..];
        let one = |&id: &ClassId| -> Result<(ClassId, Solved), SolveError> {
            let material = self.classes.get(id).representative;
            if material.len() > MAX_PIECES {
                return Err(SolveError::TooManyPieces { material, pieces: material.len() });
            }
            let level = self.options.level;
            let solved = solve(&Task { material, classes: &self.classes, tables: &self.tables, keep, level })?;
            let positions = solved.stats.white.summary().positions + solved.stats.black.summary().positions;
            done(id, positions);
            Ok((id, solved))
        };
        let rows = |id: ClassId| Index::new(self.classes.get(id).representative).rows;
        let mut ids = ids.to_vec();
        // The largest first, so that the last ones to finish are small.
        ids.sort_by_key(|&id| (std::cmp::Reverse(rows(id)), id));
        let (big, small): (Vec<ClassId>, Vec<ClassId>) = ids.iter().partition(|&&id| rows(id) >= BIG_CLASS_ROWS);
        let mut solved: Vec<(ClassId, Solved)> = big.iter().map(one).collect::<Result<_, _>>()?;
        let small: Result<Vec<_>, _> = small.par_iter().with_max_len(1).map(one).collect();
        solved.extend(small?);
        for (id, Solved { stats, table }) in solved {
            self.stats[id.0] = Some(stats);
            self.tables[id.0] = table;
        }
        Ok(())
    }

    /// Solves what the graphics card can, if there is one. Returns the classes left to the processor.
    #[cfg(feature = "gpu")]
    fn solve_on_gpu(
        &mut self,
        ids: &[ClassId],
        keep: bool,
        done: &(dyn Fn(ClassId, u64) + Sync),
    ) -> Result<Vec<ClassId>, SolveError> {
        let Some(card) = &mut self.gpu else { return Ok(ids.to_vec()) };
        if ids.iter().any(|&id| self.classes.get(id).representative.len() > MAX_PIECES) {
            return Ok(ids.to_vec());
        }
        let mut left = Vec::new();
        let mut batches = card.gpu.batches(ids, &self.classes);
        batches.reverse();
        while let Some(ids) = batches.pop() {
            let batch = Batch { ids: &ids, classes: &self.classes, tables: &self.tables, keep };
            match card.gpu.solve(&batch) {
                Ok(solved) => {
                    for (id, Solved { stats, table }) in ids.into_iter().zip(solved) {
                        done(id, stats.white.summary().positions + stats.black.summary().positions);
                        self.stats[id.0] = Some(stats);
                        self.tables[id.0] = table;
                    }
                }
                // One class of many may be the reason.
                Err(error) if ids.len() > 1 && !matches!(error, GpuError::Lost(_)) => {
                    let (first, second) = ids.split_at(ids.len() / 2);
                    batches.extend([second.to_vec(), first.to_vec()]);
                }
                Err(error) => match &mut card.instead {
                    None => return Err(error.into()),
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
        if position.winner().is_some() {
            return None;
        }
        let member = self.classes.member(Material::of(position)?)?;
        let table = self.table(member.class)?;
        let index = Index::new(self.classes.get(member.class).representative);
        let squares: Vec<_> = index
            .men
            .iter()
            .map(|man| {
                let (color, animal) =
                    member.men.iter().find(|(_, there)| there == man).expect("a piece of the class").0;
                let square = position.square_of(color, animal).expect("a piece of the material");
                if member.swapped { square.flip() } else { square }
            })
            .collect();
        let turn: Color = if member.swapped { !position.turn() } else { position.turn() };
        Value::from_code(table.cells[turn].get(index.cell(&squares)))
    }
}
