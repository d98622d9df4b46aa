//! Endgame tables for the search: WDL of positions of few pieces in the tree, distances at the root.

use crate::board::{Color, Lanes, Position, RuleOptions, Rules};
use crate::tablebase::{
    MAX_PIECES, Options, Probe, SetError, SolveError, Solver, TableProber, TableSet, Value, Wdl, WdlTables,
};
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The most pieces of the tables in memory.
const WDL_PIECES: usize = 4;

/// Moves of a line that endgame tables give, at most.
pub(super) const LONGEST_LINE: usize = 64;

/// Win, draw or loss in memory, and distances from files or a solver.
pub struct Tables {
    rules: Rules,
    wdl: WdlTables,
    distances: Distances,
    /// The most pieces of a position whose distance is known.
    pieces: usize,
}

enum Distances {
    Files(Box<TableProber>),
    /// Solves a material on demand, with all materials that it leads to, and keeps it.
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

    /// Tables from a directory that `dsq generate` made, for games under `rules`: up to 4 pieces in memory, distances of all
    /// that is there.
    ///
    /// # Errors
    /// If there are no tables, they are for other rules, cannot be read or are damaged, or there is not enough memory.
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

    /// Whether these tables are for these rules; repetition aside, of which tables know nothing.
    #[must_use]
    pub fn fits(&self, rules: &RuleOptions) -> bool {
        self.rules.options().table_hash() == rules.table_hash()
    }

    /// The most pieces of a position that the tables cover.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// The plies of the longest win in memory.
    pub(super) fn longest(&self) -> u32 {
        self.wdl.longest()
    }

    /// The WDL of a position for the side to move; `None` for a position with more pieces than the tables in memory, and for a
    /// game that is over.
    #[must_use]
    pub fn probe(&self, position: &Position) -> Option<Wdl> {
        self.wdl.probe(position)
    }

    /// The same for a position in which the game is not over, with `pieces` pieces in `lanes`.
    #[inline(always)]
    pub(super) fn probe_lanes(&self, lanes: &[Lanes; 2], pieces: u32, turn: Color) -> Option<Wdl> {
        if pieces as usize > self.wdl.pieces() {
            return None;
        }
        self.wdl.probe_lanes([&lanes[0], &lanes[1]], turn)
    }
}

/// Tables that cannot be read cover nothing: the search goes on without them.
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
