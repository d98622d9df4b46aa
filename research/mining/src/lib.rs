//! Patterns in the endgame tables: decision trees of all materials, the printed trees, draws, zugzwangs, fortresses, games,
//! and the values of the animals.

#![warn(missing_docs, unreachable_pub)]

pub mod animals;
pub mod games;
pub mod patterns;
pub mod printed;
pub mod report;
pub mod tables;
pub mod trees;
pub mod zugzwang;

/// The example of the README is compiled with the tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
