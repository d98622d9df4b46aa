//! The kernels in Rust. Each function here is the twin of the shader of its name: it does the same with the same buffers, 64
//! invocations at a time, and records what each load and store touches. So a class can be solved without any GPU, and how
//! well memory is used can be counted: in sectors of 32 bytes, for each group of 32 neighbouring invocations.
//!
//! Numbers that are the same for a whole workgroup (who stands where, which moves there are) come out of the GPU's caches
//! and are not counted.

use super::kernels::Variant;
use super::plan::{Plan, depth_of_value};
use super::run::SECTOR;
use crate::board::NoMove;
use crate::board::geometry::{NOT_A, NOT_G};
use crate::board::mirror_word;
use crate::shaders::*;
use crate::tablebase::value::decided;
use crate::tablebase::{ClassId, Classes, WIDTH};
use std::collections::{BTreeMap, BTreeSet};

/// A value for each invocation of a workgroup.
type Each<T> = [T; WIDTH];

/// What one kernel touched of one kind of memory.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Touched {
    pub useful: u64,
    pub sectors: u64,
}

impl Touched {
    /// Which part of the bytes in the sectors was of use.
    pub(super) fn efficiency(self) -> f64 {
        self.useful as f64 / (32 * self.sectors) as f64
    }

    pub(super) fn add(&mut self, other: Touched) {
        self.useful += other.useful;
        self.sectors += other.sectors;
    }
}

/// What kernels touched, by kernel and kind of memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    pub touched: BTreeMap<(&'static str, &'static str), Touched>,
    pub kernel: &'static str,
}

impl Log {
    /// One load or store: where each invocation that takes part finds its element of `bytes` bytes.
    pub(super) fn touch(
        &mut self,
        memory: &'static str,
        bytes: usize,
        places: impl IntoIterator<Item = Option<usize>>,
    ) {
        let places: Vec<Option<usize>> = places.into_iter().collect();
        let sum = self.touched.entry((self.kernel, memory)).or_default();
        for group in places.chunks(32) {
            let elements: BTreeSet<usize> = group.iter().flatten().copied().collect();
            sum.useful += (elements.len() * bytes) as u64;
            sum.sectors += elements.iter().map(|i| i * bytes / 32).collect::<BTreeSet<_>>().len() as u64;
        }
    }
}

/// The planes of all rows.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Plane {
    Open,
    Lost,
    Escapes,
    ConversionWins,
}

/// One class on a GPU of one page.
pub(super) struct SimulatedGpu {
    pub plan: Plan,
    pub log: Log,
    /// The same of the kernels as they were before, with an invocation a row in the passes and a word in the conversions.
    pub old: Log,
    variant: Variant,
    loses: bool,
    /// The values of the smaller classes, a code a cell.
    table: Vec<u16>,
    planes: [Vec<u64>; 4],
    /// By row and bit, 64 words, or changes; after `finish` by row and word of cells.
    pub codes: Vec<u64>,
    histogram: Vec<u32>,
    cursors: Vec<u32>,
    entries: Vec<(u32, u64)>,
    /// By side, then by kind.
    pub counts: Vec<Vec<u64>>,
    left: Vec<u64>,
    /// Sectors of changes, by row.
    logged: Vec<usize>,
    stamps: Vec<u32>,
    live: [Vec<usize>; 2],
    /// Rows that passes looked at, and words with conversions.
    pub looked_at: u64,
    pub conversions: u64,
}

fn each<T>(f: impl FnMut(usize) -> T) -> Each<T> {
    std::array::from_fn(f)
}

fn has(word: u64, square: u32) -> bool {
    word >> square & 1 != 0
}

/// The squares of a word.
fn bits(word: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |i| word >> i & 1 != 0)
}

/// Sectors that the change log entry of some words takes.
fn change_sectors(words: &[usize]) -> usize {
    (words.len() + 2).div_ceil(4)
}

impl SimulatedGpu {
    pub(super) fn new(id: ClassId, classes: &Classes, variant: Variant, plan: Plan, table: Vec<u16>) -> SimulatedGpu {
        let rows = plan.side_rows;
        let plane = || vec![0; rows * WIDTH];
        debug_assert_eq!(plan.members[0].id, id);
        SimulatedGpu {
            log: Log::default(),
            old: Log::default(),
            variant,
            loses: classes.options().no_move == NoMove::Loss,
            table,
            planes: [plane(), plane(), plane(), plane()],
            codes: vec![0; rows * WIDTH * variant.code_stride() as usize],
            histogram: vec![0; variant.values() as usize],
            cursors: vec![0; variant.values() as usize],
            entries: Vec::new(),
            counts: vec![vec![0; variant.counts() as usize]; 2],
            left: vec![0; rows],
            logged: vec![0; rows],
            stamps: vec![0; rows],
            live: [Vec::new(), Vec::new()],
            looked_at: 0,
            conversions: 0,
            plan,
        }
    }

    /// Runs the kernels as `Run::solve` does.
    pub(super) fn solve(&mut self) {
        let rows = self.plan.side_rows;
        (0..rows).for_each(|row| self.conversions(row));
        let mut total = 0;
        let mut by_depth = vec![0..0; usize::from(self.variant.max_plies()) + 4];
        for depth in 1..by_depth.len() {
            let values = (1..self.variant.values()).filter(|&value| value != self.variant.draw());
            let Some(value) = values.into_iter().find(|&value| depth_of_value(value, self.variant) == depth) else {
                continue;
            };
            self.cursors[value as usize] = total;
            by_depth[depth] = total as usize..(total + self.histogram[value as usize]) as usize;
            self.conversions += u64::from(self.histogram[value as usize]);
            total = (total + self.histogram[value as usize]).next_multiple_of(SECTOR);
        }
        self.entries = vec![(0, 0); total as usize];
        (0..rows).for_each(|row| self.buckets(row));
        (0..rows).for_each(|row| self.no_move(row));
        if self.loses {
            (0..rows).for_each(|row| self.first_rows(row));
        }
        let last_conversion = by_depth.iter().rposition(|range| !range.is_empty()).unwrap_or(0) as u16;
        for depth in 1.. {
            let entries = by_depth.get(usize::from(depth)).cloned().unwrap_or(0..0);
            entries
                .clone()
                .step_by(64)
                .for_each(|first| self.conversion_pass(depth, first..entries.end.min(first + 64)));
            let live = std::mem::take(&mut self.live[usize::from(depth & 1)]);
            self.looked_at += live.len() as u64;
            self.touch_by_rows(&live);
            live.iter().enumerate().for_each(|(n, &row)| self.quiet_pass(depth, n, row));
            if self.live[usize::from(!depth & 1)].is_empty() && depth >= last_conversion {
                break;
            }
        }
        (0..rows).for_each(|row| self.finish(row));
    }

    fn plan_mask(&self, at: u32) -> u64 {
        u64::from(self.at(at)) | u64::from(self.at(at + 1)) << 32
    }

    fn at(&self, at: u32) -> u32 {
        self.plan.data[at as usize]
    }

    /// The squares of a row's pieces with its flags, and its side's block.
    fn record(&self, row: usize) -> (u32, u32) {
        let at = self.plan.records + 2 * row as u32;
        (self.at(at), self.at(at + 1))
    }

    fn load(&mut self, plane: Plane, word: impl Fn(usize) -> Option<usize>) -> Each<u64> {
        self.log.touch("planes", 8, (0..WIDTH).map(&word));
        each(|i| word(i).map_or(0, |word| self.planes[plane as usize][word]))
    }

    fn load_row(&mut self, plane: Plane, row: usize) -> Each<u64> {
        self.load(plane, |i| Some(row * WIDTH + i))
    }

    /// Stores the words of a row that are to be stored.
    fn store(&mut self, plane: Plane, row: usize, words: &Each<u64>, is: impl Fn(usize) -> bool) {
        self.log.touch("planes", 8, (0..WIDTH).map(|i| is(i).then_some(row * WIDTH + i)));
        for i in (0..WIDTH).filter(|&i| is(i)) {
            self.planes[plane as usize][row * WIDTH + i] = words[i];
        }
    }

    fn code_word(&self, row: usize, bit: u32, i: usize) -> usize {
        (row * self.variant.code_stride() as usize + bit as usize) * WIDTH + i
    }

    fn touch_codes(&mut self, row: usize, bit: u32, is: impl Fn(usize) -> bool) {
        let place = |i| is(i).then(|| self.code_word(row, bit, i));
        let places: Vec<_> = (0..WIDTH).map(place).collect();
        self.log.touch("codes", 8, places);
    }

    fn add_count(&mut self, row: usize, kind: usize, positions: u64) {
        let (squares, side) = self.record(row);
        let counters = self.at(side + SIDE_NUMBER) as usize;
        self.log.touch("lists", 4, [Some(2 * kind)]);
        self.counts[counters][kind] += positions * if squares & RECORD_PAIR != 0 { 2 } else { 1 };
    }

    fn finish_row(&mut self, row: usize) {
        self.log.touch("lists", 4, [Some(row)]);
        self.stamps[row] = NONE;
    }

    fn mark(&mut self, rows: &[usize], depth: u16) {
        // All invocations with a row to list come to the stamps together, and then to the list.
        self.log.touch("lists", 4, rows.iter().map(|&row| Some(row)));
        let frontier: BTreeSet<usize> = rows.iter().copied().filter(|&row| self.stamps[row] < depth.into()).collect();
        let list = &mut self.live[usize::from(depth & 1)];
        self.log.touch("lists", 4, (list.len()..).take(frontier.len()).map(Some));
        for row in frontier {
            self.stamps[row] = depth.into();
            list.push(row);
        }
    }

    fn row_across(&self, squares: u32, side: u32) -> u32 {
        let pieces = 1..self.at(side + SIDE_ROW_PIECES);
        let place = |p: u32| self.at(self.at(side + SIDE_MIRRORED) + p * 64 + (squares >> (6 * p) & 63));
        self.at(side + SIDE_FIRST_ROW) + pieces.map(place).sum::<u32>()
    }

    fn mark_around(&mut self, row: usize, depth: u16) {
        let (squares, own) = self.record(row);
        let there = (row as u32).wrapping_add(self.at(own + SIDE_OPPONENT));
        let side = self.at(own + SIDE_OTHER);
        let mut rows = Vec::new();
        for i in 0..self.at(side + SIDE_MARK_SLOTS) {
            let mover = i / MOVE_SLOTS;
            let square = squares >> self.at(side + SIDE_MOVERS + mover) & 63;
            let entry = self.at(self.at(side + SIDE_MOVES) + (mover * 64 + square) * 8 + i % MOVE_SLOTS);
            if entry & MOVE_MARKS != 0 {
                let base = if entry & MOVE_MIRRORED != 0 { self.row_across(squares, side) } else { there };
                rows.push(base.wrapping_add_signed(entry as i32 >> MOVE_DELTA_SHIFT) as usize);
            }
        }
        if self.at(side + SIDE_MARKS_ITSELF) != 0 {
            rows.push(there as usize);
        }
        self.mark(&rows, depth);
    }

    fn den_of(&self, (squares, side): (u32, u32), s: usize) -> u64 {
        if squares & RECORD_DEN != 0 || has(self.plan_mask(side + SIDE_DEN_WORD), s as u32) {
            return u64::MAX;
        }
        self.plan_mask(side + SIDE_DEN_LANE)
    }

    fn is_blocked(&self, (squares, side): (u32, u32), water: u64) -> bool {
        self.at(side + SIDE_FLAGS) & FLAG_FIRST_BLOCKS != 0 && has(water, squares & 63)
    }

    fn unblocked(&self, side: u32, water: u64) -> u64 {
        if self.at(side + SIDE_FLAGS) & FLAG_LANE_BLOCKS != 0 { !water } else { u64::MAX }
    }

    /// Twin of `quiet.wgsl`.
    fn reach(&mut self, row: usize, seen: Plane) -> Each<u64> {
        let record = self.record(row);
        let side = record.1;
        let flags = self.at(side + SIDE_FLAGS);
        let there = (row as u32).wrapping_add(self.at(side + SIDE_OPPONENT));
        let here = self.load_row(seen, there as usize);
        let mut found = [0; WIDTH];
        if flags & FLAG_WORD_MOVES != 0 {
            found = self.word_moves(record, &here);
        }
        if flags & FLAG_LANE_MOVES != 0 {
            for s in 0..WIDTH {
                let word = here[s];
                found[s] |= word >> 7 | word << 7 | word >> 1 & NOT_G.bits() | word << 1 & NOT_A.bits();
                if flags & FLAG_LEAPS != 0 {
                    found[s] |= word >> 28 & self.plan_mask(side + SIDE_LANE_UP)
                        | word << 28 & self.plan_mask(side + SIDE_LANE_DOWN)
                        | word >> 3 & self.plan_mask(side + SIDE_LANE_RIGHT)
                        | word << 3 & self.plan_mask(side + SIDE_LANE_LEFT);
                }
            }
        }
        for i in 0..self.at(side + SIDE_SLOTS) {
            let square = record.0 >> self.at(side + SIDE_MOVERS + i / 4) & 63;
            let entry = self.at(self.at(side + SIDE_MOVES) + (i / 4 * 64 + square) * 8 + i % 4);
            let water = self.plan_mask(self.plan.crossed + 2 * (entry & MOVE_CROSSED));
            if entry & MOVE_IS == 0 || self.is_blocked(record, water) {
                continue;
            }
            let delta = entry as i32 >> MOVE_DELTA_SHIFT;
            let words = if entry & MOVE_MIRRORED == 0 {
                self.load_row(seen, there.wrapping_add_signed(delta) as usize)
            } else {
                let across = self.row_across(record.0, self.at(side + SIDE_OTHER)).wrapping_add_signed(delta) as usize;
                let mirrored = |s: usize| (s < 63).then(|| across * WIDTH + s - s % 7 + 6 - s % 7);
                self.load(seen, mirrored).map(mirror_word)
            };
            (0..WIDTH).for_each(|s| found[s] |= words[s] & self.unblocked(side, water));
        }
        found
    }

    fn word_moves(&self, record: (u32, u32), here: &Each<u64>) -> Each<u64> {
        let side = record.1;
        let around =
            |s: usize, by: i32| s.checked_add_signed(by as isize).and_then(|s| here.get(s)).copied().unwrap_or(0);
        each(|s| {
            let right = if has(NOT_G.bits(), s as u32) { around(s, 1) } else { 0 };
            let left = if has(NOT_A.bits(), s as u32) { around(s, -1) } else { 0 };
            let mut found = around(s, 7) | around(s, -7) | right | left;
            for (mask, by, step) in
                [(SIDE_WORD_UP, 28, 7), (SIDE_WORD_DOWN, -28, -7), (SIDE_WORD_RIGHT, 3, 1), (SIDE_WORD_LEFT, -3, -1)]
            {
                if has(self.plan_mask(side + mask), s as u32) {
                    let water = (1..by / step).fold(0, |water, k| water | 1 << (s as i32 + k * step));
                    if !self.is_blocked(record, water) {
                        found |= around(s, by) & self.unblocked(side, water);
                    }
                }
            }
            found
        })
    }

    fn quiet_pass(&mut self, depth: u16, n: usize, row: usize) {
        self.log.kernel = "quiet_pass";
        let odd = depth % 2 == 1;
        let (written, conversion_plane, seen) = if odd {
            (Plane::Open, Plane::ConversionWins, Plane::Lost)
        } else {
            (Plane::Lost, Plane::Escapes, Plane::Open)
        };
        self.log.touch("lists", 4, [Some(n)]);
        let reach = self.reach(row, seen);
        let conversion_plane = self.load_row(conversion_plane, row);
        let before = self.load_row(written, row);
        let frontier = if odd {
            each(|s| (reach[s] | conversion_plane[s]) & before[s])
        } else {
            let mine = self.load_row(seen, row);
            each(|s| !(reach[s] | conversion_plane[s]) & (before[s] ^ mine[s]))
        };
        let count: u64 = frontier.iter().map(|word| u64::from(word.count_ones())).sum();
        if count == 0 {
            return;
        }
        self.store(written, row, &each(|s| before[s] ^ frontier[s]), |s| frontier[s] != 0);
        self.log_change(row, &frontier, decided(depth) & !1);
        self.add_count(row, depth.into(), count);
        self.left[row] -= count;
        self.log.touch("lists", 4, [Some(row)]);
        if self.left[row] == 0 {
            self.finish_row(row);
        }
        self.mark_around(row, depth + 1);
    }

    fn no_move(&mut self, row: usize) {
        self.log.kernel = "no_move";
        let record = self.record(row);
        let all = self.load_row(Plane::Open, row);
        let reach = self.reach(row, Plane::Open);
        let conversion_plane = self.load_row(Plane::Escapes, row);
        let stuck = each(|s| all[s] & !(reach[s] | conversion_plane[s] | self.den_of(record, s)));
        let count = |words: &Each<u64>| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        let (lost, escapes) = if self.loses { (stuck, [0; WIDTH]) } else { ([0; WIDTH], stuck) };
        self.store(Plane::Lost, row, &lost, |s| stuck[s] != 0);
        self.store(Plane::Escapes, row, &each(|s| conversion_plane[s] | escapes[s]), |s| stuck[s] != 0);
        if count(&stuck) > 0 {
            self.log_change(row, &stuck, CODE_NO_MOVE as u16);
        }
        self.left[row] = count(&all) - count(&lost);
        self.log.touch("lists", 4, [Some(row)]);
        if self.left[row] == 0 {
            self.finish_row(row);
        }
        if count(&stuck) > 0 {
            self.add_count(row, 0, count(&stuck));
        }
    }

    fn first_rows(&mut self, row: usize) {
        self.log.kernel = "first_rows";
        if self.load_row(Plane::Lost, row).iter().any(|&word| word != 0) {
            self.mark_around(row, 1);
        }
    }

    fn is_change_log(&self, sectors: usize) -> bool {
        4 * sectors <= self.variant.code_stride() as usize * WIDTH
    }

    /// Twin of `change_log.wgsl`, as `read_codes` is.
    fn log_change(&mut self, row: usize, frontier: &Each<u64>, code: u16) {
        let words: Vec<usize> = (0..WIDTH).filter(|&s| frontier[s] != 0).collect();
        let used = self.logged[row];
        self.logged[row] += change_sectors(&words);
        if self.is_change_log(self.logged[row]) {
            let at = self.code_word(row, 0, 0) + 4 * used;
            let rank = |s: usize| words.iter().position(|&word| word == s);
            self.log.touch("codes", 8, [Some(at), Some(at + 1)]);
            self.log.touch("codes", 8, (0..WIDTH).map(|s| rank(s).map(|rank| at + 2 + rank)));
            self.codes[at] = words.iter().fold(0, |mask, s| mask | 1 << s);
            self.codes[at + 1] = code.into();
            words.iter().enumerate().for_each(|(rank, &s)| self.codes[at + 2 + rank] = frontier[s]);
            return;
        }
        if self.is_change_log(used) {
            let decided = self.read_codes(row, used);
            for b in 1..self.variant.value_bits() {
                self.touch_codes(row, b, |_| true);
                let at = self.code_word(row, b, 0);
                self.codes[at..at + WIDTH].copy_from_slice(&decided[b as usize]);
            }
        }
        for b in bits(code.into()) {
            self.touch_codes(row, b as u32, |s| frontier[s] != 0);
            self.touch_codes(row, b as u32, |s| frontier[s] != 0);
            for s in 0..WIDTH {
                let at = self.code_word(row, b as u32, s);
                self.codes[at] |= frontier[s];
            }
        }
    }

    /// The bits of a row's codes but the lowest.
    fn read_codes(&mut self, row: usize, used: usize) -> Vec<Each<u64>> {
        let mut code = vec![[0u64; WIDTH]; self.variant.value_bits() as usize];
        if !self.is_change_log(used) {
            for b in 1..self.variant.value_bits() {
                self.touch_codes(row, b, |_| true);
                code[b as usize] = each(|s| self.codes[self.code_word(row, b, s)]);
            }
            return code;
        }
        let mut at = self.code_word(row, 0, 0);
        let end = at + 4 * used;
        while at < end {
            let words: Vec<usize> = bits(self.codes[at]).collect();
            self.log.touch("codes", 8, [Some(at), Some(at + 1)]);
            let place = |s: usize| words.iter().position(|&word| word == s).map(|rank| at + 2 + rank);
            self.log.touch("codes", 8, (0..WIDTH).map(place));
            for (rank, s) in words.iter().enumerate() {
                bits(self.codes[at + 1]).for_each(|b| code[b][*s] |= self.codes[at + 2 + rank]);
            }
            at += 4 * change_sectors(&words);
        }
        code
    }

    fn conversion_pass(&mut self, depth: u16, entries: std::ops::Range<usize>) {
        self.log.kernel = "conversion_pass";
        let odd = depth % 2 == 1;
        let conversion_plane = if odd { Plane::ConversionWins } else { Plane::Escapes };
        for _ in 0..3 {
            self.log.touch("entries", 4, entries.clone().map(Some));
        }
        let chosen = self.entries[entries].to_vec();
        let word = |i: usize| chosen.get(i).map(|&(word, _)| word as usize);
        let before = if odd { [0; WIDTH] } else { self.load(conversion_plane, word) };
        self.log.touch("planes", 8, (0..WIDTH).map(word));
        for (i, &(word, mask)) in chosen.iter().enumerate() {
            self.planes[conversion_plane as usize][word as usize] = if odd { mask } else { before[i] & !mask };
        }
        let mut rows: Vec<usize> = chosen.iter().map(|&(word, _)| word as usize / WIDTH).collect();
        rows.dedup();
        self.mark(&rows, depth);
    }

    fn finish(&mut self, row: usize) {
        self.log.kernel = "finish";
        let lost = self.load_row(Plane::Lost, row);
        let open = self.load_row(Plane::Open, row);
        let undecided = each(|s| open[s] ^ lost[s]);
        let count: u64 = undecided.iter().map(|word| u64::from(word.count_ones())).sum();
        if count > 0 {
            self.add_count(row, self.variant.counts() as usize - 1, count);
        }
        let (code_bits, stride) = (self.variant.value_bits(), self.variant.code_stride() as usize);
        let first = self.code_word(row, 0, 0);
        self.log.touch("lists", 4, [Some(row)]);
        let mut code = self.read_codes(row, self.logged[row]);
        for s in 0..WIDTH {
            let won = code.iter().fold(0, |any, bit| any | bit[s]) & !(lost[s] | undecided[s]);
            code[0][s] = won | undecided[s] & !code[1][s];
        }
        for done in (0..stride).step_by(8) {
            for j in 0..8 {
                let place = |s: usize| {
                    let k = j * WIDTH + s;
                    Some(first + k / 8 * stride + done + k % 8)
                };
                self.log.touch("codes", 8, (0..WIDTH).map(place));
            }
        }
        let bytes = stride / 8;
        for cell in 0..WIDTH * WIDTH {
            let value =
                (0..code_bits as usize).fold(0, |value, b| value | (code[b][cell / 64] >> (cell % 64) & 1) << b);
            let word = &mut self.codes[first + cell * bytes / 8];
            let shift = cell * bytes % 8 * 8;
            *word = *word & !(((1u64 << (8 * bytes)) - 1) << shift) | value << shift;
        }
    }
}

mod conversions;
mod old;
mod traffic;
