//! Static evaluation by a neural network, and the position as the search stores it.
//!
//! The files, the lowest first: `state` (the position in a search), `attacks` (its attacks), `inputs` (of the neural
//! network), `network` (the neural network), `accumulators` (the network in a search), `embedded` (the networks of the
//! engine), `evaluation` (the evaluation that an engine uses).

mod accumulators;
mod attacks;
mod embedded;
mod evaluation;
mod inputs;
pub mod network;
mod state;

pub use evaluation::Evaluation;

pub(super) use accumulators::NetworkEvaluator;
pub(super) use attacks::{Attacks, CaptureMasks};
pub(super) use evaluation::Evaluator;
pub(super) use state::{State, TRAP_BITS};
