//! Tables and engine in a browser: a server of pages and of a JSON interface (`docs/http-api.md`).
//!
//! A panic ends the whole program (`panic = "abort"`), and so the server: that is meant. A request that panics leaves behind
//! what others share, a solver that is half done or an engine's table, and a server that went on might say something wrong
//! of a position, where all it says is claimed to be exact. It is up again in half a second, so whoever runs one in public
//! lets systemd or the like start it again. That no request can bring about a panic is for the lints below to watch, and for
//! ten thousand hostile requests in `tests/serve`, expensive ones among them.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod api;
mod assets;
mod config;
mod engine;
mod errors;
mod explain;
mod guard;
mod html;
mod http;
mod limits;
mod metrics;
mod params;
mod review;
mod routes;
mod sse;
mod state;
mod tables;

use axum::body::Body;
use guard::Peer;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use state::App;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower::ServiceExt;

pub use config::{Config, ServeError};
pub use errors::Code;
pub use routes::names as paths;

/// Something to tell who started the server.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// It answers at this address.
    Listening(SocketAddr),
    /// The share of the work in the background that is done, and the seconds left.
    Solving(f64, Option<f64>),
    /// All tables in memory are there.
    Ready,
}

/// Serves until the process is told to end (SIGTERM, Ctrl-C), and then lets the requests under way finish.
pub fn serve(config: Config, tell: &(dyn Fn(Event) + Sync)) -> Result<(), ServeError> {
    let threads = config.threads.max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| ServeError::Start(io::Error::other(error)))?;
    let app = App::new(config, pool, &routes::names())?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(threads).thread_stack_size(STACK).enable_all().build();
    let runtime = runtime.map_err(ServeError::Start)?;
    std::thread::scope(|scope| {
        let background = app.clone();
        scope.spawn(move || solve_in_background(&background, tell));
        let result = runtime.block_on(accept(&app, tell));
        app.stop();
        result
    })
}

fn solve_in_background(app: &App, tell: &(dyn Fn(Event) + Sync)) {
    if app.config.pieces < tables::MEMORY_PIECES {
        return tell(Event::Ready);
    }
    let tables = app.registry.main();
    let stop = || {
        let (share, left) = tables.progress().get();
        tell(Event::Solving(share, left));
        app.stopping.load(Ordering::Relaxed)
    };
    if let Err(error) = tables.solve_four(&stop) {
        eprintln!("dsq serve: {error}");
    }
    // Tables of a few materials only are of no use to a search, which may come to any.
    if let Some(dir) = app.config.tables.as_ref().filter(|_| !stop())
        && let Err(error) = tables.load_for_search(dir)
    {
        eprintln!("dsq serve: searches do without the tables on disk: {error}");
    }
    tell(Event::Ready);
}

/// The stack of a thread: a search goes as deep as its longest line.
const STACK: usize = 16 << 20;

/// Connections that may be open at once.
const MAX_CONNECTIONS: usize = 1024;

/// Takes connections until it is told to stop.
async fn accept(app: &Arc<App>, tell: &(dyn Fn(Event) + Sync)) -> Result<(), ServeError> {
    let failed = |error| ServeError::Listen { addresses: app.config.listen.clone(), error };
    let listener = TcpListener::bind(&app.config.listen[..]).await.map_err(failed)?;
    tell(Event::Listening(listener.local_addr().map_err(failed)?));
    let router = routes::router(app.clone());
    let graceful = GracefulShutdown::new();
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(10)).max_buf_size(16 << 10).max_headers(64);
    let mut end = std::pin::pin!(told_to_end());
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut end => break,
        };
        let Ok((stream, peer)) = accepted else {
            // Too many open files, or a client that is gone already.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Who comes when all places are taken is turned away at once.
        let Ok(slot) = slots.clone().try_acquire_owned() else { continue };
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(Peer(peer.ip()));
            router.clone().oneshot(request)
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        let app = app.clone();
        tokio::spawn(async move {
            app.metrics.connections.fetch_add(1, Ordering::Relaxed);
            // A client that breaks off is no concern of anybody.
            let _ = connection.await;
            app.metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop(slot);
        });
    }
    drop(listener);
    app.stop();
    let _ = tokio::time::timeout(Duration::from_secs(10), graceful.shutdown()).await;
    Ok(())
}

/// Waits for SIGTERM or Ctrl-C.
async fn told_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
