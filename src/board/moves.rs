use super::{Animal, Position, Rules, Square};
use std::fmt;
use thiserror::Error;

/// A move of an animal of the side to move. Its text (`Display`) is in coordinates, `a3b3`;
/// [`Move::notation`] writes the papers' `Eb3` and `Txb1`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Move {
    /// The animal that moves.
    pub animal: Animal,
    /// The square the piece leaves.
    pub from: Square,
    /// The square the piece enters.
    pub to: Square,
}

/// Why a text is not a legal move of a position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseMoveError {
    /// The text is in neither notation.
    #[error("{text:?} is not a move: write an animal and a square (Eb3, Txb1) or two squares (a3b3)")]
    Malformed {
        /// The text.
        text: String,
    },
    /// The side to move does not have this animal, or has no piece on that square.
    #[error("{text:?}: the side to move has no such piece")]
    NoPiece {
        /// The text.
        text: String,
    },
    /// The move is not legal in the position.
    #[error("{text:?} is not legal here")]
    Illegal {
        /// The text.
        text: String,
    },
    /// The text has the `x` of a capture, but the move is quiet.
    #[error("{text:?} is marked as a capture, but {to} is empty")]
    NotACapture {
        /// The text.
        text: String,
        /// The empty square that the piece enters.
        to: Square,
    },
}

/// Why a move cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The game is over, so no move is legal.
    #[error("the game is over")]
    Over,
    /// The game is drawn by repetition. Under rules with `repetition=none` it goes on.
    #[error("the game is drawn by repetition; under rules with repetition=none it goes on")]
    Repetition,
    /// The game is drawn by the no-capture limit. With another limit it goes on.
    #[error("the game is drawn after {limit} plies without a capture; with another no-capture limit it goes on")]
    NoCapture {
        /// The no-capture limit in plies.
        limit: u32,
    },
    /// The move is not legal in the position.
    #[error("{mv} is not legal here")]
    Illegal {
        /// The move.
        mv: Move,
    },
    /// The move repeats an earlier position of the game, which the rules forbid.
    #[error("{mv} repeats a position, which these rules forbid")]
    Repeats {
        /// The move.
        mv: Move,
    },
    /// The text is not a legal move of the position.
    #[error(transparent)]
    Text(#[from] ParseMoveError),
}

impl PlayError {
    /// Whether no move can be played because the game is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self, PlayError::Over | PlayError::Repetition | PlayError::NoCapture { .. })
    }
}

impl Move {
    /// Reads a legal move of `position` in either notation. In the papers' notation the letter may be of either case
    /// and the `x` of a capture may be left out.
    ///
    /// ```
    /// use doushouqi::board::{Move, Position, Rules};
    /// let (start, rules) = (Position::start(), Rules::default());
    /// let mv = Move::parse("Eb3", &start, &rules).unwrap();
    /// assert_eq!(mv, Move::parse("a3b3", &start, &rules).unwrap());
    /// assert!(Move::parse("Eb4", &start, &rules).is_err());
    /// ```
    ///
    /// # Errors
    /// If the text is in neither notation or is not a legal move here: see [`ParseMoveError`].
    pub fn parse(text: &str, position: &Position, rules: &Rules) -> Result<Move, ParseMoveError> {
        let malformed = || ParseMoveError::Malformed { text: text.to_owned() };
        if !text.is_ascii() || text.len() < 3 {
            return Err(malformed());
        }
        let (head, tail) = text.split_at(text.len() - 2);
        let to: Square = tail.parse().map_err(|_| malformed())?;
        let (animal, marked) = if let Ok(from) = head.parse::<Square>() {
            let piece = position
                .piece_at(from)
                .filter(|p| p.color == position.turn())
                .ok_or_else(|| ParseMoveError::NoPiece { text: text.to_owned() })?;
            (piece.animal, false)
        } else {
            let (letter, marked) = match head.as_bytes() {
                [letter] => (*letter, false),
                [letter, b'x'] => (*letter, true),
                _ => return Err(malformed()),
            };
            (Animal::from_letter(letter as char).ok_or_else(malformed)?, marked)
        };
        let from = position
            .square_of(position.turn(), animal)
            .ok_or_else(|| ParseMoveError::NoPiece { text: text.to_owned() })?;
        let mv = Move { animal, from, to };
        if !position.is_legal(mv, rules) {
            return Err(ParseMoveError::Illegal { text: text.to_owned() });
        }
        if marked && !mv.is_capture(position) {
            return Err(ParseMoveError::NotACapture { text: text.to_owned(), to });
        }
        Ok(mv)
    }

    /// Whether this move, made in `position`, is a capture. Every other move is quiet.
    #[must_use]
    pub fn is_capture(self, position: &Position) -> bool {
        position.side(!position.turn()).contains(self.to)
    }

    /// The papers' notation: the animal's letter, `x` for a capture, the square the piece enters.
    #[must_use]
    pub fn notation(self, position: &Position) -> String {
        format!("{}{}{}", self.animal.letter(), if self.is_capture(position) { "x" } else { "" }, self.to)
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from, self.to)
    }
}
