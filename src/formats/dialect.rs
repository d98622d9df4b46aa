//! Positions and squares of the dialects.

use crate::board::{Color, Fen, Fields, Move, ParseFenError, ParseNameError, PlayError, Position, Square, UciMove};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// How a program writes positions and moves. The [module](crate::formats) describes each dialect.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The notation of this crate (docs/notation.md).
    Dsq,
    /// Mistboard and its engine MistyJungle.
    Mistboard,
    /// KataGomo's AnimalChess.
    Katago,
    /// Animalcraft.
    Animalcraft,
}

/// Why a text is not a position, move or game of a dialect.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The position is malformed.
    #[error(transparent)]
    Fen(#[from] ParseFenError),
    /// The dialect does not use a letter of the board.
    #[error("{dialect} has no piece {found:?}")]
    Letter {
        /// The dialect.
        dialect: Dialect,
        /// The letter.
        found: char,
    },
    /// A move is not written as two squares.
    #[error("{text:?} is not a move of {dialect}: write two squares, as in {example}")]
    Move {
        /// The dialect.
        dialect: Dialect,
        /// The text.
        text: String,
        /// An example of a move.
        example: &'static str,
    },
    /// A move cannot be played.
    #[error("move {number}: {error}")]
    Play {
        /// The number of the move, from 1.
        number: usize,
        /// The reason.
        error: PlayError,
    },
}

/// A position of a game with the move number that some dialects write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialectFen {
    /// The position with its halfmove clock.
    pub fen: Fen,
    /// The number of the full move, from 1.
    pub move_number: u32,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 4] = [Dialect::Dsq, Dialect::Mistboard, Dialect::Katago, Dialect::Animalcraft];

    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Dialect::Dsq => "dsq",
            Dialect::Mistboard => "mistboard",
            Dialect::Katago => "katago",
            Dialect::Animalcraft => "animalcraft",
        }
    }

    /// The square of this dialect for a square of `dsq`. The function is its own inverse.
    #[must_use]
    pub fn square(self, square: Square) -> Square {
        match self {
            Dialect::Dsq | Dialect::Katago => square,
            Dialect::Mistboard => square.mirror(),
            Dialect::Animalcraft => square.rotate(),
        }
    }

    /// The letter of the side to move.
    fn turn(self, turn: Color) -> char {
        match (self, turn) {
            (Dialect::Mistboard, Color::White) => 'r',
            (_, turn) => turn.letter(),
        }
    }

    /// The letter of this dialect for a letter of `dsq`.
    fn letter(self, letter: char) -> char {
        match (self, letter) {
            (Dialect::Katago, 'P') => 'J',
            (Dialect::Katago, 'p') => 'j',
            (Dialect::Animalcraft, 'R') => 'M',
            (Dialect::Animalcraft, 'r') => 'm',
            _ => letter,
        }
    }

    /// The letter of `dsq` for a letter of this dialect; `None` for a piece's letter of `dsq` that this dialect does not use.
    fn own_letter(self, letter: char) -> Option<char> {
        match (self, letter) {
            (Dialect::Katago, 'J') => Some('P'),
            (Dialect::Katago, 'j') => Some('p'),
            (Dialect::Animalcraft, 'M') => Some('R'),
            (Dialect::Animalcraft, 'm') => Some('r'),
            (Dialect::Katago, 'P' | 'p') | (Dialect::Animalcraft, 'R' | 'r') => None,
            _ => Some(letter),
        }
    }

    /// The board converted between the orientations of `dsq` and this dialect. The function is its own inverse.
    fn board(self, board: &str) -> String {
        let reversed = |rank: &str| rank.chars().rev().collect::<String>();
        let ranks: Vec<&str> = board.split('/').collect();
        match self {
            Dialect::Dsq | Dialect::Katago => board.to_owned(),
            Dialect::Mistboard => ranks.into_iter().map(reversed).collect::<Vec<_>>().join("/"),
            Dialect::Animalcraft => ranks.into_iter().rev().map(reversed).collect::<Vec<_>>().join("/"),
        }
    }

    /// Reads a position.
    ///
    /// # Errors
    /// If the text is not a position of this dialect.
    pub fn parse_fen(self, text: &str) -> Result<DialectFen, FormatError> {
        let fields = Fields::split(text, self.turn(Color::White))?;
        let board = self.board(fields.board);
        let own = board.chars().map(|found| self.own_letter(found).ok_or(FormatError::Letter { dialect: self, found }));
        let board: String = own.collect::<Result<_, _>>()?;
        let (fen, move_number) = Fields { board: &board, ..fields }.read()?;
        Ok(DialectFen { fen, move_number })
    }

    /// Writes a position, without counters that the dialect does not use.
    #[must_use]
    pub fn format_fen(self, fen: &DialectFen) -> String {
        let DialectFen { fen: Fen { position, halfmove_clock }, move_number } = fen;
        let own = position.to_fen();
        let board = own.split(' ').next().unwrap_or_default();
        let board: String = self.board(board).chars().map(|letter| self.letter(letter)).collect();
        let turn = self.turn(position.turn());
        match self {
            Dialect::Mistboard => format!("{board} {turn} {halfmove_clock} {move_number}"),
            Dialect::Dsq if *halfmove_clock > 0 => format!("{board} {turn} {halfmove_clock}"),
            _ => format!("{board} {turn}"),
        }
    }

    /// Reads a move of two squares.
    ///
    /// # Errors
    /// If the text is not two squares of this dialect.
    pub fn parse_move(self, text: &str) -> Result<UciMove, FormatError> {
        let mv: Option<UciMove> = match self {
            Dialect::Katago if text.contains(|letter: char| letter.is_ascii_lowercase()) => None,
            Dialect::Katago => text.to_ascii_lowercase().parse().ok(),
            _ => text.parse().ok(),
        };
        let mv =
            mv.ok_or_else(|| FormatError::Move { dialect: self, text: text.to_owned(), example: self.example() })?;
        Ok(UciMove { from: self.square(mv.from), to: self.square(mv.to) })
    }

    /// Writes a move as two squares.
    #[must_use]
    pub fn format_move(self, mv: impl Into<UciMove>) -> String {
        let UciMove { from, to } = mv.into();
        format!("{}{}", self.format_square(from), self.format_square(to))
    }

    /// Writes a square.
    #[must_use]
    pub fn format_square(self, square: Square) -> String {
        let text = self.square(square).to_string();
        if self == Dialect::Katago { text.to_ascii_uppercase() } else { text }
    }

    /// Writes a move of `position` as the animal and the square it enters, with `x` for a capture.
    #[must_use]
    pub fn format_notation(self, mv: Move, position: &Position) -> String {
        let capture = if mv.is_capture(position) { "x" } else { "" };
        format!("{}{capture}{}", self.letter(mv.animal.letter()), self.format_square(mv.to))
    }

    fn example(self) -> &'static str {
        match self {
            Dialect::Katago => "A3B3",
            _ => "a3b3",
        }
    }
}

impl From<Fen> for DialectFen {
    fn from(fen: Fen) -> DialectFen {
        DialectFen { fen, move_number: 1 }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Dialect {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Dialect, ParseNameError> {
        let named = Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == text);
        named.ok_or_else(|| ParseNameError::new(text, "format", "dsq, mistboard, katago or animalcraft"))
    }
}
