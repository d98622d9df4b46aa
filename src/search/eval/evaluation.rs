//! The evaluations that an engine can use.

use super::accumulators::NetworkEvaluator;
use super::embedded;
use super::evaluate::Evaluate;
use super::network::Network;
use crate::board::{RuleOptions, Rules};
use std::fmt;
use std::sync::Arc;

/// Creates the evaluation of a search thread, for games under these rules.
type Make = dyn Fn(&Rules) -> Box<dyn Evaluate> + Send + Sync;

/// The static evaluation of an engine.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Evaluation {
    /// Burnett's tables (2010): material and squares.
    Burnett,
    /// The engine's own: an embedded neural network.
    #[default]
    Default,
    /// A neural network. It is used under all rules, also those that it did not learn from.
    Network(Arc<Network>),
    /// The caller's evaluation.
    Custom(Custom),
}

/// The evaluation of a search thread.
pub(in crate::search) enum Evaluator {
    Burnett,
    Network(NetworkEvaluator),
    Custom(Box<dyn Evaluate>),
}

/// The caller's evaluation, see [`Evaluation::custom`].
#[derive(Clone)]
pub struct Custom(Arc<Make>);

impl Evaluation {
    /// The caller's evaluation. The engine calls `make` once for each search thread, and again if the rules change.
    #[must_use]
    pub fn custom(make: impl Fn(&Rules) -> Box<dyn Evaluate> + Send + Sync + 'static) -> Evaluation {
        Evaluation::Custom(Custom(Arc::new(make)))
    }

    /// The network that evaluates games under these rules; `None` if another evaluation is used.
    #[must_use]
    pub fn network(&self, rules: &RuleOptions) -> Option<&Arc<Network>> {
        match self {
            Evaluation::Default => embedded::network(rules),
            Evaluation::Network(network) => Some(network),
            Evaluation::Burnett | Evaluation::Custom(_) => None,
        }
    }

    /// The evaluation for a search thread.
    pub(in crate::search) fn make(&self, rules: &Rules) -> Evaluator {
        match (self, self.network(rules.options())) {
            (Evaluation::Custom(Custom(make)), _) => Evaluator::Custom(make(rules)),
            (_, Some(network)) => Evaluator::Network(NetworkEvaluator::new(Arc::clone(network))),
            (_, None) => Evaluator::Burnett,
        }
    }
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Evaluation::Burnett => "Burnett",
            Evaluation::Default => "Default",
            Evaluation::Network(network) => return write!(f, "{network:?}"),
            Evaluation::Custom(_) => "Custom",
        })
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Custom")
    }
}
