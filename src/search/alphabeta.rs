//! The papers' engine: fail-soft alpha-beta with iterative deepening and a transposition table of Zobrist keys (van
//! Rijn and Vis, 2013). Its move ordering is the table's move, captures of the strongest victim first, and then the
//! moves with the best change in Burnett's square values. It uses no later technique.

use super::eval::{Attacks, Evaluator, State, TRAP_BITS};
use super::info::Info;
use super::packed::{NO_MOVE, Packed, animal_of, pack, unpack_move};
use super::path::{Path, tt_salt};
use super::picker::checked;
use super::root::RootMove;
use super::score::{INFINITE, MAX_PLY, Value, mate_in, public};
use super::shared::Shared;
use super::tt::{Bound, NO_EVAL, TtEntry, value_from_tt, value_to_tt};
use crate::board::{Move, Repetition, zobrist};

struct Search<'a> {
    path: Path<'a>,
    shared: &'a Shared<'a>,
    illegal_repetition: bool,
    evaluator: &'a mut Evaluator,
}

/// Iterative deepening until a limit is reached.
pub(super) fn search(
    shared: &Shared<'_>,
    state: &State,
    roots: &[Move],
    multipv: usize,
    evaluator: &mut Evaluator,
    report: &mut dyn FnMut(&Info),
) -> Vec<Info> {
    let illegal_repetition = shared.rules.options().repetition == Repetition::Illegal;
    let mut search = Search { path: Path::new(shared, 0), shared, illegal_repetition, evaluator };
    let mut moves: Vec<RootMove> = roots.iter().map(|&mv| RootMove { value: 0, ..RootMove::new(mv) }).collect();
    let mut lines: Vec<Info> = Vec::new();
    for depth in 1..=shared.limits.depth.unwrap_or(u32::MAX).clamp(1, 100) {
        // If several lines are requested, each of the moves needs its own value.
        let mut alpha = -INFINITE;
        for found in &mut moves {
            found.previous_value = -INFINITE;
        }
        for found in &mut moves {
            let child = search.enter(state, found.mv);
            let bound = if multipv > 1 { -INFINITE } else { alpha };
            let value = if child.is_lost() {
                mate_in(1)
            } else {
                -search.value(&child, -INFINITE, -bound, depth as i32 - 1, 1)
            };
            search.path.pop();
            if search.path.stopped {
                break;
            }
            if value > alpha || multipv > 1 {
                found.previous_value = value;
                alpha = alpha.max(value);
            }
        }
        // Moves that the last iteration did not reach rank last; the stable sort keeps their order.
        moves.sort_by_key(|found| std::cmp::Reverse(found.previous_value));
        // Several lines must be comparable, so the lines of the last iteration stay.
        if search.path.stopped && !lines.is_empty() && (multipv > 1 || moves[0].previous_value == -INFINITE) {
            break;
        }
        let mut worst = INFINITE;
        for found in &mut moves {
            let value = if found.previous_value > -INFINITE { found.previous_value } else { found.value };
            found.value = value.min(worst);
            worst = found.value;
        }
        search.path.check();
        lines = moves[..multipv]
            .iter()
            .enumerate()
            .map(|(i, found)| Info {
                depth,
                seldepth: depth,
                multipv: i + 1,
                score: public(found.value, 0),
                nodes: search.path.nodes,
                time: shared.start.elapsed(),
                hashfull: shared.tt.hashfull(),
                tbhits: 0,
                pv: search.tt_line(state, found.mv, depth as usize),
            })
            .collect();
        lines.iter().for_each(&mut *report);
        let over = shared.soft.is_some_and(|soft| shared.start.elapsed() >= soft);
        let decided = lines[0].score.win_in().or(lines[0].score.loss_in()).is_some_and(|plies| plies <= depth);
        let limited = shared.hard.is_some() || shared.limits.nodes.is_some();
        if search.path.stopped || over || decided && limited {
            break;
        }
    }
    lines
}

impl Search<'_> {
    fn enter(&mut self, state: &State, mv: Packed) -> State {
        let child = state.make(mv, state.key_after(mv, zobrist::keys()), self.shared.hand_crafted);
        let halfmove_clock = if state.is_capture(mv) { 0 } else { self.path.halfmove_clock() + 1 };
        self.path.push(child.key, halfmove_clock);
        child
    }

    /// The value of a position within the bounds (fail-soft), searched `depth` plies deep.
    fn value(&mut self, state: &State, mut alpha: Value, beta: Value, depth: i32, ply: usize) -> Value {
        self.path.count_node();
        if self.path.stopped || self.path.repeats() {
            return 0;
        }
        let mut attacks = Attacks::new();
        self.shared.compute_attacks(self.evaluator, state, &mut attacks);
        if attacks.any == 0 {
            return self.shared.stalemate_value(ply);
        }
        if self.path.halfmove_clock() >= self.shared.no_capture_limit {
            return 0;
        }
        if depth <= 0 || ply >= MAX_PLY {
            return self.shared.evaluate(self.evaluator, state, &attacks, ply);
        }
        let (us, them) = state.sides_to_move();
        let enemies = state.side(them);
        if state.side(us) & TRAP_BITS[them] != 0 || state.count(them) == 1 && attacks.any & enemies != 0 {
            return mate_in(ply + 1);
        }
        let mut tt_move = NO_MOVE;
        let key = self.path.tt_key(state.key);
        if let Some(entry) = self.shared.tt.probe(key) {
            let value = value_from_tt(entry.value, ply);
            if entry.bound.suffices(value, alpha, beta)
                && i32::from(entry.depth) >= depth
                && self.path.tt_holds(value, ply)
            {
                return value;
            }
            tt_move = entry.mv;
        }
        let (moves, len) = self.ordered_moves(state, &attacks, tt_move);
        let mut best = -INFINITE;
        let mut best_move = NO_MOVE;
        let first = alpha;
        for &(_, mv) in &moves[..len] {
            let repeats = || self.path.would_repeat(state.key_after(mv, zobrist::keys()));
            if self.illegal_repetition && !state.is_capture(mv) && repeats() {
                continue;
            }
            let child = self.enter(state, mv);
            let value = -self.value(&child, -beta, -alpha, depth - 1, ply + 1);
            self.path.pop();
            if self.path.stopped {
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
            return self.shared.stalemate_value(ply);
        }
        let bound = if best >= beta {
            Bound::Lower
        } else if best > first {
            Bound::Exact
        } else {
            Bound::Upper
        };
        let entry = TtEntry { mv: best_move, value: value_to_tt(best, ply), depth: depth as u8, bound, eval: NO_EVAL };
        self.shared.tt.store(key, entry);
        best
    }

    /// All moves with their rank, and their number: the transposition table's move, captures of the strongest victim
    /// first, then the moves with the best change in Burnett's square values.
    fn ordered_moves(&self, state: &State, attacks: &Attacks, tt_move: Packed) -> ([(i32, Packed); 32], usize) {
        let (us, them) = state.sides_to_move();
        let hand_crafted = self.shared.hand_crafted;
        let sign = 1 - 2 * us as i32;
        let mut moves = [(0, NO_MOVE); 32];
        let mut len = 0;
        for a in 0..8 {
            let from = state.lanes[us][a].trailing_zeros() as usize & 63;
            let mut targets = attacks.targets[a];
            while targets != 0 {
                let to = targets.trailing_zeros() as usize;
                targets &= targets - 1;
                let mv = pack(a, to);
                let gain = i32::from((hand_crafted.square(us, a, to) - hand_crafted.square(us, a, from)) as i16) * sign;
                let rank = if mv == tt_move {
                    i32::MAX
                } else if state.is_capture(mv) {
                    100_000 + 1000 * state.animal_at(them, to) as i32 + gain
                } else {
                    gain
                };
                moves[len] = (rank, mv);
                len += 1;
            }
        }
        moves[..len].sort_unstable_by_key(|&(rank, _)| std::cmp::Reverse(rank));
        (moves, len)
    }

    /// The line after a move, as far as the transposition table contains it.
    fn tt_line(&self, state: &State, first: Packed, len: usize) -> Vec<Move> {
        let mut line = Vec::new();
        let mut state = state.clone();
        let mut mv = first;
        let mut attacks = Attacks::new();
        let mut left = self.path.plies_left();
        while line.len() < len {
            left = if state.is_capture(mv) { self.shared.no_capture_limit } else { left.saturating_sub(1) };
            line.push(unpack_move(mv, state.lanes[state.turn as usize][animal_of(mv)]));
            state = state.make(mv, state.key_after(mv, zobrist::keys()), self.shared.hand_crafted);
            if state.is_lost() {
                break;
            }
            self.shared.compute_attacks(self.evaluator, &state, &mut attacks);
            let entry = self.shared.tt.probe(state.key ^ tt_salt(left));
            mv = entry.map_or(NO_MOVE, |entry| checked(&attacks, entry.mv));
            if mv == NO_MOVE {
                break;
            }
        }
        line
    }
}
