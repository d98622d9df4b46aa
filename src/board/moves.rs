use super::{Animal, Direction, Loop, Piece, Position, Rules, Square};
use std::fmt;
use thiserror::Error;

/// A move of an animal of the side to move. Its text (`Display`) is that of [`UciMove`], `a3b3`;
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

/// A move as UCI writes it, without a position: the square the piece leaves and the square it enters, `a3b3`.
///
/// ```
/// use doushouqi::board::{Position, Square, UciMove};
/// let mv: UciMove = "a3b3".parse()?;
/// assert_eq!((mv.from, mv.to), (Square::A3, Square::B3));
/// assert_eq!(mv.to_move(&Position::start())?.to_string(), "a3b3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UciMove {
    /// The square the piece leaves.
    pub from: Square,
    /// The square the piece enters.
    pub to: Square,
}

impl UciMove {
    /// The move of the piece that stands on `from`. It need not be legal.
    ///
    /// # Errors
    /// If the side to move has no piece on `from`.
    pub fn to_move(self, position: &Position) -> Result<Move, ParseMoveError> {
        let UciMove { from, to } = self;
        match position.piece_at(from) {
            Some(Piece { color, animal }) if color == position.turn() => Ok(Move { animal, from, to }),
            _ => Err(ParseMoveError::NoPiece { text: self.to_string() }),
        }
    }
}

impl From<Move> for UciMove {
    fn from(Move { from, to, .. }: Move) -> UciMove {
        UciMove { from, to }
    }
}

impl fmt::Display for UciMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from, self.to)
    }
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
    /// The game is drawn by the limit of moves. Under rules with `move-limit=none` it goes on.
    #[error("the game is drawn after {limit} moves of both sides; under rules with move-limit=none it goes on")]
    MoveLimit {
        /// The limit in plies.
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
    /// The move continues a loop, which the rules forbid.
    #[error("{mv} continues a loop, which the rule loop={rule} forbids")]
    Loops {
        /// The move.
        mv: Move,
        /// The rule.
        rule: Loop,
    },
    /// The text is not a legal move of the position.
    #[error(transparent)]
    Text(#[from] ParseMoveError),
}

impl PlayError {
    /// Whether no move can be played because the game is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        use PlayError::{MoveLimit, NoCapture, Over, Repetition};
        matches!(self, Over | Repetition | NoCapture { .. } | MoveLimit { .. })
    }
}

impl Move {
    /// Reads a legal move of `position` in either notation. In the papers' notation the letter may be of either case
    /// or a Chinese character (`象b3`), and the `x` of a capture may be left out.
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
        let (mv, marked) = match text.parse::<UciMove>() {
            Ok(mv) => (mv.to_move(position)?, false),
            Err(_) => Move::from_notation(text, position)?,
        };
        if !position.is_legal(mv, rules) {
            return Err(ParseMoveError::Illegal { text: text.to_owned() });
        }
        if marked && !mv.is_capture(position) {
            return Err(ParseMoveError::NotACapture { text: text.to_owned(), to: mv.to });
        }
        Ok(mv)
    }

    /// Reads the papers' notation: a move, which may be illegal, and whether the text has the `x` of a capture.
    fn from_notation(text: &str, position: &Position) -> Result<(Move, bool), ParseMoveError> {
        let malformed = || ParseMoveError::Malformed { text: text.to_owned() };
        let (head, tail) = text.split_at_checked(text.len().saturating_sub(2)).ok_or_else(malformed)?;
        let to: Square = tail.parse().map_err(|_| malformed())?;
        let (letter, marked) = head.strip_suffix('x').map_or((head, false), |letter| (letter, true));
        let letter: char = letter.parse().map_err(|_| malformed())?;
        let animal = Animal::from_letter(letter).or_else(|| Animal::from_character(letter)).ok_or_else(malformed)?;
        let from = position
            .square_of(position.turn(), animal)
            .ok_or_else(|| ParseMoveError::NoPiece { text: text.to_owned() })?;
        Ok((Move { animal, from, to }, marked))
    }

    /// Whether this move, made in `position`, is a capture. Every other move is quiet.
    #[must_use]
    pub fn is_capture(self, position: &Position) -> bool {
        position.side(!position.turn()).contains(self.to)
    }

    /// Whether the piece leaps over water.
    #[must_use]
    pub fn is_leap(self) -> bool {
        Direction::ALL.into_iter().all(|direction| self.from.neighbour(direction) != Some(self.to))
    }

    /// The papers' notation: the animal's letter, `x` for a capture, the square the piece enters.
    #[must_use]
    pub fn notation(self, position: &Position) -> String {
        format!("{}{}{}", self.animal.letter(), if self.is_capture(position) { "x" } else { "" }, self.to)
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        UciMove::from(*self).fmt(f)
    }
}
