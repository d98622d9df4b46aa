//! Data that the threads of one search share, and its limits.

use super::eval::CaptureMasks;
use super::limits::Limits;
use super::options::{EngineOptions, Techniques};
use super::parameters::{Parameters, Reductions};
use super::score::{Value, mated_in};
use super::tables::Tables;
use super::tt::Tt;
use crate::board::{NoMove, Position, Rules};
use crate::clock::Instant;
use crate::game::Game;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What a draw is worth that is judged to be a win.
const JUDGED: Value = 1500;

/// What a caller asks of a search.
#[derive(Copy, Clone)]
pub(super) struct Request<'a> {
    pub game: &'a Game,
    pub limits: Limits,
    pub stop: &'a AtomicBool,
    /// When the clock started.
    pub start: Instant,
    /// See [`Search::ponder`](super::Search::ponder).
    pub ponder: Option<&'a OnceLock<Instant>>,
    /// If set, only wins in at most so many plies are searched for.
    pub mate_plies: Option<u32>,
}

/// What a thread has counted, on a cache line of its own: threads that search do not wait for each other's counts.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Counts {
    pub nodes: AtomicU64,
    pub tbhits: AtomicU64,
}

/// The shared data of one search.
pub(super) struct Shared<'a> {
    pub rules: &'a Rules,
    pub masks: &'a CaptureMasks,
    pub tt: &'a Tt,
    /// The endgame tables, if they are for the rules of the game.
    pub tb: Option<&'a Tables>,
    /// See [`EngineOptions::tb_probe_depth`].
    pub tb_probe_depth: i32,
    pub techniques: Techniques,
    #[cfg(feature = "tune")]
    parameters: &'a Parameters,
    pub reductions: &'a Reductions,
    /// See [`EngineOptions::contempt`]; where draws are judged, what a draw in the first position is worth to the opponent.
    contempt: Value,
    /// The halfmove clock at which the game is drawn: by the no-capture limit, or as if only captures let the game go on
    /// beyond the limit of moves.
    pub no_capture_limit: u32,
    pub limits: Limits,
    /// See [`Request::mate_plies`].
    pub mate_plies: Option<u32>,
    pub start: Instant,
    /// See [`Request::ponder`].
    ponder: Option<&'a OnceLock<Instant>>,
    /// The time after which no new iteration begins, unless the best move changes.
    pub soft: Option<Duration>,
    /// The time after which the search ends.
    pub hard: Option<Duration>,
    /// The longest recent time for which a runnable thread had no CPU, in microseconds. The search stops earlier by
    /// this time.
    pub delay: AtomicU64,
    /// The stop handle of the caller.
    pub stop: &'a AtomicBool,
    /// Set by the thread that reaches a limit.
    pub done: AtomicBool,
    pub counts: Vec<Counts>,
    /// The key of the root.
    pub root_key: u64,
    /// The keys of positions before the root that have occurred so often that another occurrence is a draw, or illegal, in
    /// ascending order.
    pub repeated: Vec<u64>,
    /// The halfmove clock: plies since the last capture, at the root.
    pub halfmove_clock: u32,
}

impl<'a> Shared<'a> {
    pub(super) fn new(
        request: &Request<'a>,
        masks: &'a CaptureMasks,
        tt: &'a Tt,
        options: &'a EngineOptions,
        reductions: &'a Reductions,
        techniques: Techniques,
        delay: Duration,
    ) -> Shared<'a> {
        let &Request { game, limits, stop, start, ponder, mate_plies } = request;
        let (soft, hard) = limits.times(options.move_overhead);
        Shared {
            rules: game.rules(),
            masks,
            tt,
            tb: options.tables.as_deref().filter(|tb| tb.supports_rules(game.rules().options())),
            tb_probe_depth: options.tb_probe_depth.into(),
            techniques,
            #[cfg(feature = "tune")]
            parameters: options.parameters(),
            reductions,
            contempt: match game.winner_of_draw() {
                None => options.contempt.min(EngineOptions::MAX_CONTEMPT).into(),
                Some(winner) if winner == game.position().turn() => -JUDGED,
                Some(_) => JUDGED,
            },
            no_capture_limit: game.plies_left().map_or(u32::MAX, |left| game.halfmove_clock() + left),
            limits,
            mate_plies,
            start,
            ponder,
            soft,
            hard,
            delay: AtomicU64::new(delay.as_micros() as u64),
            stop,
            done: AtomicBool::new(false),
            counts: (0..options.threads.max(1)).map(|_| Counts::default()).collect(),
            root_key: game.position().key(),
            // They come in the order of their keys.
            repeated: game.drawn_if_repeated().map(Position::key).collect(),
            halfmove_clock: game.halfmove_clock(),
        }
    }

    /// The parameters of the search: constants, unless they can be tuned.
    #[inline(always)]
    pub(super) fn parameters(&self) -> &Parameters {
        #[cfg(feature = "tune")]
        {
            self.parameters
        }
        #[cfg(not(feature = "tune"))]
        {
            &Parameters::DEFAULT
        }
    }

    /// The longest time for which a runnable thread had no CPU.
    pub(super) fn waited(&self) -> Duration {
        Duration::from_micros(self.delay.load(Relaxed))
    }

    pub(super) fn total_nodes(&self) -> u64 {
        self.counts.iter().map(|counts| counts.nodes.load(Relaxed)).sum()
    }

    pub(super) fn total_tbhits(&self) -> u64 {
        self.counts.iter().map(|counts| counts.tbhits.load(Relaxed)).sum()
    }

    pub(super) fn stopped(&self) -> bool {
        self.done.load(Relaxed) || self.stop.load(Relaxed)
    }

    /// Whether the limits hold: not while the search ponders.
    pub(super) fn is_limited(&self) -> bool {
        self.ponder.is_none_or(|hit| hit.get().is_some())
    }

    /// Whether the search may end after an iteration of this depth.
    pub(super) fn is_deep_enough(&self, depth: u32) -> bool {
        self.is_limited() && self.limits.depth.is_some_and(|deepest| depth >= deepest)
    }

    /// The time since the limits hold.
    pub(super) fn spent(&self) -> Duration {
        match self.ponder {
            None => self.start.elapsed(),
            Some(hit) => hit.get().map_or(Duration::ZERO, Instant::elapsed),
        }
    }

    /// Whether the search was stopped or has reached a limit of time or nodes.
    pub(super) fn is_over(&self) -> bool {
        self.stop.load(Relaxed)
            || self.is_limited()
                && (self.limits.nodes.is_some_and(|limit| self.total_nodes() >= limit)
                    || self.soft.or(self.hard).is_some_and(|time| self.spent() >= time))
    }

    /// The plies of the longest win in the endgame tables.
    pub(super) fn longest_win(&self) -> u32 {
        self.tb.map_or(0, Tables::longest_win)
    }

    /// The value of a draw, `ply` plies from the root.
    #[inline(always)]
    pub(super) fn draw_value(&self, ply: usize) -> Value {
        if ply.is_multiple_of(2) { -self.contempt } else { self.contempt }
    }

    /// The value of a stalemate (no legal move), `ply` plies from the root.
    pub(super) fn stalemate_value(&self, ply: usize) -> Value {
        match self.rules.options().no_move {
            NoMove::Draw => self.draw_value(ply),
            NoMove::Loss => mated_in(ply),
        }
    }
}
