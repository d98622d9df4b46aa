use super::Square;
use std::fmt;

/// A file of the board: a column of nine squares, from a on White's left to g. The dens are on file d.
///
/// ```
/// use doushouqi::board::{File, Square};
///
/// assert_eq!(Square::E4.file(), File::E);
/// assert_eq!(File::new(6), Some(File::G));
/// assert_eq!(File::new(7), None);
/// assert_eq!(File::A.mirror(), File::G);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum File {
    A,
    B,
    C,
    D,
    E,
    F,
    G,
}

impl File {
    /// Number of files.
    pub const COUNT: usize = 7;

    /// All files, a to g.
    pub const ALL: [File; File::COUNT] = [File::A, File::B, File::C, File::D, File::E, File::F, File::G];

    /// The file of an index below 7.
    #[inline]
    #[must_use]
    pub const fn new(index: usize) -> Option<File> {
        if index < File::COUNT { Some(File::ALL[index]) } else { None }
    }

    /// The file of a lower-case letter, `a` to `g`.
    #[must_use]
    pub(crate) const fn from_letter(letter: char) -> Option<File> {
        match letter {
            'a'..='g' => File::new(letter as usize - 'a' as usize),
            _ => None,
        }
    }

    /// The index, 0 (a) to 6 (g).
    #[inline(always)]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The letter, `a` to `g`.
    #[must_use]
    pub const fn letter(self) -> char {
        (b'a' + self as u8) as char
    }

    /// Reflection in file d: a becomes g.
    #[inline]
    #[must_use]
    pub const fn mirror(self) -> File {
        File::ALL[File::COUNT - 1 - self.index()]
    }

    /// The number of files from this one to the other.
    #[inline]
    #[must_use]
    pub const fn distance(self, other: File) -> usize {
        self.index().abs_diff(other.index())
    }
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

impl From<Square> for File {
    #[inline]
    fn from(square: Square) -> File {
        square.file()
    }
}
