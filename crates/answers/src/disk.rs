//! Tables on disk, and what counts endgames of one piece more from them.

use doushouqi::board::Position;
use doushouqi::tablebase::{
    ClassCounter, CountNeed, CountProgress, DtzOnDemand, DtzProber, Follow, Material, OnDemand, OnDemandError, Probe,
    ProbeDtz, SetError, TableProber, TableSet,
};
use std::iter;
use std::sync::Arc;

/// Tables of distances.
pub enum Disk {
    Tables(Box<TableProber>),
    /// Tables that also count classes with one piece more on demand.
    OnDemand(Arc<OnDemand>),
}

impl Disk {
    pub(crate) fn tables(&self) -> &TableProber {
        match self {
            Disk::Tables(tables) => tables,
            Disk::OnDemand(on_demand) => on_demand.tables(),
        }
    }

    pub(crate) fn probe(&self) -> &dyn Probe<Error = SetError> {
        match self {
            Disk::Tables(tables) => &**tables,
            Disk::OnDemand(on_demand) => &**on_demand,
        }
    }
}

/// Tables that know a no-capture limit.
pub enum LimitedDisk {
    Tables(Box<DtzProber>),
    /// Tables that also count classes with one piece more on demand.
    OnDemand(Arc<DtzOnDemand>),
}

impl LimitedDisk {
    pub(crate) fn set(&self) -> &TableSet {
        match self {
            LimitedDisk::Tables(tables) => tables.set(),
            LimitedDisk::OnDemand(on_demand) => on_demand.set(),
        }
    }

    pub(crate) fn probe(&self) -> &dyn ProbeDtz<Error = SetError> {
        match self {
            LimitedDisk::Tables(tables) => &**tables,
            LimitedDisk::OnDemand(on_demand) => &**on_demand,
        }
    }

    pub(crate) fn on_demand(&self) -> Option<&Arc<DtzOnDemand>> {
        match self {
            LimitedDisk::Tables(_) => None,
            LimitedDisk::OnDemand(on_demand) => Some(on_demand),
        }
    }
}

/// Counts a class of one piece more than the tables: its distances and, if tables of as many pieces know a no-capture
/// limit, its results under that limit.
#[derive(Clone)]
pub struct Counters {
    distances: Arc<OnDemand>,
    limited: Option<Arc<DtzOnDemand>>,
}

impl Counters {
    pub(crate) fn new(distances: Arc<OnDemand>, limited: Option<Arc<DtzOnDemand>>) -> Counters {
        let pieces = distances.counter().pieces();
        Counters { distances, limited: limited.filter(|limited| limited.counter().pieces() == pieces) }
    }

    fn each(&self) -> impl Iterator<Item = &ClassCounter> {
        iter::once(self.distances.counter()).chain(self.limited.iter().map(|limited| limited.counter()))
    }

    /// The most pieces of a class.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.distances.counter().pieces()
    }

    /// As [`ClassCounter::class`].
    ///
    /// # Errors
    /// As [`ClassCounter::class`].
    pub fn class(&self, position: &Position) -> Result<Option<Material>, OnDemandError> {
        self.distances.counter().class(position)
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
