use super::{Animal, Position, Rules, Square};
use std::fmt;
use thiserror::Error;

/// A move: which animal of the side to move goes where. Its text (`Display`) is in coordinates, `a3b3`;
/// [`Move::notation`] writes the papers' `Eb3` and `Txb1`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Who moves.
    pub animal: Animal,
    /// From where.
    pub from: Square,
    /// Where to.
    pub to: Square,
}

/// Why text is no move here.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseMoveError {
    /// The text is in neither notation.
    #[error("{text:?} is no move: write an animal and a square (Eb3, Txb1) or two squares (a3b3)")]
    Malformed {
        /// What was read.
        text: String,
    },
    /// The animal is not on the board, or none of the mover's is on that square.
    #[error("{text:?}: the side to move has no such piece")]
    NoPiece {
        /// What was read.
        text: String,
    },
    /// The rules forbid it here.
    #[error("{text:?} is not legal here")]
    Illegal {
        /// What was read.
        text: String,
    },
    /// An `x` where nothing is taken.
    #[error("{text:?} is marked as a capture, but {to} is empty")]
    NotACapture {
        /// What was read.
        text: String,
        /// Where the move goes.
        to: Square,
    },
}

impl Move {
    /// Reads a legal move of `position` in either notation. In the papers' notation the letter may be of either case and
    /// the `x` of a capture may be left out.
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
    /// If the text is in neither notation, or is no legal move here: see [`ParseMoveError`].
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
        if !position.moves(rules).contains(&mv) {
            return Err(ParseMoveError::Illegal { text: text.to_owned() });
        }
        if marked && !mv.is_capture(position) {
            return Err(ParseMoveError::NotACapture { text: text.to_owned(), to });
        }
        Ok(mv)
    }

    /// Whether this move, made in `position`, takes a piece.
    #[must_use]
    pub fn is_capture(self, position: &Position) -> bool {
        position.side(!position.turn()).contains(self.to)
    }

    /// The papers' notation: the animal's letter, `x` for a capture, the square it goes to.
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
