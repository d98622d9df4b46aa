//! Limits on the size, the time and the rate of requests.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The most open connections, of all addresses and of one. Behind a proxy all come from one address.
pub const MAX_CONNECTIONS: usize = 1024;
pub const MAX_CONNECTIONS_PER_ADDRESS: usize = 256;
/// How long the server waits for open requests when it shuts down.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(8);

/// How long the server waits for a client, and how long clients wait for each other.
#[derive(Copy, Clone, Debug)]
pub struct Timeouts {
    /// How long the header of a request may take to arrive.
    pub header: Duration,
    /// How long the body of a request may take to arrive.
    pub body: Duration,
    /// How long a write may wait for a client that does not read.
    pub write: Duration,
    /// How long a request waits for a thread.
    pub permit: Duration,
    /// How long an analysis runs before it makes way for another client that waits for a search.
    pub analysis: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        let ten = Duration::from_secs(10);
        Timeouts { header: ten, body: ten, write: ten, permit: ten / 2, analysis: ten }
    }
}

/// A token bucket for each address.
pub struct Rates {
    per_second: f32,
    buckets: Mutex<HashMap<IpAddr, (f32, Instant)>>,
}

impl Rates {
    /// Seconds of the rate that fit into a bucket.
    const BURST: f32 = 4.0;
    /// The most buckets that are kept.
    const MOST: usize = 10_000;

    #[must_use]
    pub fn new(per_second: f32) -> Rates {
        Rates { per_second, buckets: Mutex::default() }
    }

    /// The highest price: half a bucket, so that a request is possible at any rate, even if its work has a further price.
    #[must_use]
    pub fn most(&self) -> f32 {
        self.per_second * Rates::BURST / 2.0
    }

    /// Takes `cost` from the bucket of an address; false if it contains less.
    pub fn take(&self, address: IpAddr, cost: f32, now: Instant) -> bool {
        let full = self.per_second * Rates::BURST;
        let filled =
            |level: f32, since: Instant| (level + now.duration_since(since).as_secs_f32() * self.per_second).min(full);
        let mut buckets = self.buckets.lock().unwrap_or_else(|e| e.into_inner());
        if buckets.len() >= Rates::MOST {
            // A full bucket carries no information. If no bucket is full, all are dropped.
            buckets.retain(|_, (level, since)| filled(*level, *since) < full);
            if buckets.len() >= Rates::MOST {
                buckets.clear();
            }
        }
        let (level, since) = buckets.entry(address).or_insert((full, now));
        *level = filled(*level, *since);
        *since = now;
        let cost = cost.min(self.most());
        let enough = *level >= cost;
        if enough {
            *level -= cost;
        }
        enough
    }
}

/// File descriptors for temporary files and for files that are open for a moment.
const SPARE_FILES: usize = 64;
/// The connections that a server accepts however few files it may open.
const MIN_CONNECTIONS: usize = 16;

/// The most open connections of a process that may open `limit` files (`None` is no limit) and needs `files` of them
/// for other purposes.
#[must_use]
pub fn max_connections(limit: Option<usize>, files: usize) -> usize {
    let left = limit.map_or(MAX_CONNECTIONS, |limit| limit.saturating_sub(files + SPARE_FILES));
    left.clamp(MIN_CONNECTIONS, MAX_CONNECTIONS)
}

/// The most files that this process may open (`ulimit -n`), and the number of open ones; `None` if there is no limit,
/// or the system does not tell.
#[must_use]
pub fn file_limit() -> Option<(usize, usize)> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let soft = limits.lines().find_map(|line| line.strip_prefix("Max open files")?.split_whitespace().next());
    let open = std::fs::read_dir("/proc/self/fd").ok()?.count();
    Some((soft?.parse().ok()?, open))
}

/// The open connections, by address.
pub struct Connections {
    most: usize,
    open: Mutex<HashMap<IpAddr, usize>>,
}

impl Connections {
    /// No connections yet, and later at most `most`.
    #[must_use]
    pub fn new(most: usize) -> Connections {
        Connections { most, open: Mutex::default() }
    }

    /// Counts a connection; false if the server, or the address if `per_address`, has too many.
    pub fn open(&self, address: IpAddr, per_address: bool) -> bool {
        let mut open = self.open.lock().unwrap_or_else(|e| e.into_inner());
        let total: usize = open.values().sum();
        let own = open.entry(address).or_default();
        let enough = total >= self.most || per_address && *own >= MAX_CONNECTIONS_PER_ADDRESS;
        if !enough {
            *own += 1;
        } else if *own == 0 {
            open.remove(&address);
        }
        !enough
    }

    /// Stops counting a connection.
    pub fn close(&self, address: IpAddr) {
        let mut open = self.open.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(own) = open.get_mut(&address) {
            *own -= 1;
            if *own == 0 {
                open.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills() {
        let (rates, start) = (Rates::new(2.0), Instant::now());
        let (a, b) = (IpAddr::from([9, 9, 9, 9]), IpAddr::from([9, 9, 9, 8]));
        let taken = (0..20).filter(|_| rates.take(a, 1.0, start)).count();
        assert_eq!(taken, 8, "four seconds of the rate at once");
        assert!(rates.take(b, 1.0, start), "another address has its own");
        assert!(!rates.take(a, 1.0, start + Duration::from_millis(400)));
        assert!(rates.take(a, 1.0, start + Duration::from_millis(600)));
        let later = start + Duration::from_secs(60);
        assert!(rates.take(a, 3.0, later), "the price of a request");
        assert!(rates.take(a, 100.0, later), "the price of its work is at most half a bucket");
        assert!(rates.take(a, 1.0, later));
        assert!(!rates.take(a, 1.0, later));
    }

    #[test]
    fn connections_leave_files_to_the_tables() {
        assert_eq!(max_connections(None, 5000), MAX_CONNECTIONS);
        assert_eq!(max_connections(Some(1 << 20), 5000), MAX_CONNECTIONS);
        assert_eq!(max_connections(Some(1024), 300), 1024 - 300 - SPARE_FILES);
        assert_eq!(max_connections(Some(256), 5000), MIN_CONNECTIONS);
        if cfg!(target_os = "linux") {
            let (limit, open) = file_limit().unwrap_or((usize::MAX, 3));
            assert!(open >= 3 && open <= limit);
        }
    }

    #[test]
    fn connections_are_limited_by_address_and_in_total() {
        let connections = Connections::new(MAX_CONNECTIONS);
        let address = |i: u8| IpAddr::from([9, 9, 9, i]);
        assert!((0..MAX_CONNECTIONS_PER_ADDRESS).all(|_| connections.open(address(0), true)));
        assert!(!connections.open(address(0), true));
        assert!(connections.open(address(1), true), "another address has its own limit");
        connections.close(address(1));
        connections.close(address(0));
        assert!(connections.open(address(0), true));
        assert!((MAX_CONNECTIONS_PER_ADDRESS..MAX_CONNECTIONS).all(|_| connections.open(address(0), false)));
        assert!(!connections.open(address(2), true), "the server is full");
    }
}
