//! Analysis as server-sent events. A search stops when its client leaves and when the server shuts down.

use super::api::{self, Over, over};
use super::cancel::Cancel;
use super::context::Context;
use super::counting::{CountDone, CountState, Follower};
use super::engine::{InfoReport, LineMove, Setup, ends_in_time};
use super::errors::{ApiError, ErrorAnswer};
use super::game_state;
use super::history::{self, JudgedMove};
use super::permits::Hold;
use super::rule_tables::RequestTables;
use super::state::App;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use doushouqi::game::Game;
use doushouqi::search::Limits;
use doushouqi::tablebase::Probe as _;
#[cfg(test)]
use schemars::JsonSchema;
use serde::Serialize;
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{self, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_stream::Stream;

/// The interval of keep-alive messages. Only a failed send tells the server that a client has left.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// An event: its name and its data.
type Message = (&'static str, String);

fn message(name: &'static str, data: &impl Serialize) -> Message {
    (name, serde_json::to_string(data).unwrap_or_default())
}

/// The last event of a stream.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Done {
    bestmove: Option<String>,
    /// `table`, `engine`, or `rules` if the game is over.
    source: &'static str,
    /// How the game has ended.
    over: Option<Over>,
}

/// The stream of a client. Dropping it, when the client leaves, stops the search.
struct Listener {
    messages: UnboundedReceiver<Message>,
    _stop: Arc<Cancel>,
}

impl Stream for Listener {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        let message = self.messages.poll_recv(context);
        message.map(|message| message.map(|(name, data)| Ok(Event::default().event(name).data(data))))
    }
}

fn stream(messages: UnboundedReceiver<Message>, stop: Arc<Cancel>) -> Response {
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    let mut response = Sse::new(Listener { messages, _stop: stop }).keep_alive(keep_alive).into_response();
    // Asks proxies not to buffer events.
    response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    response
}

/// Searches a game and streams the results.
pub async fn analyze(context: &Context, game: Game, setup: Setup, limits: Limits) -> Result<Response, ApiError> {
    if let Some(over) = game_state::over(&game) {
        let (sender, receiver) = unbounded_channel();
        let _ = sender.send(message("done", &Done { bestmove: None, source: "rules", over: Some(over) }));
        return Ok(stream(receiver, Arc::default()));
    }
    let (permit, threads) = context.search_permit(Hold::Long, setup.threads).await?;
    let (setup, app) = (Setup { threads, ..setup }, context.app.clone());
    let (sender, receiver) = unbounded_channel::<Message>();
    let cancel = Arc::new(Cancel::default());
    let stop = cancel.0.clone();
    let finished = app.stop_at_shutdown(stop.clone());
    let listener = stream(receiver, cancel);
    let watch = tokio::spawn(yield_to_waiting_client(app.clone(), context.client.address, stop.clone())).abort_handle();
    let search = move || {
        let _held = (permit, finished);
        let _running = app.metrics.search();
        let position = game.position().clone();
        let mut report = |info: &doushouqi::search::Info| {
            // Fails if the client has left; the search is about to stop.
            let _ = sender.send(message("info", &InfoReport::new(&position, info)));
        };
        let lines = app.engines.search(setup, &game, &limits, &stop, &mut report);
        let bestmove = lines.first().and_then(|info| info.pv.first()).map(ToString::to_string);
        watch.abort();
        let _ = sender.send(message("done", &Done { bestmove, source: "engine", over: None }));
    };
    tokio::task::spawn_blocking(search);
    Ok(listener)
}

/// The interval of the checks for a waiting client; less than a client waits.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Ends an analysis that has run for [`Timeouts::analysis`](super::Timeouts::analysis) as soon as another client waits for a search.
async fn yield_to_waiting_client(app: Arc<App>, client: IpAddr, stop: Arc<AtomicBool>) {
    tokio::time::sleep(app.config.timeouts.analysis).await;
    while !app.searches.promise(client) {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    stop.store(true, Ordering::Relaxed);
}

/// The moves of a position with their lines as an analysis; `None` if no table contains the position, or if the
/// no-capture limit or a repetition may change the values.
pub fn from_tables(tables: &RequestTables<'_>, game: &Game, lines: usize) -> Result<Option<Response>, ApiError> {
    let (start, position) = (Instant::now(), game.position());
    if over(position, tables.rules()).is_some() || !api::is_known(tables, position)? {
        return Ok(None);
    }
    let moves = history::judge(tables, game)?;
    let Some(best) = moves.first() else { return Ok(None) };
    if !ends_in_time(&best.table, game) || moves.iter().any(|mv| mv.is_disturbed(game)) {
        return Ok(None);
    }
    let (sender, receiver) = unbounded_channel();
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
        let _ = sender.send(message("info", &report));
    }
    let bestmove = Some(best.mv.to_string());
    let _ = sender.send(message("done", &Done { bestmove, source: "table", over: None }));
    Ok(Some(stream(receiver, Arc::default())))
}

/// Streams the progress of a count to one of the clients that wait for it.
pub fn count(follower: Follower) -> Response {
    let Follower { class, mut states, cancel } = follower;
    let (sender, receiver) = unbounded_channel::<Message>();
    tokio::spawn(async move {
        loop {
            let state = states.borrow_and_update().clone();
            let (last, event) = match state {
                CountState::Progress(report) => (false, message("progress", &report)),
                CountState::Finished => (true, message("done", &CountDone { class: Some(class.to_string()) })),
                CountState::Failed(error) => (true, message("failed", &ErrorAnswer { error: error.body() })),
            };
            if sender.send(event).is_err() || last {
                return;
            }
            tokio::select! {
                changed = states.changed() => if changed.is_err() { return },
                () = sender.closed() => return,
            }
        }
    });
    stream(receiver, cancel)
}

/// The answer to a count of a position whose value is already known.
pub fn counted() -> Response {
    let (sender, receiver) = unbounded_channel();
    let _ = sender.send(message("done", &CountDone { class: None }));
    stream(receiver, Arc::default())
}
