//! A study of the endgame tables: features of positions, decision trees, puzzles, and a reproduction of the published
//! numbers.
//!
//! ```
//! use doushouqi::board::RuleOptions;
//! use study::{FeatureChoice, FeatureSet};
//!
//! let set = FeatureSet::new("EvL".parse().unwrap(), &RuleOptions::PAPER, FeatureChoice::Paper);
//! assert_eq!((set.pieces().len(), set.features().len()), (2, 11));
//! ```

#![warn(missing_docs, unreachable_pub)]

pub mod endgame_moves;
pub mod export;
mod features;
pub mod learn;
mod minimax;
mod prose;
pub mod puzzles;
pub mod reproduce;
mod routes;
mod sample;
mod show;
mod tree;

pub use features::{Feature, FeatureChoice, FeatureKind, FeatureSet};
pub use minimax::{RootValues, minimax};
pub use prose::{Bearing, Clause};
pub use routes::{Routes, manhattan};
pub use sample::{TrainingSet, Winner};
pub use tree::{Growth, Learner, Node, Split, Tree, information};
