//! The answers of the HTTP API (`docs/http-api.md`) as plain data, without HTTP and without threads.
//!
//! [`operations`](operations::operations) lists the requests and how each is answered; `api`, `explain`, `review` and the
//! modules below them compute the answers. [`Context`](context::Context) runs slow work and limits it. Only
//! `rule_tables` and `engine` compute values and moves.
//!
//! ```
//! let description: serde_json::Value = serde_json::from_str(answers::OPENAPI)?;
//! let paths = description["paths"].as_object().expect("the addresses of the requests");
//! assert!(paths.contains_key("/api/v1/probe"));
//! # Ok::<(), serde_json::Error>(())
//! ```
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod analysis;
pub mod api;
mod class_cache;
mod class_table;
pub mod context;
pub mod counted_class;
pub mod counters;
pub mod counting;
mod dtz;
pub mod engine;
pub mod errors;
mod explain;
mod game_state;
mod game_text;
pub mod handlers;
mod history;
pub mod html;
mod openapi;
pub mod operations;
pub mod params;
pub mod puzzles;
pub mod registry;
mod review;
pub mod rule_tables;
pub mod state;

pub use errors::{ApiError, Code};

/// The OpenAPI description of the operations.
pub const OPENAPI: &str = include_str!("openapi.json");
