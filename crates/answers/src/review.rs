//! Games reviewed move by move.

use super::engine::{Engines, HASH_MIB, ScoreReport, Setup, holds_in_game};
use super::errors::{ApiError, Code};
use super::rule_tables::RequestTables;
use doushouqi::board::Move;
use doushouqi::game::{Conclusion, Game, Record};
use doushouqi::search::{Limits, Tables};
use doushouqi::tablebase::{Probe, Value, Wdl};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The search time of a review, for all moves and for one.
const REVIEW_TIME: Duration = Duration::from_secs(20);
const MOVE_TIME: Duration = Duration::from_millis(200);

/// A reviewed move.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Review {
    pub rules: String,
    /// The first position, with the halfmove clock if it is not 0.
    pub fen: String,
    pub white_name: String,
    pub black_name: String,
    pub result: &'static str,
    pub termination: &'static str,
    pub moves: Vec<ReviewedMove>,
    #[cfg_attr(test, schemars(with = "crate::openapi::schema::Sides<SideSummary>"))]
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
            color: before.turn().name(),
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
        summary: doushouqi::board::ByColor::from_fn(|color| summary(&moves, color.name())),
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
    let Some(value) = tables.value(position)?.filter(|value| holds_in_game(value, game)) else { return Ok(None) };
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
