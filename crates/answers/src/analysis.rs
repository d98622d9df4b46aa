//! The analysis of a game, as a sequence of events.

use super::api::{self, Over, over};
use super::engine::{InfoReport, LineMove, Setup, holds_in_game};
use super::errors::ApiError;
use super::game_state;
use super::history::{self, JudgedMove};
use super::rule_tables::RequestTables;
use super::state::State;
use doushouqi::clock::Instant;
use doushouqi::game::Game;
use doushouqi::search::{Info, Limits};
use doushouqi::tablebase::Probe as _;
use serde::Serialize;
use std::sync::atomic::AtomicBool;

/// An event of a stream.
pub struct Event {
    pub name: &'static str,
    /// JSON.
    pub data: String,
}

/// An event with data as JSON.
#[must_use]
pub fn event(name: &'static str, data: &impl Serialize) -> Event {
    Event { name, data: serde_json::to_string(data).unwrap_or_default() }
}

/// The last event of a stream.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Done {
    bestmove: Option<String>,
    /// `table`, `engine`, or `rules` if the game is over.
    source: &'static str,
    /// How the game has ended.
    over: Option<Over>,
}

/// What an analysis takes.
pub enum Analysis {
    /// Nothing: these are all events.
    Events(Vec<Event>),
    /// A search.
    Search(Box<Search>),
}

/// A search of a game that goes on.
pub struct Search {
    pub game: Game,
    pub setup: Setup,
    pub limits: Limits,
}

impl Analysis {
    /// The events of a finished game, or the search of one that goes on.
    #[must_use]
    pub fn search(game: Game, setup: Setup, limits: Limits) -> Analysis {
        match game_state::over(&game) {
            Some(over) => {
                Analysis::Events(vec![event("done", &Done { bestmove: None, source: "rules", over: Some(over) })])
            }
            None => Analysis::Search(Box::new(Search { game, setup, limits })),
        }
    }
}

impl Search {
    /// Searches until a limit or `stop`, and sends the events.
    pub fn run(self, state: &State, stop: &AtomicBool, send: &mut dyn FnMut(Event)) {
        let Search { game, setup, limits } = self;
        let mut report = |info: &Info| send(event("info", &InfoReport::new(game.position(), info)));
        let lines = state.engines.search(setup, &game, &limits, stop, &mut report);
        let bestmove = lines.first().and_then(|info| info.pv.first()).map(ToString::to_string);
        send(event("done", &Done { bestmove, source: "engine", over: None }));
    }
}

/// The moves of a position with their lines as an analysis; `None` if no table contains the position, or if the
/// no-capture limit or a repetition may change the values.
pub(crate) fn from_tables(
    tables: &RequestTables<'_>,
    game: &Game,
    lines: usize,
) -> Result<Option<Vec<Event>>, ApiError> {
    let (start, position) = (Instant::now(), game.position());
    if over(position, tables.rules()).is_some() || tables.value(position)?.is_none() {
        return Ok(None);
    }
    let moves = history::judge(tables, game)?;
    let Some(best) = moves.first() else { return Ok(None) };
    if !holds_in_game(&best.table, game) || moves.iter().any(|mv| mv.is_disturbed(game)) {
        return Ok(None);
    }
    let mut events = Vec::new();
    for (i, &JudgedMove { mv, table: value, .. }) in moves.iter().take(lines).enumerate() {
        let next = position.make(mv);
        let mut pv = vec![LineMove { uci: mv.to_string(), san: mv.notation(position) }];
        let rest = api::mainline(tables, &next, 300, api::LINE_TIME)?;
        pv.extend(rest.line.into_iter().map(|entry| LineMove { uci: entry.uci, san: entry.san }));
        let report = InfoReport {
            depth: pv.len() as u32,
            seldepth: pv.len() as u32,
            multipv: i + 1,
            score: value.into(),
            nodes: moves.len() as u64,
            nps: 0,
            time_ms: start.elapsed().as_millis() as u64,
            pv,
        };
        events.push(event("info", &report));
    }
    let bestmove = Some(best.mv.to_string());
    events.push(event("done", &Done { bestmove, source: "table", over: None }));
    Ok(Some(events))
}
