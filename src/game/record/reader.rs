//! Reading games line by line.

use super::{DEPTH, ParseRecordError, Record, RecordProblem, Variation, move_number};
use crate::board::{Color, Fen, Position, RuleOptions, Rules};
use crate::formats::Dialect;
use crate::game::Game;
use std::collections::BTreeSet;

/// Reads games line by line, and keeps only the game that it is reading: a file of any size needs little memory.
///
/// ```
/// use doushouqi::game::RecordReader;
/// let mut reader = RecordReader::default();
/// assert!(reader.line("1. Eb3 (1. Ea4 {slow}) 1... rb7")?.is_empty());
/// let games = reader.line("2. Ea3 *")?;
/// assert_eq!(games[0].variations[0].moves[0].to_string(), "a3a4");
/// reader.finish()?;
/// # Ok::<(), doushouqi::game::ParseRecordError>(())
/// ```
#[derive(Default)]
pub struct RecordReader {
    /// The number of lines read.
    count: usize,
    tags: Vec<(String, String)>,
    /// The variation that is being read, after those that contain it; the moves of the game come first. Empty before the
    /// first word or comment after the tags, from which they are created.
    lines: Vec<Line>,
    /// How the game that is being read writes squares.
    dialect: Option<Dialect>,
    /// The comment before the first move.
    comment: Option<String>,
    /// The rules of the last game: to make rules takes longer than to read a game.
    rules: Option<Rules>,
}

/// The moves of a game or of a variation.
struct Line {
    /// The game up to the last of the moves.
    game: Game,
    /// The number of moves before them.
    start: usize,
    nags: Vec<BTreeSet<u8>>,
    comments: Vec<String>,
    variations: Vec<Variation>,
}

impl Line {
    fn new(game: Game) -> Line {
        Line { start: game.moves().len(), game, nags: Vec::new(), comments: Vec::new(), variations: Vec::new() }
    }

    fn len(&self) -> usize {
        self.game.moves().len() - self.start
    }
}

/// The numeric annotation glyphs 1 to 6 as people write them.
const SUFFIXES: [&str; 6] = ["!", "?", "!!", "??", "!?", "?!"];

const RESULTS: [&str; 4] = ["1-0", "0-1", "1/2-1/2", "*"];

impl RecordReader {
    /// Reads a line, and returns the games that end on it. A byte order mark before the first line is skipped.
    ///
    /// # Errors
    /// The error in the line. The game is dropped: the next line begins another one.
    pub fn line(&mut self, line: &str) -> Result<Vec<Record>, ParseRecordError> {
        let line = if self.count == 0 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
        self.count += 1;
        let mut records = Vec::new();
        match self.read(line, &mut records) {
            Ok(()) => Ok(records),
            Err(problem) => Err(self.failed(problem)),
        }
    }

    /// Ends the text.
    ///
    /// # Errors
    /// If the text ends within a game.
    pub fn finish(mut self) -> Result<(), ParseRecordError> {
        if self.lines.is_empty() && self.tags.is_empty() {
            return Ok(());
        }
        Err(self.failed(RecordProblem::UnexpectedEnd))
    }

    fn failed(&mut self, problem: RecordProblem) -> ParseRecordError {
        self.tags.clear();
        self.lines.clear();
        self.dialect = None;
        self.comment = None;
        ParseRecordError { line: self.count, problem }
    }

    fn read(&mut self, line: &str, records: &mut Vec<Record>) -> Result<(), RecordProblem> {
        let mut rest = line.trim();
        if let Some(tag) = rest.strip_prefix('[') {
            return if self.lines.is_empty() { self.tag(tag) } else { Err(RecordProblem::TagAmongMoves) };
        }
        #[cfg(feature = "serde")]
        if self.lines.is_empty() && self.tags.is_empty() && super::mistboard::is_json(rest) {
            records.push(super::mistboard::read(rest, &mut self.rules)?);
            return Ok(());
        }
        while let Some(first) = rest.chars().next() {
            let after = match first {
                '{' => {
                    let (comment, after) = unescape(&rest[1..], '}').ok_or(RecordProblem::Comment)?;
                    self.comment(comment)?;
                    after
                }
                ';' => {
                    self.comment(rest[1..].trim().to_owned())?;
                    ""
                }
                '$' | '!' | '?' => self.nag(rest)?,
                '(' | ')' => {
                    if first == '(' {
                        self.open()?
                    } else {
                        self.close()?
                    }
                    &rest[1..]
                }
                _ => {
                    let is_end = |letter: char| letter.is_whitespace() || "{()$!?;".contains(letter);
                    let (word, after) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
                    if RESULTS.contains(&word) {
                        records.push(self.end(word)?);
                    } else {
                        self.word(word)?;
                    }
                    after
                }
            };
            rest = after.trim_start();
        }
        Ok(())
    }

    /// Adds a comment on the last move, or on the game before its first move.
    fn comment(&mut self, comment: String) -> Result<(), RecordProblem> {
        if self.first_line()?.len() == 0 && self.lines.len() == 1 && self.comment.is_none() {
            self.comment = Some(comment);
            return Ok(());
        }
        let line = self.lines.last_mut().filter(|line| line.comments.len() < line.len());
        let line = line.ok_or(RecordProblem::Comment)?;
        line.comments.resize(line.len() - 1, String::new());
        line.comments.push(comment);
        Ok(())
    }

    /// Reads the assessment at the beginning of a text, and returns the text after it.
    fn nag<'a>(&mut self, text: &'a str) -> Result<&'a str, RecordProblem> {
        let (nag, after) = match text.strip_prefix('$') {
            Some(text) => {
                let after = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
                (text[..text.len() - after.len()].parse().ok(), after)
            }
            None => {
                let after = text.trim_start_matches(['!', '?']);
                let suffix = &text[..text.len() - after.len()];
                ((1..).zip(SUFFIXES).find(|&(_, known)| known == suffix).map(|(number, _)| number), after)
            }
        };
        let line = self.lines.last_mut().filter(|line| line.len() > 0);
        let (line, nag) = line.zip(nag).ok_or(RecordProblem::Nag)?;
        let last = line.len() - 1;
        line.nags.resize(last + 1, BTreeSet::new());
        line.nags[last].insert(nag);
        Ok(after)
    }

    /// Begins a variation that replaces the last move.
    fn open(&mut self) -> Result<(), RecordProblem> {
        let line = self.lines.last().filter(|line| line.len() > 0).ok_or(RecordProblem::Variation)?;
        if self.lines.len() > DEPTH {
            return Err(RecordProblem::Variation);
        }
        let mut game = line.game.clone();
        game.undo();
        self.lines.push(Line::new(game));
        Ok(())
    }

    /// Ends a variation.
    fn close(&mut self) -> Result<(), RecordProblem> {
        let line = self.lines.pop().filter(|line| line.len() > 0).ok_or(RecordProblem::Variation)?;
        let around = self.lines.last_mut().ok_or(RecordProblem::Variation)?;
        let Line { game, start, nags, comments, variations } = line;
        let ply = start - around.start;
        around.variations.push(Variation { ply, moves: game.moves()[start..].to_vec(), nags, comments, variations });
        Ok(())
    }

    fn tag(&mut self, tag: &str) -> Result<(), RecordProblem> {
        let (name, value) = tag.split_once(char::is_whitespace).ok_or(RecordProblem::MalformedTag)?;
        let value = value.trim_start().strip_prefix('"').ok_or(RecordProblem::MalformedTag)?;
        let (value, after) = unescape(value, '"').ok_or(RecordProblem::MalformedTag)?;
        if after.trim() == "]" { self.add_tag(name, value) } else { Err(RecordProblem::MalformedTag) }
    }

    /// Adds a tag of the game.
    pub(super) fn add_tag(&mut self, name: &str, value: String) -> Result<(), RecordProblem> {
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(RecordProblem::TagName { name: name.to_owned() });
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
            // The other tags tell which dialect it is.
            "FEN" if Dialect::Mistboard.parse_fen(&value).is_err() => {
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

    /// How the game writes squares. Mistboard calls White red, and mirrors the board.
    fn dialect_of(&self, fen: Option<&str>) -> Result<Dialect, RecordProblem> {
        let has = |name| self.tags.iter().any(|(tag, _)| tag == name);
        let is_red = has("Red") && !has("White");
        match fen.map(|fen| fen.split_whitespace().nth(1)) {
            Some(Some("r")) => Ok(Dialect::Mistboard),
            Some(Some("w")) => Ok(Dialect::Dsq),
            _ if is_red => Ok(Dialect::Mistboard),
            None if has("Variant") => Err(RecordProblem::Variant),
            _ => Ok(Dialect::Dsq),
        }
    }

    /// Creates the game of the tags.
    fn begin(&mut self) -> Result<Line, RecordProblem> {
        let options = self.take("Rules").map_or(Ok(RuleOptions::PAPER), |text| text.parse())?;
        let fen = self.take("FEN");
        let dialect = self.dialect_of(fen.as_deref())?;
        self.dialect = Some(dialect);
        let start = match fen {
            None => Position::start().into(),
            Some(text) if dialect == Dialect::Mistboard => dialect.parse_fen(&text)?.fen,
            Some(text) => text.parse::<Fen>()?,
        };
        let limit = self.take("NoCaptureLimit");
        let limit = limit.map_or(Ok(Some(Game::NO_CAPTURE_LIMIT)), |text| no_capture_limit(&text))?;
        let known = self.rules.take().filter(|rules| *rules.options() == options);
        let rules = known.unwrap_or_else(|| Rules::new(options));
        self.rules = Some(rules.clone());
        Ok(Line::new(Game::from_fen(start, rules, limit)))
    }

    /// The moves of the game, which begin here if none was read.
    fn first_line(&mut self) -> Result<&mut Line, RecordProblem> {
        if self.lines.is_empty() {
            let line = self.begin()?;
            self.lines.push(line);
        }
        Ok(&mut self.lines[0])
    }

    /// Reads a number, a move, or both.
    fn word(&mut self, word: &str) -> Result<(), RecordProblem> {
        self.first_line()?;
        let game = &mut self.lines.last_mut().expect("there is one").game;
        let ply = game.moves().len();
        let mut text = word;
        if let Some(dot) = word.rfind('.') {
            let (number, after) = word.split_at(dot + 1);
            let expected = move_number(ply + usize::from(game.positions()[0].turn() == Color::Black));
            if number != expected {
                return Err(RecordProblem::MoveNumber { found: number.to_owned(), expected });
            }
            text = after;
        }
        if text.is_empty() {
            return Ok(());
        }
        let problem = |error| RecordProblem::Move { ply, error };
        let text = if self.dialect == Some(Dialect::Mistboard) { &mirrored(text) } else { text };
        let mv = game.parse(text).map_err(problem)?;
        game.play(mv).map_err(problem)
    }

    /// Ends the game.
    fn end(&mut self, result: &str) -> Result<Record, RecordProblem> {
        if self.lines.len() > 1 {
            return Err(RecordProblem::OpenVariation);
        }
        let Line { game, nags, comments, variations, .. } = self.lines.pop().map_or_else(|| self.begin(), Ok)?;
        if let Some(expected) = self.take("Result").filter(|tag| tag != result) {
            let found = result.to_owned();
            return Err(RecordProblem::WrongResult { found, expected, above: "in its tag" });
        }
        let termination = self.take("Termination");
        let red = if self.dialect.take() == Some(Dialect::Mistboard) { self.take("Red") } else { None };
        let white = self.take("White").or(red).unwrap_or_default();
        let black = self.take("Black").unwrap_or_default();
        let date = self.take("Date");
        let tags = std::mem::take(&mut self.tags);
        let comment = self.comment.take().unwrap_or_default();
        let mut record = Record { white, black, date, tags, comment, nags, comments, variations, ..Record::new(game) };
        record.conclude(result, termination.as_deref())?;
        Ok(record)
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

/// A move with the files of its squares mirrored.
fn mirrored(text: &str) -> String {
    let mirror = |(i, letter): (usize, char)| match text.as_bytes().get(i + 1) {
        Some(b'1'..=b'9') if ('a'..='g').contains(&letter) => char::from(b'a' + b'g' - letter as u8),
        _ => letter,
    };
    text.char_indices().map(mirror).collect()
}

fn no_capture_limit(text: &str) -> Result<Option<u32>, RecordProblem> {
    match text.parse() {
        Ok(limit) if limit > 0 => Ok(Some(limit)),
        _ if text == "none" => Ok(None),
        _ => Err(RecordProblem::NoCaptureLimit { found: text.to_owned() }),
    }
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
