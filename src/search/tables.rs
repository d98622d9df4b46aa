//! Endgame tables for the search: WDL in the tree, from memory for few pieces and from files for more, and distances at
//! the root.

use crate::board::{Color, Lanes, Position, RuleOptions, Rules};
use crate::tablebase::{
    Dtz, DtzProber, MAX_PIECES, Options, Probe, ProbeDtz, SetError, SolveError, Solver, TablePath, TableProber,
    TableSet, Value, Wdl, WdlProber, WdlTables,
};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of pieces of the tables in memory.
const WDL_PIECES: usize = 4;

/// The most bytes of decoded blocks that a search keeps, of each directory.
const CACHE_BYTES: usize = 256 << 20;

/// Endgame tables: win, draw or loss in memory and from files, and distances from files or a solver.
pub struct Tables {
    rules: Rules,
    wdl: WdlTables,
    distances: Distances,
    /// The solver for games with a no-capture limit, of the limit that was asked for last.
    within: Mutex<Option<(u16, Arc<LazySolver>)>>,
    /// The maximum number of pieces such that the distances of all positions are known; 0 if there is none.
    pieces: usize,
    /// Files of results alone.
    results: Option<Box<WdlProber>>,
    /// Files that know a no-capture limit.
    limited: Option<Box<DtzProber>>,
    /// The maximum number of pieces of a file, if that is more than in memory, else 0.
    file_pieces: usize,
    /// The plies of the longest win in the tables that the tree probes.
    longest: u32,
}

enum Distances {
    Files(Box<TableProber>),
    Solver(Arc<LazySolver>),
}

/// Solves a material on demand, with all materials that its captures lead to, and keeps the values.
struct LazySolver {
    solver: Mutex<Solver>,
    /// Whether a thread of its own is solving.
    busy: AtomicBool,
    /// Whether the memory for a material was not available.
    failed: AtomicBool,
}

impl LazySolver {
    fn new(solver: Solver) -> Arc<LazySolver> {
        let (busy, failed) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(LazySolver { solver: Mutex::new(solver), busy, failed })
    }

    /// The value of a position of a solver with [`Metric::Dtz`].
    fn dtz(&self, position: &Position) -> Option<Dtz> {
        self.value(position)?;
        let Ok(value) = self.solver.lock().unwrap_or_else(PoisonError::into_inner).dtz(position);
        value
    }

    fn value(&self, position: &Position) -> Option<Value> {
        let mut solver = self.solver.lock().unwrap_or_else(PoisonError::into_inner);
        let solved = solver.solve_position(position);
        self.failed.fetch_or(solved.is_err(), Ordering::Relaxed);
        solved.unwrap_or(None)
    }

    /// Whether the value of a position is known, or never will be. If not, its material is solved in the background.
    fn is_ready(self: &Arc<LazySolver>, position: &Position) -> bool {
        let is_solved = || self.solver.try_lock().is_ok_and(|solver| solver.cell_value(position).is_some());
        self.failed.load(Ordering::Relaxed) || is_solved() || self.solve_later(position)
    }

    /// Solves the material of a position in a thread of its own, unless that thread is busy. If no thread can be started,
    /// it is solved at once, and the result is true.
    fn solve_later(self: &Arc<LazySolver>, position: &Position) -> bool {
        if self.busy.swap(true, Ordering::AcqRel) {
            return false;
        }
        let solver = Arc::clone(self);
        let later = position.clone();
        let solve = move || {
            solver.value(&later);
            solver.busy.store(false, Ordering::Release);
        };
        if std::thread::Builder::new().name("distances".to_owned()).spawn(solve).is_ok() {
            return false;
        }
        self.value(position);
        self.busy.store(false, Ordering::Release);
        true
    }
}

impl Tables {
    /// Solves tables of up to `pieces` pieces (at most 4). Distances are solved on demand.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn solve(rules: &RuleOptions, pieces: usize) -> Result<Tables, SolveError> {
        let pieces = pieces.clamp(2, WDL_PIECES);
        let wdl = WdlTables::solve(rules, pieces)?;
        let longest = wdl.longest();
        let solver = Solver::new(rules, pieces, Options::default());
        Ok(Tables {
            rules: Rules::new(*rules),
            wdl,
            distances: Distances::Solver(LazySolver::new(solver)),
            within: Mutex::default(),
            pieces,
            results: None,
            limited: None,
            file_pieces: 0,
            longest,
        })
    }

    /// Opens the tables of a path for games under `rules`: a directory of `dsq generate`, a directory of results alone, or
    /// both (see [`TablePath::open`]). Results of up to 4 pieces are loaded into memory if the directory of distances has
    /// all classes of so many pieces; without such a directory they are solved, and their distances on demand. The search
    /// reads others from the files of results, or from the files of distances for classes that the former lack, and keeps
    /// at most 256 MiB of decoded values of each directory. Distances come from all files. In games with the no-capture limit
    /// that a directory of the path knows, positions of its classes are played exactly at the root.
    ///
    /// # Errors
    /// If tables are for other rules, damaged or unreadable, or if there is not enough memory.
    pub fn open(path: &Path, rules: &RuleOptions) -> Result<Tables, SetError> {
        Tables::open_with_memory(path, rules, WDL_PIECES)
    }

    /// [`Tables::open`], with results of up to `pieces` pieces (2 to 4) in memory.
    ///
    /// # Errors
    /// As [`Tables::open`].
    pub fn open_with_memory(path: &Path, rules: &RuleOptions, pieces: usize) -> Result<Tables, SetError> {
        let (tables, faults) = Tables::open_parts(path, rules, pieces)?;
        faults.into_iter().next().map_or(Ok(tables), Err)
    }

    /// As [`Tables::open`], but leaves out directories and classes that cannot be used, as a search leaves out a file in
    /// which it finds damage later. Returns an error for each.
    ///
    /// # Errors
    /// If no directory can be used, or if there is not enough memory.
    pub fn open_intact(path: &Path, rules: &RuleOptions) -> Result<(Tables, Vec<SetError>), SetError> {
        Tables::open_parts(path, rules, WDL_PIECES)
    }

    fn open_parts(path: &Path, rules: &RuleOptions, pieces: usize) -> Result<(Tables, Vec<SetError>), SetError> {
        let in_memory = pieces.clamp(2, WDL_PIECES);
        let (TablePath { distances, results, limited }, mut faults) = TablePath::open_intact(path);
        let distances = usable(distances, |set| set.prober(rules), &mut faults);
        let results = usable(results, |set| set.wdl_prober(rules), &mut faults);
        let limited = usable(limited, |set| set.dtz_prober(rules), &mut faults);
        if distances.is_none() && results.is_none() && limited.is_none() {
            return Err(faults.swap_remove(0));
        }
        let mut tables = match distances {
            Some(distances) => Tables::read(distances, in_memory, &mut faults)?,
            None => Tables::solve(rules, in_memory)?,
        };
        if let Some(results) = results {
            tables.add_files(results.set().extent());
            tables.results = Some(Box::new(results));
        }
        tables.limited = limited.map(Box::new);
        Ok((tables, faults))
    }

    /// Loads results of up to `in_memory` pieces from tables with distances. Classes that cannot be read are `faults`.
    fn read(distances: TableProber, in_memory: usize, faults: &mut Vec<SetError>) -> Result<Tables, SolveError> {
        let set = distances.set();
        let complete = |pieces: usize| {
            (2..=pieces).all(|n| {
                let listed = set.ids().filter(|&id| set.classes().get(id).representative.len() == n).count();
                listed > 0 && listed == set.classes().level(n).count()
            })
        };
        let pieces = (2..=MAX_PIECES).take_while(|&n| n <= set.classes().pieces() && complete(n)).last().unwrap_or(0);
        let (wdl, damaged) = WdlTables::read_intact(&distances, pieces.min(in_memory))?;
        faults.extend(damaged);
        let (rules, longest, extent) = (set.rules().clone(), wdl.longest(), set.extent());
        let distances = Distances::Files(Box::new(distances));
        let within = Mutex::default();
        let (results, limited, file_pieces) = (None, None, 0);
        let mut tables = Tables { rules, wdl, distances, within, pieces, results, limited, file_pieces, longest };
        tables.add_files(extent);
        Ok(tables)
    }

    /// Lets the tree probe the files of a directory, given their maximum number of pieces and the plies of their longest
    /// win.
    fn add_files(&mut self, (pieces, longest): (usize, u32)) {
        if pieces > self.wdl.pieces() {
            self.file_pieces = self.file_pieces.max(pieces);
            self.longest = self.longest.max(longest);
        }
    }

    /// Whether the tables are for these rules, except the rule on repetition, on which tables do not depend.
    #[must_use]
    pub fn supports_rules(&self, rules: &RuleOptions) -> bool {
        self.rules.options().table_hash() == rules.table_hash()
    }

    /// Whether no thread solves distances at this moment. A process that was forked meanwhile cannot use its copy of the
    /// tables: the thread that would finish is missing there.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        match &self.distances {
            Distances::Files(_) => true,
            Distances::Solver(solver) => !solver.busy.load(Ordering::Acquire) && solver.solver.try_lock().is_ok(),
        }
    }

    /// The maximum number of pieces such that the tables contain the distances of all positions; 0 if there is none.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// The maximum number of pieces of a table.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.pieces.max(self.file_pieces)
    }

    /// The plies of the longest win in the tables that the tree probes.
    pub(super) fn longest_win(&self) -> u32 {
        self.longest
    }

    /// The WDL of a position for the side to move. `None` if neither memory nor files contain the position, if a file
    /// cannot be read, or if the game is over.
    #[must_use]
    pub fn probe(&self, position: &Position) -> Option<Wdl> {
        let pieces = position.occupied().len();
        if !self.in_files(pieces as u32) {
            return self.wdl.probe(position);
        }
        if position.winner().is_some() { None } else { self.probe_files(position) }
    }

    /// Whether a position with `pieces` pieces is not in memory and may be in a file.
    #[inline(always)]
    pub(super) fn in_files(&self, pieces: u32) -> bool {
        pieces as usize <= self.file_pieces && pieces as usize > self.wdl.pieces()
    }

    /// The WDL of a position in the files; the game must not be over. A file that cannot be read contains no position:
    /// the search continues without it.
    fn probe_files(&self, position: &Position) -> Option<Wdl> {
        self.listed(position).map(|value| value.wdl)
    }

    /// The WDL of a position in the files, and whether a win or loss surely ends the game in so many plies; the game must
    /// not be over.
    #[cold]
    #[inline(never)]
    pub(super) fn probe_files_within(&self, position: &Position, plies: u32) -> Option<(Wdl, bool)> {
        let wdl = self.probe_files(position)?;
        let in_time = || {
            let distances = self.distance_files().and_then(|set| set.listed_value(position).unwrap_or(None));
            distances.and_then(|value| value.dtw).is_some_and(|dtw| u32::from(dtw) <= plies)
        };
        Some((wdl, plies >= self.longest || in_time()))
    }

    fn distance_files(&self) -> Option<&TableSet> {
        match &self.distances {
            Distances::Files(tables) => Some(tables.set()),
            Distances::Solver(_) => None,
        }
    }

    /// The value of a position in the files of results, else in those of distances. The former know no distances.
    fn listed(&self, position: &Position) -> Option<Value> {
        let sets = self.results.as_deref().map(WdlProber::set).into_iter().chain(self.distance_files());
        sets.into_iter().find_map(|set| set.listed_value(position).unwrap_or(None))
    }

    /// Whether the distance of a position is known, or never will be. If not, its material must be solved, which takes up
    /// to some seconds: this begins in the background.
    pub(super) fn is_ready(&self, position: &Position) -> bool {
        match &self.distances {
            Distances::Solver(solver) if position.occupied().len() <= self.pieces => solver.is_ready(position),
            _ => true,
        }
    }

    /// Whether there are files that know a no-capture limit.
    pub(super) fn has_limited(&self) -> bool {
        self.limited.is_some()
    }

    /// The tables of a game with a no-capture limit; `None` if it is larger than that of any table.
    pub(super) fn within(&self, no_capture_limit: u32) -> Option<TablesWithin<'_>> {
        let no_capture_limit =
            u16::try_from(no_capture_limit).ok().filter(|&limit| limit <= RuleOptions::MAX_NO_CAPTURE_LIMIT)?;
        let mut kept = self.within.lock().unwrap_or_else(PoisonError::into_inner);
        let solver = match &*kept {
            Some((limit, solver)) if *limit == no_capture_limit => Arc::clone(solver),
            _ => {
                let rules = self.rules.options().within(Some(no_capture_limit));
                let solver = LazySolver::new(Solver::new(&rules, self.wdl.pieces(), Options::default()));
                *kept = Some((no_capture_limit, Arc::clone(&solver)));
                solver
            }
        };
        let files = self.limited.as_deref().filter(|files| files.limit() == no_capture_limit);
        Some(TablesWithin { solver, pieces: self.wdl.pieces(), files })
    }

    /// [`Tables::probe`] for a position in which the game is not over, with `pieces` pieces in `lanes`, and the plies of the
    /// longest win or loss of its material.
    #[inline(always)]
    pub(super) fn probe_lanes(&self, lanes: &[Lanes; 2], pieces: u32, turn: Color) -> Option<(Wdl, u32)> {
        if pieces as usize > self.wdl.pieces() {
            return None;
        }
        self.wdl.probe_lanes([&lanes[0], &lanes[1]], turn)
    }
}

/// The exact results of games with a no-capture limit: from files that know it, and of as many pieces as the tables in memory.
pub(super) struct TablesWithin<'a> {
    files: Option<&'a DtzProber>,
    solver: Arc<LazySolver>,
    pieces: usize,
}

impl TablesWithin<'_> {
    /// Whether [`TablesWithin::dtz`] answers at once for this position and those that its moves lead to. If not, its material
    /// is solved in the background.
    pub(super) fn is_ready(&self, position: &Position) -> bool {
        self.read(position).is_some() || position.occupied().len() > self.pieces || self.solver.is_ready(position)
    }

    /// The value of a position; `None` if it is not known.
    pub(super) fn dtz(&self, position: &Position) -> Option<Dtz> {
        let solved = || (position.occupied().len() <= self.pieces).then(|| self.solver.dtz(position)).flatten();
        self.read(position).or_else(solved)
    }

    fn read(&self, position: &Position) -> Option<Dtz> {
        self.files.and_then(|files| files.dtz(position).unwrap_or(None))
    }
}

/// Tables that cannot be read contain no position: the search continues without them.
impl Probe for Tables {
    type Error = Infallible;

    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, Infallible> {
        let finished = Value::of_finished(position);
        if finished.is_some() {
            return Ok(finished);
        }
        Ok(match &self.distances {
            Distances::Files(tables) => tables.set().listed_value(position).unwrap_or(None),
            Distances::Solver(_) if position.occupied().len() > self.pieces => None,
            Distances::Solver(solver) => solver.value(position),
        })
    }
}

/// A directory that can be used for the rules of a search; the reason if it cannot goes to `faults`.
fn usable<T>(
    set: Option<TableSet>,
    prober: impl Fn(TableSet) -> Result<T, SetError>,
    faults: &mut Vec<SetError>,
) -> Option<T> {
    prober(set?.with_cache(CACHE_BYTES)).map_err(|fault| faults.push(fault)).ok()
}

/// Loaded endgame tables, shared by all engines that use them.
#[derive(Default)]
pub struct TableCache {
    loaded: Vec<(PathBuf, Arc<Tables>)>,
}

impl TableCache {
    /// The tables of a path, for games under these rules, see [`Tables::open`].
    ///
    /// # Errors
    /// As [`Tables::open`].
    pub fn get(&mut self, path: &Path, rules: &RuleOptions) -> Result<Arc<Tables>, SetError> {
        let fits = |(loaded, tables): &&(PathBuf, Arc<Tables>)| loaded == path && tables.supports_rules(rules);
        if let Some((_, tables)) = self.loaded.iter().find(fits) {
            return Ok(Arc::clone(tables));
        }
        let tables = Arc::new(Tables::open(path, rules)?);
        self.loaded.push((path.to_owned(), Arc::clone(&tables)));
        Ok(tables)
    }
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tables of {} pieces for {}", self.largest(), self.rules.options().table_spelling())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn distances_are_solved_in_the_background() {
        let tables = Tables::solve(&RuleOptions::PAPER, 2).unwrap();
        let position = Position::from_fen("7/7/7/7/7/6e/7/7/L6 w").unwrap();
        assert!(!tables.is_ready(&position));
        let start = Instant::now();
        while !tables.is_ready(&position) {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::yield_now();
        }
        assert_eq!(tables.value(&position).map(|value| value.and_then(|value| value.dtw)), Ok(Some(12)));
        // There are no tables of so many pieces.
        assert!(tables.is_ready(&Position::start()));
    }
}
