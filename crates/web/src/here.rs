//! The surroundings of a request: one client, one thread.

use crate::count;
use crate::threads::this_thread;
use answers::ApiError;
use answers::context::Context;
use answers::counted_class::{COUNTED_PIECES, CountedClass, CountedHead};
use answers::counting::NeedReport;
use answers::engine::Engines;
use answers::handlers::position_of;
use answers::params::PositionQuery;
use answers::puzzles::Puzzles;
use answers::registry::Registry;
use answers::rule_tables::{MEMORY_PIECES, RequestTables, RuleTables};
use answers::state::{Lane, State};
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{Content, Probe as _, SetError, TableProber, TableSet, WdlProber};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

static STATE: OnceLock<State> = OnceLock::new();
/// Work is stopped by ending the module.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The most memory of the hash tables of all searches together, in MiB: phones end pages that need much more.
const HASH_MIB: usize = 64;
/// Requests per second: more than any page sends.
const RATE: f32 = 1000.0;

pub(crate) struct Here {
    pub(crate) random: u64,
}

impl Here {
    /// Solves the tables of the default rules; `None` if that is impossible.
    pub(crate) fn start(puzzles: &str) -> Option<()> {
        let rules = RuleOptions::PAPER;
        let pool = Arc::new(this_thread().build().ok()?);
        let solved = Registry::class_cache();
        let (disk, results) = tables(&rules);
        let main = RuleTables::new(rules, disk, results, pool.clone(), solved.clone(), &NEVER).ok()?;
        let state = State {
            rules,
            registry: Registry::new(main, pool, solved),
            engines: Engines::new(HASH_MIB),
            trees: Default::default(),
            puzzles: Puzzles::parse(puzzles).ok()?,
            threads: 1,
            hash_mib: HASH_MIB,
            rate: RATE,
        };
        STATE.set(state).ok()
    }

    /// Drops the classes that visitors have asked to solve, but the one of this description under another no-capture limit.
    pub(crate) fn make_room(head: &CountedHead) {
        if let Some(state) = STATE.get() {
            state.registry.make_room(head);
        }
    }

    /// Keeps the class that a visitor has asked to solve.
    pub(crate) fn keep(counted: CountedClass) {
        if let Some(state) = STATE.get() {
            state.registry.keep(counted);
        }
    }
}

/// The tables beside the page, with distances or of results alone. If they cannot be read, the page works without them and
/// receives the reason.
fn tables(rules: &RuleOptions) -> (Option<TableProber>, Option<WdlProber>) {
    let open = || -> Result<(Option<TableProber>, Option<WdlProber>), SetError> {
        let set = TableSet::open(Path::new("tables"))?;
        match set.content() {
            Content::Dtw => Ok((Some(set.prober(rules)?), None)),
            Content::Wdl => Ok((None, Some(set.wdl_prober(rules)?))),
        }
    };
    open().unwrap_or_else(|error| {
        if !matches!(error, SetError::NoTables { .. }) {
            tracing::error!(%error, "tables");
        }
        (None, None)
    })
}

impl Context for Here {
    #[expect(clippy::expect_used, reason = "requests are answered only after the start")]
    fn state(&self) -> &State {
        STATE.get().expect("the start precedes all requests")
    }

    fn charge(&self, _: f32) -> Result<(), ApiError> {
        Ok(())
    }

    fn random(&self) -> u64 {
        self.random
    }

    async fn run<T: Send + 'static>(
        &self,
        _: Lane,
        work: impl FnOnce(&State, &AtomicBool) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        work(self.state(), &NEVER)
    }

    fn countable(&self, _: &RuleTables) -> Option<usize> {
        Some(COUNTED_PIECES)
    }

    async fn need(&self, query: PositionQuery) -> Result<NeedReport, ApiError> {
        let (position, rules) = position_of(self, &query.fen, &query.rules)?;
        let tables = self.tables(rules).await?;
        let tables = RequestTables::new(&tables, rules, &NEVER);
        let pieces = position.occupied().len();
        if pieces <= MEMORY_PIECES || tables.value(&position)?.is_some() {
            return Ok(NeedReport::of(position.to_fen(), rules.to_string(), None, "known", None));
        }
        count::need(&position, &rules)
    }
}
