//! Iterative deepening with aspiration windows, for the best lines of one thread.

use super::eval::{NO_MOVE, Packed, State, animal_of, pack_move, to_of, unpack_move};
use super::info::Info;
use super::parameters::STABILITY;
use super::pvs::{RootMove, Worker};
use super::score::{DECIDED, INFINITE, MATE, Score, Value, public};
use super::shared::Shared;
use crate::board::Move;
use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// The maximum depth of an iteration, in plies.
const MAX_DEPTH: u32 = 120;

pub(super) struct Deepening<'a, 's> {
    worker: Worker<'a>,
    shared: &'a Shared<'a>,
    state: &'s State,
    /// The moves of the root, the best first.
    moves: Vec<RootMove>,
    /// The number of lines to find.
    multipv: usize,
    /// The lines of the last iteration.
    lines: Vec<Info>,
    best_move: Packed,
    /// The number of consecutive iterations with this best move.
    stable: usize,
}

impl<'a, 's> Deepening<'a, 's> {
    /// A search of these moves. There must be at least one.
    pub(super) fn new(worker: Worker<'a>, state: &'s State, roots: &[Move], multipv: usize) -> Deepening<'a, 's> {
        let shared = worker.shared;
        let moves = roots.iter().map(|&mv| RootMove::new(mv)).collect();
        Deepening { worker, shared, state, moves, multipv, lines: Vec::new(), best_move: NO_MOVE, stable: 0 }
    }

    /// Searches with increasing depth until a limit is reached, and returns the best lines. The first thread calls
    /// `report` with them after each iteration.
    pub(super) fn run(mut self, report: &mut dyn FnMut(&Info)) -> Vec<Info> {
        let id = self.worker.path.id;
        for depth in 1..=MAX_DEPTH as i32 {
            if depth > 1 && self.shared.is_deep_enough(depth as u32 - 1) {
                break;
            }
            // Helpers skip some depths, so that threads search different trees (lazy SMP).
            if id != 0 && depth > 2 && (depth + id as i32) % 3 == 0 {
                continue;
            }
            if self.iteration(depth).is_break() {
                break;
            }
            if id == 0 {
                self.worker.path.check();
                self.lines.iter().for_each(&mut *report);
                if self.worker.path.stopped || self.is_enough(depth) {
                    break;
                }
            }
        }
        self.shared.counts[id].nodes.store(self.worker.path.nodes, Ordering::Relaxed);
        if let Some(first) = self.lines.first_mut() {
            first.nodes = first.nodes.max(self.shared.total_nodes());
            first.time = self.shared.start.elapsed();
        }
        self.lines
    }

    /// Runs one iteration and sets the lines, best first. Breaks if the search was stopped.
    fn iteration(&mut self, depth: i32) -> ControlFlow<()> {
        for found in &mut self.moves {
            found.previous_value = found.value;
        }
        let mut finished = Vec::new();
        for index in 0..self.multipv {
            match self.aspiration(index, depth) {
                ControlFlow::Continue(value) => finished.push(self.info(index, index, depth, value)),
                ControlFlow::Break(improved) => {
                    self.interrupted(finished, index, improved, depth);
                    return ControlFlow::Break(());
                }
            }
        }
        self.moves[..self.multipv].sort_by_key(|found| Reverse(found.value));
        self.lines = ranked(finished);
        self.worker.path.depth = depth as u32;
        ControlFlow::Continue(())
    }

    /// The value of the line `index`, searched with a window around its value in the last iteration. The window is
    /// widened until it contains the value. If the search was stopped, breaks with whether a move has scored above
    /// alpha, in this window or in the one before.
    fn aspiration(&mut self, index: usize, depth: i32) -> ControlFlow<bool, Value> {
        if let Some(plies) = self.shared.mate_plies {
            let alpha = MATE - 1 - plies.min(MAX_DEPTH) as Value;
            let value = self.worker.root(self.state, &mut self.moves[index..], alpha, INFINITE, depth).unwrap_or(alpha);
            return if self.worker.path.stopped {
                ControlFlow::Break(value > alpha)
            } else {
                ControlFlow::Continue(value)
            };
        }
        let (scale, p) = (self.worker.scale, self.shared.parameters());
        let guess = self.lines.get(index).map_or(0, |_| self.moves[index].previous_value);
        let mut delta = p.aspiration_delta * scale;
        let narrow = self.shared.techniques.selective && depth >= p.aspiration_depth && guess.abs() < DECIDED;
        let (mut alpha, mut beta) = if narrow { (guess - delta, guess + delta) } else { (-INFINITE, INFINITE) };
        let mut failed_high = false;
        loop {
            let value = self.worker.root(self.state, &mut self.moves[index..], alpha, beta, depth);
            if self.worker.path.stopped {
                return ControlFlow::Break(value.map_or(failed_high, |value| value > alpha));
            }
            let value = value.unwrap_or(alpha);
            failed_high = value >= beta;
            if value <= alpha && alpha > -INFINITE {
                beta = (alpha + beta) / 2;
                alpha = (value - delta).max(-INFINITE);
            } else if value >= beta && beta < INFINITE {
                beta = (value + delta).min(INFINITE);
            } else {
                return ControlFlow::Continue(value);
            }
            delta += delta;
            if delta > p.aspiration_max * scale {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
        }
    }

    /// Keeps the result of an iteration that was stopped at the line `index`. A single line is replaced if it
    /// `improved`. Several lines must be comparable, so the lines of the previous iteration stay. If there was none,
    /// moves that were not searched complete the lines, with scores no better than those of the searched lines.
    fn interrupted(&mut self, mut finished: Vec<Info>, index: usize, improved: bool, depth: i32) {
        if !self.lines.is_empty() && (self.multipv > 1 || !improved) {
            return;
        }
        // The first move is the best of the last iteration, or a better move that this iteration found.
        let root_eval = self.worker.root_eval();
        let value = match self.moves[index].value {
            value if value > -INFINITE => value,
            _ => root_eval,
        };
        finished.push(self.info(index, index, depth, value));
        let worst = finished.iter().map(|line| line.score).min().unwrap_or(Score::estimate(root_eval));
        for (i, found) in self.moves.iter().enumerate() {
            let fits = finished.len() < self.multipv;
            if fits && finished.iter().all(|line| pack_move(line.pv[0]) != found.mv) {
                let mut line = self.info(i, finished.len(), depth, root_eval);
                line.score = line.score.min(worst);
                finished.push(line);
            }
        }
        self.lines = ranked(finished);
    }

    /// The line `index`, which begins with the move `at`.
    fn info(&self, at: usize, index: usize, depth: i32, value: Value) -> Info {
        let (shared, found) = (self.shared, &self.moves[at]);
        Info {
            depth: depth as u32,
            seldepth: found.seldepth as u32,
            multipv: index + 1,
            score: public(value, shared.longest_win()),
            nodes: shared.total_nodes().max(self.worker.path.nodes),
            time: shared.start.elapsed(),
            hashfull: shared.tt.hashfull(),
            tbhits: shared.total_tbhits(),
            pv: unpack_line(self.state, &found.line),
        }
    }

    /// Time management: whether not to begin another iteration.
    fn is_enough(&mut self, depth: i32) -> bool {
        let best = self.moves[0].mv;
        self.stable = if best == self.best_move { self.stable + 1 } else { 0 };
        self.best_move = best;
        if !self.shared.is_limited() {
            return false;
        }
        let score = self.lines[0].score;
        let limits = &self.shared.limits;
        let limited = self.shared.hard.is_some() || limits.nodes.is_some();
        let decided = match limits.mate_plies() {
            Some(most) => score.win_in().is_some_and(|plies| plies <= most),
            None => limited && score.win_in().or(score.loss_in()).is_some_and(|plies| depth as u32 >= plies + 10),
        };
        if decided {
            return true;
        }
        // A single legal move needs no search, and a stable best move needs less time.
        let factor = STABILITY[self.stable.min(STABILITY.len() - 1)];
        self.shared.soft.is_some_and(|soft| self.moves.len() == 1 || self.shared.spent() >= soft.mul_f64(factor))
    }
}

/// Sorts lines from best to worst and numbers them from 1. A later line may have a better score than an earlier one.
fn ranked(mut lines: Vec<Info>) -> Vec<Info> {
    lines.sort_by_key(|line| Reverse(line.score));
    for (i, line) in lines.iter_mut().enumerate() {
        line.multipv = i + 1;
    }
    lines
}

/// A line from the root as moves.
fn unpack_line(state: &State, line: &[Packed]) -> Vec<Move> {
    let mut lanes = state.lanes;
    let mut turn = state.turn;
    line.iter()
        .map(|&mv| {
            let from = &mut lanes[turn as usize][animal_of(mv)];
            let unpacked = unpack_move(mv, *from);
            *from = 1 << to_of(mv);
            turn = !turn;
            unpacked
        })
        .collect()
}
