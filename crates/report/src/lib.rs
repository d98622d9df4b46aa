//! Reports: tables as text and Markdown, charts and boards as SVG.

#![warn(missing_docs)]

pub mod plot;
pub mod text;
