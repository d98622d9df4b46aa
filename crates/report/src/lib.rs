//! Reports: tables as text and Markdown, charts and boards as SVG, and the figures of a directory of results.

#![warn(missing_docs, unreachable_pub)]

pub mod board;
#[cfg(not(target_family = "wasm"))]
pub mod figures;
#[cfg(not(target_family = "wasm"))]
pub mod plot;
pub mod text;

/// The example of the README is compiled with the tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
