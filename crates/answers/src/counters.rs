//! What counts endgames of one piece more than the tables on disk.

use doushouqi::board::Position;
use doushouqi::tablebase::{ClassCounter, CountNeed, CountProgress, Follow, Material, OnDemandError};
use std::iter;
use std::sync::Arc;

/// Counts a class of one piece more than the tables: its distances and, if tables of as many pieces know a no-capture
/// limit, its results under that limit.
#[derive(Clone)]
pub struct Counters {
    distances: Arc<ClassCounter>,
    limited: Option<Arc<ClassCounter>>,
}

impl Counters {
    pub(crate) fn new(distances: &Arc<ClassCounter>, limited: Option<&Arc<ClassCounter>>) -> Counters {
        let limited = limited.filter(|limited| limited.pieces() == distances.pieces());
        Counters { distances: Arc::clone(distances), limited: limited.cloned() }
    }

    fn each(&self) -> impl Iterator<Item = &ClassCounter> {
        iter::once(&*self.distances).chain(self.limited.as_deref())
    }

    /// The most pieces of a class.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.distances.pieces()
    }

    /// As [`ClassCounter::class`].
    ///
    /// # Errors
    /// As [`ClassCounter::class`].
    pub fn class(&self, position: &Position) -> Result<Option<Material>, OnDemandError> {
        self.distances.class(position)
    }

    /// What the counts of the class of a position need, one after another; `None` if all are known.
    ///
    /// # Errors
    /// As [`ClassCounter::need`].
    pub fn need(&self, position: &Position) -> Result<Option<CountNeed>, OnDemandError> {
        self.each().try_fold(None, |first: Option<CountNeed>, counter| {
            let next = counter.need(position)?;
            Ok(first.into_iter().chain(next).reduce(CountNeed::then))
        })
    }

    /// Counts the class of a position, one count after another. Waits while another process counts in the same cache.
    ///
    /// # Errors
    /// As [`ClassCounter::count`].
    pub fn count(&self, position: &Position, follow: Follow<'_>) -> Result<(), OnDemandError> {
        let mut missing = Vec::new();
        for counter in self.each() {
            if counter.need(position)?.is_some() {
                missing.push(counter);
            }
        }
        let all = missing.len() as f64;
        for (done, counter) in missing.into_iter().enumerate() {
            let of_all =
                |part: CountProgress| follow(CountProgress { fraction: (done as f64 + part.fraction) / all, ..part });
            counter.count(position, &of_all)?;
        }
        Ok(())
    }
}
