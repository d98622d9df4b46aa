//! Positions as text: ranks 9 to 1 separated by `/`, with a letter for each piece (capitals are White) and a digit for
//! that many empty squares; then `w` or `b` for the side to move. The FEN of a game may contain the halfmove clock
//! ([`Fen`]) and the move number, which is ignored. As chess programs write six fields, `- -` (no castling, no en
//! passant square) may precede the two counters.

use super::{Color, File, Piece, Position, PositionError, Rank, Setup, Square};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The FEN of the initial position.
pub const START: &str = "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w";

/// Why a text is not a FEN.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseFenError {
    /// The text is empty.
    #[error("the FEN is empty; the start is {START:?}")]
    Empty,
    /// The board has more or fewer than nine ranks.
    #[error("a FEN has 9 ranks separated by '/'; this one has {found}")]
    RankCount {
        /// The number of ranks.
        found: usize,
    },
    /// A rank has more or fewer than seven squares.
    #[error("rank {rank} fills {found} squares instead of 7")]
    RankLength {
        /// The rank's number, 1 to 9.
        rank: usize,
        /// The number of squares it fills.
        found: usize,
    },
    /// The board contains a character that is neither a piece nor a digit.
    #[error("rank {rank} contains {found:?}, which is neither one of the pieces RCWDPTLE rcwdptle nor a digit 1 to 7")]
    UnknownPiece {
        /// The rank's number, 1 to 9.
        rank: usize,
        /// The character.
        found: char,
    },
    /// The text ends after the board.
    #[error("the side to move is missing after the board: write w or b")]
    MissingTurn,
    /// The side to move is neither that of White nor `b`.
    #[error("the side to move is {white} or b, not {found:?}")]
    UnknownTurn {
        /// The text found instead.
        found: String,
        /// The letter of White in this notation.
        white: char,
    },
    /// A letter that only another program's notation contains, which may also turn the board.
    #[error(
        "{found:?} is the notation of {dialect}, whose board may be turned; `dsq convert --from {dialect} --to dsq` reads it"
    )]
    Dialect {
        /// The side to move or the piece.
        found: String,
        /// The name of the notation, a [`Dialect`](crate::formats::Dialect).
        dialect: &'static str,
    },
    /// A halfmove clock other than 0 follows, but only a position is expected.
    #[error("a halfmove clock ({found}) belongs only to the FEN of a game; here the FEN ends after the side to move")]
    UnexpectedClock {
        /// The halfmove clock.
        found: String,
    },
    /// The field after the side to move is not a halfmove clock.
    #[error(
        "the halfmove clock is a number from 0 to {}, not {found:?}: the plies since the last capture",
        Fen::MAX_HALFMOVE_CLOCK
    )]
    HalfmoveClock {
        /// The text found instead.
        found: String,
    },
    /// The field after the halfmove clock is not a move number.
    #[error("the move number is a number from 0 to {}, not {found:?}", Fen::MAX_MOVE_NUMBER)]
    MoveNumber {
        /// The text found instead.
        found: String,
    },
    /// Text follows the last field.
    #[error(
        "a FEN contains the board, the side to move and, in a game, a halfmove clock and a move number; found {found:?} after them"
    )]
    TrailingText {
        /// The first field too many.
        found: String,
    },
    /// The fields are well formed, but the position is not valid.
    #[error(transparent)]
    Position(#[from] PositionError),
}

impl Position {
    /// Reads the FEN of a position: board and side to move. [`Fen`] reads the FEN of a game, with a halfmove clock. A
    /// clock of 0 and a move number change nothing and are accepted.
    ///
    /// ```
    /// use doushouqi::board::{ParseFenError, Position};
    /// let position = Position::from_fen("7/7/3e3/7/7/7/3E3/7/7 w").unwrap();
    /// assert_eq!(position.to_fen(), "7/7/3e3/7/7/7/3E3/7/7 w");
    /// assert_eq!(Position::from_fen("7/7 w"), Err(ParseFenError::RankCount { found: 2 }));
    /// ```
    ///
    /// # Errors
    /// If the text is malformed, or is not a valid position: see [`ParseFenError`]. A halfmove clock other than 0 is an
    /// error, too.
    pub fn from_fen(text: &str) -> Result<Position, ParseFenError> {
        let fields = Fields::split(text, Color::White.letter())?;
        match fields.clock.map(str::to_owned) {
            Some(found) if !is_number(&found) => Err(ParseFenError::TrailingText { found }),
            Some(found) if found.bytes().any(|b| b != b'0') => Err(ParseFenError::UnexpectedClock { found }),
            _ => Ok(fields.read()?.0.position),
        }
    }

    /// Writes the FEN: board and side to move.
    #[must_use]
    pub fn to_fen(&self) -> String {
        let setup = self.to_setup();
        let mut fen = String::new();
        for rank in Rank::ALL.into_iter().rev() {
            let mut empty = 0;
            for file in File::ALL {
                match setup.squares[Square::from_coords(file, rank).index()] {
                    None => empty += 1,
                    Some(piece) => {
                        if empty > 0 {
                            fen.push_str(&empty.to_string());
                            empty = 0;
                        }
                        fen.push(piece.letter());
                    }
                }
            }
            if empty > 0 {
                fen.push_str(&empty.to_string());
            }
            fen.push(if rank == Rank::First { ' ' } else { '/' });
        }
        fen.push(self.turn().letter());
        fen
    }
}

impl FromStr for Position {
    type Err = ParseFenError;

    fn from_str(text: &str) -> Result<Position, ParseFenError> {
        Position::from_fen(text)
    }
}

/// The FEN of a game: a position and its halfmove clock. A clock of 0 is not written, nor is a move number.
///
/// ```
/// use doushouqi::board::Fen;
/// let fen: Fen = "7/7/3e3/7/7/7/3E3/7/7 w 17".parse().unwrap();
/// assert_eq!(fen.halfmove_clock, 17);
/// assert_eq!(fen.to_string(), "7/7/3e3/7/7/7/3E3/7/7 w 17");
/// // Chess programs also write a move number, and two fields for castling and en passant.
/// for text in ["7/7/3e3/7/7/7/3E3/7/7 w 17 9", "7/7/3e3/7/7/7/3E3/7/7 w - - 17 9"] {
///     assert_eq!(text.parse(), Ok(fen.clone()));
/// }
/// assert_eq!(Fen::from(fen.position).to_string(), "7/7/3e3/7/7/7/3E3/7/7 w");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fen {
    /// The position.
    pub position: Position,
    /// The plies since the last capture, or since the start of the game without one.
    pub halfmove_clock: u32,
}

impl Fen {
    /// The highest halfmove clock that is accepted, and the highest of a [`Game`](crate::game::Game).
    pub const MAX_HALFMOVE_CLOCK: u32 = 1_000_000_000;
    /// The highest move number that is accepted.
    pub(crate) const MAX_MOVE_NUMBER: u32 = 1_000_000_000;
}

/// A position whose clock is 0.
impl From<Position> for Fen {
    fn from(position: Position) -> Fen {
        Fen { position, halfmove_clock: 0 }
    }
}

impl FromStr for Fen {
    type Err = ParseFenError;

    fn from_str(text: &str) -> Result<Fen, ParseFenError> {
        Ok(Fields::split(text, Color::White.letter())?.read()?.0)
    }
}

impl fmt::Display for Fen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.position)?;
        if self.halfmove_clock > 0 { write!(f, " {}", self.halfmove_clock) } else { Ok(()) }
    }
}

/// A number of decimal digits, at most `most`.
fn number(text: &str, most: u32) -> Option<u32> {
    text.parse().ok().filter(|&number| is_number(text) && number <= most)
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// The dialect that alone uses a letter: Mistboard names the side to move by its colour, red, KataGomo's leopard is `J`,
/// Animalcraft's rat is a mouse.
fn dialect_of(letter: &str) -> Option<&'static str> {
    match letter {
        "r" => Some("mistboard"),
        "J" | "j" => Some("katago"),
        "M" | "m" => Some("animalcraft"),
        _ => None,
    }
}

/// The fields of a FEN.
pub(crate) struct Fields<'a> {
    pub board: &'a str,
    pub turn: Color,
    pub clock: Option<&'a str>,
    pub move_number: Option<&'a str>,
}

impl<'a> Fields<'a> {
    /// Splits a text in which the letter `white` is White to move.
    pub(crate) fn split(text: &'a str, white: char) -> Result<Fields<'a>, ParseFenError> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let (board, rest) = fields.split_first().ok_or(ParseFenError::Empty)?;
        let (turn, rest) = rest.split_first().ok_or(ParseFenError::MissingTurn)?;
        let turn = match *turn {
            turn if turn.chars().eq([white]) => Color::White,
            "b" => Color::Black,
            found => {
                let dialect = dialect_of(found).filter(|_| white == Color::White.letter());
                let found = found.to_owned();
                return Err(match dialect {
                    Some(dialect) => ParseFenError::Dialect { found, dialect },
                    None => ParseFenError::UnknownTurn { found, white },
                });
            }
        };
        let counters = rest.strip_prefix(&["-", "-"]).unwrap_or(rest);
        match counters.get(2) {
            Some(&found) => Err(ParseFenError::TrailingText { found: found.to_owned() }),
            None => {
                let (clock, move_number) = (counters.first().copied(), counters.get(1).copied());
                Ok(Fields { board, turn, clock, move_number })
            }
        }
    }

    /// The position with its halfmove clock, and the number of the move, which is 1 if it is missing.
    pub(crate) fn read(&self) -> Result<(Fen, u32), ParseFenError> {
        let clock = self.clock.unwrap_or("0");
        let halfmove_clock = number(clock, Fen::MAX_HALFMOVE_CLOCK)
            .ok_or_else(|| ParseFenError::HalfmoveClock { found: clock.to_owned() })?;
        let move_number = self.move_number.unwrap_or("1");
        let move_number = number(move_number, Fen::MAX_MOVE_NUMBER)
            .ok_or_else(|| ParseFenError::MoveNumber { found: move_number.to_owned() })?;
        Ok((Fen { position: self.position()?, halfmove_clock }, move_number))
    }

    fn position(&self) -> Result<Position, ParseFenError> {
        let ranks: Vec<&str> = self.board.split('/').collect();
        if ranks.len() != 9 {
            return Err(ParseFenError::RankCount { found: ranks.len() });
        }
        let mut setup = Setup::empty(self.turn);
        for (text, rank) in ranks.into_iter().zip(Rank::ALL.into_iter().rev()) {
            let mut filled = 0;
            for letter in text.chars() {
                if let Some(empty) = letter.to_digit(10).filter(|d| (1..=7).contains(d)) {
                    filled += empty as usize;
                } else if let Some(piece) = Piece::from_letter(letter) {
                    if let Some(file) = File::new(filled) {
                        setup.squares[Square::from_coords(file, rank).index()] = Some(piece);
                    }
                    filled += 1;
                } else {
                    let found = letter.to_string();
                    return Err(match dialect_of(&found) {
                        Some(dialect) => ParseFenError::Dialect { found, dialect },
                        None => ParseFenError::UnknownPiece { rank: rank.number(), found: letter },
                    });
                }
            }
            if filled != File::COUNT {
                return Err(ParseFenError::RankLength { rank: rank.number(), found: filled });
            }
        }
        Ok(Position::from_setup(&setup)?)
    }
}
