//! The handlers of all routes: they parse the parameters and compute the answer.

use super::api;
use super::context::Context;
use super::counting::{CountJob, NeedReport};
use super::engine::{self, BestMove, Setup};
use super::errors::{ApiError, Code};
use super::explain;
use super::game_state::{self, GameState};
use super::game_text;
use super::history;
use super::html;
use super::http::{Json, Query, Unrepeatable, status_of};
use super::limits::{MAX_BODY, MAX_URI};
use super::params::{
    AnalyzeQuery, BestMoveQuery, BoardQuery, Field, GameQuery, LongestQuery, MainlineQuery, MatrixQuery, NoKeys,
    PagePairs, PageQuery, PositionQuery, PuzzlesQuery, RandomQuery, StatsQuery, WhatIfQuery,
};
use super::permits::Hold;
use super::puzzles::{PuzzlesAnswer, Wanted};
use super::review::{self, GameRequest};
use super::rule_tables::{Effort, FIRST_PIECES, MEMORY_PIECES, RequestTables, RuleTables};
use super::sse;
use super::state::{App, Lane};
use axum::Extension;
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use doushouqi::board::{self, Position, RuleOptions, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::Limits;
use doushouqi::tablebase::{Material, OnDemand};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;

type Answer<T> = Result<T, ApiError>;

pub async fn healthz() -> &'static str {
    "ok"
}

/// The position and the rules of the page. The page's scripts read the moves of the line.
fn shown(query: &PageQuery, default: &RuleOptions) -> Result<(Position, RuleOptions), ApiError> {
    query.from.game_start()?;
    Ok((query.fen.position()?, query.rules.rules(default)?))
}

/// The page, with the position as HTML for browsers without JavaScript.
pub async fn page(context: Context, headers: HeaderMap, query: Result<Query<PagePairs>, ApiError>) -> Response {
    let own = context.app.config.rules;
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
    let tag = super::assets::etag(text.as_bytes());
    let mut response = match status {
        StatusCode::OK if super::assets::matches(&headers, &tag) => StatusCode::NOT_MODIFIED.into_response(),
        _ => (status, Html(text)).into_response(),
    };
    response.headers_mut().insert(ETAG, tag);
    response
}

/// The position and the rules of a query.
fn position_of(context: &Context, fen: &Field, rules: &Field) -> Result<(Position, RuleOptions), ApiError> {
    Ok((fen.position()?, rules.rules(&context.app.config.rules)?))
}

pub async fn probe(context: Context, query: PositionQuery) -> Answer<api::ProbeAnswer> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let pieces = position.occupied().len();
    context.probe(rules, pieces, move |tables| api::probe(tables, &position, true)).await
}

pub async fn mainline(context: Context, Query(query): Query<MainlineQuery>) -> Result<Response, ApiError> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let max = query.max.number("max", 0..=1000)?.unwrap_or(1000);
    let pieces = position.occupied().len();
    let line = move |tables: &RequestTables<'_>| api::mainline(tables, &position, max, api::LINE_TIME);
    let line = context.probe(rules, pieces, line).await?;
    let cut_off = line.is_cut_off(max);
    let response = Json(line).into_response();
    Ok(if cut_off { (Extension(Unrepeatable), response).into_response() } else { response })
}

pub async fn whatif(context: Context, query: WhatIfQuery) -> Answer<api::WhatIf> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let square = query.piece.square("piece")?;
    let pieces = position.occupied().len();
    context.probe(rules, pieces, move |tables| api::whatif(tables, &position, square)).await
}

/// The tables that count the endgames of a rule set on demand.
fn on_demand_tables(context: &Context, rules: &RuleOptions) -> Result<Arc<OnDemand>, ApiError> {
    let tables = context.app.registry.main();
    let off = || {
        let message = "this server does not count endgames; its operator may allow it (--on-demand)";
        ApiError::new(Code::NotAllowed, message).reason("counting_off")
    };
    let on_demand = tables.on_demand().ok_or_else(off)?;
    if tables.rules().options().table_hash() == rules.table_hash() {
        return Ok(on_demand.clone());
    }
    let message = "the server counts endgames under its own rules only";
    Err(ApiError::new(Code::NoTable, message).reason("counting_other_rules"))
}

pub async fn need(context: Context, query: PositionQuery) -> Answer<NeedReport> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let on_demand = on_demand_tables(&context, &rules)?;
    context.run(Lane::Read, move |app, _| app.counts.need(&on_demand, &position, rules.to_string())).await
}

pub async fn count(context: Context, Query(query): Query<PositionQuery>) -> Result<Response, ApiError> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let on_demand = on_demand_tables(&context, &rules)?;
    let (requested, tables) = (position.clone(), on_demand.clone());
    let missing = move |app: &App, _: &_| Ok(app.counts.need(&tables, &requested, String::new())?.class);
    let class = context.run(Lane::Read, missing).await?.and_then(|class| class.parse().ok());
    let Some(class) = class else { return Ok(sse::counted()) };
    let job = CountJob { on_demand, position, class };
    let follower = context.app.counts.follow(job, |stop| context.app.stop_at_shutdown(stop))?;
    Ok(sse::count(follower))
}

pub async fn stats(context: Context, material: Material, query: StatsQuery) -> Answer<api::MaterialStats> {
    let rules = query.rules.rules(&context.app.config.rules)?;
    context.probe(rules, material.len(), move |tables| api::stats(tables, material)).await
}

pub async fn longest(context: Context, query: LongestQuery) -> Answer<api::Longest> {
    let rules = query.rules.rules(&context.app.config.rules)?;
    let material = query.material.material()?;
    let count = query.count.number("count", 1..=100)?.unwrap_or(20);
    let pieces = material.map_or(FIRST_PIECES, Material::len);
    context.scan(rules, pieces, move |tables| api::longest(tables, material, count)).await
}

/// The given seed, or a random one.
fn random_seed(seed: &Field) -> Result<u64, ApiError> {
    // JavaScript represents these numbers exactly.
    const SEEDS: u64 = 1 << 53;
    let any = || RandomState::new().hash_one(0) % SEEDS;
    Ok(seed.number("seed", 0..=SEEDS - 1)?.unwrap_or_else(any))
}

/// A random position.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct RandomPosition {
    pub fen: String,
    pub seed: u64,
}

pub async fn random(context: Context, query: RandomQuery) -> Answer<RandomPosition> {
    let rules = query.rules.rules(&context.app.config.rules)?;
    let material = query.material.material()?;
    let turn = query.turn.color("turn")?;
    let wanted = api::Wanted { plies: query.plies.number("plies", 0..=10_000)?, wdl: query.wdl.wdl("wdl")? };
    let seed = random_seed(&query.seed)?;
    let find = move |tables: &RequestTables<'_>| {
        let mut random = Random::new(seed);
        let all: Vec<Material> = (2..=FIRST_PIECES).flat_map(Material::all).collect();
        let material = material.unwrap_or_else(|| all[random.below(all.len())]);
        let turn = turn.unwrap_or_else(|| random.color());
        let found = tables.find(material, turn, &|value| wanted.is(value), &mut random)?;
        let found = found.ok_or_else(|| {
            let message = format!("found no such position of {material} with {turn} to move");
            ApiError::new(Code::NotFound, message).reason("no_such_position").with("material", material.to_string())
        })?;
        Ok(RandomPosition { fen: found.to_fen(), seed })
    };
    context.scan(rules, material.map_or(FIRST_PIECES, Material::len), find).await
}

pub async fn race(context: Context, query: PositionQuery) -> Answer<explain::Race> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    Ok(explain::race(&position, &rules))
}

pub async fn rulesets(context: Context, query: PositionQuery) -> Answer<explain::Presets> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let mut all = Vec::new();
    for (name, options) in RuleOptions::PRESETS {
        all.push((name, options, context.tables(options).await?));
    }
    let pieces = position.occupied().len();
    // The other rule sets have no tables on disk, so they may have to solve classes.
    let effort = all.iter().map(|(_, _, tables)| tables.effort(pieces)).max().unwrap_or(Effort::Memory);
    let work = move |tables: &RequestTables<'_>| explain::presets(tables, &all, &position);
    context.scan_tables(effort, context.tables(rules).await?, rules, work).await
}

pub async fn fortress(context: Context, query: PositionQuery) -> Answer<explain::Fortress> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let pieces = position.occupied().len();
    context.scan(rules, pieces, move |tables| explain::fortress(tables, &position)).await
}

pub async fn tree(context: Context, query: PositionQuery) -> Answer<explain::TreeReport> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let tables = context.tables(rules).await?;
    let report = move |app: &App, stop: &_| {
        app.trees.report(app.registry.pool(), &RequestTables::new(&tables, rules, stop), &position)
    };
    context.run(Lane::Cold, report).await
}

pub async fn matrix(context: Context, query: MatrixQuery) -> Answer<explain::Matrix> {
    let rules = query.rules.rules(&context.app.config.rules)?;
    let white = query.white.number("white", 1..=3)?.unwrap_or(1);
    let black = query.black.number("black", 1..=3)?.unwrap_or(1);
    context.scan(rules, white + black, move |tables| explain::matrix(tables, white, black)).await
}

/// Many positions.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BatchRequest {
    rules: Option<String>,
    fens: Vec<String>,
}

/// The answers to many positions, in their order.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct BatchAnswer {
    pub rules: String,
    pub results: Vec<api::BatchResult>,
}

/// The number of positions of a batch that cost one token.
const FENS_PER_TOKEN: f32 = 20.0;

pub async fn batch(context: Context, request: BatchRequest) -> Answer<BatchAnswer> {
    let rules = request.rules.as_deref().map_or(Ok(context.app.config.rules), super::params::rules)?;
    context.charge(request.fens.len().min(api::MAX_BATCH) as f32 / FENS_PER_TOKEN)?;
    // The positions may have any number of pieces.
    let pieces = MEMORY_PIECES + 1;
    let results = context.scan(rules, pieces, move |tables| api::batch(tables, &request.fens)).await?;
    Ok(BatchAnswer { rules: rules.to_string(), results })
}

/// The game of a query: its position, its no-capture limit, and the moves played ([`review::play`]).
async fn game_of(
    context: &Context,
    fen: &Field,
    rules: &Field,
    limit: &Field,
    moves: &Field,
    goes_on: bool,
) -> Result<Game, ApiError> {
    let rules = Rules::new(rules.rules(&context.app.config.rules)?);
    let limit = review::no_capture_limit(limit.number("no_capture_limit", 0..=u32::MAX)?);
    let start = Game::from_fen(fen.game_start()?, rules, limit);
    let Some(text) = moves.get().map(str::to_owned) else { return Ok(start) };
    let play = move || review::play(start, &text.split([',', ' ']).collect::<Vec<_>>(), goes_on);
    context.run(Lane::Read, move |_, _| play()).await
}

pub async fn analyze(context: Context, Query(query): Query<AnalyzeQuery>) -> Result<Response, ApiError> {
    let game = game_of(&context, &query.fen, &query.rules, &query.no_capture_limit, &query.moves, true).await?;
    let threads = query.threads.number("threads", 1..=1024)?.unwrap_or(1);
    let mut setup = Setup {
        hash_mib: query.hash.number("hash", 1..=engine::MAX_HASH_MIB)?.unwrap_or(engine::HASH_MIB),
        threads: context.app.config.threads.min(threads),
        lines: query.multipv.number("multipv", 1..=engine::MAX_LINES)?.unwrap_or(1),
        tables: None,
    };
    let most = engine::MAX_MOVETIME.as_millis() as u64;
    let limits = Limits::default()
        .depth(query.depth.number("depth", 1..=engine::MAX_DEPTH)?)
        .movetime(Duration::from_millis(query.movetime.number("movetime", 1..=most)?.unwrap_or(most)));
    let asked = *game.rules().options();
    let pieces = game.position().occupied().len();
    if query.tables.flag("tables", true)? {
        let (known, lines) = (game.clone(), setup.lines);
        let from_tables = move |tables: &RequestTables<'_>| sse::from_tables(tables, &known, lines);
        if let Some(response) = context.probe(asked, pieces, from_tables).await? {
            return Ok(response);
        }
        setup.tables = Some(context.search_tables(asked).await?);
    }
    sse::analyze(&context, game, setup, limits).await
}

pub async fn bestmove(context: Context, query: BestMoveQuery) -> Answer<BestMove> {
    let game = game_of(&context, &query.fen, &query.rules, &query.no_capture_limit, &query.moves, false).await?;
    if let Some(over) = game_state::over(&game) {
        let fen = game.fen().to_string();
        return Ok(BestMove { uci: None, san: None, fen, score: None, source: "rules", over: Some(over) });
    }
    let strength = query.strength.number("strength", 1..=10)?.unwrap_or(10);
    let most = engine::MAX_WAIT.as_millis() as u64;
    let time = Duration::from_millis(query.movetime.number("movetime", 1..=most)?.unwrap_or(1000));
    let seed = random_seed(&query.seed)?;
    let asked = *game.rules().options();
    if query.perfect.flag("perfect", false)? {
        let known = game.clone();
        let pieces = known.position().occupied().len();
        let best = move |tables: &RequestTables<'_>| {
            let best = history::judge(tables, &known)?.into_iter().next();
            Ok(best.filter(|best| best.is_certain || engine::ends_in_time(&best.table, &known)))
        };
        if let Some(best) = context.probe(asked, pieces, best).await? {
            return Ok(BestMove::new(game, best.mv, best.value.into(), "table"));
        }
    }
    let tables = context.search_tables(asked).await?;
    let (permit, _) = context.search_permit(Hold::Short, 1).await?;
    let searched = game.clone();
    let found = context.run_with(permit, move |app, stop| {
        let _running = app.metrics.search();
        Ok(app.engines.play(&searched, Some(tables), strength, time, seed, stop))
    });
    let (mv, score) =
        found.await?.ok_or_else(|| ApiError::new(Code::BadRequest, "there is no move").reason("no_legal_move"))?;
    Ok(BestMove::new(game, mv, score.into(), "engine"))
}

pub async fn state(context: Context, query: GameQuery) -> Answer<GameState> {
    let game = game_of(&context, &query.fen, &query.rules, &query.no_capture_limit, &query.moves, false).await?;
    Ok(game_state::state(&game))
}

/// The most puzzles of an answer.
const MAX_PUZZLES: usize = 50;

pub async fn puzzles(context: Context, query: PuzzlesQuery) -> Answer<PuzzlesAnswer> {
    let wanted = Wanted {
        id: query.id.get().map(str::to_owned),
        rules: query.rules.get().map(super::params::rules).transpose()?,
        material: query.material.material()?,
        theme: query.theme.get().map(str::to_owned),
        difficulty: query.difficulty.number("difficulty", 1..=5)?,
    };
    let count = query.count.number("count", 1..=MAX_PUZZLES)?.unwrap_or(1);
    Ok(context.app.puzzles.draw(&wanted, count, random_seed(&query.seed)?))
}

/// The strength levels.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Levels {
    pub levels: Vec<engine::LevelReport>,
}

pub async fn levels(_: Context, _: NoKeys) -> Answer<Levels> {
    Ok(Levels { levels: engine::levels() })
}

pub async fn review(context: Context, request: GameRequest) -> Answer<review::Review> {
    let (default, skip) = (context.app.config.rules, request.skip);
    let (record, _) = context.run(Lane::Read, move |_, _| game_text::read(&request, &default)).await?;
    let rules = *record.game.rules().options();
    let (tables, search) = (context.tables(rules).await?, context.search_tables(rules).await?);
    let (permit, _) = context.search_permit(Hold::Short, 1).await?;
    let work = move |app: &App, stop: &_| {
        let _running = app.metrics.search();
        review::review(&RequestTables::new(&tables, rules, stop), &search, &app.engines, &record, skip)
    };
    context.run_with(permit, work).await
}

/// A game as text.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct GameText {
    pub text: String,
}

pub async fn game(context: Context, request: GameRequest) -> Answer<GameText> {
    let default = context.app.config.rules;
    let (_, text) = context.run(Lane::Read, move |_, _| game_text::read(&request, &default)).await?;
    Ok(GameText { text })
}

pub async fn board(Query(query): Query<BoardQuery>) -> Result<Response, ApiError> {
    Ok(([(CONTENT_TYPE, "image/svg+xml")], html::svg(&query.fen.position()?)).into_response())
}

pub async fn metrics(context: Context) -> Response {
    let app = &context.app;
    let more = [
        ("uptime_seconds", "Seconds since the start.", app.started.elapsed().as_secs_f64()),
        (
            "table_pieces",
            "All materials of up to this many pieces are in memory.",
            app.registry.main().complete() as f64,
        ),
        ("jobs", "Requests that block a thread, searches aside.", app.jobs() as f64),
        ("counts", "Endgames that are being counted.", f64::from(app.counts.is_running())),
        ("rule_sets", "Rule sets with tables in memory.", app.registry.all().len() as f64),
    ];
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.text(&more)).into_response()
}

/// A rule option.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct RuleOption {
    pub key: &'static str,
    pub values: &'static [&'static str],
    pub default: &'static str,
    pub help: &'static str,
}

/// A named set of rules.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct NamedRules {
    pub name: &'static str,
    pub rules: String,
}

/// The presets and the options of the rules.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct RulesAnswer {
    pub presets: Vec<NamedRules>,
    pub options: Vec<RuleOption>,
}

pub async fn rules(_: Context, _: NoKeys) -> Answer<RulesAnswer> {
    let option = |&board::RuleOption { key, values, help, .. }| RuleOption { key, default: values[0], values, help };
    let named = |(name, options): &(&'static str, RuleOptions)| NamedRules { name, rules: options.to_string() };
    let options = RuleOptions::OPTIONS.iter().map(option).collect();
    Ok(RulesAnswer { presets: RuleOptions::PRESETS.iter().map(named).collect(), options })
}

/// The tables of a rule set.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct TablesStatus {
    pub rules: String,
    /// All materials of up to this many pieces are in memory.
    pub pieces: usize,
    /// The pieces of the tables on disk.
    pub on_disk: Option<usize>,
    /// The most pieces of an endgame that the server counts on demand; null if it does not.
    pub on_demand: Option<usize>,
    #[cfg_attr(test, schemars(extend("enum" = ["ready", "solving"])))]
    pub state: &'static str,
    /// The completed share of the background work, 0 to 1.
    pub progress: f64,
    pub seconds_left: Option<f64>,
}

/// The limits of requests.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct LimitsAnswer {
    pub fens: usize,
    pub plies: usize,
    pub multipv: usize,
    pub depth: u32,
    pub hash_mib: usize,
    pub movetime_ms: u64,
    pub body_bytes: usize,
    pub uri_bytes: usize,
    pub requests_per_second: f32,
}

/// The available tables and the limits of requests.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Status {
    pub version: &'static str,
    pub tables: Vec<TablesStatus>,
    pub threads: usize,
    pub limits: LimitsAnswer,
}

pub async fn status(context: Context, _: NoKeys) -> Answer<Status> {
    let app = &context.app;
    let tables = |tables: &Arc<RuleTables>| {
        let (progress, left) = tables.progress().get();
        let solving = progress > 0.0 && progress < 1.0;
        TablesStatus {
            rules: tables.rules().options().to_string(),
            pieces: tables.complete(),
            on_disk: tables.disk().map(|set| set.classes().pieces()),
            on_demand: tables.on_demand().map(|on_demand| on_demand.pieces()),
            state: if solving { "solving" } else { "ready" },
            progress,
            seconds_left: left.filter(|_| solving),
        }
    };
    Ok(Status {
        version: env!("CARGO_PKG_VERSION"),
        tables: app.registry.all().iter().map(tables).collect(),
        threads: app.config.threads,
        limits: LimitsAnswer {
            fens: api::MAX_BATCH,
            plies: review::MAX_PLIES,
            multipv: engine::MAX_LINES,
            depth: engine::MAX_DEPTH,
            hash_mib: engine::MAX_HASH_MIB.min(app.config.hash_mib / 2),
            movetime_ms: engine::MAX_MOVETIME.as_millis() as u64,
            body_bytes: MAX_BODY,
            uri_bytes: MAX_URI,
            requests_per_second: app.config.rate,
        },
    })
}
