//! Tables and engine in a browser: a server of pages and of a JSON interface (`docs/http-api.md`).

mod api;
mod assets;
mod errors;
mod params;
mod routes;
mod state;
mod tables;

use crate::board::RuleOptions;
use crate::tablebase::SetError;
use axum::body::Body;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use state::App;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpListener;
use tower::ServiceExt;

pub use errors::Code;

/// How to serve.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen.
    pub listen: SocketAddr,
    /// The rules where a request names none, and those that tables are made for beforehand.
    pub rules: RuleOptions,
    /// Tables on disk for these rules.
    pub tables: Option<PathBuf>,
    /// Pieces of the tables in memory: 3, or 4, which are solved in the background.
    pub pieces: usize,
    /// Threads for requests, searches and solving.
    pub threads: usize,
    /// Read the page's files from here.
    pub assets: Option<PathBuf>,
}

/// Why the server did not run.
#[derive(Debug, Error)]
pub enum ServeError {
    #[error(transparent)]
    Tables(#[from] SetError),
    #[error("cannot listen on {address}: {error}")]
    Listen { address: SocketAddr, error: io::Error },
    #[error("cannot start: {0}")]
    Start(io::Error),
}

/// Something to tell who started the server.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// It answers at this address.
    Listening(SocketAddr),
    /// So much of the work in the background is done, with so many seconds left.
    Solving(f64, Option<f64>),
    /// All tables in memory are there.
    Ready,
}

/// Serves until the process is told to end (SIGTERM, Ctrl-C), and then lets the requests under way finish.
pub fn serve(config: Config, tell: &(dyn Fn(Event) + Sync)) -> Result<(), ServeError> {
    let threads = config.threads.max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| ServeError::Start(io::Error::other(error)))?;
    let app = pool.install(|| App::new(config))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let runtime = runtime.map_err(ServeError::Start)?;
    std::thread::scope(|scope| {
        let background = app.clone();
        scope.spawn(move || pool.install(|| solve_in_background(&background, tell)));
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
        app.stopping.load(std::sync::atomic::Ordering::Relaxed)
    };
    match tables.solve_four(&stop) {
        Ok(()) => tell(Event::Ready),
        Err(error) => eprintln!("dsq serve: {error}"),
    }
}

/// Takes connections until it is told to stop.
async fn accept(app: &Arc<App>, tell: &(dyn Fn(Event) + Sync)) -> Result<(), ServeError> {
    let address = app.config.listen;
    let listener = TcpListener::bind(address).await.map_err(|error| ServeError::Listen { address, error })?;
    let address = listener.local_addr().map_err(|error| ServeError::Listen { address, error })?;
    tell(Event::Listening(address));
    let router = routes::router(app.clone());
    let graceful = GracefulShutdown::new();
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(10)).max_buf_size(16 << 10).max_headers(64);
    let mut end = std::pin::pin!(told_to_end());
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // Too many open files, or a client that is gone already.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut end => break,
        };
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            router.clone().oneshot(request.map(Body::new))
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A client that breaks off is no concern of anybody.
            let _ = connection.await;
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
