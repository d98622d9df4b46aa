//! The rule sets with tables in memory.

use super::class_cache::ClassCache;
use super::counted_class::{CountedClass, CountedHead};
use super::rule_tables::RuleTables;
use doushouqi::board::RuleOptions;
use doushouqi::search::Tables;
use doushouqi::tablebase::SetError;
use rayon::ThreadPool;
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most other rule sets that are kept: all presets. Each takes about 8 MB.
const OTHER_RULES: usize = RuleOptions::PRESETS.len();
/// The most other rule sets whose tables for searches are kept.
const OTHER_SEARCHES: usize = 2;
/// The memory of the four-piece classes that requests solve, of all rule sets together. One takes at most 8 MB.
const SOLVED_BYTES: usize = 32 << 20;

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
    pool: Arc<ThreadPool>,
    solved: Arc<ClassCache>,
}

impl Registry {
    /// The classes that requests solve, of all rule sets together.
    #[must_use]
    pub fn class_cache() -> Arc<ClassCache> {
        Arc::new(ClassCache::new(SOLVED_BYTES))
    }

    /// Keeps the tables of the default rules, made with `pool` and `solved`.
    #[must_use]
    pub fn new(main: RuleTables, pool: Arc<ThreadPool>, solved: Arc<ClassCache>) -> Registry {
        Registry { main: Arc::new(main), pool, solved, others: Mutex::default() }
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
    pub(crate) fn search_tables(&self, tables: &RuleTables) -> Result<Arc<Tables>, SetError> {
        let found = tables.for_search()?;
        let others = self.others();
        let searched = others.iter().rev().filter(|tables| tables.ready_for_search().is_some());
        searched.skip(OTHER_SEARCHES).for_each(|tables| tables.forget_search());
        Ok(found)
    }

    /// Makes room for a class of more pieces than the tables in memory: drops all others but the same one under another
    /// no-capture limit.
    pub fn make_room(&self, head: &CountedHead) {
        self.solved.make_room(head);
    }

    /// Keeps a class of more pieces than the tables in memory, for which [`make_room`](Registry::make_room) has made room.
    pub fn keep(&self, counted: CountedClass) {
        self.solved.add_counted(counted);
    }

    /// The threads that solve.
    #[must_use]
    pub fn pool(&self) -> &ThreadPool {
        &self.pool
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
        let registry = Registry::new(main, pool, solved);
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
