//! Games on one line, in the dialects of programs: a position and the moves from there.

use super::{Game, PlayError};
use crate::board::{ParseMoveError, Rules};
use crate::formats::{Dialect, DialectFen, FormatError};

/// Reads a game on one line: a position, the word `moves`, and the moves. A line without `moves` is a position.
///
/// ```
/// use doushouqi::board::Rules;
/// use doushouqi::formats::Dialect;
/// use doushouqi::game::{format_moves, parse_moves};
///
/// let (game, number) =
///     parse_moves(Dialect::Dsq, "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w moves a3b3 g9f9", &Rules::default(), None)?;
/// assert_eq!(
///     format_moves(Dialect::Mistboard, &game, number),
///     "t5l/1c3d1/e1w1p1r/7/7/7/R1P1W1E/1D3C1/L5T r 0 1 moves g3f3 a9b9"
/// );
/// # Ok::<(), doushouqi::formats::FormatError>(())
/// ```
///
/// # Errors
/// If the line is not a game of this dialect, or a move cannot be played.
pub fn parse_moves(
    dialect: Dialect,
    line: &str,
    rules: &Rules,
    no_capture_limit: Option<u32>,
) -> Result<(Game, u32), FormatError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let fields = words.iter().position(|word| *word == "moves").unwrap_or(words.len());
    let DialectFen { fen, move_number } = dialect.parse_fen(&words[..fields].join(" "))?;
    let mut game = Game::from_fen(fen, rules.clone(), no_capture_limit);
    for (i, text) in words.iter().skip(fields + 1).enumerate() {
        let mv = dialect.parse_move(text)?.to_move(game.position());
        let mv = mv.map_err(|_| ParseMoveError::NoPiece { text: (*text).to_owned() });
        let played = mv.map_err(PlayError::from).and_then(|mv| game.play(mv));
        played.map_err(|error| FormatError::Play { number: i + 1, error })?;
    }
    Ok((game, move_number))
}

/// Writes a game on one line. `move_number` is the number of the first full move.
#[must_use]
pub fn format_moves(dialect: Dialect, game: &Game, move_number: u32) -> String {
    let mut line = dialect.format_fen(&DialectFen { fen: game.start_fen(), move_number });
    for (i, &mv) in game.moves().iter().enumerate() {
        line.push_str(if i == 0 { " moves " } else { " " });
        line.push_str(&dialect.format_move(mv));
    }
    line
}
