//! Values of positions with one piece more than the tables, by a short forward search or by a count of the whole class.
//! A cache keeps the results and the stages of the distances of counted classes.

mod class_cache;
mod distance;
mod error;
mod progress;
mod record;
mod stages;
#[cfg(test)]
mod tests;

use super::error::SetError;
use super::forecast::disk_free;
use super::job::{Work, captures};
use super::peak;
use super::table_error::TableError;
use crate::board::{Move, Position, Rules};
use crate::tablebase::address::{Address, Addresser};
use crate::tablebase::solve::cpu::task::Keep;
use crate::tablebase::{
    BufferPool, ClassId, Classes, CpuBackend, Material, MemoryNeed, Probe, SolveError, TableProber, Value,
};
use class_cache::ClassCache;
use distance::{Distances, Probed, Stop};
pub use error::OnDemandError;
pub use progress::{CountPhase, CountProgress, Follow};
use record::Recorder;
use serde::Serialize;
use stages::StageFile;
use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
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
    /// The file of a counted class, and a search within a stage of the distances.
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
    /// The most bytes of the file that stays in the cache, which are part of `disk_bytes`.
    pub file_bytes: u64,
    /// Whether conversions are written to temporary files because they do not fit into memory.
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
    /// If the position has too many pieces, a table that captures lead to is missing or stores one side to move only, or
    /// the memory or the disk does not suffice.
    pub fn need(&self, position: &Position) -> Result<Option<CountNeed>, OnDemandError> {
        let Some(id) = self.uncounted(position)? else { return Ok(None) };
        let plan = MemoryNeed::of_job(&self.classes, id, false);
        captures(self.tables.set().dir(), self.tables.rules().options(), &self.classes, id, &plan)?;
        self.check_need(id, &plan).map(Some)
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
        let (rules, dir) = (self.tables.rules().options(), self.tables.set().dir());
        let id = self.classes.member(need.class).expect("it is one of the classes").class;
        let files = captures(dir, rules, &self.classes, id, &MemoryNeed::of_job(&self.classes, id, false))?;
        let backend = CpuBackend::default().with_pool(BufferPool::default());
        let backend = if need.spills { backend.spilling(self.cache.dir().to_owned()) } else { backend };
        let recorder = Recorder::create(&self.cache.path(need.class), follow)?;
        let work = Work { classes: &self.classes, id, files, backend, observer: &recorder };
        match work.solve(Keep::Counts) {
            Ok(_) => Ok(recorder.finish(rules, need.class)?),
            Err(SetError::Solve(SolveError::Stopped)) => {
                Err(recorder.error().map_or(OnDemandError::Cancelled, Into::into))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The needs of a count within the available memory and disk space.
    fn check_need(&self, id: ClassId, plan: &MemoryNeed) -> Result<CountNeed, OnDemandError> {
        let class = self.classes.get(id).representative;
        let available = peak::available().map_or(usize::MAX, |bytes| bytes as usize).min(self.memory);
        let spills = plan.total() + plan.record() > available;
        let memory = plan.record() + if spills { plan.peak_spilled() } else { plan.total() };
        if memory > available {
            return Err(OnDemandError::Memory { material: class, needed: memory as u64, available: available as u64 });
        }
        let file_bytes = plan.stages_file() as u64;
        let disk_bytes = file_bytes + if spills { plan.conversions() as u64 } else { 0 };
        let dir = self.cache.dir();
        if file_bytes > self.cache.size() {
            return Err(OnDemandError::Cache { material: class, needed: file_bytes, size: self.cache.size() });
        }
        if let Some(free) = disk_free(dir).filter(|&free| free < disk_bytes) {
            return Err(OnDemandError::Disk { material: class, dir: dir.to_owned(), needed: disk_bytes, free });
        }
        Ok(CountNeed { class, memory_bytes: memory as u64, disk_bytes, file_bytes, spills })
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

    /// Probes the tables and the file of the class of a position.
    fn look_up(&self, position: &Position, counted: Option<&Counted>) -> Result<Probed, SetError> {
        if let Some(value) = Value::of_finished(position) {
            return Ok(Probed::Value(value));
        }
        let Some(Address { class, turn, cell }) = self.addresser.locate(position) else {
            return Err(SetError::TooFewPieces {
                material: Material::of(position).expect("a position that is not over has both sides"),
                pieces: self.classes.pieces(),
            });
        };
        if self.has_table(class)
            && let Some(value) = self.tables.value(position)?
        {
            return Ok(Probed::Value(value));
        }
        let key = (class.index() as u64) << 48 | (cell as u64) << 1 | turn as u64;
        let staged = match counted.filter(|counted| counted.class == class) {
            Some(counted) => counted.file.probe(turn, cell)?,
            None => None,
        };
        Ok(Probed::Class { key, staged })
    }

    /// The file of the class of a position; `None` if the class is not in the cache, or the tables cover it.
    fn counted(&self, position: &Position) -> Result<Option<Counted>, SetError> {
        let Some(class) = self.counted_class(position) else { return Ok(None) };
        let file = self.cache.get(self.classes.get(class).representative)?;
        Ok(file.map(|file| Counted { class, file }))
    }

    /// The values of positions of the class of `position`, or of classes that its captures lead to; `None` if neither
    /// the tables nor the cache contain the class.
    fn values(&self, position: &Position, positions: &[Position]) -> Result<Option<Vec<Value>>, SetError> {
        let counted = self.counted(position)?;
        let look_up = |position: &Position| self.look_up(position, counted.as_ref());
        let mut distances = Distances::new(self.rules(), &look_up, usize::MAX);
        let values = positions.iter().map(|position| found(distances.value(position, 0))).collect();
        if self.mark_damaged(counted.as_ref(), &values) { Ok(None) } else { values }
    }

    /// Marks the file of a class as damaged if damage stopped a probe of it, so that the class counts as not counted.
    /// Returns whether it did.
    fn mark_damaged<T>(&self, counted: Option<&Counted>, probed: &Result<T, SetError>) -> bool {
        let (Some(counted), Err(SetError::Table(TableError::Damaged { path, .. }))) = (counted, probed) else {
            return false;
        };
        let is_of_class = *path == self.cache.path(self.classes.get(counted.class).representative);
        if is_of_class {
            self.cache.mark_damaged(&counted.file);
        }
        is_of_class
    }

    /// [`line_within`](Probe::line_within) with this file of the class of the position.
    fn best_play(
        &self,
        position: &Position,
        plies: usize,
        counted: Option<&Counted>,
    ) -> Result<Vec<(Move, Position)>, SetError> {
        let mut line = Vec::new();
        let look_up = |position: &Position| self.look_up(position, counted);
        let mut distances = Distances::new(self.rules(), &look_up, usize::MAX);
        let value = found(distances.value(position, 0))?;
        let mut left = value.and_then(|value| value.dtw).unwrap_or(0);
        let mut current = position.clone();
        while line.len() < plies && left > 0 {
            let mut best = None;
            for &mv in &current.moves(self.rules()) {
                let next = current.make(mv);
                if found(distances.is_best(&next, left).map(Some))? == Some(true) {
                    best = Some((mv, next));
                    break;
                }
            }
            // Forged values may leave no move.
            let Some((mv, next)) = best else { break };
            line.push((mv, std::mem::replace(&mut current, next)));
            left -= 1;
        }
        Ok(line)
    }

    /// The answer of a short search.
    fn search(&self, position: &Position) -> Result<Option<OnDemandAnswer>, SetError> {
        let rules = self.tables.rules();
        let look_up = |position: &Position| self.look_up(position, None);
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

/// A class in the cache.
struct Counted {
    class: ClassId,
    file: Arc<StageFile>,
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
        Ok(self.values(position, std::slice::from_ref(position))?.and_then(|values| values.first().copied()))
    }

    fn moves(&self, position: &Position) -> Result<Option<Vec<(Move, Value)>>, SetError> {
        let moves = position.moves(self.rules());
        let after: Vec<Position> = moves.iter().map(|&mv| position.make(mv)).collect();
        let Some(values) = self.values(position, &after)? else { return Ok(None) };
        let mut moves: Vec<(Move, Value)> = moves.iter().copied().zip(values.into_iter().map(Value::before)).collect();
        moves.sort_by_key(|&(_, value)| Reverse(value));
        Ok(Some(moves))
    }

    /// A single search finds the whole line, and each best move without the values of the other moves. A damaged file in
    /// the cache is an error once; then its class counts as not counted.
    fn line_within(&self, position: &Position, plies: usize) -> Result<Vec<(Move, Position)>, SetError> {
        let counted = self.counted(position)?;
        let line = self.best_play(position, plies, counted.as_ref());
        self.mark_damaged(counted.as_ref(), &line);
        line
    }
}
