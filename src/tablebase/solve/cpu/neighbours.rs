//! The rows that are connected by quiet moves of one side's row pieces, listed once for each solved row. Passes visit a
//! row many times, and reading a list of four bytes a move, in the order of the visits, is faster than computing it
//! again.
//!
//! Quiet moves are reversible, so the lists are symmetric: if row a is in the list of row b, then b is in the list of
//! a. The list of a row contains both the rows that its moves lead to and the rows whose moves lead into it.

use crate::tablebase::index::Index;
use crate::tablebase::solve::cpu::quiet::{NeighbourRow, QuietMoves, RowNeighbours};
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::solve::error::SolveError;
use rayon::prelude::*;

/// The end of a list that is shorter than its space.
const NONE: u32 = u32::MAX;

/// The most moves of one row piece.
const MOVES: usize = 4;

/// The number of rows whose lists a task computes.
const TASK_ROWS: usize = 1024;

/// The neighbours of all solved rows by the moves of one side.
pub(crate) struct Neighbours {
    /// The space for each row's list, in entries.
    width: usize,
    /// By solved row, for each row next to it: twice its number, plus 1 if positions are reflected there. [`NONE`] ends
    /// the list.
    rows: Vec<u32>,
    /// For each entry of `rows` its index in `lane_sets`. Empty if the lane piece blocks no move.
    lanes: Vec<u8>,
    /// The sets of squares of the lane piece that allow a move.
    lane_sets: Vec<u64>,
    /// By solved row, the square of the first row piece if it is a rat that blocks leaps of the word piece. Empty if no
    /// rat blocks them.
    rats: Vec<u8>,
    /// Whether the word or the lane piece belongs to this side, so that a row is next to itself.
    within: bool,
}

impl Neighbours {
    /// The neighbours of the solved rows of an index.
    ///
    /// # Errors
    /// If the memory for the lists cannot be allocated.
    pub(crate) fn new(moves: &QuietMoves, index: &Index, rows: &Rows) -> Result<Neighbours, SolveError> {
        let width = MOVES * moves.row_pieces.len();
        let lane_sets = moves.allowed_lanes();
        let rats = if moves.first_blocks && moves.word.as_ref().is_some_and(|leaps| !leaps.is_empty()) {
            rows.len()
        } else {
            0
        };
        let mut all = Neighbours {
            width,
            rows: filled(rows.len() * width, NONE)?,
            lanes: filled(if lane_sets.len() > 1 { rows.len() * width } else { 0 }, 0)?,
            lane_sets,
            rats: (0..rats).map(|number| moves.blocking_rat(index, rows.row(number)).trailing_zeros() as u8).collect(),
            within: moves.word.is_some() || moves.lane.is_some(),
        };
        if width == 0 {
            return Ok(all);
        }
        let Neighbours { rows: lists, lanes, lane_sets, .. } = &mut all;
        let mut lanes = lanes.chunks_mut(TASK_ROWS * width);
        let tasks: Vec<_> = lists.chunks_mut(TASK_ROWS * width).map(|lists| (lists, lanes.next())).collect();
        tasks.into_par_iter().enumerate().for_each(|(task, (lists, mut lanes))| {
            for (i, list) in lists.chunks_exact_mut(width).enumerate() {
                let mut slots = list.iter_mut().enumerate();
                moves.neighbours(
                    index,
                    rows,
                    rows.row(task * TASK_ROWS + i),
                    |NeighbourRow { number, mirrored, allowed_lanes }| {
                        let (at, slot) = slots.next().expect("no row piece has more moves");
                        *slot = 2 * number + u32::from(mirrored);
                        if let Some(lanes) = &mut lanes {
                            let place =
                                lane_sets.iter().position(|&set| set == allowed_lanes).expect("all sets are there");
                            lanes[i * width + at] = place as u8;
                        }
                    },
                );
            }
        });
        Ok(all)
    }

    /// An upper bound of the bytes of the lists of `rows` rows, for both sides together.
    pub(crate) fn bytes(index: &Index, rows: usize) -> usize {
        let lanes = if index.lane_piece().animal.swims() { size_of::<u8>() } else { 0 };
        rows * (MOVES * index.row_pieces.len() * (size_of::<u32>() + lanes) + size_of::<u8>())
    }

    /// Sets `row_neighbours` to the rows that the quiet moves from a solved row lead to and for which `wanted` returns true.
    #[inline(always)]
    pub(crate) fn collect_row(
        &self,
        number: usize,
        wanted: impl Fn(usize) -> bool,
        row_neighbours: &mut RowNeighbours,
    ) {
        row_neighbours.number = number;
        row_neighbours.here = self.within && wanted(number);
        row_neighbours.rat = self.rats.get(number).map_or(0, |&square| 1 << square);
        let mut count = 0;
        let first = number * self.width;
        for (i, &entry) in self.rows[first..][..self.width].iter().enumerate() {
            if entry == NONE {
                break;
            }
            let allowed_lanes =
                if self.lanes.is_empty() { u64::MAX } else { self.lane_sets[usize::from(self.lanes[first + i])] };
            row_neighbours.rows[count] = NeighbourRow { number: entry >> 1, mirrored: entry & 1 != 0, allowed_lanes };
            count += usize::from(wanted((entry >> 1) as usize));
        }
        row_neighbours.count = count;
    }

    /// Calls `f` with every solved row from which a quiet move of this side may lead into a row.
    #[inline(always)]
    pub(crate) fn for_each(&self, number: usize, mut f: impl FnMut(usize)) {
        if self.within {
            f(number);
        }
        for &entry in &self.rows[number * self.width..][..self.width] {
            if entry == NONE {
                break;
            }
            f((entry >> 1) as usize);
        }
    }
}

fn filled<T: Copy>(len: usize, value: T) -> Result<Vec<T>, SolveError> {
    let mut all = Vec::new();
    all.try_reserve_exact(len).map_err(|_| SolveError::Memory { bytes: len * size_of::<T>() })?;
    all.resize(len, value);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Color, File, RuleOptions};
    use crate::tablebase::Classes;
    use crate::tablebase::solve::cpu::row::{Row, WORDS};
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;
    use std::collections::BTreeSet;

    /// The rows whose moves lead into a solved row or its reflection, found from the moves of all rows.
    fn slow(moves: &QuietMoves, index: &Index, rows: &Rows, number: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut add = |row: usize| found.extend(rows.place(row).map(|(number, _)| number));
        let row = rows.row(number);
        moves.rows_into(index, row, &mut add);
        let mut squares = index.row_squares(row);
        if squares.next().is_some_and(|first| first.file() == File::D) {
            let mirrored = index.row_squares(row).enumerate();
            let reflected = mirrored
                .map(|(i, square)| index.row_pieces[i].digit[square.mirror().index()] * index.row_pieces[i].stride);
            moves.rows_into(index, reflected.sum::<u32>() as usize, &mut add);
        }
        found
    }

    /// The lists contain the rows whose moves lead into a row, unwanted rows count as empty, and a side that always
    /// moves has a move in every position.
    #[test]
    fn lists_are_the_moves() {
        let mut random = Pcg64::seed_from_u64(8);
        for rules in [RuleOptions::PAPER, "chinese".parse().unwrap(), "paper,tiger-leap=files".parse().unwrap()] {
            let classes = Classes::new(&rules, 5);
            let (mut always, mut all) = (0, 0);
            for material in ["EvP", "ELTvP", "LRvTR", "ETvLR", "ELTPvR", "LTRvPR", "EvPDC"] {
                let index = Index::new(material.parse().unwrap(), &rules).unwrap();
                let rows = Rows::new(&index, classes.options());
                let valid: Vec<Row> =
                    (0..rows.len()).map(|number| Row::of_squares(&index.valid_row(rows.row(number)))).collect();
                let wanted: Vec<bool> = valid.iter().map(|_| random.next_u32() % 2 == 0).collect();
                let some: Vec<Row> =
                    valid.iter().zip(&wanted).map(|(&row, &wanted)| if wanted { row } else { Row::EMPTY }).collect();
                for moves in Color::ALL.map(|color| QuietMoves::new(&index, color, &rules)) {
                    let neighbours = Neighbours::new(&moves, &index, &rows).unwrap();
                    let reached = |plane: &[Row], row_neighbours: &RowNeighbours| {
                        let mut out = Row::EMPTY;
                        moves.reach(plane, row_neighbours, &RowNeighbours::default(), &mut out);
                        out
                    };
                    let mut row_neighbours = RowNeighbours::default();
                    for number in (0..rows.len()).step_by(if rows.len() < 10_000 { 1 } else { 17 }) {
                        let mut into = BTreeSet::new();
                        neighbours.for_each(number, |other| {
                            into.insert(other);
                        });
                        // A rat that is a row piece may block some of these moves.
                        let slow = slow(&moves, &index, &rows, number);
                        assert!(into.is_subset(&slow) && (into == slow || moves.first_blocks), "{material} {number}");
                        neighbours.collect_row(number, |_| true, &mut row_neighbours);
                        let slow = reached(&some, &row_neighbours);
                        if moves.always_moves(&row_neighbours) {
                            let quiet = reached(&valid, &row_neighbours);
                            assert!((0..WORDS).all(|s| valid[number].0[s] & !quiet.0[s] == 0), "{material} {number}");
                            always += 1;
                        }
                        neighbours.collect_row(number, |number| wanted[number], &mut row_neighbours);
                        assert_eq!(reached(&valid, &row_neighbours), slow, "{material} {number}");
                        all += 1;
                    }
                }
            }
            assert!((all / 10..all).contains(&always), "{always} of {all} rows");
        }
    }
}
