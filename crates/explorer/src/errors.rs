//! Errors of requests, with stable codes.

use doushouqi::board::ParseFenError;
use doushouqi::tablebase::SetError;
use serde::Serialize;

/// An error of a request: a code, a message and, where known, its place.
#[derive(Debug, Clone)]
pub struct ApiError {
    code: Code,
    message: String,
    place: Option<Place>,
}

/// The kind of an error; [`Code::as_str`] is stable.
#[expect(missing_docs, reason = "docs/http-api.md describes them")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    BadFen,
    BadRules,
    BadMaterial,
    BadMove,
    BadRequest,
    NotFound,
    NoTable,
    TooLarge,
    RateLimited,
    Busy,
    Timeout,
    ForbiddenHost,
    ForbiddenOrigin,
    MethodNotAllowed,
    Unavailable,
}

impl Code {
    /// Every code.
    pub const ALL: [Code; 15] = [
        Code::BadFen,
        Code::BadRules,
        Code::BadMaterial,
        Code::BadMove,
        Code::BadRequest,
        Code::NotFound,
        Code::NoTable,
        Code::TooLarge,
        Code::RateLimited,
        Code::Busy,
        Code::Timeout,
        Code::ForbiddenHost,
        Code::ForbiddenOrigin,
        Code::MethodNotAllowed,
        Code::Unavailable,
    ];

    /// The code in responses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.parts().0
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(self) -> u16 {
        self.parts().1
    }

    fn parts(self) -> (&'static str, u16) {
        match self {
            Code::BadFen => ("bad_fen", 400),
            Code::BadRules => ("bad_rules", 400),
            Code::BadMaterial => ("bad_material", 400),
            Code::BadMove => ("bad_move", 400),
            Code::BadRequest => ("bad_request", 400),
            Code::NotFound => ("not_found", 404),
            Code::NoTable => ("no_table", 404),
            Code::TooLarge => ("too_large", 413),
            Code::RateLimited => ("rate_limited", 429),
            Code::Busy => ("busy", 503),
            Code::Timeout => ("timeout", 503),
            Code::ForbiddenHost => ("forbidden_host", 403),
            Code::ForbiddenOrigin => ("forbidden_origin", 403),
            Code::MethodNotAllowed => ("method_not_allowed", 405),
            Code::Unavailable => ("unavailable", 503),
        }
    }
}

/// A place in a request: a field, and the index of a character in it, from 0.
#[derive(Debug, Clone, Serialize)]
pub struct Place {
    field: &'static str,
    at: usize,
}

/// The error as JSON.
#[derive(Debug, Serialize)]
pub struct Body {
    code: &'static str,
    message: String,
    r#where: Option<Place>,
}

impl ApiError {
    pub fn new(code: Code, message: impl Into<String>) -> ApiError {
        ApiError { code, message: message.into(), place: None }
    }

    /// Adds the place.
    #[must_use]
    pub fn at(self, field: &'static str, at: usize) -> ApiError {
        ApiError { place: Some(Place { field, at }), ..self }
    }

    /// An invalid FEN.
    #[must_use]
    pub fn fen(text: &str, error: &ParseFenError) -> ApiError {
        ApiError::new(Code::BadFen, error.to_string()).at("fen", fen_offset(text, error))
    }

    /// An invalid value of a parameter.
    pub fn parameter(field: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(Code::BadRequest, message).at(field, 0)
    }

    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    #[must_use]
    pub fn body(self) -> Body {
        Body { code: self.code.as_str(), message: self.message, r#where: self.place }
    }
}

/// The index of the first wrong character of a FEN.
fn fen_offset(text: &str, error: &ParseFenError) -> usize {
    let board = text.split_whitespace().next().unwrap_or("");
    let lead = text.chars().take_while(|c| c.is_whitespace()).count();
    let rank_start = |rank: usize| board.split('/').take(9 - rank).map(|rank| rank.chars().count() + 1).sum::<usize>();
    match error {
        ParseFenError::RankLength { rank, .. } => lead + rank_start(*rank),
        ParseFenError::UnknownPiece { rank, found } => {
            let text = board.split('/').nth(9 - rank).unwrap_or("");
            lead + rank_start(*rank) + text.chars().position(|c| c == *found).unwrap_or(0)
        }
        ParseFenError::MissingTurn => lead + board.chars().count(),
        ParseFenError::UnknownTurn { .. } => lead + board.chars().count() + 1,
        ParseFenError::TrailingText { found }
        | ParseFenError::UnexpectedClock { found }
        | ParseFenError::HalfmoveClock { found } => {
            let at = text.rfind(found.as_str()).unwrap_or(0);
            text[..at].chars().count()
        }
        _ => lead,
    }
}

impl From<SetError> for ApiError {
    fn from(error: SetError) -> ApiError {
        eprintln!("dsq serve: {error}");
        // The details of a disk error stay on the server.
        ApiError::new(Code::Unavailable, "the tables cannot be read at the moment")
    }
}
