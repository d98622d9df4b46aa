//! A request's access to the tables, and to threads for slow work.

use super::counting::NeedReport;
use super::errors::ApiError;
use super::params::PositionQuery;
use super::rule_tables::{Effort, RequestTables, RuleTables};
use super::state::{Lane, State};
use doushouqi::board::RuleOptions;
use doushouqi::search::Tables;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The flag of work that is too short to be cancelled.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The price of solving a rule set, in requests.
const COLD_TOKENS: f32 = 20.0;

/// The surroundings of a request.
pub trait Context: Send + Sync + Sized + 'static {
    fn state(&self) -> &State;

    /// Takes the price of work from the client's rate, besides the price of the request.
    ///
    /// # Errors
    /// If the client's rate is exceeded.
    fn charge(&self, tokens: f32) -> Result<(), ApiError>;

    /// A random number.
    fn random(&self) -> u64;

    /// Runs slow work where it does not delay other requests. Its flag becomes true when nobody waits for the answer.
    fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce(&State, &AtomicBool) -> Result<T, ApiError> + Send + 'static,
    ) -> impl Future<Output = Result<T, ApiError>> + Send;

    /// The most pieces of an endgame that is counted on demand; `None` if none is.
    fn countable(&self, tables: &RuleTables) -> Option<usize> {
        tables.counters().map(|counters| counters.pieces())
    }

    /// The resources that counting the endgame of a position needs.
    fn need(&self, query: PositionQuery) -> impl Future<Output = Result<NeedReport, ApiError>> + Send;

    /// The tables of a rule set, solved now if they are not in memory.
    fn tables(&self, rules: RuleOptions) -> impl Future<Output = Result<Arc<RuleTables>, ApiError>> + Send {
        async move {
            if let Some(tables) = self.state().registry.ready(&rules) {
                return Ok(tables);
            }
            self.charge(COLD_TOKENS)?;
            self.run(Lane::Cold, move |state, stop| Ok(state.registry.solve(&rules, stop)?)).await
        }
    }

    /// Runs `work` with the tables of `rules`, which it probes for a few positions of up to `pieces` pieces: at once if
    /// the tables are in memory, else as slow work.
    fn probe<T: Send + 'static>(
        &self,
        rules: RuleOptions,
        pieces: usize,
        work: impl FnOnce(&RequestTables<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> impl Future<Output = Result<T, ApiError>> + Send {
        async move {
            let tables = self.tables(rules).await?;
            match tables.effort(pieces) {
                Effort::Memory => work(&RequestTables::new(&tables, rules, &NEVER)),
                effort => self.scan_tables(effort, tables, rules, work).await,
            }
        }
    }

    /// As [`probe`](Context::probe), for work with many positions, which is always slow.
    fn scan<T: Send + 'static>(
        &self,
        rules: RuleOptions,
        pieces: usize,
        work: impl FnOnce(&RequestTables<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> impl Future<Output = Result<T, ApiError>> + Send {
        async move {
            let tables = self.tables(rules).await?;
            self.scan_tables(tables.effort(pieces), tables, rules, work).await
        }
    }

    /// As [`scan`](Context::scan), with given tables and effort.
    fn scan_tables<T: Send + 'static>(
        &self,
        effort: Effort,
        tables: Arc<RuleTables>,
        rules: RuleOptions,
        work: impl FnOnce(&RequestTables<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> impl Future<Output = Result<T, ApiError>> + Send {
        let lane = if effort == Effort::Solving { Lane::Solve } else { Lane::Read };
        self.run(lane, move |_, stop| work(&RequestTables::new(&tables, rules, stop)))
    }

    /// The tables that a search under `rules` probes.
    fn search_tables(&self, rules: RuleOptions) -> impl Future<Output = Result<Arc<Tables>, ApiError>> + Send {
        async move {
            let tables = self.tables(rules).await?;
            if let Some(found) = tables.ready_for_search() {
                return Ok(found);
            }
            self.run(Lane::Cold, move |state, _| Ok(state.registry.search_tables(&tables)?)).await
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Where no request is answered.
    pub struct Still;

    impl Context for Still {
        fn state(&self) -> &State {
            unimplemented!()
        }

        fn charge(&self, _: f32) -> Result<(), ApiError> {
            unimplemented!()
        }

        fn random(&self) -> u64 {
            unimplemented!()
        }

        async fn run<T: Send + 'static>(
            &self,
            _: Lane,
            _: impl FnOnce(&State, &AtomicBool) -> Result<T, ApiError> + Send + 'static,
        ) -> Result<T, ApiError> {
            unimplemented!()
        }

        async fn need(&self, _: PositionQuery) -> Result<NeedReport, ApiError> {
            unimplemented!()
        }
    }
}
