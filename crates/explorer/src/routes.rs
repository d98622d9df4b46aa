//! The table of routes: router, limits, caching and metrics come from it.

use super::api::MainLine;
use super::context::Context;
use super::cost::{Caching, Cost, Limits};
use super::counting::{CountDone, CountReport};
use super::engine::InfoReport;
use super::errors::{ApiError, Code};
use super::guard::guard;
use super::handlers;
use super::http::{Body, Json, OfMaterial, Query};
use super::openapi::{Content, Described, Operation, keys_of, schema_of};
use super::params::{AnalyzeQuery, BoardQuery, MainlineQuery, NoKeys, PageQuery, PositionQuery};
use super::sse::Done;
use super::state::App;
use axum::extract::State;
use axum::handler::Handler;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any};
use axum::{Router, middleware};
use doushouqi::tablebase::Material;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

const fn cost(tokens: f32, seconds: u64) -> Cost {
    assert!(tokens > 0.0 && seconds <= 60, "every route has a price, and a time of at most a minute");
    Cost { tokens, time: Duration::from_secs(seconds) }
}

/// A file of the page. A browser requests some seventy at once.
const FILE: Cost = cost(0.02, 15);
/// A few positions, or nothing to compute.
const QUICK: Cost = cost(1.0, 15);
/// Some hundred positions.
const LINE: Cost = cost(2.0, 15);
/// Many positions or several tables.
const SCAN: Cost = cost(5.0, 30);
/// Seconds of one or more threads.
const LONG: Cost = cost(10.0, 40);
/// All threads for a minute: one address can start four at once.
const COUNT: Cost = cost(50.0, 40);

/// A path with its method, its limits and its handler.
struct Route {
    limits: Limits,
    operation: Operation,
    handler: MethodRouter<Arc<App>>,
}

impl Route {
    fn new(operation: Operation, cost: Cost, handler: MethodRouter<Arc<App>>) -> Route {
        let path = operation.path;
        let monitoring = path != "/" && !path.starts_with("/api");
        let limits = Limits { path: Some(path), cost, caching: Caching::Own, monitoring };
        Route { limits, operation, handler }
    }

    /// GET with a query `Q`, whose handler takes any axum extractors and makes its own response.
    fn raw<Q: Described, T: 'static, H: Handler<T, Arc<App>>>(
        path: &'static str,
        cost: Cost,
        handler: H,
        content: Content,
        summary: &'static str,
    ) -> Route {
        let query = keys_of::<Q>();
        let operation = Operation { path, method: "get", summary, segment: None, query, body: None, content };
        Route::new(operation, cost, axum::routing::get(handler))
    }

    /// GET with a query `Q`, answered with JSON.
    fn get<Q, T, F>(path: &'static str, cost: Cost, answer: fn(Context, Q) -> F, summary: &'static str) -> Route
    where
        Q: DeserializeOwned + Described + Send + 'static,
        T: Serialize + Described + Send + 'static,
        F: Future<Output = Result<T, ApiError>> + Send + 'static,
    {
        let handler =
            move |context: Context, Query(query): Query<Q>| async move { answer(context, query).await.map(Json) };
        Route::raw::<Q, _, _>(path, cost, handler, Content::Json(schema_of::<T>()), summary)
    }

    /// GET with a material in the path and a query `Q`, answered with JSON.
    fn get_of<Q, T, F>(
        path: &'static str,
        cost: Cost,
        answer: fn(Context, Material, Q) -> F,
        summary: &'static str,
    ) -> Route
    where
        Q: DeserializeOwned + Described + Send + 'static,
        T: Serialize + Described + Send + 'static,
        F: Future<Output = Result<T, ApiError>> + Send + 'static,
    {
        let handler = move |context: Context, OfMaterial(material): OfMaterial, Query(query): Query<Q>| async move {
            answer(context, material, query).await.map(Json)
        };
        let mut route = Route::raw::<Q, _, _>(path, cost, handler, Content::Json(schema_of::<T>()), summary);
        route.operation.segment = path.split(['{', '}']).nth(1);
        route
    }

    /// POST with a JSON body `B`, answered with JSON.
    fn post<B, T, F>(path: &'static str, cost: Cost, answer: fn(Context, B) -> F, summary: &'static str) -> Route
    where
        B: DeserializeOwned + Described + Send + 'static,
        T: Serialize + Described + Send + 'static,
        F: Future<Output = Result<T, ApiError>> + Send + 'static,
    {
        let handler = move |context: Context, _: Query<NoKeys>, Body(body): Body<B>| async move {
            answer(context, body).await.map(Json)
        };
        let (query, body, content) = (keys_of::<NoKeys>(), Some(schema_of::<B>()), Content::Json(schema_of::<T>()));
        let operation = Operation { path, method: "post", summary, segment: None, query, body, content };
        Route::new(operation, cost, axum::routing::post(handler))
    }

    /// Declares that the responses, except those marked [`Unrepeatable`](super::http::Unrepeatable), depend on the
    /// request and the tables only.
    fn cached(mut self) -> Route {
        self.limits.caching = Caching::Tables;
        self
    }

    /// As [`cached`](Route::cached), for responses that change with every table that the background work adds.
    fn cached_when_complete(mut self) -> Route {
        self.limits.caching = Caching::AllTables;
        self
    }
}

/// Every route.
fn table() -> Vec<Route> {
    [positions(), materials(), games(), service()].into_iter().flatten().collect()
}

/// The page, and the value of a position.
fn positions() -> Vec<Route> {
    vec![
        Route::raw::<PageQuery, _, _>(
            "/",
            QUICK,
            handlers::page,
            Content::Text("text/html"),
            "The page. Without JavaScript it shows the position as HTML.",
        ),
        Route::get("/api/v1/probe", QUICK, handlers::probe, "The value of a position and of every legal move.")
            .cached(),
        Route::raw::<MainlineQuery, _, _>(
            "/api/v1/mainline",
            LINE,
            handlers::mainline,
            Content::Json(schema_of::<MainLine>()),
            "The principal variation to the end of the game.",
        )
        .cached(),
        Route::get(
            "/api/v1/whatif",
            LINE,
            handlers::whatif,
            "The value of the position with one piece on every other square.",
        )
        .cached(),
        Route::get(
            "/api/v1/race",
            QUICK,
            handlers::race,
            "Each side's shortest path to the den on an otherwise empty board.",
        )
        .cached(),
        Route::get("/api/v1/rulesets", SCAN, handlers::rulesets, "The value of the position under every preset.")
            .cached(),
        Route::get("/api/v1/fortress", LONG, handlers::fortress, "How a side holds a draw.").cached(),
        Route::get(
            "/api/v1/tree",
            LONG,
            handlers::tree,
            "The decision tree of a material of two or three pieces, and the position's path through it.",
        )
        .cached(),
    ]
}

/// The tables of a material.
fn materials() -> Vec<Route> {
    vec![
        Route::get_of(
            "/api/v1/stats/{material}",
            QUICK,
            handlers::stats,
            "Counts, the longest win and a histogram of distances of a material.",
        )
        .cached(),
        Route::get(
            "/api/v1/matrix",
            LONG,
            handlers::matrix,
            "The share of wins, draws and losses of each pair of sides, White to move.",
        )
        .cached(),
        Route::get(
            "/api/v1/need",
            QUICK,
            handlers::need,
            "The resources that counting the endgame of a position needs, on a server that counts on demand.",
        ),
        Route::raw::<PositionQuery, _, _>(
            "/api/v1/count",
            COUNT,
            handlers::count,
            Content::Events(const { &[schema_of::<CountReport>(), schema_of::<CountDone>()] }),
            "Counts the endgame of a position and reports as server-sent events: `progress` (CountProgress), then `done` \
             (CountDone) or `failed` (Error). Closing the stream leaves the count.",
        ),
        Route::get("/api/v1/random", LINE, handlers::random, "A random position."),
        Route::get(
            "/api/v1/longest",
            SCAN,
            handlers::longest,
            "The longest lines of the available tables, longest first.",
        )
        .cached_when_complete(),
    ]
}

/// Rules, games and the engine.
fn games() -> Vec<Route> {
    vec![
        Route::get("/api/v1/rules", QUICK, handlers::rules, "Presets and options of the rules.").cached(),
        Route::get("/api/v1/levels", QUICK, handlers::levels, "The strength levels of the engine.").cached(),
        Route::get("/api/v1/status", QUICK, handlers::status, "The available tables and the limits of requests."),
        Route::post("/api/v1/batch", SCAN, handlers::batch, "Many positions at once, without their moves."),
        Route::get(
            "/api/v1/state",
            QUICK,
            handlers::state,
            "The state of a game: legal moves, clocks, repetitions, captured pieces, and how it has ended.",
        )
        .cached(),
        Route::get("/api/v1/puzzles", LINE, handlers::puzzles, "Puzzles, drawn by their properties."),
        Route::raw::<AnalyzeQuery, _, _>(
            "/api/v1/analyze",
            LONG,
            handlers::analyze,
            Content::Events(const { &[schema_of::<InfoReport>(), schema_of::<Done>()] }),
            "Analysis as server-sent events: `info` (Info) for each result, then `done` (Done).",
        ),
        Route::get("/api/v1/bestmove", SCAN, handlers::bestmove, "A move of the engine or of the tables."),
        Route::post("/api/v1/review", LONG, handlers::review, "A review of a game, move by move."),
        Route::post("/api/v1/game", LINE, handlers::game, "A game as text."),
        Route::raw::<BoardQuery, _, _>(
            "/api/v1/board.svg",
            QUICK,
            handlers::board,
            Content::Text("image/svg+xml"),
            "A picture of a position.",
        ),
    ]
}

/// The server itself.
fn service() -> Vec<Route> {
    vec![
        Route::raw::<NoKeys, _, _>(
            "/api/v1/openapi.json",
            QUICK,
            description,
            Content::Text("application/json"),
            "This description.",
        ),
        Route::raw::<NoKeys, _, _>(
            "/healthz",
            QUICK,
            handlers::healthz,
            Content::Text("text/plain"),
            "Whether the server answers.",
        ),
        Route::raw::<NoKeys, _, _>(
            "/metrics",
            QUICK,
            handlers::metrics,
            Content::Text("text/plain"),
            "Metrics for Prometheus.",
        ),
    ]
}

/// The path of every route.
#[must_use]
pub fn names() -> Vec<&'static str> {
    table().iter().map(|route| route.operation.path).collect()
}

/// The path and the method, in lower case, of every route.
#[must_use]
pub fn operations() -> Vec<(&'static str, &'static str)> {
    table().iter().map(|route| (route.operation.path, route.operation.method)).collect()
}

/// The OpenAPI description of all routes.
async fn description(_: Query<NoKeys>) -> Response {
    ([(CONTENT_TYPE, "application/json")], include_str!("openapi.json")).into_response()
}

/// The router with all middleware.
pub fn router(app: Arc<App>) -> Router {
    let guarded = |handler: MethodRouter<Arc<App>>, limits: Limits| {
        handler.layer(middleware::from_fn_with_state((app.clone(), limits), guard))
    };
    let router = table().into_iter().fold(Router::new(), |router, route| {
        let handler = route.handler.fallback(|| async { method_not_allowed() });
        router.route(route.operation.path, guarded(handler, route.limits))
    });
    let files = Limits { path: None, cost: FILE, caching: Caching::Own, monitoring: false };
    let small = SizeAbove::new(1024).and(NotForContentType::SSE).and(NotForContentType::const_new("image/png"));
    router
        .fallback_service(guarded(any(file), files).with_state(app.clone()))
        .with_state(app)
        .layer(CompressionLayer::new().gzip(true).quality(CompressionLevel::Fastest).compress_when(small))
}

fn method_not_allowed() -> ApiError {
    ApiError::new(Code::MethodNotAllowed, "this path does not support that method")
}

/// A file of the page.
async fn file(State(app): State<Arc<App>>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    match app.assets.get(uri.path(), &headers) {
        Some(response) if method == Method::GET || method == Method::HEAD => response,
        Some(_) => method_not_allowed().into_response(),
        None => ApiError::new(Code::NotFound, "this path does not exist").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi;

    /// `DSQ_WRITE_OPENAPI=1 ./test the_description` writes the description after a change of a route or its types.
    #[test]
    fn the_description_is_that_of_the_types() {
        let operations: Vec<Operation> = table().iter().map(|route| route.operation).collect();
        let text = openapi::description(&operations);
        if std::env::var_os("DSQ_WRITE_OPENAPI").is_some() {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/openapi.json"), &text).unwrap();
        }
        assert!(
            text == include_str!("openapi.json"),
            "the description has changed: DSQ_WRITE_OPENAPI=1 ./test the_description"
        );
    }
}
