//! One class as a job: it takes no lock, reads nothing but what its captures lead to, and leaves alone what is there and
//! whole. Any number of jobs may share a directory; two that solve the same class write the same bytes.

use super::counts::{ClassCounts, Provenance};
use super::error::SetError;
use super::file::{Packing, TableFile, write};
use super::memory::MemoryLimit;
use super::peak;
use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::solve::cpu::pass::Outcome;
use crate::tablebase::solve::cpu::seeds::Captures;
use crate::tablebase::value::CellsMut;
use crate::tablebase::{ClassId, Classes, Material, MemoryNeed, Processor, ROW_CELLS, Room, Solved};
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
    /// Memory from the jobs before, for the next.
    pub room: Room,
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
        let processor = Processor::default().with_room(self.room.clone());
        let processor = if on_disk { processor.spilling(self.spill.to_owned()) } else { processor };
        let start = Instant::now();
        // What the allocator kept of the seeds of another class may be too much beside this one.
        let kept = peak::now().map_or(0, |bytes| (bytes as usize).saturating_sub(self.room.bytes()));
        if !limit.holds(need.spilled() + kept) {
            peak::trim();
        }
        peak::restart();
        let files = self.captures(&classes, &need)?;
        let iteration = processor.iteration(&classes, id, values);
        let mut memory = iteration.memory(files.iter().map(Capture::bytes).sum())?;
        let (first, last) = memory.split_at_mut(iteration.first_bytes());
        let planes = iteration.seed(&load(&files, last, classes.len())?, first)?;
        let Outcome { solved: Solved { stats, table }, deepest } = iteration.solve(planes, last)?;
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
    fn captures(&self, classes: &Classes, need: &MemoryNeed) -> Result<Vec<Capture>, SetError> {
        let sides = need.captures.iter().flat_map(|(&id, sides)| {
            let looked_up = Color::ALL.into_iter().filter(|&turn| sides[turn]);
            looked_up.map(move |turn| (id, turn))
        });
        let open = |(id, turn): (ClassId, Color)| {
            let class = classes.get(id);
            let path = TableFile::path(self.dir, class.representative);
            if !path.exists() {
                return Err(SetError::Missing { dir: self.dir.to_owned(), material: class.representative });
            }
            let file = TableFile::open(&path, &self.rules, class.representative)?;
            if file.stores(turn) { Ok(Capture { id, turn, file }) } else { Err(SetError::OneSided { path }) }
        };
        sides.map(open).collect()
    }
}

/// One side to move of a table that captures lead to.
struct Capture {
    id: ClassId,
    turn: Color,
    file: TableFile,
}

impl Capture {
    /// Bytes of its values.
    fn bytes(&self) -> usize {
        self.file.index().rows * ROW_CELLS * self.file.description().cell_bytes
    }
}

/// Reads the values into memory that is all zero.
fn load<'a>(files: &[Capture], memory: &'a mut [u8], classes: usize) -> Result<Captures<'a>, SetError> {
    let mut rest = memory;
    let parts = files.iter().map(|capture| {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(capture.bytes());
        rest = after;
        (capture, CellsMut::of(part, capture.file.description().cell_bytes))
    });
    let read = |(capture, cells): (&Capture, CellsMut<'a>)| {
        Ok((capture.id, capture.turn, capture.file.load_into(capture.turn, cells)?))
    };
    let read: Vec<_> = parts.collect::<Vec<_>>().into_par_iter().map(read).collect::<Result<_, SetError>>()?;
    Ok(Captures::some(classes, read))
}
