//! The counting: the last ply and the last two plies are population counts.
//!
//! Two plies without making the moves: let the mover's piece x move from f to an empty square t. This changes the
//! number of the opponent's replies only on f and on t. Pieces that reach f but could not capture x there gain a move;
//! pieces that reach t but may not capture x there lose one. So the number of replies to all quiet moves is
//!
//! ```text
//! sum over x of moves(x) * (replies now + gain(x))
//! - sum over x and enemies y of |quiet(x) & reach(y) & y may not capture x|
//! ```
//!
//! and the last sum is again a population count of eight lanes by eight. Captures, and moves of the rat into, within or
//! out of the water (which open and close leaps), are few and are made one by one.

use super::hash::PerftHash;
use super::mode::PerftMode;
use crate::board::geometry::{DEN, WATER};
use crate::board::{Animal, Lanes, Move, Position, Rules, Square, reach, union};
use crate::cpu::{CpuLevel, dispatch};

/// The positions of a line, the root first, without repetitions.
#[derive(Clone)]
pub(super) struct Path(Vec<Position>);

impl Path {
    pub(super) fn new(root: &Position) -> Path {
        Path(vec![root.clone()])
    }

    /// Whether the path contains the position after its last one. Only positions at least three plies before the last
    /// can recur.
    #[inline(always)]
    pub(super) fn contains(&self, next: &Position) -> bool {
        self.0.iter().rev().skip(3).step_by(2).any(|old| old == next)
    }

    pub(super) fn last(&self) -> &Position {
        self.0.last().expect("the root is there")
    }

    pub(super) fn before_last(&self) -> &[Position] {
        &self.0[..self.0.len() - 1]
    }

    pub(super) fn with(&self, position: &Position) -> Path {
        let mut path = self.clone();
        path.0.push(position.clone());
        path
    }
}

/// A table of counts, and the salt that separates the keys of this count from the keys of other counts in the table.
#[derive(Copy, Clone)]
pub(super) struct Hash<'a> {
    pub table: &'a PerftHash,
    pub salt: u64,
    pub mode: PerftMode,
    pub rules: &'a Rules,
}

impl Hash<'_> {
    /// The key of the lines of `depth` plies from `position`, with the positions `before` it on the line.
    ///
    /// In `leaf` counting the count depends only on the positions of `before` that can recur, so that their set is part
    /// of the key.
    #[inline(always)]
    pub(super) fn key(&self, position: &Position, depth: u32, before: &[Position]) -> u64 {
        let line = if self.mode == PerftMode::Leaf { recurring(self.rules, position, depth, before) } else { 0 };
        self.key_of(position.key(), depth) ^ line
    }

    #[inline(always)]
    fn key_of(&self, position_key: u64, depth: u32) -> u64 {
        position_key ^ mix(self.salt.wrapping_add(depth.into()))
    }
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014): every bit of the result depends on every bit of `word`.
#[inline(always)]
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// A word for the set of positions `before` this one that may recur in less than `depth` plies: each side has enough
/// moves to bring its pieces back. `depth` is two or more.
fn recurring(rules: &Rules, position: &Position, depth: u32, before: &[Position]) -> u64 {
    let mover = position.turn();
    let mut set = 0u64;
    for (age, old) in (1u32..).zip(before.iter().rev()) {
        // A position returns after an even number of plies in all.
        let plies = (depth - 1) - ((depth - 1 + age) & 1);
        let (Some(own), Some(enemy)) = (
            moves_between(rules, position.lanes(mover), old.lanes(mover)),
            moves_between(rules, position.lanes(!mover), old.lanes(!mover)),
        ) else {
            // A piece was captured since, so neither this position nor an earlier one can recur.
            break;
        };
        if own <= plies.div_ceil(2) && enemy <= plies / 2 {
            set = set.wrapping_add(mix(old.key()));
        }
    }
    set
}

/// The least number of moves of a side from `now` to `then`; `None` if it has lost a piece since.
fn moves_between(rules: &Rules, now: &Lanes, then: &Lanes) -> Option<u32> {
    let masks = rules.masks();
    let mut moves = 0;
    for animal in Animal::ALL {
        let leaps = masks.leaps_files[animal.index()] | masks.leaps_ranks[animal.index()] != 0;
        let (now, then) = (now[animal.index()], then[animal.index()]);
        if now == then {
            continue;
        }
        if now == 0 {
            return None;
        }
        let (from, to) = (Square::lowest(now), Square::lowest(then));
        let steps = from.distance(to) as u32;
        // A leap covers at most four squares.
        moves += if leaps { steps.div_ceil(4) } else { steps };
    }
    Some(moves)
}

struct Counter<'a> {
    rules: &'a Rules,
    mode: PerftMode,
    hash: Option<Hash<'a>>,
    path: Path,
}

/// Counts the lines of `depth` plies from the last position of a path.
pub(super) fn count(
    level: CpuLevel,
    rules: &Rules,
    mode: PerftMode,
    hash: Option<Hash<'_>>,
    depth: u32,
    path: &Path,
) -> u64 {
    let counter = Counter { rules, mode, hash, path: path.clone() };
    dispatch!(level, fn(counter: Counter<'_>, depth: u32) -> u64 = run)
}

/// Counts depth first, with a loop instead of a recursion, so that the whole function is compiled for one instruction
/// set. Only counts of at least three plies use the hash table: counting two plies is faster than a probe.
#[inline(always)]
fn run(mut counter: Counter<'_>, depth: u32) -> u64 {
    let leaf = u64::from(counter.mode == PerftMode::Leaf);
    if depth == 0 {
        return 1;
    }
    let root = counter.path.last().clone();
    if root.winner().is_some() {
        return leaf;
    }
    if depth <= 2 {
        counter.path.0.pop();
        return counter.last_plies(&root, depth);
    }
    struct Level {
        key: u64,
        moves: Moves,
        total: u64,
    }
    let mut levels: Vec<Level> = Vec::with_capacity(depth as usize);
    let targets = root.targets(counter.rules);
    if union(&targets) == 0 {
        return leaf;
    }
    let mut key = 0;
    if let Some(hash) = counter.hash {
        key = hash.key(&root, depth, counter.path.before_last());
        if let Some(count) = hash.table.get(key) {
            return count;
        }
    }
    counter.prefetch(&root, depth, targets);
    levels.push(Level { key, moves: Moves::new(targets), total: 0 });
    loop {
        let remaining = depth - levels.len() as u32;
        let top = levels.last_mut().expect("the root is there until the end");
        let position = counter.path.last();
        let Some(mv) = top.moves.next(position) else {
            let done = levels.pop().expect("there is a level");
            if let Some(hash) = counter.hash {
                hash.table.put(done.key, done.total);
            }
            let Some(above) = levels.last_mut() else { return done.total };
            above.total += done.total;
            counter.path.0.pop();
            continue;
        };
        let next = if counter.hash.is_some() { position.make(mv) } else { position.make_unkeyed(mv) };
        if leaf == 1 && counter.path.contains(&next) || next.winner().is_some() {
            top.total += leaf;
            continue;
        }
        if remaining == 2 {
            top.total += counter.two_plies(&next);
            continue;
        }
        let mut key = 0;
        if let Some(hash) = counter.hash {
            key = hash.key(&next, remaining, &counter.path.0);
            if let Some(count) = hash.table.get(key) {
                top.total += count;
                continue;
            }
        }
        let targets = next.targets(counter.rules);
        if union(&targets) == 0 {
            top.total += leaf;
            continue;
        }
        counter.prefetch(&next, remaining, targets);
        counter.path.0.push(next);
        levels.push(Level { key, moves: Moves::new(targets), total: 0 });
    }
}

/// The remaining moves of a position.
struct Moves {
    targets: Lanes,
    /// The animals with targets left, one bit each.
    animals: u32,
}

impl Moves {
    #[inline(always)]
    fn new(targets: Lanes) -> Moves {
        let animals = (0..8).fold(0, |set, a| set | u32::from(targets[a] != 0) << a);
        Moves { targets, animals }
    }

    /// Removes and returns the next move.
    #[inline(always)]
    fn next(&mut self, position: &Position) -> Option<Move> {
        if self.animals == 0 {
            return None;
        }
        let a = (self.animals.trailing_zeros() & 7) as usize;
        let lane = &mut self.targets[a];
        let to = Square::lowest(*lane);
        *lane &= *lane - 1;
        self.animals &= !(u32::from(*lane == 0) << a);
        Some(Move { animal: Animal::ALL[a], from: Square::lowest(position.lanes(position.turn())[a]), to })
    }
}

impl Counter<'_> {
    /// Prefetches the hash entries of all positions after one move, if they will be probed. In `leaf` counting
    /// computing their keys would take too long.
    #[inline(always)]
    fn prefetch(&self, position: &Position, depth: u32, targets: Lanes) {
        let Some(hash) = self.hash else { return };
        if depth < 4 || self.mode == PerftMode::Leaf {
            return;
        }
        let mut moves = Moves::new(targets);
        while let Some(mv) = moves.next(position) {
            hash.table.prefetch(hash.key_of(position.key_after(mv), depth - 1));
        }
    }

    /// The lines of one or two plies from a position that follows the path and is not won.
    #[inline(always)]
    fn last_plies(&self, position: &Position, depth: u32) -> u64 {
        if depth == 1 { self.one_ply(position) } else { self.two_plies(position) }
    }

    /// The number of moves in a position that is not won; in `leaf` counting 1 if there are none.
    #[inline(always)]
    fn one_ply(&self, position: &Position) -> u64 {
        let moves: u64 = position.targets(self.rules).iter().map(|t| u64::from(t.count_ones())).sum();
        if self.mode == PerftMode::Leaf { moves.max(1) } else { moves }
    }

    /// The lines of two plies that begin with one move.
    #[inline(always)]
    fn after(&self, position: &Position, mv: Move) -> u64 {
        let next = position.make_unkeyed(mv);
        let leaf = u64::from(self.mode == PerftMode::Leaf);
        if next.winner().is_some() { leaf } else { self.one_ply(&next) }
    }

    /// The lines of two plies from a position that follows the path and is not won.
    #[inline(always)]
    fn two_plies(&self, position: &Position) -> u64 {
        let leaf = self.mode == PerftMode::Leaf;
        let color = position.turn();
        let (own, enemy) = (position.lanes(color), position.lanes(!color));
        let (own_all, enemy_all) = (union(own), union(enemy));
        let mine = reach(self.rules, color, own, enemy);
        let theirs = reach(self.rules, !color, enemy, own);

        let mut targets = mine.targets(own, enemy);
        if union(&targets) == 0 {
            return u64::from(leaf);
        }
        let den = 1u64 << DEN[!color].index();
        let mut total = 0;
        let mut replies = 0;
        let enemy_targets = theirs.targets(enemy, own);
        for t in &enemy_targets {
            replies += u64::from(t.count_ones());
        }
        // With few replies a move may leave none, which `leaf` counts as one leaf. In this case every move is made.
        let one_by_one = leaf && replies <= 8;

        let rat = Animal::Rat.index();
        let wet_rat = own[rat] & WATER.bits() != 0;
        let mut singles = [0u64; 8];
        for a in 0..8 {
            singles[a] = targets[a] & if one_by_one { u64::MAX } else { enemy_all };
        }
        singles[rat] |= targets[rat] & if wet_rat { u64::MAX } else { WATER.bits() };
        let mut quiet = [0u64; 8];
        for a in 0..8 {
            singles[a] &= !den;
            quiet[a] = targets[a] & !singles[a] & !den;
            total += u64::from(leaf && targets[a] & den != 0);
            targets[a] = singles[a];
        }

        // Squares of the mover's pieces that an enemy reaches but may not capture on.
        let mut shut = [0u64; 8];
        for y in 0..8 {
            shut[y] = theirs.squares[y] & own_all & !theirs.capturable[y];
        }
        let wet_enemy = usize::from(enemy[rat] & WATER.bits() != 0);
        let takes = &self.rules.masks().takes[!color as usize][wet_enemy];
        let mut lost = [0u64; 8];
        for x in 0..8 {
            for y in 0..8 {
                lost[y] += u64::from((quiet[x] & theirs.squares[y] & !takes[x][y]).count_ones());
            }
        }
        for x in 0..8 {
            total += u64::from(quiet[x].count_ones()) * replies;
        }
        // Empty in most positions.
        if union(&shut) != 0 {
            let mut gained = [0u64; 8];
            for x in 0..8 {
                for y in 0..8 {
                    gained[y] += u64::from(shut[x] & own[y] != 0);
                }
            }
            for x in 0..8 {
                total += u64::from(quiet[x].count_ones()) * gained[x];
            }
        }
        total -= lost.iter().sum::<u64>();

        let mut moves = Moves::new(targets);
        while let Some(mv) = moves.next(position) {
            total += self.after(position, mv);
        }
        if leaf {
            total = self.repeated(position, &quiet, &singles, total);
        }
        total
    }

    /// Corrects the count for moves that lead back to an earlier position of the line, which count as one leaf each.
    /// Such an earlier position differs from this one in the square of one of the mover's pieces.
    #[inline(always)]
    fn repeated(&self, position: &Position, quiet: &Lanes, singles: &Lanes, mut total: u64) -> u64 {
        let color = position.turn();
        // The next move can repeat only positions at least three plies before.
        for old in self.path.0.iter().rev().skip(2).step_by(2) {
            if old.lanes(!color) != position.lanes(!color) {
                continue;
            }
            let mut differing = (0..8).filter(|&a| old.lanes(color)[a] != position.lanes(color)[a]);
            let (Some(a), None) = (differing.next(), differing.next()) else { continue };
            let to = old.lanes(color)[a];
            if (quiet[a] | singles[a]) & to != 0 {
                let from = Square::lowest(position.lanes(color)[a]);
                let mv = Move { animal: Animal::ALL[a], from, to: Square::lowest(to) };
                total = total + 1 - self.after(position, mv);
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_as_positions_depths_and_counts_do() {
        let table = PerftHash::new(1).expect("there is memory");
        let rules = Rules::default();
        let hash = |salt| Hash { table: &table, salt, mode: PerftMode::Expand, rules: &rules };
        let words: Vec<u64> = (1..200).map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let mut keys: Vec<u64> = Vec::new();
        for (depth, salt) in [(1, 7), (2, 7), (3, 7), (1, 1 << 40), (2, 1 << 40)] {
            let key = |&word: &u64| hash(salt).key_of(word, depth);
            // Different positions have keys with the same difference.
            assert!(words.windows(2).all(|two| key(&two[0]) ^ key(&two[1]) == two[0] ^ two[1]));
            keys.extend(words.iter().map(key));
        }
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }
}
