//! The papers' engine: fail-soft alpha-beta with iterative deepening and a transposition table of Zobrist keys (van Rijn
//! and Vis, 2013). Of move ordering it has the table's move, captures of the strongest victim first, and then the moves
//! that Burnett's squares like best; none of what came later.

use super::engine::Info;
use super::pvs::RootMove;
use super::score::{INFINITE, MATE, MAX_PLY, NO_MOVE, Packed, Value, animal_of, pack, pack_move, public, to_of};
use super::shared::{Line, Shared};
use super::state::{State, TRAP_BITS, View};
use super::tt::{Bound, Entry, loaded, stored};
use crate::board::geometry::DEN;
use crate::board::{Color, Move, Repetition, union, zobrist};

struct Search<'a> {
    line: Line<'a>,
    shared: &'a Shared<'a>,
    illegal_repetition: bool,
}

/// Searches deeper and deeper until a limit is reached.
pub(super) fn search(
    shared: &Shared<'_>,
    state: &State,
    roots: &[Move],
    multipv: usize,
    report: &mut dyn FnMut(&Info),
) -> Vec<Info> {
    let illegal_repetition = shared.rules.options().repetition == Repetition::Illegal;
    let mut search = Search { line: Line::new(shared, 0), shared, illegal_repetition };
    let mut moves: Vec<RootMove> = roots
        .iter()
        .map(|&mv| pack_move(mv))
        .map(|mv| RootMove { mv, value: 0, earlier: 0, seldepth: 1, line: vec![mv] })
        .collect();
    let mut lines: Vec<Info> = Vec::new();
    for depth in 1..=shared.limits.depth.unwrap_or(u32::MAX).clamp(1, 100) {
        // With several lines wanted, each of the moves gets its own value.
        let mut alpha = -INFINITE;
        for found in &mut moves {
            found.earlier = -INFINITE;
        }
        for found in &mut moves {
            let child = search.enter(state, found.mv);
            let bound = if multipv > 1 { -INFINITE } else { alpha };
            let value = match search.over(&child, 1) {
                Some(value) => -value,
                None => -search.value(&child, -INFINITE, -bound, depth as i32 - 1, 1),
            };
            search.line.pop();
            if search.line.stopped {
                break;
            }
            if value > alpha || multipv > 1 {
                found.earlier = value;
                alpha = alpha.max(value);
            }
        }
        // Moves that the last iteration did not get to rank last; the sort keeps their order.
        moves.sort_by_key(|found| std::cmp::Reverse(found.earlier));
        if search.line.stopped && moves[0].earlier == -INFINITE && !lines.is_empty() {
            break;
        }
        for found in moves.iter_mut().filter(|found| found.earlier > -INFINITE) {
            found.value = found.earlier;
        }
        search.line.check();
        lines = moves[..multipv]
            .iter()
            .enumerate()
            .map(|(i, found)| Info {
                depth,
                seldepth: depth,
                multipv: i + 1,
                score: public(found.value),
                nodes: search.line.nodes,
                time: shared.start.elapsed(),
                hashfull: shared.table.full(),
                tbhits: 0,
                pv: search.table_line(state, found.mv, depth as usize),
            })
            .collect();
        lines.iter().for_each(&mut *report);
        let over = shared.soft.is_some_and(|soft| shared.start.elapsed() >= soft);
        let decided = lines[0].score.win_in().or(lines[0].score.loss_in()).is_some_and(|plies| plies <= depth);
        let limited = shared.hard.is_some() || shared.limits.nodes.is_some();
        if search.line.stopped || over || decided && limited {
            break;
        }
    }
    lines
}

impl Search<'_> {
    fn enter(&mut self, state: &State, mv: Packed) -> State {
        let capture = state.side(state.turn ^ 1) >> to_of(mv) & 1 != 0;
        let child = state.make(mv, state.key_after(mv, zobrist::keys()), self.shared.evaluator);
        let quiet = if capture { 0 } else { self.line.quiet() + 1 };
        self.line.push(child.key, quiet);
        child
    }

    /// The value of a position in which a den was entered or a side has no piece.
    fn over(&self, state: &State, ply: usize) -> Option<Value> {
        let them = state.turn ^ 1;
        let den = DEN[Color::ALL[state.turn]].index();
        let lost = state.side(state.turn) == 0 || state.side(them) >> den & 1 != 0;
        lost.then_some(ply as Value - MATE)
    }

    fn value(&mut self, state: &State, mut alpha: Value, beta: Value, depth: i32, ply: usize) -> Value {
        self.line.count_node();
        if self.line.stopped {
            return 0;
        }
        if self.line.repeats() {
            return 0;
        }
        let mut view = View::new();
        view.look(self.shared.level, self.shared.rules, self.shared.evaluator, state);
        if union(&view.targets) == 0 {
            return self.shared.stuck(ply);
        }
        if self.line.quiet() >= self.shared.no_capture_limit {
            return 0;
        }
        if depth <= 0 || ply >= MAX_PLY {
            return view.eval;
        }
        let (us, them) = (state.turn, state.turn ^ 1);
        let enemies = state.side(them);
        if state.side(us) & TRAP_BITS[them] != 0 || state.count(them) == 1 && union(&view.targets) & enemies != 0 {
            return MATE - ply as Value - 1;
        }
        let mut table_move = NO_MOVE;
        if let Some(entry) = self.shared.table.get(state.key) {
            let value = loaded(entry.value, ply);
            let enough = match entry.bound {
                Bound::Exact => true,
                Bound::Lower => value >= beta,
                Bound::Upper => value <= alpha,
            };
            if enough && i32::from(entry.depth) >= depth {
                return value;
            }
            table_move = entry.mv;
        }
        let mut moves = [(0, NO_MOVE); 32];
        let mut len = 0;
        for a in 0..8 {
            let from = state.lanes[us][a].trailing_zeros() as usize & 63;
            let mut targets = view.targets[a];
            while targets != 0 {
                let to = targets.trailing_zeros() as usize;
                targets &= targets - 1;
                let mv = pack(a, to);
                let sign = 1 - 2 * us as i32;
                let squares = self.shared.evaluator;
                let gain = i32::from((squares.square(us, a, to) - squares.square(us, a, from)) as i16) * sign;
                let capture = enemies >> to & 1 != 0;
                let rank = if mv == table_move {
                    i32::MAX
                } else if capture {
                    100_000 + 1000 * state.animal_at(them, to) as i32 + gain
                } else {
                    gain
                };
                moves[len] = (rank, mv);
                len += 1;
            }
        }
        moves[..len].sort_unstable_by_key(|&(rank, _)| std::cmp::Reverse(rank));
        let mut best = -INFINITE;
        let mut best_move = NO_MOVE;
        let first = alpha;
        for &(_, mv) in &moves[..len] {
            let capture = enemies >> to_of(mv) & 1 != 0;
            if self.illegal_repetition && !capture && self.line.would_repeat(state.key_after(mv, zobrist::keys())) {
                continue;
            }
            let child = self.enter(state, mv);
            let value = -self.value(&child, -beta, -alpha, depth - 1, ply + 1);
            self.line.pop();
            if self.line.stopped {
                return 0;
            }
            if value > best {
                (best, best_move) = (value, mv);
                alpha = alpha.max(value);
                if alpha >= beta {
                    break;
                }
            }
        }
        if best == -INFINITE {
            return self.shared.stuck(ply);
        }
        let bound = if best >= beta {
            Bound::Lower
        } else if best > first {
            Bound::Exact
        } else {
            Bound::Upper
        };
        let entry = Entry { mv: best_move, value: stored(best, ply), depth: depth as u8, bound };
        self.shared.table.put(state.key, entry);
        best
    }

    /// The line after a move as far as the table knows it.
    fn table_line(&self, state: &State, first: Packed, len: usize) -> Vec<Move> {
        let mut line = Vec::new();
        let mut state = state.clone();
        let mut mv = first;
        let mut view = View::new();
        while line.len() < len {
            line.push(super::score::unpack_move(mv, state.lanes[state.turn][animal_of(mv)]));
            state = state.make(mv, state.key_after(mv, zobrist::keys()), self.shared.evaluator);
            if self.over(&state, 0).is_some() {
                break;
            }
            view.look(self.shared.level, self.shared.rules, self.shared.evaluator, &state);
            let Some(entry) = self.shared.table.get(state.key) else { break };
            if entry.mv == NO_MOVE || view.targets[animal_of(entry.mv)] >> to_of(entry.mv) & 1 == 0 {
                break;
            }
            mv = entry.mv;
        }
        line
    }
}
