//! One class as a job: it takes no lock, reads nothing but what its captures lead to, and leaves alone what is there and
//! whole. Any number of jobs may share a directory; two that solve the same class write the same bytes.

use super::counts::{ClassCounts, Provenance};
use super::error::SetError;
use super::file::{Packing, TableFile, write};
use super::memory::MemoryLimit;
use super::peak;
use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::solve::cpu::pass::Outcome;
use crate::tablebase::{Cells, ClassId, Classes, Material, MemoryNeed, Processor, Solved, Table};
use rayon::prelude::*;
use std::path::Path;
use std::time::Instant;

/// One class to solve in a directory of tables.
#[derive(Clone, Debug)]
pub struct ClassJob<'a> {
    /// Where the tables are that captures lead to, and where this one goes.
    pub dir: &'a Path,
    /// The rules.
    pub rules: RuleOptions,
    /// A material of the class.
    pub material: Material,
    /// Keep nothing but the counts, in a file of their own in this directory.
    pub stats_only: Option<&'a Path>,
    /// The most memory to use.
    pub memory_gib: usize,
    /// Where seeds go that memory does not hold.
    pub spill: &'a Path,
    /// Who solves.
    pub provenance: Provenance,
}

/// What became of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum JobDone {
    /// It was there already, and whole.
    There(Material),
    /// It was solved now.
    Solved(Box<ClassCounts>),
}

impl ClassJob<'_> {
    /// Solves the class on the threads of the current rayon pool, unless it is there and whole.
    ///
    /// # Errors
    /// If a table that captures lead to is missing, damaged, of other rules or of one side only, memory is short, or the
    /// disk is full. Nothing is begun if memory is too short, and nothing is left half written.
    pub fn run(&self) -> Result<JobDone, SetError> {
        let classes = Classes::new(&self.rules, self.material.len());
        let missing = || SetError::TooFewPieces { material: self.material, pieces: classes.pieces() };
        let id = classes.member(self.material).ok_or_else(missing)?.class;
        let class = classes.get(id);
        let name = class.representative;
        let path = TableFile::path(self.dir, class.representative);
        if path.exists() {
            TableFile::open(&path, &self.rules, name)?.check()?;
            return Ok(JobDone::There(name));
        }
        if let Some(counts) = self.stats_only
            && ClassCounts::read(counts, &self.rules, name)?.is_some()
        {
            return Ok(JobDone::There(name));
        }
        let values = self.stats_only.is_none();
        let need = MemoryNeed::of_job(&classes, id, values);
        let limit = MemoryLimit::new(self.memory_gib);
        limit.check(name, need.spilled())?;
        let on_disk = !limit.holds(need.total());
        let processor = Processor::default();
        let processor = if on_disk { processor.spilling(self.spill.to_owned()) } else { processor };
        let start = Instant::now();
        peak::restart();
        let captures = self.captures(&classes, &need)?;
        let Outcome { solved: Solved { stats, table }, deepest } =
            processor.solve_owned(&classes, id, captures, values)?;
        let mut counts = ClassCounts::new(&self.rules, class, stats);
        let index = class.index();
        counts.deepest = ByColor::from_fn(|turn| Some(index.position(deepest[turn]?, turn)?.to_fen()));
        counts.seconds = start.elapsed().as_secs_f64();
        counts.bytes = if on_disk { need.spilled() } else { need.total() } as u64;
        counts.peak_bytes = peak::bytes();
        counts.threads = rayon::current_num_threads();
        counts.provenance = self.provenance.clone();
        match (table, self.stats_only) {
            (Some(table), _) => write(&path, &self.rules, name, &table, &counts.stats, Packing::FAST)?,
            (None, dir) => counts.write(dir.unwrap_or(self.dir))?,
        }
        Ok(JobDone::Solved(Box::new(counts)))
    }

    /// The tables that captures lead to, of each only the sides to move that are looked up.
    fn captures(&self, classes: &Classes, need: &MemoryNeed) -> Result<Vec<Option<Table>>, SetError> {
        let load = |(id, sides): (&ClassId, &ByColor<bool>)| {
            let class = classes.get(*id);
            let path = TableFile::path(self.dir, class.representative);
            if !path.exists() {
                return Err(SetError::Missing { dir: self.dir.to_owned(), material: class.representative });
            }
            let file = TableFile::open(&path, &self.rules, class.representative)?;
            let side = |turn: Color| match sides[turn] {
                false => Ok(Cells::Byte(Vec::new())),
                true if file.stores(turn) => Ok(file.load(turn)?),
                true => Err(SetError::OneSided { path: path.clone() }),
            };
            let cells = ByColor { white: side(Color::White)?, black: side(Color::Black)? };
            Ok((*id, Table { cells }))
        };
        let loaded: Vec<(ClassId, Table)> = need.captures.par_iter().map(load).collect::<Result<_, SetError>>()?;
        let mut tables = vec![None; classes.len()];
        loaded.into_iter().for_each(|(id, table)| tables[id.0] = Some(table));
        Ok(tables)
    }
}
