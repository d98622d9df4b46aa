//! Analysis as server-sent events. A search stops when its client leaves and when the server shuts down.

use super::cancel::Cancel;
use super::context::Context;
use super::counting::{CountState, Follower};
use super::permits::Hold;
use super::state::App;
use answers::ApiError;
use answers::analysis::{Analysis, Event as Message, event};
use answers::counting::CountDone;
use answers::errors::ErrorAnswer;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{self, Poll};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_stream::Stream;

/// The interval of keep-alive messages. Only a failed send tells the server that a client has left.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// The stream of a client. Dropping it, when the client leaves, stops the search.
struct Listener {
    messages: UnboundedReceiver<Message>,
    _stop: Arc<Cancel>,
}

impl Stream for Listener {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        let message = self.messages.poll_recv(context);
        message.map(|message| message.map(|Message { name, data }| Ok(Event::default().event(name).data(data))))
    }
}

/// The stream of these events.
fn finished(events: Vec<Message>) -> Response {
    let (sender, receiver) = unbounded_channel();
    for event in events {
        let _ = sender.send(event);
    }
    stream(receiver, Arc::default())
}

fn stream(messages: UnboundedReceiver<Message>, stop: Arc<Cancel>) -> Response {
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    let mut response = Sse::new(Listener { messages, _stop: stop }).keep_alive(keep_alive).into_response();
    // Asks proxies not to buffer events.
    response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    response
}

/// Streams the events of an analysis, and searches if it takes a search.
pub async fn analyze(context: &Context, analysis: Analysis) -> Result<Response, ApiError> {
    let mut search = match analysis {
        Analysis::Events(events) => return Ok(finished(events)),
        Analysis::Search(search) => search,
    };
    let (permit, threads) = context.search_permit(Hold::Long, search.setup.threads).await?;
    search.setup.threads = threads;
    let app = context.app.clone();
    let (sender, receiver) = unbounded_channel::<Message>();
    let cancel = Arc::new(Cancel::default());
    let stop = cancel.0.clone();
    let finished = app.stop_at_shutdown(stop.clone());
    let listener = stream(receiver, cancel);
    let watch = tokio::spawn(yield_to_waiting_client(app.clone(), context.client.address, stop.clone())).abort_handle();
    let search = move || {
        let _held = (permit, finished);
        let _running = app.metrics.search();
        // A send fails if the client has left; the search is about to stop.
        search.run(&app.state, &stop, &mut |event| drop(sender.send(event)));
        watch.abort();
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

/// Streams the progress of a count to one of the clients that wait for it.
pub fn count(follower: Follower) -> Response {
    let Follower { class, mut states, cancel } = follower;
    let (sender, receiver) = unbounded_channel::<Message>();
    tokio::spawn(async move {
        loop {
            let state = states.borrow_and_update().clone();
            let (last, message) = match state {
                CountState::Progress(report) => (false, event("progress", &report)),
                CountState::Finished => (true, event("done", &CountDone { class: Some(class.to_string()) })),
                CountState::Failed(error) => (true, event("failed", &ErrorAnswer { error: error.body() })),
            };
            if sender.send(message).is_err() || last {
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
    finished(vec![event("done", &CountDone { class: None })])
}
