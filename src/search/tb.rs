//! Endgame tables for the search: WDL in the tree, from memory for few pieces and from files for more, and distances at
//! the root.

use crate::board::{Color, Lanes, Move, Position, RuleOptions, Rules};
use crate::tablebase::{
    MAX_PIECES, Options, Probe, SetError, SolveError, Solver, TablePath, TableProber, Value, Wdl, WdlProber, WdlTables,
};
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The maximum number of pieces of the tables in memory.
const WDL_PIECES: usize = 4;

/// The most bytes of decoded blocks that a search keeps, of each directory.
const CACHE_BYTES: usize = 256 << 20;

/// The most moves of a line from endgame tables.
pub(super) const LONGEST_LINE: usize = 64;

/// Endgame tables: win, draw or loss in memory and from files, and distances from files or a solver.
pub struct Tables {
    rules: Rules,
    wdl: WdlTables,
    distances: Distances,
    /// The maximum number of pieces such that the distances of all positions are known; 0 if there is none.
    pieces: usize,
    /// Files of results alone.
    results: Option<Box<WdlProber>>,
    /// The maximum number of pieces of a file, if that is more than in memory, else 0.
    file_pieces: usize,
    /// The plies of the longest win in the tables that the tree probes.
    longest: u32,
}

enum Distances {
    Files(Box<TableProber>),
    /// Solves a material on demand, with all materials that its captures lead to, and keeps the values.
    Solver(Mutex<Box<Solver>>),
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
            distances: Distances::Solver(Mutex::new(Box::new(solver))),
            pieces,
            results: None,
            file_pieces: 0,
            longest,
        })
    }

    /// Opens the tables of a path for games under `rules`: a directory of `dsq generate`, a directory of results alone, or
    /// both (see [`TablePath::open`]). Results of up to 4 pieces are loaded into memory if the directory of distances has
    /// all classes of so many pieces; without such a directory they are solved, and their distances on demand. The search
    /// reads others from the files of results, or from the files of distances for classes that the former lack, and keeps
    /// at most 256 MiB of decoded values of each directory. Distances come from all files.
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
        let in_memory = pieces.clamp(2, WDL_PIECES);
        let TablePath { distances, results } = TablePath::open(path)?;
        let results = results.map(|set| set.with_cache(CACHE_BYTES).wdl_prober(rules)).transpose()?;
        let mut tables = match distances {
            Some(set) => Tables::read(set.with_cache(CACHE_BYTES).prober(rules)?, in_memory)?,
            None => Tables::solve(rules, in_memory)?,
        };
        if let Some(results) = results {
            tables.add_files(results.set().extent());
            tables.results = Some(Box::new(results));
        }
        Ok(tables)
    }

    /// Loads results of up to `in_memory` pieces from tables with distances.
    fn read(distances: TableProber, in_memory: usize) -> Result<Tables, SetError> {
        let set = distances.set();
        let complete = |pieces: usize| {
            (2..=pieces).all(|n| {
                let listed = set.ids().filter(|&id| set.classes().get(id).representative.len() == n).count();
                listed > 0 && listed == set.classes().level(n).count()
            })
        };
        let pieces = (2..=MAX_PIECES).take_while(|&n| n <= set.classes().pieces() && complete(n)).last().unwrap_or(0);
        let wdl = WdlTables::read(&distances, pieces.min(in_memory))?;
        let (rules, longest, extent) = (set.rules().clone(), wdl.longest(), set.extent());
        let distances = Distances::Files(Box::new(distances));
        let mut tables = Tables { rules, wdl, distances, pieces, results: None, file_pieces: 0, longest };
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

    /// The maximum number of pieces such that the tables contain the distances of all positions; 0 if there is none.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.pieces
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
    #[cold]
    #[inline(never)]
    pub(super) fn probe_files(&self, position: &Position) -> Option<Wdl> {
        let distances = match &self.distances {
            Distances::Files(tables) => Some(tables.set()),
            Distances::Solver(_) => None,
        };
        let sets = self.results.as_deref().map(WdlProber::set).into_iter().chain(distances);
        sets.into_iter().find_map(|set| set.listed_value(position).unwrap_or(None)).map(|value| value.wdl)
    }

    /// The moves that keep the result of a position, for the side to move. `None` if the tables do not contain the
    /// position after some move.
    pub(super) fn moves_that_keep(&self, position: &Position, moves: &[Move]) -> Option<Vec<Move>> {
        let result = |&mv: &Move| {
            let next = position.make(mv);
            let over = Value::of_finished(&next).map(|value| value.wdl);
            Some((mv, over.or_else(|| self.probe(&next))?.before()))
        };
        let results = moves.iter().map(result).collect::<Option<Vec<_>>>()?;
        let best = results.iter().map(|&(_, wdl)| wdl).max()?;
        Some(results.into_iter().filter(|&(_, wdl)| wdl == best).map(|(mv, _)| mv).collect())
    }

    /// [`Tables::probe`] for a position in which the game is not over, with `pieces` pieces in `lanes`.
    #[inline(always)]
    pub(super) fn probe_lanes(&self, lanes: &[Lanes; 2], pieces: u32, turn: Color) -> Option<Wdl> {
        if pieces as usize > self.wdl.pieces() {
            return None;
        }
        self.wdl.probe_lanes([&lanes[0], &lanes[1]], turn)
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
            Distances::Solver(solver) => {
                let mut solver = solver.lock().unwrap_or_else(PoisonError::into_inner);
                solver.solve_position(position).unwrap_or(None)
            }
        })
    }
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Tables of {} pieces for {}",
            self.pieces.max(self.file_pieces),
            self.rules.options().table_spelling()
        )
    }
}
