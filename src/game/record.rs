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
//! - Text in braces after a move is a comment on the move. It stays on one line: `\}`, `\\` and `\n` represent a brace,
//!   a backslash and the end of a line.
//!
//! The parser plays every move: every game that it returns is legal and matches its result and termination. A game that
//! went on after a draw by repetition or by the no-capture limit has `repetition=none` among its rules, or another limit.

use super::end::ADJUDICATION;
use super::{Conclusion, Forfeit, ForfeitReason, Game, PlayError};
use crate::board::{Color, Fen, ParseFenError, ParseRulesError, Position, RuleOptions, Rules};
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

/// A recorded game: players, date, moves, comments and result.
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
    /// Comments on the moves, by index; an empty or missing text for a move without a comment.
    pub comments: Vec<String>,
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
            comments: Vec::new(),
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
        let mut records = Vec::new();
        let mut reader = Reader::default();
        let mut last = 0;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (i, line) in text.lines().enumerate() {
            last = i;
            reader.line(line, &mut records).map_err(|problem| ParseRecordError { line: i + 1, problem })?;
        }
        if reader.game.is_some() || !reader.tags.is_empty() {
            return Err(ParseRecordError { line: last + 1, problem: RecordProblem::UnexpectedEnd });
        }
        Ok(records)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conclusion = self.conclusion();
        let mut tag = |name: &str, value: &str| writeln!(f, "[{name} \"{}\"]", escape(value, '"'));
        tag("White", &self.white)?;
        tag("Black", &self.black)?;
        if let Some(date) = &self.date {
            tag("Date", date)?;
        }
        tag("Rules", &self.game.rules().options().to_string())?;
        tag("NoCaptureLimit", &self.game.no_capture_limit().map_or("none".to_owned(), |limit| limit.to_string()))?;
        tag("FEN", &self.game.start_fen().to_string())?;
        tag("Result", conclusion.result())?;
        tag("Termination", conclusion.termination())?;
        for (name, value) in &self.tags {
            tag(name, value)?;
        }
        writeln!(f)?;

        let mut lines = Wrapped::default();
        for (ply, (mv, position)) in self.game.moves().iter().zip(self.game.positions()).enumerate() {
            if position.turn() == Color::White || ply == 0 {
                lines.put(&move_number(&self.game, ply));
            }
            lines.put(&mv.notation(position));
            if let Some(comment) = self.comments.get(ply).filter(|comment| !comment.is_empty()) {
                lines.put(&format!("{{{}}}", escape(comment, '}')));
            }
        }
        lines.put(conclusion.result());
        writeln!(f, "{}", lines.text)
    }
}

/// The number before the move of this ply: `7.` or `7...`.
fn move_number(game: &Game, ply: usize) -> String {
    let black_first = usize::from(game.positions()[0].turn() == Color::Black);
    let white = (ply + black_first).is_multiple_of(2);
    format!("{}{}", (ply + black_first) / 2 + 1, if white { "." } else { "..." })
}

/// Wraps words into lines of at most [`Wrapped::COLUMNS`] columns; a longer word gets a line of its own.
#[derive(Default)]
struct Wrapped {
    text: String,
    column: usize,
}

impl Wrapped {
    const COLUMNS: usize = 100;

    fn put(&mut self, word: &str) {
        let width = word.chars().count();
        if self.column > 0 {
            let fits = self.column + 1 + width <= Wrapped::COLUMNS;
            self.text.push(if fits { ' ' } else { '\n' });
            self.column = if fits { self.column + 1 } else { 0 };
        }
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

/// The unescaped text before the character `closing`, and the rest after it; `None` if the text is not closed.
fn unescape(text: &str, closing: char) -> Option<(String, &str)> {
    let mut unescaped = String::new();
    let mut letters = text.char_indices();
    while let Some((i, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next()?.1 {
                'n' => unescaped.push('\n'),
                escaped if escaped == '\\' || escaped == closing => unescaped.push(escaped),
                _ => return None,
            },
            _ if letter == closing => return Some((unescaped, &text[i + closing.len_utf8()..])),
            _ => unescaped.push(letter),
        }
    }
    None
}

/// The parsed part of one game.
#[derive(Default)]
struct Reader {
    tags: Vec<(String, String)>,
    /// Created from the tags at the first word after them.
    game: Option<Game>,
    comments: Vec<String>,
}

const RESULTS: [&str; 4] = ["1-0", "0-1", "1/2-1/2", "*"];

impl Reader {
    fn line(&mut self, line: &str, records: &mut Vec<Record>) -> Result<(), RecordProblem> {
        let mut rest = line.trim();
        if let Some(tag) = rest.strip_prefix('[') {
            if self.game.is_some() {
                return Err(RecordProblem::TagAmongMoves);
            }
            return self.tag(tag);
        }
        while !rest.is_empty() {
            if let Some(comment) = rest.strip_prefix('{') {
                let (comment, after) = unescape(comment, '}').ok_or(RecordProblem::Comment)?;
                let moves = self.game.as_ref().map_or(0, |game| game.moves().len());
                if moves == 0 || self.comments.len() == moves {
                    return Err(RecordProblem::Comment);
                }
                self.comments.resize(moves - 1, String::new());
                self.comments.push(comment);
                rest = after.trim_start();
                continue;
            }
            let end = rest.find(|letter: char| letter.is_whitespace() || letter == '{').unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = after.trim_start();
            if RESULTS.contains(&word) {
                records.push(std::mem::take(self).finish(word)?);
            } else {
                self.word(word)?;
            }
        }
        Ok(())
    }

    fn tag(&mut self, tag: &str) -> Result<(), RecordProblem> {
        let (name, value) = tag.split_once(char::is_whitespace).ok_or(RecordProblem::MalformedTag)?;
        let value = value.trim_start().strip_prefix('"').ok_or(RecordProblem::MalformedTag)?;
        let (value, after) = unescape(value, '"').ok_or(RecordProblem::MalformedTag)?;
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !is_name || after.trim() != "]" {
            return Err(RecordProblem::MalformedTag);
        }
        if self.tags.iter().any(|(earlier, _)| earlier == name) {
            return Err(RecordProblem::DuplicateTag { name: name.to_owned() });
        }
        // Checked here, where the number of the line is known.
        match name {
            "Date" if !is_date(&value) => return Err(RecordProblem::Date { found: value }),
            "Rules" => {
                value.parse::<RuleOptions>()?;
            }
            "NoCaptureLimit" => {
                no_capture_limit(&value)?;
            }
            "FEN" => {
                value.parse::<Fen>()?;
            }
            "Result" if !RESULTS.contains(&value.as_str()) => return Err(RecordProblem::Result { found: value }),
            _ => {}
        }
        self.tags.push((name.to_owned(), value));
        Ok(())
    }

    /// Removes a tag from the list and returns its text.
    fn take(&mut self, name: &str) -> Option<String> {
        let i = self.tags.iter().position(|(n, _)| n == name)?;
        Some(self.tags.remove(i).1)
    }

    fn begin(&mut self) -> Result<Game, RecordProblem> {
        let rules = self.take("Rules").map_or(Ok(RuleOptions::PAPER), |text| text.parse())?;
        let start = self.take("FEN").map_or_else(|| Ok(Position::start().into()), |text| text.parse::<Fen>())?;
        let limit = self.take("NoCaptureLimit");
        let limit = limit.map_or(Ok(Some(Game::NO_CAPTURE_LIMIT)), |text| no_capture_limit(&text))?;
        Ok(Game::from_fen(start, Rules::new(rules), limit))
    }

    fn word(&mut self, word: &str) -> Result<(), RecordProblem> {
        if self.game.is_none() {
            self.game = Some(self.begin()?);
        }
        let game = self.game.as_mut().expect("it has just begun");
        let ply = game.moves().len();
        let mut text = word;
        if let Some(dot) = word.rfind('.') {
            let (number, after) = word.split_at(dot + 1);
            let expected = move_number(game, ply);
            if number != expected {
                return Err(RecordProblem::MoveNumber { found: number.to_owned(), expected });
            }
            text = after;
        }
        if text.is_empty() {
            return Ok(());
        }
        let problem = |error| RecordProblem::Move { ply, error };
        let mv = game.parse(text).map_err(problem)?;
        game.play(mv).map_err(problem)
    }

    fn finish(mut self, result: &str) -> Result<Record, RecordProblem> {
        let game = self.game.take().map_or_else(|| self.begin(), Ok)?;
        let other = |found: &str, expected: &str, above| RecordProblem::WrongResult {
            found: found.to_owned(),
            expected: expected.to_owned(),
            above,
        };
        if let Some(tag) = self.take("Result").filter(|tag| tag != result) {
            return Err(other(result, &tag, "in its tag"));
        }
        let termination = self.take("Termination");
        let winner = match result {
            "1-0" => Some(Color::White),
            "0-1" => Some(Color::Black),
            _ => None,
        };
        let (mut forfeit, mut adjudication) = (None, None);
        if let Some(end) = game.end() {
            let conclusion = Conclusion::Rules(end);
            if result != conclusion.result() {
                return Err(other(result, conclusion.result(), "of the moves"));
            }
            if let Some(found) = termination.filter(|word| word != conclusion.termination()) {
                let expected = format!("the moves end by {}", conclusion.termination());
                return Err(RecordProblem::WrongTermination { found, expected });
            }
        } else if result != "*" && termination.as_deref() == Some(ADJUDICATION) {
            adjudication = Some(winner);
        } else if let Some(winner) = winner {
            let found = termination.unwrap_or_default();
            let Some(reason) = ForfeitReason::ALL.into_iter().find(|reason| reason.as_str() == found) else {
                let words = ForfeitReason::ALL.map(ForfeitReason::as_str).join(", ");
                let expected =
                    format!("the moves do not end the game, so the reason must be one of {words}, {ADJUDICATION}");
                return Err(RecordProblem::WrongTermination { found, expected });
            };
            forfeit = Some(Forfeit { loser: !winner, reason });
        } else if result != "*" {
            return Err(other(result, "*", "of moves that do not end the game"));
        } else if let Some(found) = termination.filter(|word| word != "unfinished") {
            let expected = "the game is unfinished".to_owned();
            return Err(RecordProblem::WrongTermination { found, expected });
        }
        let white = self.take("White").unwrap_or_default();
        let black = self.take("Black").unwrap_or_default();
        let date = self.take("Date");
        Ok(Record { white, black, date, tags: self.tags, game, comments: self.comments, forfeit, adjudication })
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let number = |part: &str, digits| {
        (part.len() == digits && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<u32>().unwrap_or(0))
    };
    match parts[..] {
        [year, month, day] => {
            number(year, 4).is_some()
                && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
                && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
        }
        _ => false,
    }
}

fn no_capture_limit(text: &str) -> Result<Option<u32>, RecordProblem> {
    match text.parse() {
        Ok(limit) if limit > 0 => Ok(Some(limit)),
        _ if text == "none" => Ok(None),
        _ => Err(RecordProblem::NoCaptureLimit { found: text.to_owned() }),
    }
}
