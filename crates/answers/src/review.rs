//! Games: parsed, reviewed move by move, and written as text.

use super::api;
use super::engine::{Engines, HASH_MIB, ScoreReport, Setup, ends_in_time};
use super::errors::{ApiError, Code};
use super::params;
use super::rule_tables::RequestTables;
#[cfg(test)]
use super::schema;
use doushouqi::board::{Color, Move, Position, RuleOptions, Rules};
use doushouqi::game::{Conclusion, Forfeit, ForfeitReason, Game, Record};
use doushouqi::search::{Limits, Tables};
use doushouqi::tablebase::{Probe, Value, Wdl};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The most moves of a game.
pub const MAX_PLIES: usize = 600;
/// The longest text of a game, in bytes.
pub const MAX_GAME_TEXT: usize = 32 << 10;
/// The most moves of all games of a text together. Only the last game is used, with the usual limit of a game.
const MAX_TEXT_MOVES: usize = 1200;
/// The search time of a review, for all moves and for one.
const REVIEW_TIME: Duration = Duration::from_secs(20);
const MOVE_TIME: Duration = Duration::from_millis(200);

/// A game in a request: as text, or as its first position and its moves.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GameRequest {
    pub text: Option<String>,
    pub fen: Option<String>,
    pub rules: Option<String>,
    #[serde(default)]
    pub moves: Vec<String>,
    /// The plies without a capture that draw the game, 0 for no limit. Default: 100.
    pub no_capture_limit: Option<u32>,
    /// The number of first moves that a review leaves out: a game can be reviewed in parts.
    #[serde(default)]
    pub skip: usize,
    #[serde(default)]
    pub white: String,
    #[serde(default)]
    pub black: String,
    /// `1-0` or `0-1`, where a side resigned.
    pub result: Option<String>,
    pub date: Option<String>,
}

/// The error for a game with too many moves.
fn too_long() -> ApiError {
    let message = format!("a game has at most {MAX_PLIES} moves");
    ApiError::new(Code::TooLarge, message).reason("too_many_moves").with("max", MAX_PLIES)
}

/// The number of words of a text of games that can be moves: an upper bound of the number of moves.
fn max_move_words(text: &str) -> usize {
    let mut comment = false;
    let mut count = 0;
    for word in text.lines().filter(|line| !line.trim_start().starts_with('[')).flat_map(str::split_whitespace) {
        comment |= word.starts_with('{');
        let is_nag = word.strip_prefix('$').is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        if !comment && !word.ends_with('.') && !is_nag {
            count += 1;
        }
        comment &= !word.ends_with('}');
    }
    count
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
        let played = if goes_on {
            let mv = Move::parse(text, game.position(), game.rules());
            mv.map_err(Into::into).and_then(|mv| game.play_on(mv))
        } else {
            game.parse(text).and_then(|mv| game.play(mv))
        };
        played.map_err(|error| ApiError::unplayable(i, text, &error))?;
    }
    Ok(game)
}

impl GameRequest {
    /// The game with names and result.
    pub fn record(&self, default: &RuleOptions) -> Result<Record, ApiError> {
        if let Some(text) = &self.text {
            if text.len() > MAX_GAME_TEXT {
                let message = format!("the text of a game has at most {MAX_GAME_TEXT} bytes");
                let error = ApiError::new(Code::TooLarge, message).at("text", MAX_GAME_TEXT);
                return Err(error.reason("text_too_long").with("max", MAX_GAME_TEXT));
            }
            if max_move_words(text) > MAX_TEXT_MOVES {
                return Err(too_long());
            }
            let games = Record::parse_all(text);
            let games = games.map_err(|error| {
                let line = error.line;
                let error = ApiError::new(Code::BadRequest, error.to_string()).at("text", 0);
                error.reason("bad_game").with("line", line)
            })?;
            let last = games.into_iter().next_back();
            let record = last.ok_or_else(|| ApiError::parameter("text", "no_game", "the text contains no game"))?;
            if record.game.moves().len() > MAX_PLIES {
                return Err(too_long());
            }
            return Ok(record);
        }
        let rules = self.rules.as_deref().map_or(Ok(*default), params::rules)?;
        let start = self.fen.as_deref().map_or_else(|| Ok(Position::start().into()), params::game_fen)?;
        let start = Game::from_fen(start, Rules::new(rules), no_capture_limit(self.no_capture_limit));
        let moves: Vec<&str> = self.moves.iter().map(String::as_str).collect();
        let mut record = Record::new(play(start, &moves, false)?);
        record.white.clone_from(&self.white);
        record.black.clone_from(&self.black);
        record.date.clone_from(&self.date);
        let loser = match self.result.as_deref() {
            Some("1-0") => Some(Color::Black),
            Some("0-1") => Some(Color::White),
            _ => None,
        };
        record.forfeit = loser.map(|loser| Forfeit { loser, reason: ForfeitReason::Resignation });
        Ok(record)
    }
}

/// A reviewed move.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct ReviewedMove {
    pub uci: String,
    pub san: String,
    #[cfg_attr(test, schemars(extend("enum" = ["white", "black"])))]
    pub color: &'static str,
    /// The position after the move.
    pub fen: String,
    /// The score of the best move and of this move, for the side that moves.
    pub score_before: Option<ScoreReport>,
    pub score_after: Option<ScoreReport>,
    /// The loss in centipawns; null if the move changed a decided result.
    pub loss: Option<i32>,
    /// Empty, `?!`, `?` or `??`.
    pub mark: &'static str,
    pub best: Option<String>,
    /// `table` or `engine`.
    #[cfg_attr(test, schemars(extend("enum" = ["table", "engine", "rules"])))]
    pub source: &'static str,
}

/// One side's moves.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SideSummary {
    pub moves: usize,
    pub inaccuracies: usize,
    pub mistakes: usize,
    pub blunders: usize,
    /// The mean loss of a move in centipawns, over the moves with a known loss.
    pub mean_loss: Option<f64>,
}

/// A reviewed game. `moves` and `summary` leave out the first `skip` moves of the request.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Review {
    pub rules: String,
    /// The first position, with the halfmove clock if it is not 0.
    pub fen: String,
    pub white_name: String,
    pub black_name: String,
    pub result: &'static str,
    pub termination: &'static str,
    pub moves: Vec<ReviewedMove>,
    #[cfg_attr(test, schemars(with = "schema::Sides<SideSummary>"))]
    pub summary: doushouqi::board::ByColor<SideSummary>,
}

/// A position's score for the side to move, and its best move.
struct Evaluated {
    score: Option<ScoreReport>,
    best: Option<String>,
    source: &'static str,
}

/// Reviews the moves of a game from index `skip` on with the tables, or with short searches where no table contains the
/// position.
pub fn review(
    tables: &RequestTables<'_>,
    search: &Arc<Tables>,
    engines: &Engines,
    record: &Record,
    skip: usize,
) -> Result<Review, ApiError> {
    let stop = tables.stop();
    let played = &record.game;
    let (first, reviewed) = played.moves().split_at(skip.min(played.moves().len()));
    let mut game = Game::from_fen(played.start_fen(), played.rules().clone(), played.no_capture_limit());
    for &mv in first {
        game.play(mv).map_err(|error| ApiError::new(Code::BadMove, error.to_string()))?;
    }
    let time = MOVE_TIME.min(REVIEW_TIME / (reviewed.len() as u32 + 1));
    let mut here = evaluate(tables, search, engines, &game, time)?;
    let mut moves = Vec::new();
    for &mv in reviewed {
        if stop.load(Ordering::Relaxed) {
            return Err(ApiError::shutting_down());
        }
        let before = game.position().clone();
        game.play(mv).map_err(|error| ApiError::new(Code::BadMove, error.to_string()))?;
        let next = evaluate(tables, search, engines, &game, time)?;
        let chosen = here.best.as_deref() == Some(&mv.to_string());
        let after = if chosen && here.source == "engine" { here.score } else { next.score.map(score_one_ply_earlier) };
        let loss = here.score.zip(after).and_then(|(best, got)| loss(best, got));
        moves.push(ReviewedMove {
            uci: mv.to_string(),
            san: mv.notation(&before),
            color: api::color_name(before.turn()),
            fen: game.position().to_fen(),
            mark: here.score.zip(after).map_or("", |(best, got)| mark(best, got)),
            score_before: here.score,
            score_after: after,
            loss,
            best: here.best.take(),
            source: here.source,
        });
        here = next;
    }
    let conclusion: Conclusion = record.conclusion();
    Ok(Review {
        rules: played.rules().options().to_string(),
        fen: played.start_fen().to_string(),
        white_name: record.white.clone(),
        black_name: record.black.clone(),
        result: conclusion.result(),
        termination: conclusion.termination(),
        summary: doushouqi::board::ByColor::from_fn(|color| summary(&moves, api::color_name(color))),
        moves,
    })
}

fn evaluate(
    tables: &RequestTables<'_>,
    search: &Arc<Tables>,
    engines: &Engines,
    game: &Game,
    time: Duration,
) -> Result<Evaluated, ApiError> {
    let position = game.position();
    if let Some(end) = game.end() {
        let score = match end.winner() {
            Some(winner) if winner == position.turn() => ScoreReport { kind: "mate", value: 1 },
            Some(_) => ScoreReport { kind: "mate", value: 0 },
            None => ScoreReport { kind: "cp", value: 0 },
        };
        return Ok(Evaluated { score: Some(score), best: None, source: "table" });
    }
    if let Some((value, best)) = known(tables, game)? {
        return Ok(Evaluated { score: Some(value.into()), best: Some(best.to_string()), source: "table" });
    }
    let setup = Setup { hash_mib: HASH_MIB, threads: 1, lines: 1, tables: Some(search.clone()) };
    let limits = Limits::default().movetime(time);
    let lines = engines.search(setup, game, &limits, tables.stop(), &mut |_| ());
    let best = lines.first();
    Ok(Evaluated {
        score: best.map(|info| info.score.into()),
        best: best.and_then(|info| info.pv.first()).map(ToString::to_string),
        source: "engine",
    })
}

/// The value of the current position by the tables, and the best move that keeps it. The tables ignore repetitions and
/// the no-capture limit: `None` if these forbid every such move, or if a move draws a lost game at once.
fn known(tables: &RequestTables<'_>, game: &Game) -> Result<Option<(Value, Move)>, ApiError> {
    let position = game.position();
    let Some(value) = tables.value(position)?.filter(|value| ends_in_time(value, game)) else { return Ok(None) };
    let legal = game.legal_moves();
    let mut next = game.clone();
    let mut draws = |mv: Move| {
        let is_drawn = next.play(mv).is_ok() && next.end().is_some_and(|end| end.winner().is_none());
        next.undo();
        is_drawn
    };
    if value.wdl == Wdl::Loss && legal.iter().any(|&mv| draws(mv)) {
        return Ok(None);
    }
    let mut ranked = tables.ranked(position)?.into_iter().filter(|(mv, _)| legal.contains(mv));
    let best = ranked.find(|&(mv, after)| {
        after.is_some_and(|after| after.wdl == value.wdl) && (value.wdl == Wdl::Draw || !draws(mv))
    });
    Ok(best.map(|(mv, _)| (value, mv)))
}

/// The score one ply earlier, for the other side.
fn score_one_ply_earlier(score: ScoreReport) -> ScoreReport {
    let farther = match score.kind {
        "cp" => 0,
        _ if score.value > 0 => -1,
        _ => 1,
    };
    ScoreReport { value: farther - score.value, ..score }
}

/// 1 for a win, -1 for a loss, 0 for any other score.
fn sign(score: ScoreReport) -> i32 {
    match score.kind {
        "cp" => 0,
        _ if score.value > 0 => 1,
        _ => -1,
    }
}

fn loss(best: ScoreReport, got: ScoreReport) -> Option<i32> {
    match (sign(best), sign(got)) {
        (0, 0) => Some((best.value - got.value).max(0)),
        // The result is the same.
        (a, b) if a == b => Some(0),
        _ => None,
    }
}

fn mark(best: ScoreReport, got: ScoreReport) -> &'static str {
    match (sign(best), sign(got), loss(best, got)) {
        (1, -1, _) => "??",
        (1, 0, _) if got.value >= 500 => "?!",
        (1, 0, _) => "?",
        (0, -1, _) if best.value <= -500 => "?!",
        (0, -1, _) => "??",
        (_, _, Some(300..)) => "??",
        (_, _, Some(150..)) => "?",
        (_, _, Some(70..)) => "?!",
        _ => "",
    }
}

fn summary(moves: &[ReviewedMove], color: &str) -> SideSummary {
    let own = || moves.iter().filter(|mv| mv.color == color);
    let marked = |mark: &str| own().filter(|mv| mv.mark == mark).count();
    let losses: Vec<i32> = own().filter_map(|mv| mv.loss).collect();
    let mean = losses.iter().sum::<i32>() as f64 / losses.len().max(1) as f64;
    SideSummary {
        moves: own().count(),
        inaccuracies: marked("?!"),
        mistakes: marked("?"),
        blunders: marked("??"),
        mean_loss: (!losses.is_empty()).then_some((mean * 10.0).round() / 10.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Assessments do not count as moves, so that a game may have as many of them as it likes.
    #[test]
    fn only_words_that_can_be_moves_are_counted() {
        let text = "[White \"A b\"]\n\n1. Eb3 $1 $14 {two words} (1. Ea4 $2) 1... rb7 *\n";
        assert_eq!(max_move_words(text), 5);
        let moves = ["Eb3 $1 $2", "rb7 $3 $4", "Ea3 $5 $6", "ra7 $7 $8"].into_iter().cycle().take(600);
        let tags = "[NoCaptureLimit \"none\"]\n[Rules \"paper,repetition=none\"]\n\n";
        let text = format!("{tags}{} *\n", moves.collect::<Vec<_>>().join(" "));
        let request = GameRequest { text: Some(text), ..GameRequest::default() };
        let record = request.record(&RuleOptions::PAPER).expect("a game of the greatest length");
        assert_eq!((record.game.moves().len(), record.nags.len()), (600, 600));
    }
}
