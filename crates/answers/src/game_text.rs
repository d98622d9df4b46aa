//! Games of requests: read and written by the library, as text or as a list of moves.

use super::errors::{ApiError, Code};
use super::params;
use doushouqi::board::{Move, Position, RuleOptions, Rules};
use doushouqi::game::{Conclusion, Game, PlayError, Record, RecordProblem, Variation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The most moves of a game.
pub const MAX_PLIES: usize = 600;
/// The longest text of a game, in bytes.
pub const MAX_GAME_TEXT: usize = 72 << 10;
/// The most moves of all games of a text together, or of a game with its variations.
const MAX_TEXT_MOVES: usize = 1200;

/// A game in a request: a game of a text, or its first position and its moves.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GameRequest {
    pub text: Option<String>,
    /// The number of the game in the text, from 1. Default: the last game.
    pub game: Option<usize>,
    pub fen: Option<String>,
    pub rules: Option<String>,
    /// The comment on the game, before its first move.
    pub comment: String,
    pub moves: Vec<GivenMove>,
    /// The plies without a capture that draw the game, 0 for no limit. Default: 100.
    pub no_capture_limit: Option<u32>,
    /// The number of first moves that a review leaves out: a game can be reviewed in parts.
    pub skip: usize,
    /// Tags of the game as name and value, such as `White`, `Black` and `Date`. `Result` and `Termination` are of a game
    /// that the rules have not ended.
    pub tags: Vec<[String; 2]>,
}

/// A move of a request: its text in either notation, or a move with what is written about it.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum GivenMove {
    Text(String),
    Annotated(AnnotatedMove),
}

/// A move with its assessments (numeric annotation glyphs), its comment and its variations: moves that replace it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AnnotatedMove {
    pub uci: String,
    pub nags: BTreeSet<u8>,
    pub comment: String,
    pub variations: Vec<Vec<AnnotatedMove>>,
}

/// A game as text, and what the text contains.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameText {
    pub text: String,
    /// The number of games in the text of the request; 1 without a text.
    pub games: usize,
    /// The first position, with the halfmove clock if it is not 0.
    pub fen: String,
    pub rules: String,
    /// The plies without a capture that draw the game; null for no limit.
    pub no_capture_limit: Option<u32>,
    /// The tags as a request contains them.
    pub tags: Vec<[String; 2]>,
    pub result: &'static str,
    pub termination: &'static str,
    /// The comment on the game; may be empty.
    pub comment: String,
    pub moves: Vec<AnnotatedMove>,
}

/// The error for a game, or a text of games, with too many moves.
fn too_long() -> ApiError {
    let message = format!(
        "a game has at most {MAX_PLIES} moves, and with its variations and all games of a text {MAX_TEXT_MOVES}"
    );
    ApiError::new(Code::TooLarge, message).reason("too_many_moves").with("max", MAX_PLIES).with("all", MAX_TEXT_MOVES)
}

/// The number of words of a text of games that can be moves: an upper bound of the number of moves. Words end and comments
/// begin as in the library's reader. In JSON these are strings.
fn max_move_words(text: &str) -> usize {
    let is_end = |letter: char| letter.is_whitespace() || "{()$!?;".contains(letter);
    let mut count = 0;
    for mut line in text.lines().filter(|line| !line.trim_start().starts_with('[')) {
        if line.trim_start().starts_with("{\"") {
            count += json_moves(line);
        }
        loop {
            let (moves, rest) = line.split_at(line.find(['{', ';']).unwrap_or(line.len()));
            count += moves.split(is_end).filter(|word| word.contains(char::is_alphabetic)).count();
            let mut is_escaped = false;
            let end = rest.strip_prefix('{').and_then(|comment| {
                comment.find(|letter| {
                    let ends = letter == '}' && !is_escaped;
                    is_escaped = letter == '\\' && !is_escaped;
                    ends
                })
            });
            let Some(end) = end else { break };
            line = &rest[end + 2..];
        }
    }
    count
}

/// The number of strings of four characters, as moves are, in a line of JSON.
fn json_moves(line: &str) -> usize {
    let quotes = line.bytes().enumerate().filter(|&(_, byte)| byte == b'"').map(|(i, _)| i);
    quotes.clone().zip(quotes.skip(1)).filter(|(from, to)| to - from == 5).count()
}

/// The no-capture limit of a request: the usual one if missing, none if 0.
#[must_use]
pub fn no_capture_limit(given: Option<u32>) -> Option<u32> {
    Some(given.unwrap_or(Game::NO_CAPTURE_LIMIT)).filter(|&limit| limit > 0)
}

/// Plays moves from the start of a game. With `goes_on` the game may go on after a draw by repetition or by the
/// no-capture limit, as on an analysis board.
pub fn play(mut game: Game, moves: &[&str], goes_on: bool) -> Result<Game, ApiError> {
    if moves.len() > MAX_PLIES {
        return Err(too_long());
    }
    for (i, text) in moves.iter().enumerate() {
        play_move(&mut game, text, goes_on).map_err(|error| ApiError::unplayable(i, text, &error))?;
    }
    Ok(game)
}

fn play_move(game: &mut Game, text: &str, goes_on: bool) -> Result<(), PlayError> {
    if goes_on { game.play_on(Move::parse(text, game.position(), game.rules())?) } else { game.play(game.parse(text)?) }
}

/// The number of moves with their variations.
fn count(moves: &[AnnotatedMove]) -> usize {
    moves.iter().map(|mv| 1 + mv.variations.iter().map(|line| count(line)).sum::<usize>()).sum()
}

/// The message of a problem. It may contain a text of the request, which may be long.
fn detail(problem: &RecordProblem) -> String {
    const MOST: usize = 160;
    let message = problem.to_string();
    if message.chars().count() <= MOST { message } else { message.chars().take(MOST).chain(['…']).collect() }
}

/// A problem of a game without a text.
fn wrong_game(problem: &RecordProblem) -> ApiError {
    let message = detail(problem);
    ApiError::parameter("tags", "wrong_game", message.clone()).with("detail", message)
}

/// Adds moves with what is written about them to a record. The assessments, comments and variations of the record are
/// those of these moves only, as in a [`Variation`].
fn add_moves(record: &mut Record, moves: &[AnnotatedMove], goes_on: bool) -> Result<(), ApiError> {
    let first = record.game.moves().len();
    for (i, AnnotatedMove { uci, nags, comment, variations }) in moves.iter().enumerate() {
        for line in variations {
            let mut other = Record::new(record.game.clone());
            add_moves(&mut other, line, goes_on)?;
            let Record { game, nags, comments, variations, .. } = other;
            record.variations.push(Variation {
                ply: i,
                moves: game.moves()[first + i..].to_vec(),
                nags,
                comments,
                variations,
            });
        }
        play_move(&mut record.game, uci, goes_on).map_err(|error| ApiError::unplayable(first + i, uci, &error))?;
        record.nags.push(nags.clone());
        record.comments.push(comment.clone());
    }
    Ok(())
}

/// The moves of a line as an answer contains them.
fn annotated(
    moves: &[Move],
    nags: &[BTreeSet<u8>],
    comments: &[String],
    variations: &[Variation],
) -> Vec<AnnotatedMove> {
    let line = |other: &Variation| annotated(&other.moves, &other.nags, &other.comments, &other.variations);
    let annotate = |(i, mv): (usize, &Move)| AnnotatedMove {
        uci: mv.to_string(),
        nags: nags.get(i).cloned().unwrap_or_default(),
        comment: comments.get(i).cloned().unwrap_or_default(),
        variations: variations.iter().filter(|other| other.ply == i).map(line).collect(),
    };
    moves.iter().enumerate().map(annotate).collect()
}

impl GameText {
    /// The answer for a record, whose text is checked as that of a request.
    ///
    /// # Errors
    /// If no text can contain the game, or its text is too long.
    pub fn new(record: &Record, games: usize) -> Result<GameText, ApiError> {
        let text = record.to_text().map_err(|problem| wrong_game(&problem))?;
        // A game that went on after a draw has other rules in its text.
        let record = &one_of(&text, None)?.0;
        let conclusion = record.conclusion();
        let given = matches!(conclusion, Conclusion::Forfeit(_) | Conclusion::Adjudicated(_));
        let is_further = |name: &str, value: &str| match name {
            "Rules" | "NoCaptureLimit" | "FEN" => false,
            "Result" | "Termination" => given,
            "White" | "Black" => !value.is_empty(),
            _ => true,
        };
        let tags = record.all_tags().into_iter().filter(|(name, value)| is_further(name, value));
        Ok(GameText {
            games,
            fen: record.game.start_fen().to_string(),
            rules: record.game.rules().options().to_string(),
            no_capture_limit: record.game.no_capture_limit(),
            tags: tags.map(|(name, value)| [name.to_owned(), value]).collect(),
            result: conclusion.result(),
            termination: conclusion.termination(),
            comment: record.comment.clone(),
            moves: annotated(record.game.moves(), &record.nags, &record.comments, &record.variations),
            text,
        })
    }
}

/// A game of a text, by its number from 1 or the last one, and the number of games in the text.
fn one_of(text: &str, number: Option<usize>) -> Result<(Record, usize), ApiError> {
    if text.len() > MAX_GAME_TEXT {
        let message = format!("the text of a game has at most {MAX_GAME_TEXT} bytes");
        let error = ApiError::new(Code::TooLarge, message).at("text", MAX_GAME_TEXT);
        return Err(error.reason("text_too_long").with("max", MAX_GAME_TEXT));
    }
    if max_move_words(text) > MAX_TEXT_MOVES {
        return Err(too_long());
    }
    let mut games = Record::parse_all(text).map_err(|error| {
        let (line, detail) = (error.line, detail(&error.problem));
        let error = ApiError::new(Code::BadRequest, format!("line {line}: {detail}")).at("text", 0);
        error.reason("bad_game").with("line", line).with("detail", detail)
    })?;
    let count = games.len();
    if count == 0 {
        return Err(ApiError::parameter("text", "no_game", "the text contains no game"));
    }
    let number = number.unwrap_or(count);
    if !(1..=count).contains(&number) {
        return Err(params::out_of_range("game", &number.to_string(), &(1..=count)));
    }
    let record = games.swap_remove(number - 1);
    if record.game.moves().len() > MAX_PLIES {
        return Err(too_long());
    }
    Ok((record, count))
}

impl GameRequest {
    /// The game, and the number of games in the text. With `goes_on` the moves may go on after a draw ([`play`]).
    ///
    /// # Errors
    /// If the request describes no game.
    pub fn record(self, default: &RuleOptions, goes_on: bool) -> Result<(Record, usize), ApiError> {
        if let Some(text) = &self.text {
            return one_of(text, self.game);
        }
        let rules = self.rules.as_deref().map_or(Ok(*default), params::rules)?;
        let start = self.fen.as_deref().map_or_else(|| Ok(Position::start().into()), params::game_fen)?;
        let start = Game::from_fen(start, Rules::new(rules), no_capture_limit(self.no_capture_limit));
        let annotate = |given| match given {
            GivenMove::Annotated(mv) => mv,
            GivenMove::Text(uci) => AnnotatedMove { uci, ..AnnotatedMove::default() },
        };
        let moves: Vec<AnnotatedMove> = self.moves.into_iter().map(annotate).collect();
        if moves.len() > MAX_PLIES || count(&moves) > MAX_TEXT_MOVES {
            return Err(too_long());
        }
        let mut record = Record { comment: self.comment, ..Record::new(start) };
        add_moves(&mut record, &moves, goes_on)?;
        let (mut result, mut termination) = (None, None);
        for [name, value] in self.tags {
            match name.as_str() {
                "White" => record.white = value,
                "Black" => record.black = value,
                "Date" => record.date = Some(value),
                "Result" => result = Some(value),
                "Termination" => termination = Some(value),
                _ => record.tags.push((name, value)),
            }
        }
        if result.is_some() || termination.is_some() {
            let result = result.unwrap_or_else(|| record.conclusion().result().to_owned());
            record.conclude(&result, termination.as_deref()).map_err(|problem| wrong_game(&problem))?;
        }
        Ok((record, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Assessments do not count as moves, so that a game may have as many of them as it likes.
    #[test]
    fn only_words_that_can_be_moves_are_counted() {
        let text = "[White \"A b\"]\n\n1. Eb3 $1 $14 {two words} (1. Ea4 $2) 1... rb7 *\n";
        assert_eq!(max_move_words(text), 3);
        let glued = "1.Eb3{a; b \\} c}rb7!(1...ra6$2)2.Ea3 {d}ra7 ; e f\n3. Eb3{*";
        assert_eq!(max_move_words(glued), 6);
        let moves = ["Eb3 $1 $2", "rb7 $3 $4", "Ea3 $5 $6", "ra7 $7 $8"].into_iter().cycle().take(600);
        let tags = "[NoCaptureLimit \"none\"]\n[Rules \"paper,repetition=none\"]\n\n";
        let text = format!("{tags}{} *\n", moves.collect::<Vec<_>>().join(" "));
        let request = GameRequest { text: Some(text), ..GameRequest::default() };
        let record = request.record(&RuleOptions::PAPER, false).expect("a game of the greatest length").0;
        assert_eq!((record.game.moves().len(), record.nags.len()), (600, 600));
    }

    /// A game of a text is chosen by its number, and problems are those of the library.
    #[test]
    fn games_of_a_text_are_counted() {
        let read = |text: &str, game| {
            let request = GameRequest { text: Some(text.to_owned()), game, ..GameRequest::default() };
            request.record(&RuleOptions::PAPER, true).map(|(record, games)| (record.game.moves().len(), games))
        };
        let two = "1. Eb3 *\n1. Eb3 rb7 *\n";
        assert_eq!(read(two, None).unwrap(), (2, 2));
        assert_eq!(read(two, Some(1)).unwrap(), (1, 2));
        for (text, game, message) in [
            (two, Some(3), "from 1 to 2"),
            ("", None, "no game"),
            ("1. Eb3 (1. Ea4 *", None, "line 1: a variation is not closed"),
            ("[FEN \"7/7/7/7/7/7/3E3/7/r6\"]\n\n*", None, "line 1: the side to move is missing"),
        ] {
            let error = read(text, game).unwrap_err();
            assert!(error.message().contains(message), "{text}: {}", error.message());
        }
    }
}
