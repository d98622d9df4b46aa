//! What is answered where: paths and handlers. A handler reads the query, asks, and sends.

use super::api;
use super::errors::{ApiError, Code};
use super::params::{Params, material};
use super::state::App;
use super::tables::FIRST_PIECES;
use crate::board::{
    Color, DogOverWolf, ElephantTakesRat, NoMove, OwnRatBlocks, Repetition, RuleOptions, Shore, TigerLeap, Traps,
};
use crate::tablebase::{Material, Wdl};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use axum::{Json, Router};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use std::sync::Arc;

type Shared = State<Arc<App>>;
type Answer<T> = Result<Json<T>, ApiError>;

/// Every path with what answers it.
fn paths() -> Vec<(&'static str, MethodRouter<Arc<App>>)> {
    vec![
        ("/", get(page)),
        ("/api/v1/probe", get(probe)),
        ("/api/v1/mainline", get(mainline)),
        ("/api/v1/whatif", get(whatif)),
        ("/api/v1/stats/{material}", get(stats)),
        ("/api/v1/random", get(random)),
        ("/api/v1/longest", get(longest)),
        ("/api/v1/rules", get(rules)),
        ("/api/v1/status", get(status)),
        ("/healthz", get(|| async { "ok" })),
    ]
}

/// The paths of the interface, as the description of it writes them.
pub fn names() -> Vec<&'static str> {
    paths().into_iter().map(|(path, _)| path).collect()
}

/// All of it.
pub fn router(app: Arc<App>) -> Router {
    let router = paths().into_iter().fold(Router::new(), |router, (path, methods)| {
        router.route(path, methods.fallback(|| async { method_not_allowed() }))
    });
    router.fallback(asset).with_state(app)
}

fn method_not_allowed() -> ApiError {
    ApiError::new(Code::MethodNotAllowed, "this path does not know that method")
}

async fn page(State(app): Shared) -> Html<String> {
    Html(app.assets.index())
}

async fn asset(State(app): Shared, uri: Uri, headers: HeaderMap) -> Response {
    let found = app.assets.get(uri.path(), &headers);
    found.unwrap_or_else(|| ApiError::new(Code::NotFound, "there is nothing at this path").into_response())
}

async fn probe(State(app): Shared, params: Params) -> Answer<api::Probe> {
    let (position, rules) = (params.position()?, params.rules(&app.config.rules)?);
    let pieces = position.occupied().len();
    app.with_tables(rules, pieces, move |tables| api::probe(tables, &position, true)).await.map(Json)
}

async fn mainline(State(app): Shared, params: Params) -> Answer<api::MainLine> {
    let (position, rules) = (params.position()?, params.rules(&app.config.rules)?);
    let max = params.number("max", 0..=1000)?.unwrap_or(1000);
    let pieces = position.occupied().len();
    app.with_tables(rules, pieces, move |tables| api::mainline(tables, &position, max)).await.map(Json)
}

async fn whatif(State(app): Shared, params: Params) -> Answer<api::WhatIf> {
    let (position, rules) = (params.position()?, params.rules(&app.config.rules)?);
    let square = params.square("piece")?;
    let pieces = position.occupied().len();
    app.with_tables(rules, pieces, move |tables| api::whatif(tables, &position, square)).await.map(Json)
}

async fn stats(State(app): Shared, Path(text): Path<String>, params: Params) -> Answer<api::MaterialStats> {
    let rules = params.rules(&app.config.rules)?;
    let material = material(&text)?;
    app.with_tables(rules, material.len(), move |tables| api::stats(tables, material)).await.map(Json)
}

async fn longest(State(app): Shared, params: Params) -> Answer<api::Longest> {
    let rules = params.rules(&app.config.rules)?;
    let material = params.material()?;
    let count = params.number("count", 1..=100)?.unwrap_or(20);
    app.blocking(move |app| api::longest(&*app.registry.get(&rules)?, material, count)).await.map(Json)
}

async fn random(State(app): Shared, params: Params) -> Answer<Value> {
    let rules = params.rules(&app.config.rules)?;
    let material = params.material()?;
    let turn = params.color("turn")?;
    let wanted = match (params.number("plies", 0..=10_000)?, params.get("wdl")) {
        (Some(plies), _) => api::Wanted::Plies(plies),
        (None, None) => api::Wanted::Any,
        (None, Some("win")) => api::Wanted::Wdl(Wdl::Win),
        (None, Some("draw")) => api::Wanted::Wdl(Wdl::Draw),
        (None, Some("loss")) => api::Wanted::Wdl(Wdl::Loss),
        (None, Some(_)) => return Err(ApiError::parameter("wdl", "wdl is win, draw or loss")),
    };
    // Numbers that a script in a browser holds exactly.
    const SEEDS: u64 = 1 << 53;
    let seed = match params.number("seed", 0..=SEEDS - 1)? {
        Some(seed) => seed,
        None => std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 0) % SEEDS,
    };
    let found = app.blocking(move |app| {
        let tables = app.registry.get(&rules)?;
        let mut random = Pcg64::seed_from_u64(seed);
        let mut choose = |n: u64| random.next_u64() % n.max(1);
        let material = material.unwrap_or_else(|| {
            let all: Vec<Material> = (2..=FIRST_PIECES).flat_map(Material::all).collect();
            all[choose(all.len() as u64) as usize]
        });
        let turn = turn.unwrap_or_else(|| Color::ALL[choose(2) as usize]);
        let is = |value| wanted.is(value, tables.rules());
        let found = tables.find(material, turn, &is, &mut choose)?;
        found.ok_or_else(|| {
            ApiError::new(Code::NotFound, format!("no such position of {material}, {turn} to move, was found"))
        })
    });
    Ok(Json(json!({ "fen": found.await?.to_fen(), "seed": seed })))
}

async fn rules() -> Json<Value> {
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

async fn status(State(app): Shared) -> Json<Value> {
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
        "limits": { "fens": 200 },
    }))
}
