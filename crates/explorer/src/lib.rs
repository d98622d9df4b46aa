//! `dsq serve`: a web page and an HTTP API (`docs/http-api.md`) for tables and engine.
//!
//! The crate `answers` computes the answers, as plain data. `routes` lists every path with its limits, `guard` checks
//! requests first, `context` runs slow work, `http` and `sse` write responses.
//!
//! The caller of [`serve`] ends the process when any thread panics, as `dsq` does by its panic hook: a panic may leave
//! shared state, such as a solver, half done, and the server must not give wrong values. A supervisor restarts it in half
//! a second. The lints below and tests with ten thousand hostile requests guard against panics.
//!
//! ```no_run
//! use explorer::{Config, Stop, serve};
//!
//! fn run(config: Config, stop: &Stop) {
//!     // Ends after `stop.stop()` from another thread.
//!     serve(config, stop, &|event| println!("{event:?}")).unwrap();
//! }
//! ```
#![warn(missing_docs)]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod assets;
mod bundle;
mod cancel;
mod config;
mod context;
mod cost;
mod counting;
mod guard;
mod handlers;
mod http;
mod limits;
mod metrics;
mod permits;
mod routes;
pub mod site;
mod sse;
mod state;
mod tables;

use answers::rule_tables::MEMORY_PIECES;
use axum::body::Body;
use doushouqi::search::Engine;
use doushouqi::tablebase::SolveError;
use guard::Peer;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use limits::Connections;
use state::App;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

pub use answers::Code;
pub use config::{Config, ServeError};
pub use limits::Timeouts;
pub use routes::operations;

/// A report to the caller of [`serve`].
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The server listens on this address.
    Listening(SocketAddr),
    /// The completed share of the background work, and the seconds left.
    Solving(f64, Option<f64>),
    /// All tables in memory are solved.
    Ready,
}

/// Ends [`serve`]. Clones end the same server.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Notify>);

impl Stop {
    /// Ends the server after the open requests.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

/// Serves until `stop`, then completes open requests.
pub fn serve(config: Config, stop: &Stop, tell: &(dyn Fn(Event) + Sync)) -> Result<(), ServeError> {
    let threads = config.threads.max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(Engine::STACK).build();
    let pool = pool.map_err(|error| ServeError::Start(io::Error::other(error)))?;
    let app = App::new(config, pool, &routes::names())?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(threads).thread_stack_size(Engine::STACK).enable_all().build();
    let runtime = runtime.map_err(ServeError::Start)?;
    std::thread::scope(|scope| {
        let background = app.clone();
        scope.spawn(move || solve_in_background(&background, tell));
        let result = runtime.block_on(accept(&app, stop, tell));
        app.stop();
        // Work on blocking threads ends with the process.
        runtime.shutdown_background();
        result
    })
}

fn solve_in_background(app: &App, tell: &(dyn Fn(Event) + Sync)) {
    if app.config.pieces < MEMORY_PIECES {
        return tell(Event::Ready);
    }
    let tables = app.state.registry.main();
    let progress = || {
        let (share, left) = tables.progress().get();
        tell(Event::Solving(share, left));
    };
    match tables.solve_four(&app.stopping, &progress) {
        Ok(()) => {
            progress();
            // A search needs the tables of all materials.
            if let Some(path) = &app.config.tables
                && let Err(error) = tables.load_for_search(path)
            {
                tracing::error!(%error, "searches do not use the tables on disk");
            }
        }
        Err(SolveError::Stopped) => {}
        Err(error) => tracing::error!(%error, "solving"),
    }
    tell(Event::Ready);
}

/// The response to a connection above the limits.
const TOO_MANY_CONNECTIONS: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Refuses a connection. A new socket has room for so few bytes.
fn refuse(stream: &TcpStream) {
    let _ = stream.try_write(TOO_MANY_CONNECTIONS);
}

/// A file descriptor in reserve. At the limit of open files the process cannot even accept a connection to refuse it.
struct Reserve(Option<File>);

impl Reserve {
    fn new() -> Reserve {
        Reserve(File::open(NULL_FILE).ok())
    }

    /// Refuses a waiting connection with this descriptor; waits a moment if there is none.
    async fn refuse_one(&mut self, listener: &TcpListener) {
        self.0 = None;
        match tokio::time::timeout(ACCEPT_PAUSE, listener.accept()).await {
            Ok(Ok((stream, _))) => refuse(&stream),
            Ok(Err(_)) => tokio::time::sleep(ACCEPT_PAUSE).await,
            Err(_) => {}
        }
        *self = Reserve::new();
    }
}

/// A file that every system has.
const NULL_FILE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };
/// The pause after a connection that could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A warning that an attack would repeat thousands of times: logged at most once a minute.
#[derive(Default)]
struct Seldom(Option<Instant>);

impl Seldom {
    /// Whether to log now.
    fn is_due(&mut self) -> bool {
        let due = self.0.is_none_or(|last| last.elapsed() >= Duration::from_secs(60));
        if due {
            self.0 = Some(Instant::now());
        }
        due
    }
}

/// The most open connections; warns if the limit on open files allows fewer than the usual number.
fn max_connections(app: &App) -> usize {
    let Some((limit, open)) = limits::file_limit() else { return limits::MAX_CONNECTIONS };
    let most = limits::max_connections(Some(limit), open + app.state.registry.main().files());
    if most < limits::MAX_CONNECTIONS {
        let usual = limits::MAX_CONNECTIONS;
        tracing::warn!(limit, most, usual, "few open files are allowed: the server accepts fewer connections");
    }
    most
}

/// Accepts connections until `stop`.
async fn accept(app: &Arc<App>, stop: &Stop, tell: &(dyn Fn(Event) + Sync)) -> Result<(), ServeError> {
    let failed = |error| ServeError::Listen { addresses: app.config.listen.clone(), error };
    let listener = TcpListener::bind(&app.config.listen[..]).await.map_err(failed)?;
    tell(Event::Listening(listener.local_addr().map_err(failed)?));
    let router = routes::router(app.clone());
    let graceful = GracefulShutdown::new();
    let mut http = hyper::server::conn::http1::Builder::new();
    let timeouts = app.config.timeouts;
    http.timer(TokioTimer::new()).header_read_timeout(timeouts.header).max_buf_size(16 << 10).max_headers(64);
    let mut end = std::pin::pin!(stop.0.notified());
    let connections = Arc::new(Connections::new(max_connections(app)));
    let (mut reserve, mut no_files, mut full) = (Reserve::new(), Seldom::default(), Seldom::default());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut end => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            // The client has left.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            // Usually too many open files.
            Err(error) => {
                if no_files.is_due() {
                    tracing::error!(%error, "cannot accept connections");
                }
                reserve.refuse_one(&listener).await;
                continue;
            }
        };
        let address = guard::network(peer.ip());
        if !connections.open(address, !app.config.behind_proxy) {
            if full.is_due() {
                tracing::warn!(%address, "refused a connection: too many are open");
            }
            refuse(&stream);
            continue;
        }
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(timeouts.write));
        let router = router.clone();
        let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(Peer(peer.ip()));
            router.clone().oneshot(request)
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
        let (app, connections) = (app.clone(), connections.clone());
        tokio::spawn(async move {
            app.metrics.connections.fetch_add(1, Ordering::Relaxed);
            // A client that disconnects is not an error.
            let _ = connection.await;
            app.metrics.connections.fetch_sub(1, Ordering::Relaxed);
            connections.close(address);
        });
    }
    drop(listener);
    app.stop();
    let _ = tokio::time::timeout(limits::SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
    Ok(())
}
