//! The path from the root to the current node: repetition, the no-capture limit, and the limits of the search.

use super::score::{DECIDED, MATE, Value, is_exact};
use super::shared::Shared;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The nodes between two checks of the limits, about 0.2 ms.
const CHECK_INTERVAL: u64 = 1024;

/// The plies to the no-capture limit from which on estimates do not depend on it, nor wins that a search finds.
const FAR: u32 = 64;

/// The node count of a search thread, and the positions on its path.
pub(super) struct Path<'a> {
    pub shared: &'a Shared<'a>,
    pub id: usize,
    pub nodes: u64,
    pub tbhits: u64,
    nodes_until_check: u64,
    last_check: Duration,
    pub stopped: bool,
    /// The depth of the last complete iteration; 0 before the first.
    pub depth: u32,
    /// Keys from the root to the position being searched.
    keys: Vec<u64>,
    /// The halfmove clock (plies since the last capture) of each key's position.
    halfmove_clocks: Vec<u32>,
    /// The number of keys on the path, and of drawn ones before it ([`Shared::repeated`]), with the same low bits: 1
    /// proves that a position is new.
    seen: Box<[u16; 4096]>,
    /// The plies to the no-capture limit from which on no value depends on it.
    far: u32,
}

impl<'a> Path<'a> {
    pub(super) fn new(shared: &'a Shared<'a>, id: usize) -> Path<'a> {
        let mut path = Path {
            shared,
            id,
            nodes: 0,
            tbhits: 0,
            nodes_until_check: 0,
            last_check: shared.spent(),
            stopped: false,
            depth: 0,
            keys: Vec::with_capacity(512),
            halfmove_clocks: Vec::with_capacity(512),
            seen: Box::new([0; 4096]),
            far: shared.longest_win().max(FAR),
        };
        for &key in &shared.repeated {
            path.count_key(key);
        }
        path.push(shared.root_key, shared.halfmove_clock);
        path.nodes_until_check = path.next_check();
        path
    }

    #[inline(always)]
    pub(super) fn push(&mut self, key: u64, halfmove_clock: u32) {
        self.keys.push(key);
        self.halfmove_clocks.push(halfmove_clock);
        self.count_key(key);
    }

    #[inline(always)]
    fn count_key(&mut self, key: u64) {
        let seen = &mut self.seen[key as usize & 4095];
        *seen = seen.saturating_add(1);
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) {
        if let Some(key) = self.keys.pop() {
            self.halfmove_clocks.pop();
            self.seen[key as usize & 4095] -= 1;
        }
    }

    /// The halfmove clock: plies since the last capture, at the position being searched.
    #[inline(always)]
    pub(super) fn halfmove_clock(&self) -> u32 {
        self.halfmove_clocks.last().copied().unwrap_or(0)
    }

    /// Plies until the no-capture limit draws the game.
    #[inline(always)]
    pub(super) fn plies_left(&self) -> u32 {
        self.shared.no_capture_limit.saturating_sub(self.halfmove_clock())
    }

    /// The part of a key of the transposition table that depends on the no-capture limit: near the limit, the plies that
    /// are left, in eights, so that draws by the limit stay where the limit is near.
    #[inline(always)]
    fn tt_salt(&self, plies_left: u32) -> u64 {
        if plies_left > self.far { 0 } else { u64::from(plies_left / 8 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    }

    /// The key of the position being searched in the transposition table.
    #[inline(always)]
    pub(super) fn tt_key(&self, key: u64) -> u64 {
        key ^ self.tt_salt(self.plies_left())
    }

    /// The salt of the position after a quiet move, see [`Path::tt_salt`].
    #[inline(always)]
    pub(super) fn next_salt(&self) -> u64 {
        self.tt_salt(self.plies_left().saturating_sub(1))
    }

    /// Whether a value of the transposition table, `ply` plies from the root, can be used here: the entry may come from a
    /// position with another halfmove clock. A win or loss must come before the no-capture limit, and close to the limit
    /// estimates are unreliable.
    #[inline(always)]
    pub(super) fn tt_holds(&self, value: Value, ply: usize) -> bool {
        let left = self.plies_left();
        if left > FAR {
            return true;
        }
        match value.abs() {
            size if size < DECIDED => left > 20,
            _ if !is_exact(value) => false,
            size => MATE - size - ply as Value <= left as Value,
        }
    }

    /// Whether the position being searched counts as a repetition: it occurred since the root, or often enough before.
    #[inline(always)]
    pub(super) fn repeats(&self) -> bool {
        let Some((&key, earlier)) = self.keys.split_last() else { return false };
        self.seen[key as usize & 4095] > 1 && self.occurred(key, earlier.len(), self.halfmove_clock())
    }

    /// Whether a quiet move that leads to this key would repeat a position.
    #[inline(always)]
    pub(super) fn would_repeat(&self, key: u64) -> bool {
        self.seen[key as usize & 4095] > 0 && self.occurred(key, self.keys.len(), self.halfmove_clock() + 1)
    }

    /// Whether a position with this key and halfmove clock, `ply` plies from the root, counts as a repetition.
    fn occurred(&self, key: u64, ply: usize, halfmove_clock: u32) -> bool {
        let mut back = 4;
        while back <= ply && back <= halfmove_clock as usize {
            if self.keys[ply - back] == key {
                return true;
            }
            back += 2;
        }
        // Before a capture no position can be the same.
        halfmove_clock as usize >= ply && self.shared.repeated.binary_search(&key).is_ok()
    }

    fn next_check(&self) -> u64 {
        match self.shared.limits.nodes {
            Some(limit) if self.shared.counts.len() == 1 && self.shared.is_limited() => {
                limit.saturating_sub(self.nodes).clamp(1, CHECK_INTERVAL)
            }
            _ => CHECK_INTERVAL,
        }
    }

    /// Counts a node, and checks the limits every [`CHECK_INTERVAL`] nodes.
    #[inline(always)]
    pub(super) fn count_node(&mut self) {
        self.nodes += 1;
        self.nodes_until_check -= 1;
        if self.nodes_until_check == 0 {
            self.check();
        }
    }

    /// Whether the time is up. Time between two checks beyond the time for their nodes was spent waiting for the CPU.
    /// The search stops earlier by the longest such delay.
    fn out_of_time(&mut self, hard: Duration) -> bool {
        let now = self.shared.spent();
        let waited = now.saturating_sub(self.last_check).saturating_sub(Duration::from_millis(1));
        self.last_check = now;
        let waited = waited.as_micros() as u64;
        let mut delay = self.shared.delay.load(Relaxed);
        // The other threads read the delay, so it is written only to grow.
        if waited > delay {
            delay = self.shared.delay.fetch_max(waited, Relaxed).max(waited);
        }
        now + Duration::from_micros(delay).min(hard / 3) >= hard
    }

    /// Checks the limits now.
    #[cold]
    #[inline(never)]
    pub(super) fn check(&mut self) {
        let shared = self.shared;
        let counts = &shared.counts[self.id];
        counts.nodes.store(self.nodes, Relaxed);
        counts.tbhits.store(self.tbhits, Relaxed);
        let over = shared.stopped()
            || shared.is_limited()
                && (shared.limits.nodes.is_some_and(|limit| shared.total_nodes() >= limit)
                    || shared.hard.is_some_and(|hard| self.out_of_time(hard)))
            || self.depth > 0 && shared.is_deep_enough(self.depth);
        if over {
            shared.done.store(true, Relaxed);
            self.stopped = true;
        }
        self.nodes_until_check = self.next_check();
    }
}
