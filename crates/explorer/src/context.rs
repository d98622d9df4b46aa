//! A request's access to tables, threads and permits, on behalf of its client.

use super::cancel::Cancel;
use super::permits::{Hold, Permit};
use super::state::App;
use answers::context::Context as Answering;
use answers::counting::NeedReport;
use answers::handlers::{counters, position_of};
use answers::params::PositionQuery;
use answers::state::{Lane, State};
use answers::{ApiError, Code};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::collections::hash_map::RandomState;
use std::convert::Infallible;
use std::hash::BuildHasher;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The client of a request.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// The address that represents the client; for IPv6 its network.
    pub address: IpAddr,
    /// Whether the rate limit applies.
    pub limited: bool,
}

impl Default for Client {
    fn default() -> Client {
        Client { address: Ipv6Addr::UNSPECIFIED.into(), limited: true }
    }
}

impl Client {
    /// Takes the price of some work from the client's rate.
    pub fn charge(&self, app: &App, tokens: f32) -> Result<(), ApiError> {
        if !self.limited || app.rates.take(self.address, tokens, Instant::now()) {
            return Ok(());
        }
        Err(ApiError::new(Code::RateLimited, "too many requests from this address; try again in a second"))
    }
}

/// A request's access to the server.
pub struct Context {
    pub app: Arc<App>,
    pub client: Client,
    /// The price of the work of this request so far.
    charged: Mutex<f32>,
}

impl FromRequestParts<Arc<App>> for Context {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Context, Infallible> {
        let client = parts.extensions.get::<Client>().copied().unwrap_or_default();
        Ok(Context { app: app.clone(), client, charged: Mutex::default() })
    }
}

impl Answering for Context {
    fn state(&self) -> &State {
        &self.app.state
    }

    /// All work of a request together costs at most half a bucket, as the route does, so that a full bucket is enough for
    /// any request.
    fn charge(&self, tokens: f32) -> Result<(), ApiError> {
        let mut charged = self.charged.lock().unwrap_or_else(PoisonError::into_inner);
        let total = (*charged + tokens).min(self.app.rates.most());
        self.client.charge(&self.app, total - *charged)?;
        *charged = total;
        Ok(())
    }

    fn random(&self) -> u64 {
        RandomState::new().hash_one(0)
    }

    /// Runs on a blocking thread, once a permit of the lane is free. The flag becomes true when the client leaves, when
    /// the request takes too long (both drop this future), and when the server shuts down.
    async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce(&State, &AtomicBool) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = match lane {
            Lane::Search => self.search_permit(Hold::Short, 1).await?.0,
            lane => {
                let patience = self.app.config.timeouts.permit;
                let permit = self.app.lane(lane).acquire(self.client.address, Hold::Short, patience).await;
                permit.ok_or_else(ApiError::busy)?
            }
        };
        let cancel = Cancel::default();
        let (stop, app) = (cancel.0.clone(), self.app.clone());
        let mut ending = self.app.stop.subscribe();
        let mut done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let _running = (lane == Lane::Search).then(|| app.metrics.search());
            work(&app.state, &stop)
        });
        let shutdown = async { ending.wait_for(|&ending| ending).await.is_ok() };
        let finished = tokio::select! {
            result = &mut done => Some(result),
            _ = shutdown => None,
        };
        let result = match finished {
            Some(result) => result,
            None => {
                cancel.0.store(true, Ordering::Relaxed);
                done.await
            }
        };
        result.map_err(|_| ApiError::shutting_down())?
    }

    async fn need(&self, query: PositionQuery) -> Result<NeedReport, ApiError> {
        let (position, rules) = position_of(self, &query.fen, &query.rules)?;
        let counters = counters(self, &rules)?;
        let counts = self.app.counts.clone();
        self.run(Lane::Read, move |_, _| counts.need(&counters, &position, rules.to_string())).await
    }
}

impl Context {
    /// Waits for a permit to search. It is widened to up to `threads` threads if these are free.
    pub async fn search_permit(&self, hold: Hold, threads: usize) -> Result<(Permit, usize), ApiError> {
        let permit = self.app.searches.acquire(self.client.address, hold, self.app.config.timeouts.permit).await;
        let busy = || ApiError::new(Code::Busy, "every search thread is in use; try again in a few seconds");
        let mut permit = permit.ok_or_else(|| busy().reason("searches_busy"))?;
        let threads = permit.widen(threads);
        Ok((permit, threads))
    }
}
