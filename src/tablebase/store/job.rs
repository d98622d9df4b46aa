//! One class as a job: it takes no lock, reads nothing but what its captures lead to, and leaves alone what is there and
//! whole. Any number of jobs may share a directory; two that solve the same class write the same bytes.

use super::counts::{ClassCounts, Provenance};
use super::error::SetError;
use super::file::{Packing, TableError, TableFile, write};
use super::memory::MemoryLimit;
use super::parts::Parts;
use super::peak;
use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::solve::cpu::conversions::Captures;
use crate::tablebase::solve::cpu::pass::{Keep, Outcome};
use crate::tablebase::value::CellsMut;
use crate::tablebase::{BufferPool, ClassId, Classes, CpuBackend, Material, MemoryNeed, ROW_CELLS, Solved};
use rayon::prelude::*;
use std::ops::Range;
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
    /// The most memory to use, in bytes.
    pub memory: usize,
    /// Where conversions go that memory does not hold.
    pub spill: &'a Path,
    /// Who solves.
    pub provenance: Provenance,
    /// Memory from the jobs before, for the next.
    pub pool: BufferPool,
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
        // A table replaces the counts in its own directory only.
        if path.exists() && self.stats_only.is_none_or(|counts| counts == self.dir) {
            TableFile::open(&path, &self.rules, name)?.check()?;
            return Ok(JobDone::There(name));
        }
        if let Some(counts) = self.stats_only
            && ClassCounts::read(counts, &self.rules, name)?.is_some()
        {
            return Ok(JobDone::There(name));
        }
        self.solve(&classes, id, &path, MemoryLimit::new(self.memory))
    }

    /// Solves the class within so much memory.
    fn solve(&self, classes: &Classes, id: ClassId, path: &Path, limit: MemoryLimit) -> Result<JobDone, SetError> {
        let class = classes.get(id);
        let name = class.representative;
        let values = self.stats_only.is_none();
        let need = MemoryNeed::of_job(classes, id, values);
        limit.check(name, need.spilled())?;
        let on_disk = !limit.holds(need.total());
        let processor = CpuBackend::default().with_pool(self.pool.clone());
        let processor = if on_disk { processor.spilling(self.spill.to_owned()) } else { processor };
        let start = Instant::now();
        // What the allocator kept of the conversions of another class may be too much beside this one.
        let kept = peak::now().map_or(0, |bytes| (bytes as usize).saturating_sub(self.pool.bytes()));
        if !limit.holds(need.spilled() + kept) {
            peak::trim();
        }
        peak::restart();
        let work = Work { classes, id, files: self.captures(classes, &need)?, processor };
        let (Outcome { solved: Solved { stats, table }, deepest, .. }, packed) = if values && on_disk {
            let (outcome, packed) = work.in_parts(&need, limit, &self.rules, path)?;
            (outcome, Some(packed))
        } else {
            (work.once(if values { Keep::All } else { Keep::Counts })?.0, None)
        };
        let mut counts = ClassCounts::new(&self.rules, class, stats);
        let index = class.index();
        counts.deepest = ByColor::from_fn(|turn| Some(index.position(deepest[turn]?, turn)?.to_fen()));
        if let Some(table) = &table {
            write(path, &self.rules, name, table, &counts.stats, Packing::FAST)?;
        } else if let Some(packed) = &packed {
            write(path, &self.rules, name, packed, &counts.stats, Packing::FAST)?;
        }
        counts.seconds = start.elapsed().as_secs_f64();
        counts.bytes = need.within(|bytes| limit.holds(bytes)) as u64;
        counts.peak_bytes = peak::bytes();
        counts.threads = rayon::current_num_threads();
        counts.provenance = self.provenance.clone();
        if let Some(dir) = self.stats_only {
            counts.write(dir)?;
        }
        Ok(JobDone::Solved(Box::new(counts)))
    }

    fn missing_capture(&self, capture: Material) -> SetError {
        let rules = match self.rules.table_spelling() {
            rules if rules == RuleOptions::PAPER.table_spelling() => String::new(),
            rules => format!(" --rules {rules}"),
        };
        let command = format!("dsq cluster solve {capture} --tables {}{rules}", self.dir.display());
        SetError::MissingCapture { dir: self.dir.to_owned(), class: self.material, capture, command }
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
                return Err(self.missing_capture(class.representative));
            }
            let file = TableFile::open(&path, &self.rules, class.representative)?;
            if file.stores(turn) { Ok(Capture { id, turn, file }) } else { Err(SetError::OneSided { path }) }
        };
        sides.map(open).collect()
    }
}

/// A class in work.
struct Work<'a> {
    classes: &'a Classes,
    id: ClassId,
    /// The tables that captures lead to.
    files: Vec<Capture>,
    processor: CpuBackend,
}

impl Work<'_> {
    /// Solves the class; of each side to move the rows whose values are kept.
    fn once(&self, keep: Keep) -> Result<(Outcome, ByColor<Range<usize>>), SetError> {
        let iteration = self.processor.iteration(self.classes, self.id, keep);
        let mut memory = iteration.memory(self.files.iter().map(Capture::bytes).sum())?;
        let (first, last) = memory.split_at_mut(iteration.first_bytes());
        let planes = iteration.start(&load(&self.files, last, self.classes.len())?, first)?;
        let outcome = iteration.solve(planes, last)?;
        Ok((outcome, ByColor::from_fn(|color| iteration.kept_rows(color))))
    }

    /// Solves the class as often as it takes to have all values in parts that memory holds.
    fn in_parts(
        &self,
        need: &MemoryNeed,
        limit: MemoryLimit,
        rules: &RuleOptions,
        path: &Path,
    ) -> Result<(Outcome, Parts), SetError> {
        let of = |cell_bytes| need.parts(cell_bytes, |bytes| limit.holds(bytes));
        if let Some(solved) = self.in_cells(1, of(1), rules, path)? {
            return Ok(solved);
        }
        Ok(self.in_cells(2, of(2), rules, path)?.expect("two bytes hold every line"))
    }

    /// The same in so many parts, of cells of so many bytes; `None` if a line is too long for these.
    fn in_cells(
        &self,
        cell_bytes: usize,
        of: usize,
        rules: &RuleOptions,
        path: &Path,
    ) -> Result<Option<(Outcome, Parts)>, SetError> {
        let mut parts = Parts::new(self.classes.get(self.id).representative, rules);
        let mut last = None;
        for (color, part) in Color::ALL.into_iter().flat_map(|color| (0..of).map(move |part| (color, part))) {
            let (mut outcome, rows) = self.once(Keep::Part { color, part, of, cell_bytes })?;
            match outcome.part.take() {
                Some(cells) => parts.push(color, rows[color].clone(), &cells).map_err(TableError::io(path))?,
                None if rows[color].is_empty() => {}
                None => return Ok(None),
            }
            parts.set_deepest(outcome.deepest);
            last = Some(outcome);
        }
        Ok(last.map(|outcome| (outcome, parts)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A class whose values do not fit is solved part by part, to the same bytes.
    #[test]
    fn values_in_parts_are_the_same_file() {
        let (all, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let rules = RuleOptions::PAPER;
        let job = |dir, material| ClassJob {
            dir,
            rules,
            material,
            stats_only: None,
            memory: 4 << 30,
            spill: parts.path(),
            provenance: Provenance::default(),
            pool: BufferPool::default(),
        };
        let classes = Classes::new(&rules, 4);
        for pieces in 2..=3 {
            for (id, class) in classes.level(pieces) {
                job(all.path(), class.representative).run().unwrap();
                let [whole, path] = [&all, &parts].map(|dir| TableFile::path(dir.path(), class.representative));
                if pieces == 3 && id.0 % 7 == 0 {
                    solve_in_parts(&job(parts.path(), class.representative), &classes, id, &path);
                    assert!(fs::read(&whole).unwrap() == fs::read(&path).unwrap(), "{}", class.representative);
                } else {
                    fs::copy(&whole, &path).unwrap();
                }
            }
        }
        for name in ["EPvLR", "ERvPR", "LTvCD", "EvLPR", "RvR", "CDWvR"] {
            let material: Material = name.parse().unwrap();
            let id = classes.member(material).unwrap().class;
            let name = classes.get(id).representative;
            let [whole, path] = [&all, &parts].map(|dir| TableFile::path(dir.path(), name));
            job(all.path(), name).run().unwrap();
            solve_in_parts(&job(parts.path(), name), &classes, id, &path);
            assert!(fs::read(&whole).unwrap() == fs::read(&path).unwrap(), "{name}");
        }
    }

    fn solve_in_parts(job: &ClassJob<'_>, classes: &Classes, id: ClassId, path: &Path) {
        let least = MemoryNeed::of_job(classes, id, true).spilled();
        let limit = MemoryLimit::new(least);
        let refused = job.solve(classes, id, path, MemoryLimit::new(least - 1));
        assert!(matches!(refused, Err(SetError::Memory { .. })), "{refused:?}");
        let JobDone::Solved(counts) = job.solve(classes, id, path, limit).unwrap() else { panic!("it is there") };
        assert!(counts.bytes <= least as u64);
    }
}
