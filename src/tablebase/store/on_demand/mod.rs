//! Values of positions with one piece more than the tables, by a short forward search or by solving the whole class. A
//! cache keeps the tables of counted classes.

mod class_cache;
mod distance;
mod dtz;
mod error;
#[cfg(test)]
mod tests;

use super::error::SetError;
use super::exact::ExactTables;
use super::forecast::disk_free;
use super::job::{Made, Work};
use super::peak;
use super::table_error::TableError;
use crate::board::{Move, Position, Rules};
use crate::tablebase::address::{Address, Addresser, ClassSquares};
use crate::tablebase::solve::needs::most_file_bytes;
use crate::tablebase::solve::progress::{CountPhase, CountProgress, Follow, Reporter};
use crate::tablebase::{
    BufferPool, CellValue, ClassId, Classes, Material, MemoryNeed, Probe, SolveError, TableProber, Value,
};
use class_cache::ClassCache;
use distance::{Distances, Probed, Stop};
pub use dtz::DtzOnDemand;
pub use error::OnDemandError;
use serde::Serialize;
use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

/// The limits of the forward search before a count: the longest line in plies, and the most positions to visit. The
/// search takes less than a second.
const SEARCH_PLIES: u16 = 11;
const SEARCH_BUDGET: usize = 20_000;

/// The interval at which a process checks whether another process has finished its count.
const WAIT: Duration = Duration::from_millis(100);

/// Probes tables on disk, and counts classes with one piece more when a probe needs them.
///
/// As a [`Probe`] it covers the tables and the classes in the cache. A class whose file in the cache is damaged counts as
/// not counted; a count replaces the file. [`probe_now`](OnDemand::probe_now) also searches,
/// and [`probe`](OnDemand::probe) also counts missing classes.
pub struct OnDemand {
    tables: TableProber,
    /// The classes of up to one piece more than the tables.
    classes: Classes,
    addresser: Addresser,
    cache: ClassCache,
    /// The most bytes of memory of a count.
    memory: usize,
}

/// The source of an answer.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerSource {
    /// The tables on disk.
    Tables,
    /// A forward search that ends in the tables.
    Search,
    /// The table of a counted class.
    Cache,
}

/// The value of a position and of its moves.
#[derive(Clone, Debug, PartialEq)]
pub struct OnDemandAnswer {
    /// The value of the position.
    pub value: Value,
    /// The legal moves with their values for the side that makes them, best first. A search that has found the value of the
    /// position does not determine the values of moves that are no better (`None`); they come last.
    pub moves: Vec<(Move, Option<Value>)>,
    /// The source of the answer.
    pub source: AnswerSource,
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

impl OnDemand {
    /// Counts classes from these tables, with a cache in `dir` of up to `size` bytes. Creates the directory if it does
    /// not exist.
    ///
    /// # Errors
    /// If the directory cannot be created.
    pub fn new(tables: TableProber, dir: &Path, size: u64) -> Result<OnDemand, OnDemandError> {
        let options = *tables.rules().options();
        let classes = Classes::new(&options, tables.set().classes().pieces() + 1);
        let cache = ClassCache::open(dir, size, &options)?;
        Ok(OnDemand { addresser: Addresser::new(&classes), tables, classes, cache, memory: usize::MAX })
    }

    /// Limits the memory of counts to `bytes`. Without this limit they use the available memory.
    #[must_use]
    pub fn with_memory(self, bytes: usize) -> OnDemand {
        OnDemand { memory: bytes, ..self }
    }

    /// The tables.
    #[must_use]
    pub fn tables(&self) -> &TableProber {
        &self.tables
    }

    /// The most pieces of a position that can be answered.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.classes.pieces()
    }

    /// Answers from the tables and the cache, or by a short search; `None` if that does not suffice. With `all_moves` an
    /// answer contains the values of all moves. It takes at most about a second.
    ///
    /// # Errors
    /// If the position has too many pieces, or a file cannot be read.
    pub fn probe_now(&self, position: &Position, all_moves: bool) -> Result<Option<OnDemandAnswer>, OnDemandError> {
        self.check_size(position)?;
        if let (Some(value), Some(moves)) = (self.value(position)?, self.moves(position)?) {
            let source = match self.counted_class(position) {
                Some(_) => AnswerSource::Cache,
                None => AnswerSource::Tables,
            };
            let moves = moves.into_iter().map(|(mv, value)| (mv, Some(value))).collect();
            return Ok(Some(OnDemandAnswer { value, moves, source }));
        }
        Ok(self.search(position)?.filter(|answer| !all_moves || answer.moves.iter().all(|(_, value)| value.is_some())))
    }

    /// Answers as [`probe_now`](OnDemand::probe_now), and counts the class if that does not suffice.
    ///
    /// # Errors
    /// As [`probe_now`](OnDemand::probe_now) and [`count`](OnDemand::count).
    pub fn probe(
        &self,
        position: &Position,
        all_moves: bool,
        follow: Follow<'_>,
    ) -> Result<OnDemandAnswer, OnDemandError> {
        for _ in 0..2 {
            if let Some(answer) = self.probe_now(position, all_moves)? {
                return Ok(answer);
            }
            self.count(position, follow)?;
        }
        let answer = self.probe_now(position, all_moves)?;
        answer.ok_or_else(|| SolveError::Stopped.into())
    }

    /// Best play to the end. Counts the class of the position if the tables do not contain it, and again if its file
    /// turns out to be damaged.
    ///
    /// # Errors
    /// As [`count`](OnDemand::count).
    pub fn probe_line(&self, position: &Position, follow: Follow<'_>) -> Result<Vec<(Move, Position)>, OnDemandError> {
        self.count(position, follow)?;
        match self.line(position) {
            Err(SetError::Table(TableError::Damaged { .. })) => {
                self.count(position, follow)?;
                Ok(self.line(position)?)
            }
            line => Ok(line?),
        }
    }

    /// The representative of the class that would be counted for a position; `None` if the tables contain the class or
    /// the game is over.
    ///
    /// # Errors
    /// If the position has too many pieces.
    pub fn class(&self, position: &Position) -> Result<Option<Material>, OnDemandError> {
        self.check_size(position)?;
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
    /// As [`need`](OnDemand::need), or if the count is cancelled or fails.
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
        ExactTables { classes: &self.classes, dir: self.tables.set().dir(), restored: self.cache.dir(), memory }
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

    fn check_size(&self, position: &Position) -> Result<(), OnDemandError> {
        let (pieces, most) = (position.pieces().count(), self.pieces());
        if pieces > most { Err(OnDemandError::TooManyPieces { pieces, most }) } else { Ok(()) }
    }

    /// The class of a position that the tables do not cover.
    fn counted_class(&self, position: &Position) -> Option<ClassId> {
        let Address { class, .. } = self.addresser.locate(position)?;
        (!self.has_table(class)).then_some(class)
    }

    /// Whether the tables contain a class. Classes have the same ids in `classes` and in the tables.
    fn has_table(&self, class: ClassId) -> bool {
        let set = self.tables.set();
        class.index() < set.classes().len() && !matches!(set.file(class), Err(SetError::Missing { .. }))
    }

    /// The class of a position that neither the tables nor the cache contain.
    fn uncounted(&self, position: &Position) -> Result<Option<ClassId>, OnDemandError> {
        self.check_size(position)?;
        let Some(id) = self.counted_class(position) else { return Ok(None) };
        Ok(self.cache.get(self.classes.get(id).representative)?.is_none().then_some(id))
    }

    /// The value of a position in the tables or in the cache; `None` if the game is over.
    ///
    /// # Errors
    /// If a table cannot be read, or is damaged. A damaged file in the cache counts as not counted from then on.
    fn known_cell(&self, position: &Position) -> Result<Option<CellValue>, SetError> {
        let Some(ClassSquares { class, turn, squares }) = self.addresser.squares(position) else { return Ok(None) };
        if self.has_table(class) {
            return self.tables.cell_value(position);
        }
        let Some(file) = self.cache.get(self.classes.get(class).representative)? else { return Ok(None) };
        let value = file.value(turn, squares);
        if matches!(value, Err(TableError::Damaged { .. })) {
            self.cache.mark_damaged(&file);
        }
        Ok(value?)
    }

    /// The value of a position, as [`known_cell`](OnDemand::known_cell); also of a finished game.
    fn known_value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        match Value::of_finished(position) {
            Some(value) => Ok(Some(value)),
            None => Ok(self.known_cell(position)?.map(|value| Value::of(value, self.rules()))),
        }
    }

    /// `None` instead of the error of damage in a file of the cache.
    fn unless_damaged<T>(&self, found: Result<Option<T>, SetError>) -> Result<Option<T>, SetError> {
        match found {
            Err(SetError::Table(TableError::Damaged { path, .. })) if path.parent() == Some(self.cache.dir()) => {
                Ok(None)
            }
            found => found,
        }
    }

    /// The answer of a short search.
    fn search(&self, position: &Position) -> Result<Option<OnDemandAnswer>, SetError> {
        let rules = self.tables.rules();
        let look_up = |position: &Position| -> Result<Probed, SetError> {
            if let Some(value) = Value::of_finished(position) {
                return Ok(Probed::Value(value));
            }
            let Some(Address { class, turn, cell }) = self.addresser.locate(position) else {
                return Ok(Probed::Unknown(0));
            };
            let known = if self.has_table(class) { self.tables.value(position)? } else { None };
            let key = (class.index() as u64) << 48 | (cell as u64) << 1 | turn as u64;
            Ok(known.map_or(Probed::Unknown(key), Probed::Value))
        };
        let mut distances = Distances::new(rules, &look_up, SEARCH_BUDGET);
        let Some(value) = found(distances.value(position, SEARCH_PLIES))? else { return Ok(None) };
        let mut moves = Vec::new();
        for &mv in &position.moves(rules) {
            let value = found(distances.value(&position.make(mv), SEARCH_PLIES))?;
            moves.push((mv, value.map(Value::before)));
        }
        moves.sort_by_key(|&(_, value)| Reverse(value));
        Ok(Some(OnDemandAnswer { value, moves, source: AnswerSource::Search }))
    }
}

/// The result of a search; `None` if its budget was too small.
fn found<T>(result: Result<Option<T>, Stop>) -> Result<Option<T>, SetError> {
    match result {
        Ok(value) => Ok(value),
        Err(Stop::Budget) => Ok(None),
        Err(Stop::Tables(error)) => Err(error),
    }
}

fn cancelled(flow: ControlFlow<()>) -> Result<(), OnDemandError> {
    if flow.is_break() { Err(OnDemandError::Cancelled) } else { Ok(()) }
}

impl Probe for OnDemand {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        self.tables.rules()
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        self.unless_damaged(self.known_value(position))
    }

    fn moves(&self, position: &Position) -> Result<Option<Vec<(Move, Value)>>, SetError> {
        self.unless_damaged(Known(self).moves(position))
    }

    /// A damaged file in the cache is an error once; then its class counts as not counted.
    fn line_within(&self, position: &Position, plies: usize) -> Result<Vec<(Move, Position)>, SetError> {
        Known(self).line_within(position, plies)
    }
}

/// Probes the tables and the cache, and fails at damage.
struct Known<'a>(&'a OnDemand);

impl Probe for Known<'_> {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        self.0.rules()
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        self.0.known_value(position)
    }
}
