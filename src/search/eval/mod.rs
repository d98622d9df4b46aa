//! Static evaluation: the [`Evaluate`] trait, and the engine's own evaluation, a neural network.
//!
//! The files, the lowest first: `state` (the position in a search), `attack_maps` and `attacks` (the attacks of both
//! sides, and as the search needs them), `evaluate` (the trait of evaluations), `inputs` (of the neural network),
//! `network` (the neural network), `accumulators` (the network in a search), `embedded` (the networks of the engine),
//! `evaluation` (the evaluation that an engine uses).

mod accumulators;
mod attack_maps;
mod attacks;
mod embedded;
mod evaluate;
mod evaluation;
mod inputs;
pub mod network;
mod state;

pub use evaluate::{EvalContext, Evaluate};
pub use evaluation::{Custom, Evaluation};

pub(super) use accumulators::NetworkEvaluator;
pub(super) use attack_maps::CaptureMasks;
pub(super) use attacks::Attacks;
pub(super) use evaluation::Evaluator;
pub(super) use state::{State, TRAP_BITS};
