//! Solver internals for the benchmarks: one pass, the conversions, writing a file. Not part of the public API.

use super::{ClassId, Index, Material, SetError, SolveError, SolvedRows, Solver, TableFile};
use crate::board::{Color, Piece, Position, RuleOptions, Rules};
use crate::cpu::{CpuLevel, dispatch};
use crate::game::random::Random;
use crate::tablebase::solve::captures::Captures;
use crate::tablebase::solve::cpu::CpuBackend;
use crate::tablebase::solve::cpu::neighbours::Neighbours;
use crate::tablebase::solve::cpu::quiet::{QuietMoves, RowNeighbours};
use crate::tablebase::solve::cpu::row::Row;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::solve::cpu::task::{Iteration, Keep};
use crate::tablebase::solve::observer::Unobserved;
use crate::tablebase::store::write::ClassBlocks;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::path::Path;

/// `count` random positions of `pieces` pieces in which the game is not over, the same in every run.
#[must_use]
pub fn random_positions(pieces: usize, count: usize) -> Vec<Position> {
    let mut random = Random::new(1);
    let materials = Material::all(pieces);
    let rules = Rules::default();
    let mut position = || {
        let pieces: Vec<Piece> = random.choose(&materials)?.pieces().collect();
        random.placement(&pieces, &rules)
    };
    std::iter::repeat_with(&mut position).flatten().take(count).collect()
}

/// The quiet moves of one side of a material, and a plane of random bits to apply them to.
pub struct Pass {
    moves: QuietMoves,
    neighbours: Neighbours,
    plane: Vec<Row>,
}

impl Pass {
    /// The quiet moves of the side `color`.
    #[must_use]
    pub fn new(material: Material, color: Color, rules: &RuleOptions) -> Pass {
        let index = Index::new(material, rules).expect("a material to time has few pieces");
        let mut random = Pcg64::seed_from_u64(1);
        let plane = (0..index.rows).map(|_| Row(std::array::from_fn(|_| random.next_u64() >> 1))).collect();
        let moves = QuietMoves::new(&index, color, rules);
        let neighbours = Neighbours::new(&moves, &index, &Rows::all(&index)).expect("few pieces take little memory");
        Pass { moves, neighbours, plane }
    }

    /// Number of 64-bit words in the plane.
    #[must_use]
    pub fn words(&self) -> u64 {
        (self.plane.len() * size_of::<Row>() / 8) as u64
    }

    /// Runs one pass over the plane. The result depends on every word, so that the compiler removes none of the work.
    #[must_use]
    pub fn run(&self, level: CpuLevel) -> u64 {
        let pass = self;
        dispatch!(level, fn(pass: &Pass) -> u64 = reach)
    }
}

#[inline(always)]
fn reach(pass: &Pass) -> u64 {
    let (mut row_neighbours, mut out, mut sum) = (RowNeighbours::default(), Row::EMPTY, 0u64);
    for number in 0..pass.plane.len() {
        pass.neighbours.collect_row(number, |_| true, &mut row_neighbours);
        pass.moves.reach(&pass.plane, &row_neighbours, &RowNeighbours::default(), &mut out);
        sum = out.0.iter().fold(sum, |sum, word| sum ^ word);
    }
    sum
}

impl Solver {
    /// Finds the captures and den entries of a class. The classes that its captures lead to must be solved and kept.
    #[doc(hidden)]
    pub fn find_conversions(&self, id: ClassId) -> Result<(), SolveError> {
        let job = self.job(&[], false);
        let backend = CpuBackend::default();
        let iteration = Iteration::new(backend.task(self.classes(), id, Keep::Counts))?;
        let mut memory = iteration.memory(0)?;
        let (first, last) = memory.split_at_mut(iteration.first_bytes());
        iteration.start(&job.tables.read(last, &Unobserved)?, first).map(|_| ())
    }

    /// Writes a solved class to the directory `dir` as `dsq generate` does; does nothing if the class is not solved and
    /// kept.
    #[doc(hidden)]
    pub fn write(&self, id: ClassId, dir: &Path) -> Result<(), SetError> {
        let (Some(table), Some(stats)) = (self.table(id), self.class_stats(id)) else { return Ok(()) };
        let (class, rules) = (self.classes().get(id), self.classes().options());
        let values = SolvedRows::of_table(class.index(), rules, stats, table)?;
        let blocks = ClassBlocks::of(&values, stats, &Unobserved)?;
        Ok(blocks.write(&TableFile::path(dir, class.representative), class, rules, stats)?)
    }
}
