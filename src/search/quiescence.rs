//! Quiescence search over captures; while the side's own den is threatened, only over captures of intruders.

use super::eval::{Attacks, State, TRAP_BITS};
use super::packed::{NO_MOVE, pack};
use super::picker::{MIN_RANK, PIECE_VALUE, Ranked, TT_MOVE};
use super::score::{DECIDED, INFINITE, Value, mated_in};
use super::tt::{Bound, TtEntry, value_to_tt};
use super::worker::{Node, NodeEval, TbHit, Worker};

impl Worker<'_> {
    /// A node of the quiescence search. `PV`: the window is open.
    #[inline(always)]
    pub(super) fn quiescence<const PV: bool>(&mut self, state: &State, node: Node) -> Value {
        let Node { mut alpha, beta, ply, .. } = node;
        self.count_node::<PV>(ply);
        if self.path.stopped {
            return 0;
        }
        // Transposition table cutoff.
        let tt = self.tt_probe(state.key, ply);
        if let Some(tt) = tt
            && !PV
            && tt.entry.bound.proves_cutoff(tt.value, alpha, beta)
            && self.path.tt_holds(tt.value, ply)
        {
            return tt.value;
        }
        let mut attacks = Attacks::new();
        self.compute_attacks(state, &mut attacks);
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
        let node_eval = self.node_eval(state, &attacks, tt, ply);
        let mut best = if node_eval.in_check { mated_in(ply + 2) } else { node_eval.eval.min(most) };
        best = best.max(least);
        if best >= beta {
            return best;
        }
        alpha = alpha.max(best);

        let mut best_move = NO_MOVE;
        let mut captures = Ranked::new();
        self.rank_captures(state, &attacks, &node_eval, alpha, &mut captures, &mut best);
        while let Some((_, mv)) = captures.pick(MIN_RANK) {
            let key = self.prefetch(state, mv, 0);
            let child = self.enter(state, mv, key, true, ply);
            let child_node = Node { alpha: -beta, beta: -alpha, ply: ply + 1, ..node };
            let quiescence = if PV { self.compiled.quiescence_open } else { self.compiled.quiescence_zero };
            let value = -quiescence(self, &child, child_node);
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
        if self.shared.techniques.tt {
            let bound = if best >= beta { Bound::Lower } else { Bound::Upper };
            let value = value_to_tt(best, ply);
            let entry = TtEntry { mv: best_move, value, depth: 0, bound, eval: node_eval.raw_eval };
            self.shared.tt.store(self.path.tt_key(state.key), entry);
        }
        best
    }

    /// Ranks the captures to search: in check the captures of intruders, else captures that neither lose material nor
    /// fail delta pruning. Raises `best` to the bound of pruned captures.
    #[inline(always)]
    fn rank_captures(
        &self,
        state: &State,
        attacks: &Attacks,
        node_eval: &NodeEval,
        alpha: Value,
        captures: &mut Ranked,
        best: &mut Value,
    ) {
        let (us, them) = state.sides_to_move();
        let enemies = state.side(them);
        let wanted = if node_eval.in_check { enemies & TRAP_BITS[us] } else { enemies };
        for a in 0..8 {
            let mut targets = attacks.targets[a] & wanted;
            while targets != 0 {
                let to = targets.trailing_zeros() as usize;
                targets &= targets - 1;
                let victim = state.animal_at(them, to);
                let risky = attacks.danger[a] >> to & 1 != 0;
                let gain = PIECE_VALUE[victim] - if risky { PIECE_VALUE[a] } else { 0 };
                let mv = pack(a, to);
                if !node_eval.in_check {
                    // The recapture wins material.
                    if gain < 0 && mv != node_eval.tt_move {
                        continue;
                    }
                    // Delta pruning.
                    let most = node_eval.static_eval
                        + (PIECE_VALUE[victim] + self.shared.parameters().delta_margin) * self.scale;
                    if most <= alpha && state.count(them) > 1 {
                        *best = (*best).max(most);
                        continue;
                    }
                }
                let rank = if mv == node_eval.tt_move { TT_MOVE } else { gain * 16 + PIECE_VALUE[victim] };
                captures.push(rank, mv);
            }
        }
    }
}
