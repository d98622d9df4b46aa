//! Games of Mistboard as JSON: the export of a game, which is also a line of a monthly dump.

use super::{Record, RecordProblem};
use crate::board::{ParseMoveError, PlayError, Position, RuleOptions, Rules};
use crate::formats::Dialect;
use crate::game::Game;
use serde::Deserialize;

/// The fields that a game needs; the export has more.
#[derive(Deserialize)]
struct Export {
    variant: Option<String>,
    /// The first position, if it is not the initial one.
    fen: Option<String>,
    plies: Option<Vec<Ply>>,
    /// Instead of `plies`.
    moves: Option<Vec<String>>,
    players: Option<Players>,
    started_at: Option<String>,
    source: Option<Source>,
    time_control: Option<TimeControl>,
    result: Option<String>,
    termination: Option<String>,
}

#[derive(Deserialize)]
struct Ply {
    uci: String,
}

#[derive(Deserialize)]
struct Players {
    red: Option<Player>,
    black: Option<Player>,
}

#[derive(Deserialize)]
struct Player {
    handle: Option<String>,
}

#[derive(Deserialize)]
struct Source {
    game_url: Option<String>,
}

#[derive(Deserialize)]
struct TimeControl {
    label: Option<String>,
}

/// The name of the game there.
const VARIANT: &str = "jungle";
/// The plies without a capture after which a game is drawn there.
const NO_CAPTURE_LIMIT: u32 = 200;

/// Whether a line is JSON, and not a comment in braces: it begins with a key.
pub(super) fn is_json(line: &str) -> bool {
    let key = line.strip_prefix("{\"").and_then(|rest| rest.split_once('"'));
    key.is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
}

/// The game of a line, under the Chinese rules, which are those of the site. `rules` keeps them for the next game.
pub(super) fn read(line: &str, rules: &mut Option<Rules>) -> Result<Record, RecordProblem> {
    let export: Export = serde_json::from_str(line).map_err(|error| RecordProblem::Json(error.to_string()))?;
    let Export { variant, fen, plies, moves, players, started_at, source, time_control, result, termination } = export;
    if let Some(variant) = variant.filter(|variant| variant != VARIANT) {
        return Err(RecordProblem::OtherGame { variant });
    }
    let moves = plies.map(|plies| plies.into_iter().map(|ply| ply.uci).collect()).or(moves);
    let moves: Vec<String> = moves.ok_or_else(|| RecordProblem::Json("a game has plies or moves".to_owned()))?;
    let start = match fen {
        None => Position::start().into(),
        Some(fen) => Dialect::Mistboard.parse_fen(&fen)?.fen,
    };
    let options = RuleOptions::preset("chinese").unwrap_or_default();
    let known = rules.take().filter(|rules| *rules.options() == options).unwrap_or_else(|| Rules::new(options));
    let mut game = Game::from_fen(start, rules.insert(known).clone(), Some(NO_CAPTURE_LIMIT));
    for (ply, text) in moves.iter().enumerate() {
        let mv = Dialect::Mistboard.parse_move(text)?.to_move(game.position());
        let mv = mv.map_err(|_| PlayError::from(ParseMoveError::NoPiece { text: text.clone() }));
        let played = mv.and_then(|mv| game.play(mv));
        played.map_err(|error| RecordProblem::Move { ply, error })?;
    }
    let handle = |player: Option<Player>| player.and_then(|player| player.handle).unwrap_or_default();
    let (red, black) = players.map_or((None, None), |players| (players.red, players.black));
    let site = source.and_then(|source| source.game_url).map(|url| ("Site".to_owned(), url));
    let time = time_control.and_then(|time| time.label).map(|label| ("TimeControl".to_owned(), label));
    let date = started_at.and_then(|time| Some(time.get(..10)?.replace('-', ".")));
    let tags = site.into_iter().chain(time).collect();
    let mut record = Record { white: handle(red), black: handle(black), date, tags, ..Record::new(game) };
    let result = match result.as_deref() {
        Some("red") => "1-0",
        Some("black") => "0-1",
        Some("draw") => "1/2-1/2",
        _ => "*",
    };
    // Without a reason a result that the rules do not give is an adjudication.
    let reason = match termination.as_deref() {
        Some("timeout") => Some("time"),
        Some("resignation") => Some("resignation"),
        _ => None,
    };
    record.conclude(result, reason.filter(|_| matches!(result, "1-0" | "0-1")))?;
    Ok(record)
}
