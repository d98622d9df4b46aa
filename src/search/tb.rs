//! Endgame tables for the search: WDL of positions with few pieces in the tree, distances at the root.

use crate::board::{Color, Lanes, Position, RuleOptions, Rules};
use crate::tablebase::{
    MAX_PIECES, Options, Probe, SetError, SolveError, Solver, TableProber, TableSet, Value, Wdl, WdlTables,
};
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The maximum number of pieces of the tables in memory.
const WDL_PIECES: usize = 4;

/// The most moves of a line from endgame tables.
pub(super) const LONGEST_LINE: usize = 64;

/// Endgame tables: win, draw or loss in memory, and distances from files or a solver.
pub struct Tables {
    rules: Rules,
    wdl: WdlTables,
    distances: Distances,
    /// The maximum number of pieces of a position whose distance is known.
    pieces: usize,
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
        let solver = Solver::new(rules, pieces, Options::default());
        Ok(Tables {
            rules: Rules::new(*rules),
            wdl,
            distances: Distances::Solver(Mutex::new(Box::new(solver))),
            pieces,
        })
    }

    /// Opens the tables in a directory of `dsq generate` for games under `rules`. Tables of up to 4 pieces are loaded
    /// into memory; distances come from all files.
    ///
    /// # Errors
    /// If there are no tables, if they are for other rules, damaged or unreadable, or if there is not enough memory.
    pub fn open(dir: &Path, rules: &RuleOptions) -> Result<Tables, SetError> {
        let tables = TableSet::open(dir)?.prober(rules)?;
        let set = tables.set();
        let complete = |pieces: usize| {
            (2..=pieces).all(|n| {
                let listed = set.ids().filter(|&id| set.classes().get(id).representative.len() == n).count();
                listed > 0 && listed == set.classes().level(n).count()
            })
        };
        let pieces = (2..=MAX_PIECES).take_while(|&n| n <= set.classes().pieces() && complete(n)).last().unwrap_or(2);
        let wdl = WdlTables::read(&tables, pieces.min(WDL_PIECES))?;
        Ok(Tables { rules: set.rules().clone(), wdl, distances: Distances::Files(Box::new(tables)), pieces })
    }

    /// Whether the tables are for these rules, except the rule on repetition, on which tables do not depend.
    #[must_use]
    pub fn supports_rules(&self, rules: &RuleOptions) -> bool {
        self.rules.options().table_hash() == rules.table_hash()
    }

    /// The maximum number of pieces of a position that the tables contain.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// The plies of the longest win in memory.
    pub(super) fn longest_win(&self) -> u32 {
        self.wdl.longest()
    }

    /// The WDL of a position for the side to move. `None` if the position has more pieces than the tables in memory, or
    /// the game is over.
    #[must_use]
    pub fn probe(&self, position: &Position) -> Option<Wdl> {
        self.wdl.probe(position)
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
        if position.occupied().len() > self.pieces {
            return Ok(Value::of_finished(position));
        }
        Ok(match &self.distances {
            Distances::Files(tables) => tables.value(position).unwrap_or(None),
            Distances::Solver(solver) => {
                let mut solver = solver.lock().unwrap_or_else(PoisonError::into_inner);
                solver.solve_position(position).unwrap_or(None)
            }
        })
    }
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tables of {} pieces for {}", self.pieces, self.rules.options().table_spelling())
    }
}
