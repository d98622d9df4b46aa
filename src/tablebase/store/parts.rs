//! The values of a class that do not fit into memory uncompressed. The class is solved once for each part: a range of
//! rows for one side to move, whose values are then compressed and kept.

use super::codec::{Layout, compress, decompress};
use super::file::Values;
use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::index::{Index, ROW_CELLS};
use crate::tablebase::solve::cpu::rows::{Rows, copy_row};
use crate::tablebase::value::{Cells, CellsRef};
use crate::tablebase::{Material, Stats};
use rayon::prelude::*;
use std::io;
use std::ops::Range;

/// Number of rows in a compressed block.
const BLOCK_ROWS: usize = 8;
/// Compression level of zstd.
const LEVEL: i32 = 1;

/// The values of a class, compressed.
pub(crate) struct Parts {
    index: Index,
    rows: Rows,
    layout: Layout,
    cell_bytes: usize,
    parts: ByColor<Vec<Part>>,
    /// For each side to move the first cell with the longest distance.
    deepest: ByColor<Option<usize>>,
}

/// A range of rows.
struct Part {
    rows: Range<usize>,
    blocks: Vec<Box<[u8]>>,
}

/// The block that was decompressed last: its first row and its cells.
type Last = Option<(usize, Cells)>;

impl Parts {
    /// No parts yet.
    pub(super) fn new(material: Material, rules: &RuleOptions) -> Parts {
        let index = Index::new(material).expect("no class has more pieces than an index");
        Parts {
            rows: Rows::new(&index, rules),
            layout: Layout::new(&index),
            index,
            cell_bytes: 1,
            parts: ByColor::default(),
            deepest: ByColor::default(),
        }
    }

    /// Adds the cells of the next rows of a side to move. Rows that are not solved (see [`Rows`]) are never read.
    ///
    /// # Errors
    /// If compression fails.
    pub(super) fn push(&mut self, color: Color, rows: Range<usize>, cells: &Cells) -> io::Result<()> {
        let firsts: Vec<usize> = (0..rows.len()).step_by(BLOCK_ROWS).collect();
        let block = |&first: &usize| {
            let end = (first + BLOCK_ROWS).min(rows.len());
            let cells = cells.view().range(first * ROW_CELLS..end * ROW_CELLS);
            compress(&self.layout.gather(cells), LEVEL)
        };
        let blocks = firsts.par_iter().map(block).collect::<io::Result<_>>()?;
        self.cell_bytes = cells.cell_bytes();
        self.parts[color].push(Part { rows, blocks });
        Ok(())
    }

    /// Sets the first cell with the longest distance of each side to move.
    pub(super) fn set_deepest(&mut self, deepest: ByColor<Option<usize>>) {
        self.deepest = deepest;
    }

    /// The cells of a row. Decompresses its block into `last` unless `last` already contains it.
    fn row<'a>(&self, color: Color, row: usize, last: &'a mut Last) -> CellsRef<'a> {
        let parts = &self.parts[color];
        let part = &parts[parts.partition_point(|part| part.rows.end <= row)];
        let number = (row - part.rows.start) / BLOCK_ROWS;
        let first = part.rows.start + number * BLOCK_ROWS;
        if last.as_ref().is_none_or(|&(before, _)| before != first) {
            let len = BLOCK_ROWS.min(part.rows.end - first);
            let bytes = decompress(&part.blocks[number], len * self.layout.row_len() * self.cell_bytes);
            let mut cells = Cells::empty(self.cell_bytes, len * ROW_CELLS);
            let bytes = bytes.expect("what was compressed here");
            self.layout.scatter(&bytes, cells.view_mut(), first, |row| self.index.valid_row(row));
            *last = Some((first, cells));
        }
        let at = (row - first) * ROW_CELLS;
        let (_, cells) = last.as_ref().expect("it was unpacked");
        cells.view().range(at..at + ROW_CELLS)
    }
}

impl Values for Parts {
    fn cell_bytes(&self) -> usize {
        self.cell_bytes
    }

    fn rows<T>(&self, color: Color, rows: Range<usize>, f: impl FnOnce(CellsRef<'_>) -> T) -> T {
        let mut cells = Cells::empty(self.cell_bytes, rows.len() * ROW_CELLS);
        // A row that is not solved equals a solved row (possibly mirrored) in another block than its neighbours.
        let (mut own, mut like) = (None, None);
        for (at, row) in rows.enumerate() {
            let Some((number, mirrored)) = self.rows.place(row) else { continue };
            let solved = self.rows.row(number);
            let from = self.row(color, solved, if solved == row { &mut own } else { &mut like });
            let to = at * ROW_CELLS..(at + 1) * ROW_CELLS;
            match (from, &mut cells) {
                (CellsRef::Byte(from), Cells::Byte(cells)) => copy_row(from, mirrored, &mut cells[to]),
                (CellsRef::Wide(from), Cells::Wide(cells)) => copy_row(from, mirrored, &mut cells[to]),
                _ => unreachable!("all parts are of one width"),
            }
        }
        f(cells.view())
    }

    fn deepest(&self, color: Color, _: &Stats) -> Option<usize> {
        self.deepest[color]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::Solver;

    /// Parts of any size, with narrow and with wide cells, return every row, including rows that are not solved.
    #[test]
    fn every_row_comes_back() {
        let rules = RuleOptions::PAPER;
        let mut not_solved = 0;
        for name in ["EPvLR", "CDvE", "CDvER"] {
            let material: Material = name.parse().unwrap();
            let solver = Solver::solved_material(&rules, material).unwrap();
            let id = solver.classes().member(material).unwrap().class;
            let mut table = solver.table(id).unwrap().clone();
            for widen in [false, true] {
                if widen {
                    Color::ALL.iter().for_each(|&color| table.cells[color].widen());
                }
                let mut parts = Parts::new(solver.classes().get(id).representative, &rules);
                let rows = parts.index.rows;
                for color in Color::ALL {
                    let mut cells = table.cells[color].clone();
                    for row in
                        (0..rows).filter(|&row| parts.rows.place(row).is_none_or(|(n, _)| parts.rows.row(n) != row))
                    {
                        not_solved += 1;
                        let all = row * ROW_CELLS..(row + 1) * ROW_CELLS;
                        match &mut cells {
                            Cells::Byte(cells) => cells[all].fill(0),
                            Cells::Wide(cells) => cells[all].fill(0),
                        }
                    }
                    for part in [0..1, 1..1, 1..rows / 2, rows / 2..rows] {
                        let of_part = match &cells {
                            Cells::Byte(cells) => {
                                Cells::Byte(cells[part.start * ROW_CELLS..part.end * ROW_CELLS].to_vec())
                            }
                            Cells::Wide(cells) => {
                                Cells::Wide(cells[part.start * ROW_CELLS..part.end * ROW_CELLS].to_vec())
                            }
                        };
                        parts.push(color, part, &of_part).unwrap();
                    }
                }
                assert_eq!(parts.cell_bytes(), table.cell_bytes());
                for color in Color::ALL {
                    for rows in [0..rows, rows / 3..rows / 3 + 1, rows / 2 - 1..rows] {
                        let expected = table.rows(color, rows.clone(), |cells| format!("{cells:?}"));
                        assert!(parts.rows(color, rows, |cells| format!("{cells:?}")) == expected, "{name}");
                    }
                }
            }
        }
        assert!(not_solved > 0);
    }
}
