//! Principal variation search with the techniques of the Chess Programming Wiki that gained strength here: the root, the
//! nodes of the main search and those of the quiescence search.
//!
//! The game has no check, but a similar threat: a piece in one of the three traps next to the enemy's den enters the
//! den next unless it is captured. A side with an intruder next to its den searches only moves that capture the intruder;
//! with two intruders it has lost. A step next to the enemy's den where no enemy can capture the piece is a win in three
//! plies, found without search.

use super::burnett;
use super::eval::{Attacks, Evaluator, NO_MOVE, NetworkEvaluator, Packed, State, TRAP_BITS, pack, pack_move, to_of};
use super::history::ThreadData;
use super::ordering::{KILLER, MIN_RANK, Order, PIECE_VALUE, Picker, Ranked, TT_MOVE, checked};
use super::parameters::TB_DEPTH;
use super::path::Path;
use super::score::{DECIDED, INFINITE, MATE, MAX_ESTIMATE, MAX_PLY, TB_WIN, Value, mate_in, mated_in};
use super::shared::Shared;
use super::tt::{Bound, NO_EVAL, TtEntry, value_from_tt, value_to_tt};
use crate::board::geometry::DEN;
use crate::board::{Move, Position, Repetition, zobrist};
use crate::cpu::{CpuLevel, compiled};
use crate::tablebase::Wdl;

/// The recursive functions of the search, compiled for a CPU level. Nodes call them through these pointers, so that all
/// of the search is compiled for the level and not only what the compiler inlines into one function. They return the value
/// of a position within its bounds (fail-soft).
#[derive(Copy, Clone)]
pub(super) struct Compiled {
    /// [`Worker::search`] with a zero window.
    zero_window: fn(&mut Worker<'_>, &State, Value, Value, i32, usize, bool) -> Value,
    /// [`Worker::search`] on a principal variation, with an open window.
    open_window: fn(&mut Worker<'_>, &State, Value, Value, i32, usize, bool) -> Value,
    /// [`Worker::quiescence`] with a zero window.
    quiescence_zero: fn(&mut Worker<'_>, &State, Value, Value, usize) -> Value,
    /// [`Worker::quiescence`] with an open window.
    quiescence_open: fn(&mut Worker<'_>, &State, Value, Value, usize) -> Value,
    /// The evaluation by the network.
    network: fn(&mut NetworkEvaluator, &State, usize) -> i32,
}

impl Compiled {
    pub(super) fn new(level: CpuLevel) -> Compiled {
        macro_rules! node {
            ($function:path) => {
                compiled!(
                    level,
                    fn(
                        worker: &mut Worker<'_>,
                        state: &State,
                        alpha: Value,
                        beta: Value,
                        depth: i32,
                        ply: usize,
                        cut_node: bool,
                    ) -> Value = $function
                )
            };
        }
        macro_rules! quiescence {
            ($function:path) => {
                compiled!(
                    level,
                    fn(worker: &mut Worker<'_>, state: &State, alpha: Value, beta: Value, ply: usize) -> Value = $function
                )
            };
        }
        Compiled {
            zero_window: node!(Worker::search::<false>),
            open_window: node!(Worker::search::<true>),
            quiescence_zero: quiescence!(Worker::quiescence::<false>),
            quiescence_open: quiescence!(Worker::quiescence::<true>),
            network: compiled!(
                level,
                fn(network: &mut NetworkEvaluator, state: &State, ply: usize) -> i32 = NetworkEvaluator::evaluate
            ),
        }
    }
}

/// A move of the root with the result of its search.
#[derive(Clone, Debug)]
pub(super) struct RootMove {
    pub mv: Packed,
    pub value: Value,
    /// The previous value, which orders the moves that failed low.
    pub previous_value: Value,
    pub seldepth: usize,
    /// The line that begins with this move.
    pub line: Vec<Packed>,
}

impl RootMove {
    /// A move that has not been searched.
    pub(super) fn new(mv: Move) -> RootMove {
        let mv = pack_move(mv);
        RootMove { mv, value: -INFINITE, previous_value: -INFINITE, seldepth: 1, line: vec![mv] }
    }
}

/// The entry of the search stack for one ply.
#[derive(Copy, Clone)]
struct Ply {
    /// The move that was made here, its side in bit 9.
    mv: Packed,
    /// The static evaluation; in check the one of two plies ago; before the root a number above every value.
    eval: Value,
    /// The move that a singular search excludes here.
    excluded: Packed,
}

/// A position that was found in the endgame tables. The value of a win is a lower and that of a loss an upper bound: the
/// search may find a win of known distance, which is a better value than the table's, or that of a draw, if the table's win
/// may come after the no-capture limit.
struct TbHit {
    value: Value,
    bound: Bound,
    from_file: bool,
}

/// One thread of the search.
pub(super) struct Worker<'a> {
    pub path: Path<'a>,
    pub shared: &'a Shared<'a>,
    thread_data: &'a mut ThreadData,
    /// The search stack. The entry of ply n is at n + 2, so ply n - 2 always exists.
    plies: [Ply; MAX_PLY + 4],
    /// The end of the principal variation from each ply on, see [`ThreadData::pv`].
    pv_len: [usize; MAX_PLY + 1],
    seldepth: usize,
    compiled: Compiled,
    keys: &'static zobrist::Keys,
    /// The factor of all margins, which are in cp. Burnett's evaluation has another scale.
    pub scale: Value,
    illegal_repetition: bool,
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
        }
    }

    /// The evaluation of the root.
    pub(super) fn root_eval(&self) -> Value {
        self.plies[2].eval
    }

    /// One iteration at the root. It searches the moves in their order and moves each new best move to the front.
    /// `None` if it was stopped before it finished a move.
    pub(super) fn root(
        &mut self,
        state: &State,
        moves: &mut [RootMove],
        mut alpha: Value,
        beta: Value,
        depth: i32,
    ) -> Option<Value> {
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
            let value = match child.is_lost() {
                true => Some(MATE - 1),
                false => self.search_root_move(&child, alpha, beta, depth, i, capture),
            };
            self.path.pop();
            let Some(value) = value else { return (best > -INFINITE).then_some(best) };
            let found = &mut moves[i];
            if i == 0 || value > alpha {
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
                if value > alpha {
                    alpha = value;
                    // The best move so far comes first, in case the search stops.
                    moves[..=i].rotate_right(1);
                    if alpha >= beta {
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
    fn search_root_move(
        &mut self,
        child: &State,
        alpha: Value,
        beta: Value,
        depth: i32,
        number: usize,
        capture: bool,
    ) -> Option<Value> {
        let Compiled { open_window, zero_window, .. } = self.compiled;
        let p = self.shared.parameters();
        let new_depth = depth - 1;
        if number == 0 {
            let value = -open_window(self, child, -beta, -alpha, new_depth, 1, false);
            return (!self.path.stopped).then_some(value);
        }
        // Late move reductions (LMR).
        let mut reduced_depth = new_depth;
        if self.shared.techniques.selective
            && depth >= p.lmr_root_depth
            && number >= p.lmr_root_moves as usize
            && !capture
        {
            reduced_depth -= (self.base_reduction(depth, number) - 1).max(0);
        }
        let mut value = -zero_window(self, child, -alpha - 1, -alpha, reduced_depth, 1, true);
        if value > alpha && reduced_depth < new_depth && !self.path.stopped {
            value = -zero_window(self, child, -alpha - 1, -alpha, new_depth, 1, true);
        }
        if self.path.stopped {
            return None;
        }
        // Principal variation search (PVS): a move that beats the first move is searched again with the open window.
        if value > alpha && value < beta {
            let again = -open_window(self, child, -beta, -alpha, new_depth, 1, false);
            if self.path.stopped {
                self.pv_len[1] = 1;
            } else {
                value = again;
            }
        }
        Some(value)
    }

    /// A node of the main search, `ply` plies from the root, searched `depth` plies deep. `PV`: the node is on a principal
    /// variation, with an open window. `cut_node`: a beta cutoff is expected.
    #[inline(always)]
    fn search<const PV: bool>(
        &mut self,
        state: &State,
        mut alpha: Value,
        mut beta: Value,
        mut depth: i32,
        ply: usize,
        cut_node: bool,
    ) -> Value {
        debug_assert!(alpha < beta && (PV || alpha + 1 == beta));
        let shared = self.shared;
        let (techniques, p) = (shared.techniques, shared.parameters());
        let Compiled { open_window, zero_window, .. } = self.compiled;

        // Quiescence search.
        if depth <= 0 && techniques.sound {
            if self.path.repeats() {
                self.pv_len[ply] = ply;
                return shared.draw_value(ply);
            }
            let quiescence = if PV { self.compiled.quiescence_open } else { self.compiled.quiescence_zero };
            return quiescence(self, state, alpha, beta, ply);
        }
        self.count_node::<PV>(ply);
        if self.path.stopped {
            return 0;
        }

        // Repetition.
        let excluded = self.plies[ply + 2].excluded;
        if excluded == NO_MOVE && self.path.repeats() {
            return shared.draw_value(ply);
        }

        // Transposition table cutoff.
        let tt = if depth > 0 { self.tt_probe(state.key, ply) } else { None };
        if let Some(tt) = tt
            && !PV
            && excluded == NO_MOVE
            && tt.bound.proves_cutoff(tt.value, alpha, beta)
            && i32::from(tt.depth) >= depth
            && self.path.tt_holds(tt.value, ply)
        {
            return tt.value;
        }

        // Results that need no search.
        let mut attacks = Attacks::new();
        attacks.compute(shared.rules, shared.masks, state);
        if let Some(value) = self.terminal_value::<PV>(state, &attacks, ply, depth <= 0) {
            return value;
        }

        // Mate distance pruning.
        if techniques.sound {
            alpha = alpha.max(mated_in(ply));
            beta = beta.min(mate_in(ply + 1));
            if alpha >= beta {
                return alpha;
            }
        }

        // Endgame tables. A value that took long to read is stored; it is worth more than a search of this depth.
        let (mut least, mut most) = (-INFINITE, INFINITE);
        if excluded == NO_MOVE
            && let Some(hit) = self.tb_probe::<PV>(state, ply, depth)
        {
            if hit.bound.is_exact_or_cutoff(hit.value, alpha, beta) {
                if hit.from_file {
                    let (value, depth, bound) = (hit.value, stored_depth(depth + TB_DEPTH), hit.bound);
                    self.tt_store(state.key, ply, TtEntry { mv: NO_MOVE, value, depth, bound, eval: NO_EVAL });
                }
                return hit.value;
            }
            if hit.bound == Bound::Lower {
                least = hit.value;
                alpha = alpha.max(hit.value);
            } else {
                most = hit.value;
            }
        }

        // Static evaluation. In check there is none; the one of two plies ago replaces it.
        let in_check = self.in_check(state);
        let (raw_eval, static_eval) = self.static_eval(state, tt, ply, in_check);
        let eval = refined(tt, static_eval, in_check);
        self.plies[ply + 2].eval = if in_check { self.plies[ply].eval } else { static_eval };
        let improving = !in_check && ply >= 2 && static_eval > self.plies[ply].eval;
        // Another position with the same key is very unlikely, but its move must not be played.
        let tt_move = tt.map_or(NO_MOVE, |tt| checked(&attacks, tt.mv));

        // History by evaluation: the quiet move that led to this node gets a bonus if the static evaluation of its side
        // rose, and a malus if it fell.
        let Ply { mv: last, eval: before, .. } = self.plies[ply + 1];
        if techniques.sound
            && self.path.halfmove_clock() > 0
            && !in_check
            && excluded == NO_MOVE
            && before.abs() < DECIDED
        {
            let gain = -(before + static_eval) / self.scale;
            let bonus = (gain * p.history_gain / 4).clamp(-p.history_gain_max, p.history_gain_max);
            self.thread_data.update_history(p.history_limit, !state.turn as usize, last, bonus);
        }

        // Reverse futility pruning (RFP), also static null move pruning: the evaluation is so far above beta that some
        // move will probably stay above it. The evaluation does not see an enemy that is about to enter the den.
        let margin = (p.rfp_margin * depth - if improving { p.rfp_improving } else { 0 }) * self.scale;
        if techniques.selective
            && !PV
            && !in_check
            && excluded == NO_MOVE
            && !state.den_in_danger()
            && depth <= p.rfp_depth
            && beta.abs() < DECIDED
            && eval - margin >= beta
        {
            return eval;
        }

        // Internal iterative reductions (IIR).
        if techniques.selective && depth >= p.iir_depth && tt_move == NO_MOVE && excluded == NO_MOVE && (PV || cut_node)
        {
            depth -= 1;
        }

        let (us, them) = state.sides_to_move();
        let enemies = state.side(them);
        // In check, only captures of the intruder: every other move lets it enter the den.
        let evading = if in_check { enemies & TRAP_BITS[us] } else { 0 };
        let mut best = if in_check { mated_in(ply + 2) } else { -INFINITE }.max(least);
        let mut best_move = NO_MOVE;
        let mut bound = if least > -INFINITE { Bound::Lower } else { Bound::Upper };
        let mut picker = Picker::new(tt_move, evading);
        // The moves searched, and the quiet moves among them.
        let mut number = 0;
        let mut tried = [NO_MOVE; 32];
        let mut quiets = 0;
        let mut prefetched = (NO_MOVE, 0);
        let salt = self.path.next_salt();
        loop {
            // Late move pruning (LMP): only captures and threats from here on.
            let enough = (p.lmp_moves + depth * depth) / if improving { 1 } else { 2 };
            let skip_quiets = !PV
                && techniques.selective
                && !in_check
                && depth <= p.lmp_depth
                && number as i32 >= enough
                && best > -DECIDED;
            let order = Order {
                thread_data: &*self.thread_data,
                earlier: [self.plies[ply + 1].mv, self.plies[ply].mv],
                killers: self.thread_data.killers[ply],
            };
            let Some((rank, mv)) = picker.next(state, &attacks, &order, skip_quiets) else { break };
            // The entry of the next move is prefetched while this move is searched.
            let key = if mv == prefetched.0 { prefetched.1 } else { self.prefetch(state, mv, salt) };
            if let Some(next) = picker.upcoming() {
                prefetched = (next, self.prefetch(state, next, salt));
            }
            if mv == excluded {
                continue;
            }
            let capture = enemies >> to_of(mv) & 1 != 0;
            if self.illegal_repetition && !capture && self.path.would_repeat(key) {
                continue;
            }
            // A step next to the enemy's den.
            let threat = TRAP_BITS[them] >> to_of(mv) & 1 != 0;
            if skip_quiets && !capture && !threat {
                // Later quiet moves have a lower history.
                picker.drop_quiets(TRAP_BITS[them]);
                continue;
            }

            // Singular extensions: the transposition table's move is extended if all other moves are much worse. If
            // another move also fails high, so does the node (multi-cut).
            let mut extension = 0;
            if let Some(tt) = tt
                && techniques.selective
                && mv == tt_move
                && depth >= p.singular_depth
                && excluded == NO_MOVE
                && ply < 2 * MAX_PLY / 3
                && tt.bound != Bound::Upper
                && i32::from(tt.depth) >= depth - p.singular_tt_depth
                && tt.value.abs() < DECIDED
            {
                let target = tt.value - p.singular_margin * depth * self.scale;
                self.plies[ply + 2].excluded = mv;
                let value = zero_window(self, state, target - 1, target, (depth - 1) / 2, ply, cut_node);
                self.plies[ply + 2].excluded = NO_MOVE;
                if self.path.stopped {
                    return 0;
                }
                if value < target {
                    extension = 1;
                } else if !PV && value >= beta && value.abs() < DECIDED {
                    return value;
                }
            }

            let child = self.enter(state, mv, key, capture, ply);
            let new_depth = depth - 1 + extension;
            let value = if number > 0 {
                // Late move reductions (LMR).
                let mut reduced_depth = new_depth;
                if techniques.selective && depth >= p.lmr_depth && !(capture && rank > 0) && !threat {
                    let mut reduction = self.base_reduction(depth, number);
                    if cut_node {
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
                    if !improving {
                        reduction += 1;
                    }
                    reduced_depth = (new_depth - reduction.max(0)).max(1.min(new_depth));
                }
                // Principal variation search (PVS): a zero window proves that the move is no better.
                let mut value = -zero_window(self, &child, -alpha - 1, -alpha, reduced_depth, ply + 1, true);
                if value > alpha && reduced_depth < new_depth && !self.path.stopped {
                    value = -zero_window(self, &child, -alpha - 1, -alpha, new_depth, ply + 1, !cut_node);
                }
                if PV && value > alpha && value < beta && !self.path.stopped {
                    value = -open_window(self, &child, -beta, -alpha, new_depth, ply + 1, false);
                }
                value
            } else if PV {
                -open_window(self, &child, -beta, -alpha, new_depth, ply + 1, false)
            } else {
                -zero_window(self, &child, -alpha - 1, -alpha, new_depth, ply + 1, !cut_node)
            };
            self.path.pop();
            if self.path.stopped {
                return 0;
            }
            number += 1;

            if value > best {
                best = value;
                if value > alpha {
                    if PV {
                        self.pv_extend(ply, mv);
                    }
                    best_move = mv;
                    if value >= beta {
                        bound = Bound::Lower;
                        if techniques.sound && !capture {
                            self.update_quiets(us, mv, &tried[..quiets], depth, ply);
                        }
                        break;
                    }
                    bound = Bound::Exact;
                    alpha = value;
                }
            }
            if !capture {
                tried[quiets] = mv;
                quiets += 1;
            }
        }

        // No move was searched: one is excluded, no legal move captures the intruder, or repetition is illegal.
        if number == 0 {
            return if excluded != NO_MOVE {
                alpha
            } else if in_check {
                best
            } else {
                shared.stalemate_value(ply)
            };
        }
        if best > most {
            (best, bound) = (most, Bound::Upper);
        }
        if excluded != NO_MOVE {
            return best;
        }

        // Correction history.
        let error = best - static_eval;
        if techniques.selective
            && !in_check
            && best.abs() < DECIDED
            && (best_move == NO_MOVE || !state.is_capture(best_move))
            && match bound {
                Bound::Lower => error > 0,
                Bound::Upper => error < 0,
                Bound::Exact => true,
            }
        {
            self.thread_data.correct(p, state, last, error / self.scale, depth);
        }
        let depth = stored_depth(depth);
        self.tt_store(state.key, ply, TtEntry { mv: best_move, value: best, depth, bound, eval: raw_eval });
        best
    }

    /// A node of the quiescence search over captures; while the side's own den is threatened, only over captures of
    /// intruders. `PV`: the window is open.
    #[inline(always)]
    fn quiescence<const PV: bool>(&mut self, state: &State, mut alpha: Value, beta: Value, ply: usize) -> Value {
        let shared = self.shared;
        self.count_node::<PV>(ply);
        if self.path.stopped {
            return 0;
        }

        // Transposition table cutoff.
        let tt = self.tt_probe(state.key, ply);
        if let Some(tt) = tt
            && !PV
            && tt.bound.proves_cutoff(tt.value, alpha, beta)
            && self.path.tt_holds(tt.value, ply)
        {
            return tt.value;
        }

        // Results that need no search.
        let mut attacks = Attacks::new();
        attacks.compute(shared.rules, shared.masks, state);
        if let Some(value) = self.terminal_value::<PV>(state, &attacks, ply, false) {
            return value;
        }

        // Endgame tables.
        let (mut least, mut most) = (-INFINITE, INFINITE);
        match self.tb_probe::<PV>(state, ply, 0) {
            Some(hit) if hit.value.abs() >= DECIDED || hit.bound.is_exact_or_cutoff(hit.value, alpha, beta) => {
                return hit.value;
            }
            Some(TbHit { value, bound: Bound::Lower, .. }) => least = value,
            Some(TbHit { value, .. }) => most = value,
            None => {}
        }

        // Standing pat.
        let in_check = self.in_check(state);
        let (raw_eval, static_eval) = self.static_eval(state, tt, ply, in_check);
        let mut best = if in_check { mated_in(ply + 2) } else { refined(tt, static_eval, in_check).min(most) };
        best = best.max(least);
        if best >= beta {
            return best;
        }
        alpha = alpha.max(best);

        // The captures: in check those of intruders, else those that neither lose material nor fail delta pruning.
        let tt_move = tt.map_or(NO_MOVE, |tt| checked(&attacks, tt.mv));
        let (us, them) = state.sides_to_move();
        let enemies = state.side(them);
        let wanted = if in_check { enemies & TRAP_BITS[us] } else { enemies };
        let mut captures = Ranked::new();
        for a in 0..8 {
            let mut targets = attacks.targets[a] & wanted;
            while targets != 0 {
                let to = targets.trailing_zeros() as usize;
                targets &= targets - 1;
                let victim = state.animal_at(them, to);
                let risky = attacks.danger[a] >> to & 1 != 0;
                let gain = PIECE_VALUE[victim] - if risky { PIECE_VALUE[a] } else { 0 };
                let mv = pack(a, to);
                if !in_check {
                    // The recapture wins material.
                    if gain < 0 && mv != tt_move {
                        continue;
                    }
                    // Delta pruning.
                    let most = static_eval + (PIECE_VALUE[victim] + shared.parameters().delta_margin) * self.scale;
                    if most <= alpha && state.count(them) > 1 {
                        best = best.max(most);
                        continue;
                    }
                }
                captures.push(if mv == tt_move { TT_MOVE } else { gain * 16 + PIECE_VALUE[victim] }, mv);
            }
        }

        let mut best_move = NO_MOVE;
        while let Some((_, mv)) = captures.pick(MIN_RANK) {
            let key = self.prefetch(state, mv, 0);
            let child = self.enter(state, mv, key, true, ply);
            let quiescence = if PV { self.compiled.quiescence_open } else { self.compiled.quiescence_zero };
            let value = -quiescence(self, &child, -beta, -alpha, ply + 1);
            self.path.pop();
            if self.path.stopped {
                return 0;
            }
            if value > best {
                best = value;
                if value > alpha {
                    best_move = mv;
                    if PV {
                        self.pv_extend(ply, mv);
                    }
                    if value >= beta {
                        break;
                    }
                    alpha = value;
                }
            }
        }
        let bound = if best >= beta { Bound::Lower } else { Bound::Upper };
        self.tt_store(state.key, ply, TtEntry { mv: best_move, value: best, depth: 0, bound, eval: raw_eval });
        best
    }

    /// Counts a node, and clears its principal variation.
    #[inline(always)]
    fn count_node<const PV: bool>(&mut self, ply: usize) {
        self.path.count_node();
        if PV {
            self.pv_len[ply] = ply;
            self.seldepth = self.seldepth.max(ply);
        }
    }

    /// Makes a move and appends it to the path.
    #[inline(always)]
    fn enter(&mut self, state: &State, mv: Packed, key: u64, capture: bool, ply: usize) -> State {
        let child = state.make(mv, key);
        let halfmove_clock = if capture { 0 } else { self.path.halfmove_clock() + 1 };
        self.path.push(child.key, halfmove_clock);
        self.plies[ply + 2].mv = mv | (state.turn as u16) << 9;
        child
    }

    /// The key after a move. Prefetches its bucket of the transposition table, given [`Path::next_salt`], which is right
    /// for quiet moves.
    #[inline(always)]
    fn prefetch(&self, state: &State, mv: Packed, salt: u64) -> u64 {
        let key = state.key_after(mv, self.keys);
        self.shared.tt.prefetch(key ^ salt);
        key
    }

    /// The entry of a position, `ply` plies from the root.
    #[inline(always)]
    fn tt_probe(&self, key: u64, ply: usize) -> Option<TtEntry> {
        if !self.shared.techniques.tt {
            return None;
        }
        let entry = self.shared.tt.probe(self.path.tt_key(key))?;
        Some(TtEntry { value: value_from_tt(entry.value, ply), ..entry })
    }

    /// Stores the result of a node, `ply` plies from the root.
    #[inline(always)]
    fn tt_store(&self, key: u64, ply: usize, entry: TtEntry) {
        if self.shared.techniques.tt {
            let entry = TtEntry { value: value_to_tt(entry.value, ply), ..entry };
            self.shared.tt.store(self.path.tt_key(key), entry);
        }
    }

    /// The value of a position in the endgame tables; the game must not be over. A win or loss that may come after the
    /// no-capture limit is a draw at least or at most.
    ///
    /// Files are probed only after a capture or on a principal variation, and from a minimum depth on: a probe takes up to
    /// a hundred times as long as a node.
    #[inline(always)]
    fn tb_probe<const PV: bool>(&mut self, state: &State, ply: usize, depth: i32) -> Option<TbHit> {
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
    fn in_check(&self, state: &State) -> bool {
        self.shared.techniques.sound && state.in_check() && self.path.plies_left() > 1
    }

    /// The value of a node that needs no search: stalemate, the no-capture limit, the last ply (or `horizon`), or a
    /// value of [`Worker::forced_result`].
    #[inline(always)]
    fn terminal_value<const PV: bool>(
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

    /// The evaluation without correction, as the transposition table stores it, and with correction. In check, where only
    /// evasions count, there is none: the second is minus infinity.
    #[inline(always)]
    fn static_eval(&mut self, state: &State, tt: Option<TtEntry>, ply: usize, in_check: bool) -> (i16, Value) {
        if in_check {
            return (NO_EVAL, -INFINITE);
        }
        let raw_eval = match tt {
            Some(tt) if tt.eval != NO_EVAL => tt.eval.into(),
            _ => self.evaluate(state, ply),
        };
        (raw_eval as i16, self.corrected(raw_eval, state, ply))
    }

    /// The evaluation without correction, within ±[`MAX_ESTIMATE`].
    #[inline(always)]
    fn evaluate(&mut self, state: &State, ply: usize) -> Value {
        let value = match &mut self.thread_data.evaluator {
            Evaluator::Network(network) => (self.compiled.network)(network, state, ply),
            Evaluator::Burnett => burnett::evaluate_lanes(&state.lanes, state.turn),
        };
        value.clamp(-MAX_ESTIMATE, MAX_ESTIMATE)
    }

    /// The evaluation, corrected by the results of earlier searches of similar positions (correction history).
    #[inline(always)]
    fn corrected(&self, eval: Value, state: &State, ply: usize) -> Value {
        if !self.shared.techniques.selective {
            return eval;
        }
        let correction = self.thread_data.correction(state, self.plies[ply + 1].mv) * self.scale / 16;
        (eval + correction).clamp(-MAX_ESTIMATE, MAX_ESTIMATE)
    }

    /// Late move reductions by depth and number of the move.
    #[inline(always)]
    fn base_reduction(&self, depth: i32, number: usize) -> i32 {
        i32::from(self.shared.reductions[depth.clamp(0, 63) as usize][number.min(63)])
    }

    /// Sets the principal variation of a ply: this move, then that of the next ply.
    fn pv_extend(&mut self, ply: usize, mv: Packed) {
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

    /// Updates killers and history after a quiet move that caused a beta cutoff. The quiet moves tried before it get a
    /// malus.
    fn update_quiets(&mut self, us: usize, mv: Packed, tried: &[Packed], depth: i32, ply: usize) {
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

/// The static evaluation, or the transposition table's value if its bound is tighter.
#[inline(always)]
fn refined(tt: Option<TtEntry>, static_eval: Value, in_check: bool) -> Value {
    let better = tt.filter(|tt| {
        !in_check && tt.value.abs() < DECIDED && tt.bound.proves_cutoff(tt.value, static_eval - 1, static_eval + 1)
    });
    better.map_or(static_eval, |tt| tt.value)
}

/// A depth as the transposition table stores it.
#[inline(always)]
fn stored_depth(depth: i32) -> u8 {
    depth.clamp(0, 255) as u8
}
