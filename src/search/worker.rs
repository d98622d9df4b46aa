//! One thread of the principal variation search: its data, and the steps that all nodes share.

use super::burnett;
use super::eval::{Attacks, Evaluator, NetworkEvaluator, State, TRAP_BITS};
use super::packed::{NO_MOVE, Packed, pack};
use super::parameters::Reductions;
use super::path::Path;
use super::picker::checked;
use super::score::{DECIDED, INFINITE, MAX_ESTIMATE, MAX_PLY, TB_WIN, Value, mate_in, mated_in};
use super::shared::Shared;
use super::thread_data::ThreadData;
use super::tt::{Bound, NO_EVAL, TtEntry, value_from_tt};
use crate::board::geometry::DEN;
use crate::board::{Position, Repetition, zobrist};
use crate::tablebase::Wdl;

/// The window, depth and ply of a node.
#[derive(Copy, Clone)]
pub(super) struct Node {
    pub alpha: Value,
    pub beta: Value,
    /// Plies to search.
    pub depth: i32,
    /// Plies from the root.
    pub ply: usize,
    /// Whether a beta cutoff is expected at this node.
    pub cut_node: bool,
}

/// The value of a position within the bounds of a node (fail-soft).
pub(super) type SearchNode = fn(&mut Worker<'_>, &State, Node) -> Value;

/// The recursive functions of the search, compiled for a CPU level. Nodes call them through these pointers, so that all
/// of the search is compiled for the level and not only what the compiler inlines into one function.
#[derive(Copy, Clone)]
pub(super) struct Compiled {
    /// The main search with a zero window.
    pub zero_window: SearchNode,
    /// The main search on a principal variation, with an open window.
    pub open_window: SearchNode,
    /// The quiescence search with a zero window.
    pub quiescence_zero: SearchNode,
    /// The quiescence search with an open window.
    pub quiescence_open: SearchNode,
    /// The evaluation by the network.
    pub network: fn(&mut NetworkEvaluator, &State, usize) -> i32,
}

/// The entry of the search stack for one ply.
#[derive(Copy, Clone)]
pub(super) struct Ply {
    /// The move that was made here, its side in bit 9.
    pub mv: Packed,
    /// The static evaluation; in check the one of two plies ago; before the root a number above every value.
    pub eval: Value,
    /// The move that a singular search excludes here.
    pub excluded: Packed,
}

/// An entry of the transposition table that a probe found.
#[derive(Copy, Clone)]
pub(super) struct TtHit {
    pub entry: TtEntry,
    /// The value; wins count plies from the root.
    pub value: Value,
}

/// The evaluations of a node, and the transposition table's move.
pub(super) struct NodeEval {
    /// See [`Worker::in_check`].
    pub in_check: bool,
    /// The evaluation without correction; in check [`NO_EVAL`].
    pub raw_eval: i16,
    /// The static evaluation; in check minus infinity.
    pub static_eval: Value,
    /// The static evaluation, or the transposition table's value if its bound is tighter.
    pub eval: Value,
    /// The transposition table's move, if it can be played.
    pub tt_move: Packed,
}

/// A position that was found in the endgame tables. The value of a win is a lower and that of a loss an upper bound: the
/// search may find a win of known distance, which is a better value than the table's, or that of a draw, if the table's win
/// may come after the no-capture limit.
#[derive(Copy, Clone)]
pub(super) struct TbHit {
    pub value: Value,
    pub bound: Bound,
    pub from_file: bool,
}

pub(super) struct Worker<'a> {
    pub path: Path<'a>,
    pub shared: &'a Shared<'a>,
    pub thread_data: &'a mut ThreadData,
    /// The search stack. The entry of ply n is at n + 2, so ply n - 2 always exists.
    pub plies: [Ply; MAX_PLY + 4],
    /// The end of the principal variation from each ply on, see [`ThreadData::pv`].
    pub pv_len: [usize; MAX_PLY + 1],
    pub seldepth: usize,
    pub compiled: Compiled,
    pub keys: &'static zobrist::Keys,
    /// The factor of all margins, which are in cp. Burnett's evaluation has another scale.
    pub scale: Value,
    pub illegal_repetition: bool,
    reductions: &'a Reductions,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        shared: &'a Shared<'a>,
        compiled: Compiled,
        id: usize,
        thread_data: &'a mut ThreadData,
        scale: Value,
    ) -> Worker<'a> {
        Worker {
            path: Path::new(shared, id),
            shared,
            thread_data,
            plies: [Ply { mv: NO_MOVE, eval: INFINITE, excluded: NO_MOVE }; MAX_PLY + 4],
            pv_len: [0; MAX_PLY + 1],
            seldepth: 0,
            compiled,
            keys: zobrist::keys(),
            scale,
            illegal_repetition: shared.rules.options().repetition == Repetition::Illegal,
            reductions: shared.reductions,
        }
    }

    /// The evaluation of the root.
    pub(super) fn root_eval(&self) -> Value {
        self.plies[2].eval
    }

    /// Sets the principal variation of a ply: this move, then that of the next ply.
    pub(super) fn pv_extend(&mut self, ply: usize, mv: Packed) {
        let (above, below) = self.thread_data.pv.split_at_mut(ply + 1);
        let len = self.pv_len[ply + 1].clamp(ply + 1, MAX_PLY);
        above[ply][ply] = mv;
        if let Some(next) = below.first() {
            above[ply][ply + 1..len].copy_from_slice(&next[ply + 1..len]);
        }
        self.pv_len[ply] = len;
    }

    /// Sets the principal variation of a ply: one move that ends it.
    fn pv_end(&mut self, ply: usize, mv: Packed) {
        self.thread_data.pv[ply][ply] = mv;
        self.pv_len[ply] = ply + 1;
    }

    /// Late move reductions by depth and number of the move.
    #[inline(always)]
    pub(super) fn base_reduction(&self, depth: i32, number: usize) -> i32 {
        i32::from(self.reductions[depth.clamp(0, 63) as usize][number.min(63)])
    }

    /// Counts a node, and clears its principal variation.
    #[inline(always)]
    pub(super) fn count_node<const PV: bool>(&mut self, ply: usize) {
        self.path.count_node();
        if PV {
            self.pv_len[ply] = ply;
            self.seldepth = self.seldepth.max(ply);
        }
    }

    /// Makes a move and appends it to the path.
    #[inline(always)]
    pub(super) fn enter(&mut self, state: &State, mv: Packed, key: u64, capture: bool, ply: usize) -> State {
        let child = state.make(mv, key);
        let halfmove_clock = if capture { 0 } else { self.path.halfmove_clock() + 1 };
        self.path.push(child.key, halfmove_clock);
        self.plies[ply + 2].mv = mv | (state.turn as u16) << 9;
        child
    }

    /// The key after a move. Prefetches its bucket of the transposition table, given [`Path::next_salt`], which is right
    /// for quiet moves.
    #[inline(always)]
    pub(super) fn prefetch(&self, state: &State, mv: Packed, salt: u64) -> u64 {
        let key = state.key_after(mv, self.keys);
        self.shared.tt.prefetch(key ^ salt);
        key
    }

    #[inline(always)]
    pub(super) fn tt_probe(&self, key: u64, ply: usize) -> Option<TtHit> {
        if !self.shared.techniques.tt {
            return None;
        }
        let entry = self.shared.tt.probe(self.path.tt_key(key))?;
        Some(TtHit { entry, value: value_from_tt(entry.value, ply) })
    }

    /// The evaluation without correction, within ±[`MAX_ESTIMATE`].
    #[inline(always)]
    pub(super) fn evaluate(&mut self, state: &State, ply: usize) -> Value {
        let value = match &mut self.thread_data.evaluator {
            Evaluator::Network(network) => (self.compiled.network)(network, state, ply),
            Evaluator::Burnett => burnett::evaluate_lanes(&state.lanes, state.turn),
        };
        value.clamp(-MAX_ESTIMATE, MAX_ESTIMATE)
    }

    #[inline(always)]
    pub(super) fn compute_attacks(&self, state: &State, attacks: &mut Attacks) {
        attacks.compute(self.shared.rules, self.shared.masks, state);
    }

    /// The value of a position in the endgame tables; the game must not be over. A win or loss that may come after the
    /// no-capture limit is a draw at least or at most.
    ///
    /// Files are probed only after a capture or on a principal variation, and from a minimum depth on: a probe takes up to
    /// a hundred times as long as a node.
    #[inline(always)]
    pub(super) fn tb_probe<const PV: bool>(&mut self, state: &State, ply: usize, depth: i32) -> Option<TbHit> {
        let tb = self.shared.tb?;
        if self.illegal_repetition {
            return None;
        }
        let pieces = state.count(0) + state.count(1);
        let from_file = tb.in_files(pieces);
        let left = self.path.plies_left();
        let (wdl, in_time) = if from_file {
            if !PV && self.path.halfmove_clock() > 0 || depth < self.shared.tb_probe_depth {
                return None;
            }
            let found = tb.probe_files_within(&Position::from_lanes(state.lanes, state.turn, state.key), left);
            // Reading from a slow disk can take as long as many nodes.
            self.path.check();
            found?
        } else {
            let (wdl, longest) = tb.probe_lanes(&state.lanes, pieces, state.turn)?;
            (wdl, longest <= left)
        };
        self.path.tbhits += 1;
        let draw = self.shared.draw_value(ply);
        let (value, bound) = match wdl {
            Wdl::Win => (if in_time { TB_WIN - ply as Value } else { draw }, Bound::Lower),
            Wdl::Draw => (draw, Bound::Exact),
            Wdl::Loss => (if in_time { ply as Value - TB_WIN } else { draw }, Bound::Upper),
        };
        Some(TbHit { value, bound, from_file })
    }

    /// Whether an intruder enters the den next unless it is captured, and the no-capture limit does not draw the game
    /// before.
    #[inline(always)]
    pub(super) fn in_check(&self, state: &State) -> bool {
        self.shared.techniques.sound && state.in_check() && self.path.plies_left() > 1
    }

    /// The value of a node that needs no search: stalemate, the no-capture limit, the last ply (or `horizon`), or a
    /// value of [`Worker::forced_result`].
    #[inline(always)]
    pub(super) fn terminal_value<const PV: bool>(
        &mut self,
        state: &State,
        attacks: &Attacks,
        ply: usize,
        horizon: bool,
    ) -> Option<Value> {
        if attacks.any == 0 {
            return Some(self.shared.stalemate_value(ply));
        }
        if self.path.halfmove_clock() >= self.shared.no_capture_limit {
            return Some(self.shared.draw_value(ply));
        }
        if horizon || ply >= MAX_PLY - 2 {
            return Some(self.evaluate(state, ply));
        }
        let (value, mv) = self.forced_result(state, attacks, ply)?;
        if PV && mv != NO_MOVE {
            self.pv_end(ply, mv);
        }
        Some(value)
    }

    /// The value of a node that is decided without search, with the deciding move if there is one: an immediate win, an
    /// intruder that cannot be captured, or a safe step into a trap next to the enemy's den.
    #[inline(always)]
    fn forced_result(&self, state: &State, attacks: &Attacks, ply: usize) -> Option<(Value, Packed)> {
        let (us, them) = state.sides_to_move();
        let intruders = state.side(us) & TRAP_BITS[them];
        if intruders != 0 {
            let den = DEN[!state.turn].index();
            if let Some(a) = (0..8).find(|&a| state.lanes[us][a] & intruders != 0 && attacks.targets[a] >> den & 1 != 0)
            {
                return Some((mate_in(ply + 1), pack(a, den)));
            }
        }
        if state.count(them) == 1 {
            let last = state.side(them);
            if let Some(a) = (0..8).find(|&a| attacks.targets[a] & last != 0) {
                return Some((mate_in(ply + 1), pack(a, last.trailing_zeros() as usize)));
            }
        }
        if !self.shared.techniques.sound {
            return None;
        }
        let left = self.path.plies_left();
        let enemies = state.side(them) & TRAP_BITS[us];
        if enemies != 0 {
            let lost = enemies.count_ones() > 1 || attacks.any & enemies == 0;
            return (lost && left > 1).then_some((mated_in(ply + 2), NO_MOVE));
        }
        if left > 2 && attacks.any & TRAP_BITS[them] != 0 && attacks.enemy_moves() >= 6 && !self.illegal_repetition {
            for a in 0..8 {
                let safe = attacks.targets[a] & TRAP_BITS[them] & !attacks.danger[a];
                if safe != 0 {
                    return Some((mate_in(ply + 3), pack(a, safe.trailing_zeros() as usize)));
                }
            }
        }
        None
    }

    /// The evaluations of a node, and the transposition table's move.
    #[inline(always)]
    pub(super) fn node_eval(&mut self, state: &State, attacks: &Attacks, tt: Option<TtHit>, ply: usize) -> NodeEval {
        let in_check = self.in_check(state);
        // In check, only evasions count.
        let (raw_eval, static_eval) = if in_check {
            (NO_EVAL, -INFINITE)
        } else {
            let raw_eval = self.raw_eval(state, tt, ply);
            (raw_eval as i16, self.corrected(raw_eval, state, ply))
        };
        // Another position with the same key is very unlikely, but its move must not be played.
        let tt_move = tt.map_or(NO_MOVE, |tt| checked(attacks, tt.entry.mv));
        let better = tt.filter(|tt| {
            let bound = tt.entry.bound;
            !in_check && tt.value.abs() < DECIDED && bound.proves_cutoff(tt.value, static_eval - 1, static_eval + 1)
        });
        NodeEval { in_check, raw_eval, static_eval, eval: better.map_or(static_eval, |tt| tt.value), tt_move }
    }

    /// The evaluation without correction, from the transposition table if the entry contains it.
    #[inline(always)]
    fn raw_eval(&mut self, state: &State, tt: Option<TtHit>, ply: usize) -> Value {
        match tt {
            Some(tt) if tt.entry.eval != NO_EVAL => tt.entry.eval.into(),
            _ => self.evaluate(state, ply),
        }
    }

    /// The evaluation, corrected by the results of earlier searches of similar positions (correction history).
    #[inline(always)]
    pub(super) fn corrected(&self, eval: Value, state: &State, ply: usize) -> Value {
        if !self.shared.techniques.selective {
            return eval;
        }
        let correction = self.thread_data.correction(state, self.plies[ply + 1].mv) * self.scale / 16;
        (eval + correction).clamp(-MAX_ESTIMATE, MAX_ESTIMATE)
    }
}
