//! A study of the endgame tables: features of positions, decision trees, puzzles, and a reproduction of the published
//! numbers.

#![warn(missing_docs, unreachable_pub)]

pub mod endgame_moves;
pub mod export;
pub mod features;
pub mod learn;
mod prose;
pub mod puzzles;
pub mod reproduce;
mod routes;
mod sample;
mod show;
mod tree;

pub use features::{Feature, FeatureChoice, FeatureKind, FeatureSet};
pub use prose::{Bearing, Clause};
pub use routes::{Routes, manhattan};
pub use sample::{TrainingSet, Winner};
pub use tree::{Growth, Learner, Node, Split, Tree, information};

/// The example of the README is compiled with the tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
