use crate::board::ByColor;
use std::fmt;
use std::ops::Range;

/// The value that a table stores for a position, from the view of the side to move. [`Value`](super::Value) is what it means
/// under stated rules.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum CellValue {
    /// Neither side can force a win.
    Draw,
    /// The side to move has no legal move. The rules say whether that is a draw or a loss (in 0 plies).
    NoMove,
    /// The distance to the end in plies under best play, the winner hurrying, the loser delaying: odd if the side to
    /// move wins, even (2 at least) if it loses.
    Decided(u16),
}

/// The number that stands for a value in a table: 0 no such position, 1 draw, 2 no move, plies + 2 otherwise.
pub(crate) type Code = u16;

pub(crate) const DRAW: Code = 1;
pub(crate) const NO_MOVE: Code = 2;

/// The code of a position decided in `plies`.
#[inline(always)]
pub(crate) const fn decided(plies: u16) -> Code {
    plies + 2
}

impl CellValue {
    /// The value of a code; `None` if no position has that cell.
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

/// The values of one side to move, cell by cell: bytes while they suffice, two bytes a cell once a line passes 253 plies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cells {
    /// One byte a cell.
    Byte(Vec<u8>),
    /// Two bytes a cell.
    Wide(Vec<u16>),
}

impl Cells {
    /// The longest distance that a byte holds.
    pub const BYTE_PLIES: u16 = u8::MAX as u16 - 2;

    /// The code of a cell.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, cell: usize) -> u16 {
        match self {
            Cells::Byte(cells) => u16::from(cells[cell]),
            Cells::Wide(cells) => cells[cell],
        }
    }

    /// That many of this many bytes, all without a position.
    pub(crate) fn empty(cell_bytes: usize, len: usize) -> Cells {
        if cell_bytes == 1 { Cells::Byte(vec![0; len]) } else { Cells::Wide(vec![0; len]) }
    }

    /// Bytes of a cell.
    pub(crate) fn cell_bytes(&self) -> usize {
        match self {
            Cells::Byte(_) => 1,
            Cells::Wide(_) => 2,
        }
    }

    /// Number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.view().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Cells of these codes, as wide as `like`, or wider if they must be.
    pub(crate) fn from_codes(codes: Vec<u16>, like: &Cells) -> Cells {
        match (like, codes.iter().map(|&code| u8::try_from(code)).collect()) {
            (Cells::Byte(_), Ok(bytes)) => Cells::Byte(bytes),
            _ => Cells::Wide(codes),
        }
    }

    /// All of them, to read.
    #[inline(always)]
    pub(crate) fn view(&self) -> CellsRef<'_> {
        match self {
            Cells::Byte(cells) => CellsRef::Byte(cells),
            Cells::Wide(cells) => CellsRef::Wide(cells),
        }
    }

    /// All of them, to write.
    pub(crate) fn view_mut(&mut self) -> CellsMut<'_> {
        match self {
            Cells::Byte(cells) => CellsMut::Byte(cells),
            Cells::Wide(cells) => CellsMut::Wide(cells),
        }
    }

    /// Makes room for longer lines.
    pub(crate) fn widen(&mut self) {
        if let Cells::Byte(cells) = self {
            *self = Cells::Wide(cells.iter().map(|&c| u16::from(c)).collect());
        }
    }
}

/// [`Cells`] that lie in memory of something else.
#[derive(Copy, Clone, Debug)]
pub(crate) enum CellsRef<'a> {
    Byte(&'a [u8]),
    Wide(&'a [u16]),
}

/// The same, to be written.
#[derive(Debug)]
pub(crate) enum CellsMut<'a> {
    Byte(&'a mut [u8]),
    Wide(&'a mut [u16]),
}

impl<'a> CellsRef<'a> {
    /// A range of them.
    pub(crate) fn range(self, range: Range<usize>) -> CellsRef<'a> {
        match self {
            CellsRef::Byte(cells) => CellsRef::Byte(&cells[range]),
            CellsRef::Wide(cells) => CellsRef::Wide(&cells[range]),
        }
    }

    pub(crate) fn len(self) -> usize {
        match self {
            CellsRef::Byte(cells) => cells.len(),
            CellsRef::Wide(cells) => cells.len(),
        }
    }
}

impl<'a> CellsMut<'a> {
    /// The cells in this memory, of one or two bytes each.
    pub(crate) fn of(memory: &'a mut [u8], cell_bytes: usize) -> CellsMut<'a> {
        if cell_bytes == 1 { CellsMut::Byte(memory) } else { CellsMut::Wide(bytemuck::cast_slice_mut(memory)) }
    }

    /// In pieces of this many cells, the last of what is left.
    pub(crate) fn chunks(&mut self, cells: usize) -> Vec<CellsMut<'_>> {
        match self {
            CellsMut::Byte(all) => all.chunks_mut(cells).map(CellsMut::Byte).collect(),
            CellsMut::Wide(all) => all.chunks_mut(cells).map(CellsMut::Wide).collect(),
        }
    }

    /// Nothing more is written.
    pub(crate) fn read(self) -> CellsRef<'a> {
        match self {
            CellsMut::Byte(cells) => CellsRef::Byte(cells),
            CellsMut::Wide(cells) => CellsRef::Wide(cells),
        }
    }
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
        let bytes: Vec<u8> = (0..=u8::MAX).collect();
        let mut cells = Cells::Byte(bytes.clone());
        cells.widen();
        assert!(matches!(cells, Cells::Wide(_)));
        assert_eq!((cells.len(), cells.is_empty()), (256, false));
        for (cell, &byte) in bytes.iter().enumerate() {
            assert_eq!(cells.get(cell), u16::from(byte));
            assert_eq!(cells.get(cell), Cells::Byte(bytes.clone()).get(cell));
        }
        let once = cells.clone();
        cells.widen();
        assert_eq!(cells, once, "wide cells stay as they are");
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
