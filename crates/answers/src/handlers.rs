//! The answers to requests: they parse the parameters and compute.

use super::analysis::{self, Analysis};
use super::api;
use super::context::Context;
use super::counters::Counters;
use super::counting::NeedReport;
use super::dtz::{self, DtzAnswer};
use super::engine::{self, BestMove, Setup};
use super::errors::{ApiError, Code};
use super::explain;
use super::game_state::{self, GameState};
use super::game_text::{self, GameRequest, GameText};
use super::history;
use super::params::{
    AnalyzeQuery, BestMoveQuery, BoardQuery, Field, GameQuery, LongestQuery, MAX_BODY, MAX_URI, MainlineQuery,
    MatrixQuery, NoKeys, PositionQuery, PuzzlesQuery, RandomQuery, StatsQuery, WhatIfQuery,
};
use super::puzzles::{PuzzlesAnswer, Wanted};
use super::review;
use super::rule_tables::{Effort, FIRST_PIECES, Found, MEMORY_PIECES, RequestTables, RuleTables, WantedValue};
use super::state::{Lane, State};
use doushouqi::board::{self, Position, RuleOptions, Rules};
use doushouqi::game::random::Random;
use doushouqi::game::{Game, Record};
use doushouqi::search::Limits;
use doushouqi::tablebase::Material;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

type Answer<T> = Result<T, ApiError>;

/// The position and the rules of a query.
pub fn position_of(context: &impl Context, fen: &Field, rules: &Field) -> Result<(Position, RuleOptions), ApiError> {
    Ok((fen.position()?, rules.rules(&context.state().rules)?))
}

pub async fn probe<C: Context>(context: C, query: PositionQuery) -> Answer<api::ProbeAnswer> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let pieces = position.occupied().len();
    context.probe(rules, pieces, move |tables| api::probe(tables, &position, true)).await
}

/// The value of a game's position at its clock, exact under the no-capture limit.
pub async fn dtz<C: Context>(context: C, query: GameQuery) -> Answer<DtzAnswer> {
    let limit = query.no_capture_limit.number("no_capture_limit", 1..=RuleOptions::MAX_NO_CAPTURE_LIMIT)?;
    let limit = limit.unwrap_or(Game::NO_CAPTURE_LIMIT as u16);
    let game = game_of(&context, &query.fen, &query.rules, &query.no_capture_limit, &query.moves, true).await?;
    let asked = *game.rules().options();
    let tables = context.tables(asked).await?;
    context.scan_tables(Effort::Solving, tables, asked, move |tables| dtz::dtz(tables, &game, limit)).await
}

/// The line, and whether it was cut off for lack of time.
pub async fn mainline<C: Context>(context: C, query: MainlineQuery) -> Answer<(api::MainLine, bool)> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let max = query.max.number("max", 0..=1000)?.unwrap_or(1000);
    let pieces = position.occupied().len();
    let line = move |tables: &RequestTables<'_>| api::mainline(tables, &position, max, api::LINE_TIME);
    let line = context.probe(rules, pieces, line).await?;
    let cut_off = line.is_cut_off(max);
    Ok((line, cut_off))
}

pub async fn whatif<C: Context>(context: C, query: WhatIfQuery) -> Answer<api::WhatIf> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let square = query.piece.square("piece")?;
    let pieces = position.occupied().len();
    context.probe(rules, pieces, move |tables| api::whatif(tables, &position, square)).await
}

/// What counts the endgames of a rule set on demand.
pub fn counters(context: &impl Context, rules: &RuleOptions) -> Result<Counters, ApiError> {
    let tables = context.state().registry.main();
    let off = || {
        let message = "this server does not count endgames; its operator may allow it (--on-demand)";
        ApiError::new(Code::NotAllowed, message).reason("counting_off")
    };
    let counters = tables.counters().ok_or_else(off)?;
    if tables.rules().options().table_hash() == rules.table_hash() {
        return Ok(counters);
    }
    let message = "the server counts endgames under its own rules only";
    Err(ApiError::new(Code::NoTable, message).reason("counting_other_rules"))
}

pub async fn need<C: Context>(context: C, query: PositionQuery) -> Answer<NeedReport> {
    context.need(query).await
}

pub async fn stats<C: Context>(context: C, material: Material, query: StatsQuery) -> Answer<api::MaterialStats> {
    let rules = query.rules.rules(&context.state().rules)?;
    context.probe(rules, material.len(), move |tables| api::stats(tables, material)).await
}

pub async fn longest<C: Context>(context: C, query: LongestQuery) -> Answer<api::Longest> {
    let rules = query.rules.rules(&context.state().rules)?;
    let material = query.material.material()?;
    let count = query.count.number("count", 1..=100)?.unwrap_or(20);
    let pieces = material.map_or(FIRST_PIECES, Material::len);
    context.scan(rules, pieces, move |tables| api::longest(tables, material, count)).await
}

/// The given seed, or a random one.
fn random_seed(context: &impl Context, seed: &Field) -> Result<u64, ApiError> {
    // JavaScript represents these numbers exactly.
    const SEEDS: u64 = 1 << 53;
    let any = || context.random() % SEEDS;
    Ok(seed.number("seed", 0..=SEEDS - 1)?.unwrap_or_else(any))
}

/// A random position, or how far the search for one is.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RandomPosition {
    /// Null if the search is not over: the same request with this `seed`, and with `next` as `from`, goes on.
    pub fen: Option<String>,
    pub seed: u64,
    pub next: Option<usize>,
    /// The share of the table that has been searched, 0 to 1; null if the search is over.
    pub share: Option<f64>,
}

/// The time of a part of a search in a table on disk.
const SEARCH_TIME: Duration = Duration::from_secs(1);

pub async fn random<C: Context>(context: C, query: RandomQuery) -> Answer<RandomPosition> {
    let rules = query.rules.rules(&context.state().rules)?;
    let material = query.material.material()?;
    let turn = query.turn.color("turn")?;
    let wanted = WantedValue { plies: query.plies.number("plies", 0..=10_000)?, wdl: query.wdl.wdl("wdl")? };
    let seed = random_seed(&context, &query.seed)?;
    let from = query.from.number("from", 0..=u32::MAX as usize)?.unwrap_or(0);
    let find = move |tables: &RequestTables<'_>| {
        let mut random = Random::new(seed);
        let all: Vec<Material> = (2..=FIRST_PIECES).flat_map(Material::all).collect();
        let material = material.unwrap_or_else(|| all[random.below(all.len())]);
        let turn = turn.unwrap_or_else(|| random.color());
        let found = tables.find(material, turn, wanted, &mut random, (from, SEARCH_TIME))?;
        match found.ok_or_else(|| api::no_table_of(material))? {
            Found::Position(found) => Ok(RandomPosition { fen: Some(found.to_fen()), seed, next: None, share: None }),
            Found::Part { next, share } => Ok(RandomPosition { fen: None, seed, next: Some(next), share: Some(share) }),
            Found::Nothing => {
                let message = format!("there is no such position of {material} with {turn} to move");
                let error = ApiError::new(Code::NotFound, message).reason("no_such_position");
                Err(error.with("material", material.to_string()))
            }
        }
    };
    context.scan(rules, material.map_or(FIRST_PIECES, Material::len), find).await
}

pub async fn race<C: Context>(context: C, query: PositionQuery) -> Answer<explain::Race> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    Ok(explain::race(&position, &rules))
}

pub async fn rulesets<C: Context>(context: C, query: PositionQuery) -> Answer<explain::Presets> {
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

pub async fn fortress<C: Context>(context: C, query: PositionQuery) -> Answer<explain::Fortress> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let pieces = position.occupied().len();
    context.scan(rules, pieces, move |tables| explain::fortress(tables, &position)).await
}

pub async fn tree<C: Context>(context: C, query: PositionQuery) -> Answer<explain::TreeReport> {
    let (position, rules) = position_of(&context, &query.fen, &query.rules)?;
    let tables = context.tables(rules).await?;
    let report = move |state: &State, stop: &_| {
        state.trees.report(state.registry.pool(), &RequestTables::new(&tables, rules, stop), &position)
    };
    context.run(Lane::Cold, report).await
}

pub async fn matrix<C: Context>(context: C, query: MatrixQuery) -> Answer<explain::Matrix> {
    let rules = query.rules.rules(&context.state().rules)?;
    let white = query.white.number("white", 1..=3)?.unwrap_or(1);
    let black = query.black.number("black", 1..=3)?.unwrap_or(1);
    context.scan(rules, white + black, move |tables| explain::matrix(tables, white, black)).await
}

/// Many positions.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BatchRequest {
    rules: Option<String>,
    fens: Vec<String>,
}

/// The answers to many positions, in their order.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BatchAnswer {
    pub rules: String,
    pub results: Vec<api::BatchResult>,
}

/// The number of positions of a batch that cost one token.
const FENS_PER_TOKEN: f32 = 20.0;

pub async fn batch<C: Context>(context: C, request: BatchRequest) -> Answer<BatchAnswer> {
    let rules = request.rules.as_deref().map_or(Ok(context.state().rules), super::params::rules)?;
    context.charge(request.fens.len().min(api::MAX_BATCH) as f32 / FENS_PER_TOKEN)?;
    // The positions may have any number of pieces.
    let pieces = MEMORY_PIECES + 1;
    let results = context.scan(rules, pieces, move |tables| api::batch(tables, &request.fens)).await?;
    Ok(BatchAnswer { rules: rules.to_string(), results })
}

/// The game of a query: its position, its no-capture limit, and the moves played ([`game_text::play`]).
async fn game_of(
    context: &impl Context,
    fen: &Field,
    rules: &Field,
    limit: &Field,
    moves: &Field,
    goes_on: bool,
) -> Result<Game, ApiError> {
    let rules = Rules::new(rules.rules(&context.state().rules)?);
    let limit = game_text::no_capture_limit(limit.number("no_capture_limit", 0..=u32::MAX)?);
    let start = Game::from_fen(fen.game_start()?, rules, limit);
    let Some(text) = moves.get().map(str::to_owned) else { return Ok(start) };
    let play = move || game_text::play(start, &text.split([',', ' ']).collect::<Vec<_>>(), goes_on);
    context.run(Lane::Read, move |_, _| play()).await
}

/// The events of an analysis, or the search that it takes.
pub async fn analyze<C: Context>(context: &C, query: AnalyzeQuery) -> Answer<Analysis> {
    let game = game_of(context, &query.fen, &query.rules, &query.no_capture_limit, &query.moves, true).await?;
    let threads = query.threads.number("threads", 1..=1024)?.unwrap_or(1);
    let mut setup = Setup {
        hash_mib: query.hash.number("hash", 1..=engine::MAX_HASH_MIB)?.unwrap_or(engine::HASH_MIB),
        threads: context.state().threads.min(threads),
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
        let from_tables = move |tables: &RequestTables<'_>| analysis::from_tables(tables, &known, lines);
        if let Some(events) = context.probe(asked, pieces, from_tables).await? {
            return Ok(Analysis::Events(events));
        }
        setup.tables = Some(context.search_tables(asked).await?);
    }
    engine::check_network(&asked)?;
    Ok(Analysis::search(game, setup, limits))
}

pub async fn bestmove<C: Context>(context: C, query: BestMoveQuery) -> Answer<BestMove> {
    let game = game_of(&context, &query.fen, &query.rules, &query.no_capture_limit, &query.moves, false).await?;
    if let Some(over) = game_state::over(&game) {
        let fen = game.fen().to_string();
        return Ok(BestMove { uci: None, san: None, fen, score: None, source: "rules", over: Some(over) });
    }
    let strength = query.strength.number("strength", 1..=10)?.unwrap_or(10);
    let most = engine::MAX_WAIT.as_millis() as u64;
    let time = Duration::from_millis(query.movetime.number("movetime", 1..=most)?.unwrap_or(1000));
    let seed = random_seed(&context, &query.seed)?;
    let asked = *game.rules().options();
    if query.perfect.flag("perfect", false)? {
        let known = game.clone();
        let pieces = known.position().occupied().len();
        let best = move |tables: &RequestTables<'_>| {
            let best = history::judge(tables, &known)?.into_iter().next();
            Ok(best.filter(|best| best.is_certain || engine::holds_in_game(&best.table, &known)))
        };
        if let Some(best) = context.probe(asked, pieces, best).await? {
            return Ok(BestMove::new(game, best.mv, best.value.into(), "table"));
        }
    }
    engine::check_network(&asked)?;
    let tables = context.search_tables(asked).await?;
    let searched = game.clone();
    let play =
        move |state: &State, stop: &_| Ok(state.engines.play(&searched, Some(tables), strength, time, seed, stop));
    let found = context.run(Lane::Search, play);
    let (mv, score) =
        found.await?.ok_or_else(|| ApiError::new(Code::BadRequest, "there is no move").reason("no_legal_move"))?;
    Ok(BestMove::new(game, mv, score.into(), "engine"))
}

pub async fn state<C: Context>(context: C, query: GameQuery) -> Answer<GameState> {
    let game = game_of(&context, &query.fen, &query.rules, &query.no_capture_limit, &query.moves, false).await?;
    Ok(game_state::state(&game))
}

/// The most puzzles of an answer.
const MAX_PUZZLES: usize = 50;

pub async fn puzzles<C: Context>(context: C, query: PuzzlesQuery) -> Answer<PuzzlesAnswer> {
    let wanted = Wanted {
        id: query.id.get().map(str::to_owned),
        rules: query.rules.get().map(super::params::rules).transpose()?,
        material: query.material.material()?,
        theme: query.theme.get().map(str::to_owned),
        difficulty: query.difficulty.number("difficulty", 1..=5)?,
    };
    let count = query.count.number("count", 1..=MAX_PUZZLES)?.unwrap_or(1);
    Ok(context.state().puzzles.draw(&wanted, count, random_seed(&context, &query.seed)?))
}

/// The strength levels.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Levels {
    pub levels: Vec<engine::LevelReport>,
}

pub async fn levels<C: Context>(_: C, _: NoKeys) -> Answer<Levels> {
    Ok(Levels { levels: engine::levels() })
}

pub async fn review<C: Context>(context: C, request: GameRequest) -> Answer<review::Review> {
    let (default, skip) = (context.state().rules, request.skip);
    let read = move |_: &State, _: &_| {
        let (record, games) = request.record(&default, false)?;
        GameText::new(&record, games).map(|_| record)
    };
    let record = context.run(Lane::Read, read).await?;
    let rules = *record.game.rules().options();
    engine::check_network(&rules)?;
    let (tables, search) = (context.tables(rules).await?, context.search_tables(rules).await?);
    let work = move |state: &State, stop: &_| {
        review::review(&RequestTables::new(&tables, rules, stop), &search, &state.engines, &record, skip)
    };
    context.run(Lane::Search, work).await
}

pub async fn game<C: Context>(context: C, request: GameRequest) -> Answer<GameText> {
    let default = context.state().rules;
    let write = move |(record, games): (Record, usize)| GameText::new(&record, games);
    context.run(Lane::Read, move |_, _| request.record(&default, true).and_then(write)).await
}

/// A picture as SVG.
pub fn board(query: &BoardQuery) -> Answer<String> {
    Ok(report::board::picture(&query.fen.position()?))
}

/// A rule option.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuleOption {
    pub key: &'static str,
    pub values: &'static [&'static str],
    pub default: &'static str,
    pub help: &'static str,
}

/// A named set of rules.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NamedRules {
    pub name: &'static str,
    pub rules: String,
}

/// The presets and the options of the rules.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RulesAnswer {
    pub presets: Vec<NamedRules>,
    pub options: Vec<RuleOption>,
}

pub async fn rules<C: Context>(_: C, _: NoKeys) -> Answer<RulesAnswer> {
    let option = |&board::RuleOption { key, values, help, .. }| RuleOption { key, default: values[0], values, help };
    let named = |(name, options): &(&'static str, RuleOptions)| NamedRules { name, rules: options.to_string() };
    let options = RuleOptions::OPTIONS.iter().map(option).collect();
    Ok(RulesAnswer { presets: RuleOptions::PRESETS.iter().map(named).collect(), options })
}

/// The tables of a rule set.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Status {
    pub version: &'static str,
    pub tables: Vec<TablesStatus>,
    pub threads: usize,
    pub limits: LimitsAnswer,
}

pub async fn status<C: Context>(context: C, _: NoKeys) -> Answer<Status> {
    let state = context.state();
    let tables = |tables: &Arc<RuleTables>| {
        let (progress, left) = tables.progress().get();
        let solving = progress > 0.0 && progress < 1.0;
        TablesStatus {
            rules: tables.rules().options().to_string(),
            pieces: tables.complete(),
            on_disk: tables.disk().map(|set| set.classes().pieces()),
            on_demand: context.countable(tables),
            state: if solving { "solving" } else { "ready" },
            progress,
            seconds_left: left.filter(|_| solving),
        }
    };
    Ok(Status {
        version: env!("CARGO_PKG_VERSION"),
        tables: state.registry.all().iter().map(tables).collect(),
        threads: state.threads,
        limits: LimitsAnswer {
            fens: api::MAX_BATCH,
            plies: game_text::MAX_PLIES,
            multipv: engine::MAX_LINES,
            depth: engine::MAX_DEPTH,
            hash_mib: engine::MAX_HASH_MIB.min(state.hash_mib / 2),
            movetime_ms: engine::MAX_MOVETIME.as_millis() as u64,
            body_bytes: MAX_BODY,
            uri_bytes: MAX_URI,
            requests_per_second: state.rate,
        },
    })
}
