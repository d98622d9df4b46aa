//! Move ordering in stages: most nodes end after one or two moves, so later stages are generated on demand. The stages
//! are the transposition table's move, then captures that do not lose material, killers, quiet moves by history, and
//! losing captures.

use super::eval::{Attacks, NO_MOVE, Packed, State, TRAP_BITS, animal_of, pack, to_of};
use super::history::ThreadData;

/// The piece values that order captures: Burnett's material.
pub(super) const PIECE_VALUE: [i32; 8] = super::burnett::MATERIAL;

/// Ranks: the transposition table's move, captures that do not lose material, killers, quiet moves around 0, losing
/// captures.
pub(super) const TT_MOVE: i32 = 3 << 20;
pub(super) const GOOD_CAPTURE: i32 = 2 << 20;
pub(super) const KILLER: i32 = 1 << 20;
pub(super) const BAD_CAPTURE: i32 = -(2 << 20);

/// A rank below all others.
pub(super) const MIN_RANK: i32 = -(1 << 22);

/// Moves with their rank. The lowest 9 bits hold the move, the bits above hold the rank, so all numbers are different.
pub(super) struct Ranked {
    moves: [i32; 32],
    len: usize,
}

impl Ranked {
    #[inline(always)]
    pub(super) fn new() -> Ranked {
        Ranked { moves: [0; 32], len: 0 }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, rank: i32, mv: Packed) {
        self.moves[self.len & 31] = rank << 9 | i32::from(mv);
        self.len += 1;
    }

    /// Removes the best move of at least this rank and returns it.
    #[inline(always)]
    pub(super) fn pick(&mut self, least: i32) -> Option<(i32, Packed)> {
        let (&last, others) = self.moves.get(..self.len)?.split_last()?;
        let (mut best, mut at) = (last, others.len());
        for (i, &other) in others.iter().enumerate() {
            (best, at) = if other > best { (other, i) } else { (best, at) };
        }
        if best >> 9 < least {
            return None;
        }
        self.moves[at & 31] = last;
        self.len -= 1;
        Some((best >> 9, (best & 511) as Packed))
    }

    /// Removes all moves except losing captures and moves to these squares.
    fn drop_quiets(&mut self, squares: u64) {
        let all = std::mem::take(&mut self.len);
        for i in 0..all.min(32) {
            if !is_dropped(self.moves[i] >> 9, self.moves[i] as Packed & 511, squares) {
                self.moves[self.len & 31] = self.moves[i];
                self.len += 1;
            }
        }
    }
}

/// Whether [`Picker::drop_quiets`] drops a move of this rank.
fn is_dropped(rank: i32, mv: Packed, squares: u64) -> bool {
    rank > BAD_CAPTURE / 2 && squares >> to_of(mv) & 1 == 0
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Stage {
    TtMove,
    Captures,
    Good,
    SecondKiller,
    Quiets,
    Rest,
}

/// The data besides the position that orders quiet moves.
pub(super) struct Order<'a> {
    pub thread_data: &'a ThreadData,
    /// The moves one and two plies back.
    pub earlier: [Packed; 2],
    pub killers: [Packed; 2],
}

pub(super) struct Picker {
    stage: Stage,
    /// The target squares of the moves to generate.
    mask: u64,
    tt_move: Packed,
    killers: [Packed; 2],
    ranked: Ranked,
    /// The move that follows the last one returned, if it is known.
    upcoming: Option<(i32, Packed)>,
}

/// A stored move if it is legal, else [`NO_MOVE`].
#[inline(always)]
pub(super) fn checked(attacks: &Attacks, mv: Packed) -> Packed {
    if attacks.targets[animal_of(mv)] >> to_of(mv) & 1 != 0 { mv } else { NO_MOVE }
}

impl Picker {
    /// A picker of all moves, or of the moves to squares of `evading` if it is not empty.
    #[inline(always)]
    pub(super) fn new(tt_move: Packed, evading: u64) -> Picker {
        let mask = if evading == 0 { u64::MAX } else { evading };
        let tt_move = if mask >> to_of(tt_move) & 1 != 0 { tt_move } else { NO_MOVE };
        let ranked = Ranked::new();
        Picker { stage: Stage::TtMove, mask, tt_move, killers: [NO_MOVE; 2], ranked, upcoming: None }
    }

    /// The next move with its rank. With `skip_quiets`, the only quiet moves are steps into a trap of the enemy's den.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        state: &State,
        attacks: &Attacks,
        order: &Order,
        skip_quiets: bool,
    ) -> Option<(i32, Packed)> {
        // The CPU predicts a chain of branches better than one indirect jump.
        if self.stage == Stage::TtMove {
            self.stage = Stage::Captures;
            if self.tt_move != NO_MOVE {
                return Some((TT_MOVE, self.tt_move));
            }
        }
        if self.stage == Stage::Captures {
            self.captures(state, attacks);
            self.stage = Stage::Good;
        }
        if self.stage == Stage::Good {
            if let Some(found) = self.ranked.pick(GOOD_CAPTURE / 2) {
                return Some(found);
            }
            self.stage = Stage::SecondKiller;
            self.killers = order.killers.map(|mv| self.killer(state, attacks, mv));
            if self.killers[0] != NO_MOVE {
                return Some((KILLER + 1, self.killers[0]));
            }
        }
        if self.stage == Stage::SecondKiller {
            self.stage = Stage::Quiets;
            if self.killers[1] != NO_MOVE {
                return Some((KILLER, self.killers[1]));
            }
        }
        if self.stage == Stage::Quiets {
            self.quiets(state, attacks, order, skip_quiets);
            self.stage = Stage::Rest;
            self.upcoming = self.ranked.pick(MIN_RANK);
        }
        let found = self.upcoming?;
        self.upcoming = self.ranked.pick(MIN_RANK);
        Some(found)
    }

    /// The move that follows the last one returned, if it is known.
    #[inline(always)]
    pub(super) fn upcoming(&self) -> Option<Packed> {
        self.upcoming.map(|(_, mv)| mv)
    }

    /// Skips the remaining quiet moves, except those to these squares. Quiet moves that have not been generated are left
    /// out by `skip_quiets` of [`Picker::next`].
    pub(super) fn drop_quiets(&mut self, squares: u64) {
        if self.stage == Stage::Rest {
            self.ranked.drop_quiets(squares);
            if self.upcoming.is_some_and(|(rank, mv)| is_dropped(rank, mv, squares)) {
                self.upcoming = self.ranked.pick(MIN_RANK);
            }
        }
    }

    #[inline(always)]
    fn captures(&mut self, state: &State, attacks: &Attacks) {
        let (_, them) = state.sides_to_move();
        let wanted = state.side(them) & self.mask;
        if attacks.any & wanted == 0 {
            return;
        }
        for a in 0..8 {
            let mut targets = attacks.targets[a] & wanted;
            while targets != 0 {
                let to = targets.trailing_zeros() as usize;
                targets &= targets - 1;
                let mv = pack(a, to);
                if mv != self.tt_move {
                    let victim = state.animal_at(them, to);
                    let risky = attacks.danger[a] >> to & 1 != 0;
                    let gain = PIECE_VALUE[victim] - if risky { PIECE_VALUE[a] } else { 0 };
                    let class = if gain >= 0 { GOOD_CAPTURE } else { BAD_CAPTURE };
                    self.ranked.push(class + gain * 16 + PIECE_VALUE[victim], mv);
                }
            }
        }
    }

    /// A killer, if it is a legal quiet move that was not returned yet.
    #[inline(always)]
    fn killer(&self, state: &State, attacks: &Attacks, mv: Packed) -> Packed {
        let quiet = (self.mask & !state.side(!state.turn as usize)) >> to_of(mv) & 1 != 0;
        if quiet && mv != self.tt_move { checked(attacks, mv) } else { NO_MOVE }
    }

    #[inline(always)]
    fn quiets(&mut self, state: &State, attacks: &Attacks, order: &Order, skip_quiets: bool) {
        let (us, them) = state.sides_to_move();
        let mut wanted = self.mask & !state.side(them);
        if skip_quiets {
            wanted &= TRAP_BITS[them];
        }
        if attacks.any & wanted == 0 {
            return;
        }
        let (thread_data, [one_back, two_back]) = (order.thread_data, order.earlier);
        let history = &thread_data.history[us];
        let (first, second) = (thread_data.continuation(0, one_back), thread_data.continuation(1, two_back));
        let mut targets = attacks.targets;
        for mv in [self.tt_move, self.killers[0], self.killers[1]] {
            targets[animal_of(mv)] &= !(1 << to_of(mv));
        }
        for a in 0..8 {
            let mut rest = targets[a] & wanted;
            while rest != 0 {
                let to = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let mv = pack(a, to);
                let at = usize::from(mv);
                self.ranked.push(2 * i32::from(history[at]) + i32::from(first[at]) + i32::from(second[at]), mv);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::eval::{CaptureMasks, pack_move};
    use super::super::parameters::Parameters;
    use super::*;
    use crate::board::{Position, Rules};
    use crate::game::random::Random;

    fn all(
        picker: &mut Picker,
        state: &State,
        attacks: &Attacks,
        order: &Order,
        skip_quiets: bool,
    ) -> Vec<(i32, Packed)> {
        std::iter::from_fn(|| picker.next(state, attacks, order, skip_quiets)).collect()
    }

    /// For every table move and every pair of killers, the picker returns each legal move once, by descending rank.
    #[test]
    fn every_move_comes_once_the_best_first() {
        let mut random = Random::new(12);
        let rules = Rules::default();
        let masks = CaptureMasks::new(&rules);
        let mut thread_data = ThreadData::new();
        let (mut captures, mut steps) = (0, 0);
        for _ in 0..60 {
            for position in random.walk(&Position::start(), &rules, 100) {
                let legal = position.moves(&rules);
                if legal.is_empty() {
                    break;
                }
                let state = State::new(&position);
                let mut attacks = Attacks::new();
                attacks.compute(&rules, &masks, &state);
                let mut any = || random.bits() as Packed & 511;
                let mut one = || pack_move(legal[usize::from(any()) % legal.len()]);
                let (tt_move, killers, earlier) = (one(), [one(), any()], [any(), any() | 512]);
                let tt_move = if any() % 3 == 0 { NO_MOVE } else { tt_move };
                let killers = if killers[0] == killers[1] { [killers[0], NO_MOVE] } else { killers };
                let limit = Parameters::DEFAULT.history_limit;
                thread_data.update(limit, state.turn as usize, any(), earlier, i32::from(any()));
                let order = Order { thread_data: &thread_data, earlier, killers };
                let moves = all(&mut Picker::new(tt_move, 0), &state, &attacks, &order, false);
                let mut found: Vec<Packed> = moves.iter().map(|&(_, mv)| mv).collect();
                assert!(tt_move == NO_MOVE || found[0] == tt_move);
                assert!(moves.is_sorted_by(|a, b| a.0 >= b.0), "{moves:?}");
                let mut expected: Vec<Packed> = legal.iter().map(|&mv| pack_move(mv)).collect();
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "{position:?}");

                // Without quiet moves, the picker returns captures, threats, the transposition table's move and
                // killers.
                let without_quiets = all(&mut Picker::new(tt_move, 0), &state, &attacks, &order, true);
                let (enemies, traps) = (state.side(!state.turn as usize), TRAP_BITS[!state.turn as usize]);
                let stays =
                    |mv: Packed| (enemies | traps) >> to_of(mv) & 1 != 0 || mv == tt_move || killers.contains(&mv);
                assert_eq!(without_quiets, moves.iter().copied().filter(|&(_, mv)| stays(mv)).collect::<Vec<_>>());
                // After `drop_quiets`, the picker returns captures, steps into traps and killers that come anyway.
                let mut picker = Picker::new(tt_move, 0);
                let half = moves.len() / 2;
                for _ in 0..half {
                    picker.next(&state, &attacks, &order, false);
                }
                picker.drop_quiets(traps);
                let rest = all(&mut picker, &state, &attacks, &order, true);
                let stays = |rank: i32, mv: Packed| (enemies | traps) >> to_of(mv) & 1 != 0 || rank >= KILLER;
                let expected = moves[half..].iter().copied().filter(|&(rank, mv)| stays(rank, mv));
                assert_eq!(rest, expected.collect::<Vec<_>>());
                captures += rest.iter().filter(|&&(_, mv)| enemies >> to_of(mv) & 1 != 0).count();
                steps += rest.iter().filter(|&&(_, mv)| traps >> to_of(mv) & 1 != 0).count();
            }
        }
        assert!(captures > 50 && steps > 10, "{captures} {steps}");
    }
}
