use super::{File, Rank, Square};
use std::fmt;
use std::iter::FusedIterator;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Sub, SubAssign};

/// A set of squares: bit [`Square::index`] of a 64-bit word. Bit 63 is never set.
///
/// Sets are combined with `|`, `&`, `^`, `-` (difference) and `!` (complement within the board). `Display` writes a set
/// as it looks on the board, rank 9 first, and `FromStr` reads it:
///
/// ```
/// use doushouqi::board::{Bitboard, ParseNameError, geometry::WATER};
///
/// let lakes: Bitboard = "
///     . . . . . . .
///     . . . . . . .
///     . . . . . . .
///     . 1 1 . 1 1 .
///     . 1 1 . 1 1 .
///     . 1 1 . 1 1 .
///     . . . . . . .
///     . . . . . . .
///     . . . . . . .
/// ".parse()?;
/// assert_eq!(lakes, WATER);
/// assert_eq!(lakes.len(), 12);
/// # Ok::<(), ParseNameError>(())
/// ```
#[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Bitboard(u64);

impl Bitboard {
    /// No square.
    pub const EMPTY: Bitboard = Bitboard(0);
    /// All 63 squares.
    pub(crate) const FULL: Bitboard = Bitboard((1 << 63) - 1);

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
        let mut set = Bitboard::EMPTY;
        let mut i = 0;
        while i < squares.len() {
            set = set.with(squares[i]);
            i += 1;
        }
        set
    }

    /// All squares of a file.
    ///
    /// ```
    /// # use doushouqi::board::{Bitboard, File};
    /// let b: Bitboard = "
    ///     . 1 . . . . .
    ///     . 1 . . . . .
    ///     . 1 . . . . .
    ///     . 1 . . . . .
    ///     . 1 . . . . .
    ///     . 1 . . . . .
    ///     . 1 . . . . .
    ///     . 1 . . . . .
    ///     . 1 . . . . .
    /// ".parse()?;
    /// assert_eq!(Bitboard::file(File::B), b);
    /// # Ok::<(), doushouqi::board::ParseNameError>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn file(file: File) -> Bitboard {
        // Bits 0, 7, 14 and so on to 56.
        Bitboard(0x0102_0408_1020_4081 << file.index())
    }

    /// All squares of a rank.
    ///
    /// ```
    /// # use doushouqi::board::{Bitboard, Rank};
    /// let second: Bitboard = "
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     1 1 1 1 1 1 1
    ///     . . . . . . .
    /// ".parse()?;
    /// assert_eq!(Bitboard::rank(Rank::Second), second);
    /// # Ok::<(), doushouqi::board::ParseNameError>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn rank(rank: Rank) -> Bitboard {
        Bitboard(0x7f << (File::COUNT * rank.index()))
    }

    /// Whether a square is in the set.
    #[inline(always)]
    #[must_use]
    pub const fn contains(self, square: Square) -> bool {
        self.0 >> square.index() & 1 != 0
    }

    /// Whether the set is empty.
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

    /// The set with a square added.
    ///
    /// ```
    /// # use doushouqi::board::{Bitboard, Rank, Square};
    /// let set: Bitboard = "
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . 1 . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     1 1 1 . 1 1 1
    /// ".parse()?;
    /// assert_eq!(Bitboard::rank(Rank::First).without(Square::D1).with(Square::D6), set);
    /// # Ok::<(), doushouqi::board::ParseNameError>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub const fn with(self, square: Square) -> Bitboard {
        Bitboard(self.0 | 1 << square.index())
    }

    /// The set without a square.
    #[inline(always)]
    #[must_use]
    pub const fn without(self, square: Square) -> Bitboard {
        Bitboard(self.0 & !(1 << square.index()))
    }

    /// The square of lowest index.
    #[inline(always)]
    #[must_use]
    pub const fn first(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square::lowest(self.0)) }
    }

    /// The square of highest index.
    #[inline]
    #[must_use]
    pub const fn last(self) -> Option<Square> {
        if self.0 == 0 { None } else { Square::new(self.0.ilog2() as usize) }
    }

    /// Adds a square. Returns false if the set already contained it.
    #[inline]
    pub const fn insert(&mut self, square: Square) -> bool {
        let fresh = !self.contains(square);
        *self = self.with(square);
        fresh
    }

    /// Removes a square. Returns false if the set did not contain it.
    #[inline]
    pub const fn remove(&mut self, square: Square) -> bool {
        let found = self.contains(square);
        *self = self.without(square);
        found
    }

    /// Reflection in file d.
    ///
    /// ```
    /// # use doushouqi::board::Bitboard;
    /// let set: Bitboard = "
    ///     . . . . . . .
    ///     1 1 1 . . . .
    ///     1 . . . . . .
    ///     1 1 . . . . .
    ///     1 . . . . . .
    ///     1 . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    /// ".parse()?;
    /// let mirrored: Bitboard = "
    ///     . . . . . . .
    ///     . . . . 1 1 1
    ///     . . . . . . 1
    ///     . . . . . 1 1
    ///     . . . . . . 1
    ///     . . . . . . 1
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    /// ".parse()?;
    /// assert_eq!(set.mirror(), mirrored);
    /// # Ok::<(), doushouqi::board::ParseNameError>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn mirror(self) -> Bitboard {
        Bitboard(mirror_word(self.0))
    }

    /// Reflection in the fifth rank.
    #[must_use]
    pub const fn flip(self) -> Bitboard {
        let mut flipped = 0;
        let mut rank = 0;
        while rank < Rank::COUNT {
            flipped |= (self.0 >> (File::COUNT * rank) & 0x7f) << (File::COUNT * (Rank::COUNT - 1 - rank));
            rank += 1;
        }
        Bitboard(flipped)
    }

    /// Rotation by 180 degrees.
    ///
    /// ```
    /// # use doushouqi::board::{Bitboard, Square};
    /// let set = Bitboard::of(&[Square::A1, Square::C2]);
    /// assert_eq!(set.rotate(), Bitboard::of(&[Square::G9, Square::E8]));
    /// assert_eq!(set.rotate(), set.mirror().flip());
    /// ```
    #[inline]
    #[must_use]
    pub const fn rotate(self) -> Bitboard {
        Bitboard(self.0.reverse_bits() >> 1)
    }
}

/// [`Bitboard::mirror`] on a bare word; bit 63 of the result is 0.
#[inline(always)]
pub(crate) const fn mirror_word(word: u64) -> u64 {
    const A: u64 = Bitboard::file(File::A).0;
    const G: u64 = Bitboard::file(File::G).0;
    word << 6 & G
        | word << 4 & G >> 1
        | word << 2 & G >> 2
        | word & A << 3
        | word >> 2 & A << 2
        | word >> 4 & A << 1
        | word >> 6 & A
}

impl From<Square> for Bitboard {
    #[inline(always)]
    fn from(square: Square) -> Bitboard {
        Bitboard::EMPTY.with(square)
    }
}

impl From<File> for Bitboard {
    #[inline]
    fn from(file: File) -> Bitboard {
        Bitboard::file(file)
    }
}

impl From<Rank> for Bitboard {
    #[inline]
    fn from(rank: Rank) -> Bitboard {
        Bitboard::rank(rank)
    }
}

impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Bitboard {
        squares.into_iter().fold(Bitboard::EMPTY, Bitboard::with)
    }
}

impl Extend<Square> for Bitboard {
    fn extend<I: IntoIterator<Item = Square>>(&mut self, squares: I) {
        *self |= squares.into_iter().collect();
    }
}

impl IntoIterator for Bitboard {
    type Item = Square;
    type IntoIter = Squares;

    #[inline(always)]
    fn into_iter(self) -> Squares {
        Squares(self)
    }
}

/// The squares of a [`Bitboard`], lowest index first.
#[derive(Clone, Debug)]
pub struct Squares(Bitboard);

impl Iterator for Squares {
    type Item = Square;

    #[inline(always)]
    fn next(&mut self) -> Option<Square> {
        let first = self.0.first();
        self.0.0 &= self.0.0.wrapping_sub(1);
        first
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl DoubleEndedIterator for Squares {
    #[inline]
    fn next_back(&mut self) -> Option<Square> {
        let last = self.0.last()?;
        self.0.remove(last);
        Some(last)
    }
}

impl ExactSizeIterator for Squares {}
impl FusedIterator for Squares {}

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
///
/// ```
/// # use doushouqi::board::{Bitboard, File, Rank};
/// let set: Bitboard = "
///     . . . 1 . . .
///     . . . 1 . . .
///     . . . 1 . . .
///     . . . 1 . . .
///     . . . . . . .
///     . . . 1 . . .
///     . . . 1 . . .
///     . . . 1 . . .
///     . . . 1 . . .
/// ".parse()?;
/// assert_eq!(Bitboard::file(File::D) - Bitboard::rank(Rank::Fifth), set);
/// # Ok::<(), doushouqi::board::ParseNameError>(())
/// ```
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
        Bitboard::new(!self.0)
    }
}

impl BitAndAssign for Bitboard {
    #[inline(always)]
    fn bitand_assign(&mut self, other: Bitboard) {
        *self = *self & other;
    }
}

impl BitOrAssign for Bitboard {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Bitboard) {
        *self = *self | other;
    }
}

impl BitXorAssign for Bitboard {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Bitboard) {
        *self = *self ^ other;
    }
}

impl SubAssign for Bitboard {
    #[inline(always)]
    fn sub_assign(&mut self, other: Bitboard) {
        *self = *self - other;
    }
}

/// Nine lines, rank 9 first: `1` for a square of the set, `.` for any other square. `FromStr` reads it with spaces and
/// line ends anywhere.
///
/// ```
/// # use doushouqi::board::{Bitboard, Square};
/// assert_eq!(Bitboard::of(&[Square::A1, Square::B2]).to_string().lines().last(), Some("1 . . . . . ."));
/// ```
impl fmt::Display for Bitboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in Rank::ALL.into_iter().rev() {
            let marks = File::ALL.map(|file| if self.contains(Square::from_coords(file, rank)) { "1" } else { "." });
            writeln!(f, "{}", marks.join(" "))?;
        }
        Ok(())
    }
}

/// The text of `Display`, beginning on a new line.
impl fmt::Debug for Bitboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}
