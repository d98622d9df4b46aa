//! Games of requests. Their texts are games that the server reads.

use super::errors::ApiError;
use super::review::GameRequest;
use doushouqi::board::RuleOptions;
use doushouqi::game::{Conclusion, Game, Record};

/// The game of a request and its text.
///
/// # Errors
/// If the request describes no game, or a game whose text the server would reject.
pub fn read(request: &GameRequest, default: &RuleOptions) -> Result<(Record, String), ApiError> {
    let record = request.record(default)?;
    if request.text.is_none() {
        check_result(request, &record)?;
        check_date(request)?;
    }
    let text = record.to_string();
    GameRequest { text: Some(text.clone()), ..GameRequest::default() }.record(default)?;
    Ok((record, text))
}

/// The beginning of a value, for a message.
fn shortened(text: &str) -> String {
    text.chars().take(20).collect()
}

/// Rejects a result that the moves do not allow.
fn check_result(request: &GameRequest, record: &Record) -> Result<(), ApiError> {
    let conclusion = record.conclusion();
    let Some(found) = request.result.as_deref().filter(|&result| result != conclusion.result()) else { return Ok(()) };
    let allowed = match conclusion {
        Conclusion::Rules(_) => conclusion.result(),
        _ => "*, 1-0, 0-1",
    };
    let found = shortened(found);
    let message = format!("after these moves the result is one of {allowed}, not {found:?}");
    let error = ApiError::parameter("result", "wrong_result", message);
    Err(error.with("found", found).with("allowed", allowed.to_owned()))
}

/// Rejects a date that a text may not contain.
fn check_date(request: &GameRequest) -> Result<(), ApiError> {
    let mut dated = Record::new(Game::default());
    dated.date = request.date.as_deref().map(shortened);
    let read = Record::parse_all(&dated.to_string());
    read.map(|_| ()).map_err(|error| {
        let error = ApiError::parameter("date", "bad_date", error.problem.to_string());
        error.with("found", dated.date.unwrap_or_default())
    })
}
