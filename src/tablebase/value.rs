use crate::board::ByColor;
use std::fmt;

/// The value that a table stores for a position, from the side to move's view. [`Value`](super::Value) is its meaning
/// under stated rules.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum CellValue {
    /// Neither side can force a win.
    Draw,
    /// The side to move has no legal move (stalemate). The rules make it a draw or a loss (in 0 plies).
    NoMove,
    /// The distance to the end in plies under best play (the winner minimizes it, the loser maximizes it): odd if the
    /// side to move wins, even (at least 2) if it loses.
    Decided(u16),
}

/// The number that encodes a value in a table: 0 for a cell without a position, 1 for a draw, 2 for no legal move, else
/// plies + 2.
pub(crate) type Code = u16;

pub(crate) const DRAW: Code = 1;
pub(crate) const NO_MOVE: Code = 2;

/// The code of a position decided in `plies`.
#[inline(always)]
pub(crate) const fn decided(plies: u16) -> Code {
    plies + 2
}

impl CellValue {
    /// The value of a code; `None` for 0, the code of cells without a position.
    #[must_use]
    pub const fn from_code(code: u16) -> Option<CellValue> {
        match code {
            0 => None,
            DRAW => Some(CellValue::Draw),
            NO_MOVE => Some(CellValue::NoMove),
            _ => Some(CellValue::Decided(code - 2)),
        }
    }

    /// The code of this value.
    #[must_use]
    pub const fn code(self) -> u16 {
        match self {
            CellValue::Draw => DRAW,
            CellValue::NoMove => NO_MOVE,
            CellValue::Decided(plies) => decided(plies),
        }
    }
}

impl fmt::Display for CellValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CellValue::Draw => f.write_str("draw"),
            CellValue::NoMove => f.write_str("no legal move"),
            CellValue::Decided(plies) if plies % 2 == 1 => write!(f, "win in {plies} plies"),
            CellValue::Decided(plies) => write!(f, "loss in {plies} plies"),
        }
    }
}

/// The codes of one side to move, cell by cell: one byte each, or two bytes each once a line is longer than 253 plies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cells {
    /// One byte for each cell.
    Byte(Vec<u8>),
    /// Two bytes for each cell.
    Wide(Vec<u16>),
}

impl Cells {
    /// The longest distance that a byte can store, in plies.
    pub const BYTE_PLIES: u16 = u8::MAX as u16 - 2;

    /// The code of a cell.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, cell: usize) -> u16 {
        self.view().get(cell)
    }

    /// `len` cells of `cell_bytes` bytes (1 or 2), all with the code 0.
    pub(crate) fn empty(cell_bytes: usize, len: usize) -> Cells {
        if cell_bytes == 1 { Cells::Byte(vec![0; len]) } else { Cells::Wide(vec![0; len]) }
    }

    /// Bytes of a cell: 1 or 2.
    pub(crate) fn cell_bytes(&self) -> usize {
        self.view().cell_bytes()
    }

    /// Number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.view().len()
    }

    /// Whether there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Cells with these codes: bytes if `like` has bytes and every code fits, else two bytes each.
    pub(crate) fn from_codes(codes: Vec<u16>, like: &Cells) -> Cells {
        match (like, codes.iter().map(|&code| u8::try_from(code)).collect()) {
            (Cells::Byte(_), Ok(bytes)) => Cells::Byte(bytes),
            _ => Cells::Wide(codes),
        }
    }

    /// A shared view of all cells.
    #[inline(always)]
    pub(crate) fn view(&self) -> CellsRef<'_> {
        match self {
            Cells::Byte(cells) => CellsRef::Byte(cells),
            Cells::Wide(cells) => CellsRef::Wide(cells),
        }
    }

    /// A mutable view of all cells.
    pub(crate) fn view_mut(&mut self) -> CellsMut<'_> {
        match self {
            Cells::Byte(cells) => CellsMut::Byte(cells),
            Cells::Wide(cells) => CellsMut::Wide(cells),
        }
    }

    /// Resizes to `len` cells, all with the code 0, and reuses the memory.
    pub(crate) fn reset(&mut self, len: usize) {
        match self {
            Cells::Byte(cells) => {
                cells.clear();
                cells.resize(len, 0);
            }
            Cells::Wide(cells) => {
                cells.clear();
                cells.resize(len, 0);
            }
        }
    }

    /// Drops all cells from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        match self {
            Cells::Byte(cells) => cells.truncate(len),
            Cells::Wide(cells) => cells.truncate(len),
        }
    }

    /// The same codes in cells of `cell_bytes` bytes (1 or 2), which every code must fit.
    pub(crate) fn with_width(self, cell_bytes: usize) -> Cells {
        match (self, cell_bytes) {
            (Cells::Byte(cells), 2) => Cells::Wide(cells.into_iter().map(u16::from).collect()),
            (Cells::Wide(cells), 1) => Cells::Byte(cells.into_iter().map(|code| code as u8).collect()),
            (cells, _) => cells,
        }
    }
}

/// A borrowed view of [`Cells`].
#[derive(Copy, Clone, Debug)]
pub(crate) enum CellsRef<'a> {
    Byte(&'a [u8]),
    Wide(&'a [u16]),
}

/// A mutable borrowed view of [`Cells`].
#[derive(Debug)]
pub(crate) enum CellsMut<'a> {
    Byte(&'a mut [u8]),
    Wide(&'a mut [u16]),
}

impl<'a> CellsRef<'a> {
    /// The code of a cell.
    #[inline(always)]
    pub(crate) fn get(self, cell: usize) -> Code {
        match self {
            CellsRef::Byte(cells) => cells[cell].into(),
            CellsRef::Wide(cells) => cells[cell],
        }
    }

    /// Bytes of a cell: 1 or 2.
    pub(crate) fn cell_bytes(self) -> usize {
        match self {
            CellsRef::Byte(_) => 1,
            CellsRef::Wide(_) => 2,
        }
    }

    /// The cells as they lie in memory.
    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            CellsRef::Byte(cells) => cells,
            CellsRef::Wide(cells) => bytemuck::cast_slice(cells),
        }
    }

    pub(crate) fn len(self) -> usize {
        match self {
            CellsRef::Byte(cells) => cells.len(),
            CellsRef::Wide(cells) => cells.len(),
        }
    }

    /// Splits the cells into chunks of `cells` cells; the last chunk may be shorter.
    pub(crate) fn chunks(self, cells: usize) -> Vec<CellsRef<'a>> {
        match self {
            CellsRef::Byte(all) => all.chunks(cells).map(CellsRef::Byte).collect(),
            CellsRef::Wide(all) => all.chunks(cells).map(CellsRef::Wide).collect(),
        }
    }

    /// The first cell with this code.
    pub(crate) fn find(self, code: Code) -> Option<usize> {
        match self {
            CellsRef::Byte(cells) => find(cells, code.try_into().ok()?),
            CellsRef::Wide(cells) => find(cells, code),
        }
    }
}

/// The first of these cells with this code. `contains` compares many cells at once.
fn find<C: Copy + PartialEq>(cells: &[C], code: C) -> Option<usize> {
    if cells.contains(&code) { cells.iter().position(|&cell| cell == code) } else { None }
}

impl<'a> CellsMut<'a> {
    /// The cells in this memory, of `cell_bytes` bytes each: 1 or 2. For 2, the memory must be aligned to two bytes.
    pub(crate) fn of(memory: &'a mut [u8], cell_bytes: usize) -> CellsMut<'a> {
        if cell_bytes == 1 { CellsMut::Byte(memory) } else { CellsMut::Wide(bytemuck::cast_slice_mut(memory)) }
    }

    /// Splits the cells into chunks of `cells` cells; the last chunk may be shorter.
    pub(crate) fn chunks(&mut self, cells: usize) -> Vec<CellsMut<'_>> {
        match self {
            CellsMut::Byte(all) => all.chunks_mut(cells).map(CellsMut::Byte).collect(),
            CellsMut::Wide(all) => all.chunks_mut(cells).map(CellsMut::Wide).collect(),
        }
    }

    /// Copies cells of the same width to the cells from `at` on.
    pub(crate) fn copy_from(&mut self, at: usize, from: CellsRef<'_>) {
        match (self, from) {
            (CellsMut::Byte(cells), CellsRef::Byte(from)) => cells[at..][..from.len()].copy_from_slice(from),
            (CellsMut::Wide(cells), CellsRef::Wide(from)) => cells[at..][..from.len()].copy_from_slice(from),
            _ => unreachable!("the cells are equally wide"),
        }
    }

    /// The cells as they lie in memory.
    #[cfg(feature = "gpu")]
    pub(crate) fn bytes(self) -> &'a mut [u8] {
        match self {
            CellsMut::Byte(cells) => cells,
            CellsMut::Wide(cells) => bytemuck::cast_slice_mut(cells),
        }
    }

    /// A mutable view of the same cells.
    pub(crate) fn reborrow(&mut self) -> CellsMut<'_> {
        match self {
            CellsMut::Byte(cells) => CellsMut::Byte(cells),
            CellsMut::Wide(cells) => CellsMut::Wide(cells),
        }
    }

    /// Splits the cells at these ascending cells. What comes before the first of them is left out.
    pub(crate) fn split_at_each(self, starts: &[usize]) -> Vec<CellsMut<'a>> {
        match self {
            CellsMut::Byte(cells) => split_at_each(cells, starts).into_iter().map(CellsMut::Byte).collect(),
            CellsMut::Wide(cells) => split_at_each(cells, starts).into_iter().map(CellsMut::Wide).collect(),
        }
    }

    /// Turns the mutable view into a shared view.
    pub(crate) fn read(self) -> CellsRef<'a> {
        match self {
            CellsMut::Byte(cells) => CellsRef::Byte(cells),
            CellsMut::Wide(cells) => CellsRef::Wide(cells),
        }
    }
}

fn split_at_each<'a, T>(cells: &'a mut [T], starts: &[usize]) -> Vec<&'a mut [T]> {
    let mut rest = cells;
    let mut parts = Vec::with_capacity(starts.len());
    // From the end, so that each split leaves what comes before.
    for &start in starts.iter().rev() {
        let (before, part) = std::mem::take(&mut rest).split_at_mut(start);
        parts.push(part);
        rest = before;
    }
    parts.reverse();
    parts
}

/// The values of a class, for both sides to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The values by side to move, in the order of the class's [`Index`](super::Index).
    pub cells: ByColor<Cells>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_cells_hold_the_same_and_more() {
        let bytes = Cells::Byte((0..=u8::MAX).collect());
        let wide = bytes.clone().with_width(2);
        assert!(matches!(wide, Cells::Wide(_)));
        assert_eq!((wide.len(), wide.is_empty()), (256, false));
        assert!((0..256).all(|cell| wide.get(cell) == bytes.get(cell)));
        assert_eq!(wide.clone().with_width(2), wide, "wide cells stay as they are");
        assert_eq!(wide.with_width(1), bytes);
        assert!(Cells::Wide(Vec::new()).is_empty() && Cells::Byte(Vec::new()).is_empty());
    }

    #[test]
    fn a_byte_holds_no_longer_line() {
        assert_eq!(u8::try_from(decided(Cells::BYTE_PLIES)), Ok(u8::MAX));
        assert!(u8::try_from(decided(Cells::BYTE_PLIES + 1)).is_err());
        let longer = decided(Cells::BYTE_PLIES + 1);
        assert_eq!(CellValue::from_code(Cells::Wide(vec![longer]).get(0)), Some(CellValue::Decided(254)));
    }

    #[test]
    fn cells_are_as_wide_as_they_must_be() {
        let (byte, wide) = (Cells::Byte(vec![]), Cells::Wide(vec![]));
        assert_eq!(Cells::from_codes(vec![0, 255], &byte), Cells::Byte(vec![0, 255]));
        assert_eq!(Cells::from_codes(vec![0, 256], &byte), Cells::Wide(vec![0, 256]));
        assert_eq!(Cells::from_codes(vec![0, 255], &wide), Cells::Wide(vec![0, 255]));
    }
}
