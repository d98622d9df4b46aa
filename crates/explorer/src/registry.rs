//! The rule sets with tables in memory.

use super::class_cache::ClassCache;
use super::config::{Config, CountConfig, ServeError};
use super::rule_tables::{Disk, MEMORY_PIECES, RuleTables};
use doushouqi::board::RuleOptions;
use doushouqi::search::Tables;
use doushouqi::tablebase::{OnDemand, SetError, TablePath, TableProber, TableSet};
use rayon::ThreadPool;
use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::BuildHasher;
use std::io::Read;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use xxhash_rust::xxh3::Xxh3;

/// The most other rule sets that are kept: all presets. Each takes about 8 MB.
const OTHER_RULES: usize = RuleOptions::PRESETS.len();
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

/// Hashes the program. Two builds may answer the same request differently, even if they have the same version.
fn hash_program(hash: &mut Xxh3) {
    // A package may have replaced the file that the program was started from.
    let running = if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
    let mut buffer = vec![0; 1 << 20];
    let hashed = running.and_then(File::open).and_then(|mut file| {
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                length => hash.update(&buffer[..length]),
            }
        }
    });
    if hashed.is_err() {
        // The next start answers everything anew.
        hash.update(&RandomState::new().hash_one(0).to_le_bytes());
    }
}

/// The tables whose rules have this hash, which are then the most recently used ones.
fn find(others: &mut VecDeque<Arc<RuleTables>>, hash: u64) -> Option<Arc<RuleTables>> {
    let found = others.iter().position(|tables| tables.rules().options().table_hash() == hash)?;
    let tables = others.remove(found)?;
    others.push_back(tables.clone());
    Some(tables)
}

/// The rule sets with tables in memory.
pub struct Registry {
    /// The server's rules.
    main: Arc<RuleTables>,
    /// Other rules, least recently used first.
    others: Mutex<VecDeque<Arc<RuleTables>>>,
    /// A hash of the program, the rules and the tables on disk.
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
        hash_program(&mut hash);
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
        if self.main.rules().options().table_hash() == hash {
            return Some(self.main.clone());
        }
        find(&mut self.others(), hash)
    }

    /// Solves the tables for rules, unless they are in memory.
    pub fn solve(&self, options: &RuleOptions, stop: &AtomicBool) -> Result<Arc<RuleTables>, SetError> {
        if let Some(tables) = self.ready(options) {
            return Ok(tables);
        }
        let tables = RuleTables::new(*options, None, None, self.pool.clone(), self.solved.clone(), stop)?;
        let mut others = self.others();
        // Another request may have solved them meanwhile.
        if let Some(tables) = find(&mut others, options.table_hash()) {
            return Ok(tables);
        }
        let tables = Arc::new(tables);
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

    /// A hash of everything besides the request that an answer depends on: program, rules, checksums of tables on disk,
    /// and available tables.
    #[must_use]
    pub fn generation(&self) -> u64 {
        let mut hash = Xxh3::new();
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn a_rule_set_is_kept_once() {
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap());
        let (solved, never) = (Arc::new(ClassCache::new(0)), AtomicBool::new(false));
        let main = RuleTables::new(RuleOptions::PAPER, None, None, pool.clone(), solved.clone(), &never).unwrap();
        let others = Mutex::default();
        let registry = Registry { main: Arc::new(main), pool, solved, others, fingerprint: 0 };
        let other = "chinese".parse().unwrap();
        let together = Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    together.wait();
                    registry.solve(&other, &AtomicBool::new(false)).unwrap();
                });
            }
        });
        assert_eq!(registry.all().len(), 2);
        let presets =
            RuleOptions::PRESETS.map(|(_, options)| registry.solve(&options, &AtomicBool::new(false)).unwrap());
        assert!(presets.iter().all(|tables| registry.all().iter().any(|kept| Arc::ptr_eq(kept, tables))));
    }
}
