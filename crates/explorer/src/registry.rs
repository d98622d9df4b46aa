//! The rule sets with tables in memory.

use super::class_cache::ClassCache;
use super::config::{Config, CountConfig, ServeError};
use super::rule_tables::{Disk, MEMORY_PIECES, RuleTables};
use doushouqi::board::RuleOptions;
use doushouqi::search::Tables;
use doushouqi::tablebase::{OnDemand, SetError, TablePath, TableProber, TableSet};
use rayon::ThreadPool;
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use xxhash_rust::xxh3::Xxh3;

/// The most other rule sets that are kept: the other presets. Each takes about 8 MB.
const OTHER_RULES: usize = 5;
/// The most other rule sets whose tables for searches are kept.
const OTHER_SEARCHES: usize = 2;
/// The memory of the four-piece classes that requests solve, of all rule sets together. One takes at most 8 MB.
const SOLVED_BYTES: usize = 32 << 20;

/// Opens the cache of the classes that are counted from tables on disk.
fn open_on_demand(tables: Option<TableProber>, config: &CountConfig) -> Result<OnDemand, ServeError> {
    let tables = tables.filter(|tables| tables.set().classes().pieces() >= MEMORY_PIECES);
    let on_demand = OnDemand::new(tables.ok_or(ServeError::TablesTooSmall)?, &config.cache, config.cache_size)?;
    Ok(config.memory.iter().fold(on_demand, |on_demand, &bytes| on_demand.with_memory(bytes)))
}

/// The rule sets with tables in memory.
pub struct Registry {
    /// The server's rules.
    main: Arc<RuleTables>,
    /// Other rules, least recently used first.
    others: Mutex<VecDeque<Arc<RuleTables>>>,
    /// A hash of the rules and the tables on disk.
    fingerprint: u64,
    pool: Arc<ThreadPool>,
    solved: Arc<ClassCache>,
}

impl Registry {
    /// Solves the tables of up to three pieces. Tables on disk must be for the same rules.
    pub fn new(config: &Config, pool: ThreadPool) -> Result<Registry, ServeError> {
        let options = config.rules;
        let path = config.tables.as_ref().map(|path| TablePath::open(path)).transpose()?;
        let (disk, results) = path.map_or((None, None), |path| (path.distances, path.results));
        let mut hash = Xxh3::new();
        hash.update(options.to_string().as_bytes());
        for class in disk.iter().chain(&results).flat_map(|set| &set.manifest().classes) {
            hash.update(class.class.as_bytes());
            hash.update(class.values.white.as_bytes());
            hash.update(class.values.black.as_bytes());
        }
        let (pool, solved) = (Arc::new(pool), Arc::new(ClassCache::new(SOLVED_BYTES)));
        let disk = disk.map(|set: TableSet| set.prober(&options)).transpose()?;
        let results = results.map(|set| set.wdl_prober(&options)).transpose()?;
        let disk = match &config.on_demand {
            Some(on_demand) => Some(Disk::OnDemand(Arc::new(open_on_demand(disk, on_demand)?))),
            None => disk.map(|tables| Disk::Tables(Box::new(tables))),
        };
        let main = RuleTables::new(options, disk, results, pool.clone(), solved.clone(), &AtomicBool::new(false))?;
        Ok(Registry { main: Arc::new(main), pool, solved, others: Mutex::default(), fingerprint: hash.digest() })
    }

    #[must_use]
    pub fn main(&self) -> &Arc<RuleTables> {
        &self.main
    }

    fn others(&self) -> MutexGuard<'_, VecDeque<Arc<RuleTables>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tables for rules, if in memory.
    #[must_use]
    pub fn ready(&self, options: &RuleOptions) -> Option<Arc<RuleTables>> {
        if options == self.main.rules().options() {
            return Some(self.main.clone());
        }
        let hash = options.table_hash();
        let is = |tables: &Arc<RuleTables>| tables.rules().options().table_hash() == hash;
        if is(&self.main) {
            return Some(self.main.clone());
        }
        let mut others = self.others();
        let found = others.iter().position(is)?;
        let tables = others.remove(found)?;
        others.push_back(tables.clone());
        Some(tables)
    }

    /// Solves the tables for rules, unless they are in memory.
    pub fn solve(&self, options: &RuleOptions, stop: &AtomicBool) -> Result<Arc<RuleTables>, SetError> {
        if let Some(tables) = self.ready(options) {
            return Ok(tables);
        }
        let tables = RuleTables::new(*options, None, None, self.pool.clone(), self.solved.clone(), stop)?;
        let tables = Arc::new(tables);
        let mut others = self.others();
        others.push_back(tables.clone());
        if others.len() > OTHER_RULES {
            others.pop_front();
        }
        Ok(tables)
    }

    /// The tables that a search probes, solved if they are missing. Only the rule sets used last keep their tables.
    pub fn search_tables(&self, tables: &RuleTables) -> Result<Arc<Tables>, SetError> {
        let found = tables.for_search()?;
        let others = self.others();
        let searched = others.iter().rev().filter(|tables| tables.ready_for_search().is_some());
        searched.skip(OTHER_SEARCHES).for_each(|tables| tables.forget_search());
        Ok(found)
    }

    /// The threads that solve.
    #[must_use]
    pub fn pool(&self) -> &ThreadPool {
        &self.pool
    }

    /// A hash of everything besides the request that an answer depends on: version, rules, checksums of tables on disk,
    /// and available tables.
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
        std::iter::once(&self.main).chain(self.others().iter()).cloned().collect()
    }
}
