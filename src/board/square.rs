use super::{File, Rank};
use std::fmt;

/// One of the 63 squares. The index is `rank * 7 + file`, both from 0, so a1 = 0, g1 = 6, a2 = 7, g9 = 62:
///
/// ```text
/// 9 | 56 57 58 59 60 61 62      . . ^ # ^ . .     # den
/// 8 | 49 50 51 52 53 54 55      . . . ^ . . .     ^ trap
/// 7 | 42 43 44 45 46 47 48      . . . . . . .     ~ water
/// 6 | 35 36 37 38 39 40 41      . ~ ~ . ~ ~ .
/// 5 | 28 29 30 31 32 33 34      . ~ ~ . ~ ~ .
/// 4 | 21 22 23 24 25 26 27      . ~ ~ . ~ ~ .
/// 3 | 14 15 16 17 18 19 20      . . . . . . .
/// 2 |  7  8  9 10 11 12 13      . . . ^ . . .
/// 1 |  0  1  2  3  4  5  6      . . ^ # ^ . .
///     a  b  c  d  e  f  g       a b c d e f g
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[rustfmt::skip]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Square {
    A1, B1, C1, D1, E1, F1, G1,
    A2, B2, C2, D2, E2, F2, G2,
    A3, B3, C3, D3, E3, F3, G3,
    A4, B4, C4, D4, E4, F4, G4,
    A5, B5, C5, D5, E5, F5, G5,
    A6, B6, C6, D6, E6, F6, G6,
    A7, B7, C7, D7, E7, F7, G7,
    A8, B8, C8, D8, E8, F8, G8,
    A9, B9, C9, D9, E9, F9, G9,
}

/// Every square by index. Entry 63 repeats g9: an index masked to 6 bits needs no bounds check.
#[rustfmt::skip]
const BY_INDEX: [Square; 64] = [
        Square::A1, Square::B1, Square::C1, Square::D1, Square::E1, Square::F1, Square::G1,
        Square::A2, Square::B2, Square::C2, Square::D2, Square::E2, Square::F2, Square::G2,
        Square::A3, Square::B3, Square::C3, Square::D3, Square::E3, Square::F3, Square::G3,
        Square::A4, Square::B4, Square::C4, Square::D4, Square::E4, Square::F4, Square::G4,
        Square::A5, Square::B5, Square::C5, Square::D5, Square::E5, Square::F5, Square::G5,
        Square::A6, Square::B6, Square::C6, Square::D6, Square::E6, Square::F6, Square::G6,
        Square::A7, Square::B7, Square::C7, Square::D7, Square::E7, Square::F7, Square::G7,
        Square::A8, Square::B8, Square::C8, Square::D8, Square::E8, Square::F8, Square::G8,
        Square::A9, Square::B9, Square::C9, Square::D9, Square::E9, Square::F9, Square::G9,
        Square::G9,
];

impl Square {
    /// Number of squares.
    pub const COUNT: usize = 63;

    /// The square of an index below 63.
    #[inline]
    #[must_use]
    pub const fn new(index: usize) -> Option<Square> {
        if index < Square::COUNT { Some(BY_INDEX[index]) } else { None }
    }

    /// The square of the lowest set bit. `bits` must not be 0 (the result would be g9).
    #[inline(always)]
    #[must_use]
    pub(crate) const fn lowest(bits: u64) -> Square {
        BY_INDEX[(bits.trailing_zeros() & 63) as usize]
    }

    /// The square where a file and a rank meet.
    ///
    /// ```
    /// use doushouqi::board::{File, Rank, Square};
    /// assert_eq!(Square::from_coords(File::C, Rank::Seventh), Square::C7);
    /// ```
    #[inline]
    #[must_use]
    pub const fn from_coords(file: File, rank: Rank) -> Square {
        BY_INDEX[rank.index() * File::COUNT + file.index()]
    }

    /// All squares in index order.
    pub fn all() -> impl DoubleEndedIterator<Item = Square> + ExactSizeIterator + Clone {
        BY_INDEX[..Square::COUNT].iter().copied()
    }

    /// The index, 0 to 62.
    #[inline(always)]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The file.
    #[inline]
    #[must_use]
    pub const fn file(self) -> File {
        File::ALL[self.index() % File::COUNT]
    }

    /// The rank.
    #[inline]
    #[must_use]
    pub const fn rank(self) -> Rank {
        Rank::ALL[self.index() / File::COUNT]
    }

    /// The least number of single steps to another square: file distance plus rank distance.
    ///
    /// ```
    /// use doushouqi::board::Square;
    /// assert_eq!(Square::A1.distance(Square::C4), 5);
    /// ```
    #[inline]
    #[must_use]
    pub const fn distance(self, other: Square) -> usize {
        self.file().distance(other.file()) + self.rank().distance(other.rank())
    }

    /// Reflection in file d, which maps the board onto itself: a3 becomes g3.
    #[inline]
    #[must_use]
    pub const fn mirror(self) -> Square {
        Square::from_coords(self.file().mirror(), self.rank())
    }

    /// Reflection in the fifth rank, which exchanges the sides: a3 becomes a7.
    #[inline]
    #[must_use]
    pub const fn flip(self) -> Square {
        Square::from_coords(self.file(), self.rank().flip())
    }

    /// Rotation by 180 degrees, which exchanges the sides: a3 becomes g7.
    #[inline]
    #[must_use]
    pub const fn rotate(self) -> Square {
        BY_INDEX[62 - self.index()]
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.file(), self.rank())
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
