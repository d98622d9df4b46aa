//! What the threads of one search share, and when it must stop.

use super::engine::Limits;
use super::eval::Evaluator;
use super::ideas::Ideas;
use super::tables::Tables;
use super::tt::Table;
use crate::board::{NoMove, Repetition, Rules};
use crate::cpu::CpuLevel;
use crate::game::Game;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Nodes between two looks at the clock: about 0.2 ms.
const NODES_BETWEEN: u64 = 1024;

/// One search.
pub(super) struct Shared<'a> {
    pub rules: &'a Rules,
    pub evaluator: &'a Evaluator,
    pub table: &'a Table,
    pub tables: Option<&'a Tables>,
    pub ideas: Ideas,
    pub level: CpuLevel,
    pub no_capture_limit: u32,
    pub limits: Limits,
    pub start: Instant,
    /// No new iteration after this long, unless the best move changes.
    pub soft: Option<Duration>,
    /// Never longer than this.
    pub hard: Option<Duration>,
    /// The longest that a thread was kept from running lately, in microseconds: on a busy machine a search stops so much
    /// earlier.
    pub lag: AtomicU64,
    /// Told from outside.
    pub stop: &'a AtomicBool,
    /// One of the threads found that it is time.
    pub done: AtomicBool,
    /// Nodes and table hits of each thread.
    pub nodes: Vec<AtomicU64>,
    pub tbhits: Vec<AtomicU64>,
    /// Keys of the game's positions since the last capture, the root last.
    pub history: Vec<u64>,
    pub quiet: u32,
}

/// Time that a move costs besides the search: telling, and waking up.
const OVERHEAD: Duration = Duration::from_millis(2);

impl Limits {
    /// After how long to begin no new iteration, and when to stop at the latest.
    fn times(&self) -> (Option<Duration>, Option<Duration>) {
        let margin = |time: Duration| time.saturating_sub(OVERHEAD.min(time / 10));
        let mut soft = None;
        let mut hard = self.movetime.map(margin);
        if let Some(clock) = self.clock {
            // Never more than a third of what is left, nor the last few milliseconds.
            let left = clock.remaining.saturating_sub(Duration::from_millis(10).min(clock.remaining / 5));
            let moves = clock.moves_to_go.unwrap_or(30).clamp(2, 30);
            let share = left / moves + clock.increment * 3 / 4;
            let most = (share * 4).min(if clock.moves_to_go == Some(1) { left * 4 / 5 } else { left / 3 });
            soft = Some((share * 3 / 5).min(most));
            hard = Some(hard.map_or(most, |h| h.min(most)));
        }
        (soft, hard)
    }
}

impl<'a> Shared<'a> {
    #[expect(clippy::too_many_arguments)]
    pub fn new(
        game: &'a Game,
        evaluator: &'a Evaluator,
        table: &'a Table,
        tables: Option<&'a Tables>,
        ideas: Ideas,
        limits: &Limits,
        threads: usize,
        lag: Duration,
        stop: &'a AtomicBool,
    ) -> Shared<'a> {
        let (soft, hard) = limits.times();
        let quiet = game.quiet_plies();
        let positions = game.positions();
        let since = positions.len() - 1 - quiet as usize;
        Shared {
            rules: game.rules(),
            evaluator,
            table,
            tables: tables.filter(|t| t.fits(game.rules())),
            ideas,
            level: CpuLevel::get(),
            no_capture_limit: game.no_capture_limit().unwrap_or(u32::MAX),
            limits: *limits,
            start: Instant::now(),
            soft,
            hard,
            lag: AtomicU64::new(lag.as_micros() as u64),
            stop,
            done: AtomicBool::new(false),
            nodes: (0..threads).map(|_| AtomicU64::new(0)).collect(),
            tbhits: (0..threads).map(|_| AtomicU64::new(0)).collect(),
            history: positions[since..].iter().map(|p| p.key()).collect(),
            quiet,
        }
    }

    /// The longest that a thread was kept from running.
    pub fn waited(&self) -> Duration {
        Duration::from_micros(self.lag.load(Relaxed))
    }

    pub fn total_nodes(&self) -> u64 {
        self.nodes.iter().map(|n| n.load(Relaxed)).sum()
    }

    pub fn total_tbhits(&self) -> u64 {
        self.tbhits.iter().map(|n| n.load(Relaxed)).sum()
    }

    pub fn stopped(&self) -> bool {
        self.done.load(Relaxed) || self.stop.load(Relaxed)
    }

    /// The value of having pieces but no move, `ply` plies from the root.
    pub fn stuck(&self, ply: usize) -> super::score::Value {
        match self.rules.options().no_move {
            NoMove::Draw => 0,
            NoMove::Loss => ply as super::score::Value - super::score::MATE,
        }
    }
}

/// What every searching thread keeps: its count of nodes, and the line it is on.
pub(super) struct Line<'a> {
    pub shared: &'a Shared<'a>,
    pub id: usize,
    pub nodes: u64,
    pub tbhits: u64,
    until_check: u64,
    last_check: Duration,
    pub stopped: bool,
    /// Keys from the last capture before the root to the position being searched.
    keys: Vec<u64>,
    /// Plies without a capture at each of them.
    quiets: Vec<u32>,
    /// Index of the root.
    root: usize,
    /// How many keys with these low bits are on the line: a quick way to know that a position is new.
    seen: Box<[u16; 4096]>,
    /// Earlier occurrences in the game that make one in the search a draw; none of them if `usize::MAX`.
    enough: usize,
}

impl<'a> Line<'a> {
    pub fn new(shared: &'a Shared<'a>, id: usize) -> Line<'a> {
        let enough = match shared.rules.options().repetition {
            Repetition::Threefold => 2,
            Repetition::Twofold | Repetition::Illegal => 1,
            Repetition::None => usize::MAX,
        };
        let mut line = Line {
            shared,
            id,
            nodes: 0,
            tbhits: 0,
            until_check: 0,
            last_check: shared.start.elapsed(),
            stopped: false,
            keys: Vec::with_capacity(512),
            quiets: Vec::with_capacity(512),
            root: shared.history.len() - 1,
            seen: Box::new([0; 4096]),
            enough,
        };
        let first = shared.quiet - line.root as u32;
        for (i, &key) in shared.history.iter().enumerate() {
            line.push(key, first + i as u32);
        }
        line.until_check = line.next_check();
        line
    }

    #[inline(always)]
    pub fn push(&mut self, key: u64, quiet: u32) {
        self.keys.push(key);
        self.quiets.push(quiet);
        let seen = &mut self.seen[key as usize & 4095];
        *seen = seen.saturating_add(1);
    }

    #[inline(always)]
    pub fn pop(&mut self) {
        if let Some(key) = self.keys.pop() {
            self.quiets.pop();
            self.seen[key as usize & 4095] -= 1;
        }
    }

    /// Plies without a capture at the position being searched.
    #[inline(always)]
    pub fn quiet(&self) -> u32 {
        self.quiets.last().copied().unwrap_or(0)
    }

    /// Whether the position being searched counts as a repetition: it occurred since the root, or often enough before.
    #[inline(always)]
    pub fn repeats(&self) -> bool {
        let Some((&key, earlier)) = self.keys.split_last() else { return false };
        self.seen[key as usize & 4095] > 1 && self.occurred(key, earlier.len(), 4, self.quiet())
    }

    /// Whether a quiet move that leads to this key would be one.
    #[inline(always)]
    pub fn would_repeat(&self, key: u64) -> bool {
        self.seen[key as usize & 4095] > 0 && self.occurred(key, self.keys.len(), 4, self.quiet() + 1)
    }

    fn occurred(&self, key: u64, index: usize, nearest: usize, quiet: u32) -> bool {
        let mut count = 0;
        let mut back = nearest;
        while back <= index && back <= quiet as usize {
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
            Some(limit) if self.shared.nodes.len() == 1 => limit.saturating_sub(self.nodes).clamp(1, NODES_BETWEEN),
            _ => NODES_BETWEEN,
        }
    }

    /// Counts a node and looks now and then whether it is time to stop.
    #[inline(always)]
    pub fn count_node(&mut self) {
        self.nodes += 1;
        self.until_check -= 1;
        if self.until_check == 0 {
            self.check();
        }
    }

    /// Looks at the clock; that much more time between two looks than nodes take was spent waiting for the processor.
    fn out_of_time(&mut self, hard: Duration) -> bool {
        let now = self.shared.start.elapsed();
        let waited = now.saturating_sub(self.last_check).saturating_sub(Duration::from_millis(1));
        self.last_check = now;
        let waited = waited.as_micros() as u64;
        let lag = self.shared.lag.fetch_max(waited, Relaxed).max(waited);
        now + Duration::from_micros(lag).min(hard / 3) >= hard
    }

    #[cold]
    #[inline(never)]
    pub fn check(&mut self) {
        let shared = self.shared;
        shared.nodes[self.id].store(self.nodes, Relaxed);
        shared.tbhits[self.id].store(self.tbhits, Relaxed);
        let over = shared.stopped()
            || shared.limits.nodes.is_some_and(|limit| shared.total_nodes() >= limit)
            || shared.hard.is_some_and(|hard| self.out_of_time(hard));
        if over {
            shared.done.store(true, Relaxed);
            self.stopped = true;
        }
        self.until_check = self.next_check();
    }
}
