//! The interface of solvers for classes. Every implementation of [`Backend`] can fill whole sets of tables: the CPU, a
//! GPU, one with a fallback to another ([`OrElse`]), or a third party's.

use crate::board::{ByColor, RuleOptions};
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::values::SolvedRows;
use crate::tablebase::{ClassId, Classes, Index, Material, Stats, Table};
use serde::Serialize;
use std::collections::HashSet;
use std::ops::AddAssign;
use std::sync::Mutex;

/// A set of classes to solve, and the tables of the smaller classes.
#[derive(Copy, Clone)]
pub struct Job<'a> {
    /// The classes to solve. The classes that their captures lead to are solved.
    pub ids: &'a [ClassId],
    /// The classes that the ids refer to, with the rules.
    pub classes: &'a Classes,
    /// Whether to return the values besides the counts.
    pub values: bool,
    /// The memory limit in bytes for all classes that are solved at the same time. One class is solved even above it.
    pub memory: usize,
    /// By class, the tables of the solved smaller classes.
    pub(crate) tables: &'a [Option<Table>],
    /// See [`begin`](Job::begin).
    pub(crate) begun: &'a (dyn Fn(ClassId) + Sync),
}

impl<'a> Job<'a> {
    /// The values of a smaller class. Present for every class that captures lead to.
    ///
    /// After a capture, [`Classes::member`] names the class of the pieces that are left, and a [`MaterialTable`] of its table has
    /// their value by their squares:
    ///
    /// ```
    /// use doushouqi::board::{Color, Square};
    /// use doushouqi::tablebase::{CellValue, Job, Material, MaterialTable};
    ///
    /// fn value(job: &Job<'_>, left: Material, squares: &[Square], turn: Color) -> Option<CellValue> {
    ///     let table = job.table(job.classes.member(left)?.class)?;
    ///     MaterialTable::new(job.classes, table, left)?.value(squares, turn)
    /// }
    /// ```
    ///
    /// [`MaterialTable`]: crate::tablebase::MaterialTable
    #[must_use]
    pub fn table(&self, id: ClassId) -> Option<&'a Table> {
        self.tables.get(id.0)?.as_ref()
    }

    /// Tells whoever shows the progress that the backend begins to solve a class.
    pub fn begin(&self, id: ClassId) {
        (self.begun)(id);
    }

    /// The same job for the classes `ids`.
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

/// The counts of a class, and its values if [`Job::values`] is set.
#[derive(Debug)]
pub struct Solved {
    /// The counts, with White and Black of the representative to move.
    pub stats: ByColor<Stats>,
    /// For each side to move the first cell with the longest distance, if the backend knows it.
    pub deepest: ByColor<Option<usize>>,
    /// The values.
    pub values: Option<SolvedRows>,
}

impl Solved {
    /// The result for the class with the index `index` under these rules, whose values are those of `table`.
    ///
    /// # Errors
    /// If the table has another number of cells than the class, or its values have other counts than `stats`.
    pub fn of_table(
        index: Index,
        rules: &RuleOptions,
        stats: ByColor<Stats>,
        table: &Table,
    ) -> Result<Solved, SolveError> {
        let values = Some(SolvedRows::of_table(index, rules, &stats, table)?);
        Ok(Solved { stats, deepest: ByColor::default(), values })
    }

    /// The values of all rows in memory; `None` if only the counts are known.
    ///
    /// # Errors
    /// If the memory cannot be allocated.
    pub fn table(&self) -> Result<Option<Table>, SolveError> {
        self.values.as_ref().map(SolvedRows::table).transpose()
    }
}

/// A callback that receives each class as soon as it is solved, on any thread. The backend must return its error.
pub type Sink<'a> = &'a (dyn Fn(ClassId, Solved) -> Result<(), SolveError> + Sync);

/// The part of a backend's work that the threads of the current rayon pool may do.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum OnCpu {
    /// None of it.
    Nothing,
    /// The classes at which a device fails.
    Fallback,
    /// All of it.
    Everything,
}

/// Solves classes.
///
/// The values of a class are the codes of the cells of its [`Index`] (see [`CellValue`](crate::tablebase::CellValue)),
/// with 0 for cells without a position. They do not depend on the backend: sets of tables from two backends are equal
/// byte for byte.
pub trait Backend: Send + Sync {
    /// The name for users, for instance the name of a GPU.
    fn name(&self) -> String;

    /// Solves all classes of a job, in any order, and passes each to `sink`.
    ///
    /// # Errors
    /// The first error ends the job. Classes that `sink` has accepted stay solved.
    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError>;

    /// Bytes of host memory that solving a class takes in addition to the tables that it reads and the table that is made of
    /// its values.
    fn host_bytes(&self, classes: &Classes, id: ClassId, values: bool) -> usize;

    /// The part of the work that the CPU may do. Classes that do not fit into memory may then be solved without the backend,
    /// with temporary files.
    fn on_cpu(&self) -> OnCpu {
        OnCpu::Nothing
    }

    /// Counters of the work done so far; `None` if the backend has no counters.
    fn work(&self) -> Option<DeviceWork> {
        None
    }

    /// The classes that a fallback has solved so far, each with the reason.
    fn fallbacks(&self) -> &[(Material, SolveError)] {
        &[]
    }

    /// Adds a class to the [`fallbacks`](Backend::fallbacks) that is solved without the backend.
    fn left_to_cpu(&mut self, _material: Material, _reason: SolveError) {}
}

impl<B: Backend + ?Sized> Backend for Box<B> {
    fn name(&self) -> String {
        (**self).name()
    }

    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
        (**self).solve(job, sink)
    }

    fn host_bytes(&self, classes: &Classes, id: ClassId, values: bool) -> usize {
        (**self).host_bytes(classes, id, values)
    }

    fn on_cpu(&self) -> OnCpu {
        (**self).on_cpu()
    }

    fn work(&self) -> Option<DeviceWork> {
        (**self).work()
    }

    fn fallbacks(&self) -> &[(Material, SolveError)] {
        (**self).fallbacks()
    }

    fn left_to_cpu(&mut self, material: Material, reason: SolveError) {
        (**self).left_to_cpu(material, reason);
    }
}

/// A backend with a fallback: `second` solves the classes at which `first` fails.
pub struct OrElse<A, B> {
    first: A,
    second: B,
    fallbacks: Vec<(Material, SolveError)>,
}

impl<A: Backend, B: Backend> OrElse<A, B> {
    /// A backend that solves with `first` and falls back to `second`.
    #[must_use]
    pub fn new(first: A, second: B) -> OrElse<A, B> {
        OrElse { first, second, fallbacks: Vec::new() }
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
            // The class at which it failed, or all remaining classes if the error names none.
            let refused: Vec<ClassId> = match &error {
                SolveError::Backend { material: Some(m), .. } | SolveError::TooLong { material: m, .. }
                    if ids.iter().any(|&id| job.material(id) == *m) =>
                {
                    ids.extract_if(.., |id| job.material(*id) == *m).collect()
                }
                _ => std::mem::take(&mut ids),
            };
            self.fallbacks.extend(refused.iter().map(|&id| (job.material(id), error.clone())));
            left.extend(refused);
        }
        if left.is_empty() { Ok(()) } else { self.second.solve(&job.with(&left), sink) }
    }

    fn on_cpu(&self) -> OnCpu {
        match (self.first.on_cpu(), self.second.on_cpu()) {
            (OnCpu::Nothing, OnCpu::Nothing) => OnCpu::Nothing,
            (OnCpu::Everything, _) => OnCpu::Everything,
            _ => OnCpu::Fallback,
        }
    }

    /// The larger need of the two.
    fn host_bytes(&self, classes: &Classes, id: ClassId, values: bool) -> usize {
        self.first.host_bytes(classes, id, values).max(self.second.host_bytes(classes, id, values))
    }

    fn work(&self) -> Option<DeviceWork> {
        self.first.work().or_else(|| self.second.work())
    }

    fn fallbacks(&self) -> &[(Material, SolveError)] {
        &self.fallbacks
    }

    fn left_to_cpu(&mut self, material: Material, reason: SolveError) {
        self.fallbacks.push((material, reason));
    }
}

/// Counters of a device's work.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceWork {
    /// Rows that were solved, of both sides to move.
    pub rows: u64,
    /// Rows that passes visited, counting every visit.
    pub row_visits: u64,
    /// Words of 8 bytes that the conversions took.
    pub conversions: u64,
    /// Lower bound of the memory traffic of the device in bytes; divided by the bandwidth, a lower bound of the time.
    pub bytes_moved: u64,
    /// Planned peak use of the device's memory in bytes, with the values of the smaller classes.
    pub memory: u64,
    /// Bytes of smaller classes' values copied to the device.
    pub sent: u64,
    /// Seconds spent compiling the device's programs.
    pub compile_seconds: f64,
}

impl DeviceWork {
    /// The difference to an earlier state of the counters; `memory` stays the peak of the whole run.
    #[must_use]
    pub fn since(&self, before: &DeviceWork) -> DeviceWork {
        DeviceWork {
            rows: self.rows - before.rows,
            row_visits: self.row_visits - before.row_visits,
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
        self.row_visits += other.row_visits;
        self.conversions += other.conversions;
        self.bytes_moved += other.bytes_moved;
        self.memory = self.memory.max(other.memory);
        self.sent += other.sent;
        self.compile_seconds += other.compile_seconds;
    }
}
