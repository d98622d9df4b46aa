//! The evaluations that an engine can use.

use super::accumulators::NetworkEvaluator;
use super::embedded;
use super::network::Network;
use crate::board::{RuleOptions, Rules};
use std::sync::Arc;

/// The static evaluation of an engine.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Evaluation {
    /// Burnett's tables (2010): material and squares.
    Burnett,
    /// The engine's own: an embedded neural network.
    #[default]
    Default,
    /// A neural network. It is used under all rules, also those that it did not learn from.
    Network(Arc<Network>),
}

/// The evaluation of a search thread.
pub(in crate::search) enum Evaluator {
    Burnett,
    Network(NetworkEvaluator),
}

impl Evaluation {
    /// The network that evaluates games under these rules; `None` if another evaluation is used.
    #[must_use]
    pub fn network(&self, rules: &RuleOptions) -> Option<&Arc<Network>> {
        match self {
            Evaluation::Default => embedded::network(rules),
            Evaluation::Network(network) => Some(network),
            Evaluation::Burnett => None,
        }
    }

    /// The evaluation for a search thread.
    pub(in crate::search) fn make(&self, rules: &Rules) -> Evaluator {
        match self.network(rules.options()) {
            Some(network) => Evaluator::Network(NetworkEvaluator::new(Arc::clone(network))),
            None => Evaluator::Burnett,
        }
    }
}
