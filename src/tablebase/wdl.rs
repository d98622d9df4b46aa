//! Win, draw or loss of every position of few pieces, in memory, for the search: two bits for each position.

use super::address::{Address, Addresser};
use super::{
    CellValue, ClassId, Classes, Index, Probe, ProbeWdl, ROW_CELLS, SetError, SolveError, Solver, Table, TableProber,
    Value, Wdl,
};
use crate::board::{ByColor, Color, Lanes, NoMove, Position, RuleOptions, Rules};
use crate::memory::{Memory, has_memory};
use crate::tablebase::layout::Layout;
use rayon::prelude::*;

/// The result of every position of up to some number of pieces, for both sides to move: about 330 MB for four pieces.
/// A probe takes about 100 ns, mostly memory latency.
pub struct WdlTables {
    rules: Rules,
    pieces: usize,
    /// The plies of the longest win or loss of each class.
    longest: Vec<u32>,
    /// The values of all classes, four to a byte.
    packed: Memory,
    /// By class and side to move, the byte in `packed` where the values start.
    starts: Vec<ByColor<usize>>,
    addresser: Addresser,
}

const DRAW: u8 = 0;
const WIN: u8 = 1;
const LOSS: u8 = 2;
/// The value of every position of a class that could not be read.
const UNKNOWN: u8 = 3;

impl WdlTables {
    /// Solves all materials of up to `pieces` pieces. For four pieces that takes less time than reading their tables.
    ///
    /// # Errors
    /// If the materials cannot be solved or the memory cannot be allocated.
    pub fn solve(rules: &RuleOptions, pieces: usize) -> Result<WdlTables, SolveError> {
        let solver = Solver::solved(rules, pieces)?;
        let classes = solver.classes();
        check_memory(classes)?;
        let packed = (0..classes.len())
            .into_par_iter()
            .map(|i| pack(classes, ClassId(i), solver.table(ClassId(i)).expect("the class is solved and kept")))
            .collect();
        WdlTables::new(classes, packed)
    }

    /// Reads the tables of up to `pieces` pieces from a directory.
    ///
    /// # Errors
    /// If a table is missing or damaged, or the memory cannot be allocated.
    pub fn read(tables: &TableProber, pieces: usize) -> Result<WdlTables, SetError> {
        let (wdl, faults) = WdlTables::read_intact(tables, pieces)?;
        faults.into_iter().next().map_or(Ok(wdl), Err)
    }

    /// As [`WdlTables::read`], but does not know the values of classes that cannot be read. Returns an error for each.
    ///
    /// # Errors
    /// If the memory cannot be allocated.
    pub(crate) fn read_intact(tables: &TableProber, pieces: usize) -> Result<(WdlTables, Vec<SetError>), SolveError> {
        let classes = Classes::new(tables.rules().options(), pieces);
        check_memory(&classes)?;
        let read = |i| match tables.set().table(ClassId(i)) {
            Ok(table) => (pack(&classes, ClassId(i), &table), None),
            Err(fault) => (unknown(&classes, ClassId(i)), Some(fault)),
        };
        let (packed, faults): (Vec<_>, Vec<_>) = (0..classes.len()).into_par_iter().map(read).unzip();
        Ok((WdlTables::new(&classes, packed)?, faults.into_iter().flatten().collect()))
    }

    fn new(classes: &Classes, packed_classes: Vec<(ByColor<Vec<u8>>, u32)>) -> Result<WdlTables, SolveError> {
        let longest = packed_classes.iter().map(|&(_, longest)| longest).collect();
        let sides = packed_classes.into_iter().map(|(sides, _)| sides).collect::<Vec<_>>();
        let bytes = sides.iter().map(|side| side.white.len() + side.black.len()).sum();
        let mut packed = Memory::zeroed(bytes).ok_or(SolveError::Memory { bytes })?;
        let mut end = 0;
        let mut put = |values: Vec<u8>| {
            let start = end;
            end += values.len();
            packed[start..end].copy_from_slice(&values);
            start
        };
        let starts = sides.into_iter().map(|side| side.map(&mut put)).collect();
        let layouts: Vec<Layout> = classes.iter().map(|(_, class)| Layout::new(&class.index())).collect();
        let addresser = Addresser::with_offsets(classes, |id, index, slot, square| match index.row_pieces.get(slot) {
            Some(_) => (index.offset(slot, square) / ROW_CELLS * layouts[id.0].row_len()) as u64,
            None if slot == index.row_pieces.len() => u64::from(layouts[id.0].word_offset(square)),
            None => u64::from(layouts[id.0].lane_offset(square)),
        });
        let rules = Rules::new(*classes.options());
        Ok(WdlTables { rules, pieces: classes.pieces(), longest, packed, starts, addresser })
    }

    /// The rules of the values. Their repetition rule has no effect on values.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The largest number of pieces.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// The number of plies of the longest win or loss.
    #[must_use]
    pub fn longest(&self) -> u32 {
        self.longest.iter().copied().max().unwrap_or(0)
    }

    /// Win, draw or loss from the side to move's view; `None` for a position with too many pieces, of a class that could
    /// not be read, or of a finished game.
    #[inline]
    #[must_use]
    pub fn probe(&self, position: &Position) -> Option<Wdl> {
        if position.winner().is_some() {
            return None;
        }
        let lanes = [position.lanes(Color::White), position.lanes(Color::Black)];
        self.probe_lanes(lanes, position.turn()).map(|(wdl, _)| wdl)
    }

    /// Probes a position whose game is known not to be over, given the lanes of White and Black. Returns the result, and
    /// the plies of the longest win or loss of the position's class.
    #[inline]
    pub(crate) fn probe_lanes(&self, lanes: [&Lanes; 2], turn: Color) -> Option<(Wdl, u32)> {
        let Address { class, turn, cell: number } = self.addresser.locate_lanes(lanes, turn)?;
        let wdl = match self.packed[self.starts[class.0][turn] + number / 4] >> (number % 4 * 2) & 3 {
            WIN => Wdl::Win,
            LOSS => Wdl::Loss,
            DRAW => Wdl::Draw,
            _ => return None,
        };
        Some((wdl, self.longest[class.0]))
    }
}

impl ProbeWdl for WdlTables {
    type Error = std::convert::Infallible;

    fn wdl(&self, position: &Position) -> Result<Option<Wdl>, Self::Error> {
        Ok(match Value::of_finished(position) {
            Some(value) => Some(value.wdl),
            None => self.probe(position),
        })
    }
}

/// The bytes of a side to move.
fn packed_len(index: &Index, layout: &Layout) -> usize {
    (index.rows * layout.row_len()).div_ceil(4)
}

/// Whether there is memory for the values of each class, and then for those of all classes in one block.
fn check_memory(classes: &Classes) -> Result<(), SolveError> {
    let class_bytes = |index: Index| 2 * packed_len(&index, &Layout::new(&index));
    let bytes = 2 * classes.iter().map(|(_, class)| class_bytes(class.index())).sum::<usize>();
    if has_memory(bytes) { Ok(()) } else { Err(SolveError::Memory { bytes }) }
}

/// The values of a class that could not be read.
fn unknown(classes: &Classes, id: ClassId) -> (ByColor<Vec<u8>>, u32) {
    let index = classes.get(id).index();
    let bytes = packed_len(&index, &Layout::new(&index));
    (ByColor::from_fn(|_| vec![UNKNOWN * 0b0101_0101; bytes]), 0)
}

/// The values of a class, four to a byte, and the number of plies of the longest win or loss. Contains only the cells
/// that a file stores.
fn pack(classes: &Classes, id: ClassId, table: &Table) -> (ByColor<Vec<u8>>, u32) {
    let index = classes.get(id).index();
    let layout = Layout::new(&index);
    let no_move = if classes.options().no_move == NoMove::Loss { LOSS } else { DRAW };
    let mut longest = 0;
    let sides = ByColor::from_fn(|turn| {
        let mut packed = vec![0; packed_len(&index, &layout)];
        for row in 0..index.rows {
            for (i, cell) in layout.cells().enumerate() {
                let value = CellValue::from_code(table.cells[turn].get(row * ROW_CELLS + cell));
                if let Some(CellValue::Decided(plies)) = value {
                    longest = longest.max(plies.into());
                }
                let value = match value {
                    Some(CellValue::Decided(plies)) if plies % 2 == 1 => WIN,
                    Some(CellValue::Decided(_)) => LOSS,
                    Some(CellValue::NoMove) => no_move,
                    Some(CellValue::Draw) | None => DRAW,
                };
                let number = row * layout.row_len() + i;
                packed[number / 4] |= value << (number % 4 * 2);
            }
        }
        packed
    });
    (sides, longest)
}
