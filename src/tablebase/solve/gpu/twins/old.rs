//! What the kernels touched before a workgroup had a row: in the passes an invocation had a whole row, so neighbours
//! read 512 bytes apart; in the conversions an invocation had a word, its bits of values one after the other, and all
//! lanes to look up.

use super::SimulatedGpu;
use crate::shaders::{SIDE_OPPONENT, SIDE_SLOTS};
use crate::tablebase::WIDTH;

impl SimulatedGpu {
    /// The planes in a pass over these rows: two of its own and the plane of conversions, the opponent's row and those
    /// that row pieces move to (taken as neighbours of it), word by word.
    pub(super) fn touch_by_rows(&mut self, rows: &[usize]) {
        self.old.kernel = "quiet_pass";
        let there = |row: usize| {
            let (_, side) = self.record(row);
            ((row as u32).wrapping_add(self.at(side + SIDE_OPPONENT)) as usize, self.at(side + SIDE_SLOTS) as usize)
        };
        let places: Vec<(usize, (usize, usize))> = rows.iter().map(|&row| (row, there(row))).collect();
        for s in 0..WIDTH {
            for _ in 0..3 {
                self.old.touch("planes", 8, places.iter().map(|(row, _)| Some(row * WIDTH + s)));
            }
            for k in 0..=8 {
                let place =
                    |(_, (there, slots)): &(usize, (usize, usize))| (k <= *slots).then_some((there + k) * WIDTH + s);
                self.old.touch("planes", 8, places.iter().map(place));
            }
        }
    }

    /// The bits of a row's values, those of a word together.
    pub(super) fn touch_codes_by_words(&mut self, row: usize) {
        self.old.kernel = "conversions";
        for b in 0..self.variant.value_bits() as usize {
            let stride = self.variant.code_stride() as usize;
            self.old.touch("codes", 8, (0..WIDTH).map(|s| Some((row * WIDTH + s) * stride + b)));
        }
    }

    /// The cells of words with captures that are the same for all lanes, an invocation a word.
    pub(super) fn touch_by_words(&mut self, words: &[[Option<u32>; WIDTH]]) {
        self.old.kernel = "conversions";
        for lane in 0..WIDTH {
            self.old.touch("tables", 1, words.iter().map(|cells| cells[lane].map(|cell| cell as usize)));
        }
    }
}
