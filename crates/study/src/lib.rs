//! A study of the endgame tables: features, decision trees, patterns, and a reproduction of the published numbers.

#![warn(missing_docs, unreachable_pub)]

pub mod animals;
pub mod endgame_moves;
pub mod export;
pub mod features;
pub mod games;
pub mod learn;
pub mod patterns;
pub mod printed;
mod prose;
pub mod puzzles;
pub mod report;
pub mod reproduce;
mod routes;
mod sample;
mod show;
pub mod tables;
mod tree;
pub mod zugzwang;

pub use features::{Feature, FeatureChoice, FeatureKind, FeatureSet};
pub use routes::{Routes, manhattan};
pub use sample::{TrainingSet, Winner};
pub use tree::{Node, Split, Tree};
