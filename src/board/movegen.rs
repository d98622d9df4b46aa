//! Move generation, all eight animals of a side at once.

use super::geometry::{DEN, LEAP_DOWN, LEAP_LEFT, LEAP_RIGHT, LEAP_UP, NOT_A, NOT_G, WATER};
use super::rules::{Lanes, Rules};
use super::{Animal, Color, Move, Position, Square, union};

/// The steps, leaps and captures of one side.
#[derive(Clone)]
#[repr(align(64))]
pub(crate) struct Reach {
    /// The squares that each animal steps or leaps to, occupied or not.
    pub squares: Lanes,
    /// The enemy pieces that each animal may take, at any distance.
    pub capturable: Lanes,
}

/// The steps, leaps and captures of the pieces `own` of `color` against the pieces `enemy`. The only branch is the
/// choice of a table, and every loop is eight lanes wide: compiled for AVX-512, the function takes about fifty
/// instructions.
#[inline(always)]
pub(crate) fn reach(rules: &Rules, color: Color, own: &Lanes, enemy: &Lanes) -> Reach {
    Reach { squares: squares(rules, color, own, enemy), capturable: capturable(rules, color, own, enemy) }
}

/// [`Reach::squares`].
#[inline(always)]
pub(crate) fn squares(rules: &Rules, color: Color, own: &Lanes, enemy: &Lanes) -> Lanes {
    let masks = rules.masks();
    let rat = Animal::Rat.index();
    let rats = (enemy[rat] | own[rat] & masks.own_rat_blocks) & WATER.bits();
    let up = LEAP_UP.bits() & !(rats >> 7 | rats >> 14 | rats >> 21);
    let down = LEAP_DOWN.bits() & !(rats << 7 | rats << 14 | rats << 21);
    let right = LEAP_RIGHT.bits() & !(rats >> 1 | rats >> 2);
    let left = LEAP_LEFT.bits() & !(rats << 1 | rats << 2);

    let habitat = &masks.habitat[color as usize];
    let mut squares = [0; 8];
    for a in 0..8 {
        let from = own[a];
        let (files, ranks) = (from & masks.leaps_files[a], from & masks.leaps_ranks[a]);
        squares[a] = habitat[a]
            & (from << 7
                | from >> 7
                | (from & NOT_G.bits()) << 1
                | (from & NOT_A.bits()) >> 1
                | (files & up) << 28
                | (files & down) >> 28
                | (ranks & right) << 3
                | (ranks & left) >> 3);
    }
    squares
}

/// The squares that pieces on `own` may step or leap to under any rules, and some more if a rat blocks a leap or an animal
/// may not go there.
#[cfg(feature = "tablebase")]
#[inline]
pub(crate) fn around(own: u64) -> u64 {
    own << 7
        | own >> 7
        | (own & NOT_G.bits()) << 1
        | (own & NOT_A.bits()) >> 1
        | (own & LEAP_UP.bits()) << 28
        | (own & LEAP_DOWN.bits()) >> 28
        | (own & LEAP_RIGHT.bits()) << 3
        | (own & LEAP_LEFT.bits()) >> 3
}

/// [`Reach::capturable`].
#[inline(always)]
pub(crate) fn capturable(rules: &Rules, color: Color, own: &Lanes, enemy: &Lanes) -> Lanes {
    let wet = usize::from(own[Animal::Rat.index()] & WATER.bits() != 0);
    let takes = &rules.masks().takes[color as usize][wet];
    let mut capturable = [0; 8];
    for victim in 0..8 {
        for a in 0..8 {
            capturable[a] |= enemy[victim] & takes[victim][a];
        }
    }
    capturable
}

impl Reach {
    /// The squares that each animal may go to: empty ones, and enemy pieces it may take.
    #[inline(always)]
    pub(crate) fn targets(&self, own: &Lanes, enemy: &Lanes) -> Lanes {
        self.targets_among(union(own), union(enemy))
    }

    /// [`Reach::targets`] from the occupied squares of each side.
    #[inline(always)]
    pub(crate) fn targets_among(&self, own: u64, enemy: u64) -> Lanes {
        // A loop, because the compiler does not inline the closure of `from_fn`.
        let mut targets = [0; 8];
        for a in 0..8 {
            targets[a] = self.squares[a] & !own & (!enemy | self.capturable[a]);
        }
        targets
    }
}

impl Position {
    /// The squares that each animal of the side to move may go to. The function ignores that the game ends when a den
    /// is entered.
    #[inline(always)]
    pub(crate) fn targets(&self, rules: &Rules) -> Lanes {
        let (own, enemy) = (self.lanes(self.turn()), self.lanes(!self.turn()));
        reach(rules, self.turn(), own, enemy).targets(own, enemy)
    }

    /// The legal moves, weakest animal first. A finished game has none.
    #[must_use]
    pub fn moves(&self, rules: &Rules) -> MoveList {
        let mut list = MoveList::new();
        if self.winner().is_none() {
            list.extend(self.lanes(self.turn()), self.targets(rules));
        }
        list
    }

    /// Whether a move is legal. A finished game has no legal moves.
    #[must_use]
    pub fn is_legal(&self, mv: Move, rules: &Rules) -> bool {
        self.moves(rules).contains(&mv)
    }

    /// The number of legal moves.
    #[must_use]
    pub fn count_moves(&self, rules: &Rules) -> u32 {
        if self.winner().is_some() {
            return 0;
        }
        self.targets(rules).iter().map(|t| t.count_ones()).sum()
    }

    /// The legal moves as bits, without a list: bit `4 * animal + direction` is set if the animal has a legal step or
    /// leap in that direction, numbered as in [`Animal::ALL`] and [`Direction::ALL`]. An animal has at most one move in
    /// a direction. A finished game has none.
    ///
    /// ```
    /// use doushouqi::board::{Position, Rules};
    /// let (start, rules) = (Position::start(), Rules::default());
    /// assert_eq!(start.move_mask(&rules).count_ones(), 24);
    /// // The rat on g3 may go up, down and left.
    /// assert_eq!(start.move_mask(&rules) & 0b1111, 0b0111);
    /// ```
    ///
    /// [`Direction::ALL`]: super::Direction::ALL
    #[inline(always)]
    #[must_use]
    pub fn move_mask(&self, rules: &Rules) -> u32 {
        if self.winner().is_some() {
            return 0;
        }
        let (own, targets) = (self.lanes(self.turn()), self.targets(rules));
        let mut mask = 0;
        for a in 0..8 {
            let (from, to) = (own[a], targets[a]);
            // A target is a step or a leap away, so its distance tells the direction.
            let ways = [from << 7 | from << 28, from >> 7 | from >> 28, from >> 1 | from >> 3, from << 1 | from << 3];
            for direction in 0..4 {
                mask |= u32::from(to & ways[direction] != 0) << (4 * a + direction);
            }
        }
        mask
    }

    /// Whether the side to move can enter the enemy's den.
    #[must_use]
    pub fn can_enter_den(&self, rules: &Rules) -> bool {
        self.winner().is_none() && union(&self.targets(rules)) >> DEN[!self.turn()].index() & 1 != 0
    }
}

/// A list of moves, on the stack. Each of eight animals has at most one move in each of four directions.
///
/// It is a slice of moves, which can be sorted:
///
/// ```
/// use doushouqi::board::{Position, Rules};
/// let mut moves = Position::start().moves(&Rules::default());
/// moves.sort_by_key(|mv| std::cmp::Reverse(mv.animal));
/// assert_eq!(moves[0].animal.letter(), 'E');
/// ```
#[derive(Clone)]
pub struct MoveList {
    moves: [Move; MoveList::CAPACITY],
    len: usize,
}

impl MoveList {
    /// The most moves a side can have.
    pub(crate) const CAPACITY: usize = 32;

    #[inline(always)]
    pub(crate) fn new() -> MoveList {
        let none = Move { animal: Animal::Rat, from: Square::A1, to: Square::A1 };
        MoveList { moves: [none; MoveList::CAPACITY], len: 0 }
    }

    /// Keeps the moves for which `keep` returns true, in their order.
    pub fn retain(&mut self, mut keep: impl FnMut(Move) -> bool) {
        let mut kept = 0;
        for i in 0..self.len {
            if keep(self.moves[i]) {
                self.moves[kept] = self.moves[i];
                kept += 1;
            }
        }
        self.len = kept;
    }

    #[inline(always)]
    pub(crate) fn extend(&mut self, from: &Lanes, targets: Lanes) {
        for animal in Animal::ALL {
            let from = Square::lowest(from[animal.index()]);
            let mut rest = targets[animal.index()];
            while rest != 0 {
                self.moves[self.len] = Move { animal, from, to: Square::lowest(rest) };
                self.len += 1;
                rest &= rest - 1;
            }
        }
    }
}

impl std::ops::Deref for MoveList {
    type Target = [Move];

    #[inline(always)]
    fn deref(&self) -> &[Move] {
        &self.moves[..self.len]
    }
}

impl std::ops::DerefMut for MoveList {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Move] {
        &mut self.moves[..self.len]
    }
}

impl IntoIterator for MoveList {
    type Item = Move;
    type IntoIter = std::iter::Take<std::array::IntoIter<Move, { MoveList::CAPACITY }>>;

    fn into_iter(self) -> Self::IntoIter {
        self.moves.into_iter().take(self.len)
    }
}

impl<'a> IntoIterator for &'a MoveList {
    type Item = &'a Move;
    type IntoIter = std::slice::Iter<'a, Move>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl std::fmt::Debug for MoveList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Direction, RuleOptions};
    use crate::game::random::Random;

    /// The mask agrees with the list of moves under every preset.
    #[test]
    fn the_mask_has_every_move() {
        for (_, options) in RuleOptions::PRESETS {
            let rules = Rules::new(options);
            for pieces in 2..=16 {
                for position in
                    Random::new(pieces).walk(&Random::new(pieces).position(pieces as usize, &rules), &rules, 60)
                {
                    let bit = |mv: &Move| {
                        let reaches = |&direction: &Direction| {
                            mv.from.neighbour(direction) == Some(mv.to)
                                || mv.from.leap(direction).is_some_and(|(to, _)| to == mv.to)
                        };
                        let direction = Direction::ALL.iter().position(reaches).expect("a step or a leap");
                        1 << (4 * mv.animal.index() + direction)
                    };
                    let moves = position.moves(&rules);
                    assert_eq!(position.move_mask(&rules), moves.iter().map(bit).sum::<u32>(), "{position:?}");
                }
            }
        }
    }
}
