//! The tables for generating puzzles: files, or tables solved in memory.

use super::generate::MEMORY_PIECES;
use doushouqi::board::{Position, RuleOptions, Rules};
use doushouqi::tablebase::{ClassId, Material, Options, Probe, SetError, Solver, TableProber, Value};

/// Tables on disk or in memory. The memory contains all endgames of up to [`MEMORY_PIECES`] pieces, and one larger
/// class at a time.
pub enum Source {
    /// Tables on disk.
    Files(Box<TableProber>),
    /// Tables in memory.
    Memory {
        /// The solver that keeps them.
        solver: Box<Solver>,
        /// The larger class that is in memory.
        large: Option<ClassId>,
    },
}

impl Source {
    /// Reads tables on disk.
    #[must_use]
    pub fn files(tables: TableProber) -> Source {
        Source::Files(Box::new(tables))
    }

    /// Solves the endgames of up to `pieces` pieces in memory, at most [`MEMORY_PIECES`]; [`Source::prepare`] solves
    /// larger ones.
    ///
    /// # Errors
    /// If the memory for the tables cannot be allocated.
    pub fn solve(rules: &RuleOptions, pieces: usize) -> Result<Source, SetError> {
        let mut solver = Solver::new(rules, pieces, Options::default());
        for n in 2..=pieces.min(MEMORY_PIECES) {
            solver.solve_level(n, true, &|_, _| ())?;
        }
        Ok(Source::Memory { solver: Box::new(solver), large: None })
    }

    /// Solves the class of a material of more than [`MEMORY_PIECES`] pieces, and drops the previous larger class.
    ///
    /// # Errors
    /// If the memory for the table cannot be allocated.
    pub fn prepare(&mut self, material: Material) -> Result<(), SetError> {
        let Source::Memory { solver, large } = self else { return Ok(()) };
        let class = solver.classes().member(material).map(|member| member.class);
        if material.len() <= MEMORY_PIECES || class == *large {
            return Ok(());
        }
        if let Some(old) = large.take() {
            solver.forget(old);
        }
        if let Some(class) = class {
            solver.solve_class(class, &|_, _| ())?;
            *large = Some(class);
        }
        Ok(())
    }

    /// Whether the tables cover every material of up to `pieces` pieces without [`Source::prepare`].
    #[must_use]
    pub(crate) fn is_complete(&self, pieces: usize) -> bool {
        matches!(self, Source::Files(_)) || pieces <= MEMORY_PIECES
    }
}

impl Probe for Source {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        match self {
            Source::Files(tables) => tables.rules(),
            Source::Memory { solver, .. } => solver.rules(),
        }
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        match self {
            Source::Files(tables) => tables.value(position),
            Source::Memory { solver, .. } => {
                let Ok(value) = solver.value(position);
                Ok(value)
            }
        }
    }
}
