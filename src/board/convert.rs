//! Conversions from text, letters and indices: `Display` and `FromStr` round-trip, `TryFrom` checks the range.

use super::{Animal, Color, File, Piece, Rank, Square};
use std::str::FromStr;
use thiserror::Error;

/// Why a text, letter or index names neither a part of the board nor a piece.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{found} is not a {kind}: expected {expected}")]
pub struct ConvertError {
    found: String,
    kind: &'static str,
    expected: &'static str,
}

/// Implements `FromStr`, `TryFrom<char>` and `TryFrom<usize>`, each if a function is given for it.
macro_rules! convert {
    ($type:ident is $kind:literal: $($from:ty as $method:ident => $read:expr, $expected:literal;)+) => {$(
        convert!(@ $method, $type, $from, $kind, $read, $expected);
    )+};
    (@ text, $type:ident, $from:ty, $kind:literal, $read:expr, $expected:literal) => {
        impl FromStr for $type {
            type Err = ConvertError;

            fn from_str(text: &str) -> Result<$type, ConvertError> {
                let read: fn(&str) -> Option<$type> = $read;
                let error = || ConvertError { found: format!("{text:?}"), kind: $kind, expected: $expected };
                read(text).ok_or_else(error)
            }
        }
    };
    (@ value, $type:ident, $from:ty, $kind:literal, $read:expr, $expected:literal) => {
        impl TryFrom<$from> for $type {
            type Error = ConvertError;

            fn try_from(value: $from) -> Result<$type, ConvertError> {
                let read: fn($from) -> Option<$type> = $read;
                let error = || ConvertError { found: format!("{value:?}"), kind: $kind, expected: $expected };
                read(value).ok_or_else(error)
            }
        }
    };
}

convert! { Square is "square":
    usize as value => Square::new, "an index from 0 to 62";
}
convert! { File is "file":
    &str as text => |text| one_letter(text).and_then(File::from_letter), "a letter from a to g";
    char as value => File::from_letter, "a letter from a to g";
    usize as value => File::new, "an index from 0 to 6";
}
convert! { Rank is "rank":
    &str as text => |text| one_letter(text).and_then(Rank::from_digit), "a digit from 1 to 9";
    char as value => Rank::from_digit, "a digit from 1 to 9";
    usize as value => Rank::new, "an index from 0 to 8";
}
convert! { Animal is "animal":
    &str as text => |text| Animal::ALL.into_iter().find(|animal| animal.to_string() == text),
        "rat, cat, wolf, dog, panther, tiger, lion or elephant";
    char as value => Animal::from_letter, "one of the letters RCWDPTLE in either case";
    usize as value => |index| Animal::ALL.get(index).copied(), "an index from 0 to 7";
}
convert! { Color is "side":
    &str as text => |text| Color::ALL.into_iter().find(|color| color.to_string() == text), "White or Black";
    char as value => |letter| Color::ALL.into_iter().find(|color| color.letter() == letter), "w or b";
}
convert! { Piece is "piece":
    &str as text => |text| {
        let all = Color::ALL.into_iter().flat_map(|color| Animal::ALL.map(|animal| Piece { color, animal }));
        all.into_iter().find(|piece| piece.to_string() == text)
    }, "a side and an animal, as in \"white rat\"";
    char as value => Piece::from_letter, "one of the letters RCWDPTLE rcwdptle";
}

fn one_letter(text: &str) -> Option<char> {
    let mut letters = text.chars();
    letters.next().filter(|_| letters.next().is_none())
}
