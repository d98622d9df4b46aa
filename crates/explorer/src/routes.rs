//! The table of routes: router, limits, caching and metrics come from it.

use super::context::Context;
use super::cost::{Caching, Cost, Limits};
use super::guard::guard;
use super::handlers;
use super::http::{Failure, Parameters, Unrepeatable};
use super::state::App;
use answers::operations::{self, Answer, Operation, method_not_allowed, not_found};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any, get, post};
use axum::{Extension, Router, middleware};
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
    path: &'static str,
    method: &'static str,
    limits: Limits,
    handler: MethodRouter<Arc<App>>,
}

/// The limits of a route.
fn limits(path: &'static str) -> (Cost, Caching) {
    match path {
        "/api/v1/probe"
        | "/api/v1/race"
        | "/api/v1/stats/{material}"
        | "/api/v1/rules"
        | "/api/v1/levels"
        | "/api/v1/state" => (QUICK, Caching::Tables),
        "/api/v1/mainline" | "/api/v1/whatif" => (LINE, Caching::Tables),
        "/api/v1/rulesets" | "/api/v1/dtz" => (SCAN, Caching::Tables),
        "/api/v1/fortress" | "/api/v1/tree" | "/api/v1/matrix" => (LONG, Caching::Tables),
        "/api/v1/longest" => (SCAN, Caching::AllTables),
        "/api/v1/random" | "/api/v1/puzzles" | "/api/v1/game" => (LINE, Caching::Own),
        "/api/v1/batch" | "/api/v1/bestmove" => (SCAN, Caching::Own),
        "/api/v1/analyze" | "/api/v1/review" => (LONG, Caching::Own),
        "/api/v1/count" => (COUNT, Caching::Own),
        _ => (QUICK, Caching::Own),
    }
}

/// The handler of an operation whose response is not one JSON value.
fn own_handler(path: &'static str) -> MethodRouter<Arc<App>> {
    match path {
        "/" => get(handlers::page),
        "/api/v1/count" => get(handlers::count),
        "/api/v1/analyze" => get(handlers::analyze),
        "/api/v1/board.svg" => get(handlers::board),
        "/api/v1/openapi.json" => get(handlers::description),
        "/healthz" => get(handlers::healthz),
        _ => get(handlers::metrics),
    }
}

/// Every route: the operations with their limits.
fn table() -> Vec<Route> {
    let route = |Operation { path, method, answer, .. }: Operation<Context>| {
        let (cost, caching) = limits(path);
        let monitoring = path != "/" && !path.starts_with("/api");
        let handler = match answer {
            None => own_handler(path),
            Some(answer) => {
                let answer = Arc::new(answer);
                let handler = move |context: Context, Parameters(request): Parameters| async move {
                    answer(context, request).await.map(answered).map_err(Failure)
                };
                if method == "post" { post(handler) } else { get(handler) }
            }
        };
        Route { path, method, limits: Limits { path: Some(path), cost, caching, monitoring }, handler }
    };
    operations::operations().into_iter().map(route).collect()
}

/// The response with an answer.
fn answered(Answer { json, unrepeatable }: Answer) -> Response {
    let response = super::http::json(json);
    if unrepeatable { (Extension(Unrepeatable), response).into_response() } else { response }
}

/// The path of every route.
#[must_use]
pub fn names() -> Vec<&'static str> {
    table().iter().map(|route| route.path).collect()
}

/// The path and the method, in lower case, of every route.
#[must_use]
pub fn operations() -> Vec<(&'static str, &'static str)> {
    table().iter().map(|route| (route.path, route.method)).collect()
}

/// The router with all middleware.
pub fn router(app: Arc<App>) -> Router {
    let guarded = |handler: MethodRouter<Arc<App>>, limits: Limits| {
        handler.layer(middleware::from_fn_with_state((app.clone(), limits), guard))
    };
    let router = table().into_iter().fold(Router::new(), |router, route| {
        let handler = route.handler.fallback(|| async { Failure(method_not_allowed()) });
        router.route(route.path, guarded(handler, route.limits))
    });
    let files = Limits { path: None, cost: FILE, caching: Caching::Own, monitoring: false };
    let small = SizeAbove::new(1024).and(NotForContentType::SSE).and(NotForContentType::const_new("image/png"));
    router
        .fallback_service(guarded(any(file), files).with_state(app.clone()))
        .with_state(app)
        .layer(CompressionLayer::new().gzip(true).quality(CompressionLevel::Fastest).compress_when(small))
}

/// A file of the page.
async fn file(State(app): State<Arc<App>>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    match app.assets.get(uri.path(), &headers) {
        Some(response) if method == Method::GET || method == Method::HEAD => response,
        Some(_) => Failure(method_not_allowed()).into_response(),
        None => Failure(not_found()).into_response(),
    }
}
