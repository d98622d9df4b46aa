//! Decodes the bytes of a file to scores, and computes the checksum and the counts of the values at the same time.

use super::score::{Scale, Score};
use crate::board::{Color, Square};
use crate::tablebase::store::file::{TableError, TableFile};
use crate::tablebase::{CellValue, Index, ROW_CELLS, Stats, WIDTH, squares_in_play};
use rayon::prelude::*;
use std::hash::Hasher;
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3;

/// Number of cells before the first row and after the last, which shifts of the lane piece may read.
pub(super) const MARGIN: usize = WIDTH;

/// The scores of one side to move of a class, cell by cell; 0 for cells without a position.
pub(super) struct Plane<C> {
    scores: Vec<C>,
}

impl<C: Score> Plane<C> {
    pub(super) fn new(rows: usize) -> Plane<C> {
        Plane { scores: vec![C::ZERO; rows * ROW_CELLS + 2 * MARGIN] }
    }

    /// The 64 cells from `cell` on, which may lie in the margin.
    #[inline(always)]
    pub(super) fn from(&self, cell: isize) -> &[C; WIDTH] {
        let start = (cell + MARGIN as isize) as usize;
        self.scores[start..start + WIDTH].try_into().expect("a whole row")
    }

    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> &[C] {
        &self.scores[MARGIN + row * ROW_CELLS..][..ROW_CELLS]
    }

    #[inline(always)]
    pub(super) fn get(&self, cell: usize) -> C {
        self.scores[MARGIN + cell]
    }

    pub(super) fn rows_mut(&mut self) -> &mut [C] {
        let end = self.scores.len() - MARGIN;
        &mut self.scores[MARGIN..end]
    }
}

/// The squares of the row pieces in a row.
#[derive(Copy, Clone, Debug)]
pub(super) struct RowSquares {
    pub squares: [usize; Index::MAX_PIECES],
    /// The squares as a set.
    pub taken: u64,
    /// Whether the squares are distinct, so that the row has positions.
    pub distinct: bool,
}

impl RowSquares {
    #[inline]
    pub(super) fn new(index: &Index, row: usize) -> RowSquares {
        let mut this = RowSquares { squares: [0; Index::MAX_PIECES], taken: 0, distinct: true };
        for (slot, square) in this.squares.iter_mut().zip(index.row_squares(row)) {
            *slot = square.index();
            this.distinct &= this.taken >> square.index() & 1 == 0;
            this.taken |= 1 << square.index();
        }
        this
    }
}

/// The cells of a row that a file stores, and their order.
struct Kept {
    /// The cell of each value of a row, in the order of the file.
    cells: Vec<u16>,
    words: Vec<usize>,
    /// By square of the lane piece, its place among the stored values of a word.
    lane_place: [Option<u8>; WIDTH],
    lanes: usize,
}

impl Kept {
    fn new(index: &Index) -> Kept {
        let squares = |piece| squares_in_play(piece).into_iter().map(Square::index).collect::<Vec<_>>();
        let (words, lanes) = (squares(index.word_piece()), squares(index.lane_piece()));
        let mut lane_place = [None; WIDTH];
        for (place, &lane) in lanes.iter().enumerate() {
            lane_place[lane] = Some(place as u8);
        }
        let cells = words.iter().flat_map(|word| lanes.iter().map(move |lane| (word * WIDTH + lane) as u16)).collect();
        Kept { cells, words, lane_place, lanes: lanes.len() }
    }

    /// The stored cells of a row, in the order of the file.
    pub(super) fn cells(&self) -> impl Iterator<Item = usize> + '_ {
        self.cells.iter().map(|&cell| usize::from(cell))
    }

    /// Number of stored values of a row.
    pub(super) fn row_len(&self) -> usize {
        self.cells.len()
    }

    /// Sets the values of cells without a position to 0; a file stores arbitrary values for them.
    fn clear<C: Score>(&self, squares: &RowSquares, row: &mut [C]) {
        if !squares.distinct {
            return row.fill(C::ZERO);
        }
        let places = |taken: u64| {
            crate::board::Bitboard::new(taken)
                .into_iter()
                .filter_map(|s| Some(usize::from(self.lane_place[s.index()]?)))
        };
        let mut taken_lanes = [0; Index::MAX_PIECES];
        let mut count = 0;
        for place in places(squares.taken) {
            taken_lanes[count] = place;
            count += 1;
        }
        for (&word, group) in self.words.iter().zip(row.chunks_exact_mut(self.lanes)) {
            if squares.taken >> word & 1 != 0 {
                group.fill(C::ZERO);
                continue;
            }
            taken_lanes[..count].iter().for_each(|&place| group[place] = C::ZERO);
            if let Some(place) = self.lane_place[word] {
                group[usize::from(place)] = C::ZERO;
            }
        }
    }
}

/// Accumulates the checksum and the counts of values row by row.
pub(super) struct Digest {
    hash: Xxh3,
    counts: Counts,
}

/// The result of a [`Digest`].
pub(super) struct Digested {
    /// The checksum, written as in a file's description.
    pub checksum: String,
    pub stats: Stats,
    /// Number of stored values, without weights.
    pub values: u64,
}

/// The number of occurrences of each code, by the weight of its row.
#[derive(Default)]
struct Counts {
    by_weight: [Vec<u64>; 3],
}

impl Counts {
    fn merge(&mut self, other: &Counts) {
        for (mine, theirs) in self.by_weight.iter_mut().zip(&other.by_weight) {
            if mine.len() < theirs.len() {
                mine.resize(theirs.len(), 0);
            }
            mine.iter_mut().zip(theirs).for_each(|(n, more)| *n += more);
        }
    }

    /// Counts the codes of a row. Neighbours are often equal, so four counters in turn avoid dependent increments.
    fn add<C: Score>(&mut self, codes: &[C], weight: u64) {
        let counts = &mut self.by_weight[weight as usize];
        let most = codes.iter().max().map_or(0, |code| usize::from(code.number())).max(255);
        if counts.len() <= most {
            counts.resize(most + 1, 0);
        }
        if most > 255 {
            codes.iter().for_each(|code| counts[usize::from(code.number())] += 1);
            return;
        }
        let mut lanes = [[0u32; 256]; 4];
        let mut chunks = codes.chunks_exact(4);
        for chunk in &mut chunks {
            for (lane, code) in lanes.iter_mut().zip(chunk) {
                lane[usize::from(code.number()) & 255] += 1;
            }
        }
        chunks.remainder().iter().for_each(|code| lanes[0][usize::from(code.number()) & 255] += 1);
        for (code, count) in counts[..256].iter_mut().enumerate() {
            *count += lanes.iter().map(|lane| u64::from(lane[code])).sum::<u64>();
        }
    }
}

impl Digest {
    pub(super) fn new() -> Digest {
        Digest { hash: Xxh3::new(), counts: Counts::default() }
    }

    /// Adds the next rows.
    fn take(&mut self, part: &Packed) {
        part.sums.iter().for_each(|sum| self.hash.write(&sum.to_le_bytes()));
        self.counts.merge(&part.counts);
    }

    pub(super) fn finish(self) -> Digested {
        let mut stats = Stats::default();
        let mut values = 0;
        for (weight, counts) in self.counts.by_weight.iter().enumerate() {
            for (code, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
                let Some(value) = CellValue::from_code(code as u16) else { continue };
                values += count;
                let count = count * weight as u64;
                match value {
                    CellValue::Draw => stats.draws += count,
                    CellValue::NoMove => stats.no_move += count,
                    CellValue::Decided(plies) => stats.add_decided(plies, count),
                }
            }
        }
        Digested { checksum: format!("{:016x}", self.hash.finish()), stats, values }
    }
}

/// The digest of some rows.
#[derive(Default)]
struct Packed {
    /// The checksums of the canonical rows.
    sums: Vec<u64>,
    counts: Counts,
}

impl Packed {
    /// Adds a row of the index, given its codes in the order of the file, 0 for cells without a position.
    fn push<C: Score>(&mut self, file: &TableFile, row: usize, codes: &[C]) {
        if file.canonical().stores(row) {
            let mut hash = Xxh3::new();
            write_codes(&mut hash, codes);
            self.sums.push(hash.finish());
        }
        self.counts.add(codes, file.index().weight(row));
    }
}

/// Adds codes to a checksum, as two bytes each.
fn write_codes<C: Score>(hash: &mut Xxh3, codes: &[C]) {
    let mut bytes = [0; 4096];
    for codes in codes.chunks(bytes.len() / 2) {
        for (two, code) in bytes.chunks_exact_mut(2).zip(codes) {
            two.copy_from_slice(&code.number().to_le_bytes());
        }
        hash.write(&bytes[..2 * codes.len()]);
    }
}

/// Number of cells that are decoded in parallel before the next digest: enough to keep the threads busy.
const GROUP_CELLS: usize = 16 << 20;

/// Computes the scores of a row that follow from its conversions, with 0 for a position without a conversion.
pub(super) type Conversions<'a, C> = &'a (dyn Fn(usize, &mut [C]) + Sync);

/// Decodes a stored side to move. `conversions` must be given if the file has don't-cares.
pub(super) fn load<C: Score>(
    file: &TableFile,
    turn: Color,
    scale: Scale,
    conversions: Option<Conversions<'_, C>>,
) -> Result<(Plane<C>, Digested), TableError> {
    let index = file.index();
    let kept = Kept::new(index);
    let mut plane = Plane::new(index.rows);
    let table: Vec<C> = (0..=255).map(|code| scale.score(code)).collect();
    let stored = file.rows(turn)?;
    let fill = |first: usize, rows: &mut [C]| -> Result<Packed, TableError> {
        let bytes = stored.bytes(first, rows.len() / ROW_CELLS);
        let mut codes = codes::<C>(&bytes, file.description().cell_bytes);
        let mut packed = Packed::default();
        let mut best = vec![C::ZERO; if conversions.is_some() { ROW_CELLS } else { 0 }];
        let parts = codes.chunks_exact_mut(kept.row_len()).zip(rows.chunks_exact_mut(ROW_CELLS));
        for (row, (codes, cells)) in (first..).zip(parts) {
            kept.clear(&RowSquares::new(index, row), codes);
            for (&cell, &code) in kept.cells.iter().zip(codes.iter()) {
                let code = code.number();
                cells[usize::from(cell)] = table.get(usize::from(code)).copied().unwrap_or_else(|| scale.score(code));
            }
            if let Some(conversions) = conversions {
                conversions(row, &mut best);
                for (cell, code) in kept.cells().zip(codes.iter_mut()) {
                    // A position that is better for its side to move has a lower score.
                    let (value, best) = (&mut cells[cell], best[cell]);
                    if best != C::ZERO && best < *value {
                        *value = best;
                        *code = C::cell(scale.code(best));
                    }
                }
            }
            packed.push(file, row, codes);
        }
        Ok(packed)
    };
    let digested = in_groups(plane.rows_mut(), fill)?;
    Ok((plane, digested))
}

/// Fills all rows in groups, and adds each group to the digest while the next is filled. `fill` receives the number of
/// its first row and up to [`ROWS_AT_ONCE`] rows.
fn in_groups<C: Score, E: Send>(
    rows: &mut [C],
    fill: impl Fn(usize, &mut [C]) -> Result<Packed, E> + Sync,
) -> Result<Digested, E> {
    let mut digest = Digest::new();
    let mut ready: Vec<Packed> = Vec::new();
    let group = (GROUP_CELLS / ROW_CELLS).next_multiple_of(ROWS_AT_ONCE);
    for (number, cells) in rows.chunks_mut(group * ROW_CELLS).enumerate() {
        let parts = cells.par_chunks_mut(ROWS_AT_ONCE * ROW_CELLS).enumerate();
        let (filled, ()) = rayon::join(
            || parts.map(|(i, part)| fill(number * group + i * ROWS_AT_ONCE, part)).collect::<Result<Vec<_>, E>>(),
            || ready.iter().for_each(|part| digest.take(part)),
        );
        ready = filled?;
    }
    ready.iter().for_each(|part| digest.take(part));
    Ok(digest.finish())
}

/// Number of consecutive rows that one thread fills.
const ROWS_AT_ONCE: usize = 16;

/// Fills a plane row by row and computes its digest. Stops at the first error.
pub(super) fn compute<C: Score, E: Send>(
    file: &TableFile,
    scale: Scale,
    row: impl Fn(usize, &mut [C]) -> Result<(), E> + Sync,
) -> Result<(Plane<C>, Digested), E> {
    let index = file.index();
    let kept = Kept::new(index);
    let mut plane = Plane::new(index.rows);
    let fill = |first: usize, rows: &mut [C]| -> Result<Packed, E> {
        let mut packed = Packed::default();
        let mut codes = Vec::with_capacity(kept.row_len());
        for (number, cells) in (first..).zip(rows.chunks_exact_mut(ROW_CELLS)) {
            row(number, cells)?;
            codes.clear();
            codes.extend(kept.cells.iter().map(|&cell| C::cell(scale.code(cells[usize::from(cell)]))));
            packed.push(file, number, &codes);
        }
        Ok(packed)
    };
    let digested = in_groups(plane.rows_mut(), fill)?;
    Ok((plane, digested))
}

/// The codes of a decoded block. `C` must be at least `cell_bytes` wide.
fn codes<C: Score>(bytes: &[u8], cell_bytes: usize) -> Vec<C> {
    match cell_bytes {
        1 => bytes.iter().map(|&code| C::cell(code.into())).collect(),
        _ => bytes.chunks_exact(2).map(|two| C::cell(u16::from_le_bytes([two[0], two[1]]))).collect(),
    }
}

/// All row numbers, divided into ranges for the threads.
pub(super) fn portions(rows: usize) -> Vec<Range<usize>> {
    (0..rows).step_by(ROWS_AT_ONCE).map(|first| first..(first + ROWS_AT_ONCE).min(rows)).collect()
}
