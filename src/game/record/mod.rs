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
//!   `resignation`, `time`, `illegal-move` or `crash` of the loser; `adjudication`; or `unfinished`. It may be left out: a
//!   result that the rules do not give is then an adjudication.
//! - Moves are in the papers' notation (`Eb3`, `Txb1`) or in coordinates (`a3b3`). Move numbers may be left out: `1.`
//!   before White's move, `1...` before Black's.
//! - `$` and a number up to 255 after a move assess the move, as in chess (numeric annotation glyphs, NAGs): `$1` is a
//!   good move, also written `!`; `$2` to `$6` are `?`, `!!`, `??`, `!?` and `?!`.
//! - Text in braces after a move is a comment on the move, and before the first move of a game one on the game. It stays
//!   on one line: `\}`, `\\` and `\n` represent a brace, a backslash and the end of a line. Text from a semicolon to the end
//!   of its line is a comment, too.
//! - Moves in parentheses after a move are a variation: they replace the move. A variation contains at least one move,
//!   and comments and variations as the game does, but no result.
//!
//! A game of Mistboard, which calls White red (`[Red "Anna"]`, or `r` in the `FEN`) and mirrors the board, is read as the
//! same game on this board. A tag `Variant` without these marks and without a `FEN` leaves the board unknown, an error.
//!
//! A line of JSON is a game as Mistboard exports it, if the crate has the feature `serde`: `variant`, `players`, `plies` with
//! their `uci`, `result`, `termination`, and optionally `fen`; the rules are `chinese`, the limit 200.
//!
//! The parser plays every move: every game that it returns is legal and matches its result and termination. A game that
//! went on after a draw by repetition or by the no-capture limit has `repetition=none` among its rules, or another limit.

#[cfg(feature = "serde")]
mod mistboard;
mod reader;

pub use reader::RecordReader;

use super::end::ADJUDICATION;
use super::{Conclusion, Forfeit, ForfeitReason, Game, PlayError};
use crate::board::{Color, Move, MoveLimit, ParseFenError, ParseRulesError, Repetition, Rules};
use crate::formats::FormatError;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use thiserror::Error;

/// An error in a line of a record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordProblem {
    /// A line in brackets is not a tag.
    #[error("a tag is [Name \"text\"], on a line of its own")]
    MalformedTag,
    /// The name of a tag has other characters than letters, digits and `_`.
    #[error("the name of a tag consists of letters, digits and _, not {name:?}")]
    TagName {
        /// The name.
        name: String,
    },
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
    /// The first position of a game of Mistboard is malformed.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The game is of another program, whose board may be mirrored.
    #[error("a game with the tag Variant needs the tag FEN: the boards of some programs are mirrored")]
    Variant,
    /// A line that begins like JSON is not a game of Mistboard, or is cut.
    #[error("the JSON is not a game of Mistboard, or is cut: {0}")]
    Json(String),
    /// The game is another one.
    #[error("a game of {variant}, not of Jungle")]
    OtherGame {
        /// Its name.
        variant: String,
    },
    /// A game to be written has positions before its first one.
    #[error("a text cannot contain the positions before the first one of its game")]
    EarlierPositions,
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
    #[error("a comment is one text before the first move or after a move, in braces on one line or after a semicolon")]
    Comment,
    /// A numeric annotation glyph is unknown, or no move precedes it.
    #[error("an assessment is $0 to $255, !, ?, !!, ??, !? or ?! after a move")]
    Nag,
    /// The result follows a variation that is not closed.
    #[error("a variation is not closed: a parenthesis is missing before the result")]
    OpenVariation,
    /// A variation is in the wrong place, empty, too deep or closed twice.
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
        PlayError::Repetition | PlayError::MoveLimit { .. } => ": write them in the tag Rules",
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
    /// The comment before the first move; may be empty.
    pub comment: String,
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
            comment: String::new(),
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

    /// Sets the result, as a text ends with it, and its reason, the value of the tag `Termination`. A result that the
    /// rules do not give is without a reason an adjudication.
    ///
    /// # Errors
    /// If they contradict the moves or each other.
    pub fn conclude(&mut self, result: &str, termination: Option<&str>) -> Result<(), RecordProblem> {
        let winner = match result {
            "1-0" => Some(Color::White),
            "0-1" => Some(Color::Black),
            "1/2-1/2" | "*" => None,
            _ => return Err(RecordProblem::Result { found: result.to_owned() }),
        };
        let wrong_result = |expected: &str, above| RecordProblem::WrongResult {
            found: result.to_owned(),
            expected: expected.to_owned(),
            above,
        };
        let wrong_termination = |expected| {
            let found = termination.unwrap_or_default().to_owned();
            Err(RecordProblem::WrongTermination { found, expected })
        };
        (self.forfeit, self.adjudication) = (None, None);
        if let Some(end) = self.game.end() {
            let conclusion = Conclusion::Rules(end);
            if result != conclusion.result() {
                return Err(wrong_result(conclusion.result(), "of the moves"));
            }
            if termination.is_some_and(|word| word != conclusion.termination()) {
                return wrong_termination(format!("the moves end by {}", conclusion.termination()));
            }
        } else if result == "*" {
            if termination.is_some_and(|word| word != "unfinished") {
                return wrong_termination("the game is unfinished".to_owned());
            }
        } else if termination.is_none_or(|word| word == ADJUDICATION) {
            self.adjudication = Some(winner);
        } else if let Some(winner) = winner {
            let reason = ForfeitReason::ALL.into_iter().find(|reason| Some(reason.as_str()) == termination);
            let Some(reason) = reason else {
                let words = ForfeitReason::ALL.map(ForfeitReason::as_str).join(", ");
                return wrong_termination(format!(
                    "the moves do not end the game, so the reason must be one of {words}, {ADJUDICATION}"
                ));
            };
            self.forfeit = Some(Forfeit { loser: !winner, reason });
        } else {
            return Err(wrong_result("*", "of moves that do not end the game"));
        }
        Ok(())
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

    /// All tags in the order of the text, as name and value. The text leaves out players without a name.
    #[must_use]
    pub fn all_tags(&self) -> Vec<(&str, String)> {
        self.tags_of(&self.game)
    }

    /// All tags, for the game under other rules.
    fn tags_of(&self, game: &Game) -> Vec<(&str, String)> {
        let conclusion = Conclusion::new(game.end(), self.forfeit, self.adjudication);
        let limit = game.no_capture_limit().map_or("none".to_owned(), |limit| limit.to_string());
        let mut tags = vec![("White", self.white.clone()), ("Black", self.black.clone())];
        tags.extend(self.date.iter().map(|date| ("Date", date.clone())));
        tags.extend([
            ("Rules", game.rules().options().to_string()),
            ("NoCaptureLimit", limit),
            ("FEN", self.game.start_fen().to_string()),
            ("Result", conclusion.result().to_owned()),
            ("Termination", conclusion.termination().to_owned()),
        ]);
        tags.extend(self.tags.iter().map(|(name, value)| (name.as_str(), value.clone())));
        tags
    }

    /// The game as text, which [`Record::parse_all`] reads as this record. A game that was played on after a draw
    /// ([`Game::play_on`]) is written under rules without that draw, with the result that these give it.
    ///
    /// ```
    /// use doushouqi::game::Record;
    /// let mut record = Record::parse_all("1. Eb3! rb7 *")?.remove(0);
    /// assert!(record.to_text()?.ends_with("1. Eb3 $1 Rb7 *\n"));
    /// record.tags.push(("White".to_owned(), "Anna".to_owned()));
    /// assert_eq!(record.to_text().unwrap_err().to_string(), "the tag White occurs twice");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What a text cannot contain: tags with wrong names or twice, a malformed date, a no-capture limit of 0, positions
    /// before the first one, comments and assessments without a move, and variations that are empty, illegal or too deep.
    pub fn to_text(&self) -> Result<String, RecordProblem> {
        if !self.game.earlier().is_empty() {
            return Err(RecordProblem::EarlierPositions);
        }
        let (mut rules, mut limit) = (self.game.rules().clone(), self.game.no_capture_limit());
        let first = usize::from(self.game.positions()[0].turn() == Color::Black);
        let (game, mut words) = loop {
            let mut words = Wrapped { first, ..Wrapped::default() };
            words.comment(&self.comment);
            let start = Game::from_fen(self.game.start_fen(), rules.clone(), limit);
            let written = words.line(start, self.game.moves(), &self.nags, &self.comments, &self.variations, 0);
            match written {
                Err(RecordProblem::Move { error: PlayError::Repetition, .. }) => {
                    rules = Rules::new(rules.options().repetition(Repetition::None));
                }
                Err(RecordProblem::Move { error: PlayError::MoveLimit { .. }, .. }) => {
                    rules = Rules::new(rules.options().move_limit(MoveLimit::None));
                }
                Err(RecordProblem::Move { error: PlayError::NoCapture { .. }, .. }) => limit = None,
                written => break (written?, words),
            }
        };
        let (mut text, mut reader) = (String::new(), RecordReader::default());
        // With the tag `Red`, the tag `White` tells the game from one of Mistboard.
        let is_red = self.tags.iter().any(|(name, _)| name == "Red");
        for (name, value) in self.tags_of(&game) {
            if !value.is_empty() || !(name == "Black" || name == "White" && !is_red) {
                let _ = writeln!(text, "[{name} \"{}\"]", escape(&value, '"'));
            }
            reader.add_tag(name, value)?;
        }
        words.put(Conclusion::new(game.end(), self.forfeit, self.adjudication).result());
        Ok(format!("{text}\n{}\n", words.text))
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
    /// The plies before the game, counted from White's first move.
    first: usize,
    /// The parenthesis that opens before the next word.
    opening: bool,
}

impl Wrapped {
    const COLUMNS: usize = 100;

    /// Adds the moves of a line after those of a game, which it returns with them.
    fn line(
        &mut self,
        mut game: Game,
        moves: &[Move],
        nags: &[BTreeSet<u8>],
        comments: &[String],
        variations: &[Variation],
        depth: usize,
    ) -> Result<Game, RecordProblem> {
        if depth > DEPTH || depth > 0 && moves.is_empty() || variations.iter().any(|other| other.ply >= moves.len()) {
            return Err(RecordProblem::Variation);
        }
        if nags.iter().skip(moves.len()).any(|nags| !nags.is_empty()) {
            return Err(RecordProblem::Nag);
        }
        if comments.iter().skip(moves.len()).any(|comment| !comment.is_empty()) {
            return Err(RecordProblem::Comment);
        }
        let mut is_numbered = true;
        for (i, &mv) in moves.iter().enumerate() {
            let ply = game.moves().len();
            game.play(mv).map_err(|error| RecordProblem::Move { ply, error })?;
            let before = &game.positions()[ply];
            if is_numbered || before.turn() == Color::White {
                self.put(&move_number(self.first + ply));
            }
            self.put(&mv.notation(before));
            for nag in nags.get(i).into_iter().flatten() {
                self.put(&format!("${nag}"));
            }
            self.comment(comments.get(i).map_or("", String::as_str));
            is_numbered = false;
            for other in variations.iter().filter(|other| other.ply == i) {
                self.opening = true;
                let mut before = game.clone();
                before.undo();
                self.line(before, &other.moves, &other.nags, &other.comments, &other.variations, depth + 1)?;
                self.text.push(')');
                self.column += 1;
                is_numbered = true;
            }
        }
        Ok(game)
    }

    /// Adds a comment unless it is empty.
    fn comment(&mut self, comment: &str) {
        if !comment.is_empty() {
            self.put(&format!("{{{}}}", escape(comment, '}')));
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
