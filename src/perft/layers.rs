//! Counting breadth first: the different positions of a ply, each with the number of lines to it.
//!
//! The moves of a ply leave the other side where it is, unless they capture. So the positions of a ply are sorted by the side
//! that is not to move, and those with the same one, a group, are expanded together: their successors are merged in a hash
//! table that fits the cache. The last three plies need no storage: the two-ply counts of a group's successors are summed.

use super::Perft;
use super::mode::PerftMode;
use super::two_plies::{Sides, two_plies};
use crate::board::geometry::DEN;
use crate::board::{Color, Lanes, Position, Rules, reach, union};
use crate::cpu::dispatch;
use rayon::prelude::*;

/// The plies that are counted from a layer without storing positions.
const LAST: u32 = 3;
/// The most positions that are merged together.
const GROUP: usize = 1 << 12;
/// The most positions that are expanded between two comparisons with the limit of memory.
const BATCH: usize = 1 << 16;
/// The most moves of a position.
const MOST_MOVES: usize = 32;

/// A position and the number of lines to it. A side is the squares of its animals, a byte each, or [`CAPTURED`].
#[derive(Copy, Clone)]
struct Entry {
    /// The side that is not to move.
    enemy: u64,
    own: u64,
    lines: u64,
}

const CAPTURED: u64 = 255;

#[inline(always)]
fn packed(lanes: &Lanes) -> u64 {
    let mut side = 0;
    for a in 0..8 {
        let square = if lanes[a] == 0 { CAPTURED } else { lanes[a].trailing_zeros().into() };
        side |= square << (8 * a);
    }
    side
}

#[inline(always)]
fn unpacked(side: u64) -> Lanes {
    let mut lanes = [0; 8];
    for a in 0..8 {
        let square = side >> (8 * a) & 255;
        lanes[a] = if square < 64 { 1 << square } else { 0 };
    }
    lanes
}

impl Perft<'_> {
    /// The lines of `depth` plies, at least [`LAST`], from a position that is not won, which make up this share of the
    /// whole count.
    pub(super) fn by_layers(&self, root: &Position, depth: u32, share: f64) -> u64 {
        let turn = root.turn();
        let entry = Entry { enemy: packed(root.lanes(!turn)), own: packed(root.lanes(turn)), lines: 1 };
        self.below(turn, vec![entry], depth, self.memory / size_of::<Entry>(), share)
    }

    /// The lines of `plies` plies from the positions of a layer. At most `room` positions are in memory.
    fn below(&self, turn: Color, mut layer: Vec<Entry>, plies: u32, room: usize, share: f64) -> u64 {
        if layer.is_empty() || self.is_stopped() {
            return self.report(share, 0);
        }
        if plies == LAST {
            return self.last_plies(turn, &layer, share);
        }
        let len = layer.len();
        let free = room.saturating_sub(len);
        // Later layers need memory, too.
        let free = if plies == LAST + 1 { free } else { free / 2 };
        let (mut lines, mut done) = (0, 0);
        while done < len {
            let (next, expanded) = self.next_layer(turn, &layer[done..], free);
            done += expanded;
            if done == len {
                layer = Vec::new();
            }
            let share = share * expanded as f64 / len as f64;
            let below = self.below(!turn, next, plies - 1, room.saturating_sub(layer.len()), share);
            lines = u64::saturating_add(lines, below);
        }
        lines
    }

    /// The positions after the moves of the first positions of a layer, sorted, and the number of these first positions:
    /// all, or fewer if there is not enough room.
    fn next_layer(&self, turn: Color, layer: &[Entry], room: usize) -> (Vec<Entry>, usize) {
        let batch = (room / (2 * MOST_MOVES)).clamp(1, BATCH);
        let (mut next, mut expanded) = (Vec::new(), 0);
        for batch in layer.chunks(batch) {
            if expanded > 0 && next.len() + batch.len() * MOST_MOVES > room {
                break;
            }
            let expand = |merged: &mut Merged, group: &[Entry]| self.successors(turn, group, merged);
            let parts: Vec<Vec<Entry>> = groups(batch).map_init(Merged::default, expand).collect();
            parts.iter().for_each(|part| next.extend_from_slice(part));
            expanded += batch.len();
        }
        // Moves of different groups, which capture, can lead to the same position. Their successors are merged.
        next.par_sort_unstable_by_key(|entry: &Entry| entry.enemy);
        (next, expanded)
    }

    fn successors(&self, turn: Color, group: &[Entry], merged: &mut Merged) -> Vec<Entry> {
        let mut next = Vec::new();
        if self.is_stopped() {
            return next;
        }
        let (rules, captures) = (self.rules, &mut next);
        dispatch!(
            self.level,
            fn(rules: &Rules, turn: Color, group: &[Entry], merged: &mut Merged, captures: &mut Vec<Entry>) = expand
        );
        let enemy = group[0].enemy;
        next.extend(merged.sides().iter().map(|&(own, lines)| Entry { enemy: own, own: enemy, lines }));
        next
    }

    fn last_plies(&self, turn: Color, layer: &[Entry], share: f64) -> u64 {
        let rules = self.rules;
        let count = |merged: &mut Merged, group: &[Entry]| {
            if self.is_stopped() {
                return 0;
            }
            let lines = dispatch!(
                self.level,
                fn(rules: &Rules, turn: Color, group: &[Entry], merged: &mut Merged) -> u64 = three_plies
            );
            self.report(share * group.len() as f64 / layer.len() as f64, lines)
        };
        groups(layer).map_init(Merged::default, count).reduce(|| 0, u64::saturating_add)
    }
}

/// The positions of a sorted layer with the same side that is not to move, in parts of at most [`GROUP`].
fn groups(layer: &[Entry]) -> impl ParallelIterator<Item = &[Entry]> {
    layer.par_chunk_by(|one, next| one.enemy == next.enemy).flat_map_iter(|group| group.chunks(GROUP))
}

/// The lines of three plies from the positions of a group.
#[inline(always)]
fn three_plies(rules: &Rules, turn: Color, group: &[Entry], merged: &mut Merged) -> u64 {
    let mut captures = Vec::new();
    expand(rules, turn, group, merged, &mut captures);
    let mut sides = Sides { turn: !turn, own: unpacked(group[0].enemy), enemy: [0; 8] };
    let mut total = 0;
    for &(side, lines) in merged.sides() {
        sides.enemy = unpacked(side);
        total = u64::saturating_add(total, lines.saturating_mul(two_plies(rules, &sides, PerftMode::Expand)));
    }
    for entry in captures {
        let sides = Sides { turn: !turn, own: unpacked(entry.own), enemy: unpacked(entry.enemy) };
        total = total.saturating_add(entry.lines.saturating_mul(two_plies(rules, &sides, PerftMode::Expand)));
    }
    total
}

/// Makes the moves of a group: `merged` has the mover's side after those that capture nothing. Moves that end the game are left
/// out.
#[inline(always)]
fn expand(rules: &Rules, turn: Color, group: &[Entry], merged: &mut Merged, captures: &mut Vec<Entry>) {
    let enemy_side = group[0].enemy;
    let enemy = unpacked(enemy_side);
    let enemy_all = union(&enemy);
    let den = 1u64 << DEN[!turn].index();
    merged.clear(group.len());
    for entry in group {
        merged.reserve();
        let own = unpacked(entry.own);
        let targets = reach(rules, turn, &own, &enemy).targets_among(union(&own), enemy_all);
        for a in 0..8 {
            let others = entry.own & !(255 << (8 * a));
            let mut rest = targets[a] & !den;
            while rest != 0 {
                let to = u64::from(rest.trailing_zeros());
                rest &= rest - 1;
                let side = others | to << (8 * a);
                if enemy_all >> to & 1 == 0 {
                    merged.add(side, entry.lines);
                } else if enemy_all.count_ones() > 1 {
                    captures.push(Entry { enemy: side, own: without(enemy_side, to), lines: entry.lines });
                }
            }
        }
    }
}

/// A side without the animal on a square.
#[inline(always)]
fn without(side: u64, square: u64) -> u64 {
    let mut rest = side;
    for a in 0..8 {
        if side >> (8 * a) & 255 == square {
            rest |= CAPTURED << (8 * a);
        }
    }
    rest
}

/// The different sides of a group's successors, each with the number of lines, in the order of their first addition, and a
/// hash table of their indices.
#[derive(Default)]
struct Merged {
    /// The sides at the indices from 1 to `len`; more behind them are without meaning.
    sides: Vec<(u64, u64)>,
    len: usize,
    /// A power of two of slots, three quarters of them free, which are 0. The others contain an index in the bits [`INDEX`],
    /// and above them bits of the side's hash.
    slots: Vec<u32>,
}

const INDEX: u32 = (1 << 20) - 1;

impl Merged {
    /// Removes everything, and makes space for the successors of this number of positions.
    fn clear(&mut self, positions: usize) {
        self.len = 0;
        self.resize((16 * positions).max(8 * MOST_MOVES).next_power_of_two());
    }

    fn resize(&mut self, slots: usize) {
        self.slots.clear();
        self.slots.resize(slots, 0);
        self.sides.resize(slots / 4 + 2, (0, 0));
    }

    #[inline(always)]
    fn sides(&self) -> &[(u64, u64)] {
        &self.sides[1..=self.len]
    }

    /// Makes space for the moves of another position.
    #[inline(always)]
    fn reserve(&mut self) {
        if 4 * (self.len + MOST_MOVES) > self.slots.len() {
            self.grow();
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let sides = self.sides().to_vec();
        self.len = 0;
        self.resize(2 * self.slots.len());
        sides.into_iter().for_each(|(side, lines)| self.add(side, lines));
    }

    #[inline(always)]
    fn add(&mut self, side: u64, lines: u64) {
        // The multiplication moves differences to the upper half of the word only.
        let hash = (side ^ side >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let (mask, tag) = (self.slots.len() - 1, hash as u32 & !INDEX);
        let mut place = hash as usize & mask;
        // The side goes behind the last one, and counts only if it is new: a branch would be mispredicted at every fifth move.
        let behind = self.len + 1;
        self.sides[behind] = (side, 0);
        loop {
            let slot = self.slots[place];
            let index = if slot == 0 { behind } else { (slot & INDEX) as usize };
            let is_other = (slot != 0) & ((slot ^ tag) & !INDEX != 0);
            if !is_other && self.sides[index].0 == side {
                self.slots[place] = tag | index as u32;
                self.sides[index].1 = self.sides[index].1.saturating_add(lines);
                self.len += usize::from(slot == 0);
                return;
            }
            place = (place + 1) & mask;
        }
    }
}
