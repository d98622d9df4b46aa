//! Static evaluation: the [`Evaluate`] trait, and the engine's own evaluation.
//!
//! The hand-crafted evaluation is a sum of features. Each feature has a weight for the middle game and one for the
//! endgame, and the number of pieces interpolates between them (tapered evaluation).
//!
//! The features of one side minus the features of the other:
//!
//! - the square of each animal (`PSQ`, mirrored in the d-file; it includes the material);
//! - the value of each animal with this enemy on the board (`PAIR`): more for each enemy that the animal can take, and
//!   less for each enemy that can take it;
//! - the number of safe moves of each animal, leaps included (`MOBILITY`);
//! - the pieces that may be taken next (`ATTACKED`), of the side to move and of the other side;
//! - the race to each trap next to the den (`RACE`): the plies by which the nearest defender that could take an
//!   intruder there is late, for each distance of the nearest intruder;
//! - the number of traps next to its den that a side can step to (`GUARD`);
//! - the distance of a rat from the enemy's elephant (`HUNT`);
//! - the right to move (`TEMPO`).
//!
//! Distances count the moves of each kind of animal under the rules in force, on an empty board. If the rules make the
//! wolf stronger than the dog, the two exchange their weights.
//!
//! The files, the lowest first: `weights` (features and their weights), `tables` (the weights prepared for a set of
//! rules), `state` (a position with incrementally updated terms), `attack_maps` (the attacks of both sides), `evaluate`
//! (the trait of evaluations), `inputs` (of the neural network), `network` (the neural network), `accumulators` (the
//! network in a search), `embedded` (the networks of the engine), `evaluation` (the evaluation that an engine uses),
//! `terms` (the sum), `attacks` (attacks and evaluation for the search).

mod accumulators;
mod attack_maps;
mod attacks;
mod embedded;
mod evaluate;
mod evaluation;
mod inputs;
pub mod network;
mod state;
mod tables;
mod terms;
mod weights;

pub use attacks::evaluate;
pub use evaluate::{EvalContext, Evaluate};
pub use evaluation::{Custom, Evaluation};
pub use weights::{ParseWeightsError, WEIGHTS, Weights};

pub(super) use attacks::{Attacks, EvalInput};
pub(super) use evaluation::Evaluator;
pub(super) use state::{State, TRAP_BITS};
pub(super) use tables::HandCrafted;
pub(super) use weights::FEATURES;
