//! Tables on disk:
//!
//! - the file of a class: `file` (reading), `write`, `description`, `block_table`, `codec`, `source`, `open_files`, `partial`, `table_error`
//! - generating a directory of tables: `manifest`, `lock`, `forecast`, `generate`; smaller files: `repack`, `pack`
//! - one class as a separate job, and a directory that jobs fill: `job`, `captures`, `counts`, `peak`, `finish`
//! - opening and probing tables: `set`, `prober`, `many`, `cache`
//! - solving a class when a probe needs it: `on_demand`
//! - checking: `verify` (position by position) and `proof` (all values, limited by the memory bandwidth)

mod block_table;
pub(crate) mod cache;
mod captures;
pub(crate) mod codec;
pub(crate) mod counts;
mod description;
pub(crate) mod error;
mod exact;
pub(crate) mod file;
pub(crate) mod finish;
pub(crate) mod forecast;
pub(crate) mod generate;
pub(crate) mod job;
mod limit;
pub(crate) mod lock;
pub(crate) mod manifest;
pub(crate) mod many;
pub(crate) mod on_demand;
#[cfg(not(target_family = "wasm"))]
mod open_files;
mod pack;
pub(crate) mod partial;
pub(crate) mod path;
pub(super) mod peak;
pub(crate) mod prober;
pub(crate) mod proof;
pub(crate) mod repack;
pub(crate) mod set;
mod source;
mod table_error;
pub(crate) mod verify;
pub(crate) mod write;
#[cfg(target_family = "wasm")]
#[path = "wasm_zstd.rs"]
mod zstd;

#[cfg(not(target_family = "wasm"))]
use ::zstd;
