//! The server's tables: in memory and on disk for its own rules, in memory for other rules, which it solves on request.

use doushouqi::board::{ByColor, Color, Move, Piece, Position, RuleOptions, Rules};
use doushouqi::game::random::Random;
use doushouqi::search::Tables;
use doushouqi::tablebase::{
    Addresser, CellValue, Cells, Class, ClassId, Classes, Index, Material, Options, Probe, ROW_CELLS, SetError,
    SolveError, Solver, Stats, TableProber, TableSet, Value, position_of, squares_in_play,
};
use rayon::ThreadPool;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Instant;
use xxhash_rust::xxh3::Xxh3;

/// The most pieces of a table in memory.
pub const MEMORY_PIECES: usize = 4;
/// Pieces of the tables that are solved before a rule set answers; takes a fraction of a second.
pub const FIRST_PIECES: usize = 3;
/// The most other rule sets that are kept.
const OTHER_RULES: usize = 6;
/// Four-piece classes that a rule set keeps if it solves them on request; at most 8 MB each.
const KEPT_CLASSES: usize = 16;

/// The values of a class in memory, without the cells of squares that the last two pieces cannot enter.
pub struct ClassTable {
    material: Material,
    index: Index,
    /// The place within a row of each of its cells.
    places: Vec<u16>,
    /// The cell of each place.
    kept: Vec<u16>,
    cells: ByColor<Cells>,
    stats: ByColor<Stats>,
}

impl ClassTable {
    fn new(class: &Class, cells: &ByColor<Cells>, stats: ByColor<Stats>) -> ClassTable {
        let (material, index) = (class.representative, class.index());
        let lanes = squares_in_play(index.lane_piece());
        let kept: Vec<u16> = squares_in_play(index.word_piece())
            .into_iter()
            .flat_map(|word| lanes.into_iter().map(move |lane| (word.index() * 64 + lane.index()) as u16))
            .collect();
        let mut places = vec![0; ROW_CELLS];
        for (place, &cell) in kept.iter().enumerate() {
            places[usize::from(cell)] = place as u16;
        }
        let pack = |color| {
            let rows = 0..index.rows;
            let all = rows.flat_map(|row| kept.iter().map(move |&cell| row * ROW_CELLS + usize::from(cell)));
            match &cells[color] {
                Cells::Byte(cells) => Cells::Byte(all.map(|cell| cells[cell]).collect()),
                Cells::Wide(cells) => Cells::Wide(all.map(|cell| cells[cell]).collect()),
            }
        };
        let cells = ByColor::from_fn(pack);
        ClassTable { material, index, places, kept, cells, stats }
    }

    fn value(&self, turn: Color, cell: usize) -> Option<CellValue> {
        let place = cell / ROW_CELLS * self.kept.len() + usize::from(self.places[cell % ROW_CELLS]);
        CellValue::from_code(self.cells[turn].get(place))
    }

    /// The position of a place, with the pieces of the representative.
    fn position(&self, turn: Color, place: usize) -> Option<Position> {
        let cell = place / self.kept.len() * ROW_CELLS + usize::from(self.kept[place % self.kept.len()]);
        self.index.position(cell, turn)
    }

    /// A random place with a wanted value.
    fn nth(&self, turn: Color, wanted: &dyn Fn(CellValue) -> bool, random: &mut Random) -> Option<usize> {
        let cells = &self.cells[turn];
        let mut is = [false; 1 << 16];
        for (code, is) in (0..=u16::MAX).zip(&mut is) {
            *is = CellValue::from_code(code).is_some_and(wanted);
        }
        let matches = |place: &usize| is[usize::from(cells.get(*place))];
        let count = (0..cells.len()).filter(matches).count();
        if count == 0 {
            return None;
        }
        (0..cells.len()).filter(matches).nth(random.below(count))
    }
}

/// Tables of one rule set.
pub struct RuleTables {
    rules: Rules,
    classes: Classes,
    addresser: Addresser,
    slots: Vec<RwLock<Option<Arc<ClassTable>>>>,
    /// Contains the tables that four-piece classes depend on.
    solver: Mutex<Solver>,
    /// Four-piece classes solved on request, in their order.
    asked: Mutex<VecDeque<ClassId>>,
    /// All materials of up to this many pieces are in memory.
    complete: AtomicUsize,
    disk: Option<TableProber>,
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

impl RuleTables {
    /// Solves the tables of up to three pieces. Tables on disk must be for these rules.
    fn new(options: RuleOptions, disk: Option<TableSet>, pool: Arc<ThreadPool>) -> Result<RuleTables, SetError> {
        let disk = disk.map(|set| set.prober(&options)).transpose()?;
        let mut solver = Solver::new(&options, MEMORY_PIECES, Options { memory: 256 << 20, ..Options::default() });
        for pieces in 2..=FIRST_PIECES {
            pool.install(|| solver.solve_level(pieces, true, &|_, _| ()))?;
        }
        let classes = solver.classes().clone();
        let slots = classes.iter().map(|(id, class)| {
            let table = solver.table(id).zip(solver.class_stats(id));
            RwLock::new(table.map(|(table, stats)| Arc::new(ClassTable::new(class, &table.cells, stats.clone()))))
        });
        Ok(RuleTables {
            rules: Rules::new(options),
            slots: slots.collect(),
            addresser: Addresser::new(&classes),
            classes,
            solver: Mutex::new(solver),
            asked: Mutex::default(),
            complete: AtomicUsize::new(FIRST_PIECES),
            disk,
            progress: Progress::default(),
            search: Mutex::default(),
            pool,
        })
    }

    /// The tables that a search probes: of three pieces, or those on disk once loaded.
    pub fn for_search(&self) -> Result<Arc<Tables>, SetError> {
        let mut search = self.search.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(tables) = &*search {
            return Ok(tables.clone());
        }
        let tables = Arc::new(self.pool.install(|| Tables::solve(self.rules.options(), FIRST_PIECES))?);
        *search = Some(tables.clone());
        Ok(tables)
    }

    /// Loads the tables of a directory for searches, of up to four pieces.
    pub fn load_for_search(&self, dir: &Path) -> Result<(), SetError> {
        let tables = Arc::new(self.pool.install(|| Tables::open(dir, self.rules.options()))?);
        *self.search.lock().unwrap_or_else(|e| e.into_inner()) = Some(tables);
        Ok(())
    }

    /// Solves and keeps all four-piece classes, until `stop` returns true.
    pub fn solve_four(&self, stop: &dyn Fn() -> bool) -> Result<(), SolveError> {
        let mut ids: Vec<ClassId> = self.classes.level(MEMORY_PIECES).map(|(id, _)| id).collect();
        let positions = |id: &ClassId| self.classes.get(*id).representative.positions();
        self.progress.total.store(ids.iter().map(positions).sum(), Ordering::Relaxed);
        let _ = self.progress.started.set(Instant::now());
        // The largest first, so that the last ones to finish are small.
        ids.sort_by_key(|id| Reverse(positions(id)));
        // In small groups, so that requests for a class do not wait long.
        for ids in ids.chunks(2 * self.pool.current_num_threads()) {
            if stop() {
                return Ok(());
            }
            self.solve(ids)?;
            self.progress.done.fetch_add(ids.iter().map(positions).sum(), Ordering::Relaxed);
        }
        self.complete.store(MEMORY_PIECES, Ordering::Release);
        Ok(())
    }

    fn solve(&self, ids: &[ClassId]) -> Result<(), SolveError> {
        let mut solver = self.solver.lock().unwrap_or_else(|e| e.into_inner());
        let missing: Vec<ClassId> = ids.iter().copied().filter(|&id| self.slot(id).is_none()).collect();
        let solver = &mut *solver;
        self.pool.install(|| solver.solve_some(&missing, true, &|_, _| ()))?;
        for id in missing {
            if let Some((table, stats)) = solver.table(id).zip(solver.class_stats(id)) {
                let table = ClassTable::new(self.classes.get(id), &table.cells, stats.clone());
                *self.slots[id.index()].write().unwrap_or_else(|e| e.into_inner()) = Some(Arc::new(table));
            }
            solver.forget(id);
        }
        Ok(())
    }

    fn slot(&self, id: ClassId) -> Option<Arc<ClassTable>> {
        self.slots[id.index()].read().unwrap_or_else(|e| e.into_inner()).clone()
    }

    /// The table of a class, solved now if missing.
    fn class(&self, id: ClassId) -> Result<Option<Arc<ClassTable>>, SolveError> {
        if let Some(table) = self.slot(id) {
            return Ok(Some(table));
        }
        self.solve(&[id])?;
        let table = self.slot(id);
        let mut asked = self.asked.lock().unwrap_or_else(|e| e.into_inner());
        asked.push_back(id);
        // Classes stay if the background work solves all.
        let is_kept = self.progress.total.load(Ordering::Relaxed) > 0;
        while !is_kept && asked.len() > KEPT_CLASSES {
            if let Some(old) = asked.pop_front().filter(|&old| old != id) {
                *self.slots[old.index()].write().unwrap_or_else(|e| e.into_inner()) = None;
            }
        }
        Ok(table)
    }

    /// All materials of up to this many pieces are in memory; a probe takes less than a microsecond.
    #[must_use]
    pub fn complete(&self) -> usize {
        self.complete.load(Ordering::Acquire)
    }

    /// Whether probing positions of that many pieces, and their moves, needs neither solving nor disk access.
    #[must_use]
    pub fn is_quick(&self, pieces: usize) -> bool {
        pieces <= self.complete() || self.disk.is_none() && pieces > MEMORY_PIECES + 1
    }

    /// The tables on disk.
    #[must_use]
    pub fn disk(&self) -> Option<&TableSet> {
        self.disk.as_ref().map(TableProber::set)
    }

    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The value of every legal move for the side that makes it, best first, unknown values last.
    pub fn ranked(&self, position: &Position) -> Result<Vec<(Move, Option<Value>)>, SetError> {
        let mut moves = Vec::new();
        for &mv in &position.moves(&self.rules) {
            moves.push((mv, self.value(&position.make(mv))?.map(Value::before)));
        }
        moves.sort_by_key(|&(_, value)| Reverse(value));
        Ok(moves)
    }

    /// The counts of a material for each side to move, the representative of its class, and the number of materials in it.
    pub fn stats(&self, material: Material) -> Result<Option<(ByColor<Stats>, Material, usize)>, SetError> {
        let Some(member) = self.classes.member(material) else { return Ok(self.stats_on_disk(material)) };
        let class = self.classes.get(member.class);
        let Some(table) = self.class(member.class)? else { return Ok(None) };
        let stats = ByColor::from_fn(|color| table.stats[if member.swapped { !color } else { color }].clone());
        Ok(Some((stats, class.representative, class.same.len() + class.swapped.len())))
    }

    fn stats_on_disk(&self, material: Material) -> Option<(ByColor<Stats>, Material, usize)> {
        let set = self.disk()?;
        let member = set.classes().member(material)?;
        let class = set.classes().get(member.class);
        let name = class.representative.to_string();
        let manifest = set.manifest();
        let stats = manifest.classes.iter().find(|listed| listed.class == name).map(|listed| &listed.stats);
        let stats = stats.or_else(|| manifest.counted.iter().find(|c| c.class == name).map(|c| &c.stats))?;
        let stats = ByColor::from_fn(|color| stats[if member.swapped { !color } else { color }].clone());
        Some((stats, class.representative, class.same.len() + class.swapped.len()))
    }

    /// A random position of a material with a wanted value.
    pub fn find(
        &self,
        material: Material,
        turn: Color,
        wanted: &dyn Fn(CellValue) -> bool,
        random: &mut Random,
    ) -> Result<Option<Position>, SetError> {
        let Some(member) = self.classes.member(material) else {
            return self.find_on_disk(material, turn, wanted, random);
        };
        let Some(table) = self.class(member.class)? else { return Ok(None) };
        let there = if member.swapped { !turn } else { turn };
        let Some(place) = table.nth(there, wanted, random) else { return Ok(None) };
        let Some(position) = table.position(there, place) else { return Ok(None) };
        let position = renamed(&position, &member.pieces, member.swapped);
        // Of a position and its mirror image only one is in the table.
        Ok(position.map(|position| if random.below(2) == 0 { position } else { position.mirror() }))
    }

    /// Tries random positions, because a table on disk is too large to scan.
    fn find_on_disk(
        &self,
        material: Material,
        turn: Color,
        wanted: &dyn Fn(CellValue) -> bool,
        random: &mut Random,
    ) -> Result<Option<Position>, SetError> {
        const TRIES: usize = 2000;
        let Some(tables) = &self.disk else { return Ok(None) };
        let pieces: Vec<Piece> = material.pieces().collect();
        for _ in 0..TRIES {
            let Some(position) = random.placement(&pieces, &self.rules) else { return Ok(None) };
            let position = if position.turn() == turn { position } else { position.pass() };
            let Some(value) = not_missing(tables.cell_value(&position))? else { return Ok(None) };
            if wanted(value) {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// The longest lines of the tables in memory: representative, side to move, plies; longest first.
    #[must_use]
    pub fn longest(&self, material: Option<Material>) -> Vec<(Material, Color, u64)> {
        let mut all = Vec::new();
        let wanted = material.and_then(|material| Some(self.classes.member(material)?.class));
        for (id, _) in self.classes.iter().filter(|(id, _)| material.is_none() || wanted == Some(*id)) {
            let Some(table) = self.slot(id) else { continue };
            for turn in Color::ALL {
                all.push((table.material, turn, table.stats[turn].summary().longest));
            }
        }
        all.sort_by_key(|&(_, _, plies)| Reverse(plies));
        all
    }

    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }
}

impl Probe for RuleTables {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        if let Some(value) = Value::of_finished(position) {
            return Ok(Some(value));
        }
        let Some(address) = self.addresser.locate(position) else {
            return match &self.disk {
                Some(tables) => not_missing(tables.value(position)),
                None => Ok(None),
            };
        };
        let Some(table) = self.class(address.class)? else { return Ok(None) };
        Ok(table.value(address.turn, address.cell).map(|value| Value::of(value, &self.rules)))
    }
}

/// A position of the representative as a position of another material of its class.
fn renamed(position: &Position, pieces: &[(Piece, Piece)], swapped: bool) -> Option<Position> {
    let turn = if swapped { !position.turn() } else { position.turn() };
    let (mut here, mut squares) = (Vec::new(), Vec::new());
    for &(piece, there) in pieces {
        let square = position.square_of(there.color, there.animal)?;
        here.push(piece);
        squares.push(if swapped { square.flip() } else { square });
    }
    position_of(&here, &squares, turn)
}

/// Turns the error of a missing table into `None`.
fn not_missing<T>(result: Result<Option<T>, SetError>) -> Result<Option<T>, SetError> {
    match result {
        Err(SetError::Missing { .. } | SetError::TooFewPieces { .. }) => Ok(None),
        other => other,
    }
}

/// Tables with the requested rules. Rules that differ in repetition only share tables.
pub struct View<'a> {
    tables: &'a RuleTables,
    /// The requested rules.
    pub asked: RuleOptions,
}

impl<'a> View<'a> {
    #[must_use]
    pub fn new(tables: &'a RuleTables, asked: RuleOptions) -> View<'a> {
        View { tables, asked }
    }
}

impl std::ops::Deref for View<'_> {
    type Target = RuleTables;

    fn deref(&self) -> &RuleTables {
        self.tables
    }
}

/// The rule sets with tables in memory.
pub struct Registry {
    /// The server's rules.
    main: Arc<RuleTables>,
    /// Other rules, least recently used first.
    others: Mutex<VecDeque<Arc<RuleTables>>>,
    /// Held while solving a rule set.
    solving: Mutex<()>,
    /// A hash of the rules and the tables on disk.
    fingerprint: u64,
    pool: Arc<ThreadPool>,
}

impl Registry {
    /// Solves the tables of up to three pieces. Tables in `dir` must be for these rules.
    pub fn new(options: RuleOptions, dir: Option<&PathBuf>, pool: ThreadPool) -> Result<Registry, SetError> {
        let disk = dir.map(|dir| TableSet::open(dir)).transpose()?;
        let mut hash = Xxh3::new();
        hash.update(options.to_string().as_bytes());
        for class in disk.iter().flat_map(|set| &set.manifest().classes) {
            hash.update(class.class.as_bytes());
            hash.update(class.values.white.as_bytes());
            hash.update(class.values.black.as_bytes());
        }
        let pool = Arc::new(pool);
        let main = Arc::new(RuleTables::new(options, disk, pool.clone())?);
        Ok(Registry { main, pool, others: Mutex::default(), solving: Mutex::new(()), fingerprint: hash.digest() })
    }

    #[must_use]
    pub fn main(&self) -> &Arc<RuleTables> {
        &self.main
    }

    /// The tables for rules, if in memory.
    #[must_use]
    pub fn ready(&self, options: &RuleOptions) -> Option<Arc<RuleTables>> {
        if options == self.main.rules.options() {
            return Some(self.main.clone());
        }
        let hash = options.table_hash();
        let is = |tables: &Arc<RuleTables>| tables.rules.options().table_hash() == hash;
        if is(&self.main) {
            return Some(self.main.clone());
        }
        let mut others = self.others.lock().unwrap_or_else(|e| e.into_inner());
        let found = others.iter().position(is)?;
        let tables = others.remove(found)?;
        others.push_back(tables.clone());
        Some(tables)
    }

    /// The tables for rules, solved now if missing.
    pub fn get(&self, options: &RuleOptions) -> Result<Arc<RuleTables>, SetError> {
        if let Some(tables) = self.ready(options) {
            return Ok(tables);
        }
        let _one = self.solving.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(tables) = self.ready(options) {
            return Ok(tables);
        }
        let tables = Arc::new(RuleTables::new(*options, None, self.pool.clone())?);
        let mut others = self.others.lock().unwrap_or_else(|e| e.into_inner());
        others.push_back(tables.clone());
        if others.len() > OTHER_RULES {
            others.pop_front();
        }
        Ok(tables)
    }

    /// A hash of everything besides the request that an answer depends on: version, rules, checksums of tables on disk, and
    /// available tables.
    #[must_use]
    pub fn generation(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(env!("CARGO_PKG_VERSION").as_bytes());
        hash.update(&self.fingerprint.to_le_bytes());
        hash.update(&self.main.complete().to_le_bytes());
        hash.digest()
    }

    /// All rule sets with tables in memory.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<RuleTables>> {
        let others = self.others.lock().unwrap_or_else(|e| e.into_inner());
        std::iter::once(&self.main).chain(others.iter()).cloned().collect()
    }
}
