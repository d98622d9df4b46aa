//! Names of squares, moves, pieces and parts of the board: what `Display` writes, `FromStr` reads.

use super::{Animal, Bitboard, Color, File, Piece, Rank, Square, UciMove};
use std::str::FromStr;
use thiserror::Error;

/// Why a text names nothing of its kind: no square, no move, no piece and so on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{found:?} is not a {kind}: expected {expected}")]
pub struct ParseNameError {
    found: String,
    kind: &'static str,
    expected: &'static str,
}

impl ParseNameError {
    pub(crate) fn new(text: &str, kind: &'static str, expected: &'static str) -> ParseNameError {
        ParseNameError { found: text.to_owned(), kind, expected }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.found
    }
}

/// Implements `FromStr`.
macro_rules! names {
    ($($type:ident is $kind:literal: $expected:literal, $read:expr;)+) => {$(
        impl FromStr for $type {
            type Err = ParseNameError;

            fn from_str(text: &str) -> Result<$type, ParseNameError> {
                let read: fn(&str) -> Option<$type> = $read;
                read(text).ok_or_else(|| ParseNameError::new(text, $kind, $expected))
            }
        }
    )+};
}

names! {
    File is "file": "a letter from a to g", |text| one_letter(text).and_then(File::from_letter);
    Rank is "rank": "a digit from 1 to 9", |text| one_letter(text).and_then(Rank::from_digit);
    Square is "square": "a file a to g and a rank 1 to 9, as in a3", square;
    UciMove is "move": "two squares, as in a3b3", |text| {
        let (from, to) = text.split_at_checked(2)?;
        Some(UciMove { from: square(from)?, to: square(to)? })
    };
    Bitboard is "set of squares": "63 marks, 1 for a square of the set and . for any other", |text| {
        let mut marks = text.chars().filter(|letter| !letter.is_whitespace());
        let mut set = Bitboard::EMPTY;
        for rank in Rank::ALL.into_iter().rev() {
            for file in File::ALL {
                match marks.next()? {
                    '1' => set = set.with(Square::from_coords(file, rank)),
                    '.' => {}
                    _ => return None,
                }
            }
        }
        marks.next().is_none().then_some(set)
    };
    Animal is "animal": "rat, cat, wolf, dog, panther, tiger, lion or elephant",
        |text| Animal::ALL.into_iter().find(|animal| animal.to_string() == text);
    Color is "side": "White or Black", |text| Color::ALL.into_iter().find(|color| color.to_string() == text);
    Piece is "piece": "a side and an animal, as in \"white rat\"", |text| {
        let all = Color::ALL.into_iter().flat_map(|color| Animal::ALL.map(|animal| Piece { color, animal }));
        all.into_iter().find(|piece| piece.to_string() == text)
    };
}

fn square(text: &str) -> Option<Square> {
    let mut letters = text.chars();
    let (file, rank) = (File::from_letter(letters.next()?)?, Rank::from_digit(letters.next()?)?);
    letters.next().is_none().then(|| Square::from_coords(file, rank))
}

fn one_letter(text: &str) -> Option<char> {
    let mut letters = text.chars();
    letters.next().filter(|_| letters.next().is_none())
}
