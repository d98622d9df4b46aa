//! The task of solving one class: what is solved, what is kept, who observes it, and the data that all passes read.

use crate::board::{ByColor, Color};
use crate::cpu::CpuLevel;
use crate::tablebase::Material;
use crate::tablebase::class::Classes;
use crate::tablebase::index::Index;
use crate::tablebase::solve::cpu::conversions::Conversions;
use crate::tablebase::solve::cpu::neighbours::Neighbours;
use crate::tablebase::solve::cpu::pool::{Block, BufferPool};
use crate::tablebase::solve::cpu::quiet::QuietMoves;
use crate::tablebase::solve::cpu::row::Row;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::observer::Observer;
use crate::tablebase::solve::watch::Watch;
use std::path::Path;
use std::sync::Arc;

/// The values to keep while a class is solved.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keep<'a> {
    /// No values, only the counts.
    Counts,
    /// The values of both sides to move, as change logs, which are replayed once the class is solved: in this directory, or
    /// in memory.
    Log(Option<&'a Path>),
}

/// The input for solving one class.
#[derive(Clone)]
pub(crate) struct Task<'a> {
    pub material: Material,
    pub classes: &'a Classes,
    pub keep: Keep<'a>,
    pub level: CpuLevel,
    /// The directory for the conversions; `None` to keep them in memory.
    pub spill: Option<&'a Path>,
    /// The most rows of a range, so that an entry can number their words.
    pub range_rows: usize,
    /// The pool that the memory of the planes comes from.
    pub pool: BufferPool,
    pub observer: &'a dyn Observer,
    /// Cells whose values are noted, although they may not be kept.
    pub watch: Option<&'a Watch>,
}

/// A class being solved.
pub(crate) struct Iteration<'a> {
    pub(super) task: Task<'a>,
    pub(super) index: Index,
    /// The rows that are solved. Planes contain only these.
    pub(super) rows: Arc<Rows>,
    pub(super) quiet: ByColor<QuietMoves>,
    pub(super) neighbours: ByColor<Neighbours>,
    pub(super) conversions: ByColor<Conversions>,
}

impl<'t> Iteration<'t> {
    /// Prepares the iteration on a class; reads no smaller tables.
    ///
    /// # Errors
    /// If the memory cannot be allocated.
    pub(crate) fn new(task: Task<'t>) -> Result<Iteration<'t>, SolveError> {
        let options = task.classes.options();
        let index = Index::new(task.material, options).expect("no class has more pieces than an index");
        let rows = Arc::new(Rows::new(&index, options));
        let quiet = ByColor::from_fn(|color| QuietMoves::new(&index, color, options));
        let lists = |color| Neighbours::new(&quiet[color], &index, &rows);
        Ok(Iteration {
            neighbours: ByColor { white: lists(Color::White)?, black: lists(Color::Black)? },
            conversions: ByColor::from_fn(|color| Conversions::new(&index, color, task.classes)),
            quiet,
            rows,
            task,
            index,
        })
    }

    /// The memory for the planes, with any contents. The last plane is needed only after the captures are freed, so its
    /// memory may first contain `captures` bytes of captures.
    ///
    /// # Errors
    /// If the memory cannot be allocated.
    pub(crate) fn memory(&self, captures: usize) -> Result<Block, SolveError> {
        self.task.pool.block(self.first_bytes() + captures.max(self.plane_bytes()))
    }

    /// Bytes of all planes except the last.
    pub(crate) fn first_bytes(&self) -> usize {
        5 * self.plane_bytes()
    }

    pub(super) fn plane_bytes(&self) -> usize {
        self.rows.len() * size_of::<Row>()
    }
}
