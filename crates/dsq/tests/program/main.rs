//! The program `dsq` as its users run it.

mod browser;
mod bundle;
mod cli;
mod cluster;
mod complexity;
mod crash;
mod dsq;
mod formats;
mod fuzz;
mod general;
mod gpu;
mod jobs;
mod match_players;
mod matches;
mod mining;
mod on_demand;
mod play;
mod serve;
#[path = "../../../../tests/support/skip.rs"]
mod skip;
#[path = "../../../../tests/api/slow/mod.rs"]
mod slow;
mod snakemake;
mod tables;
mod uci;
mod uci_session;
