//! Classes with one piece more than a set of tables, counted when a value is needed.

use super::class_cache::ClassCache;
use super::error::OnDemandError;
use crate::board::Position;
use crate::tablebase::address::{Address, Addresser, ClassSquares};
use crate::tablebase::solve::needs::most_file_bytes;
use crate::tablebase::solve::progress::{CountPhase, CountProgress, Follow, Reporter};
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::exact::ExactTables;
use crate::tablebase::store::forecast::disk_free;
use crate::tablebase::store::job::{Made, Work};
use crate::tablebase::store::peak;
use crate::tablebase::store::table_error::TableError;
use crate::tablebase::{BufferPool, CellValue, ClassId, Classes, Material, MemoryNeed, SolveError, TableSet};
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The interval at which a process checks whether another process has finished its count.
const WAIT: Duration = Duration::from_millis(100);

/// The cache of counted classes, and the memory of a count.
#[derive(Clone, Debug)]
pub struct CountCache {
    /// The directory.
    pub dir: PathBuf,
    /// The most bytes of all files.
    pub size: u64,
    /// The most bytes of memory of a count; all available memory if `None`.
    pub memory: Option<usize>,
}

/// The memory and disk space that counting a class takes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountNeed {
    /// The representative of the class.
    pub class: Material,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// The most bytes on the disk of the cache, including temporary files.
    pub disk_bytes: u64,
    /// The most bytes of the files that stay in the cache, which are part of `disk_bytes`: the table of the class, and those
    /// that are made of repacked ones.
    pub file_bytes: u64,
    /// Whether temporary files are written because not everything fits into memory.
    pub spills: bool,
}

/// Counts the classes with one piece more than tables on disk, under the rules of the tables, and keeps their tables in a
/// cache. What the numbers of cells mean depends on the metric of the tables.
pub struct ClassCounter {
    pub(super) tables: Arc<TableSet>,
    /// The classes of up to one piece more than the tables.
    pub(super) classes: Classes,
    pub(super) addresser: Addresser,
    pub(super) cache: ClassCache,
    /// The most bytes of memory of a count.
    memory: usize,
}

impl CountNeed {
    /// The needs of this count and of `next` after it.
    #[must_use]
    pub fn then(self, next: CountNeed) -> CountNeed {
        CountNeed {
            class: next.class,
            memory_bytes: self.memory_bytes.max(next.memory_bytes),
            disk_bytes: self.disk_bytes.max(self.file_bytes + next.disk_bytes),
            file_bytes: self.file_bytes + next.file_bytes,
            spills: self.spills || next.spills,
        }
    }
}

impl ClassCounter {
    pub(in crate::tablebase::store) fn new(
        tables: Arc<TableSet>,
        &CountCache { ref dir, size, memory }: &CountCache,
    ) -> Result<ClassCounter, OnDemandError> {
        let options = *tables.rules().options();
        let classes = Classes::new(&options, tables.classes().pieces() + 1);
        let (cache, memory) = (ClassCache::open(dir, size, &options)?, memory.unwrap_or(usize::MAX));
        Ok(ClassCounter { addresser: Addresser::new(&classes), tables, classes, cache, memory })
    }

    /// The most pieces of a position that can be answered.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.classes.pieces()
    }

    /// The representative of the class that would be counted for a position; `None` if the tables contain the class or
    /// the game is over.
    ///
    /// # Errors
    /// If the position has too many pieces.
    pub fn class(&self, position: &Position) -> Result<Option<Material>, OnDemandError> {
        check_size(position, self.pieces())?;
        Ok(self.counted_class(position).map(|id| self.classes.get(id).representative))
    }

    /// The needs of counting the class of a position; `None` if the tables or the cache contain the class.
    ///
    /// # Errors
    /// If the position has too many pieces, a table that captures lead to is missing, or the memory or the disk does not
    /// suffice.
    pub fn need(&self, position: &Position) -> Result<Option<CountNeed>, OnDemandError> {
        let Some(id) = self.uncounted(position)? else { return Ok(None) };
        self.check_need(id).map(Some)
    }

    /// Counts the class of a position on the threads of the current rayon pool, unless the tables or the cache contain it.
    /// Waits while another process counts in the same cache.
    ///
    /// # Errors
    /// As [`need`](ClassCounter::need), or if the count is cancelled or fails.
    pub fn count(&self, position: &Position, follow: Follow<'_>) -> Result<(), OnDemandError> {
        let _lock = loop {
            if self.uncounted(position)?.is_none() {
                return Ok(());
            }
            if let Some(lock) = self.cache.lock()? {
                break lock;
            }
            cancelled(follow(CountProgress { phase: CountPhase::Waiting, fraction: 0.0, depth: 0 }))?;
            std::thread::sleep(WAIT);
        };
        // The process that held the lock has released its memory and disk space, and may have counted this class.
        let Some(need) = self.need(position)? else { return Ok(()) };
        self.cache.free_space(need.class, need.file_bytes)?;
        cancelled(follow(CountProgress { phase: CountPhase::Reading, fraction: 0.0, depth: 0 }))?;
        self.count_class(need, follow)
    }

    fn count_class(&self, need: CountNeed, follow: Follow<'_>) -> Result<(), OnDemandError> {
        let id = self.classes.member(need.class).expect("it is one of the classes").class;
        let memory = need.memory_bytes as usize;
        let solve = || -> Result<(), SetError> {
            let reporter = Reporter::new(follow);
            let work = Work {
                tables: self.exact_tables(memory),
                id,
                values: true,
                memory,
                spill: self.cache.dir(),
                pool: BufferPool::default(),
                observer: &reporter,
                watch: None,
            };
            let Made { stats, blocks, .. } = work.solve(None)?;
            let (class, path) = (self.classes.get(id), self.cache.path(need.class));
            blocks.map_or(Ok(()), |blocks| blocks.write(&path, class, self.classes.options(), &stats))?;
            Ok(())
        };
        match solve() {
            Err(SetError::Solve(SolveError::Stopped)) => Err(OnDemandError::Cancelled),
            done => Ok(done?),
        }
    }

    /// The tables that counts read, within a memory limit.
    fn exact_tables(&self, memory: usize) -> ExactTables<'_> {
        ExactTables { classes: &self.classes, dir: self.tables.dir(), restored: self.cache.dir(), memory }
    }

    /// The needs of a count within the available memory and disk space.
    fn check_need(&self, id: ClassId) -> Result<CountNeed, OnDemandError> {
        let class = self.classes.get(id).representative;
        let plan = MemoryNeed::of_job(&self.classes, id, true);
        let captures: Vec<ClassId> = plan.captures.keys().copied().collect();
        let restored = self.exact_tables(self.memory).missing_bytes(id, &captures)?;
        let available = peak::available().map_or(usize::MAX, |bytes| bytes as usize).min(self.memory);
        let memory = plan.request(available);
        if memory > available {
            return Err(OnDemandError::Memory { material: class, needed: memory as u64, available: available as u64 });
        }
        let (file_bytes, temporary) = (restored + most_file_bytes(&self.classes, id), plan.temporary_bytes(memory));
        let disk_bytes = file_bytes + temporary;
        let dir = self.cache.dir();
        if file_bytes > self.cache.size() {
            return Err(OnDemandError::Cache { material: class, needed: file_bytes, size: self.cache.size() });
        }
        if let Some(free) = disk_free(dir).filter(|&free| free < disk_bytes) {
            return Err(OnDemandError::Disk { material: class, dir: dir.to_owned(), needed: disk_bytes, free });
        }
        Ok(CountNeed { class, memory_bytes: memory as u64, disk_bytes, file_bytes, spills: temporary > 0 })
    }

    /// The class of a position that the tables do not cover.
    pub(in crate::tablebase::store) fn counted_class(&self, position: &Position) -> Option<ClassId> {
        let Address { class, .. } = self.addresser.locate(position)?;
        (!self.has_table(class)).then_some(class)
    }

    /// Whether the tables contain a class. Classes have the same ids in `classes` and in the tables.
    pub(super) fn has_table(&self, class: ClassId) -> bool {
        let known = class.index() < self.tables.classes().len();
        known && !matches!(self.tables.file(class), Err(SetError::Missing { .. }))
    }

    /// The class of a position that neither the tables nor the cache contain.
    fn uncounted(&self, position: &Position) -> Result<Option<ClassId>, OnDemandError> {
        check_size(position, self.pieces())?;
        let Some(id) = self.counted_class(position) else { return Ok(None) };
        Ok(self.cache.get(self.classes.get(id).representative)?.is_none().then_some(id))
    }

    /// The value of a position in the tables or in the cache; `None` if the game is over.
    ///
    /// # Errors
    /// If a table cannot be read, or is damaged. A damaged file in the cache counts as not counted from then on.
    pub(in crate::tablebase::store) fn known_cell(&self, position: &Position) -> Result<Option<CellValue>, SetError> {
        let Some(ClassSquares { class, turn, squares }) = self.addresser.squares(position) else { return Ok(None) };
        if self.has_table(class) {
            return self.tables.look_up(position, None);
        }
        let Some(file) = self.cache.get(self.classes.get(class).representative)? else { return Ok(None) };
        let value = file.value(turn, squares);
        if matches!(value, Err(TableError::Damaged { .. })) {
            self.cache.mark_damaged(&file);
        }
        Ok(value?)
    }

    /// Whether a file is in the cache.
    pub(in crate::tablebase::store) fn keeps(&self, path: &Path) -> bool {
        path.parent() == Some(self.cache.dir())
    }
}

pub(super) fn check_size(position: &Position, most: usize) -> Result<(), OnDemandError> {
    let pieces = position.pieces().count();
    if pieces > most { Err(OnDemandError::TooManyPieces { pieces, most }) } else { Ok(()) }
}

fn cancelled(flow: ControlFlow<()>) -> Result<(), OnDemandError> {
    if flow.is_break() { Err(OnDemandError::Cancelled) } else { Ok(()) }
}
