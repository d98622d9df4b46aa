//! A request's access to tables, threads and permits, on behalf of its client.

use super::cancel::Cancel;
use super::errors::{ApiError, Code};
use super::permits::{Hold, Permit};
use super::registry::Registry;
use super::rule_tables::{Effort, RequestTables, RuleTables};
use super::state::{App, Lane};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use doushouqi::board::RuleOptions;
use doushouqi::search::Tables;
use std::convert::Infallible;
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

/// The flag of work that is too short to be cancelled.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The price of solving a rule set, in requests.
const COLD_TOKENS: f32 = 20.0;

impl Context {
    /// Takes the price of work from the client's rate, besides the price of the route. All work of a request together
    /// costs at most half a bucket, as the route does, so that a full bucket is enough for any request.
    pub fn charge(&self, tokens: f32) -> Result<(), ApiError> {
        let mut charged = self.charged.lock().unwrap_or_else(PoisonError::into_inner);
        let total = (*charged + tokens).min(self.app.rates.most());
        self.client.charge(&self.app, total - *charged)?;
        *charged = total;
        Ok(())
    }

    /// Runs slow work on a blocking thread, once a permit of the lane is free. The flag becomes true when the client
    /// leaves, when the request takes too long (both drop this future), and when the server shuts down.
    pub async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce(&App, &AtomicBool) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit =
            self.app.lane(lane).acquire(self.client.address, Hold::Short, self.app.config.timeouts.permit).await;
        self.run_with(permit.ok_or_else(ApiError::busy)?, work).await
    }

    /// As [`run`](Context::run), with a permit that the caller already holds.
    pub async fn run_with<T: Send + 'static>(
        &self,
        permit: Permit,
        work: impl FnOnce(&App, &AtomicBool) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let cancel = Cancel::default();
        let (stop, app) = (cancel.0.clone(), self.app.clone());
        let mut ending = self.app.stop.subscribe();
        let mut done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&app, &stop)
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

    /// The tables of a rule set, solved now if they are not in memory.
    pub async fn tables(&self, rules: RuleOptions) -> Result<Arc<RuleTables>, ApiError> {
        if let Some(tables) = self.app.registry.ready(&rules) {
            return Ok(tables);
        }
        self.charge(COLD_TOKENS)?;
        self.run(Lane::Cold, move |app, stop| Ok(app.registry.solve(&rules, stop)?)).await
    }

    /// Runs `work` with the tables of `rules`, which it probes for a few positions of up to `pieces` pieces: on this
    /// thread if the tables are in memory, else on a blocking thread.
    pub async fn probe<T: Send + 'static>(
        &self,
        rules: RuleOptions,
        pieces: usize,
        work: impl FnOnce(&RequestTables<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let tables = self.tables(rules).await?;
        match tables.effort(pieces) {
            Effort::Memory => work(&RequestTables::new(&tables, rules, &NEVER)),
            effort => self.scan_tables(effort, tables, rules, work).await,
        }
    }

    /// As [`probe`](Context::probe), for work with many positions: always on a blocking thread.
    pub async fn scan<T: Send + 'static>(
        &self,
        rules: RuleOptions,
        pieces: usize,
        work: impl FnOnce(&RequestTables<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let tables = self.tables(rules).await?;
        self.scan_tables(tables.effort(pieces), tables, rules, work).await
    }

    /// As [`scan`](Context::scan), with given tables and effort.
    pub async fn scan_tables<T: Send + 'static>(
        &self,
        effort: Effort,
        tables: Arc<RuleTables>,
        rules: RuleOptions,
        work: impl FnOnce(&RequestTables<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let lane = if effort == Effort::Solving { Lane::Solve } else { Lane::Read };
        self.run(lane, move |_, stop| work(&RequestTables::new(&tables, rules, stop))).await
    }

    /// The tables that a search under `rules` probes.
    pub async fn search_tables(&self, rules: RuleOptions) -> Result<Arc<Tables>, ApiError> {
        let tables = self.tables(rules).await?;
        if let Some(found) = tables.ready_for_search() {
            return Ok(found);
        }
        let search = move |registry: &Registry| Ok(registry.search_tables(&tables)?);
        self.run(Lane::Cold, move |app, _| search(&app.registry)).await
    }

    /// Waits for a permit to search. It is widened to up to `threads` threads if these are free.
    pub async fn search_permit(&self, hold: Hold, threads: usize) -> Result<(Permit, usize), ApiError> {
        let permit = self.app.searches.acquire(self.client.address, hold, self.app.config.timeouts.permit).await;
        let busy = || ApiError::new(Code::Busy, "every search thread is in use; try again in a few seconds");
        let mut permit = permit.ok_or_else(|| busy().reason("searches_busy"))?;
        let threads = permit.widen(threads);
        Ok((permit, threads))
    }
}
