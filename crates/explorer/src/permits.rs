//! Permits for limited resources, shared fairly between clients and between the work of one client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// A number of permits. A free permit goes to the waiting client with the fewest. No client can hold all, and long work
/// leaves one of a client's permits to its short work.
pub struct Permits {
    state: Mutex<State>,
    /// The most permits of one client.
    per_client: usize,
}

/// How long a permit is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Seconds.
    Short,
    /// Until the client leaves, or makes way.
    Long,
}

struct State {
    free: usize,
    /// The permits that each client holds; a client without permits is missing.
    held: HashMap<IpAddr, usize>,
    /// The waiting requests, in the order of their arrival.
    waiting: Vec<Waiter>,
}

struct Waiter {
    client: IpAddr,
    hold: Hold,
    /// Whether a holder has promised its permit to this request.
    promised: bool,
    wake: oneshot::Sender<Permit>,
}

/// The most requests that wait, of all clients and of one.
const MAX_WAITING: usize = 256;
const MAX_WAITING_PER_CLIENT: usize = 32;

/// One or more permits of a client, which returns them when dropped.
pub struct Permit {
    permits: Arc<Permits>,
    client: IpAddr,
    hold: Hold,
    count: usize,
}

impl Permits {
    /// At least two permits, so that one client cannot hold all.
    #[must_use]
    pub fn new(count: usize) -> Arc<Permits> {
        let count = count.max(2);
        let state = State { free: count, held: HashMap::new(), waiting: Vec::new() };
        Arc::new(Permits { state: Mutex::new(state), per_client: count - 1 })
    }

    /// The number of permits that are held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.lock().held.values().sum()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of further permits that work of a client may take, if they are free.
    fn allowance(&self, state: &State, client: IpAddr, hold: Hold) -> usize {
        let most = match hold {
            Hold::Short => self.per_client,
            Hold::Long => (self.per_client - 1).max(1),
        };
        most.saturating_sub(state.held_by(client))
    }

    /// Waits for one permit; `None` if that takes longer than `patience`, or if too many requests wait already.
    pub async fn acquire(self: &Arc<Permits>, client: IpAddr, hold: Hold, patience: Duration) -> Option<Permit> {
        let receiver = {
            let mut state = self.lock();
            // No waiting request could take this permit: `grant` would have given it.
            if state.free > 0 && self.allowance(&state, client, hold) > 0 {
                state.take(client, 1);
                return Some(self.permit(client, hold, 1));
            }
            state.waiting.retain(|waiter| !waiter.wake.is_closed());
            let own = state.waiting.iter().filter(|waiter| waiter.client == client).count();
            if state.waiting.len() >= MAX_WAITING || own >= MAX_WAITING_PER_CLIENT {
                return None;
            }
            let (wake, receiver) = oneshot::channel();
            state.waiting.push(Waiter { client, hold, promised: false, wake });
            receiver
        };
        tokio::time::timeout(patience, receiver).await.ok()?.ok()
    }

    /// Promises the permit of `holder` to a waiting request of another client; false if every request that could take
    /// it has a promise.
    pub fn promise(&self, holder: IpAddr) -> bool {
        let mut state = self.lock();
        let waits = |&i: &usize| {
            let Waiter { client, hold, promised, ref wake } = state.waiting[i];
            client != holder && !promised && !wake.is_closed() && self.allowance(&state, client, hold) > 0
        };
        let Some(waiter) = (0..state.waiting.len()).find(waits) else { return false };
        state.waiting[waiter].promised = true;
        true
    }

    fn permit(self: &Arc<Permits>, client: IpAddr, hold: Hold, count: usize) -> Permit {
        Permit { permits: self.clone(), client, hold, count }
    }

    /// Gives free permits to waiting requests.
    fn grant(self: &Arc<Permits>, state: &mut State) {
        while state.free > 0 {
            let may = |&i: &usize| self.allowance(state, state.waiting[i].client, state.waiting[i].hold) > 0;
            let next = (0..state.waiting.len()).filter(may).min_by_key(|&i| state.held_by(state.waiting[i].client));
            let Some(next) = next else { return };
            let Waiter { client, hold, wake, .. } = state.waiting.remove(next);
            state.take(client, 1);
            if let Err(mut refused) = wake.send(self.permit(client, hold, 1)) {
                // The request is gone. The lock is held, so the permit must not return itself.
                state.put(client, refused.count);
                refused.count = 0;
            }
        }
    }
}

impl State {
    fn held_by(&self, client: IpAddr) -> usize {
        self.held.get(&client).copied().unwrap_or(0)
    }

    fn take(&mut self, client: IpAddr, count: usize) {
        self.free -= count;
        *self.held.entry(client).or_default() += count;
    }

    fn put(&mut self, client: IpAddr, count: usize) {
        self.free += count;
        if let Some(held) = self.held.get_mut(&client) {
            *held -= count;
            if *held == 0 {
                self.held.remove(&client);
            }
        }
    }
}

impl Permit {
    /// Takes further free permits without waiting, up to `count` in all, and returns the number held.
    pub fn widen(&mut self, count: usize) -> usize {
        let mut state = self.permits.lock();
        let allowed = self.permits.allowance(&state, self.client, self.hold);
        let more = count.saturating_sub(self.count).min(state.free).min(allowed);
        state.take(self.client, more);
        self.count += more;
        self.count
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.count > 0 {
            let mut state = self.permits.lock();
            state.put(self.client, self.count);
            self.permits.grant(&mut state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_millis(50);

    fn client(i: u8) -> IpAddr {
        IpAddr::from([9, 9, 9, i])
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }

    #[test]
    fn no_client_holds_all_permits() {
        run(async {
            let permits = Permits::new(3);
            let mut first = permits.acquire(client(0), Hold::Short, PATIENCE).await.unwrap();
            assert_eq!(first.widen(100), 2, "one is left for others");
            assert!(permits.acquire(client(0), Hold::Short, PATIENCE).await.is_none());
            let second = permits.acquire(client(1), Hold::Short, PATIENCE).await;
            assert!(second.is_some(), "another client does not wait");
            assert!(permits.acquire(client(2), Hold::Short, PATIENCE).await.is_none());
            drop(first);
            assert!(permits.acquire(client(2), Hold::Short, PATIENCE).await.is_some());
        });
    }

    #[test]
    fn long_work_of_a_client_leaves_a_permit_to_its_short_work() {
        run(async {
            let permits = Permits::new(4);
            let mut long = permits.acquire(client(0), Hold::Long, PATIENCE).await.unwrap();
            assert_eq!(long.widen(100), 2, "one for short work, one for others");
            assert!(permits.acquire(client(0), Hold::Long, PATIENCE).await.is_none());
            let short = permits.acquire(client(0), Hold::Short, PATIENCE).await;
            assert!(short.is_some());
            let mut other = permits.acquire(client(1), Hold::Long, PATIENCE).await.unwrap();
            assert_eq!(other.widen(100), 1, "no other is free");
            let waiting = permits.clone();
            let waiting =
                tokio::spawn(
                    async move { waiting.acquire(client(0), Hold::Long, Duration::from_secs(60)).await.is_some() },
                );
            tokio::task::yield_now().await;
            assert!(!permits.promise(client(1)), "client 0 could not take the permit");
            drop(short);
            tokio::task::yield_now().await;
            assert!(!waiting.is_finished(), "the permit is for short work");
            drop(long);
            assert!(waiting.await.unwrap());
        });
    }

    #[test]
    fn a_free_permit_goes_to_the_client_that_holds_the_fewest() {
        run(async {
            let permits = Permits::new(3);
            let wait = |i: u8| {
                let permits = permits.clone();
                tokio::spawn(async move {
                    permits.acquire(client(i), Hold::Short, Duration::from_secs(3600)).await.unwrap()
                })
            };
            let a = permits.acquire(client(0), Hold::Short, PATIENCE).await.unwrap();
            let b = permits.acquire(client(0), Hold::Short, PATIENCE).await.unwrap();
            let c = permits.acquire(client(1), Hold::Short, PATIENCE).await.unwrap();
            // Two requests of the client with two permits wait before a request of a client without permits.
            let (greedy, greedier) = (wait(0), wait(0));
            tokio::task::yield_now().await;
            let modest = wait(2);
            tokio::task::yield_now().await;
            drop(a);
            let modest = modest.await.unwrap();
            assert!(!greedy.is_finished() && !greedier.is_finished());
            drop((b, c, modest));
            assert!(greedy.await.is_ok() && greedier.await.is_ok());
        });
    }

    #[test]
    fn a_request_that_has_left_takes_no_permit() {
        run(async {
            let permits = Permits::new(2);
            let held = permits.acquire(client(0), Hold::Short, PATIENCE).await.unwrap();
            let other = permits.acquire(client(1), Hold::Short, PATIENCE).await.unwrap();
            assert!(permits.acquire(client(2), Hold::Short, PATIENCE).await.is_none(), "it has lost patience");
            drop((held, other));
            assert_eq!(permits.lock().free, 2);
            assert!(permits.lock().held.is_empty());
        });
    }

    #[test]
    fn one_holder_makes_way_for_one_request() {
        run(async {
            let permits = Permits::new(2);
            let held = permits.acquire(client(0), Hold::Short, PATIENCE).await.unwrap();
            let _other = permits.acquire(client(1), Hold::Short, PATIENCE).await.unwrap();
            assert!(!permits.promise(client(0)), "nobody waits");
            let waiting = permits.clone();
            let waiting = tokio::spawn(async move {
                waiting.acquire(client(2), Hold::Short, Duration::from_secs(3600)).await.is_some()
            });
            tokio::task::yield_now().await;
            assert!(!permits.promise(client(2)), "a client does not make way for itself");
            assert!(permits.promise(client(0)));
            assert!(!permits.promise(client(1)), "one permit is enough");
            drop(held);
            assert!(waiting.await.unwrap());
        });
    }

    #[test]
    fn waiting_requests_of_a_client_are_limited() {
        run(async {
            let permits = Permits::new(2);
            let _held = permits.acquire(client(0), Hold::Short, PATIENCE).await.unwrap();
            let wait = || {
                let permits = permits.clone();
                tokio::spawn(async move {
                    permits.acquire(client(0), Hold::Short, Duration::from_secs(3600)).await.is_some()
                })
            };
            let waiting: Vec<_> = (0..MAX_WAITING_PER_CLIENT).map(|_| wait()).collect();
            tokio::task::yield_now().await;
            let at_once = permits.acquire(client(0), Hold::Short, Duration::from_secs(3600));
            let refused = tokio::time::timeout(Duration::from_secs(120), at_once).await;
            assert!(refused.expect("it does not wait").is_none());
            assert!(permits.acquire(client(1), Hold::Short, PATIENCE).await.is_some(), "another client is not");
            waiting.iter().for_each(tokio::task::JoinHandle::abort);
        });
    }
}
