//! The path from the root to the current node: repetition, the no-capture limit, and the limits of the search.

use super::score::{DECIDED, MATE, Value, is_exact};
use super::shared::Shared;
use super::tb::LONGEST_WIN;
use crate::board::Repetition;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The nodes between two checks of the limits, about 0.2 ms.
const CHECK_INTERVAL: u64 = 1024;

/// The part of a key of the transposition table that depends on the no-capture limit: near the limit, the plies that are
/// left, in eights, so that draws by the limit stay where the limit is near.
#[inline(always)]
pub(super) fn tt_salt(plies_left: u32) -> u64 {
    if plies_left > LONGEST_WIN { 0 } else { u64::from(plies_left / 8 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) }
}

/// The node count of a search thread, and the positions on its path.
pub(super) struct Path<'a> {
    pub shared: &'a Shared<'a>,
    pub id: usize,
    pub nodes: u64,
    pub tbhits: u64,
    nodes_until_check: u64,
    last_check: Duration,
    pub stopped: bool,
    /// Keys from the last capture before the root to the position being searched.
    keys: Vec<u64>,
    /// The halfmove clock (plies since the last capture) of each key's position.
    halfmove_clocks: Vec<u32>,
    /// The index of the root.
    root: usize,
    /// The number of keys on the path with the same low bits: 1 proves that a position is new.
    seen: Box<[u16; 4096]>,
    /// The number of earlier occurrences before the root that makes another one a draw; `usize::MAX` if none does.
    enough: usize,
}

impl<'a> Path<'a> {
    pub(super) fn new(shared: &'a Shared<'a>, id: usize) -> Path<'a> {
        let enough = match shared.rules.options().repetition {
            Repetition::Threefold => 2,
            Repetition::Twofold | Repetition::Illegal => 1,
            Repetition::None => usize::MAX,
        };
        let mut path = Path {
            shared,
            id,
            nodes: 0,
            tbhits: 0,
            nodes_until_check: 0,
            last_check: shared.start.elapsed(),
            stopped: false,
            keys: Vec::with_capacity(512),
            halfmove_clocks: Vec::with_capacity(512),
            root: shared.history.len() - 1,
            seen: Box::new([0; 4096]),
            enough,
        };
        for (i, &key) in shared.history.iter().enumerate() {
            // A FEN may name more earlier positions than its halfmove clock has plies.
            path.push(key, shared.halfmove_clock.saturating_sub((path.root - i) as u32));
        }
        path.nodes_until_check = path.next_check();
        path
    }

    #[inline(always)]
    pub(super) fn push(&mut self, key: u64, halfmove_clock: u32) {
        self.keys.push(key);
        self.halfmove_clocks.push(halfmove_clock);
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

    /// The key of the position being searched in the transposition table.
    #[inline(always)]
    pub(super) fn tt_key(&self, key: u64) -> u64 {
        key ^ tt_salt(self.plies_left())
    }

    /// The salt of the position after a quiet move, see [`tt_salt`].
    #[inline(always)]
    pub(super) fn next_salt(&self) -> u64 {
        tt_salt(self.plies_left().saturating_sub(1))
    }

    /// Whether a value of the transposition table, `ply` plies from the root, can be used here: the entry may come from a
    /// position with another halfmove clock. A win or loss must come before the no-capture limit, and close to the limit
    /// estimates are unreliable.
    #[inline(always)]
    pub(super) fn tt_holds(&self, value: Value, ply: usize) -> bool {
        let left = self.plies_left();
        if left > LONGEST_WIN {
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
        self.seen[key as usize & 4095] > 1 && self.occurred(key, earlier.len(), 4, self.halfmove_clock())
    }

    /// Whether a quiet move that leads to this key would repeat a position.
    #[inline(always)]
    pub(super) fn would_repeat(&self, key: u64) -> bool {
        self.seen[key as usize & 4095] > 0 && self.occurred(key, self.keys.len(), 4, self.halfmove_clock() + 1)
    }

    fn occurred(&self, key: u64, index: usize, nearest: usize, halfmove_clock: u32) -> bool {
        let mut count = 0;
        let mut back = nearest;
        while back <= index && back <= halfmove_clock as usize {
            let i = index - back;
            if self.keys[i] == key {
                count += 1;
                if i >= self.root || count >= self.enough {
                    return true;
                }
            }
            back += 2;
        }
        false
    }

    fn next_check(&self) -> u64 {
        match self.shared.limits.nodes {
            Some(limit) if self.shared.counts.len() == 1 => limit.saturating_sub(self.nodes).clamp(1, CHECK_INTERVAL),
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
        let now = self.shared.start.elapsed();
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
            || shared.limits.nodes.is_some_and(|limit| shared.total_nodes() >= limit)
            || shared.hard.is_some_and(|hard| self.out_of_time(hard));
        if over {
            shared.done.store(true, Relaxed);
            self.stopped = true;
        }
        self.nodes_until_check = self.next_check();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Position, Rules};
    use crate::game::Game;
    use crate::search::eval::CaptureMasks;
    use crate::search::shared::Request;
    use crate::search::tt::Tt;
    use crate::search::{EngineOptions, Limits};
    use std::sync::atomic::AtomicBool;
    use std::time::Instant;

    /// The positions of `reps` in Mistboard's FEN may be more than its halfmove clock allows.
    #[test]
    fn earlier_positions_may_exceed_the_clock() {
        let (start, rules) = (Position::start(), Rules::default());
        let game = |clock| {
            let fen = format!("{} {clock}", start.to_fen()).parse().unwrap();
            Game::from_fen(fen, rules.clone(), None).with_earlier(vec![start.pass(), start.clone()])
        };
        let (tt, stop) = (Tt::new(1), AtomicBool::new(false));
        let (masks, options) = (CaptureMasks::new(&rules), EngineOptions::default());
        for (clock, clocks) in [(0, [0, 0, 0]), (1, [0, 0, 1]), (7, [5, 6, 7])] {
            let game = game(clock);
            let (limits, start) = (Limits::default(), Instant::now());
            let request = Request { game: &game, limits, stop: &stop, start, mate_plies: None };
            let reductions = options.parameters().reductions();
            let shared = Shared::new(&request, &masks, &tt, &options, &reductions, options.search, Duration::ZERO);
            assert_eq!(Path::new(&shared, 0).halfmove_clocks, clocks);
        }
    }
}
