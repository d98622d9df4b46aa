//! The cells of a row in the order of a file. A file stores only the cells of a row whose squares the word piece and
//! the lane piece may stand on, one byte each (two bytes, little-endian, if the class has a line longer than 253
//! plies). A cell without a position repeats the value before it, which compresses to almost nothing.

use crate::board::{Bitboard, Square};
use crate::cpu::{CpuLevel, Vector, dispatch};
use crate::tablebase::index::{Index, ROW_CELLS, WIDTH};
use crate::tablebase::material::squares_in_play;
use crate::tablebase::value::{Cells, CellsMut, CellsRef};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Rows of a block of canonical rows. Ranges of rows that are solved together consist of whole blocks.
pub(crate) const BLOCK_ROWS: usize = 16;

/// The number of lanes that are copied at once.
const COPY: usize = 32;

/// The cells of a row that a file stores, and their order: word by word, in each the squares of the lane piece.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// By place in the file, the cell of the row.
    cells: Vec<u16>,
    /// The squares of the word piece and of the lane piece.
    words: Bitboard,
    lanes: Bitboard,
    /// By square of the word piece, the place of its first cell, and by square of the lane piece, its place among the
    /// stored squares.
    word_places: [u16; WIDTH],
    lane_places: [u8; WIDTH],
    /// The parts of at most [`COPY`] consecutive stored lanes: the first lane of each, and its place.
    parts: Vec<(u8, u8)>,
}

impl Layout {
    pub(crate) fn new(index: &Index) -> Layout {
        let (words, lanes) = (squares_in_play(index.word_piece()), squares_in_play(index.lane_piece()));
        let cells: Vec<u16> = words
            .into_iter()
            .flat_map(|word| lanes.into_iter().map(move |lane| (word.index() * WIDTH + lane.index()) as u16))
            .collect();
        let mut lane_places = [0; WIDTH];
        lanes.into_iter().enumerate().for_each(|(place, lane)| lane_places[lane.index()] = place as u8);
        let mut word_places = [0; WIDTH];
        words.into_iter().enumerate().for_each(|(at, word)| word_places[word.index()] = (at * lanes.len()) as u16);
        let mut parts: Vec<(u8, u8)> = Vec::new();
        for (place, lane) in lanes.into_iter().enumerate() {
            let (place, lane) = (place as u8, lane.index() as u8);
            let continues = |&(first, at): &(u8, u8)| lane - first == place - at && usize::from(lane - first) < COPY;
            if !parts.last().is_some_and(continues) {
                parts.push((lane, place));
            }
        }
        Layout { cells, words, lanes, word_places, lane_places, parts }
    }

    /// Number of stored cells of a row.
    pub(crate) fn row_len(&self) -> usize {
        self.cells.len()
    }

    /// The stored cells of a row, in the order of the file.
    pub(crate) fn cells(&self) -> impl Iterator<Item = usize> + '_ {
        self.cells.iter().map(|&cell| usize::from(cell))
    }

    /// The contribution of the word piece on a square to a cell's place among the stored cells of its row.
    pub(crate) fn word_offset(&self, square: Square) -> u32 {
        self.word_places[square.index()].into()
    }

    /// The contribution of the lane piece on a square to a cell's place among the stored cells of its row.
    pub(crate) fn lane_offset(&self, square: Square) -> u32 {
        self.lane_places[square.index()].into()
    }

    /// The place in a row of the cell with the word piece and the lane piece on these squares.
    #[inline]
    pub(crate) fn place(&self, word: usize, lane: usize) -> usize {
        usize::from(self.word_places[word % WIDTH]) + usize::from(self.lane_places[lane % WIDTH])
    }

    /// By place, the place of the cell that is reflected in the d-file.
    pub(crate) fn reflections(&self) -> Vec<u16> {
        let squares = |word: Square| self.lanes.into_iter().map(move |lane| (word.mirror(), lane.mirror()));
        let reflected = self.words.into_iter().flat_map(squares);
        reflected.map(|(word, lane)| self.place(word.index(), lane.index()) as u16).collect()
    }

    /// Replaces `codes` by the codes of whole rows in the order of a file, with 0 for a cell without a position.
    /// `codes` must have the width of the cells.
    pub(crate) fn gather(&self, cells: CellsRef<'_>, codes: &mut Cells) {
        self.gather_rows(cells, 0..cells.len() / ROW_CELLS, codes);
    }

    /// As [`gather`](Layout::gather), only the rows with these numbers.
    pub(crate) fn gather_rows(
        &self,
        cells: CellsRef<'_>,
        rows: impl ExactSizeIterator<Item = usize>,
        codes: &mut Cells,
    ) {
        let len = rows.len() * self.row_len();
        // Whole parts are copied, and what is too much is overwritten by the next part.
        codes.reset(len + COPY);
        match (cells, &mut *codes) {
            (CellsRef::Byte(cells), Cells::Byte(codes)) => self.gather_codes(cells, rows, codes),
            (CellsRef::Wide(cells), Cells::Wide(codes)) => self.gather_codes(cells, rows, codes),
            _ => unreachable!("codes are as wide as the cells"),
        }
        codes.truncate(len);
    }

    fn gather_codes<C: Copy + Default>(&self, cells: &[C], rows: impl Iterator<Item = usize>, codes: &mut [C]) {
        let words = cells.as_chunks::<WIDTH>().0.as_chunks::<WIDTH>().0;
        let mut lanes = [C::default(); WIDTH + COPY];
        let mut at = 0;
        for row in rows {
            for word in self.words {
                lanes[..WIDTH].copy_from_slice(&words[row][word.index()]);
                for &(lane, place) in &self.parts {
                    let to = at + usize::from(place);
                    codes[to..to + COPY].copy_from_slice(&lanes[usize::from(lane) % WIDTH..][..COPY]);
                }
                at += self.lanes.len();
            }
        }
    }

    /// Writes the bytes of a decompressed block to `cells`, which must be zero. `valid` returns the cells of a row that
    /// have a position, one bit each; the other cells stay zero.
    pub(crate) fn scatter(
        &self,
        bytes: &[u8],
        cells: CellsMut<'_>,
        first_row: usize,
        valid: impl Fn(usize) -> [u64; WIDTH],
    ) {
        match cells {
            CellsMut::Byte(cells) => self.scatter_codes(bytes, cells, first_row, valid, u8::from_le_bytes),
            CellsMut::Wide(cells) => self.scatter_codes(bytes, cells, first_row, valid, u16::from_le_bytes),
        }
    }

    fn scatter_codes<const N: usize, C: Copy + Default>(
        &self,
        bytes: &[u8],
        cells: &mut [C],
        first_row: usize,
        valid: impl Fn(usize) -> [u64; WIDTH],
        code: impl Fn([u8; N]) -> C,
    ) {
        let mut words = bytes.as_chunks::<N>().0.chunks_exact(self.lanes.len());
        for (row, cells) in cells.as_chunks_mut::<ROW_CELLS>().0.iter_mut().enumerate() {
            let valid = valid(first_row + row);
            for (word, bytes) in self.words.into_iter().map(Square::index).zip(&mut words) {
                if valid[word] == 0 {
                    continue;
                }
                let mut kept = [C::default(); WIDTH];
                kept.iter_mut().zip(bytes).for_each(|(kept, &bytes)| *kept = code(bytes));
                for (lane, cell) in cells[word * WIDTH..][..WIDTH].iter_mut().enumerate() {
                    // Without a branch, which would often be mispredicted.
                    let code = kept[usize::from(self.lane_places[lane]) % WIDTH];
                    *cell = if valid[word] >> lane & 1 != 0 { code } else { C::default() };
                }
            }
        }
    }
}

/// Appends the checksum of each row of these codes, whole rows in the order of a file: XXH3-64 of its values, as two
/// bytes each, little-endian, 0 for a cell without a position. `hashed` is a buffer.
pub(crate) fn push_row_sums(codes: CellsRef<'_>, row_len: usize, hashed: &mut Vec<u16>, sums: &mut Vec<u64>) {
    checksum_codes(codes, hashed);
    sums.extend(hashed.chunks_exact(row_len).map(|row| xxh3_64(bytemuck::cast_slice(row))));
}

/// The checksum of the values of rows, given the checksum of each row: XXH3-64 of these numbers, little-endian.
pub(crate) fn sum_of_rows(sums: impl Iterator<Item = u64>) -> u64 {
    let mut hash = Xxh3::new();
    sums.for_each(|sum| hash.update(&sum.to_le_bytes()));
    hash.digest()
}

/// Turns codes into the bytes of a block before compression: a cell without a position repeats the code before it.
/// `words` are the codes as [`checksum_codes`] returns them.
pub(crate) fn block_bytes<'a>(codes: &'a mut Cells, words: &[u16]) -> &'a [u8] {
    match codes {
        Cells::Byte(codes) => {
            dispatch!(CpuLevel::get(), fn(codes: &mut [u8], words: &[u16]) = repeat_last::<V>);
        }
        Cells::Wide(codes) => {
            dispatch!(CpuLevel::get(), fn(codes: &mut [u16], words: &[u16]) = repeat_last::<V>);
            codes.iter_mut().for_each(|code| *code = code.to_le());
        }
    }
    codes.view().bytes()
}

/// Replaces each 0 by the code before it, or by 1 if no code is before it. `words` are the codes, in two bytes each.
#[inline(always)]
fn repeat_last<V: Vector>(codes: &mut [impl Copy + From<u8> + PartialEq], words: &[u16]) {
    let mut last = 1.into();
    let (parts, rest) = codes.as_chunks_mut::<WIDTH>();
    for (part, words) in parts.iter_mut().zip(words.as_chunks().0) {
        let mut empty = V::equal(words, 0);
        while empty != 0 {
            let at = empty.trailing_zeros() as usize % WIDTH;
            part[at] = if at == 0 { last } else { part[at - 1] };
            empty &= empty - 1;
        }
        last = part[WIDTH - 1];
    }
    for code in rest {
        last = if *code == 0.into() { last } else { *code };
        *code = last;
    }
}

/// Replaces `hashed` by the words that enter the checksum of these codes.
pub(crate) fn checksum_codes(codes: CellsRef<'_>, hashed: &mut Vec<u16>) {
    hashed.clear();
    match codes {
        CellsRef::Byte(codes) => hashed.extend(codes.iter().map(|&code| u16::from(code).to_le())),
        CellsRef::Wide(codes) => hashed.extend(codes.iter().map(|&code| code.to_le())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    /// Cells with random codes, a third of them without a position, also many in a row, as in a row of a class.
    fn random_cells(rows: usize) -> Vec<u8> {
        let mut random = Pcg64::seed_from_u64(12);
        let mut cells: Vec<u8> = (0..rows * ROW_CELLS).map(|_| (random.next_u64() % 256) as u8).collect();
        cells.iter_mut().for_each(|code| *code = if *code < 80 { 0 } else { *code });
        cells.chunks_mut(WIDTH).step_by(5).for_each(|word| word.fill(0));
        cells
    }

    /// Each stored cell comes to its place, and a cell without a position takes the code before it.
    #[test]
    fn stored_cells_come_in_the_order_of_a_file() {
        // The lane pieces are a rat, which swims, and animals that do not.
        for material in ["EvL", "RvR", "EvRD", "ELTvR"] {
            let index = Index::new(material.parse().unwrap(), &RuleOptions::PAPER).unwrap();
            let (layout, bytes) = (Layout::new(&index), random_cells(6));
            let wide: Vec<u16> = bytes.iter().map(|&code| 3 * u16::from(code)).collect();
            for (cells, factor) in [(Cells::Byte(bytes.clone()), 1), (Cells::Wide(wide), 3)] {
                let (mut codes, mut words) = (Cells::empty(cells.cell_bytes(), 0), Vec::new());
                let rows = [1, 2, 5, 0];
                layout.gather_rows(cells.view(), rows.into_iter(), &mut codes);
                let of_row = |row: usize| layout.cells().map(move |cell| row * ROW_CELLS + cell);
                let stored: Vec<u16> = rows.into_iter().flat_map(of_row).map(|cell| cells.get(cell)).collect();
                assert_eq!((0..codes.len()).map(|at| codes.get(at)).collect::<Vec<_>>(), stored, "{material}");
                assert!(stored.contains(&(255 * factor)) && stored.contains(&0));
                checksum_codes(codes.view(), &mut words);
                let mut last = 1;
                let filled = stored.iter().map(|&code| {
                    last = if code == 0 { last } else { code };
                    last
                });
                let filled: Vec<u8> = match factor {
                    1 => filled.map(|code| code as u8).collect(),
                    _ => filled.flat_map(u16::to_le_bytes).collect(),
                };
                assert_eq!(block_bytes(&mut codes, &words), filled, "{material}");
            }
        }
    }
}
