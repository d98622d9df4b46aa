//! Games as text. A file contains any number of games, one after the other. A game is a list of tags, one on each line,
//! and the moves, followed by the result:
//!
//! ```text
//! [White "builtin:default"]
//! [Black "Anna"]
//! [Date "2026.02.03"]
//! [Rules "elephant-takes-rat=yes,shore=elephant-safe,traps=opponent,dog-over-wolf=yes,tiger-leap=both,..."]
//! [NoCaptureLimit "100"]
//! [FEN "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w"]
//! [Result "0-1"]
//! [Termination "time"]
//!
//! 1. Eb3 {cp 12 depth 9} rb7 2. c2c3 0-1
//! ```
//!
//! - A tag is a name of letters, digits and `_`, a space, and text in quotes, where `\"`, `\\` and `\n` represent a
//!   quote, a backslash and the end of a line. No tag occurs twice. Every tag may be missing: then there are no names
//!   and no date, the rules are `paper`, the limit is 100, and the game starts in the initial position. Tags with other
//!   names are kept.
//! - `NoCaptureLimit` is a number of plies, or `none`.
//! - `FEN` is the first position. A third field is its halfmove clock, the plies since the last capture.
//! - `Result` is `1-0`, `0-1`, `1/2-1/2`, or `*` for a game that has not ended.
//! - `Termination` is the reason: under the rules `den`, `capture`, `no-move`, `repetition` or `no-capture`; else
//!   `resignation`, `time`, `illegal-move` or `crash` of the loser; `adjudication`; or `unfinished`. The first five and
//!   `unfinished` may be left out.
//! - Moves are in the papers' notation (`Eb3`, `Txb1`) or in coordinates (`a3b3`). Move numbers may be left out: `1.`
//!   before White's move, `1...` before Black's.
//! - `$` and a number up to 255 after a move assess the move, as in chess (numeric annotation glyphs, NAGs): `$1` is a
//!   good move, also written `!`; `$2` to `$6` are `?`, `!!`, `??`, `!?` and `?!`.
//! - Text in braces after a move is a comment on the move. It stays on one line: `\}`, `\\` and `\n` represent a brace,
//!   a backslash and the end of a line.
//! - Moves in parentheses after a move are a variation: they replace the move. A variation contains at least one move,
//!   and comments and variations as the game does, but no result.
//!
//! The parser plays every move: every game that it returns is legal and matches its result and termination. A game that
//! went on after a draw by repetition or by the no-capture limit has `repetition=none` among its rules, or another limit.

mod reader;

pub use reader::RecordReader;

use super::{Conclusion, Forfeit, Game, PlayError};
use crate::board::{Color, Move, ParseFenError, ParseRulesError, Position};
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use thiserror::Error;

/// An error in a line of a record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordProblem {
    /// A line in brackets is not a tag.
    #[error("a tag is [Name \"text\"], on a line of its own")]
    MalformedTag,
    /// A tag occurs twice.
    #[error("the tag {name} occurs twice")]
    DuplicateTag {
        /// The name.
        name: String,
    },
    /// The date is malformed.
    #[error("a date is written 2026.02.03, not {found:?}")]
    Date {
        /// The text of the record.
        found: String,
    },
    /// The no-capture limit is neither a number of plies nor `none`.
    #[error("the no-capture limit is a number of plies from 1, or none, not {found:?}")]
    NoCaptureLimit {
        /// The text of the record.
        found: String,
    },
    /// The rules are malformed.
    #[error(transparent)]
    Rules(#[from] ParseRulesError),
    /// The first position is malformed.
    #[error(transparent)]
    Fen(#[from] ParseFenError),
    /// The result is malformed.
    #[error("a result is 1-0, 0-1, 1/2-1/2 or *, not {found:?}")]
    Result {
        /// The text of the record.
        found: String,
    },
    /// A tag follows the moves of a game that has no result yet.
    #[error("a tag among the moves: the game above it has no result yet (1-0, 0-1, 1/2-1/2 or *)")]
    TagAmongMoves,
    /// The text ends before the last game has its result.
    #[error("the text ends within a game: its result is missing (1-0, 0-1, 1/2-1/2 or *)")]
    UnexpectedEnd,
    /// A move number is not the next one.
    #[error("move number {found:?} instead of {expected:?}")]
    MoveNumber {
        /// The text of the record.
        found: String,
        /// The number of the next move.
        expected: String,
    },
    /// A comment is in the wrong place, or not closed on its line.
    #[error("a comment is one text in braces after a move and ends on the same line")]
    Comment,
    /// A numeric annotation glyph is unknown, or no move precedes it.
    #[error("an assessment is $0 to $255, !, ?, !!, ??, !? or ?! after a move")]
    Nag,
    /// A variation is in the wrong place, empty or not closed.
    #[error("a variation is moves in parentheses after the move that they replace, in at most {DEPTH} parentheses")]
    Variation,
    /// A move cannot be played.
    #[error("after ply {ply}: {error}{}", remedy(error))]
    Move {
        /// The number of plies before the move.
        ply: usize,
        /// Why the move cannot be played.
        error: PlayError,
    },
    /// The result contradicts the moves or the tag.
    #[error("the result is {found} instead of {expected}, the result {above}")]
    WrongResult {
        /// The text of the record.
        found: String,
        /// The correct text.
        expected: String,
        /// The source of the correct text.
        above: &'static str,
    },
    /// The termination contradicts the moves.
    #[error("the termination {found:?} is wrong: {expected}")]
    WrongTermination {
        /// The text of the record.
        found: String,
        /// The correct text.
        expected: String,
    },
}

/// The tag that lets a game go on after a draw.
fn remedy(error: &PlayError) -> &'static str {
    match error {
        PlayError::Repetition => ": write them in the tag Rules",
        PlayError::NoCapture { .. } => ": write it, or none, in the tag NoCaptureLimit",
        _ => "",
    }
}

/// Why a text cannot be parsed as a list of games.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct ParseRecordError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The error in the line.
    pub problem: RecordProblem,
}

/// The most parentheses around a move.
const DEPTH: usize = 64;

/// Moves that replace a move of a game or of another variation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// The index of the move that they replace, in the game or in the variation that contains this one.
    pub ply: usize,
    /// The moves, at least one.
    pub moves: Vec<Move>,
    /// Assessments of the moves, as in [`Record::nags`].
    pub nags: Vec<BTreeSet<u8>>,
    /// Comments on the moves, as in [`Record::comments`].
    pub comments: Vec<String>,
    /// Variations of the moves, as in [`Record::variations`].
    pub variations: Vec<Variation>,
}

/// A recorded game: players, date, moves, assessments, comments, variations and result.
#[derive(Clone, Debug)]
pub struct Record {
    /// The name of White's player; may be empty.
    pub white: String,
    /// The name of Black's player; may be empty.
    pub black: String,
    /// Year, month and day, as in `2026.02.03`.
    pub date: Option<String>,
    /// Further tags in their order, as name and text. Names consist of letters, digits and `_`.
    pub tags: Vec<(String, String)>,
    /// The moves and the rules.
    pub game: Game,
    /// Assessments of the moves, by index: numeric annotation glyphs such as 1 for `$1`; empty or missing for a move
    /// without one.
    pub nags: Vec<BTreeSet<u8>>,
    /// Comments on the moves, by index; an empty or missing text for a move without a comment.
    pub comments: Vec<String>,
    /// Variations of the moves, in the order of the moves. A text contains them in at most 64 parentheses.
    pub variations: Vec<Variation>,
    /// Why the game was lost, if the rules have not ended it.
    pub forfeit: Option<Forfeit>,
    /// The result that an arbiter gave a game that neither the rules nor a forfeit ended: the winner, or `None` for a
    /// draw.
    pub adjudication: Option<Option<Color>>,
}

impl Record {
    /// A game without names and comments.
    #[must_use]
    pub fn new(game: Game) -> Record {
        Record {
            white: String::new(),
            black: String::new(),
            date: None,
            tags: Vec::new(),
            game,
            nags: Vec::new(),
            comments: Vec::new(),
            variations: Vec::new(),
            forfeit: None,
            adjudication: None,
        }
    }

    /// Whether and how the game has ended ([`Conclusion::new`]).
    #[must_use]
    pub fn conclusion(&self) -> Conclusion {
        Conclusion::new(self.game.end(), self.forfeit, self.adjudication)
    }

    /// Parses all games of a text. A byte order mark at its beginning is skipped.
    ///
    /// ```
    /// use doushouqi::game::Record;
    /// let games = Record::parse_all("1. Eb3 rb7 2. Ec3 1-0").unwrap_err();
    /// assert_eq!(games.line, 1);
    /// let games = Record::parse_all("[White \"Anna\"]\n\n1. Eb3 rb7 2. Ea3 *\n").unwrap();
    /// assert_eq!(games[0].white, "Anna");
    /// assert_eq!(games[0].game.moves().len(), 3);
    /// ```
    ///
    /// # Errors
    /// The first wrong line, and the error in it.
    pub fn parse_all(text: &str) -> Result<Vec<Record>, ParseRecordError> {
        let (mut reader, mut records) = (RecordReader::default(), Vec::new());
        for line in text.lines() {
            records.extend(reader.line(line)?);
        }
        reader.finish()?;
        Ok(records)
    }

    /// All tags in the order of the text, as name and value.
    #[must_use]
    pub fn all_tags(&self) -> Vec<(&str, String)> {
        let conclusion = self.conclusion();
        let limit = self.game.no_capture_limit().map_or("none".to_owned(), |limit| limit.to_string());
        let mut tags = vec![("White", self.white.clone()), ("Black", self.black.clone())];
        tags.extend(self.date.iter().map(|date| ("Date", date.clone())));
        tags.extend([
            ("Rules", self.game.rules().options().to_string()),
            ("NoCaptureLimit", limit),
            ("FEN", self.game.start_fen().to_string()),
            ("Result", conclusion.result().to_owned()),
            ("Termination", conclusion.termination().to_owned()),
        ]);
        tags.extend(self.tags.iter().map(|(name, value)| (name.as_str(), value.clone())));
        tags
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.all_tags() {
            writeln!(f, "[{name} \"{}\"]", escape(&value, '"'))?;
        }
        writeln!(f)?;
        let first = usize::from(self.game.positions()[0].turn() == Color::Black);
        let mut text = Wrapped::default();
        text.line(&self.game.positions()[0], first, self.game.moves(), &self.nags, &self.comments, &self.variations);
        text.put(self.conclusion().result());
        writeln!(f, "{}", text.text)
    }
}

/// The number before a move, `7.` or `7...`, after this many plies since White's first move.
fn move_number(plies: usize) -> String {
    format!("{}{}", plies / 2 + 1, if plies.is_multiple_of(2) { "." } else { "..." })
}

/// Wraps words into lines of at most [`Wrapped::COLUMNS`] columns; a longer word gets a line of its own.
#[derive(Default)]
struct Wrapped {
    text: String,
    column: usize,
    /// The parenthesis that opens before the next word.
    opening: bool,
}

impl Wrapped {
    const COLUMNS: usize = 100;

    /// Adds the moves of a line from a position, which comes this many plies after White's first move.
    fn line(
        &mut self,
        start: &Position,
        mut plies: usize,
        moves: &[Move],
        nags: &[BTreeSet<u8>],
        comments: &[String],
        variations: &[Variation],
    ) {
        let mut position = start.clone();
        let mut is_numbered = true;
        for (ply, &mv) in moves.iter().enumerate() {
            if is_numbered || position.turn() == Color::White {
                self.put(&move_number(plies));
            }
            self.put(&mv.notation(&position));
            for nag in nags.get(ply).into_iter().flatten() {
                self.put(&format!("${nag}"));
            }
            if let Some(comment) = comments.get(ply).filter(|comment| !comment.is_empty()) {
                self.put(&format!("{{{}}}", escape(comment, '}')));
            }
            is_numbered = false;
            for other in variations.iter().filter(|other| other.ply == ply) {
                self.opening = true;
                self.line(&position, plies, &other.moves, &other.nags, &other.comments, &other.variations);
                self.text.push(')');
                self.column += 1;
                is_numbered = true;
            }
            position = position.make(mv);
            plies += 1;
        }
    }

    fn put(&mut self, word: &str) {
        let opening = if std::mem::take(&mut self.opening) { "(" } else { "" };
        let width = opening.len() + word.chars().count();
        if self.column > 0 {
            let fits = self.column + 1 + width <= Wrapped::COLUMNS;
            self.text.push(if fits { ' ' } else { '\n' });
            self.column = if fits { self.column + 1 } else { 0 };
        }
        self.text.push_str(opening);
        self.text.push_str(word);
        self.column += width;
    }
}

fn escape(text: &str, closing: char) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '\n' => escaped.push_str("\\n"),
            '\\' => escaped.push_str("\\\\"),
            _ if letter == closing => {
                let _ = write!(escaped, "\\{closing}");
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}
