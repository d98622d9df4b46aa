//! Positions as text: ranks 9 to 1 separated by `/`, a letter a piece (capitals are White), a digit for that many empty
//! squares; then `w` or `b` for the side to move. Further fields, as chess programs write them, are read over.

use super::{Color, File, Piece, Position, PositionError, Rank, Setup, Square};
use thiserror::Error;

/// The starting position.
pub const START: &str = "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w";

/// Why text is no FEN.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FenError {
    /// There is no text.
    #[error("the FEN is empty; the start is {START:?}")]
    Empty,
    /// The board has more or fewer than nine ranks.
    #[error("a FEN has 9 ranks separated by '/'; this one has {found}")]
    RankCount {
        /// How many.
        found: usize,
    },
    /// A rank has more or fewer than seven squares.
    #[error("rank {rank} fills {found} squares instead of 7")]
    RankLength {
        /// The rank's number, 1 to 9.
        rank: usize,
        /// Its squares.
        found: usize,
    },
    /// A letter on the board that is no piece.
    #[error("rank {rank} contains {found:?}, which is neither one of the pieces RCWDPTLE rcwdptle nor a digit 1 to 7")]
    UnknownPiece {
        /// The rank's number, 1 to 9.
        rank: usize,
        /// The letter.
        found: char,
    },
    /// The text ends after the board.
    #[error("the side to move is missing after the board: write w or b")]
    MissingTurn,
    /// The side to move is neither `w` nor `b`.
    #[error("the side to move is w or b, not {found:?}")]
    UnknownTurn {
        /// What is written instead.
        found: String,
    },
    /// There is more than chess programs write.
    #[error("after the side to move a FEN may have four more fields at most, as in \"- - 0 1\"; found {found:?}")]
    TrailingText {
        /// The first field too many.
        found: String,
    },
    /// The text can be read, but is no position of the game.
    #[error(transparent)]
    Position(#[from] PositionError),
}

impl Position {
    /// Reads a FEN.
    ///
    /// ```
    /// use doushouqi::board::{FenError, Position};
    /// let position = Position::from_fen("7/7/3e3/7/7/7/3E3/7/7 w").unwrap();
    /// assert_eq!(position.to_fen(), "7/7/3e3/7/7/7/3E3/7/7 w");
    /// assert_eq!(Position::from_fen("7/7 w"), Err(FenError::RankCount { found: 2 }));
    /// ```
    ///
    /// # Errors
    /// If the text cannot be read, or is no position of the game: see [`FenError`].
    pub fn from_fen(text: &str) -> Result<Position, FenError> {
        let mut fields = text.split_whitespace();
        let board = fields.next().ok_or(FenError::Empty)?;
        let turn = match fields.next() {
            Some("w") => Color::White,
            Some("b") => Color::Black,
            Some(found) => return Err(FenError::UnknownTurn { found: found.to_owned() }),
            None => return Err(FenError::MissingTurn),
        };
        if let Some(found) = fields.nth(4) {
            return Err(FenError::TrailingText { found: found.to_owned() });
        }
        let ranks: Vec<&str> = board.split('/').collect();
        if ranks.len() != 9 {
            return Err(FenError::RankCount { found: ranks.len() });
        }
        let mut setup = Setup::empty(turn);
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
                    return Err(FenError::UnknownPiece { rank: rank.number(), found: letter });
                }
            }
            if filled != File::COUNT {
                return Err(FenError::RankLength { rank: rank.number(), found: filled });
            }
        }
        Ok(Position::from_setup(&setup)?)
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

impl std::str::FromStr for Position {
    type Err = FenError;

    fn from_str(text: &str) -> Result<Position, FenError> {
        Position::from_fen(text)
    }
}
