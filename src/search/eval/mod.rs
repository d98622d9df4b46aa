//! Static evaluation: the [`Evaluate`] trait, and the engine's own evaluation.
//!
//! The engine's evaluation is hand-crafted: a sum of features, each with a weight for the middle game and one for the endgame,
//! between which the number of pieces interpolates ("tapered evaluation").
//!
//! Features of one side, less those of the other:
//!
//! - where each animal stands (`PSQ`, mirrored in the d-file; the material is in it);
//! - what each animal is worth with this enemy on the board (`PAIR`): an animal is worth what it can take, and less for
//!   each enemy that can take it;
//! - how many safe moves each animal has, leaps included (`MOBILITY`);
//! - which pieces may be taken next (`ATTACKED`), of the side to move and of the other;
//! - who is first at each trap before the den (`RACE`): by how many plies the nearest enemy that could take an intruder
//!   there is late, for each distance of the nearest intruder;
//! - how many traps before its den a side can step to (`GUARD`);
//! - how far a rat is from the enemy's elephant (`HUNT`);
//! - the move itself (`TEMPO`).
//!
//! Distances are those of each kind of animal by the rules in force, over an empty board. Where the rules make the wolf
//! the stronger of wolf and dog, the two exchange their weights.
//!
//! The files, the lowest first: `weights` (features and their weights), `tables` (the weights prepared for a set of rules),
//! `state` (a position with incrementally updated terms), `attack_maps` (the attacks of both sides), `evaluate` (the trait of
//! evaluations), `network` (the neural network), `embedded` (the network of the engine), `evaluation` (the choice of an engine), `terms` (the sum), `attacks` (attacks and evaluation for the search).

mod attack_maps;
mod attacks;
mod embedded;
mod evaluate;
mod evaluation;
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
