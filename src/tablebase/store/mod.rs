//! Tables on disk: how a class becomes bytes (`codec`, `file`), how a directory of them is made (`manifest`, `lock`,
//! `memory`, `forecast`, `generate`, `repack`), one class as a job and a directory that jobs fill (`job`, `counts`, `peak`, `finish`), opened (`set`), probed for
//! stated rules (`prober`, `cache`), counted a class at a time where there are none (`on_demand`), checked (`verify`
//! position by position, `proof` all of them fast) and written out as text (`export`).

pub(crate) mod cache;
pub(crate) mod codec;
pub(crate) mod counts;
pub(crate) mod error;
pub(crate) mod export;
pub(crate) mod file;
pub(crate) mod finish;
pub(crate) mod forecast;
pub(crate) mod generate;
pub(crate) mod job;
pub(crate) mod lock;
pub(crate) mod manifest;
pub(crate) mod memory;
pub(crate) mod on_demand;
pub(crate) mod partial;
mod parts;
mod peak;
pub(crate) mod prober;
pub(crate) mod proof;
pub(crate) mod repack;
pub(crate) mod set;
mod source;
mod table_error;
pub(crate) mod verify;
