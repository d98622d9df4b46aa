//! Errors of requests, with stable codes.

use doushouqi::board::{
    Animal, Color, ParseFenError, ParseRulesError, Piece, PlayError, PositionError, RuleOptions, Square,
};
use doushouqi::tablebase::{ParseMaterialError, SetError, SolveError};
use serde::Serialize;
use std::collections::BTreeMap;

/// An error of a request: a code, a message and, where known, its place.
#[derive(Debug, Clone)]
pub struct ApiError {
    code: Code,
    /// The kind of the error within its code, by which a page selects the message in its language.
    reason: &'static str,
    /// The values in that message.
    params: BTreeMap<&'static str, Param>,
    message: String,
    place: Option<Place>,
}

/// A value in a message.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Param {
    Number(u64),
    Text(String),
}

impl From<usize> for Param {
    fn from(number: usize) -> Param {
        Param::Number(number as u64)
    }
}

impl From<u64> for Param {
    fn from(number: u64) -> Param {
        Param::Number(number)
    }
}

impl From<String> for Param {
    fn from(text: String) -> Param {
        Param::Text(text)
    }
}

impl From<Color> for Param {
    fn from(color: Color) -> Param {
        Param::Text(color.name().to_owned())
    }
}

impl From<Animal> for Param {
    fn from(animal: Animal) -> Param {
        Param::Text(animal.letter().to_string())
    }
}

/// Declares the kinds of errors, each with its name in responses and its HTTP status.
macro_rules! codes {
    ($($code:ident = $name:literal, $status:literal;)+) => {
        /// The kind of an error; [`Code::as_str`] is stable.
        #[expect(missing_docs, reason = "docs/http-api.md describes them")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code { $($code),+ }

        impl Code {
            /// Every code.
            pub const ALL: &[Code] = &[$(Code::$code),+];

            /// The code in responses.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$code => $name),+ }
            }

            /// The HTTP status.
            #[must_use]
            pub fn status(self) -> u16 {
                match self { $(Code::$code => $status),+ }
            }
        }
    };
}

codes! {
    BadFen = "bad_fen", 400;
    BadRules = "bad_rules", 400;
    BadMaterial = "bad_material", 400;
    BadMove = "bad_move", 400;
    BadRequest = "bad_request", 400;
    NotFound = "not_found", 404;
    NoTable = "no_table", 404;
    NoRoom = "no_room", 507;
    NotAllowed = "not_allowed", 403;
    TooLarge = "too_large", 413;
    RateLimited = "rate_limited", 429;
    Busy = "busy", 503;
    Timeout = "timeout", 503;
    RequestTimeout = "request_timeout", 408;
    ForbiddenHost = "forbidden_host", 403;
    ForbiddenOrigin = "forbidden_origin", 403;
    MethodNotAllowed = "method_not_allowed", 405;
    Unavailable = "unavailable", 503;
}

/// A place in a request: a field, and the index of a character in it, from 0.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Place {
    field: &'static str,
    at: usize,
}

/// The body of a response with an error.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Error"))]
pub struct ErrorAnswer {
    pub error: Body,
}

/// The error as JSON.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "ErrorBody"))]
pub struct Body {
    #[cfg_attr(test, schemars(extend("enum" = Code::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>())))]
    code: &'static str,
    /// The kind of the error within its code.
    reason: &'static str,
    /// The values in the message, by name.
    params: BTreeMap<&'static str, Param>,
    /// The message in English.
    message: String,
    r#where: Option<Place>,
}

impl ApiError {
    pub fn new(code: Code, message: impl Into<String>) -> ApiError {
        ApiError { code, reason: code.as_str(), params: BTreeMap::new(), message: message.into(), place: None }
    }

    /// Adds the kind of the error within its code; the default is the code itself.
    #[must_use]
    pub fn reason(self, reason: &'static str) -> ApiError {
        ApiError { reason, ..self }
    }

    /// Adds a value that the message contains.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Param>) -> ApiError {
        self.params.insert(name, value.into());
        self
    }

    /// Adds the place.
    #[must_use]
    pub fn at(self, field: &'static str, at: usize) -> ApiError {
        ApiError { place: Some(Place { field, at }), ..self }
    }

    /// An invalid FEN.
    #[must_use]
    pub fn fen(text: &str, error: &ParseFenError) -> ApiError {
        let at = ApiError::new(Code::BadFen, error.to_string()).at("fen", fen_offset(text, error));
        match error {
            ParseFenError::Empty => at.reason("fen_empty"),
            ParseFenError::RankCount { found } => at.reason("fen_rank_count").with("found", *found),
            ParseFenError::RankLength { rank, found } => {
                at.reason("fen_rank_length").with("rank", *rank).with("found", *found)
            }
            ParseFenError::UnknownPiece { rank, found } => {
                at.reason("fen_unknown_piece").with("rank", *rank).with("found", found.to_string())
            }
            ParseFenError::MissingTurn => at.reason("fen_missing_turn"),
            ParseFenError::UnknownTurn { found, .. } => at.reason("fen_unknown_turn").with("found", found.clone()),
            ParseFenError::Dialect { found, dialect } => {
                at.reason("fen_dialect").with("found", found.clone()).with("dialect", (*dialect).to_owned())
            }
            ParseFenError::UnexpectedClock { found } => at.reason("fen_unexpected_clock").with("found", found.clone()),
            ParseFenError::HalfmoveClock { found } => at.reason("fen_halfmove_clock").with("found", found.clone()),
            ParseFenError::TrailingText { found } => at.reason("fen_trailing_text").with("found", found.clone()),
            ParseFenError::Position(error) => at.position(error),
            _ => at,
        }
    }

    /// Adds the kind and the values of a position error.
    fn position(self, error: &PositionError) -> ApiError {
        let piece = |error: ApiError, piece: &Piece, square: &Square| {
            error.with("color", piece.color).with("animal", piece.animal).with("square", square.to_string())
        };
        match error {
            PositionError::NoPieces => self.reason("position_no_pieces"),
            PositionError::Duplicate { piece: twice, first, second } => {
                piece(self.reason("position_duplicate"), twice, first).with("other", second.to_string())
            }
            PositionError::InWater { piece: swims, square } => piece(self.reason("position_in_water"), swims, square),
            PositionError::InOwnDen { piece: home, square } => piece(self.reason("position_in_own_den"), home, square),
            PositionError::BothDens => self.reason("position_both_dens"),
            _ => self,
        }
    }

    /// Invalid rules.
    #[must_use]
    pub fn rules(error: &ParseRulesError) -> ApiError {
        let bad = ApiError::new(Code::BadRules, error.to_string());
        match error {
            ParseRulesError::UnknownPreset { name } => {
                let presets = RuleOptions::PRESETS.map(|(name, _)| name).join(", ");
                bad.reason("rules_unknown_preset").with("found", name.clone()).with("presets", presets)
            }
            ParseRulesError::UnknownKey { key } => bad.reason("rules_unknown_option").with("option", key.clone()),
            ParseRulesError::UnknownValue { key, value, allowed } => {
                let bad = bad.reason("rules_unknown_value").with("option", key.clone());
                bad.with("found", value.clone()).with("allowed", allowed.clone())
            }
            ParseRulesError::Malformed { text } => bad.reason("rules_malformed").with("found", text.clone()),
            _ => bad,
        }
    }

    /// An invalid material.
    #[must_use]
    pub fn material(error: &ParseMaterialError) -> ApiError {
        let bad = ApiError::new(Code::BadMaterial, error.to_string()).at("material", 0);
        match error {
            ParseMaterialError::NoVersus { text } => bad.reason("material_no_versus").with("found", text.clone()),
            ParseMaterialError::UnknownAnimal { text, letter } => {
                bad.reason("material_unknown_animal").with("found", text.clone()).with("letter", letter.to_string())
            }
            ParseMaterialError::Duplicate { text, animal } => {
                bad.reason("material_duplicate").with("found", text.clone()).with("animal", *animal)
            }
            ParseMaterialError::EmptySide { text, color } => {
                bad.reason("material_empty_side").with("found", text.clone()).with("color", *color)
            }
            _ => bad,
        }
    }

    /// A move that cannot be played, by its index and its text.
    #[must_use]
    pub(crate) fn unplayable(index: usize, text: &str, error: &PlayError) -> ApiError {
        let reason = match error {
            error if error.is_over() => "move_game_over",
            PlayError::Repeats { .. } => "move_repeats",
            PlayError::Loops { .. } => "move_loops",
            _ => "move_illegal",
        };
        let shown: String = text.chars().take(12).collect();
        let message = format!("move {}, {shown:?}: {error}", index + 1);
        let error = ApiError::new(Code::BadMove, message).at("moves", index);
        error.reason(reason).with("number", index + 1).with("move", shown)
    }

    /// The error of a request that has been cancelled because the server shuts down.
    #[must_use]
    pub fn shutting_down() -> ApiError {
        ApiError::new(Code::Unavailable, "the server is shutting down").reason("shutting_down")
    }

    /// The error of a request that has waited too long for a permit.
    #[must_use]
    pub fn busy() -> ApiError {
        ApiError::new(Code::Busy, "the server is busy; try again in a second")
    }

    /// An invalid value of a parameter.
    pub fn parameter(field: &'static str, reason: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(Code::BadRequest, message).at(field, 0).reason(reason).with("name", field.to_owned())
    }

    /// A value of a parameter that is none of the listed ones.
    #[must_use]
    pub fn choice(field: &'static str, values: &'static str) -> ApiError {
        let error = ApiError::parameter(field, "not_a_choice", format!("{field} is one of {values}"));
        error.with("values", values.to_owned())
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
        let ApiError { code, reason, params, message, place } = self;
        Body { code: code.as_str(), reason, params, message, r#where: place }
    }

    /// The JSON of the answer.
    #[must_use]
    pub fn json(self) -> Vec<u8> {
        serde_json::to_vec(&ErrorAnswer { error: self.body() }).unwrap_or_default()
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
        ParseFenError::Dialect { found, .. }
        | ParseFenError::TrailingText { found }
        | ParseFenError::UnexpectedClock { found }
        | ParseFenError::HalfmoveClock { found }
        | ParseFenError::MoveNumber { found } => {
            let at = text.rfind(found.as_str()).unwrap_or(0);
            text[..at].chars().count()
        }
        _ => lead,
    }
}

impl From<SetError> for ApiError {
    fn from(error: SetError) -> ApiError {
        if matches!(error, SetError::Solve(SolveError::Stopped)) {
            return ApiError::shutting_down();
        }
        tracing::error!(%error, "tables");
        // The details of a disk error stay on the server.
        ApiError::new(Code::Unavailable, "the tables cannot be read at the moment").reason("tables_unreadable")
    }
}
