//! Counting depth first: few plies, and counts in which equal positions are not merged.

use super::mode::PerftMode;
use super::two_plies::{Sides, after, one_ply, two_plies};
use crate::board::{Animal, Lanes, Move, Position, Rules, Square, union};
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

    pub(super) fn with(&self, position: &Position) -> Path {
        let mut path = self.clone();
        path.0.push(position.clone());
        path
    }
}

struct Counter<'a> {
    rules: &'a Rules,
    mode: PerftMode,
    /// The plies at the end of each line whose moves are not made: at most two.
    counted: u32,
    path: Path,
}

/// Counts the lines of `depth` plies from the last position of a path. The moves of the last `counted` plies, at most two, are
/// not made.
pub(super) fn count(level: CpuLevel, rules: &Rules, mode: PerftMode, counted: u32, depth: u32, path: &Path) -> u64 {
    let counter = Counter { rules, mode, counted, path: path.clone() };
    dispatch!(level, fn(counter: Counter<'_>, depth: u32) -> u64 = run)
}

/// Counts with a loop instead of a recursion, so that the whole function is compiled for one instruction set.
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
    if depth <= counter.counted {
        counter.path.0.pop();
        return counter.last_plies(&root, depth);
    }
    struct Level {
        moves: Moves,
        total: u64,
    }
    let mut levels: Vec<Level> = Vec::with_capacity(depth as usize);
    let targets = root.targets(counter.rules);
    if union(&targets) == 0 {
        return leaf;
    }
    levels.push(Level { moves: Moves::new(targets), total: 0 });
    loop {
        let remaining = depth - levels.len() as u32;
        let top = levels.last_mut().expect("the root is there until the end");
        let position = counter.path.last();
        let Some(mv) = top.moves.next(position) else {
            let done = levels.pop().expect("there is a level");
            let Some(above) = levels.last_mut() else { return done.total };
            above.total += done.total;
            counter.path.0.pop();
            continue;
        };
        let next = position.make_unkeyed(mv);
        if remaining == 0 {
            // The move is made though nothing reads the position.
            std::hint::black_box(&next);
            top.total += 1;
            continue;
        }
        if leaf == 1 && counter.path.contains(&next) || next.winner().is_some() {
            top.total += leaf;
            continue;
        }
        if remaining == counter.counted {
            top.total += counter.last_plies(&next, remaining);
            continue;
        }
        let targets = next.targets(counter.rules);
        if union(&targets) == 0 {
            top.total += leaf;
            continue;
        }
        counter.path.0.push(next);
        levels.push(Level { moves: Moves::new(targets), total: 0 });
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
    /// The lines of one or two plies from a position that follows the path and is not won.
    #[inline(always)]
    fn last_plies(&self, position: &Position, plies: u32) -> u64 {
        let sides = Sides::of(position);
        if plies == 1 {
            return one_ply(self.rules, &sides, self.mode);
        }
        let total = two_plies(self.rules, &sides, self.mode);
        if self.mode == PerftMode::Leaf { self.repeated(position, &sides, total) } else { total }
    }

    /// Corrects the count for moves that lead back to an earlier position of the line, which count as one leaf each.
    /// Such an earlier position differs from this one in the square of one of the mover's pieces.
    #[inline(always)]
    fn repeated(&self, position: &Position, sides: &Sides, mut total: u64) -> u64 {
        // The next move can repeat only positions at least three plies before.
        for old in self.path.0.iter().rev().skip(2).step_by(2) {
            if *old.lanes(!sides.turn) != sides.enemy {
                continue;
            }
            let lanes = old.lanes(sides.turn);
            let mut differing = (0..8).filter(|&a| lanes[a] != sides.own[a]);
            let (Some(a), None) = (differing.next(), differing.next()) else { continue };
            if position.targets(self.rules)[a] & lanes[a] != 0 {
                total = total + 1 - after(self.rules, sides, a, lanes[a], self.mode);
            }
        }
        total
    }
}
