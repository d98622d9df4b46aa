use super::Square;
use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Sub};

/// A set of squares: bit `Square::index` of a 64-bit word. Bit 63 is never set.
#[derive(Copy, Clone, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Bitboard(u64);

impl Bitboard {
    /// No square.
    pub const EMPTY: Bitboard = Bitboard(0);
    /// All 63 squares.
    pub const FULL: Bitboard = Bitboard((1 << 63) - 1);

    /// The set whose bits are `bits`; bit 63 is dropped.
    #[inline(always)]
    #[must_use]
    pub const fn new(bits: u64) -> Bitboard {
        Bitboard(bits & Bitboard::FULL.0)
    }

    /// The bits, square a1 lowest.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The set of these squares.
    #[must_use]
    pub const fn of(squares: &[Square]) -> Bitboard {
        let mut bits = 0;
        let mut i = 0;
        while i < squares.len() {
            bits |= 1 << squares[i].index();
            i += 1;
        }
        Bitboard(bits)
    }

    /// All squares of a file, 0 (a) to 6 (g).
    #[must_use]
    pub const fn file(file: usize) -> Bitboard {
        Bitboard((0x0102_0408_1020_4081 & Bitboard::FULL.0) << file & Bitboard::FULL.0)
    }

    #[inline(always)]
    #[must_use]
    pub const fn contains(self, square: Square) -> bool {
        self.0 >> square.index() & 1 != 0
    }

    #[inline(always)]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of squares.
    #[inline(always)]
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The square of lowest index.
    #[inline(always)]
    #[must_use]
    pub const fn first(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square::lowest(self.0)) }
    }

    /// Reflection in the d-file.
    #[must_use]
    pub fn mirror(self) -> Bitboard {
        self.into_iter().map(Square::mirror).collect()
    }

    /// Reflection in the fifth rank.
    #[must_use]
    pub fn flip(self) -> Bitboard {
        self.into_iter().map(Square::flip).collect()
    }
}

impl From<Square> for Bitboard {
    #[inline(always)]
    fn from(square: Square) -> Bitboard {
        Bitboard(1 << square.index())
    }
}

impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Bitboard {
        squares.into_iter().fold(Bitboard::EMPTY, |set, square| set | square.into())
    }
}

impl IntoIterator for Bitboard {
    type Item = Square;
    type IntoIter = Squares;

    #[inline(always)]
    fn into_iter(self) -> Squares {
        Squares(self.0)
    }
}

/// The squares of a [`Bitboard`], lowest index first.
#[derive(Clone, Debug)]
pub struct Squares(u64);

impl Iterator for Squares {
    type Item = Square;

    #[inline(always)]
    fn next(&mut self) -> Option<Square> {
        if self.0 == 0 {
            return None;
        }
        let square = Square::lowest(self.0);
        self.0 &= self.0 - 1;
        Some(square)
    }
}

impl BitAnd for Bitboard {
    type Output = Bitboard;
    #[inline(always)]
    fn bitand(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 & other.0)
    }
}

impl BitOr for Bitboard {
    type Output = Bitboard;
    #[inline(always)]
    fn bitor(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 | other.0)
    }
}

impl BitXor for Bitboard {
    type Output = Bitboard;
    #[inline(always)]
    fn bitxor(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 ^ other.0)
    }
}

/// Set difference.
impl Sub for Bitboard {
    type Output = Bitboard;
    #[inline(always)]
    fn sub(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 & !other.0)
    }
}

/// The complement within the board.
impl Not for Bitboard {
    type Output = Bitboard;
    #[inline(always)]
    fn not(self) -> Bitboard {
        Bitboard(!self.0 & Bitboard::FULL.0)
    }
}

impl BitAndAssign for Bitboard {
    #[inline(always)]
    fn bitand_assign(&mut self, other: Bitboard) {
        self.0 &= other.0;
    }
}

impl BitOrAssign for Bitboard {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Bitboard) {
        self.0 |= other.0;
    }
}

impl BitXorAssign for Bitboard {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Bitboard) {
        self.0 ^= other.0;
    }
}

/// Nine lines, rank 9 first, `1` for a member.
impl fmt::Debug for Bitboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in (0..9).rev() {
            writeln!(f)?;
            for file in 0..7 {
                f.write_str(if self.0 >> (rank * 7 + file) & 1 != 0 { "1 " } else { ". " })?;
            }
        }
        Ok(())
    }
}
