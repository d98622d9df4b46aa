//! Reports: tables as text and Markdown, charts and boards as SVG, and the figures of a directory of results.
//!
//! ```
//! let mut table = report::text::Table::new(&["material", "positions"]);
//! table.row(["EvE", "2,340"]);
//! assert!(table.markdown().contains("| EvE | 2,340 |"));
//! ```

#![warn(missing_docs, unreachable_pub)]

pub mod board;
#[cfg(not(target_family = "wasm"))]
pub mod figures;
#[cfg(not(target_family = "wasm"))]
pub mod matrix;
#[cfg(not(target_family = "wasm"))]
pub mod plot;
pub mod text;
