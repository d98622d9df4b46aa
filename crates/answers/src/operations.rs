//! The requests, and how each is answered.

use super::analysis::Done;
use super::api::{MainLine, MaterialStats};
use super::context::Context;
use super::counting::{CountDone, CountReport};
use super::engine::InfoReport;
use super::errors::{ApiError, Code};
use super::handlers;
use super::openapi::{Content, Described, Description, keys_of, schema_of};
use super::params::{
    self, AnalyzeQuery, BoardQuery, MAX_BODY, MAX_URI, MainlineQuery, NoKeys, PageQuery, PositionQuery, StatsQuery,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::pin::Pin;

/// A request for an operation.
#[derive(Debug, Default)]
pub struct Request {
    /// The value in the path, decoded.
    pub segment: String,
    /// The query, encoded, without `?`.
    pub query: String,
    pub body: Vec<u8>,
}

/// An answer as JSON.
pub struct Answer {
    pub json: Vec<u8>,
    /// Whether the answer depends on more than the request and the tables.
    pub unrepeatable: bool,
}

type Answering<C> =
    Box<dyn Fn(C, Request) -> Pin<Box<dyn Future<Output = Result<Answer, ApiError>> + Send>> + Send + Sync>;

/// A path with its method.
pub struct Operation<C> {
    pub path: &'static str,
    /// `get` or `post`.
    pub method: &'static str,
    /// Answers with JSON; `None` if the answer is not one JSON value, so that the caller must answer.
    pub answer: Option<Answering<C>>,
    pub(crate) description: Description,
}

/// The initial capacity: most answers are smaller.
const CAPACITY: usize = 4 << 10;

/// Serialises into a vector; only maps with keys other than strings fail, and no answer contains one.
fn json(value: &impl Serialize) -> Answer {
    let mut json = Vec::with_capacity(CAPACITY);
    let _ = serde_json::to_writer(&mut json, value);
    Answer { json, unrepeatable: false }
}

/// Parses a query. Unknown and repeated keys are errors that name the key.
///
/// # Errors
/// If the query is not one of `T`.
pub fn query<T: DeserializeOwned>(text: &str) -> Result<T, ApiError> {
    let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(text.as_bytes()));
    serde_path_to_error::deserialize(pairs).map_err(|error| {
        ApiError::new(Code::BadRequest, format!("the query cannot be read: {error}")).reason("bad_query")
    })
}

/// The error of a body that cannot be read.
#[must_use]
pub fn bad_body(error: impl Display) -> ApiError {
    ApiError::new(Code::BadRequest, format!("the body cannot be read: {error}")).reason("bad_body")
}

/// The error for a body that is too large.
#[must_use]
pub fn too_large() -> ApiError {
    let message = format!("a request has at most {MAX_BODY} bytes");
    ApiError::new(Code::TooLarge, message).reason("body_too_large").with("max", MAX_BODY)
}

/// The error for an address that is too long.
#[must_use]
pub fn uri_too_long() -> ApiError {
    let error = ApiError::new(Code::TooLarge, format!("a URI has at most {MAX_URI} characters"));
    error.reason("uri_too_long").with("max", MAX_URI)
}

/// The error for a path that no operation has.
#[must_use]
pub fn not_found() -> ApiError {
    ApiError::new(Code::NotFound, "this path does not exist")
}

/// The error for a path that no operation has with this method.
#[must_use]
pub fn method_not_allowed() -> ApiError {
    ApiError::new(Code::MethodNotAllowed, "this path does not support that method")
}

impl<C: Context> Operation<C> {
    /// GET with a query `Q`, which the caller answers.
    fn raw<Q: Described>(path: &'static str, content: Content, summary: &'static str) -> Operation<C> {
        let description = Description { summary, segment: None, query: keys_of::<Q>(), body: None, content };
        Operation { path, method: "get", answer: None, description }
    }

    /// GET with a query `Q`, answered with a `T`.
    fn answered<Q, T, F>(
        path: &'static str,
        answer: impl Fn(C, Request) -> F + Send + Sync + 'static,
        summary: &'static str,
    ) -> Operation<C>
    where
        Q: Described,
        T: Described,
        F: Future<Output = Result<Answer, ApiError>> + Send + 'static,
    {
        let answering: Answering<C> = Box::new(move |context, request| Box::pin(answer(context, request)));
        let operation = Operation::raw::<Q>(path, Content::Json(schema_of::<T>()), summary);
        Operation { answer: Some(answering), ..operation }
    }

    /// GET with a query `Q`.
    fn get<Q, T, F>(path: &'static str, answer: fn(C, Q) -> F, summary: &'static str) -> Operation<C>
    where
        Q: DeserializeOwned + Described + Send + 'static,
        T: Serialize + Described + Send + 'static,
        F: Future<Output = Result<T, ApiError>> + Send + 'static,
    {
        let answering =
            move |context, request: Request| async move { Ok(json(&answer(context, query(&request.query)?).await?)) };
        Operation::answered::<Q, T, _>(path, answering, summary)
    }

    /// POST with a JSON body `B`.
    fn post<B, T, F>(path: &'static str, answer: fn(C, B) -> F, summary: &'static str) -> Operation<C>
    where
        B: DeserializeOwned + Described + Send + 'static,
        T: Serialize + Described + Send + 'static,
        F: Future<Output = Result<T, ApiError>> + Send + 'static,
    {
        let answering = move |context, request: Request| async move {
            let _: NoKeys = query(&request.query)?;
            let body = serde_json::from_slice(&request.body).map_err(bad_body)?;
            Ok(json(&answer(context, body).await?))
        };
        let mut operation = Operation::answered::<NoKeys, T, _>(path, answering, summary);
        operation.description.body = Some(schema_of::<B>());
        Operation { method: "post", ..operation }
    }

    /// The counts of the material in the path.
    fn stats() -> Operation<C> {
        let answering = |context, request: Request| async move {
            let material = params::material(&request.segment)?;
            Ok(json(&handlers::stats(context, material, query(&request.query)?).await?))
        };
        let summary = "Counts, the longest win and a histogram of distances of a material.";
        let mut operation =
            Operation::answered::<StatsQuery, MaterialStats, _>("/api/v1/stats/{material}", answering, summary);
        operation.description.segment = Some("material");
        operation
    }

    /// The principal variation, which may be cut off.
    fn mainline() -> Operation<C> {
        let answering = |context, request: Request| async move {
            let (line, unrepeatable) = handlers::mainline(context, query(&request.query)?).await?;
            Ok(Answer { unrepeatable, ..json(&line) })
        };
        let summary = "The principal variation to the end of the game.";
        Operation::answered::<MainlineQuery, MainLine, _>("/api/v1/mainline", answering, summary)
    }
}

/// Every operation.
#[must_use]
pub fn operations<C: Context>() -> Vec<Operation<C>> {
    [positions(), materials(), games(), service()].into_iter().flatten().collect()
}

/// The page, and the value of a position.
fn positions<C: Context>() -> Vec<Operation<C>> {
    vec![
        Operation::raw::<PageQuery>(
            "/",
            Content::Text("text/html"),
            "The page. Without JavaScript it shows the position as HTML.",
        ),
        Operation::get("/api/v1/probe", handlers::probe, "The value of a position and of every legal move."),
        Operation::get(
            "/api/v1/dtz",
            handlers::dtz,
            "The value of the position of a game and of every legal move, exact under the no-capture limit.",
        ),
        Operation::mainline(),
        Operation::get(
            "/api/v1/whatif",
            handlers::whatif,
            "The value of the position with one piece on every other square.",
        ),
        Operation::get(
            "/api/v1/race",
            handlers::race,
            "Each side's shortest path to the den on an otherwise empty board.",
        ),
        Operation::get("/api/v1/rulesets", handlers::rulesets, "The value of the position under every preset."),
        Operation::get("/api/v1/fortress", handlers::fortress, "How a side holds a draw."),
        Operation::get(
            "/api/v1/tree",
            handlers::tree,
            "The decision tree of a material of two or three pieces, and the position's path through it.",
        ),
    ]
}

/// The tables of a material.
fn materials<C: Context>() -> Vec<Operation<C>> {
    vec![
        Operation::stats(),
        Operation::get(
            "/api/v1/matrix",
            handlers::matrix,
            "The share of wins, draws and losses of each pair of sides, White to move.",
        ),
        Operation::get(
            "/api/v1/need",
            handlers::need,
            "The resources that counting the endgame of a position needs, on a server that counts on demand.",
        ),
        Operation::raw::<PositionQuery>(
            "/api/v1/count",
            Content::Events(const { &[schema_of::<CountReport>(), schema_of::<CountDone>()] }),
            "Counts the endgame of a position and reports as server-sent events: `progress` (CountProgress), then `done` \
             (CountDone) or `failed` (Error). Closing the stream leaves the count.",
        ),
        Operation::get("/api/v1/random", handlers::random, "A random position."),
        Operation::get(
            "/api/v1/longest",
            handlers::longest,
            "The longest lines of the available tables, longest first.",
        ),
    ]
}

/// Rules, games and the engine.
fn games<C: Context>() -> Vec<Operation<C>> {
    vec![
        Operation::get("/api/v1/rules", handlers::rules, "Presets and options of the rules."),
        Operation::get("/api/v1/levels", handlers::levels, "The strength levels of the engine."),
        Operation::get("/api/v1/status", handlers::status, "The available tables and the limits of requests."),
        Operation::post("/api/v1/batch", handlers::batch, "Many positions at once, without their moves."),
        Operation::get(
            "/api/v1/state",
            handlers::state,
            "The state of a game: legal moves, clocks, repetitions, captured pieces, and how it has ended.",
        ),
        Operation::get("/api/v1/puzzles", handlers::puzzles, "Puzzles, drawn by their properties."),
        Operation::raw::<AnalyzeQuery>(
            "/api/v1/analyze",
            Content::Events(const { &[schema_of::<InfoReport>(), schema_of::<Done>()] }),
            "Analysis as server-sent events: `info` (Info) for each result, then `done` (Done).",
        ),
        Operation::get("/api/v1/bestmove", handlers::bestmove, "A move of the engine or of the tables."),
        Operation::post("/api/v1/review", handlers::review, "A review of a game, move by move."),
        Operation::post("/api/v1/game", handlers::game, "A game as text."),
        Operation::raw::<BoardQuery>("/api/v1/board.svg", Content::Text("image/svg+xml"), "A picture of a position."),
    ]
}

/// The server itself.
fn service<C: Context>() -> Vec<Operation<C>> {
    vec![
        Operation::raw::<NoKeys>("/api/v1/openapi.json", Content::Text("application/json"), "This description."),
        Operation::raw::<NoKeys>("/healthz", Content::Text("text/plain"), "Whether the server answers."),
        Operation::raw::<NoKeys>("/metrics", Content::Text("text/plain"), "Metrics for Prometheus."),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::Still;
    use crate::openapi;

    /// `DSQ_WRITE_OPENAPI=1 ./test the_description` writes the description after a change of an operation or its types.
    #[test]
    fn the_description_is_that_of_the_types() {
        let text = openapi::description(&operations::<Still>());
        if std::env::var_os("DSQ_WRITE_OPENAPI").is_some() {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/openapi.json"), &text).unwrap();
        }
        assert!(text == crate::OPENAPI, "the description has changed: DSQ_WRITE_OPENAPI=1 ./test the_description");
    }
}
