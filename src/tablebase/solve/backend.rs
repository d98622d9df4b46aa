//! The contract of what solves classes. Whoever implements [`Backend`] can fill whole sets of tables: the CPU, a
//! GPU, one of them where the other cannot, or something of your own.

use crate::board::ByColor;
use crate::tablebase::{ClassId, Classes, Index, MAX_PIECES, Material, Stats, Table};
use serde::Serialize;
use std::collections::HashSet;
use std::ops::AddAssign;
use std::path::PathBuf;
use std::sync::Mutex;
use thiserror::Error;

/// Why a material was not solved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SolveError {
    /// More pieces than are solved.
    #[error("{material} has {pieces} pieces; at most {MAX_PIECES} can be solved")]
    TooManyPieces {
        /// The material.
        material: Material,
        /// Its pieces.
        pieces: usize,
    },
    /// No memory for the planes of a class.
    #[error("there is no memory for another {bytes} bytes")]
    Memory {
        /// The bytes requested.
        bytes: usize,
    },
    /// A line that the program cannot count.
    #[error("{material} has a line longer than {plies} plies, which the program cannot count")]
    TooLong {
        /// The representative of the class.
        material: Material,
        /// The longest distance that can be counted.
        plies: u16,
    },
    /// No room for temporary files.
    #[error("the conversions of a class do not fit into {}: {what}", dir.display())]
    Disk {
        /// Where they were to go.
        dir: PathBuf,
        /// The error of the operating system.
        what: String,
    },
    /// The error of a backend.
    #[error("{reason}")]
    Backend {
        /// The representative of the class that it failed at; `None` if it is the backend as a whole that failed.
        material: Option<Material>,
        /// What went wrong.
        reason: String,
    },
    /// What takes the solved classes took no more; it has its own error.
    #[error("solving was stopped")]
    Stopped,
}

/// Classes to solve, and what they are solved from.
#[derive(Copy, Clone)]
pub struct Job<'a> {
    /// The classes to solve. All that captures lead to from them is solved.
    pub ids: &'a [ClassId],
    /// What the ids mean, and the rules.
    pub classes: &'a Classes,
    /// Whether to keep the values, or only the counts.
    pub values: bool,
    /// How many bytes the classes in work may take together. One class at least is always in work.
    pub memory: usize,
    /// The solved smaller classes, by class.
    pub(crate) tables: &'a [Option<Table>],
}

impl<'a> Job<'a> {
    /// The values of a smaller class; there for all that captures lead to.
    #[must_use]
    pub fn table(&self, id: ClassId) -> Option<&'a Table> {
        self.tables.get(id.0)?.as_ref()
    }

    /// The same for other classes.
    #[must_use]
    pub fn with<'b>(&self, ids: &'b [ClassId]) -> Job<'b>
    where
        'a: 'b,
    {
        Job { ids, ..*self }
    }

    /// The representative of a class.
    #[must_use]
    pub fn material(&self, id: ClassId) -> Material {
        self.classes.get(id).representative
    }
}

/// The counts of a class, and its values if they were to be kept.
#[derive(Clone, Debug)]
pub struct Solved {
    /// The counts, White and Black of the representative to move.
    pub stats: ByColor<Stats>,
    /// The values.
    pub table: Option<Table>,
}

/// Takes each class as soon as it is solved, from any thread. Its error is to be passed on.
pub type Sink<'a> = &'a (dyn Fn(ClassId, Solved) -> Result<(), SolveError> + Sync);

/// Solves classes.
///
/// The values of a class are those of all cells of its [`Index`], as codes (see
/// [`CellValue`](crate::tablebase::CellValue)): 0 where no position has the cell. They do not depend on who solves:
/// sets of tables made by two backends are the same, byte for byte.
pub trait Backend: Send + Sync {
    /// What it is, for people: a CPU, the name of a GPU.
    fn name(&self) -> String;

    /// Solves all classes of a job, in any order, and gives each to `sink`.
    ///
    /// # Errors
    /// What goes wrong ends the job; classes that `sink` took stay solved.
    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError>;

    /// Bytes of this machine's memory that solving a class takes besides the tables it reads.
    fn host_bytes(&self, index: &Index, values: bool) -> usize;

    /// What it counts of what it has done so far, if it does.
    fn work(&self) -> Option<DeviceWork> {
        None
    }

    /// The classes so far that another backend had to solve in its place, and why.
    fn taken_over(&self) -> &[(Material, SolveError)] {
        &[]
    }
}

impl<B: Backend + ?Sized> Backend for Box<B> {
    fn name(&self) -> String {
        (**self).name()
    }

    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
        (**self).solve(job, sink)
    }

    fn host_bytes(&self, index: &Index, values: bool) -> usize {
        (**self).host_bytes(index, values)
    }

    fn work(&self) -> Option<DeviceWork> {
        (**self).work()
    }

    fn taken_over(&self) -> &[(Material, SolveError)] {
        (**self).taken_over()
    }
}

/// One backend, and another that solves what the first cannot.
pub struct OrElse<A, B> {
    first: A,
    second: B,
    taken_over: Vec<(Material, SolveError)>,
}

impl<A: Backend, B: Backend> OrElse<A, B> {
    /// The first, else the second.
    #[must_use]
    pub fn new(first: A, second: B) -> OrElse<A, B> {
        OrElse { first, second, taken_over: Vec::new() }
    }
}

impl<A: Backend, B: Backend> Backend for OrElse<A, B> {
    fn name(&self) -> String {
        format!("{}, else {}", self.first.name(), self.second.name())
    }

    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
        let taken: Mutex<HashSet<ClassId>> = Mutex::default();
        let note = |id, solved| {
            sink(id, solved)?;
            taken.lock().unwrap_or_else(|e| e.into_inner()).insert(id);
            Ok(())
        };
        let mut ids = job.ids.to_vec();
        let mut left = Vec::new();
        while !ids.is_empty() {
            let error = match self.first.solve(&job.with(&ids), &note) {
                Ok(()) => break,
                Err(SolveError::Stopped) => return Err(SolveError::Stopped),
                Err(error) => error,
            };
            let taken = taken.lock().unwrap_or_else(|e| e.into_inner());
            ids.retain(|id| !taken.contains(id));
            // The class that it failed at, or if it does not say which, all that are left.
            let refused: Vec<ClassId> = match &error {
                SolveError::Backend { material: Some(m), .. } | SolveError::TooLong { material: m, .. }
                    if ids.iter().any(|&id| job.material(id) == *m) =>
                {
                    ids.extract_if(.., |id| job.material(*id) == *m).collect()
                }
                _ => std::mem::take(&mut ids),
            };
            self.taken_over.extend(refused.iter().map(|&id| (job.material(id), error.clone())));
            left.extend(refused);
        }
        if left.is_empty() { Ok(()) } else { self.second.solve(&job.with(&left), sink) }
    }

    fn host_bytes(&self, index: &Index, values: bool) -> usize {
        self.first.host_bytes(index, values)
    }

    fn work(&self) -> Option<DeviceWork> {
        self.first.work().or_else(|| self.second.work())
    }

    fn taken_over(&self) -> &[(Material, SolveError)] {
        &self.taken_over
    }
}

/// What a device has done.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceWork {
    /// Rows of 4096 cells, for one side to move.
    pub rows: u64,
    /// Rows that passes looked at, each as often as it was looked at.
    pub rows_looked_at: u64,
    /// Words with conversions of one depth.
    pub conversions: u64,
    /// The least that had to move between the device and its memory, in bytes: over its bandwidth, a floor of the time.
    pub bytes_moved: u64,
    /// The most of the device's memory that was taken at a time, in bytes, with the smaller classes' values.
    pub memory: u64,
    /// Bytes of smaller classes' values that were brought to the device; those that it solved itself are there already.
    pub sent: u64,
    /// Seconds that went into compiling its programs.
    pub compile_seconds: f64,
}

impl DeviceWork {
    /// What was done since; the memory is the most of all.
    #[must_use]
    pub fn since(&self, before: &DeviceWork) -> DeviceWork {
        DeviceWork {
            rows: self.rows - before.rows,
            rows_looked_at: self.rows_looked_at - before.rows_looked_at,
            conversions: self.conversions - before.conversions,
            bytes_moved: self.bytes_moved - before.bytes_moved,
            memory: self.memory,
            sent: self.sent - before.sent,
            compile_seconds: self.compile_seconds - before.compile_seconds,
        }
    }
}

impl AddAssign for DeviceWork {
    fn add_assign(&mut self, other: DeviceWork) {
        self.rows += other.rows;
        self.rows_looked_at += other.rows_looked_at;
        self.conversions += other.conversions;
        self.bytes_moved += other.bytes_moved;
        self.memory = self.memory.max(other.memory);
        self.sent += other.sent;
        self.compile_seconds += other.compile_seconds;
    }
}
