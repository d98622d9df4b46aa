//! The public API, and each fast path against a slow, obvious twin.

mod backend;
mod board;
mod competition;
mod formats;
mod game;
mod notation;
mod on_demand;
mod perft;
mod probe;
mod properties;
mod search;
mod search_files;
mod slow;
mod table_format;
mod tablebase;
mod twin;
mod within;
