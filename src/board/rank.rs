use super::Square;
use std::fmt;

/// A rank of the board: a row of seven squares, from the first, where White's den is, to the ninth.
///
/// ```
/// use doushouqi::board::{Rank, Square};
///
/// assert_eq!(Square::E4.rank(), Rank::Fourth);
/// assert_eq!(Rank::Fourth.number(), 4);
/// assert_eq!(Rank::new(8), Some(Rank::Ninth));
/// assert_eq!(Rank::new(9), None);
/// assert_eq!(Rank::First.flip(), Rank::Ninth);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Rank {
    First,
    Second,
    Third,
    Fourth,
    Fifth,
    Sixth,
    Seventh,
    Eighth,
    Ninth,
}

impl Rank {
    /// Number of ranks.
    pub const COUNT: usize = 9;

    /// All ranks, from White's side to Black's.
    pub const ALL: [Rank; Rank::COUNT] = [
        Rank::First,
        Rank::Second,
        Rank::Third,
        Rank::Fourth,
        Rank::Fifth,
        Rank::Sixth,
        Rank::Seventh,
        Rank::Eighth,
        Rank::Ninth,
    ];

    /// The rank of an index below 9: one less than its number.
    #[inline]
    #[must_use]
    pub const fn new(index: usize) -> Option<Rank> {
        if index < Rank::COUNT { Some(Rank::ALL[index]) } else { None }
    }

    /// The rank of a digit, `1` to `9`.
    #[must_use]
    pub(crate) const fn from_digit(digit: char) -> Option<Rank> {
        match digit {
            '1'..='9' => Rank::new(digit as usize - '1' as usize),
            _ => None,
        }
    }

    /// The index, 0 (the first) to 8.
    #[inline(always)]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The number that is written on the board's edge, 1 to 9.
    #[inline]
    #[must_use]
    pub const fn number(self) -> usize {
        self.index() + 1
    }

    /// Reflection in the fifth rank: the first becomes the ninth.
    #[inline]
    #[must_use]
    pub const fn flip(self) -> Rank {
        Rank::ALL[Rank::COUNT - 1 - self.index()]
    }

    /// The number of ranks from this one to the other.
    #[inline]
    #[must_use]
    pub const fn distance(self, other: Rank) -> usize {
        self.index().abs_diff(other.index())
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

impl From<Square> for Rank {
    #[inline]
    fn from(square: Square) -> Rank {
        square.rank()
    }
}
