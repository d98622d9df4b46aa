//! The evaluations that an engine can use.

use super::evaluate::Evaluate;
use super::network::{Network, NetworkEvaluator};
use crate::board::Rules;
use std::fmt;
use std::sync::Arc;

/// Makes an evaluation for a search thread, in games under these rules.
type Make = dyn Fn(&Rules) -> Box<dyn Evaluate> + Send + Sync;

/// The static evaluation of an engine.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Evaluation {
    /// Burnett's tables (2010): material and squares.
    Burnett,
    /// The engine's own, hand-crafted and tuned by self-play: see [`evaluate`](fn@super::evaluate).
    #[default]
    Default,
    /// A neural network; the hand-crafted evaluation under rules that the network is not for.
    Network(Arc<Network>),
    /// An evaluation of the caller.
    Custom(Custom),
}

/// The evaluation of a search thread.
pub(in crate::search) enum Evaluator {
    HandCrafted,
    Network(NetworkEvaluator),
    Custom(Box<dyn Evaluate>),
}

/// An evaluation of the caller, see [`Evaluation::custom`].
#[derive(Clone)]
pub struct Custom(Arc<Make>);

impl Evaluation {
    /// An evaluation of the caller. `make` is called once for each search thread, and again if the rules change.
    #[must_use]
    pub fn custom(make: impl Fn(&Rules) -> Box<dyn Evaluate> + Send + Sync + 'static) -> Evaluation {
        Evaluation::Custom(Custom(Arc::new(make)))
    }

    /// The evaluation for a search thread.
    pub(in crate::search) fn make(&self, rules: &Rules) -> Evaluator {
        match self {
            Evaluation::Custom(Custom(make)) => Evaluator::Custom(make(rules)),
            Evaluation::Network(network) if network.fits(rules.options()) => {
                Evaluator::Network(NetworkEvaluator::new(Arc::clone(network)))
            }
            Evaluation::Burnett | Evaluation::Default | Evaluation::Network(_) => Evaluator::HandCrafted,
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
