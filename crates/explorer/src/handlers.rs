//! The handlers of the routes whose responses are not one JSON value.

use super::assets;
use super::context::Context;
use super::counting::CountJob;
use super::http::{Failure, Query, status_of};
use super::sse;
use answers::context::Context as _;
use answers::handlers::{self, counters, position_of};
use answers::params::{AnalyzeQuery, BoardQuery, NoKeys, PagePairs, PageQuery, PositionQuery};
use answers::rule_tables::RequestTables;
use answers::state::{Lane, State};
use answers::{ApiError, api, html};
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use doushouqi::board::{Position, RuleOptions};

type Answer = Result<Response, Failure>;

pub async fn healthz() -> &'static str {
    "ok"
}

/// The position and the rules of the page. The page's scripts read the moves of the line.
fn shown(query: &PageQuery, default: &RuleOptions) -> Result<(Position, RuleOptions), ApiError> {
    query.from.game_start()?;
    Ok((query.fen.position()?, query.rules.rules(default)?))
}

/// The page, with the position as HTML for browsers without JavaScript.
pub async fn page(context: Context, headers: HeaderMap, query: Result<Query<PagePairs>, Failure>) -> Response {
    let own = context.state().rules;
    let query = query.map(|Query(pairs)| PageQuery::from(pairs)).unwrap_or_default();
    let fen = query.fen.get().unwrap_or("").to_owned();
    let filled = match shown(&query, &own) {
        Ok((position, rules)) => {
            let pieces = position.occupied().len();
            let show = move |tables: &RequestTables<'_>| {
                Ok(html::position(tables, &position, &api::probe(tables, &position, true)?))
            };
            context.probe(rules, pieces, show).await
        }
        Err(error) => Err(error),
    };
    let (status, text) = match &filled {
        Ok(text) => (StatusCode::OK, text.clone()),
        Err(error) => (status_of(error), html::error(error.message(), &fen, &own)),
    };
    // Scripts repeat the request if the server was busy.
    let problem = filled.err().filter(|_| status == StatusCode::BAD_REQUEST).map(ApiError::body);
    let problem = problem.and_then(|body| serde_json::to_string(&body).ok()).unwrap_or_default();
    let text = html::page(&context.app.assets.index(), &text, &own, &problem);
    let tag = assets::etag(text.as_bytes());
    let mut response = match status {
        StatusCode::OK if assets::matches(&headers, &tag) => StatusCode::NOT_MODIFIED.into_response(),
        _ => (status, Html(text)).into_response(),
    };
    response.headers_mut().insert(ETAG, tag);
    response
}

pub async fn count(context: Context, Query(query): Query<PositionQuery>) -> Answer {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let counters = counters(&context, &rules)?;
    context.app.counts.stopped().await;
    let (requested, tables, counts) = (position.clone(), counters.clone(), context.app.counts.clone());
    let missing = move |_: &State, _: &_| Ok(counts.need(&tables, &requested, String::new())?.class);
    let class = context.run(Lane::Read, missing).await?.and_then(|class| class.parse().ok());
    let Some(class) = class else { return Ok(sse::counted()) };
    let job = CountJob { counters, position, class };
    let follower = context.app.counts.follow(job, |stop| context.app.stop_at_shutdown(stop))?;
    Ok(sse::count(follower))
}

pub async fn analyze(context: Context, Query(query): Query<AnalyzeQuery>) -> Answer {
    let analysis = handlers::analyze(&context, query).await?;
    Ok(sse::analyze(&context, analysis).await?)
}

pub async fn board(Query(query): Query<BoardQuery>) -> Answer {
    Ok(([(CONTENT_TYPE, "image/svg+xml")], handlers::board(&query)?).into_response())
}

/// The OpenAPI description of all routes.
pub async fn description(_: Query<NoKeys>) -> Response {
    ([(CONTENT_TYPE, "application/json")], answers::OPENAPI).into_response()
}

pub async fn metrics(context: Context) -> Response {
    let app = &context.app;
    let more = [
        ("uptime_seconds", "Seconds since the start.", app.started.elapsed().as_secs_f64()),
        (
            "table_pieces",
            "All materials of up to this many pieces are in memory.",
            app.state.registry.main().complete() as f64,
        ),
        ("jobs", "Requests that block a thread, searches aside.", app.jobs() as f64),
        ("counts", "Endgames that are being counted.", f64::from(app.counts.is_running())),
        ("rule_sets", "Rule sets with tables in memory.", app.state.registry.all().len() as f64),
    ];
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.text(&more)).into_response()
}
