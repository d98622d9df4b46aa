//! The lines of one and two plies, counted from bitboards.
//!
//! Let the mover's piece x move from f to t. This changes the number of the opponent's replies only on f and on t:
//!
//! - Pieces that reach f but could not capture x there gain a move.
//! - If t was empty, pieces that reach t but may not capture x there lose a move.
//! - If the opponent's piece y stood on t, it loses all its moves, and pieces that reach t and may capture x there gain one.
//!
//! So the lines of two plies are the number of moves times the number of replies, corrected for the few pieces that come
//! close to the opponent. Moves of a rat that open or close a leap are made one by one.

use super::mode::PerftMode;
use crate::board::geometry::{DEN, LEAP_DOWN, LEAP_LEFT, LEAP_RIGHT, LEAP_UP, WATER};
use crate::board::{Animal, Color, Lanes, Position, Rules, capturable, reach, squares, union};

/// A position that is not won, from the side to move.
#[derive(Copy, Clone)]
pub(super) struct Sides {
    /// The side to move.
    pub turn: Color,
    pub own: Lanes,
    pub enemy: Lanes,
}

impl Sides {
    #[inline(always)]
    pub(super) fn of(position: &Position) -> Sides {
        let turn = position.turn();
        Sides { turn, own: *position.lanes(turn), enemy: *position.lanes(!turn) }
    }
}

/// The number of squares in all lanes together.
#[inline(always)]
fn ones(lanes: &Lanes) -> u64 {
    lanes.iter().map(|lane| u64::from(lane.count_ones())).sum()
}

/// The number of moves; in `leaf` counting 1 if there are none.
#[inline(always)]
pub(super) fn one_ply(rules: &Rules, sides: &Sides, mode: PerftMode) -> u64 {
    let Sides { turn, own, enemy } = sides;
    let moves = ones(&reach(rules, *turn, own, enemy).targets(own, enemy));
    if mode == PerftMode::Leaf { moves.max(1) } else { moves }
}

/// The lines of two plies that begin with the move of an animal to the square in the set `to`, which is not a den.
#[inline(always)]
pub(super) fn after(rules: &Rules, sides: &Sides, animal: usize, to: u64, mode: PerftMode) -> u64 {
    let mut next = Sides { turn: !sides.turn, own: sides.enemy, enemy: sides.own };
    for a in 0..8 {
        next.own[a] &= !to;
        next.enemy[a] = if a == animal { to } else { next.enemy[a] };
    }
    if union(&next.own) == 0 { u64::from(mode == PerftMode::Leaf) } else { one_ply(rules, &next, mode) }
}

/// The lines of two plies. In `leaf` counting no move may repeat a position.
#[inline(always)]
pub(super) fn two_plies(rules: &Rules, sides: &Sides, mode: PerftMode) -> u64 {
    let Sides { turn, own, enemy } = sides;
    let leaf = mode == PerftMode::Leaf;
    let (own_all, enemy_all) = (union(own), union(enemy));
    let (mine, theirs) = (squares(rules, *turn, own, enemy), squares(rules, !*turn, enemy, own));
    let theirs_all = union(&theirs);
    let (mut targets, mut answers) = ([0; 8], [0; 8]);
    for a in 0..8 {
        targets[a] = mine[a] & !own_all & !enemy_all;
        answers[a] = theirs[a] & !own_all & !enemy_all;
    }
    // In most positions no piece is next to an enemy.
    if union(&mine) & enemy_all != 0 || theirs_all & own_all != 0 {
        let (by_us, by_them) = (capturable(rules, *turn, own, enemy), capturable(rules, !*turn, enemy, own));
        for a in 0..8 {
            targets[a] |= mine[a] & by_us[a];
            answers[a] |= theirs[a] & by_them[a];
        }
    }
    let replies = ones(&answers);
    if leaf && union(&targets) == 0 {
        return 1;
    }

    let den = 1u64 << DEN[!*turn].index();
    let rat = Animal::Rat.index();
    let mut single = [0; 8];
    if leaf && replies <= 8 {
        // A move may leave no reply, which counts as one leaf.
        single = targets;
    } else if (own[rat] | targets[rat]) & WATER.bits() != 0 {
        let crossed = crossed(rules, enemy);
        single[rat] = targets[rat] & if own[rat] & crossed != 0 { u64::MAX } else { crossed };
    }
    let mut counted = [0; 8];
    for a in 0..8 {
        single[a] &= !den;
        counted[a] = targets[a] & !single[a] & !den;
    }
    let mut total = ones(&counted) * replies;
    if leaf {
        // A move into the den ends the game.
        total += targets.iter().map(|lane| u64::from(lane & den != 0)).sum::<u64>();
    }
    let (gained, lost) = corrections(rules, sides, &counted, &theirs, &answers);
    total = total + gained - lost;

    if union(&single) != 0 {
        for a in 0..8 {
            let mut rest = single[a];
            while rest != 0 {
                total += after(rules, sides, a, rest & rest.wrapping_neg(), mode);
                rest &= rest - 1;
            }
        }
    }
    total
}

/// The replies that the opponent gains and loses by all moves to the squares `counted` together. The opponent's pieces reach
/// `theirs`, and `answers` of these are replies now.
#[inline(always)]
fn corrections(rules: &Rules, sides: &Sides, counted: &Lanes, theirs: &Lanes, answers: &Lanes) -> (u64, u64) {
    let Sides { turn, own, enemy } = sides;
    let (theirs_all, enemy_all) = (union(theirs), union(enemy));
    let wet_enemy = usize::from(enemy[Animal::Rat.index()] & WATER.bits() != 0);
    let takes = &rules.masks().takes[!*turn as usize][wet_enemy];
    let mut close = 0u32;
    for x in 0..8 {
        close |= u32::from((counted[x] | own[x]) & theirs_all | counted[x] & enemy_all != 0) << x;
    }
    let (mut gained, mut lost) = ([0u64; 8], [0u64; 8]);
    while close != 0 {
        let x = (close.trailing_zeros() & 7) as usize;
        close &= close - 1;
        let moves = u64::from(counted[x].count_ones());
        let (quiet, captures) = (counted[x] & !enemy_all, counted[x] & enemy_all);
        for y in 0..8 {
            let (may_take, may_not) = (theirs[y] & takes[x][y], theirs[y] & !takes[x][y]);
            let at_from = own[x] & may_not != 0;
            gained[y] += u64::from((captures & may_take).count_ones()) + if at_from { moves } else { 0 };
            lost[y] += u64::from((quiet & may_not).count_ones());
            if captures & enemy[y] != 0 {
                lost[y] += u64::from(answers[y].count_ones()) + u64::from(at_from);
            }
        }
    }
    (gained.iter().sum(), lost.iter().sum())
}

/// The water that the leaps of a side cross, whether blocked or not.
#[inline(always)]
fn crossed(rules: &Rules, lanes: &Lanes) -> u64 {
    let masks = rules.masks();
    let (mut files, mut ranks) = (0, 0);
    for a in 0..8 {
        files |= lanes[a] & masks.leaps_files[a];
        ranks |= lanes[a] & masks.leaps_ranks[a];
    }
    let (up, down) = (files & LEAP_UP.bits(), files & LEAP_DOWN.bits());
    let (right, left) = (ranks & LEAP_RIGHT.bits(), ranks & LEAP_LEFT.bits());
    up << 7
        | up << 14
        | up << 21
        | down >> 7
        | down >> 14
        | down >> 21
        | right << 1
        | right << 2
        | left >> 1
        | left >> 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;
    use crate::cpu::{CpuLevel, dispatch};
    use crate::game::random::Random;

    /// The lines of two plies, every move made.
    fn slow(rules: &Rules, position: &Position, mode: PerftMode) -> u64 {
        let leaf = u64::from(mode == PerftMode::Leaf);
        let moves = position.moves(rules);
        let lines = moves.iter().map(|&mv| u64::from(position.make(mv).count_moves(rules)).max(leaf)).sum::<u64>();
        lines.max(leaf)
    }

    fn fast(level: CpuLevel, rules: &Rules, sides: &Sides, mode: PerftMode) -> u64 {
        dispatch!(level, fn(rules: &Rules, sides: &Sides, mode: PerftMode) -> u64 = two_plies)
    }

    /// Random positions of 2 to 16 pieces and those of random games from there, each under other rules.
    #[test]
    fn two_plies_as_if_made() {
        for (seed, options) in RuleOptions::all().into_iter().enumerate() {
            let rules = Rules::new(options);
            let mut random = Random::new(seed as u64);
            let start = random.position(2 + seed % 15, &rules);
            for position in random.walk(&start, &rules, 20) {
                if position.winner().is_some() {
                    continue;
                }
                for mode in [PerftMode::Expand, PerftMode::Leaf] {
                    let expected = slow(&rules, &position, mode);
                    for level in CpuLevel::available() {
                        let found = fast(level, &rules, &Sides::of(&position), mode);
                        assert_eq!(found, expected, "{position} {mode:?}, {options}, {}", level.name());
                    }
                }
            }
        }
    }
}
