//! The tables of one rule set: in memory, on disk, and solved on request.

use super::class_cache::ClassCache;
use super::class_table::ClassTable;
use super::counted_class::CountedClass;
use super::counters::Counters;
use doushouqi::board::{ByColor, Color, Move, Position, RuleOptions, Rules};
use doushouqi::clock::Instant;
use doushouqi::game::random::Random;
use doushouqi::search::Tables;
use doushouqi::tablebase::{
    Address, Addresser, Class, ClassId, Classes, Content, Dtz, DtzProber, Material, Member, Options, Probe, ProbeDtz,
    ProbeWdl, SetError, SolveError, Solver, Stats, TableProber, TableSet, Value, Wdl, WdlProber,
};
use rayon::ThreadPool;
use std::cmp::Reverse;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The most pieces of a table in memory.
pub const MEMORY_PIECES: usize = 4;
/// Pieces of the tables that are solved before a rule set answers; takes a fraction of a second.
pub(crate) const FIRST_PIECES: usize = 3;
/// The memory of the classes that are being solved together: in the background, and by a request.
const BACKGROUND_BYTES: usize = 64 << 20;
const REQUEST_BYTES: usize = 16 << 20;

/// Tables of one rule set.
pub struct RuleTables {
    rules: Rules,
    classes: Classes,
    addresser: Addresser,
    /// The classes that stay in memory: classes of up to three pieces, and all others once the background work has
    /// solved them.
    kept: Vec<OnceLock<ClassTable>>,
    /// The cache of classes that requests have solved, shared with other rule sets.
    solved: Arc<ClassCache>,
    /// The hash of the rules: their key in the cache.
    hash: u64,
    /// All materials of up to this many pieces are in memory.
    complete: AtomicUsize,
    /// Tables on disk of distances.
    disk: Option<TableProber>,
    /// Tables on disk of results without distances. They answer for positions of more than four pieces that `disk` does
    /// not contain.
    results: Option<WdlProber>,
    /// Tables on disk that know a no-capture limit.
    limited: Option<DtzProber>,
    progress: Progress,
    /// The tables of searches; made by the first search.
    search: Mutex<Option<Arc<Tables>>>,
    /// The threads that solve.
    pool: Arc<ThreadPool>,
}

/// The progress of the background work.
#[derive(Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    started: OnceLock<Instant>,
}

impl Progress {
    /// The completed share, and an estimate of the seconds left.
    pub fn get(&self) -> (f64, Option<f64>) {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        let share = if total == 0 { 0.0 } else { done as f64 / total as f64 };
        let left =
            self.started.get().filter(|_| done > 0).map(|start| start.elapsed().as_secs_f64() * (1.0 / share - 1.0));
        (share, left)
    }
}

/// The error if `stop` is true.
pub fn check(stop: &AtomicBool) -> Result<(), SolveError> {
    if stop.load(Ordering::Relaxed) { Err(SolveError::Stopped) } else { Ok(()) }
}

impl RuleTables {
    /// Solves the tables of up to three pieces. Tables on disk must be for these rules.
    ///
    /// # Errors
    /// If there is no memory, or `stop` becomes true.
    pub fn new(
        options: RuleOptions,
        disk: Option<TableProber>,
        results: Option<WdlProber>,
        pool: Arc<ThreadPool>,
        solved: Arc<ClassCache>,
        stop: &AtomicBool,
    ) -> Result<RuleTables, SetError> {
        let classes = Classes::new(&options, MEMORY_PIECES);
        let tables = RuleTables {
            rules: Rules::new(options),
            kept: classes.iter().map(|_| OnceLock::new()).collect(),
            addresser: Addresser::new(&classes),
            classes,
            solved,
            hash: options.table_hash(),
            complete: AtomicUsize::new(FIRST_PIECES),
            disk,
            results,
            limited: None,
            progress: Progress::default(),
            search: Mutex::default(),
            pool,
        };
        let mut solver = tables.solver(&options, REQUEST_BYTES);
        for pieces in 2..=FIRST_PIECES {
            let ids: Vec<ClassId> = tables.classes.level(pieces).map(|(id, _)| id).collect();
            tables.keep(&mut solver, &ids, pieces < FIRST_PIECES, stop)?;
        }
        Ok(tables)
    }

    /// Adds tables on disk that know a no-capture limit.
    #[must_use]
    pub fn with_limited(self, limited: Option<DtzProber>) -> RuleTables {
        RuleTables { limited, ..self }
    }

    fn solver(&self, options: &RuleOptions, memory: usize) -> Solver {
        Solver::new(options, MEMORY_PIECES, Options { memory, ..Options::default() })
    }

    /// Solves classes and keeps their tables; the solver keeps its own copy if `needed`.
    fn keep(&self, solver: &mut Solver, ids: &[ClassId], needed: bool, stop: &AtomicBool) -> Result<(), SolveError> {
        self.pool.install(|| {
            solver.solve_classes(ids, true, needed, &|id, solved| {
                check(stop)?;
                if let Some(table) = solved.table()? {
                    let table = ClassTable::new(self.classes.get(id), table.cells, solved.stats.clone());
                    // If two threads solved the class, the first table is kept; both are equal.
                    let _ = self.kept[id.index()].set(table);
                }
                Ok(())
            })
        })
    }

    fn search(&self) -> MutexGuard<'_, Option<Arc<Tables>>> {
        self.search.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tables that a search probes: of three pieces, or those on disk once loaded.
    pub fn for_search(&self) -> Result<Arc<Tables>, SetError> {
        let mut search = self.search();
        if let Some(tables) = &*search {
            return Ok(tables.clone());
        }
        let tables = Arc::new(self.pool.install(|| Tables::solve(self.rules.options(), FIRST_PIECES))?);
        *search = Some(tables.clone());
        Ok(tables)
    }

    /// As [`for_search`](RuleTables::for_search); `None` if the tables are not in memory.
    #[must_use]
    pub(crate) fn ready_for_search(&self) -> Option<Arc<Tables>> {
        self.search.try_lock().ok()?.clone()
    }

    /// Drops the tables of searches, unless a search uses them.
    pub(crate) fn forget_search(&self) {
        if let Ok(mut search) = self.search.try_lock() {
            *search = None;
        }
    }

    /// Opens the tables of a path for searches; loads those of up to four pieces. A path without distances would have to
    /// solve four pieces a second time, so three are in memory then, as without a path.
    pub fn load_for_search(&self, path: &Path) -> Result<(), SetError> {
        let pieces = if self.disk.is_some() { MEMORY_PIECES } else { FIRST_PIECES };
        let tables = self.pool.install(|| Tables::open_with_memory(path, self.rules.options(), pieces))?;
        *self.search() = Some(Arc::new(tables));
        Ok(())
    }

    /// Solves and keeps all four-piece classes, until `stop` becomes true. `tell` is called now and then.
    pub fn solve_four(&self, stop: &AtomicBool, tell: &dyn Fn()) -> Result<(), SolveError> {
        let mut ids: Vec<ClassId> = self.classes.level(MEMORY_PIECES).map(|(id, _)| id).collect();
        let positions = |id: &ClassId| self.classes.get(*id).representative.positions();
        self.progress.total.store(ids.iter().map(positions).sum(), Ordering::Relaxed);
        let _ = self.progress.started.set(Instant::now());
        // The largest first, so that the last ones to finish are small.
        ids.sort_by_key(|id| Reverse(positions(id)));
        let mut solver = self.solver(self.rules.options(), BACKGROUND_BYTES);
        for pieces in 2..=FIRST_PIECES {
            self.pool.install(|| solver.solve_level(pieces, true, &|_, _| ()))?;
        }
        // In small groups, which show the progress.
        for ids in ids.chunks(2 * self.pool.current_num_threads()) {
            tell();
            self.keep(&mut solver, ids, false, stop)?;
            self.progress.done.fetch_add(ids.iter().map(positions).sum(), Ordering::Relaxed);
        }
        self.complete.store(MEMORY_PIECES, Ordering::Release);
        Ok(())
    }

    /// Solves one class under these rules, with the smaller ones that its captures lead to, which are not kept.
    fn solve(&self, options: &RuleOptions, id: ClassId, stop: &AtomicBool) -> Result<ClassTable, SolveError> {
        check(stop)?;
        let mut solver = self.solver(options, REQUEST_BYTES);
        self.pool.install(|| {
            for level in self.classes.needed_for(id) {
                solver.solve_classes(&level, true, true, &|_, _| check(stop))?;
            }
            let (table, stats) = solver.forget(id).zip(solver.class_stats(id)).ok_or(SolveError::Stopped)?;
            Ok(ClassTable::new(self.classes.get(id), table.cells, stats.clone()))
        })
    }

    /// The class of more pieces that was solved at a visitor's request.
    #[must_use]
    pub fn counted(&self) -> Option<Arc<CountedClass>> {
        self.solved.counted(self.hash)
    }

    /// The table of a class that is not kept, solved now if missing.
    fn class(&self, id: ClassId, stop: &AtomicBool) -> Result<Arc<ClassTable>, SolveError> {
        self.solved.get((self.hash, id), stop, || self.solve(self.rules.options(), id, stop))
    }

    /// Calls `with` with the table of a class, solved now if missing.
    fn with_class<T>(
        &self,
        id: ClassId,
        stop: &AtomicBool,
        with: impl FnOnce(&ClassTable) -> T,
    ) -> Result<T, SolveError> {
        match self.kept[id.index()].get() {
            Some(table) => Ok(with(table)),
            None => Ok(with(&*self.class(id, stop)?)),
        }
    }

    /// The number of pieces up to which all materials are in memory and a probe takes less than a microsecond.
    #[must_use]
    pub fn complete(&self) -> usize {
        self.complete.load(Ordering::Acquire)
    }

    /// The effort of probing positions of `pieces` pieces and their moves.
    #[must_use]
    pub fn effort(&self, pieces: usize) -> Effort {
        let complete = self.complete();
        // A capture leads to one piece less.
        let needs_solving = self.disk.is_none() && complete < MEMORY_PIECES && pieces <= MEMORY_PIECES + 1;
        if pieces > complete && needs_solving {
            Effort::Solving
        } else if pieces > complete && self.disk().is_some() {
            Effort::Disk
        } else {
            Effort::Memory
        }
    }

    /// The tables on disk: those with distances, then those of results alone.
    fn sets(&self) -> impl Iterator<Item = &TableSet> {
        let distances = self.disk.as_ref().map(TableProber::set);
        distances.into_iter().chain(self.results.as_ref().map(WdlProber::set))
    }

    /// The most files of tables on disk that stay open. Searches open the tables a second time.
    #[must_use]
    pub fn files(&self) -> usize {
        let limited = self.limited.iter().map(DtzProber::set);
        2 * self.sets().chain(limited).map(|set| set.classes().len()).sum::<usize>()
    }

    /// The tables on disk with the most pieces.
    #[must_use]
    pub fn disk(&self) -> Option<&TableSet> {
        self.sets().max_by_key(|set| set.classes().pieces())
    }

    /// What counts endgames on demand, if the operator allows it.
    #[must_use]
    pub fn counters(&self) -> Option<Counters> {
        let distances = self.disk.as_ref().and_then(TableProber::counter)?;
        Some(Counters::new(distances, self.limited.as_ref().and_then(DtzProber::counter)))
    }

    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    fn value_on_disk(&self, position: &Position) -> Result<Option<Value>, SetError> {
        match &self.disk {
            Some(disk) => not_missing(disk.value(position)),
            None => Ok(None),
        }
    }

    /// The value `found` of a position; if there is none, its result without the distance.
    fn or_result(&self, found: Option<Value>, position: &Position) -> Result<Option<Value>, SetError> {
        match (found, &self.results) {
            (None, Some(results)) => Ok(not_missing(results.wdl(position))?.map(|wdl| Value { wdl, dtw: None })),
            _ => Ok(found),
        }
    }

    fn stats_on_disk(&self, material: Material) -> Option<MaterialCounts> {
        self.sets().find_map(|set| Self::stats_of(set, material))
    }

    fn stats_of(set: &TableSet, material: Material) -> Option<MaterialCounts> {
        let member = set.classes().member(material)?;
        let class = set.classes().get(member.class);
        let name = class.representative.to_string();
        let manifest = set.manifest();
        let stats = manifest.classes.iter().find(|listed| listed.class == name).map(|listed| &listed.stats);
        let stats = stats.or_else(|| manifest.counted.iter().find(|c| c.class == name).map(|c| &c.stats))?;
        Some(counts_of(class, member, stats))
    }

    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }
}

/// The counts of a material.
pub struct MaterialCounts {
    /// For each side to move.
    pub stats: ByColor<Stats>,
    /// The representative of the material's class.
    pub representative: Material,
    /// The number of materials in the class.
    pub materials: usize,
}

/// The counts of a member of a class, from those of the representative.
fn counts_of(class: &Class, member: &Member, stats: &ByColor<Stats>) -> MaterialCounts {
    MaterialCounts {
        stats: ByColor::from_fn(|color| stats[if member.swapped { !color } else { color }].clone()),
        representative: class.representative,
        materials: class.same.len() + class.swapped.len(),
    }
}

/// The effort of probing a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Less than a microsecond.
    Memory,
    /// Reading from disk.
    Disk,
    /// Solving classes, which takes a fraction of a second each.
    Solving,
}

/// Turns the error of a missing table into `None`.
fn not_missing<T>(result: Result<Option<T>, SetError>) -> Result<Option<T>, SetError> {
    match result {
        Err(SetError::Missing { .. } | SetError::TooFewPieces { .. }) => Ok(None),
        other => other,
    }
}

/// The value that a random position has; a missing part matches any.
#[derive(Clone, Copy, Debug)]
pub struct WantedValue {
    pub plies: Option<u16>,
    pub wdl: Option<Wdl>,
}

impl WantedValue {
    /// Whether a value matches.
    #[must_use]
    pub fn is(self, value: Value) -> bool {
        self.plies.is_none_or(|plies| value.dtw == Some(plies)) && self.wdl.is_none_or(|wdl| value.wdl == wdl)
    }
}

/// What a search for a random position has come to.
#[derive(Debug, PartialEq)]
pub enum Found {
    Position(Position),
    /// No position has the wanted value.
    Nothing,
    /// The time is over. The search goes on at the block `next`; it has read this share of all blocks.
    Part {
        next: usize,
        share: f64,
    },
}

/// The blocks of a table that a thread reads between two looks at the time.
const BLOCKS_PER_THREAD: usize = 4;

/// Tables with the requested rules, for one request. Rules that differ only in repetition share tables.
pub struct RequestTables<'a> {
    tables: &'a RuleTables,
    /// The requested rules.
    pub requested_rules: RuleOptions,
    /// Becomes true when the request is cancelled.
    stop: &'a AtomicBool,
}

impl<'a> RequestTables<'a> {
    #[must_use]
    pub fn new(tables: &'a RuleTables, requested_rules: RuleOptions, stop: &'a AtomicBool) -> RequestTables<'a> {
        RequestTables { tables, requested_rules, stop }
    }

    /// # Errors
    /// [`SolveError::Stopped`] if the request is cancelled. Long work without probes calls this now and then.
    pub fn check(&self) -> Result<(), SetError> {
        Ok(check(self.stop)?)
    }

    /// The flag that becomes true when the request is cancelled.
    #[must_use]
    pub fn stop(&self) -> &'a AtomicBool {
        self.stop
    }

    /// The value of every legal move for the side that makes it, best first, unknown values last.
    pub fn ranked(&self, position: &Position) -> Result<Vec<(Move, Option<Value>)>, SetError> {
        let mut moves = Vec::new();
        for &mv in &position.moves(self.tables.rules()) {
            moves.push((mv, self.value(&position.make(mv))?.map(Value::before)));
        }
        moves.sort_by_key(|&(_, value)| Reverse(value));
        Ok(moves)
    }

    /// The tables of games with a no-capture limit of so many plies.
    #[must_use]
    pub fn within(&self, limit: u16) -> LimitedTables<'_> {
        LimitedTables { tables: self, rules: Rules::new(self.rules.options().within(Some(limit))), limit }
    }

    /// The counts of a material.
    pub fn stats(&self, material: Material) -> Result<Option<MaterialCounts>, SetError> {
        let Some(member) = self.classes.member(material) else {
            let counted = self
                .counted()
                .and_then(|counted| Some(counts_of(counted.class(), counted.member(material)?, &counted.table.stats)));
            return Ok(counted.or_else(|| self.stats_on_disk(material)));
        };
        // The manifest contains the counts of classes that would take long to solve.
        if self.kept[member.class.index()].get().is_none()
            && let Some(found) = self.stats_on_disk(material)
        {
            return Ok(Some(found));
        }
        let class = self.classes.get(member.class);
        Ok(Some(self.with_class(member.class, self.stop, |table| counts_of(class, member, &table.stats))?))
    }

    /// A random position of a material with a wanted value; `None` if no table tells. Tables on disk are searched from a
    /// block on, for about `time`; the same state of `random` gives the same order of their blocks.
    pub fn find(
        &self,
        material: Material,
        turn: Color,
        wanted: WantedValue,
        random: &mut Random,
        (from, time): (usize, Duration),
    ) -> Result<Option<Found>, SetError> {
        let is_wanted = |value| wanted.is(Value::of(value, &self.rules));
        let there = |member: &Member| if member.swapped { !turn } else { turn };
        let counted = self.counted();
        let (member, found) = if let Some(member) = self.classes.member(material) {
            (member, self.with_class(member.class, self.stop, |table| table.random(there(member), &is_wanted, random))?)
        } else if let Some((counted, member)) = counted.as_deref().and_then(|it| Some((it, it.member(material)?))) {
            (member, counted.table.random(there(member), &is_wanted, random))
        } else {
            return self.pool.install(|| self.find_on_disk(material, turn, wanted, random, (from, time)));
        };
        let position = found.and_then(|position| member.position(&position));
        // The table contains only one of a position and its mirror image.
        let position = position.map(|position| if random.below(2) == 0 { position } else { position.mirror() });
        Ok(Some(position.map_or(Found::Nothing, Found::Position)))
    }

    fn find_on_disk(
        &self,
        material: Material,
        turn: Color,
        wanted: WantedValue,
        random: &Random,
        (from, time): (usize, Duration),
    ) -> Result<Option<Found>, SetError> {
        let started = Instant::now();
        let step = BLOCKS_PER_THREAD * rayon::current_num_threads();
        let search = |set: &TableSet| -> Result<Found, SetError> {
            let blocks = set.blocks(material)?;
            for next in (from..blocks).step_by(step) {
                if next > from && started.elapsed() >= time {
                    return Ok(Found::Part { next, share: next as f64 / blocks as f64 });
                }
                let (is_wanted, part) = (|value| wanted.is(value), next..next + step);
                if let Some(found) = set.random(material, turn, &is_wanted, &mut random.clone(), part, self.stop)? {
                    return Ok(Found::Position(found));
                }
            }
            Ok(Found::Nothing)
        };
        // Tables of results alone cannot tell distances.
        for set in self.sets().filter(|set| wanted.plies.is_none() || set.content() == Content::Dtw) {
            if let Some(found) = not_missing(search(set).map(Some))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The longest lines of the tables in memory: representative, side to move, plies; longest first. The table of
    /// `material` is solved if it is missing.
    pub fn longest(&self, material: Option<Material>) -> Result<Vec<(Material, Color, u64)>, SetError> {
        let lines =
            |table: &ClassTable| Color::ALL.map(|turn| (table.material, turn, table.stats[turn].summary().longest));
        let mut all: Vec<(Material, Color, u64)> = match material.and_then(|material| self.classes.member(material)) {
            Some(member) => self.with_class(member.class, self.stop, lines)?.to_vec(),
            None if material.is_some() => Vec::new(),
            None => self.kept.iter().filter_map(OnceLock::get).flat_map(lines).collect(),
        };
        all.sort_by_key(|&(_, _, plies)| Reverse(plies));
        Ok(all)
    }
}

impl std::ops::Deref for RequestTables<'_> {
    type Target = RuleTables;

    fn deref(&self) -> &RuleTables {
        self.tables
    }
}

impl Probe for RequestTables<'_> {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        self.tables.rules()
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        if let Some(value) = Value::of_finished(position) {
            return Ok(Some(value));
        }
        let Some(address) = self.addresser.locate(position) else {
            if let Some(value) = self.counted().and_then(|counted| counted.value(position)) {
                return Ok(Some(Value::of(value, &self.rules)));
            }
            return self.or_result(self.value_on_disk(position)?, position);
        };
        let value = match self.kept[address.class.index()].get() {
            Some(table) => table.value(address.turn, address.cell),
            None => {
                if let Some(value) = self.value_on_disk(position)? {
                    return Ok(Some(value));
                }
                self.class(address.class, self.stop)?.value(address.turn, address.cell)
            }
        };
        Ok(value.map(|value| Value::of(value, &self.rules)))
    }
}

/// Tables that know a no-capture limit, for one request: on disk, else the class that was solved at a visitor's request, and
/// classes of up to four pieces solved now.
pub struct LimitedTables<'a> {
    tables: &'a RequestTables<'a>,
    rules: Rules,
    limit: u16,
}

impl ProbeDtz for LimitedTables<'_> {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn limit(&self) -> u16 {
        self.limit
    }

    fn open_dtz(&self, position: &Position) -> Result<Option<Dtz>, SetError> {
        let RequestTables { tables, stop, .. } = self.tables;
        if let Some(files) = tables.limited.as_ref().filter(|files| files.limit() == self.limit)
            && let Some(value) = not_missing(files.open_dtz(position))?
        {
            return Ok(Some(value));
        }
        let options = self.rules.options();
        let value = match tables.addresser.locate(position) {
            Some(Address { class: id, turn, cell }) => {
                let table = tables.solved.get((options.table_hash(), id), stop, || tables.solve(options, id, stop))?;
                table.value(turn, cell)
            }
            None => tables.solved.counted(options.table_hash()).and_then(|counted| counted.value(position)),
        };
        Ok(value.map(|value| Dtz::of(value, &self.rules)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::registry::Registry;
    use super::*;
    use doushouqi::tablebase::Generate;

    /// A search in parts reads the same blocks in the same order as one without a limit of time.
    #[test]
    fn a_search_on_disk_goes_on_where_its_time_ended() {
        let (dir, rules) = (tempfile::tempdir().unwrap(), RuleOptions::PAPER);
        let material: Material = "EvLRC".parse().unwrap();
        let job = Generate { material: Some(material), ..Generate::new(dir.path(), rules) };
        job.run(&mut Solver::new(&rules, 4, Options::default()), &|_| ()).unwrap();
        let disk = TableSet::open(dir.path()).unwrap().prober(&rules).unwrap();
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap());
        let stop = AtomicBool::new(false);
        let tables = RuleTables::new(rules, Some(disk), None, pool, Registry::class_cache(), &stop).unwrap();
        let tables = RequestTables::new(&tables, rules, &stop);
        // A common distance, a rare one and one that does not occur.
        let mut parts = 0;
        for (plies, seed) in [(1, 5), (60, 6), (9_999, 7)] {
            let wanted = WantedValue { plies: Some(plies), wdl: None };
            let find = |from, time| {
                let search = || tables.find_on_disk(material, Color::Black, wanted, &Random::new(seed), (from, time));
                tables.pool.install(search).unwrap().unwrap()
            };
            let (mut from, mut done) = (0, 0.0);
            let found = loop {
                let Found::Part { next, share } = find(from, Duration::ZERO) else { break find(from, Duration::ZERO) };
                assert!(next > from && share > done && share < 1.0, "{next} {share}");
                (from, done, parts) = (next, share, parts + 1);
            };
            assert_eq!(found, find(0, Duration::MAX), "{plies}");
        }
        assert!(parts > 2, "{parts}");
    }
}
