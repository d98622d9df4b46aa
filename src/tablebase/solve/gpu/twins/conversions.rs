//! Twins of `conversions` and `buckets`. They hold a value a position where the shaders hold bits, and touch the same
//! memory.

use super::{Each, Plane, SimulatedGpu, bits, each, has};
use crate::shaders::*;
use crate::tablebase::WIDTH;

/// A cell number as the board stands and mirrored, and which of the two counts.
#[derive(Copy, Clone)]
struct Cell {
    numbers: [u32; 2],
    mirrored: bool,
}

/// The value of each position of a row, by word and lane.
type ConversionValues = Vec<[u32; WIDTH]>;

impl SimulatedGpu {
    pub(super) fn conversions(&mut self, row: usize) {
        self.log.kernel = "conversions";
        let record = self.record(row);
        let side = record.1;
        let pieces: Vec<u32> = (0..self.at(side + SIDE_ROW_PIECES)).map(|p| record.0 >> (6 * p) & 63).collect();
        let taken = pieces.iter().fold(0u64, |taken, square| taken | 1 << square);
        let apart = taken.count_ones() as usize == pieces.len();
        let valid = each(|s| {
            let in_play = has(self.plan_mask(side + SIDE_WORDS_IN_PLAY), s as u32) && !has(taken, s as u32);
            if apart && in_play { self.plan_mask(side + SIDE_LANES) & !taken & !(1 << s) } else { 0 }
        });
        let den = each(|s| self.den_of(record, s) & valid[s]);
        let free = each(|s| valid[s] & !den[s]);
        let mut best: ConversionValues = vec![[0; WIDTH]; WIDTH];
        if record.0 & RECORD_DEN == 0 && apart {
            self.of_words(&mut best, record, &free);
            self.by_lanes(&mut best, record, &free);
        }
        let escapes =
            each(|s| (0..WIDTH).filter(|&lane| best[s][lane] != 0).fold(0, |escapes, lane| escapes | 1 << lane));
        for s in 0..WIDTH {
            bits(den[s]).for_each(|lane| best[s][lane] = self.variant.win_at_once());
        }
        self.store(Plane::Open, row, &valid, |_| true);
        self.store(Plane::Escapes, row, &escapes, |_| true);
        for b in 0..self.variant.value_bits() {
            self.touch_codes(row, b, |_| true);
            for s in 0..WIDTH {
                let at = self.code_word(row, b, s);
                self.codes[at] = (0..WIDTH).fold(0, |word, lane| word | u64::from(best[s][lane] >> b & 1) << lane);
            }
        }
        self.touch_codes_by_words(row);
        for value in self.values_of(row) {
            let words = (0..WIDTH).filter(|&s| self.with_value(row, s, value) != 0).count();
            self.log.touch("lists", 4, [Some(value as usize)]);
            self.histogram[value as usize] += words as u32;
        }
    }

    pub(super) fn buckets(&mut self, row: usize) {
        self.log.kernel = "buckets";
        (0..self.variant.value_bits()).for_each(|b| self.touch_codes(row, b, |_| true));
        for value in self.values_of(row) {
            let masks: Each<u64> = each(|s| self.with_value(row, s, value));
            let words: Vec<usize> = (0..WIDTH).filter(|&s| masks[s] != 0).collect();
            let first = self.cursors[value as usize] as usize;
            self.cursors[value as usize] += words.len() as u32;
            self.log.touch("lists", 4, [Some(value as usize)]);
            for _ in 0..3 {
                let rank = |s: usize| words.iter().position(|&word| word == s).map(|rank| first + rank);
                self.log.touch("entries", 4, (0..WIDTH).map(rank));
            }
            for (i, s) in words.into_iter().enumerate() {
                self.entries[first + i] = ((row * WIDTH + s) as u32, masks[s]);
            }
        }
    }

    /// The values that are conversions in a row.
    fn values_of(&self, row: usize) -> Vec<u32> {
        let mut all: Vec<u32> = (0..WIDTH * WIDTH).map(|cell| self.value_of(row, cell / WIDTH, cell % WIDTH)).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|&value| value != 0 && value != self.variant.draw());
        all
    }

    fn value_of(&self, row: usize, s: usize, lane: usize) -> u32 {
        let bit = |b| (self.codes[self.code_word(row, b, s)] >> lane & 1) as u32;
        (0..self.variant.value_bits()).fold(0, |value, b| value | bit(b) << b)
    }

    fn with_value(&self, row: usize, s: usize, value: u32) -> u64 {
        (0..self.variant.value_bits()).fold(u64::MAX, |same, b| {
            same & (self.codes[self.code_word(row, b, s)] ^ if value >> b & 1 != 0 { 0 } else { u64::MAX })
        })
    }

    /// Looks up a cell for each invocation that has one.
    fn table_value(&mut self, cells: &Each<Option<u32>>) -> Each<u32> {
        self.log.touch("tables", 1 + usize::from(self.variant.wide), cells.iter().map(|cell| cell.map(|c| c as usize)));
        cells.map(|cell| cell.map_or(0, |cell| self.value_of_code(self.table[cell as usize].into())))
    }

    fn value_of_code(&self, code: u32) -> u32 {
        match code {
            0 => self.variant.win_at_once(),
            1 => self.variant.draw(),
            CODE_NO_MOVE if !self.loses => self.variant.draw(),
            odd if odd % 2 == 1 => odd / 2,
            even => self.variant.win_at_once() + 1 - even / 2,
        }
    }

    /// What a piece adds to a cell number is in the plan, and touched by each invocation on its own.
    fn touch_offsets(&mut self, capture: u32, piece: u32, squares: impl Fn(usize) -> Option<u32>) {
        let at = self.at(capture + CAPTURE_OFFSETS) + piece * 64;
        self.log.touch("plan", 4, (0..WIDTH).map(|i| squares(i).map(|square| (at + square) as usize)));
    }

    fn placed_but(&self, capture: u32, record: (u32, u32), but: u32) -> Cell {
        let cell = Cell { numbers: [self.at(capture + CAPTURE_TABLE); 2], mirrored: false };
        let pieces = (0..self.at(record.1 + SIDE_ROW_PIECES)).filter(|&p| p != but);
        pieces.fold(cell, |cell, p| self.with_piece(capture, cell, p, record.0 >> (6 * p) & 63))
    }

    fn with_piece(&self, capture: u32, cell: Cell, piece: u32, square: u32) -> Cell {
        let at = self.at(capture + CAPTURE_OFFSETS) + piece * 64 + square;
        let decides = piece == self.at(capture + CAPTURE_FIRST);
        let mirrored = if decides { has(self.plan_mask(capture + CAPTURE_MIRROR), square) } else { cell.mirrored };
        let across = self.at(at + self.at(capture + CAPTURE_STRIDE));
        Cell { numbers: [cell.numbers[0] + self.at(at), cell.numbers[1] + across], mirrored }
    }

    fn with_last(&self, capture: u32, cell: Cell, piece: u32, square: u32) -> u32 {
        let cell = self.with_piece(capture, cell, piece, square);
        cell.numbers[usize::from(cell.mirrored)]
    }

    fn hits(&self, capture: u32, record: (u32, u32), square: u32) -> u64 {
        let stride = self.at(capture + CAPTURE_BLOCKED_STRIDE);
        let blocked = self.at(capture + CAPTURE_BLOCKED) + 2 * ((record.0 & 63) * stride + square);
        self.plan_mask(self.at(capture + CAPTURE_HITS) + 2 * square) & !self.plan_mask(blocked)
    }

    fn fixed_square(&self, record: (u32, u32), s: usize, piece: u32) -> u32 {
        if piece < self.at(record.1 + SIDE_ROW_PIECES) { record.0 >> (6 * piece) & 63 } else { s as u32 }
    }

    fn of_words(&mut self, best: &mut ConversionValues, record: (u32, u32), free: &Each<u64>) {
        let side = record.1;
        let word_piece = self.at(side + SIDE_ROW_PIECES);
        let mut capture = self.at(side + SIDE_CAPTURES);
        for _ in 0..self.at(side + SIDE_BY_LANE) {
            let victim = self.at(capture + CAPTURE_VICTIM);
            let lanes = each(|s| free[s] & self.hits(capture, record, self.fixed_square(record, s, victim)));
            let is = |s: usize| lanes[s] != 0;
            self.touch_offsets(capture, word_piece, |s| is(s).then_some(s as u32));
            if victim == word_piece {
                self.touch_offsets(capture, word_piece + 1, |s| is(s).then_some(s as u32));
            }
            let cells = each(|s| {
                let cell = self.with_piece(capture, self.placed_but(capture, record, NONE), word_piece, s as u32);
                is(s).then(|| self.with_last(capture, cell, word_piece + 1, self.fixed_square(record, s, victim)))
            });
            let values = self.table_value(&cells);
            for s in 0..WIDTH {
                bits(lanes[s]).for_each(|lane| best[s][lane] = best[s][lane].max(values[s]));
            }
            capture += CAPTURE_WORDS;
        }
        for _ in 0..self.at(side + SIDE_OF_LANE) {
            let attacker = self.at(capture + CAPTURE_ATTACKER);
            let mut lanes = each(|s| free[s] & self.hits(capture, record, self.fixed_square(record, s, attacker)));
            if attacker != word_piece {
                self.touch_offsets(capture, word_piece, |s| Some(s as u32));
            }
            while lanes.iter().any(|&word| word != 0) {
                let lane = lanes.map(|word| (word != 0).then(|| word.trailing_zeros()));
                self.touch_offsets(capture, attacker, |s| lane[s]);
                let cells = each(|s| {
                    let mut cell = self.placed_but(capture, record, attacker);
                    if attacker != word_piece {
                        cell = self.with_piece(capture, cell, word_piece, s as u32);
                    }
                    lane[s].map(|lane| self.with_last(capture, cell, attacker, lane))
                });
                let values = self.table_value(&cells);
                for s in 0..WIDTH {
                    if let Some(lane) = lane[s] {
                        best[s][lane as usize] = best[s][lane as usize].max(values[s]);
                        lanes[s] &= lanes[s] - 1;
                    }
                }
            }
            capture += CAPTURE_WORDS;
        }
    }

    fn by_lanes(&mut self, best: &mut ConversionValues, record: (u32, u32), free: &Each<u64>) {
        let side = record.1;
        let word_piece = self.at(side + SIDE_ROW_PIECES);
        let before = self.at(side + SIDE_BY_LANE) + self.at(side + SIDE_OF_LANE);
        let mut capture = self.at(side + SIDE_CAPTURES) + before * CAPTURE_WORDS;
        for _ in 0..self.at(side + SIDE_OTHERS) {
            let (attacker, victim) = (self.at(capture + CAPTURE_ATTACKER), self.at(capture + CAPTURE_VICTIM));
            let square = |piece| self.fixed_square(record, 0, piece);
            let words = if attacker == word_piece {
                self.hits(capture, record, square(victim))
            } else {
                let hits = self.hits(capture, record, square(attacker));
                match victim == word_piece {
                    true => hits,
                    false if has(hits, square(victim)) => self.plan_mask(side + SIDE_WORDS_IN_PLAY),
                    false => 0,
                }
            };
            let mut looked_up = Vec::new();
            for w in bits(words) {
                let (start, target) = (self.fixed_square(record, w, attacker), self.fixed_square(record, w, victim));
                let mut cell = self.with_piece(capture, self.placed_but(capture, record, attacker), attacker, target);
                if attacker != word_piece {
                    cell = self.with_piece(capture, cell, word_piece, w as u32);
                }
                let crossed = self.at(self.at(capture + CAPTURE_CROSSING) + start * 64 + target);
                let open = self.unblocked(side, self.plan_mask(self.plan.crossed + 2 * crossed));
                let is = |i: usize| i < 63 && has(open, i as u32);
                self.touch_offsets(capture, word_piece + 1, |i| is(i).then_some(i as u32));
                let cells = each(|i| is(i).then(|| self.with_last(capture, cell, word_piece + 1, i as u32)));
                let values = self.table_value(&cells);
                looked_up.push(cells);
                for lane in (0..WIDTH).filter(|&lane| is(lane) && has(free[w], lane as u32)) {
                    best[w][lane] = best[w][lane].max(values[lane]);
                }
            }
            self.touch_by_words(&looked_up);
            capture += CAPTURE_WORDS;
        }
    }
}
