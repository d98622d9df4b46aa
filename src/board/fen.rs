//! Positions as text: ranks 9 to 1 separated by `/`, a letter a piece (capitals are White), a digit for that many empty
//! squares; then `w` or `b` for the side to move. Further fields, as chess programs write them, are read over.

use super::{Color, Piece, Position, PositionError, Setup, Square};
use thiserror::Error;

/// The starting position.
pub const START: &str = "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w";

/// Why text is no FEN.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FenError {
    #[error("the FEN is empty; the start is {START:?}")]
    Empty,
    #[error("a FEN has 9 ranks separated by '/'; this one has {found}")]
    RankCount { found: usize },
    #[error("rank {rank} fills {found} squares instead of 7")]
    RankLength { rank: usize, found: usize },
    #[error("rank {rank} contains {found:?}, which is neither one of the pieces RCWDPTLE rcwdptle nor a digit 1 to 7")]
    UnknownPiece { rank: usize, found: char },
    #[error("the side to move is missing after the board: write w or b")]
    MissingTurn,
    #[error("the side to move is w or b, not {found:?}")]
    UnknownTurn { found: String },
    #[error("after the side to move a FEN may have four more fields at most, as in \"- - 0 1\"; found {found:?}")]
    TrailingText { found: String },
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
        for (text, rank) in ranks.into_iter().zip((1..=9).rev()) {
            let mut file = 0;
            for letter in text.chars() {
                if let Some(empty) = letter.to_digit(10).filter(|d| (1..=7).contains(d)) {
                    file += empty as usize;
                } else if let Some(piece) = Piece::from_letter(letter) {
                    if let Some(square) = Square::from_coords(file, rank - 1) {
                        setup.squares[square.index()] = Some(piece);
                    }
                    file += 1;
                } else {
                    return Err(FenError::UnknownPiece { rank, found: letter });
                }
            }
            if file != 7 {
                return Err(FenError::RankLength { rank, found: file });
            }
        }
        Ok(Position::from_setup(&setup)?)
    }

    /// Writes the FEN: board and side to move.
    #[must_use]
    pub fn to_fen(&self) -> String {
        let setup = self.to_setup();
        let mut fen = String::new();
        for rank in (0..9).rev() {
            let mut empty = 0;
            for file in 0..7 {
                match setup.squares[rank * 7 + file] {
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
            fen.push(if rank > 0 { '/' } else { ' ' });
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
