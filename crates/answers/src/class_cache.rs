//! Classes that requests have solved, of all rule sets together.

use super::class_table::ClassTable;
use super::counted_class::{CountedClass, CountedHead};
use doushouqi::tablebase::{ClassId, SolveError};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A class of a rule set ([`RuleOptions::table_hash`](doushouqi::board::RuleOptions::table_hash)).
pub type Key = (u64, ClassId);

/// The most recently used four-piece classes, in a limited number of bytes. Several requests for a missing class solve it
/// once. The cache also contains the class of more pieces that was counted last, with and without a no-capture limit.
pub struct ClassCache {
    bytes: usize,
    state: Mutex<State>,
    counted: Mutex<Vec<Arc<CountedClass>>>,
    /// Notified after each solution.
    solved: Condvar,
}

#[derive(Default)]
struct State {
    entries: HashMap<Key, Entry>,
    bytes: usize,
    /// The number of uses so far.
    clock: u64,
    /// The classes that are being solved.
    solving: HashSet<Key>,
}

struct Entry {
    table: Arc<ClassTable>,
    used: u64,
}

/// The interval at which a request that waits for another request's solution checks whether to stop.
const POLL: Duration = Duration::from_millis(50);

impl ClassCache {
    #[must_use]
    pub fn new(bytes: usize) -> ClassCache {
        ClassCache { bytes, state: Mutex::default(), counted: Mutex::default(), solved: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The class of more pieces for the rules with this hash.
    #[must_use]
    pub fn counted(&self, hash: u64) -> Option<Arc<CountedClass>> {
        self.all_counted().iter().find(|counted| counted.is_for(hash)).cloned()
    }

    fn all_counted(&self) -> MutexGuard<'_, Vec<Arc<CountedClass>>> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for a class of more pieces: drops all others but the same one under another no-capture limit.
    pub(crate) fn make_room(&self, head: &CountedHead) {
        self.all_counted().retain(|counted| counted.differs_in_limit(head));
    }

    /// Keeps a class of more pieces, for which `make_room` has made room.
    pub(crate) fn add_counted(&self, counted: CountedClass) {
        self.all_counted().push(Arc::new(counted));
    }

    /// The class, solved by `solve` if it is missing.
    ///
    /// # Errors
    /// The error of `solve`; [`SolveError::Stopped`] if `stop` becomes true while another thread solves the class.
    pub fn get(
        &self,
        key: Key,
        stop: &AtomicBool,
        solve: impl FnOnce() -> Result<ClassTable, SolveError>,
    ) -> Result<Arc<ClassTable>, SolveError> {
        let mut state = self.lock();
        loop {
            if let Some(table) = state.find(key) {
                return Ok(table);
            }
            if state.solving.insert(key) {
                break;
            }
            state = self.solved.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner).0;
            if stop.load(Ordering::Relaxed) {
                return Err(SolveError::Stopped);
            }
        }
        drop(state);
        let _solving = Solving { cache: self, key };
        let table = Arc::new(solve()?);
        self.lock().insert(key, table.clone(), self.bytes);
        Ok(table)
    }
}

/// Marks a class as being solved until dropped, also after an error.
struct Solving<'a> {
    cache: &'a ClassCache,
    key: Key,
}

impl Drop for Solving<'_> {
    fn drop(&mut self) {
        self.cache.lock().solving.remove(&self.key);
        self.cache.solved.notify_all();
    }
}

impl State {
    fn find(&mut self, key: Key) -> Option<Arc<ClassTable>> {
        self.clock += 1;
        let entry = self.entries.get_mut(&key)?;
        entry.used = self.clock;
        Some(entry.table.clone())
    }

    fn insert(&mut self, key: Key, table: Arc<ClassTable>, most: usize) {
        self.clock += 1;
        self.bytes += table.bytes();
        self.entries.insert(key, Entry { table, used: self.clock });
        // The newest class stays, even if it alone exceeds the limit.
        while self.bytes > most && self.entries.len() > 1 {
            let Some(oldest) = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(&key, _)| key) else {
                return;
            };
            self.bytes -= self.entries.remove(&oldest).map_or(0, |entry| entry.table.bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use doushouqi::board::RuleOptions;
    use doushouqi::tablebase::Solver;
    use std::sync::atomic::AtomicUsize;

    fn tables() -> Vec<(ClassId, ClassTable)> {
        let solver = Solver::solved(&RuleOptions::PAPER, 2).unwrap();
        let table = |id| {
            let stats = solver.class_stats(id)?.clone();
            Some((id, ClassTable::new(solver.classes().get(id), solver.table(id)?.cells.clone(), stats)))
        };
        solver.classes().level(2).filter_map(|(id, _)| table(id)).collect()
    }

    #[test]
    fn the_classes_used_last_stay_within_the_bytes() {
        let tables = tables();
        let ids: Vec<ClassId> = tables.iter().map(|(id, _)| *id).collect();
        let most = 3 * tables.iter().map(|(_, table)| table.bytes()).max().unwrap();
        let (cache, stop) = (ClassCache::new(most), AtomicBool::new(false));
        for (id, table) in tables {
            cache.get((7, id), &stop, || Ok(table)).unwrap();
            cache.get((7, ids[0]), &stop, || Err(SolveError::Stopped)).expect("the class in use stays");
            let state = cache.lock();
            assert_eq!(state.bytes, state.entries.values().map(|entry| entry.table.bytes()).sum::<usize>());
            assert!(state.bytes <= most);
        }
        assert!(cache.get((7, ids[1]), &stop, || Err(SolveError::Stopped)).is_err(), "the oldest is gone");
        assert!(cache.get((8, ids[0]), &stop, || Err(SolveError::Stopped)).is_err(), "other rules have other classes");
    }

    #[test]
    fn a_class_is_solved_once_and_again_after_an_error() {
        let mut tables = tables();
        let (id, table) = tables.remove(0);
        let (cache, solved) = (ClassCache::new(1 << 20), AtomicUsize::new(0));
        let stop = AtomicBool::new(false);
        assert!(cache.get((7, id), &stop, || Err(SolveError::Stopped)).is_err());
        let table = Mutex::new(Some(table));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let solve = || {
                        solved.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(Duration::from_millis(20));
                        table.lock().unwrap().take().ok_or(SolveError::Stopped)
                    };
                    assert!(cache.get((7, id), &stop, solve).is_ok());
                });
            }
        });
        assert_eq!(solved.load(Ordering::Relaxed), 1);
    }
}
