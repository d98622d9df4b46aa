//! Paths and handlers. A handler parses the parameters, computes the answer and sends it.

use super::engine::{self, Setup};
use super::errors::{ApiError, Code};
use super::guard::guard;
use super::http::{Body, Json, Query, status_of};
use super::limits::{MAX_BODY, MAX_URI};
use super::params::{
    AnalyzeQuery, BestMoveQuery, BoardQuery, Field, GameQuery, LongestQuery, MainlineQuery, MatrixQuery, NoKeys,
    PageQuery, PositionQuery, RandomQuery, StatsQuery, WhatIfQuery, material,
};
use super::review::{self, GameRequest};
use super::state::App;
use super::tables::{FIRST_PIECES, View};
use super::{api, explain, game_state, html, sse};
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Router, middleware};
use doushouqi::board::{
    DogOverWolf, ElephantTakesRat, NoMove, OwnRatBlocks, Position, Repetition, RuleOptions, Shore, TigerLeap, Traps,
};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::Limits;
use doushouqi::tablebase::{Material, Probe, Wdl};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

type Shared = State<Arc<App>>;
type Answer<T> = Result<Json<T>, ApiError>;

/// The OpenAPI description.
const OPENAPI: &str = include_str!("../openapi.json");

/// Every path with its handler.
fn table() -> Vec<(&'static str, MethodRouter<Arc<App>>)> {
    vec![
        ("/", get(page)),
        ("/api/v1/probe", get(probe)),
        ("/api/v1/mainline", get(mainline)),
        ("/api/v1/whatif", get(whatif)),
        ("/api/v1/race", get(race)),
        ("/api/v1/rulesets", get(rulesets)),
        ("/api/v1/fortress", get(fortress)),
        ("/api/v1/tree", get(tree)),
        ("/api/v1/stats/{material}", get(stats)),
        ("/api/v1/matrix", get(matrix)),
        ("/api/v1/random", get(random)),
        ("/api/v1/longest", get(longest)),
        ("/api/v1/rules", get(rules)),
        ("/api/v1/status", get(status)),
        ("/api/v1/batch", post(batch)),
        ("/api/v1/analyze", get(analyze)),
        ("/api/v1/bestmove", get(bestmove)),
        ("/api/v1/state", get(state)),
        ("/api/v1/levels", get(levels)),
        ("/api/v1/review", post(review)),
        ("/api/v1/game", post(game)),
        ("/api/v1/board.svg", get(board)),
        ("/api/v1/openapi.json", get(|_: Query<NoKeys>| async { ([(CONTENT_TYPE, "application/json")], OPENAPI) })),
        ("/healthz", get(|| async { "ok" })),
        ("/metrics", get(metrics)),
    ]
}

/// Every path, as in the OpenAPI description.
#[must_use]
pub fn names() -> Vec<&'static str> {
    table().into_iter().map(|(path, _)| path).collect()
}

/// The router with all middleware.
pub fn router(app: Arc<App>) -> Router {
    let router = table().into_iter().fold(Router::new(), |router, (path, methods)| {
        router.route(path, methods.fallback(|| async { method_not_allowed() }))
    });
    let small = SizeAbove::new(1024).and(NotForContentType::SSE).and(NotForContentType::const_new("image/png"));
    router
        .fallback(asset)
        .with_state(app.clone())
        .layer(middleware::from_fn_with_state(app, guard))
        .layer(CompressionLayer::new().gzip(true).quality(CompressionLevel::Fastest).compress_when(small))
}

fn method_not_allowed() -> ApiError {
    ApiError::new(Code::MethodNotAllowed, "this path does not support that method")
}

/// The position and the rules of the page. The moves of the line are left to scripts.
fn shown(query: &PageQuery, default: &RuleOptions) -> Result<(Position, RuleOptions), ApiError> {
    query.from.game_start()?;
    Ok((query.fen.position()?, query.rules.rules(default)?))
}

/// The page, with the position as HTML for browsers without JavaScript.
async fn page(State(app): Shared, headers: HeaderMap, query: Result<Query<PageQuery>, ApiError>) -> Response {
    let own = app.config.rules;
    let (fen, shown) = match &query {
        Ok(Query(query)) => (query.fen.get().unwrap_or("").to_owned(), shown(query, &own)),
        Err(error) => (String::new(), Err(error.clone())),
    };
    let filled = match shown {
        Ok((position, rules)) => {
            let pieces = position.occupied().len();
            let show =
                move |tables: &View<'_>| Ok(html::position(tables, &position, &api::probe(tables, &position, true)?));
            app.with_tables(rules, pieces, show).await
        }
        Err(error) => Err(error),
    };
    let (status, text, message) = match &filled {
        Ok(text) => (StatusCode::OK, text.clone(), ""),
        Err(error) => (status_of(error), html::error(error.message(), &fen, &own), error.message()),
    };
    // Scripts repeat the request if the server was busy.
    let problem = if status == StatusCode::BAD_REQUEST { message } else { "" };
    let text = html::page(&app.assets.index(), &text, &own, problem);
    let tag = super::assets::etag(text.as_bytes());
    let mut response = match status {
        StatusCode::OK if super::assets::matches(&headers, &tag) => StatusCode::NOT_MODIFIED.into_response(),
        _ => (status, Html(text)).into_response(),
    };
    response.headers_mut().insert(ETAG, tag);
    response
}

async fn asset(State(app): Shared, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    match app.assets.get(uri.path(), &headers) {
        Some(response) if method == Method::GET || method == Method::HEAD => response,
        Some(_) => method_not_allowed().into_response(),
        None => ApiError::new(Code::NotFound, "this path does not exist").into_response(),
    }
}

async fn probe(State(app): Shared, Query(query): Query<PositionQuery>) -> Answer<api::ProbeAnswer> {
    let (position, rules) = (query.fen.position()?, query.rules.rules(&app.config.rules)?);
    let pieces = position.occupied().len();
    app.with_tables(rules, pieces, move |tables| api::probe(tables, &position, true)).await.map(Json)
}

async fn mainline(State(app): Shared, Query(query): Query<MainlineQuery>) -> Answer<api::MainLine> {
    let (position, rules) = (query.fen.position()?, query.rules.rules(&app.config.rules)?);
    let max = query.max.number("max", 0..=1000)?.unwrap_or(1000);
    let pieces = position.occupied().len();
    app.with_tables(rules, pieces, move |tables| api::mainline(tables, &position, max)).await.map(Json)
}

async fn whatif(State(app): Shared, Query(query): Query<WhatIfQuery>) -> Answer<api::WhatIf> {
    let (position, rules) = (query.fen.position()?, query.rules.rules(&app.config.rules)?);
    let square = query.piece.square("piece")?;
    let pieces = position.occupied().len();
    app.with_tables(rules, pieces, move |tables| api::whatif(tables, &position, square)).await.map(Json)
}

async fn stats(
    State(app): Shared,
    Path(text): Path<String>,
    Query(query): Query<StatsQuery>,
) -> Answer<api::MaterialStats> {
    let rules = query.rules.rules(&app.config.rules)?;
    let material = material(&text)?;
    app.with_tables(rules, material.len(), move |tables| api::stats(tables, material)).await.map(Json)
}

async fn longest(State(app): Shared, Query(query): Query<LongestQuery>) -> Answer<api::Longest> {
    let rules = query.rules.rules(&app.config.rules)?;
    let material = query.material.material()?;
    let count = query.count.number("count", 1..=100)?.unwrap_or(20);
    app.blocking(move |app| api::longest(&View::new(&*app.registry.get(&rules)?, rules), material, count))
        .await
        .map(Json)
}

/// The given seed, or a random one.
fn random_seed(seed: &Field) -> Result<u64, ApiError> {
    // JavaScript represents these numbers exactly.
    const SEEDS: u64 = 1 << 53;
    let any = || RandomState::new().hash_one(0) % SEEDS;
    Ok(seed.number("seed", 0..=SEEDS - 1)?.unwrap_or_else(any))
}

async fn random(State(app): Shared, Query(query): Query<RandomQuery>) -> Answer<Value> {
    let rules = query.rules.rules(&app.config.rules)?;
    let material = query.material.material()?;
    let turn = query.turn.color("turn")?;
    let wanted = match (query.plies.number("plies", 0..=10_000)?, query.wdl.get()) {
        (Some(plies), _) => api::Wanted::Plies(plies),
        (None, None) => api::Wanted::Any,
        (None, Some("win")) => api::Wanted::Wdl(Wdl::Win),
        (None, Some("draw")) => api::Wanted::Wdl(Wdl::Draw),
        (None, Some("loss")) => api::Wanted::Wdl(Wdl::Loss),
        (None, Some(_)) => return Err(ApiError::parameter("wdl", "wdl is win, draw or loss")),
    };
    let seed = random_seed(&query.seed)?;
    let found = app.blocking(move |app| {
        let tables = app.registry.get(&rules)?;
        let mut random = Random::new(seed);
        let all: Vec<Material> = (2..=FIRST_PIECES).flat_map(Material::all).collect();
        let material = material.unwrap_or_else(|| all[random.below(all.len())]);
        let turn = turn.unwrap_or_else(|| random.color());
        let is = |value| wanted.is(value, tables.rules());
        let found = tables.find(material, turn, &is, &mut random)?;
        found.ok_or_else(|| {
            ApiError::new(Code::NotFound, format!("found no such position of {material} with {turn} to move"))
        })
    });
    Ok(Json(json!({ "fen": found.await?.to_fen(), "seed": seed })))
}

async fn race(State(app): Shared, Query(query): Query<PositionQuery>) -> Answer<explain::Race> {
    Ok(Json(explain::race(&query.fen.position()?, &query.rules.rules(&app.config.rules)?)))
}

async fn rulesets(State(app): Shared, Query(query): Query<PositionQuery>) -> Answer<explain::Presets> {
    let (position, rules) = (query.fen.position()?, query.rules.rules(&app.config.rules)?);
    app.blocking(move |app| explain::presets(&app.registry, &position, &rules)).await.map(Json)
}

async fn fortress(State(app): Shared, Query(query): Query<PositionQuery>) -> Answer<explain::Fortress> {
    let (position, rules) = (query.fen.position()?, query.rules.rules(&app.config.rules)?);
    app.blocking(move |app| explain::fortress(&View::new(&*app.registry.get(&rules)?, rules), &position))
        .await
        .map(Json)
}

async fn tree(State(app): Shared, Query(query): Query<PositionQuery>) -> Answer<explain::TreeReport> {
    let (position, rules) = (query.fen.position()?, query.rules.rules(&app.config.rules)?);
    app.blocking(move |app| app.trees.report(&rules, &position)).await.map(Json)
}

async fn matrix(State(app): Shared, Query(query): Query<MatrixQuery>) -> Answer<explain::Matrix> {
    let rules = query.rules.rules(&app.config.rules)?;
    let white = query.white.number("white", 1..=3)?.unwrap_or(1);
    let black = query.black.number("black", 1..=3)?.unwrap_or(1);
    app.blocking(move |app| explain::matrix(&View::new(&*app.registry.get(&rules)?, rules), white, black))
        .await
        .map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchRequest {
    rules: Option<String>,
    fens: Vec<String>,
}

async fn batch(State(app): Shared, _: Query<NoKeys>, Body(request): Body<BatchRequest>) -> Answer<Value> {
    let rules = request.rules.as_deref().map_or(Ok(app.config.rules), super::params::rules)?;
    let work = move |app: &App| api::batch(&View::new(&*app.registry.get(&rules)?, rules), &request.fens);
    let results = app.blocking(work).await?;
    Ok(Json(json!({ "rules": rules.to_string(), "results": results })))
}

/// The game of a query: its position and the moves played from it.
fn game_of(fen: &Field, rules: &Field, moves: &Field, default: &RuleOptions) -> Result<Game, ApiError> {
    let moves: Vec<&str> = moves.get().map_or_else(Vec::new, |text| text.split([',', ' ']).collect());
    review::play(fen.game_start()?, rules.rules(default)?, &moves)
}

async fn analyze(State(app): Shared, Query(query): Query<AnalyzeQuery>) -> Result<Response, ApiError> {
    let game = game_of(&query.fen, &query.rules, &query.moves, &app.config.rules)?;
    let threads = query.threads.number("threads", 1..=1024)?.unwrap_or(1);
    let mut setup = Setup {
        hash_mib: query.hash.number("hash", 1..=engine::MAX_HASH_MIB)?.unwrap_or(64),
        threads: app.config.threads.min(threads),
        lines: query.multipv.number("multipv", 1..=engine::MAX_LINES)?.unwrap_or(1),
        tables: None,
    };
    let most = engine::MAX_MOVETIME.as_millis() as u64;
    let limits = Limits::default()
        .depth(query.depth.number("depth", 1..=engine::MAX_DEPTH)?)
        .movetime(Duration::from_millis(query.movetime.number("movetime", 1..=most)?.unwrap_or(most)));
    let asked = *game.rules().options();
    let pieces = game.position().occupied().len();
    if query.tables.get() != Some("0") {
        let (known, lines) = (game.clone(), setup.lines);
        let from_tables = move |tables: &View<'_>| sse::from_tables(tables, &known, lines);
        if let Some(response) = app.with_tables(asked, pieces, from_tables).await? {
            return Ok(response);
        }
        setup.tables = Some(app.search_tables(asked).await?);
    }
    sse::analyze(&app, game, setup, limits).await
}

async fn bestmove(State(app): Shared, Query(query): Query<BestMoveQuery>) -> Answer<engine::BestMove> {
    let game = game_of(&query.fen, &query.rules, &query.moves, &app.config.rules)?;
    if let Some(over) = game_state::over(&game) {
        let fen = game.fen().to_string();
        return Ok(Json(engine::BestMove {
            uci: None,
            san: None,
            fen,
            score: None,
            source: "rules",
            over: Some(over),
        }));
    }
    let strength = query.strength.number("strength", 1..=10)?.unwrap_or(10);
    let most = engine::MAX_WAIT.as_millis() as u64;
    let time = Duration::from_millis(query.movetime.number("movetime", 1..=most)?.unwrap_or(1000));
    let seed = random_seed(&query.seed)?;
    let asked = *game.rules().options();
    if query.perfect.flag("perfect")? {
        let known = game.clone();
        let pieces = known.position().occupied().len();
        let best = move |tables: &View<'_>| {
            let moves = tables.ranked(known.position())?;
            // The tables ignore a rule against repetition, so a move of theirs can be illegal.
            let legal = known.legal_moves();
            let best = moves.into_iter().find(|(mv, value)| value.is_some() && legal.contains(mv));
            Ok(best.filter(|(_, value)| value.is_some_and(|value| engine::ends_in_time(&value, &known))))
        };
        if let Some((mv, Some(value))) = app.with_tables(asked, pieces, best).await? {
            return Ok(Json(engine::BestMove::new(game, mv, value.into(), "table")));
        }
    }
    let tables = app.search_tables(asked).await?;
    let permit = app.search_permits(1).await?;
    let searched = game.clone();
    let found = app.cancellable(move |app, stop| {
        let (_permit, _running) = (permit, app.metrics.search());
        Ok(app.engines.play(&searched, Some(tables), strength, time, seed, stop))
    });
    let (mv, score) = found.await?.ok_or_else(|| ApiError::new(Code::BadRequest, "there is no move"))?;
    Ok(Json(engine::BestMove::new(game, mv, score.into(), "engine")))
}

async fn state(State(app): Shared, Query(query): Query<GameQuery>) -> Answer<game_state::GameState> {
    let game = game_of(&query.fen, &query.rules, &query.moves, &app.config.rules)?;
    Ok(Json(game_state::state(&game)))
}

async fn levels(_: Query<NoKeys>) -> Json<Value> {
    Json(json!({ "levels": engine::levels() }))
}

async fn review(State(app): Shared, _: Query<NoKeys>, Body(request): Body<GameRequest>) -> Answer<review::Review> {
    let permit = app.search_permits(1).await?;
    let work = move |app: &App, stop: &AtomicBool| {
        let (_permit, _running) = (permit, app.metrics.search());
        let record = request.record(&app.config.rules)?;
        let rules = *record.game.rules().options();
        review::review(&View::new(&*app.registry.get(&rules)?, rules), &app.engines, &record, stop)
    };
    app.cancellable(work).await.map(Json)
}

async fn game(State(app): Shared, _: Query<NoKeys>, Body(request): Body<GameRequest>) -> Answer<Value> {
    let text = move |app: &App| Ok(request.record(&app.config.rules)?.to_string());
    Ok(Json(json!({ "text": app.blocking(text).await? })))
}

async fn board(Query(query): Query<BoardQuery>) -> Result<Response, ApiError> {
    Ok(([(CONTENT_TYPE, "image/svg+xml")], html::svg(&query.fen.position()?)).into_response())
}

async fn metrics(State(app): Shared) -> Response {
    let main = app.registry.main();
    let more = [
        ("uptime_seconds", "Seconds since the start.", app.started.elapsed().as_secs_f64()),
        ("table_pieces", "All materials of up to this many pieces are in memory.", main.complete() as f64),
        ("rule_sets", "Rule sets with tables in memory.", app.registry.all().len() as f64),
    ];
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.text(&more)).into_response()
}

async fn rules(_: Query<NoKeys>) -> Json<Value> {
    fn option<T: Copy>(key: &str, all: &[T], name: fn(T) -> &'static str, help: &str) -> Value {
        let values: Vec<&str> = all.iter().map(|&value| name(value)).collect();
        json!({ "key": key, "values": values, "default": values[0], "help": help })
    }
    macro_rules! options {
        ($($key:literal $kind:ident $help:literal),+ $(,)?) => { vec![$(option($key, $kind::ALL, $kind::as_str, $help)),+] };
    }
    let options = options![
        "elephant-takes-rat" ElephantTakesRat "whether the elephant may take the rat",
        "shore" Shore "captures between water and land",
        "traps" Traps "where a piece has no strength",
        "dog-over-wolf" DogOverWolf "which of dog and wolf is the stronger",
        "tiger-leap" TigerLeap "where the tiger may leap",
        "own-rat-blocks" OwnRatBlocks "whether a leap is blocked by the leaper's own rat",
        "no-move" NoMove "what a side without a legal move gets",
        "repetition" Repetition "what a repeated position does; tables know nothing of it",
    ];
    let presets: Vec<Value> = RuleOptions::PRESETS
        .iter()
        .map(|(name, options)| json!({ "name": name, "rules": options.to_string() }))
        .collect();
    Json(json!({ "presets": presets, "options": options }))
}

async fn status(State(app): Shared, _: Query<NoKeys>) -> Json<Value> {
    let all = app.registry.all();
    let tables = all.iter().map(|tables| {
        let (progress, left) = tables.progress().get();
        let complete = tables.complete();
        let solving = progress > 0.0 && progress < 1.0;
        json!({
            "rules": tables.rules().options().to_string(),
            "pieces": complete,
            "on_disk": tables.disk().map(|set| set.classes().pieces()),
            "state": if solving { "solving" } else { "ready" },
            "progress": progress,
            "seconds_left": left.filter(|_| solving),
        })
    });
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "tables": tables.collect::<Vec<_>>(),
        "threads": app.config.threads,
        "limits": {
            "fens": api::MAX_BATCH,
            "plies": review::MAX_PLIES,
            "multipv": engine::MAX_LINES,
            "depth": engine::MAX_DEPTH,
            "hash_mib": engine::MAX_HASH_MIB,
            "movetime_ms": engine::MAX_MOVETIME.as_millis() as u64,
            "body_bytes": MAX_BODY,
            "uri_bytes": MAX_URI,
            "requests_per_second": app.config.rate,
        },
    }))
}
