//! Principal variation search with the techniques of the Chess Programming Wiki that gained strength here.
//!
//! The game has no check, but a similar threat: a piece in one of the three traps next to the enemy's den enters the
//! den next unless it is captured. A side with an intruder next to its den searches only moves that capture the intruder;
//! with two intruders it has lost. A step next to the enemy's den where no enemy can capture the piece is a win in three
//! plies, found without search.
//!
//! The steps of a node have the names that the Chess Programming Wiki gives them.

use super::eval::{Attacks, NetworkEvaluator, State, TRAP_BITS};
use super::packed::{NO_MOVE, Packed, to_of};
use super::parameters::TB_DEPTH;
use super::picker::{KILLER, Order, Picker};
use super::root::RootMove;
use super::score::{DECIDED, INFINITE, MATE, MAX_PLY, Value, mate_in, mated_in};
use super::tt::{Bound, NO_EVAL, TtEntry, value_to_tt};
use super::worker::{Compiled, Node, NodeEval, Ply, TbHit, TtHit, Worker};
use crate::cpu::{CpuLevel, compiled};
use std::ops::ControlFlow;

/// The search compiled for a CPU level.
pub(super) fn compiled_for(level: CpuLevel) -> Compiled {
    macro_rules! node {
        ($function:path) => {
            compiled!(level, fn(worker: &mut Worker<'_>, state: &State, node: Node) -> Value = $function)
        };
    }
    Compiled {
        zero_window: node!(Worker::search::<false>),
        open_window: node!(Worker::search::<true>),
        quiescence_zero: node!(Worker::quiescence::<false>),
        quiescence_open: node!(Worker::quiescence::<true>),
        network: compiled!(
            level,
            fn(network: &mut NetworkEvaluator, state: &State, ply: usize) -> i32 = NetworkEvaluator::evaluate
        ),
    }
}

/// The data of a node before its moves are searched.
struct NodeInfo {
    tt: Option<TtHit>,
    /// The transposition table's move, if it can be played.
    tt_move: Packed,
    /// The move that a singular search excludes.
    excluded: Packed,
    in_check: bool,
    /// The evaluation without correction; in check [`NO_EVAL`].
    raw_eval: i16,
    /// The static evaluation; in check minus infinity.
    static_eval: Value,
    /// The static evaluation, or the transposition table's value if its bound is tighter.
    eval: Value,
    /// Whether the side to move stands better than two plies ago.
    improving: bool,
    /// The bounds of the value by the endgame tables.
    least: Value,
    most: Value,
}

/// A move to search.
struct Candidate {
    rank: i32,
    /// The number of moves searched before it.
    number: usize,
    capture: bool,
    /// Whether the move steps next to the enemy's den.
    threat: bool,
    extension: i32,
}

/// The best move of a node so far.
struct Best {
    value: Value,
    mv: Packed,
    bound: Bound,
}

impl Worker<'_> {
    /// One iteration at the root. It searches the moves in their order and moves each new best move to the front.
    /// `None` if it was stopped before it finished a move.
    pub(super) fn root(
        &mut self,
        state: &State,
        moves: &mut [RootMove],
        alpha: Value,
        beta: Value,
        depth: i32,
    ) -> Option<Value> {
        let mut node = Node { alpha, beta, depth, ply: 0, cut_node: false };
        let mut attacks = Attacks::new();
        self.compute_attacks(state, &mut attacks);
        let raw_eval = self.evaluate(state, 0);
        self.plies[2].eval = self.corrected(raw_eval, state, 0);
        let mut best = -INFINITE;
        for i in 0..moves.len() {
            let mv = moves[i].mv;
            self.seldepth = 0;
            // A search with a zero window sets no line.
            self.pv_len[1] = 1;
            let capture = state.is_capture(mv);
            let child = self.enter(state, mv, state.key_after(mv, self.keys), capture, 0);
            let value = if child.is_lost() { Some(MATE - 1) } else { self.search_root_move(&child, node, i, capture) };
            self.path.pop();
            let Some(value) = value else { return (best > -INFINITE).then_some(best) };
            let found = &mut moves[i];
            if i == 0 || value > node.alpha {
                found.value = value;
                found.seldepth = self.seldepth + 1;
                found.line.clear();
                found.line.push(mv);
                found.line.extend_from_slice(&self.thread_data.pv[1][1..self.pv_len[1].max(1)]);
            } else {
                found.value = -INFINITE;
            }
            if value > best {
                best = value;
                if value > node.alpha {
                    node.alpha = value;
                    // The best move so far comes first, in case the search stops.
                    moves[..=i].rotate_right(1);
                    if node.alpha >= node.beta {
                        break;
                    }
                }
            }
            if self.path.stopped {
                break;
            }
        }
        Some(best)
    }

    /// The value of a move of the root. If the search stops while a move that failed high is searched again, it is the bound
    /// that the move has exceeded. `None` if it stops before.
    fn search_root_move(&mut self, child: &State, node: Node, number: usize, capture: bool) -> Option<Value> {
        let full = node.depth - 1;
        if number == 0 {
            let value = self.open_window(child, node, full);
            return (!self.path.stopped).then_some(value);
        }
        let mut depth = full;
        let p = self.shared.parameters();
        // Late move reductions (LMR).
        if self.shared.techniques.selective
            && node.depth >= p.lmr_root_depth
            && number >= p.lmr_root_moves as usize
            && !capture
        {
            depth -= (self.base_reduction(node.depth, number) - 1).max(0);
        }
        let mut value = self.zero_window(child, node, depth, true);
        if value > node.alpha && depth < full && !self.path.stopped {
            value = self.zero_window(child, node, full, true);
        }
        if self.path.stopped {
            return None;
        }
        // Principal variation search (PVS): a move that beats the first move is searched again with the open window.
        if value > node.alpha && value < node.beta {
            let again = self.open_window(child, node, full);
            if self.path.stopped {
                self.pv_len[1] = 1;
            } else {
                value = again;
            }
        }
        Some(value)
    }

    /// The value of a move, searched with the window of the node.
    #[inline(always)]
    fn open_window(&mut self, child: &State, node: Node, depth: i32) -> Value {
        let child_node = Node { alpha: -node.beta, beta: -node.alpha, depth, ply: node.ply + 1, cut_node: false };
        -(self.compiled.open_window)(self, child, child_node)
    }

    /// The value of a move, searched with a zero window above alpha.
    #[inline(always)]
    fn zero_window(&mut self, child: &State, node: Node, depth: i32, cut_node: bool) -> Value {
        let child_node = Node { alpha: -node.alpha - 1, beta: -node.alpha, depth, ply: node.ply + 1, cut_node };
        -(self.compiled.zero_window)(self, child, child_node)
    }

    /// A node of the main search. `PV`: the node is on a principal variation, with an open window.
    #[inline(always)]
    pub(super) fn search<const PV: bool>(&mut self, state: &State, mut node: Node) -> Value {
        debug_assert!(node.alpha < node.beta && (PV || node.alpha + 1 == node.beta));
        let techniques = self.shared.techniques;
        let ply = node.ply;
        if node.depth <= 0 && techniques.sound {
            if self.path.repeats() {
                self.pv_len[ply] = ply;
                return self.shared.draw_value(ply);
            }
            let quiescence = if PV { self.compiled.quiescence_open } else { self.compiled.quiescence_zero };
            return quiescence(self, state, node);
        }
        self.count_node::<PV>(ply);
        if self.path.stopped {
            return 0;
        }
        // Repetition.
        let excluded = self.plies[ply + 2].excluded;
        if excluded == NO_MOVE && self.path.repeats() {
            return self.shared.draw_value(ply);
        }
        // Transposition table cutoff.
        let tt = if node.depth > 0 { self.tt_probe(state.key, ply) } else { None };
        if let Some(tt) = tt
            && !PV
            && excluded == NO_MOVE
            && tt.entry.bound.proves_cutoff(tt.value, node.alpha, node.beta)
            && i32::from(tt.entry.depth) >= node.depth
            && self.path.tt_holds(tt.value, ply)
        {
            return tt.value;
        }
        let mut attacks = Attacks::new();
        self.compute_attacks(state, &mut attacks);
        if let Some(value) = self.terminal_value::<PV>(state, &attacks, ply, node.depth <= 0) {
            return value;
        }
        // Mate distance pruning.
        if techniques.sound {
            node.alpha = node.alpha.max(mated_in(ply));
            node.beta = node.beta.min(mate_in(ply + 1));
            if node.alpha >= node.beta {
                return node.alpha;
            }
        }
        // Endgame tablebases.
        let hit = if excluded == NO_MOVE { self.tb_probe::<PV>(state, ply, node.depth) } else { None };
        if let Some(hit) = hit
            && hit.bound.is_exact_or_cutoff(hit.value, node.alpha, node.beta)
        {
            self.store_hit(state.key, &hit, &node);
            return hit.value;
        }
        let mut info = self.node_info(state, &attacks, tt, excluded, ply);
        self.update_by_gain(state, &info, ply);
        match hit {
            Some(TbHit { value, bound: Bound::Lower, .. }) => {
                info.least = value;
                node.alpha = node.alpha.max(value);
            }
            Some(TbHit { value, .. }) => info.most = value,
            None => {}
        }
        if !PV && self.reverse_futility(state, &info, &node) {
            return info.eval;
        }
        // Internal iterative reductions (IIR).
        if techniques.selective
            && node.depth >= self.shared.parameters().iir_depth
            && info.tt_move == NO_MOVE
            && excluded == NO_MOVE
            && (PV || node.cut_node)
        {
            node.depth -= 1;
        }
        self.search_moves::<PV>(state, &attacks, &info, node)
    }

    /// Stores a table value that decides a node, if it took long to read. It is worth more than a search of this depth.
    fn store_hit(&self, key: u64, hit: &TbHit, node: &Node) {
        if hit.from_file && self.shared.techniques.tt {
            let (value, depth) = (value_to_tt(hit.value, node.ply), (node.depth + TB_DEPTH).clamp(0, 255) as u8);
            let entry = TtEntry { mv: NO_MOVE, value, depth, bound: hit.bound, eval: NO_EVAL };
            self.shared.tt.store(self.path.tt_key(key), entry);
        }
    }

    /// The static evaluation, and the transposition table's move and value.
    #[inline(always)]
    fn node_info(
        &mut self,
        state: &State,
        attacks: &Attacks,
        tt: Option<TtHit>,
        excluded: Packed,
        ply: usize,
    ) -> NodeInfo {
        let NodeEval { in_check, raw_eval, static_eval, eval, tt_move } = self.node_eval(state, attacks, tt, ply);
        // In check there is no static evaluation; the one of two plies ago replaces it.
        self.plies[ply + 2].eval = if in_check { self.plies[ply].eval } else { static_eval };
        let improving = !in_check && ply >= 2 && static_eval > self.plies[ply].eval;
        let (least, most) = (-INFINITE, INFINITE);
        NodeInfo { tt, tt_move, excluded, in_check, raw_eval, static_eval, eval, improving, least, most }
    }

    /// History by evaluation: the quiet move that led to this node gets a bonus if the static evaluation of its side rose,
    /// and a malus if it fell.
    #[inline(always)]
    fn update_by_gain(&mut self, state: &State, info: &NodeInfo, ply: usize) {
        let Ply { mv, eval: before, .. } = self.plies[ply + 1];
        let quiet = self.path.halfmove_clock() > 0;
        if self.shared.techniques.sound && quiet && !info.in_check && info.excluded == NO_MOVE && before.abs() < DECIDED
        {
            let p = self.shared.parameters();
            let gain = -(before + info.static_eval) / self.scale;
            let bonus = (gain * p.history_gain / 4).clamp(-p.history_gain_max, p.history_gain_max);
            self.thread_data.update_history(p.history_limit, !state.turn as usize, mv, bonus);
        }
    }

    /// Reverse futility pruning (RFP), also static null move pruning: whether the evaluation is so far above beta that
    /// some move will probably stay above it. The evaluation does not see an enemy that is about to enter the den.
    #[inline(always)]
    fn reverse_futility(&self, state: &State, info: &NodeInfo, node: &Node) -> bool {
        let p = self.shared.parameters();
        let margin = (p.rfp_margin * node.depth - if info.improving { p.rfp_improving } else { 0 }) * self.scale;
        self.shared.techniques.selective
            && !info.in_check
            && info.excluded == NO_MOVE
            && !state.den_in_danger()
            && node.depth <= p.rfp_depth
            && node.beta.abs() < DECIDED
            && info.eval - margin >= node.beta
    }

    /// Searches the moves of a node.
    #[inline(always)]
    fn search_moves<const PV: bool>(
        &mut self,
        state: &State,
        attacks: &Attacks,
        info: &NodeInfo,
        mut node: Node,
    ) -> Value {
        let Node { depth, ply, .. } = node;
        let (us, them) = state.sides_to_move();
        let enemies = state.side(them);
        let evading = if info.in_check { enemies & TRAP_BITS[us] } else { 0 };
        // Every other move lets the intruder enter the den.
        let worst = if info.in_check { mated_in(ply + 2) } else { -INFINITE };
        let bound = if info.least > -INFINITE { Bound::Lower } else { Bound::Upper };
        let mut best = Best { value: worst.max(info.least), mv: NO_MOVE, bound };
        let mut picker = Picker::new(info.tt_move, evading);
        let mut number = 0;
        let mut tried = [NO_MOVE; 32];
        let mut quiets = 0;
        let mut prefetched = (NO_MOVE, 0);
        let salt = self.path.next_salt();
        loop {
            let skip_quiets = !PV && self.late_move_pruning(info, depth, number, best.value);
            let Some((rank, mv)) = picker.next(state, attacks, &self.order(ply), skip_quiets) else { break };
            // The entry of the next move is prefetched while this move is searched.
            let key = if mv == prefetched.0 { prefetched.1 } else { self.prefetch(state, mv, salt) };
            if let Some(next) = picker.upcoming() {
                prefetched = (next, self.prefetch(state, next, salt));
            }
            if mv == info.excluded {
                continue;
            }
            let capture = enemies >> to_of(mv) & 1 != 0;
            if self.illegal_repetition && !capture && self.path.would_repeat(key) {
                continue;
            }
            let threat = TRAP_BITS[them] >> to_of(mv) & 1 != 0;
            if skip_quiets && !capture && !threat {
                // Later quiet moves have a lower history.
                picker.drop_quiets(TRAP_BITS[them]);
                continue;
            }
            let extension = match self.singular_extension::<PV>(state, info, mv, &node) {
                ControlFlow::Continue(extension) => extension,
                ControlFlow::Break(value) => return value,
            };
            let child = self.enter(state, mv, key, capture, ply);
            let candidate = Candidate { rank, number, capture, threat, extension };
            let value = self.search_move::<PV>(&child, info, node, &candidate);
            self.path.pop();
            if self.path.stopped {
                return 0;
            }
            number += 1;
            if self.is_cutoff::<PV>(&mut best, &mut node, mv, value) {
                self.update_quiets(us, mv, capture, &tried[..quiets], depth, ply);
                break;
            }
            if !capture {
                tried[quiets] = mv;
                quiets += 1;
            }
        }
        if number == 0 {
            return self.value_without_moves(info, &node, &best);
        }
        if best.value > info.most {
            best = Best { value: info.most, bound: Bound::Upper, ..best };
        }
        self.store_result(state, info, &node, &best);
        best.value
    }

    /// The data that orders the moves of a ply.
    #[inline(always)]
    fn order(&self, ply: usize) -> Order<'_> {
        Order {
            thread_data: &*self.thread_data,
            earlier: [self.plies[ply + 1].mv, self.plies[ply].mv],
            killers: self.thread_data.killers[ply],
        }
    }

    /// Records the value of a move, and returns whether it causes a beta cutoff.
    #[inline(always)]
    fn is_cutoff<const PV: bool>(&mut self, best: &mut Best, node: &mut Node, mv: Packed, value: Value) -> bool {
        if value <= best.value {
            return false;
        }
        best.value = value;
        if value <= node.alpha {
            return false;
        }
        if PV {
            self.pv_extend(node.ply, mv);
        }
        (best.mv, best.bound) = (mv, if value >= node.beta { Bound::Lower } else { Bound::Exact });
        if value < node.beta {
            node.alpha = value;
        }
        value >= node.beta
    }

    /// The value of a node of which no move was searched: a move is excluded, repetition is illegal, or no legal move
    /// captures the intruder.
    #[cold]
    fn value_without_moves(&self, info: &NodeInfo, node: &Node, best: &Best) -> Value {
        match info {
            NodeInfo { excluded, .. } if *excluded != NO_MOVE => node.alpha,
            NodeInfo { in_check: true, .. } => best.value,
            _ => self.shared.stalemate_value(node.ply),
        }
    }

    /// Late move pruning (LMP): whether to search only captures and threats from here on.
    #[inline(always)]
    fn late_move_pruning(&self, info: &NodeInfo, depth: i32, number: usize, best: Value) -> bool {
        let p = self.shared.parameters();
        let enough = (p.lmp_moves + depth * depth) / if info.improving { 1 } else { 2 };
        self.shared.techniques.selective
            && !info.in_check
            && depth <= p.lmp_depth
            && number as i32 >= enough
            && best > -DECIDED
    }

    /// Singular extensions: the extension of the transposition table's move if all other moves are much worse. Breaks
    /// with the value of the node if another move also fails high (multi-cut) or the search was stopped.
    #[inline(always)]
    fn singular_extension<const PV: bool>(
        &mut self,
        state: &State,
        info: &NodeInfo,
        mv: Packed,
        node: &Node,
    ) -> ControlFlow<Value, i32> {
        let &Node { depth, ply, .. } = node;
        let p = self.shared.parameters();
        let Some(tt) = info.tt.filter(|_| {
            self.shared.techniques.selective
                && mv == info.tt_move
                && depth >= p.singular_depth
                && info.excluded == NO_MOVE
                && ply < 2 * MAX_PLY / 3
        }) else {
            return ControlFlow::Continue(0);
        };
        if tt.entry.bound == Bound::Upper
            || i32::from(tt.entry.depth) < depth - p.singular_tt_depth
            || tt.value.abs() >= DECIDED
        {
            return ControlFlow::Continue(0);
        }
        let target = tt.value - p.singular_margin * depth * self.scale;
        self.plies[ply + 2].excluded = mv;
        let others = Node { alpha: target - 1, beta: target, depth: (depth - 1) / 2, ..*node };
        let value = (self.compiled.zero_window)(self, state, others);
        self.plies[ply + 2].excluded = NO_MOVE;
        if self.path.stopped {
            ControlFlow::Break(0)
        } else if value < target {
            ControlFlow::Continue(1)
        } else if !PV && value >= node.beta && value.abs() < DECIDED {
            ControlFlow::Break(value)
        } else {
            ControlFlow::Continue(0)
        }
    }

    /// The value of a move: the first with the window of the node, the others with a zero window first (principal
    /// variation search), and at a reduced depth if they are probably no better.
    #[inline(always)]
    fn search_move<const PV: bool>(
        &mut self,
        child: &State,
        info: &NodeInfo,
        node: Node,
        candidate: &Candidate,
    ) -> Value {
        let new_depth = node.depth - 1 + candidate.extension;
        if candidate.number == 0 {
            return if PV {
                self.open_window(child, node, new_depth)
            } else {
                self.zero_window(child, node, new_depth, !node.cut_node)
            };
        }
        let reduced_depth = self.late_move_reduction::<PV>(info, &node, candidate, new_depth);
        let mut value = self.zero_window(child, node, reduced_depth, true);
        if value > node.alpha && reduced_depth < new_depth && !self.path.stopped {
            value = self.zero_window(child, node, new_depth, !node.cut_node);
        }
        if PV && value > node.alpha && value < node.beta && !self.path.stopped {
            value = self.open_window(child, node, new_depth);
        }
        value
    }

    /// Late move reductions (LMR): the depth of a move's first search, at most `new_depth`.
    #[inline(always)]
    fn late_move_reduction<const PV: bool>(
        &self,
        info: &NodeInfo,
        node: &Node,
        candidate: &Candidate,
        new_depth: i32,
    ) -> i32 {
        let &Candidate { rank, number, capture, threat, .. } = candidate;
        let p = self.shared.parameters();
        if !self.shared.techniques.selective || node.depth < p.lmr_depth || capture && rank > 0 || threat {
            return new_depth;
        }
        let mut reduction = self.base_reduction(node.depth, number);
        if node.cut_node {
            reduction += 1;
        }
        if PV {
            reduction -= 1;
        }
        if rank >= KILLER / 2 {
            reduction -= 1;
        } else if !capture {
            reduction -= (rank / p.lmr_history).clamp(-p.lmr_history_max, p.lmr_history_max);
        }
        if !info.improving {
            reduction += 1;
        }
        (new_depth - reduction.max(0)).max(1.min(new_depth))
    }

    /// Stores the result of a node: in correction history and in the transposition table.
    #[inline(always)]
    fn store_result(&mut self, state: &State, info: &NodeInfo, node: &Node, best: &Best) {
        if info.excluded != NO_MOVE {
            return;
        }
        let &Node { depth, ply, .. } = node;
        let techniques = self.shared.techniques;
        let error = best.value - info.static_eval;
        if techniques.selective
            && !info.in_check
            && best.value.abs() < DECIDED
            && (best.mv == NO_MOVE || !state.is_capture(best.mv))
            && match best.bound {
                Bound::Lower => error > 0,
                Bound::Upper => error < 0,
                Bound::Exact => true,
            }
        {
            let (p, earlier) = (self.shared.parameters(), self.plies[ply + 1].mv);
            self.thread_data.correct(p, state, earlier, error / self.scale, depth);
        }
        if techniques.tt {
            let (value, depth) = (value_to_tt(best.value, ply), depth.clamp(0, 255) as u8);
            let entry = TtEntry { mv: best.mv, value, depth, bound: best.bound, eval: info.raw_eval };
            self.shared.tt.store(self.path.tt_key(state.key), entry);
        }
    }

    /// Updates killers and history after a quiet move that caused a beta cutoff. The quiet moves tried before it get a
    /// malus.
    fn update_quiets(&mut self, us: usize, mv: Packed, capture: bool, tried: &[Packed], depth: i32, ply: usize) {
        if capture || !self.shared.techniques.sound {
            return;
        }
        let killers = &mut self.thread_data.killers[ply];
        if killers[0] != mv {
            *killers = [mv, killers[0]];
        }
        let p = self.shared.parameters();
        let bonus = (p.history_square * depth * depth + p.history_linear * depth).min(p.history_max);
        let earlier = [self.plies[ply + 1].mv, self.plies[ply].mv];
        self.thread_data.update(p.history_limit, us, mv, earlier, bonus);
        for &other in tried {
            self.thread_data.update(p.history_limit, us, other, earlier, -bonus);
        }
    }
}
