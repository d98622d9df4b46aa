//! Principal variation search with what the Chess Programming Wiki knows to help, as far as it paid here.
//!
//! The game has no check, but something like it: a piece in one of the three traps before the enemy's den enters the den
//! next unless it is taken. So in [`Ideas::den_threats`](super::ideas::Ideas) a side with an intruder before its den
//! looks only at moves that take him (with two intruders it has lost), and a step before the enemy's den where nobody can
//! take the piece is a win in three plies, found without search.

use super::history::Memory;
use super::picker::{ANY, KILLER, Order, Picker, Ranked, TABLE_MOVE, WORTH, checked};
use super::score::{
    DECIDED, INFINITE, MATE, MAX_ESTIMATE, MAX_PLY, NO_MOVE, Packed, TABLE_WIN, Value, is_exact, pack, to_of,
};
use super::shared::{Line, Shared};
use super::state::{State, TRAP_BITS, View};
use super::tt::{Bound, Entry, loaded, stored};
use crate::board::geometry::DEN;
use crate::board::{Color, Repetition, zobrist};
use crate::cpu::CpuLevel;
use crate::tablebase::Wdl;
use std::sync::LazyLock;

/// A move of the root with what the search found.
#[derive(Clone, Debug)]
pub(super) struct RootMove {
    pub mv: Packed,
    pub value: Value,
    /// The value before, which keeps the order among moves that failed low.
    pub earlier: Value,
    pub seldepth: usize,
    pub line: Vec<Packed>,
}

/// Late move reductions by depth and number of the move.
static REDUCTIONS: LazyLock<[[i8; 64]; 64]> = LazyLock::new(|| {
    std::array::from_fn(|depth| {
        std::array::from_fn(|number| {
            if depth == 0 || number == 0 {
                return 0;
            }
            (0.75 + (depth as f64).ln() * (number as f64).ln() / 2.1) as i8
        })
    })
});

#[derive(Copy, Clone)]
struct Ply {
    mv: Packed,
    eval: Value,
    excluded: Packed,
}

pub(super) struct Worker<'a> {
    pub line: Line<'a>,
    shared: &'a Shared<'a>,
    memory: &'a mut Memory,
    plies: [Ply; MAX_PLY + 4],
    pv_len: [usize; MAX_PLY + 1],
    pub seldepth: usize,
    level: CpuLevel,
    keys: &'static zobrist::Keys,
    /// Margins are in hundredths of a cat; an evaluation of another scale stretches them.
    scale: Value,
    illegal_repetition: bool,
}

/// The search compiled for a level of the processor. It calls itself through this, so that all of it is.
trait Compiled {
    fn search<const PV: bool>(
        worker: &mut Worker<'_>,
        state: &State,
        alpha: Value,
        beta: Value,
        depth: i32,
        ply: usize,
        cut: bool,
    ) -> Value;

    fn quiesce<const PV: bool>(worker: &mut Worker<'_>, state: &State, alpha: Value, beta: Value, ply: usize) -> Value;
}

macro_rules! compiled {
    ($level:ident $(, $features:literal)?) => {
        struct $level;

        impl Compiled for $level {
            #[inline(always)]
            fn search<const PV: bool>(
                worker: &mut Worker<'_>,
                state: &State,
                alpha: Value,
                beta: Value,
                depth: i32,
                ply: usize,
                cut: bool,
            ) -> Value {
                $(#[target_feature(enable = $features)])?
                fn compiled<const PV: bool>(
                    worker: &mut Worker<'_>,
                    state: &State,
                    alpha: Value,
                    beta: Value,
                    depth: i32,
                    ply: usize,
                    cut: bool,
                ) -> Value {
                    worker.search::<$level, PV>(state, alpha, beta, depth, ply, cut)
                }
                // SAFETY: `Worker::root` takes this level only where `CpuLevel::detect` found its features.
                #[allow(unused_unsafe)]
                unsafe {
                    compiled::<PV>(worker, state, alpha, beta, depth, ply, cut)
                }
            }

            #[inline(always)]
            fn quiesce<const PV: bool>(
                worker: &mut Worker<'_>,
                state: &State,
                alpha: Value,
                beta: Value,
                ply: usize,
            ) -> Value {
                $(#[target_feature(enable = $features)])?
                fn compiled<const PV: bool>(
                    worker: &mut Worker<'_>,
                    state: &State,
                    alpha: Value,
                    beta: Value,
                    ply: usize,
                ) -> Value {
                    worker.quiesce::<$level, PV>(state, alpha, beta, ply)
                }
                // SAFETY: likewise.
                #[allow(unused_unsafe)]
                unsafe {
                    compiled::<PV>(worker, state, alpha, beta, ply)
                }
            }
        }
    };
}

compiled!(Portable);
#[cfg(target_arch = "x86_64")]
compiled!(Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt");
#[cfg(target_arch = "x86_64")]
compiled!(Avx512, "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq");

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared<'a>, id: usize, memory: &'a mut Memory, scale: Value) -> Worker<'a> {
        Worker {
            line: Line::new(shared, id),
            shared,
            memory,
            plies: [Ply { mv: NO_MOVE, eval: 0, excluded: NO_MOVE }; MAX_PLY + 4],
            pv_len: [0; MAX_PLY + 1],
            seldepth: 0,
            level: shared.level,
            keys: zobrist::keys(),
            scale,
            illegal_repetition: shared.rules.options().repetition == Repetition::Illegal,
        }
    }

    pub fn scale(&self) -> Value {
        self.scale
    }

    /// The evaluation of the root.
    pub fn eval(&self) -> Value {
        self.plies[2].eval
    }

    fn den(color: usize) -> usize {
        DEN[Color::ALL[color]].index()
    }

    fn set_line(&mut self, ply: usize, mv: Packed) {
        let (above, below) = self.memory.pv.split_at_mut(ply + 1);
        let len = self.pv_len[ply + 1].clamp(ply + 1, MAX_PLY);
        above[ply][ply] = mv;
        if let Some(next) = below.first() {
            above[ply][ply + 1..len].copy_from_slice(&next[ply + 1..len]);
        }
        self.pv_len[ply] = len;
    }

    /// The line from a ply on is one move that ends it.
    fn set_last(&mut self, ply: usize, mv: Packed) {
        self.memory.pv[ply][ply] = mv;
        self.pv_len[ply] = ply + 1;
    }

    /// One iteration at the root, over the moves from `first` on, which are put in order. `None` if it was stopped before
    /// any move was done.
    pub fn root(
        &mut self,
        state: &State,
        moves: &mut [RootMove],
        alpha: Value,
        beta: Value,
        depth: i32,
    ) -> Option<Value> {
        // No level above the best gets through, so that the search finds its instructions.
        match self.level.min(CpuLevel::best()) {
            #[cfg(target_arch = "x86_64")]
            CpuLevel::Avx512 => self.root_at::<Avx512>(state, moves, alpha, beta, depth),
            #[cfg(target_arch = "x86_64")]
            CpuLevel::Avx2 => self.root_at::<Avx2>(state, moves, alpha, beta, depth),
            _ => self.root_at::<Portable>(state, moves, alpha, beta, depth),
        }
    }

    fn root_at<L: Compiled>(
        &mut self,
        state: &State,
        moves: &mut [RootMove],
        mut alpha: Value,
        beta: Value,
        depth: i32,
    ) -> Option<Value> {
        let mut view = View::new();
        self.look(state, &mut view);
        self.plies[2].eval = view.eval;
        let mut best = -INFINITE;
        let enemies = state.side(state.turn ^ 1);
        for i in 0..moves.len() {
            let mv = moves[i].mv;
            self.seldepth = 0;
            let capture = enemies >> to_of(mv) & 1 != 0;
            let child = self.enter(state, mv, state.key_after(mv, self.keys), capture, 0);
            let value = if child.side(child.turn) == 0 || to_of(mv) == Self::den(child.turn) {
                self.pv_len[1] = 1;
                MATE - 1
            } else if i == 0 {
                -L::search::<true>(self, &child, -beta, -alpha, depth - 1, 1, false)
            } else {
                let mut value = -alpha - 1;
                let mut reduced = depth - 1;
                if self.shared.ideas.reductions && depth >= 3 && i >= 3 && !capture {
                    reduced -= (i32::from(REDUCTIONS[depth.min(63) as usize][i.min(63)]) - 1).max(0);
                }
                if reduced < depth - 1 {
                    value = -L::search::<false>(self, &child, -alpha - 1, -alpha, reduced, 1, true);
                }
                if reduced == depth - 1 || value > alpha && !self.line.stopped {
                    value = -L::search::<false>(self, &child, -alpha - 1, -alpha, depth - 1, 1, true);
                }
                if value > alpha && value < beta && !self.line.stopped {
                    value = -L::search::<true>(self, &child, -beta, -alpha, depth - 1, 1, false);
                }
                value
            };
            self.line.pop();
            if self.line.stopped {
                return (best > -INFINITE).then_some(best);
            }
            let found = &mut moves[i];
            if i == 0 || value > alpha {
                found.value = value;
                found.seldepth = self.seldepth + 1;
                found.line.clear();
                found.line.push(mv);
                found.line.extend_from_slice(&self.memory.pv[1][1..self.pv_len[1].max(1)]);
            } else {
                found.value = -INFINITE;
            }
            if value > best {
                best = value;
                if value > alpha {
                    alpha = value;
                    // Whatever comes later is compared with this one; should the search stop, it is the best so far.
                    moves[..=i].rotate_right(1);
                    if alpha >= beta {
                        break;
                    }
                }
            }
        }
        Some(best)
    }

    /// Makes a move on the line.
    #[inline(always)]
    fn enter(&mut self, state: &State, mv: Packed, key: u64, capture: bool, ply: usize) -> State {
        let child = state.make(mv, key, self.shared.evaluator);
        let quiet = if capture { 0 } else { self.line.quiet() + 1 };
        self.line.push(child.key, quiet);
        self.plies[ply + 2].mv = mv | (state.turn as u16) << 9;
        child
    }

    /// The key after a move, whose entry of the table is asked for on the way.
    #[inline(always)]
    fn ask(&self, state: &State, mv: Packed) -> u64 {
        let key = state.key_after(mv, self.keys);
        self.shared.table.prefetch(key);
        key
    }

    /// Whether a stored value can be trusted: close to the no-capture limit only a win or a loss in few plies.
    #[inline(always)]
    fn holds(&self, value: Value) -> bool {
        let left = self.shared.no_capture_limit.saturating_sub(self.line.quiet());
        left > 20 || left > 0 && is_exact(value) && MATE - value.abs() < left as Value
    }

    /// Whether only a move that takes an intruder can be good: he is in the den next, and the game is not drawn before.
    #[inline(always)]
    fn in_check(&self, state: &State) -> bool {
        self.shared.ideas.den_threats
            && state.in_check()
            && self.shared.no_capture_limit.saturating_sub(self.line.quiet()) > 1
    }

    #[inline(always)]
    fn look(&self, state: &State, view: &mut View) {
        view.look(self.level, self.shared.rules, self.shared.evaluator, state);
    }

    /// What a table in memory says of a position that is not over.
    #[inline(always)]
    fn probe(&mut self, state: &State, ply: usize) -> Option<Value> {
        let tables = self.shared.tables?;
        if (state.count(0) + state.count(1)) as usize > tables.wdl().pieces() || self.illegal_repetition {
            return None;
        }
        let turn = Color::ALL[state.turn];
        let wdl = tables.wdl().probe_lanes([&state.lanes[0], &state.lanes[1]], turn)?;
        self.line.tbhits += 1;
        Some(match wdl {
            Wdl::Win => TABLE_WIN - ply as Value,
            Wdl::Draw => 0,
            Wdl::Loss => ply as Value - TABLE_WIN,
        })
    }

    /// What is decided without looking ahead: a win at once, an intruder who cannot be taken, or a step before the den
    /// where nobody can take the piece. The move that does it comes with it, if it is one.
    #[inline(always)]
    fn settled(&self, state: &State, view: &View, ply: usize) -> Option<(Value, Packed)> {
        let (us, them) = (state.turn, state.turn ^ 1);
        let won = MATE - ply as Value;
        let intruders = state.side(us) & TRAP_BITS[them];
        if intruders != 0 {
            let den = Self::den(them);
            if let Some(a) = (0..8).find(|&a| state.lanes[us][a] & intruders != 0 && view.targets[a] >> den & 1 != 0) {
                return Some((won - 1, pack(a, den)));
            }
        }
        if state.count(them) == 1 {
            let last = state.side(them);
            if let Some(a) = (0..8).find(|&a| view.targets[a] & last != 0) {
                return Some((won - 1, pack(a, last.trailing_zeros() as usize)));
            }
        }
        if !self.shared.ideas.den_threats {
            return None;
        }
        let left = self.shared.no_capture_limit.saturating_sub(self.line.quiet());
        let enemies = state.side(them) & TRAP_BITS[us];
        if enemies != 0 {
            let lost = enemies.count_ones() > 1 || view.any & enemies == 0;
            return (lost && left > 1).then_some((2 - won, NO_MOVE));
        }
        if left > 2 && view.any & TRAP_BITS[them] != 0 && view.enemy_moves() >= 6 && !self.illegal_repetition {
            for a in 0..8 {
                let safe = view.targets[a] & TRAP_BITS[them] & !view.danger[a];
                if safe != 0 {
                    return Some((won - 3, pack(a, safe.trailing_zeros() as usize)));
                }
            }
        }
        None
    }

    /// The value of a position within the bounds (fail-soft), `depth` plies ahead.
    #[inline(always)]
    fn search<L: Compiled, const PV: bool>(
        &mut self,
        state: &State,
        mut alpha: Value,
        mut beta: Value,
        mut depth: i32,
        ply: usize,
        cut: bool,
    ) -> Value {
        let ideas = &self.shared.ideas;
        if depth <= 0 && ideas.quiescence {
            if self.line.repeats() {
                self.pv_len[ply] = ply;
                return 0;
            }
            return L::quiesce::<PV>(self, state, alpha, beta, ply);
        }
        self.line.count_node();
        if PV {
            self.pv_len[ply] = ply;
            self.seldepth = self.seldepth.max(ply);
        }
        if self.line.stopped {
            return 0;
        }
        let excluded = self.plies[ply + 2].excluded;
        if excluded == NO_MOVE && self.line.repeats() {
            return 0;
        }
        let entry = if ideas.table && depth > 0 { self.shared.table.get(state.key) } else { None };
        let mut table_value = 0;
        if let Some(entry) = entry {
            table_value = loaded(entry.value, ply);
            let enough = entry.bound.decides(table_value, alpha, beta);
            if !PV && excluded == NO_MOVE && enough && i32::from(entry.depth) >= depth && self.holds(table_value) {
                return table_value;
            }
        }
        let mut view = View::new();
        self.look(state, &mut view);
        if view.any == 0 {
            return self.shared.stuck(ply);
        }
        if self.line.quiet() >= self.shared.no_capture_limit {
            return 0;
        }
        if depth <= 0 || ply >= MAX_PLY - 2 {
            return view.eval;
        }
        if let Some((value, mv)) = self.settled(state, &view, ply) {
            if PV && mv != NO_MOVE {
                self.set_last(ply, mv);
            }
            return value;
        }
        if ideas.mate_distance {
            alpha = alpha.max(ply as Value - MATE);
            beta = beta.min(MATE - ply as Value - 1);
            if alpha >= beta {
                return alpha;
            }
        }

        // Another position with the same key is next to impossible; its move must not be played all the same.
        let table_move = entry.map_or(NO_MOVE, |entry| checked(&view, entry.mv));
        if excluded == NO_MOVE
            && let Some(value) = self.probe(state, ply)
        {
            let bound = if value > 0 {
                Bound::Lower
            } else if value < 0 {
                Bound::Upper
            } else {
                Bound::Exact
            };
            let enough = match bound {
                Bound::Lower => value >= beta,
                Bound::Upper => value <= alpha,
                _ => true,
            };
            if enough || !PV || depth < 4 {
                return value;
            }
        }

        let (us, them) = (state.turn, state.turn ^ 1);
        let in_check = self.in_check(state);
        let standing = self.corrected(state, &view, ply);
        let mut eval = standing;
        self.plies[ply + 2].eval = if in_check { -INFINITE } else { eval };
        let improving = !in_check && ply >= 2 && eval > self.plies[ply].eval;
        if let Some(entry) = entry
            && !in_check
            && table_value.abs() < DECIDED
            && entry.bound.decides(table_value, eval - 1, eval + 1)
        {
            eval = table_value;
        }

        let margin = (70 * depth - if improving { 50 } else { 0 }) * self.scale;
        if ideas.reverse_futility
            && !PV
            && !in_check
            && excluded == NO_MOVE
            && depth <= 7
            && beta.abs() < DECIDED
            && eval - margin >= beta
        {
            return eval;
        }
        if ideas.internal_reductions && depth >= 4 && table_move == NO_MOVE && excluded == NO_MOVE && (PV || cut) {
            depth -= 1;
        }

        let enemies = state.side(them);
        let evading = if in_check { enemies & TRAP_BITS[us] } else { 0 };
        // All other moves let the intruder in.
        let mut best = if in_check { ply as Value + 2 - MATE } else { -INFINITE };
        let mut best_move = NO_MOVE;
        let mut bound = Bound::Upper;
        let mut picker = Picker::new(table_move, evading);
        let reductions = &REDUCTIONS[depth.min(63) as usize];
        let mut number = 0;
        let mut tried = [NO_MOVE; 32];
        let mut quiets = 0;
        let mut asked = (NO_MOVE, 0);
        loop {
            let mut reduction = i32::from(reductions[number.min(63)]);
            // Late move pruning: only captures and threats can be good from here on.
            let enough = (4 + depth * depth) / if improving { 1 } else { 2 };
            let noisy =
                ideas.late_moves && !PV && !in_check && depth <= 8 && number as i32 >= enough && best > -DECIDED;
            let order = Order {
                ideas,
                memory: &*self.memory,
                earlier: [self.plies[ply + 1].mv, self.plies[ply].mv],
                killers: if ideas.killers { self.memory.killers[ply] } else { [NO_MOVE; 2] },
            };
            let Some((rank, mv)) = picker.next(state, &view, &order, noisy) else { break };
            // While this move is searched, the entry of the next comes from memory.
            let key = if mv == asked.0 { asked.1 } else { self.ask(state, mv) };
            if let Some(next) = picker.upcoming() {
                asked = (next, self.ask(state, next));
            }
            if mv == excluded {
                continue;
            }
            let to = to_of(mv);
            let capture = enemies >> to & 1 != 0;
            if self.illegal_repetition && !capture && self.line.would_repeat(key) {
                continue;
            }
            let threat = TRAP_BITS[them] >> to & 1 != 0;
            if noisy && !capture && !threat {
                // What comes later is no better.
                picker.drop_quiets();
                continue;
            }

            let mut extension = 0;
            if ideas.singular
                && mv == table_move
                && depth >= 7
                && excluded == NO_MOVE
                && let Some(entry) = entry
                && matches!(entry.bound, Bound::Lower | Bound::Exact)
                && i32::from(entry.depth) >= depth - 3
                && table_value.abs() < DECIDED
                && ply < 2 * MAX_PLY / 3
            {
                let target = table_value - 2 * depth * self.scale;
                self.plies[ply + 2].excluded = mv;
                let value = L::search::<false>(self, state, target - 1, target, (depth - 1) / 2, ply, cut);
                self.plies[ply + 2].excluded = NO_MOVE;
                if self.line.stopped {
                    return 0;
                }
                if value < target {
                    extension = 1;
                } else if !PV && value >= beta && value.abs() < DECIDED {
                    // Two moves that refute: most likely one does (multi-cut).
                    return value;
                }
            }
            let child = self.enter(state, mv, key, capture, ply);
            let below = depth - 1 + extension;
            let mut value;
            if number == 0 {
                value = if PV {
                    -L::search::<true>(self, &child, -beta, -alpha, below, ply + 1, false)
                } else {
                    -L::search::<false>(self, &child, -beta, -alpha, below, ply + 1, !cut)
                };
            } else {
                let mut shallow = below;
                if ideas.reductions && depth >= 2 && !(capture && rank > 0) && !threat {
                    if cut {
                        reduction += 1;
                    }
                    if PV {
                        reduction -= 1;
                    }
                    if rank >= KILLER / 2 {
                        reduction -= 1;
                    } else if !capture {
                        reduction -= (rank / 8000).clamp(-2, 2);
                    }
                    if !improving {
                        reduction += 1;
                    }
                    shallow = (below - reduction.max(0)).max(1.min(below));
                }
                value = -L::search::<false>(self, &child, -alpha - 1, -alpha, shallow, ply + 1, true);
                if value > alpha && shallow < below && !self.line.stopped {
                    value = -L::search::<false>(self, &child, -alpha - 1, -alpha, below, ply + 1, !cut);
                }
                if PV && value > alpha && value < beta && !self.line.stopped {
                    value = -L::search::<true>(self, &child, -beta, -alpha, below, ply + 1, false);
                }
            }
            self.line.pop();
            if self.line.stopped {
                return 0;
            }
            number += 1;
            if value > best {
                best = value;
                if value > alpha {
                    best_move = mv;
                    bound = Bound::Exact;
                    if PV {
                        self.set_line(ply, mv);
                    }
                    if value >= beta {
                        bound = Bound::Lower;
                        self.learn(us, mv, capture, &tried[..quiets], depth, ply);
                        break;
                    }
                    alpha = value;
                }
            }
            if !capture {
                tried[quiets] = mv;
                quiets += 1;
            }
        }
        if number == 0 {
            if excluded != NO_MOVE {
                return alpha;
            }
            // Only with repetition illegal, or an intruder whom no legal move takes.
            return if in_check { best } else { self.shared.stuck(ply) };
        }
        let above = best - standing;
        if ideas.correction
            && !in_check
            && excluded == NO_MOVE
            && best.abs() < DECIDED
            && (best_move == NO_MOVE || enemies >> to_of(best_move) & 1 == 0)
            && match bound {
                Bound::Lower => above > 0,
                Bound::Upper => above < 0,
                _ => true,
            }
        {
            self.memory.correct(state, self.plies[ply + 1].mv, above / self.scale, depth);
        }
        if ideas.table && excluded == NO_MOVE {
            self.shared.table.put(
                state.key,
                Entry { mv: best_move, value: stored(best, ply), depth: depth.clamp(0, 255) as u8, bound },
            );
        }
        best
    }

    /// Looks on until nothing can be taken and no den is threatened.
    #[inline(always)]
    fn quiesce<L: Compiled, const PV: bool>(
        &mut self,
        state: &State,
        mut alpha: Value,
        beta: Value,
        ply: usize,
    ) -> Value {
        self.line.count_node();
        if PV {
            self.pv_len[ply] = ply;
            self.seldepth = self.seldepth.max(ply);
        }
        if self.line.stopped {
            return 0;
        }
        let ideas = &self.shared.ideas;
        let entry = if ideas.table { self.shared.table.get(state.key) } else { None };
        let mut table_value = 0;
        if let Some(entry) = entry {
            table_value = loaded(entry.value, ply);
            let enough = entry.bound.decides(table_value, alpha, beta);
            if !PV && enough && self.holds(table_value) {
                return table_value;
            }
        }
        let mut view = View::new();
        self.look(state, &mut view);
        if view.any == 0 {
            return self.shared.stuck(ply);
        }
        if self.line.quiet() >= self.shared.no_capture_limit {
            return 0;
        }
        if ply >= MAX_PLY - 2 {
            return view.eval;
        }
        if let Some((value, mv)) = self.settled(state, &view, ply) {
            if PV && mv != NO_MOVE {
                self.set_last(ply, mv);
            }
            return value;
        }
        let (us, them) = (state.turn, state.turn ^ 1);
        let in_check = self.in_check(state);
        let standing = self.corrected(state, &view, ply);
        let mut eval = standing;
        let mut table_move = NO_MOVE;
        if let Some(entry) = entry {
            table_move = checked(&view, entry.mv);
            if entry.bound.decides(table_value, eval - 1, eval + 1) && table_value.abs() < DECIDED {
                eval = table_value;
            }
        }
        if let Some(value) = self.probe(state, ply) {
            return value;
        }
        let mut best = if in_check { ply as Value + 2 - MATE } else { eval };
        if best >= beta {
            return best;
        }
        alpha = alpha.max(best);
        let enemies = state.side(them);
        let wanted = if in_check { enemies & TRAP_BITS[us] } else { enemies };
        let mut ranked = Ranked::new();
        for a in 0..8 {
            let mut targets = view.targets[a] & wanted;
            while targets != 0 {
                let to = targets.trailing_zeros() as usize;
                targets &= targets - 1;
                let victim = state.animal_at(them, to);
                let risky = view.danger[a] >> to & 1 != 0;
                let gain = WORTH[victim] - if risky { WORTH[a] } else { 0 };
                let mv = pack(a, to);
                if !in_check {
                    // Taken back at a loss, or too little to matter (delta pruning).
                    if gain < 0 && mv != table_move {
                        continue;
                    }
                    if standing + (WORTH[victim] + 150) * self.scale <= alpha && state.count(them) > 1 {
                        best = best.max(standing + (WORTH[victim] + 150) * self.scale);
                        continue;
                    }
                }
                let rank = if mv == table_move { TABLE_MOVE } else { gain * 16 + WORTH[victim] };
                ranked.push(rank, mv);
            }
        }
        let mut best_move = NO_MOVE;
        while let Some((_, mv)) = ranked.pick(ANY) {
            let key = self.ask(state, mv);
            let child = self.enter(state, mv, key, true, ply);
            let value = -L::quiesce::<PV>(self, &child, -beta, -alpha, ply + 1);
            self.line.pop();
            if self.line.stopped {
                return 0;
            }
            if value > best {
                best = value;
                if value > alpha {
                    best_move = mv;
                    if PV {
                        self.set_line(ply, mv);
                    }
                    if value >= beta {
                        break;
                    }
                    alpha = value;
                }
            }
        }
        if ideas.table {
            let bound = if best >= beta { Bound::Lower } else { Bound::Upper };
            self.shared.table.put(state.key, Entry { mv: best_move, value: stored(best, ply), depth: 0, bound });
        }
        best
    }

    /// The evaluation with what was learnt about it.
    #[inline(always)]
    fn corrected(&self, state: &State, view: &View, ply: usize) -> Value {
        if !self.shared.ideas.correction {
            return view.eval;
        }
        let correction = self.memory.correction(state, self.plies[ply + 1].mv) * self.scale / 16;
        (view.eval + correction).clamp(-MAX_ESTIMATE, MAX_ESTIMATE)
    }

    /// Remembers a move that refuted, and the quiet ones before it that did not.
    fn learn(&mut self, us: usize, mv: Packed, capture: bool, tried: &[Packed], depth: i32, ply: usize) {
        if capture {
            return;
        }
        let killers = &mut self.memory.killers[ply];
        if killers[0] != mv {
            *killers = [mv, killers[0]];
        }
        let bonus = (20 * depth * depth + 60 * depth).min(1600);
        let (first, second) = (self.plies[ply + 1].mv, self.plies[ply].mv);
        self.memory.update(us, mv, first, second, bonus);
        for &other in tried {
            self.memory.update(us, other, first, second, -bonus);
        }
    }
}
