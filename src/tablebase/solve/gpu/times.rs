//! Where the time of solving on a GPU goes.

use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The time of one kind of work.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorkTime {
    /// How often it was done.
    pub times: u64,
    /// Seconds, of the GPU for kernels, otherwise of the host.
    pub seconds: f64,
}

/// The time of each kernel by depth in plies (0 for kernels other than passes) and of each work of the host, by name.
#[derive(Debug, Default)]
pub struct GpuTimes(Mutex<BTreeMap<(&'static str, u16), WorkTime>>);

impl GpuTimes {
    pub(super) fn add(&self, name: &'static str, depth: u16, seconds: f64) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let time = all.entry((name, depth)).or_default();
        time.times += 1;
        time.seconds += seconds;
    }

    /// Returns the times since the last call: the name, the depth, the time.
    pub fn take(&self) -> Vec<(&'static str, u16, WorkTime)> {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        all.into_iter().map(|((name, depth), time)| (name, depth, time)).collect()
    }
}
